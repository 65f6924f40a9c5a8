"""Text on the screen: translated, plain, wrapped, in the host's own font. Main thread.

Every text of the dialogs and the panel passes through `tr`. A studio can install a ``QTranslator``
for the context "dcc_bridge" on its application; without a translator the texts are English. The
texts of skills and agents are not translated. A translation has no ampersands: `Mnemonics` adds
the letters for Alt afterwards.
"""

from __future__ import annotations

import logging
from typing import Final

from dcc_bridge.elicitation.text import breakable, safe_line
from dcc_bridge.qt import binding as qt

CONTEXT: Final = "dcc_bridge"
SMALL: Final = 0.9  # of the host's own font size
_NO_COUNT: Final = -1  # for Qt, a text without a plural

log = logging.getLogger(__name__)


def tr(text: str, **values: object) -> str:
    """Return a text in the language of the application. Main thread. It raises nothing.

    Args:
        text: The English text with named placeholders: "Delete {n} cameras". A literal, so that
            it can be collected for translators.
        **values: The values of the placeholders. An integer called ``n`` decides on the plural of
            a translation; for the English singular the caller passes another text.

    Returns:
        The text with the values filled in.
    """
    count = values.get("n")
    if not isinstance(count, int):
        count = _NO_COUNT
    translated = qt.QCoreApplication.translate(CONTEXT, text, None, count)
    if not values:
        return translated
    try:
        return translated.format(**values)
    except (LookupError, ValueError, AttributeError):  # a translator's mistake costs no dialog
        log.warning("the translation %r does not have the places of %r", translated, text)
        return text.format(**values)


def label(text: str, *, size: float = 1.0, bold: bool = False, on_base: bool = False) -> qt.QLabel:
    """Make a label of plain text that wraps.

    Args:
        text: The text, safe to show, as `text.safe_text` and `view` return it.
        size: The size of the font, as a factor of the host's own size.
        bold: Whether the text is bold.
        on_base: Whether the label lies on the palette's base colour, as in a list.
    """
    widget = qt.QLabel(textFormat=qt.Qt.TextFormat.PlainText, wordWrap=True)
    align(widget)
    widget.setText(breakable(text))
    if on_base:
        widget.setForegroundRole(qt.QPalette.ColorRole.Text)
    scale(widget, size, bold=bold)
    return widget


def align(widget: qt.QLabel) -> None:
    """Align a label by the host's own direction of reading; Qt goes by the script of the text."""
    flags = qt.Qt.AlignmentFlag
    side = qt.QStyle.visualAlignment(qt.QApplication.layoutDirection(), flags.AlignLeft)
    widget.setAlignment(side | flags.AlignAbsolute | flags.AlignVCenter)


def rule() -> qt.QFrame:
    """Make a horizontal line."""
    return qt.QFrame(frameShape=qt.QFrame.Shape.HLine, frameShadow=qt.QFrame.Shadow.Sunken)


def plain_column(widget: qt.QWidget, spacing: int | None = None) -> qt.QVBoxLayout:
    """Make a layout in which a widget's parts stand below each other, without margins."""
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
    """A warning sign and a sentence. The sign is the style's own, which any palette shows well.

    Attributes:
        text: The sentence, or "" while the notice is hidden.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = safe_line(text)
        self._label = label(self.text)
        sign = qt.QLabel()
        sign.setAccessibleName(tr("Warning"))
        side = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_SmallIconSize)
        icon = self.style().standardIcon(qt.QStyle.StandardPixmap.SP_MessageBoxWarning)
        sign.setPixmap(icon.pixmap(side, side))
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(sign, 0, qt.Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._label, 1)
        self.setAccessibleName(self.text)
        if not text:
            self.hide()

    def say(self, text: str) -> None:
        """Show a sentence, or hide the notice where the sentence is empty."""
        self.text = safe_line(text)
        self._label.setText(breakable(self.text))
        self.setAccessibleName(self.text)
        self.setVisible(bool(text))


class Mnemonics:
    """Assigns to the buttons and labels of a window the letters by which Alt reaches them."""

    def __init__(self) -> None:
        self._taken_letters: set[str] = set()

    def mark(self, text: str) -> str:
        """Return a text for a button or label, with a letter of its own if one is free."""
        for position, char in enumerate(text):
            # Alt with a key works for digits, and for letters of scripts with two cases.
            is_digit = char.isascii() and char.isdigit()
            is_typed = is_digit or char.lower() != char.upper()
            if is_typed and char.lower() not in self._taken_letters:
                self._taken_letters.add(char.lower())
                return f"{unmarked(text[:position])}&{unmarked(text[position:])}"
        return unmarked(text)


def unmarked(text: str) -> str:
    """Return a text for a button or label, in which no ampersand marks a letter for Alt."""
    return text.replace("&", "&&")


def padded(widget: qt.QWidget) -> qt.QWidget:
    """Make the page of a tab, with a widget at the top of the page."""
    page = qt.QWidget()
    column = qt.QVBoxLayout(page)
    column.setContentsMargins(0, page.fontMetrics().height() // 2, 0, 0)
    add_all(column, widget, None)
    return page
