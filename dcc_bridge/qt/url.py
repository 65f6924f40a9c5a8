"""An address as a person should see it before it is opened: its host, its dangers, all of it.

It is drawn from the text alone: nothing is fetched, looked up or opened here. Main thread.
"""

from __future__ import annotations

from html import escape
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.web import address
from dcc_bridge.elicitation.web.hosts import Place
from dcc_bridge.errors import RefusedAddress
from dcc_bridge.qt.binding import (
    QFontDatabase,
    QLabel,
    QPlainTextEdit,
    Qt,
    QTextOption,
    QUrl,
    QVBoxLayout,
    QWidget,
)
from dcc_bridge.qt.labels import SMALL, Notice, label, scale
from dcc_bridge.qt.words import passage, tr

_MOST_LINES: Final = 8
_IN_LINE: Final = 48
"""Characters of an address that fit in a line of it, and often more."""


class AddressView(QWidget):
    """Where a page is.

    Attributes:
        text: The address.
        url: What opens: exactly what is shown.
        host: Its host, with the part in bold that somebody registered.
        whole: All of it, to be read and copied.
        notices: What to look at before going there.
    """

    def __init__(self, question: Question) -> None:
        """Draw it.

        Args:
            question: It has an address.

        Raises:
            RefusedAddress: Its address leads to no page, or Qt reads another one from it.
        """
        super().__init__()
        where = address.of(question)
        self.text = where.url
        self.url = _same(where.url)
        self.host = _owner() if where.ours else _host(where.place)
        self.notices = [Notice(danger.text) for danger in where.dangers]
        self.whole = _whole(where.url)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        if question.description:
            column.addWidget(label(passage(question.description)))
        column.addWidget(self.host)
        if where.place.letters and not where.ours:
            letters = tr("It reads {letters}", letters=plain.line(where.place.letters))
            column.addWidget(label(letters))
        for notice in self.notices:
            column.addWidget(notice)
        column.addWidget(label(tr("The whole address:"), size=SMALL))
        column.addWidget(self.whole)


def _same(text: str) -> QUrl:
    """Read an address as Qt does, which must be as it is shown."""
    url = QUrl(text, QUrl.ParsingMode.StrictMode)
    shown = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
    if not url.isValid() or shown != text:
        raise RefusedAddress(text, f"it would open as {shown!r}")
    return url


def _owner() -> QLabel:
    return label(tr("A page of this application"), size=1.1, bold=True)


def _host(place: Place) -> QLabel:
    """Draw a host. It has no other characters than a network's names, and is escaped all the same.

    `plain.breakable` lets a long name wrap.
    """
    made = label("", size=1.2)
    made.setTextFormat(Qt.TextFormat.RichText)
    parts = [escape(plain.breakable(part)) for part in (place.weak, place.strong)]
    made.setText(f"{parts[0]}<b>{parts[1]}</b>")
    made.setAccessibleName(tr("It leads to {host}", host=place.host))
    return made


def _whole(url: str) -> QPlainTextEdit:
    made = QPlainTextEdit(url)
    made.setReadOnly(True)
    made.setUndoRedoEnabled(False)
    made.setTabChangesFocus(True)
    made.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
    keyboard = Qt.TextInteractionFlag.TextSelectableByKeyboard
    made.setTextInteractionFlags(keyboard | Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    made.setAccessibleName(tr("The whole address"))
    made.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    scale(made, 1.0)
    lines = min(-(-len(url) // _IN_LINE), _MOST_LINES)
    margins = 2 * (made.frameWidth() + round(made.document().documentMargin()) + 1)
    made.setFixedHeight(made.fontMetrics().lineSpacing() * lines + margins)
    return made
