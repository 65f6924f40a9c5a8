"""The listening socket. Any thread; free of the SDK, because the main thread makes it."""

from __future__ import annotations

import socket

from dcc_bridge.errors import StartError


def listen(port: int) -> socket.socket:
    """Make the listening socket, on the loopback address only.

    It is made with ``IPPROTO_TCP``: asyncio sets TCP_NODELAY only then, and without it each call
    waits 44 ms for a delayed acknowledgement (measured; `Transport._set_nodelay` in CPython's
    asyncio/base_events.py).

    Raises:
        StartError: The port is taken, or may not be used.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind(("127.0.0.1", port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise StartError(
            f"Port {port} cannot be used ({error}). Choose another one, or 0 for any free one."
        ) from error
    return sock
