"""The listening socket of the server. Any thread; free of the SDK, for the main thread makes it.

On the loopback address only: tokens travel in the clear.
"""

from __future__ import annotations

import socket
from typing import Final

from dcc_bridge.errors import StartError

LOOPBACK: Final = "127.0.0.1"


def listen(port: int, bind: str = LOOPBACK) -> socket.socket:
    """Make the listening socket.

    Args:
        port: Which one; 0 for any free one.
        bind: The address; any other one than `LOOPBACK` is refused.

    Raises:
        StartError: Other computers could connect, or the port is taken or may not be used.
    """
    if bind != LOOPBACK:
        raise StartError(
            f"bind={bind!r} is refused: the server listens on {LOOPBACK} only, because tokens "
            "travel in the clear. From another computer, forward the port with "
            f"`ssh -L PORT:{LOOPBACK}:PORT THIS_COMPUTER`, with the same number twice."
        )
    # asyncio sets TCP_NODELAY only where the protocol is named, and without it each call waits
    # 44 ms for a delayed acknowledgement (measured; `Transport._set_nodelay` in base_events.py)
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind((bind, port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise StartError(
            f"Port {port} cannot be used ({error}). Choose another one, or 0 for any free one."
        ) from error
    return sock
