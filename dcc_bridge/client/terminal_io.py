"""The screen and the keyboard of a terminal. On one asyncio loop.

Text of a server's cannot pass for ours on the screen: it is made visible and wrapped here, so that
none of it begins a line.

What a person types is read a line at a time, without holding up the event loop: by a thread of its
own, because a blocked read cannot be cancelled. It is a daemon and reads the descriptor itself: one
that hangs in ``sys.stdin`` holds a lock on which the interpreter's end fails ("could not acquire
lock for <_io.BufferedReader name='<stdin>'> at interpreter shutdown").
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import textwrap
import threading
import unicodedata
from contextlib import nullcontext, suppress
from typing import Final, TextIO

from dcc_bridge.elicitation.text import MOST_SHOWN, safe_text

_MOST_LINES: Final = 60
_NARROWEST: Final = 12
_HANG: Final = 4  # spaces that indent a continued line, not to be taken for the next thing
_STEP_WIDTH: Final = 88
_STEP_INDENT: Final = 4
_MOST_QUOTED: Final = 8
_SAYS: Final = {
    "accept": "agrees",
    "decline": "says no",
    "cancel": "closes the question without an answer",
}
_CAN_WAIT: Final = sys.platform != "win32"  # there, only a read waits for what is typed


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person types and reads there. Windows takes its null device for a terminal.

    That is the stdin of whatever a service or an application without a console starts.
    """
    if not stream.isatty():
        return False
    if sys.platform != "win32":
        return True
    import ctypes
    import msvcrt

    handle = ctypes.c_void_p(msvcrt.get_osfhandle(stream.fileno()))
    mode = ctypes.c_ulong()
    return bool(ctypes.windll.kernel32.GetConsoleMode(handle, ctypes.byref(mode)))


class Screen:
    """Lines of text on a terminal."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def say(self, text: str = "") -> None:
        """Write a line of ours."""
        self.prompt(text + "\n")

    def quote(self, before: str, text: str, *, whole: bool = False) -> None:
        """Write a text of anybody's, each line of it after a bar of ours; `whole` has no limit."""
        self._write(f"{before}| ", f"{before}| ", text, len(text) if whole else _MOST_LINES)

    def show(self, before: str, text: str) -> None:
        """Write a text that should be short after something of ours; the rest of it is indented."""
        self._write(before, " " * (len(before) + _HANG), text)

    def _write(self, first: str, then: str, text: str, most: int = _MOST_LINES) -> None:
        parts = lines(text, self._columns - len(then) - 1, max(MOST_SHOWN, most))
        for number, part in enumerate(parts[:most]):
            self.say(((then if number else first) + part).rstrip())
        if len(parts) > most:
            self.say(f"{then}... and {len(parts) - most} more lines")

    def prompt(self, text: str) -> None:
        """Write the beginning of a line that the person goes on with."""
        with suppress(OSError):  # it was hung up; the keyboard says so too
            self._terminal.write(text)
            self._terminal.flush()

    @property
    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._terminal.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


class Narrator:
    """Prints the steps of a story to stdout."""

    def __init__(self, title: str) -> None:
        self._title = title  # is printed above the first step
        self._steps = 0

    def step(self, text: str) -> None:
        """Print the next step."""
        if not self._steps:
            print(f"{self._title}\n")
        self._steps += 1
        rows = lines(text, _STEP_WIDTH - _STEP_INDENT)
        print(f"{self._steps:>2}  " + f"\n{' ' * _STEP_INDENT}".join(rows), flush=True)

    def quote(self, text: str) -> None:
        """Print the beginning of what somebody else says, below the step."""
        before = " " * _STEP_INDENT + "| "
        quoted = lines(text, _STEP_WIDTH - len(before))
        if len(quoted) > _MOST_QUOTED + 1:
            quoted = [*quoted[:_MOST_QUOTED], "(the list goes on)"]
        for row in quoted:
            print(f"{before}{row}".rstrip(), flush=True)

    def answer(self, action: str, how: str = "") -> None:
        """Print what the person answered, as a step."""
        self.step(f"The person {_SAYS[action]}{how}.")


def lines(text: str, columns: int, most: int = MOST_SHOWN) -> list[str]:
    """Make a text safe to show, and break it into lines of so many columns."""
    return [part for line in safe_text(text, most).split("\n") for part in _wrapped(line, columns)]


def _wrapped(line: str, columns: int) -> list[str]:
    is_wide = any(unicodedata.east_asian_width(char) in "WF" for char in line)
    width = max(columns // 2 if is_wide else columns, _NARROWEST)
    # what follows of a point of a list, or of a numbered line, cannot pass for the next one
    hang = "  " if line.startswith("- ") else " " * 9 if line.startswith(" ") else ""
    return textwrap.wrap(line, width, subsequent_indent=hang, break_on_hyphens=False) or [""]


class Keyboard:
    """The lines that come from a terminal open for reading, from which nobody else reads."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._lines: asyncio.Queue[tuple[int, str | None]] = asyncio.Queue()
        self._asked = 0  # questions so far: a line belongs to the one that was open as it was read
        self._begun_line = b""
        self._lock = threading.Lock() if _CAN_WAIT else nullcontext()
        self._is_reading = False

    def forget(self) -> None:
        """Drop what was typed so far: it cannot be the answer to a question not yet seen."""
        with self._lock:
            self._asked, self._begun_line = self._asked + 1, b""
            _flush(self._source)

    async def line(self) -> str | None:
        """Give the next line without its end, or None where there will be no more."""
        while True:
            if not self._is_reading:
                self._is_reading = True
                what = (_descriptor(self._source), asyncio.get_running_loop())
                threading.Thread(None, self._read, "dcc_bridge keyboard", what, daemon=True).start()
            asked, line = await self._lines.get()
            if line is None:
                self._is_reading = False  # a terminal can be read on after its Ctrl+D
            if asked == self._asked:
                return line

    def _read(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        """Hand over the lines until there are no more. On the thread, whose descriptor it is."""
        chunk = None
        with open(descriptor, "rb", 0) as raw, suppress(RuntimeError):  # the loop is gone
            while chunk != b"":
                if _CAN_WAIT:
                    select.select([raw], [], [])
                with self._lock:
                    try:
                        chunk = raw.read(4096)
                    except OSError:  # the terminal was hung up
                        chunk = b""
                    if chunk is None:  # it was forgotten meanwhile, or somebody else has it
                        continue
                    *lines, self._begun_line = (self._begun_line + chunk).split(b"\n")
                    texts = (it.decode(self._source.encoding, "replace") for it in lines)
                    for line in [it.rstrip("\r") for it in texts] if chunk else [None]:
                        loop.call_soon_threadsafe(self._lines.put_nowait, (self._asked, line))


def _descriptor(terminal: TextIO) -> int:
    """Open a terminal for reading once more, if it can be so that no read of it ever waits."""
    if sys.platform != "win32":
        with suppress(OSError):
            return os.open(os.ttyname(terminal.fileno()), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    return os.dup(terminal.fileno())


def _flush(terminal: TextIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        with suppress(termios.error):
            termios.tcflush(terminal.fileno(), termios.TCIFLUSH)
