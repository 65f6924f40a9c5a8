"""What a person types at a terminal, a line at a time, without holding up the event loop.

A thread of its own reads, because a blocked read cannot be cancelled. It is a daemon and reads the
descriptor itself: one that hangs in ``sys.stdin`` holds a lock on which the interpreter's end
fails ("could not acquire lock for <_io.BufferedReader name='<stdin>'> at interpreter shutdown").
On one asyncio loop.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

Put = Callable[["str | None"], object]


class Keyboard:
    """The lines that come from a terminal."""

    def __init__(self, source: TextIO) -> None:
        """Read nothing yet.

        Args:
            source: A terminal open for reading. Nobody else reads from it from here on.
        """
        self._source = source
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_read = False

    def forget(self) -> None:
        """Drop what was typed so far: it cannot be the answer to a question not yet seen."""
        while not self._lines.empty():
            self._lines.get_nowait()
        _flush(self._source)

    async def line(self) -> str | None:
        """Give the next line without its end, or None where there will be no more."""
        if not self._is_read:
            self._is_read = True
            put = _on(asyncio.get_running_loop(), self._lines.put_nowait)
            read = (os.dup(self._source.fileno()), self._source.encoding, put)
            threading.Thread(
                target=_read, args=read, name="dcc_bridge keyboard", daemon=True
            ).start()
        line = await self._lines.get()
        if line is None:
            self._is_read = False  # a terminal can be read on after its Ctrl+D
        return line


def _on(loop: asyncio.AbstractEventLoop, put: Put) -> Put:
    """Make a function that may be called on any thread, also when the loop is gone."""

    def call(line: str | None) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(put, line)

    return call


def _read(descriptor: int, encoding: str, put: Put) -> None:
    """Hand over the lines until there are no more. On the thread, whose descriptor it is."""
    rest = b""
    with open(descriptor, "rb", 0) as raw:
        while chunk := _chunk(raw.read):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                put(line.decode(encoding, "replace").rstrip("\r"))
    put(None)


def _chunk(read: Callable[[int], bytes | None]) -> bytes:
    try:
        return read(4096) or b""
    except OSError:  # the terminal was hung up
        return b""


def _flush(terminal: TextIO) -> None:
    """Empty the terminal's own buffer."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        with suppress(termios.error):
            termios.tcflush(terminal.fileno(), termios.TCIFLUSH)
