"""Whoever took the port of a host that is gone: keeps all that is sent to it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
IMPOSTORS: dict[str, Callable[[socket.socket], object]] = {
    "says nothing": lambda client: None,
    "hangs up": lambda client: client.close(),
    "guesses": lambda client: client.sendall(HEAD + b"Content-Length: 64\r\n\r\n" + b"0" * 64),
    "is another server": lambda client: client.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}"),
    "never ends": lambda client: client.sendall(b"x" * 10_000_000),
}
"""What it does once something came."""
_LIMIT = 20.0


@contextmanager
def impostor_server(kind: str) -> Iterator[tuple[str, bytearray]]:
    """Serve as one of the `IMPOSTORS`; give its URL and what it was sent."""
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = (server, IMPOSTORS[kind], heard)
        thread = threading.Thread(target=_serve, args=serving, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/mcp", heard
        finally:
            with suppress(OSError):  # Windows has nothing to shut down here, and wakes at the next
                server.shutdown(socket.SHUT_RDWR)
            server.close()
            thread.join(_LIMIT)


def _serve(
    server: socket.socket, answer: Callable[[socket.socket], object], heard: bytearray
) -> None:
    with suppress(OSError):  # it was shut down
        while True:
            client, _ = server.accept()
            with client, suppress(OSError):
                while part := client.recv(65536):
                    heard += part
                    answer(client)
