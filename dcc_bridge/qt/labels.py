"""Text on the screen: translated, plain, wrapped, in the host's own font. Main thread.

Every text of the dialogs and the panel passes through `tr`, so that a studio can install a
``QTranslator`` for the context "dcc_bridge" on its application. Until one is there, the texts are
the English ones in the code. What skills and agents say is not ours to translate. A translation has
no ampersands: the letters that Alt reaches are dealt out afterwards (`Mnemonics`).
"""

from __future__ import annotations

import logging
from typing import Final

from dcc_bridge.elicitation.text import breakable, safe_line
from dcc_bridge.qt import binding as qt

CONTEXT: Final = "dcc_bridge"
_UNCOUNTED: Final = -1

log = logging.getLogger(__name__)
SMALL: Final = 0.9


def tr(text: str, **values: object) -> str:
    """Return a text in the language of the application. Main thread. It raises nothing.

    Args:
        text: In English, whole, with named places: "Delete {n} cameras". A literal, so that it can
            be collected.
        **values: What stands in the places. An integer called ``n`` decides on the plural, in
            languages that have several; English has a text of its own for one.

    Returns:
        The text with the values in their places.
    """
    n = values.get("n", _UNCOUNTED)
    count = n if isinstance(n, int) else _UNCOUNTED
    translated = qt.QCoreApplication.translate(CONTEXT, text, None, count)
    if not values:
        return translated
    try:
        return translated.format(**values)
    except (LookupError, ValueError, AttributeError):  # a slip of the translator's: no dialog lost
        log.warning("the translation %r does not have the places of %r", translated, text)
        return text.format(**values)


def label(text: str, *, size: float = 1.0, bold: bool = False, on_base: bool = False) -> qt.QLabel:
    """Make a label that wraps, and reads no markup; its size is in parts of the host's own font.

    The text is safe to show, as `text.safe_text` and `view` return it. `on_base` gives it the
    colour of text that lies on the ground of a list.
    """
    widget = qt.QLabel(textFormat=qt.Qt.TextFormat.PlainText, wordWrap=True)
    # Where lines begin in this host; QLabel would go by the text's own script.
    flags, direction = qt.Qt.AlignmentFlag, qt.QApplication.layoutDirection()
    side = qt.QStyle.visualAlignment(direction, flags.AlignLeft)
    widget.setAlignment(side | flags.AlignAbsolute | flags.AlignVCenter)
    widget.setText(breakable(text))
    if on_base:
        widget.setForegroundRole(qt.QPalette.ColorRole.Text)
    scale(widget, size, bold=bold)
    return widget


def rule() -> qt.QFrame:
    """Make a horizontal line."""
    return qt.QFrame(frameShape=qt.QFrame.Shape.HLine, frameShadow=qt.QFrame.Shadow.Sunken)


def plain_column(widget: qt.QWidget, spacing: int | None = None) -> qt.QVBoxLayout:
    """Lay a widget's parts out below each other, without margins."""
    column = qt.QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    if spacing is not None:
        column.setSpacing(spacing)
    return column


def add_all(box: qt.QBoxLayout, *parts: qt.QWidget | qt.QLayout | None) -> None:
    """Add parts to a layout, one after the other; None is a stretch."""
    for part in parts:
        if part is None:
            box.addStretch(1)
        elif isinstance(part, qt.QLayout):
            box.addLayout(part)
        else:
            box.addWidget(part)


def scale(widget: qt.QWidget, size: float, *, bold: bool = False) -> None:
    """Scale a widget's font; a host may have set it in points or in pixels."""
    font = widget.font()
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * size)
    else:
        font.setPixelSize(round(font.pixelSize() * size))
    font.setBold(bold or font.bold())
    widget.setFont(font)


class Notice(qt.QWidget):
    """A warning sign and a sentence. The sign is the style's own, so it reads on any palette."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = safe_line(text)  # what it says
        self._label = label(self.text)
        sign = qt.QLabel()
        side = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_SmallIconSize)
        icon = self.style().standardIcon(qt.QStyle.StandardPixmap.SP_MessageBoxWarning)
        sign.setPixmap(icon.pixmap(side, side))
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(sign, 0, qt.Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._label, 1)
        if not text:
            self.hide()

    def say(self, text: str) -> None:
        """Show a sentence, or nothing where it is empty."""
        self.text = safe_line(text)
        self._label.setText(breakable(self.text))
        self.setVisible(bool(text))


class Mnemonics:
    """Deals out the letters that Alt reaches, each once in a window."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def mark(self, text: str) -> str:
        """Give a text for a button or label, with a letter of its own if one is free."""
        for at, char in enumerate(text):
            # A key types a digit, or a letter of a script that has large and small ones.
            is_typed = (char.isascii() and char.isdigit()) or char.lower() != char.upper()
            if is_typed and char.lower() not in self._taken:
                self._taken.add(char.lower())
                return f"{unmarked(text[:at])}&{unmarked(text[at:])}"
        return unmarked(text)


def unmarked(text: str) -> str:
    """Give a text for a button or label whose ampersands are only ampersands."""
    return text.replace("&", "&&")


def padded(widget: qt.QWidget) -> qt.QWidget:
    """Make a page of a tab, with the widget at its top."""
    page = qt.QWidget()
    column = qt.QVBoxLayout(page)
    column.setContentsMargins(0, page.fontMetrics().height() // 2, 0, 0)
    add_all(column, widget, None)
    return page
