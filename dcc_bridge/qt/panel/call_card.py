"""The card of a call in the history, and the window with the code that it ran. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.details import Details, details_view
from dcc_bridge.panel import rows
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.labels import SMALL, Mnemonics, plain_column, scale, tr
from dcc_bridge.qt.panel.pictures import Pictures
from dcc_bridge.skills.call_history import Record

_MIN_LINES: Final = 5  # of the text
_MAX_NAMES: Final = 50  # of the items that are listed, of each kind


class CallCard(qt.QWidget):
    """All facts about a call, below its pictures: what was asked, by whom, the answer, the end.

    Attributes:
        facts: The text with the facts.
        pictures: The pictures of what the call asked about.
        reader: The window with the text of the code.
        details: The text of the code in that window.
    """

    def __init__(self) -> None:
        super().__init__()
        self._record: Record | None = None
        self.pictures = Pictures()
        self.facts = qt.QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        self.facts.setAccessibleName(tr("About the chosen call"))
        scale(self.facts, SMALL)
        self.facts.setMinimumHeight(self.facts.fontMetrics().lineSpacing() * _MIN_LINES)
        column = plain_column(self, self.fontMetrics().height() // 3)
        column.addWidget(self.pictures)
        column.addWidget(self.facts, 1)
        self.setFocusProxy(self.facts)
        self.reader = qt.QDialog(self)
        self.reader.setWindowTitle(tr("Code of an agent"))
        self.details = DetailsBox(details_view(Details("")), Mnemonics())
        qt.QVBoxLayout(self.reader).addWidget(self.details)

    def show_call(self, record: Record | None) -> None:
        """Show the facts about a call, or hide where there is none."""
        before = self._record
        self._record = record
        self.setVisible(record is not None)
        if record is None:
            return
        text = "\n".join(rows.story(record, _MAX_NAMES))
        if text != self.facts.toPlainText():
            self.facts.setPlainText(text)
        self.pictures.show_pictures(record.pictures)
        is_other = before is None or record.effect.code is not before.effect.code
        if is_other and self.reader.isVisible():
            self.open()

    @qt.Slot()
    def open(self) -> None:
        """Show the text of the code in the window; the text is laid out only here."""
        if self._record is None or self._record.effect.code is None:
            self.facts.setFocus()
            return
        self.details.show_view(details_view(self._record.effect.code.details, tr))
        self.reader.adjustSize()
        self.reader.show()
