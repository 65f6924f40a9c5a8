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

from dcc_bridge.elicitation.text import MAX_SHOWN_CHARS, safe_text

_MAX_LINES: Final = 60
_MIN_COLUMNS: Final = 12
# The spaces that indent a continued line, so that it is not taken for the next thing.
_CONTINUATION_INDENT: Final = 4
_STEP_COLUMNS: Final = 88
_STEP_INDENT: Final = 4
_MAX_QUOTED_LINES: Final = 8
_ACTION_TEXTS: Final = {
    "accept": "agrees",
    "decline": "says no",
    "cancel": "closes the question without an answer",
}
_CAN_SELECT: Final = sys.platform != "win32"
"""Whether `select` waits for a terminal. On Windows only a read waits for what is typed."""


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person types and reads at a stream.

    `isatty` alone does not say so: Windows counts its null device as a terminal, and that is the
    stdin of every program that a service, or an application without a console, starts.
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
        """Write a line of ours. The text is written as it is."""
        self.prompt(text + "\n")

    def quote(self, before: str, text: str, *, whole: bool = False) -> None:
        """Write a text of anybody's, with a bar of ours before each line.

        Args:
            before: The indentation, before the bar.
            text: The text, which is made safe to show.
            whole: The text is written to its end; else its first lines are.
        """
        max_lines = _MAX_LINES
        if whole:
            max_lines = len(text)
        self._write(f"{before}| ", f"{before}| ", text, max_lines)

    def show(self, before: str, text: str) -> None:
        """Write a text of anybody's that should be short.

        Args:
            before: The words of ours that stand before the text.
            text: The text, which is made safe to show. Its second and further lines are indented.
        """
        self._write(before, " " * (len(before) + _CONTINUATION_INDENT), text)

    def _write(
        self, first_prefix: str, prefix: str, text: str, max_lines: int = _MAX_LINES
    ) -> None:
        columns = self._columns - len(prefix) - 1
        rows = lines(text, columns, max(MAX_SHOWN_CHARS, max_lines))
        before = first_prefix
        for row in rows[:max_lines]:
            self.say((before + row).rstrip())
            before = prefix
        if len(rows) > max_lines:
            self.say(f"{prefix}... and {len(rows) - max_lines} more lines")

    def prompt(self, text: str) -> None:
        """Write the beginning of a line that the person goes on with."""
        with suppress(OSError):  # the terminal was hung up, and the keyboard says so too
            self._terminal.write(text)
            self._terminal.flush()

    @property
    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._terminal.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


class Narrator:
    """Prints the steps of a story to stdout.

    Args:
        title: The heading, which is printed above the first step.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._steps = 0

    def step(self, text: str) -> None:
        """Print the next step."""
        if not self._steps:
            print(f"{self._title}\n")
        self._steps += 1
        rows = lines(text, _STEP_COLUMNS - _STEP_INDENT)
        print(f"{self._steps:>2}  " + f"\n{' ' * _STEP_INDENT}".join(rows), flush=True)

    def quote(self, text: str) -> None:
        """Print the beginning of somebody else's text, below the step."""
        before = " " * _STEP_INDENT + "| "
        quoted = lines(text, _STEP_COLUMNS - len(before))
        if len(quoted) > _MAX_QUOTED_LINES + 1:
            quoted = [*quoted[:_MAX_QUOTED_LINES], "(the list continues)"]
        for row in quoted:
            print(f"{before}{row}".rstrip(), flush=True)

    def answer(self, action: str, how: str = "") -> None:
        """Print the person's answer as a step.

        Args:
            action: "accept", "decline" or "cancel".
            how: The words that follow the verb, with the space before them.
        """
        self.step(f"The person {_ACTION_TEXTS[action]}{how}.")


def lines(text: str, columns: int, most: int = MAX_SHOWN_CHARS) -> list[str]:
    """Make a text safe to show, and break it into lines.

    Args:
        text: A text of anybody's.
        columns: The greatest width of a line.
        most: The greatest number of characters that are taken of the text.

    Returns:
        The lines, at least one.
    """
    rows = []
    for line in safe_text(text, most).split("\n"):
        rows += _wrapped(line, columns)
    return rows


def _wrapped(line: str, columns: int) -> list[str]:
    width = columns
    if any(unicodedata.east_asian_width(char) in "WF" for char in line):
        width = columns // 2  # such a character takes two columns
    # The second line of a list's item, or of a numbered line, must not pass for the next one.
    indent = ""
    if line.startswith("- "):
        indent = "  "
    elif line.startswith(" "):
        indent = " " * 9
    rows = textwrap.wrap(
        line, max(width, _MIN_COLUMNS), subsequent_indent=indent, break_on_hyphens=False
    )
    return rows or [""]


class Keyboard:
    """The lines that come from a terminal open for reading, from which nobody else reads.

    Args:
        source: The stream of the terminal. It gives the encoding; the lines come from the
            descriptor.
    """

    def __init__(self, source: TextIO) -> None:
        self._source = source
        # Each line comes with the number of the question that was open as the line was read.
        self._lines: asyncio.Queue[tuple[int, str | None]] = asyncio.Queue()
        self._question = 0
        self._begun_line = b""
        self._lock: threading.Lock | nullcontext[None] = nullcontext()
        if _CAN_SELECT:
            self._lock = threading.Lock()
        self._is_reading = False

    def forget(self) -> None:
        """Drop what was typed so far: it cannot be the answer to a question not yet seen."""
        with self._lock:
            self._question += 1
            self._begun_line = b""
            _flush(self._source)

    async def line(self) -> str | None:
        """Return the next line without its end, or None where there will be no more."""
        while True:
            if not self._is_reading:
                self._start_reading()
            question, line = await self._lines.get()
            if line is None:
                self._is_reading = False  # a terminal can be read on after its Ctrl+D
            if question == self._question:
                return line

    def _start_reading(self) -> None:
        self._is_reading = True
        args = (_descriptor(self._source), asyncio.get_running_loop())
        threading.Thread(None, self._read, "dcc_bridge keyboard", args, daemon=True).start()

    def _read(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        """Hand over the lines until there are no more. On the thread, which owns the descriptor."""
        chunk = None
        with open(descriptor, "rb", 0) as raw, suppress(RuntimeError):  # the loop is gone
            while chunk != b"":
                if _CAN_SELECT:
                    select.select([raw], [], [])
                with self._lock:
                    try:
                        chunk = raw.read(4096)
                    except OSError:  # the terminal was hung up
                        chunk = b""
                    if chunk is None:  # `forget` dropped the text meanwhile, or it went elsewhere
                        continue
                    for line in self._complete_lines(chunk):
                        item = (self._question, line)
                        loop.call_soon_threadsafe(self._lines.put_nowait, item)

    def _complete_lines(self, chunk: bytes) -> list[str | None]:
        """Return the lines that a chunk completes; an empty chunk is the end, which is None."""
        *complete, self._begun_line = (self._begun_line + chunk).split(b"\n")
        if not chunk:
            return [None]
        encoding = self._source.encoding
        return [line.decode(encoding, "replace").rstrip("\r") for line in complete]


def _descriptor(terminal: TextIO) -> int:
    """Open a terminal for reading once more, so that no read waits where the system allows that."""
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
