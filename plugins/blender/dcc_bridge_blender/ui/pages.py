"""A text that a question is about, a page at a time: no part of a layout scrolls. Main thread.

Blender cuts a label that does not fit, and has no font of even width there, so a line is broken by
how wide its letters are at most.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import DetailsRow, DetailsView

_MOST: Final = 20  # lines on a page
_LEAST: Final = 5
_NUMBERS: Final = 0.11  # the part of a row that numbers have
_ICONS: Final = {"+": "ADD", "-": "REMOVE", " ": "BLANK1"}
_BROAD: Final = frozenset("MWmw@%—…")
Part = tuple[str, str, str]  # an icon, a number, and what of its line stands in a row


class Pages:
    """The pages of one text: what differs from the text agreed to last, or all of it."""

    def __init__(self, view: DetailsView) -> None:
        """Begin on the first page."""
        self._view = view
        self._is_whole = not view.changes
        self._page = 0

    def turn(self, answer: str) -> bool:
        """Turn to another page, or copy all, if that is what was pressed; return whether it was."""
        if answer == "switch_text":
            self._is_whole, self._page = not self._is_whole, 0
        elif answer in ("next_page", "previous_page"):
            self._page += 1 if answer == "next_page" else -1
        elif answer == "copy_text":
            windows: Any = bpy.context.window_manager
            windows.clipboard = "\n".join(row.text for row in self._view.rows)
        else:
            return False
        return True

    def draw(self, box: Any, wide: int, room: int, button: Callable[[Any, str, str], None]) -> None:
        """Draw a page of lines of so many characters, in so many lines that are free.

        `button` draws a button that is pressed with a name, and has a caption.
        """
        view, most = self._view, max(_LEAST, min(_MOST, room))
        parts = list(self._parts(int(wide * (1 - _NUMBERS)) - 2))
        pages = max(1, -(-len(parts) // most))
        self._page = max(0, min(self._page, pages - 1))
        titles = (view.title if self._is_whole else "", view.difference)
        box.label(text=" · ".join(filter(None, titles)), translate=False)
        column = box.column(align=True)
        shown = parts[self._page * most :][:most]
        blank = (most - len(shown) if pages > 1 else 0) * [("BLANK1", "", "")]  # nothing moves
        for icon, number, text in [*shown, *blank]:
            row = column.split(factor=_NUMBERS)
            row.label(text=number, icon=icon, translate=False)
            row.label(text=text, translate=False)
        row = box.row()
        row.label(text=f"Page {self._page + 1} of {pages}", translate=False)
        for answer, caption, end in (
            ("previous_page", "Previous", 0),
            ("next_page", "Next", pages - 1),
        ):
            part = row.row()
            part.enabled = self._page != end
            if pages > 1:
                button(part, answer, caption)
        if view.changes:
            caption = "Show changes" if self._is_whole else "Show all lines"
            button(row, "switch_text", caption)
        button(row, "copy_text", "Copy all")

    def _parts(self, wide: int) -> Iterator[Part]:
        for row in self._view.rows if self._is_whole else self._view.changes:
            yield from _broken(row, wide, self._is_whole)


def _broken(row: DetailsRow, wide: int, is_whole: bool) -> Iterator[Part]:
    """Give what stands in the rows of a line; why it is marked stands below it, with a sign."""
    sign = " " if is_whole else row.sign
    icon, number = _ICONS[sign], f"{row.number or ''} {sign}".strip()
    for part in _pieces(row.text, wide):
        yield icon, number, part
        icon, number = "BLANK1", ""
    if row.mark:
        for part in _pieces(f"Line {row.number}: {row.mark}", wide):
            yield "ERROR", "!", part


def _pieces(text: str, wide: int) -> Iterator[str]:
    piece, room = "", float(wide)
    for char in text:
        room -= _width(char)
        if room < 0:
            yield piece
            piece, room = "", wide - _width(char)
        piece += char
    yield piece


def _width(char: str) -> float:
    """Give how wide a letter is at most, in average ones."""
    if unicodedata.east_asian_width(char) in "WF":
        return 2.2
    return 1.7 if char in _BROAD else 1.0 if char.islower() or char in " .,:;'()[]" else 1.3
