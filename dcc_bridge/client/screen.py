"""The screen of a terminal, on which text of a server's cannot pass for ours.

It is made visible and wrapped here, so that none of it begins a line of the screen. Any thread.
"""

from __future__ import annotations

import os
import textwrap
import unicodedata
from contextlib import suppress
from typing import Final, TextIO

from dcc_bridge.elicitation.plain import passage

_MOST_LINES: Final = 60
_NARROWEST: Final = 12
_HANG: Final = 4
"""By how much more what goes on is indented, so that it is not taken for the next thing."""


class Screen:
    """Lines of text on a terminal."""

    def __init__(self, terminal: TextIO) -> None:
        """Take a terminal open for writing."""
        self._terminal = terminal

    def say(self, text: str = "") -> None:
        """Write a line of ours."""
        self.prompt(text + "\n")

    def quote(self, before: str, text: str) -> None:
        """Write a text of anybody's, each line of it after a bar of ours."""
        self._write(f"{before}| ", f"{before}| ", text)

    def show(self, before: str, text: str) -> None:
        """Write a text that should be short after something of ours; the rest of it is indented."""
        self._write(before, " " * (len(before) + _HANG), text)

    def _write(self, first: str, then: str, text: str) -> None:
        found = lines(text, self._columns - len(then) - 1)
        for number, part in enumerate(found[:_MOST_LINES]):
            self.say(((then if number else first) + part).rstrip())
        if len(found) > _MOST_LINES:
            self.say(f"{then}... and {len(found) - _MOST_LINES} more lines")

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


def lines(text: str, columns: int) -> list[str]:
    """Make a text safe to show, and break it into lines that fit.

    Args:
        text: Anything.
        columns: How wide the lines may be.
    """
    return [part for line in passage(text).split("\n") for part in _wrapped(line, columns)]


def _wrapped(line: str, columns: int) -> list[str]:
    is_wide = any(unicodedata.east_asian_width(char) in "WF" for char in line)
    width = max(columns // 2 if is_wide else columns, _NARROWEST)
    return textwrap.wrap(line, width, break_on_hyphens=False) or [""]
