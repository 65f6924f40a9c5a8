"""Tells what happens, in numbered steps. Any thread, one at a time."""

from __future__ import annotations

import textwrap
from typing import Final

from dcc_bridge.client.terminal_io import lines

_WIDTH: Final = 88
_INDENT: Final = 4
_QUOTED: Final = 8


class Narrator:
    """Prints steps to stdout."""

    def __init__(self, title: str) -> None:
        """Take what it is about; it is printed above the first step."""
        self._title = title
        self._steps = 0

    def step(self, text: str) -> None:
        """Print the next step."""
        if not self._steps:
            print(f"{self._title}\n")
        self._steps += 1
        print(
            textwrap.fill(
                text,
                _WIDTH,
                initial_indent=f"{self._steps:>2}  ",
                subsequent_indent=" " * _INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            ),
            flush=True,
        )

    def quote(self, text: str) -> None:
        """Print the beginning of what somebody else says, below the step."""
        before = " " * _INDENT + "| "
        said = lines(text, _WIDTH - len(before))
        rest = len(said) - _QUOTED
        shown = [*said[:_QUOTED], f"(and {rest} more lines)"] if rest > 1 else said
        for part in shown:
            print(f"{before}{part}".rstrip(), flush=True)

    def pause(self) -> None:
        """Leave a line empty."""
        print(flush=True)
