"""The text that a question is about, drawn page by page. Main thread.

No part of a Blender layout scrolls. Blender cuts a label that does not fit, and has no font with
characters of equal width for labels. So lines are broken by the greatest width of their characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import bpy

from dcc_bridge.spi.drawing import DetailsRow, DetailsView

_MAX_LINES: Final = 20  # lines of a page
_MIN_LINES: Final = 5
_NUMBER_SHARE: Final = 0.11  # the share of a row's width that the line numbers have
_ICONS: Final = {"+": "ADD", "-": "REMOVE", " ": "BLANK1"}
_BROAD: Final = frozenset("MWmw@%—…")
_NARROW: Final = frozenset(" .,:;'()[]")


class Row(NamedTuple):
    """A row of a page.

    Attributes:
        icon: The name of the icon before the row.
        number: The number of the line and its sign; "" where the row continues a line.
        text: The part of the line that stands in this row.
    """

    icon: str
    number: str
    text: str


_BLANK: Final = Row("BLANK1", "", "")


class Pages:
    """The pages of one text: of its changes since the text agreed to last, or of all lines."""

    def __init__(self, view: DetailsView) -> None:
        """Begin on the first page: of the changes, where there are any."""
        self._view = view
        self._is_whole = not view.changes
        self._page = 0

    def turn(self, answer: str) -> bool:
        """Do what a button of the pages says.

        Args:
            answer: The name of the button that was pressed.

        Returns:
            Whether that was a button of the pages.
        """
        match answer:
            case "switch_text":
                self._is_whole = not self._is_whole
                self._page = 0
            case "next_page":
                self._page += 1
            case "previous_page":
                self._page -= 1
            case "copy_text":
                windows: Any = bpy.context.window_manager
                windows.clipboard = "\n".join(row.text for row in self._view.rows)
            case _:
                return False
        return True

    def draw(self, box: Any, wide: int, room: int, button: Callable[[Any, str, str], None]) -> None:
        """Draw the page, and the buttons that turn pages below.

        Args:
            box: The layout to draw on.
            wide: How many characters a line of the layout has.
            room: How many lines are free for the page.
            button: Draws a button on a layout; takes the layout, the name with which the button is
                pressed, and the caption.
        """
        lines = max(_MIN_LINES, min(_MAX_LINES, room))
        text_width = int(wide * (1 - _NUMBER_SHARE)) - 2
        rows = list(self._rows(text_width))
        pages = max(1, -(-len(rows) // lines))
        self._page = max(0, min(self._page, pages - 1))
        start = self._page * lines
        shown = rows[start : start + lines]
        if pages > 1:  # the last page is filled, so that no button moves away below the mouse
            shown += [_BLANK] * (lines - len(shown))
        box.label(text=self._heading(), translate=False)
        column = box.column(align=True)
        for shown_row in shown:
            row = column.split(factor=_NUMBER_SHARE)
            row.label(text=shown_row.number, icon=shown_row.icon, translate=False)
            row.label(text=shown_row.text, translate=False)
        self._draw_buttons(box.row(), pages, button)

    def _heading(self) -> str:
        titles = []
        if self._is_whole and self._view.title:
            titles.append(self._view.title)
        if self._view.difference:
            titles.append(self._view.difference)
        return " · ".join(titles)

    def _draw_buttons(self, row: Any, pages: int, button: Callable[[Any, str, str], None]) -> None:
        row.label(text=f"Page {self._page + 1} of {pages}", translate=False)
        turns = (("previous_page", "Previous", 0), ("next_page", "Next", pages - 1))
        for answer, caption, last_page in turns:
            part = row.row()
            part.enabled = self._page != last_page
            if pages > 1:
                button(part, answer, caption)
        if self._view.changes:
            caption = "Show all lines"
            if self._is_whole:
                caption = "Show changes"
            button(row, "switch_text", caption)
        button(row, "copy_text", "Copy all")

    def _rows(self, wide: int) -> Iterator[Row]:
        lines = self._view.changes
        if self._is_whole:
            lines = self._view.rows
        for line in lines:
            yield from _broken(line, wide, self._is_whole)


def _broken(line: DetailsRow, wide: int, is_whole: bool) -> Iterator[Row]:
    """Yield the rows of a line; the reason why the line is marked follows in rows of its own."""
    sign = line.sign
    if is_whole:
        sign = " "
    icon = _ICONS[sign]
    number = f"{line.number or ''} {sign}".strip()
    for piece in _pieces(line.text, wide):
        yield Row(icon, number, piece)
        icon = "BLANK1"
        number = ""
    if line.mark:
        for piece in _pieces(f"Line {line.number}: {line.mark}", wide):
            yield Row("ERROR", "!", piece)


def _pieces(text: str, wide: int) -> Iterator[str]:
    piece = ""
    room = float(wide)
    for char in text:
        room -= _width(char)
        if room < 0:
            yield piece
            piece = ""
            room = wide - _width(char)
        piece += char
    yield piece


def _width(char: str) -> float:
    """Return the greatest width of a character, in average characters."""
    if unicodedata.east_asian_width(char) in "WF":
        return 2.2
    if char in _BROAD:
        return 1.7
    if char.islower() or char in _NARROW:
        return 1.0
    return 1.3
