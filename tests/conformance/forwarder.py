"""A loopback forwarder that adds a token: the suite cannot send one, and a bridge wants one.

A request to the forwarder's own address becomes one to the bridge's; any other ``Host`` or
``Origin`` goes on as it came, so that the bridge's own check is what is tested. Each connection
carries one request, and bytes are passed on as they come: streams are not held up, and a client
that goes away is seen by the bridge. Runs on an asyncio loop of the caller's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import closing, suppress
from typing import Any, Final
from urllib.parse import urlsplit

_OURS: Final = ("authorization", "connection")
_ENDS: Final = (ConnectionError, asyncio.IncompleteReadError)
_PART: Final = 65536


class Forwarder:
    """Passes requests on to a bridge, with a token."""

    def __init__(self, target: str, token: str) -> None:
        """Know the way.

        Args:
            target: The bridge's URL.
            token: What it wants to see.
        """
        parts = urlsplit(target)
        self._host, self._port = str(parts.hostname), parts.port or 80
        self._path = parts.path
        self._target = parts.netloc
        self._own = ""
        self._headers = [f"Authorization: Bearer {token}", "Connection: close"]

    async def start(self) -> str:
        """Listen on a free loopback port.

        Returns:
            The URL that stands for the bridge's.
        """
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self._own = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return f"http://{self._own}{self._path}"

    def close(self) -> None:
        """Listen no longer. Requests on their way end with the loop."""
        self._server.close()

    async def _forward(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        # A cancelled callback of start_server is reported as an error on Python 3.11.
        with suppress(*_ENDS, asyncio.CancelledError), closing(back):
            head = await client.readuntil(b"\r\n\r\n")
            bridge, on = await asyncio.open_connection(self._host, self._port)
            with closing(on):
                on.write(self._rewritten(head))
                await _until_one_ends(_copy(client, on), _copy(bridge, back))

    def _rewritten(self, head: bytes) -> bytes:
        request, *headers = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        kept = [self._moved(line) for line in headers if _name(line) not in _OURS]
        return "\r\n".join([request, *kept, *self._headers, "", ""]).encode("latin-1")

    def _moved(self, line: str) -> str:
        """Let a header that names the forwarder name the bridge."""
        known = {
            f"host: {self._own}": f"host: {self._target}",
            f"origin: http://{self._own}": f"origin: http://{self._target}",
        }
        return known.get(line.lower(), line)


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while part := await source.read(_PART):
            sink.write(part)
            await sink.drain()


async def _until_one_ends(*ways: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _name(line: str) -> str:
    return line.partition(":")[0].lower()
