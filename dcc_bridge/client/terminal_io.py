"""The screen and the keyboard of a terminal. On one asyncio loop.

`Screen` makes a server's text safe and wraps it, so that no line of that text passes for ours.

`Keyboard` reads lines on a daemon thread, because a blocked read cannot be cancelled. The thread
reads the descriptor: a thread that hangs in ``sys.stdin`` holds a lock on which the interpreter's
end fails ("could not acquire lock for <_io.BufferedReader name='<stdin>'> at interpreter
shutdown").
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
_CONTINUATION_INDENT: Final = 4  # spaces before a continued line
_STEP_COLUMNS: Final = 88
_STEP_INDENT: Final = 4
_MAX_QUOTED_LINES: Final = 8
_ACTION_TEXTS: Final = {
    "accept": "agrees",
    "decline": "says no",
    "cancel": "closes the question without an answer",
}
_CAN_SELECT: Final = sys.platform != "win32"
"""Whether `select` can wait for a terminal. On Windows only a read can."""


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person types and reads at a stream.

    `isatty` alone is not enough: Windows counts its null device as a terminal, and that is the
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
        """Write our own text, as it is, and end the line."""
        self.prompt(text + "\n")

    def quote(self, before: str, text: str, *, whole: bool = False) -> None:
        """Write an untrusted text, with a bar before each line.

        Args:
            before: The indentation before the bar.
            text: The text, which is made safe to show.
            whole: Whether to write all lines instead of the first `_MAX_LINES`.
        """
        max_lines = _MAX_LINES
        if whole:
            max_lines = len(text)
        self._write(f"{before}| ", f"{before}| ", text, max_lines)

    def show(self, before: str, text: str) -> None:
        """Write an untrusted text that should be short.

        Args:
            before: Our own words before the text.
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
        """Write the beginning of a line that the person continues."""
        with suppress(OSError):  # the terminal was hung up; `Keyboard.line` returns None then
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
        """Print the beginning of an untrusted text below the step."""
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
            how: The words after the verb, with the space before them.
        """
        self.step(f"The person {_ACTION_TEXTS[action]}{how}.")


def lines(text: str, columns: int, max_chars: int = MAX_SHOWN_CHARS) -> list[str]:
    """Make an untrusted text safe to show, and break it into lines.

    Args:
        text: The text.
        columns: The greatest width of a line.
        max_chars: The number of characters after which the text is cut.

    Returns:
        The lines, at least one.
    """
    rows = []
    for line in safe_text(text, max_chars).split("\n"):
        rows += _wrapped(line, columns)
    return rows


def _wrapped(line: str, columns: int) -> list[str]:
    width = columns
    if any(unicodedata.east_asian_width(char) in "WF" for char in line):
        width = columns // 2  # such a character takes two columns
    # A continued list item or numbered line must not pass for the next item.
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
    """Reads the lines that a person types at a terminal. Nobody else may read from it.

    Args:
        source: The stream of the terminal, of which the descriptor and the encoding are used.
    """

    def __init__(self, source: TextIO) -> None:
        self._source = source
        # Each line, with the number of the question that was open when the line was read.
        self._lines: asyncio.Queue[tuple[int, str | None]] = asyncio.Queue()
        self._question = 0
        self._partial_line = b""
        self._lock: threading.Lock | nullcontext[None] = nullcontext()
        if _CAN_SELECT:
            self._lock = threading.Lock()
        self._is_reading = False

    def forget(self) -> None:
        """Drop the text typed so far, which cannot answer a question that was not shown yet."""
        with self._lock:
            self._question += 1
            self._partial_line = b""
            _flush(self._source)

    async def line(self) -> str | None:
        """Return the next line without its end; None at Ctrl+D, or if the terminal hung up."""
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
        """Put lines on the queue until the input ends. On the thread, which owns `descriptor`."""
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
                    if chunk is None:  # nothing to read any more: `forget` dropped the text
                        continue
                    for line in self._complete_lines(chunk):
                        item = (self._question, line)
                        loop.call_soon_threadsafe(self._lines.put_nowait, item)

    def _complete_lines(self, chunk: bytes) -> list[str | None]:
        """Return the lines that a chunk completes; [None] for an empty chunk, the end of input."""
        *complete, self._partial_line = (self._partial_line + chunk).split(b"\n")
        if not chunk:
            return [None]
        encoding = self._source.encoding
        return [line.decode(encoding, "replace").rstrip("\r") for line in complete]


def _descriptor(terminal: TextIO) -> int:
    """Return a new descriptor of a terminal, whose reads do not wait except on Windows."""
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
