"""The card about an agent's code in the history, and the window with the code. Main thread."""

from __future__ import annotations

from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.elicitation.details import Details, details_view
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.labels import SMALL, Mnemonics, scale, tr


class CallCard(qt.QPlainTextEdit):
    """A text that says what the code of an agent was for, and what it did.

    Attributes:
        reader: The window with the text of the code.
        details: The text of the code in that window.
    """

    def __init__(self) -> None:
        super().__init__(readOnly=True, tabChangesFocus=True)
        self._code: CodeRun | None = None
        self.setAccessibleName(tr("The purpose of the code and what it did"))
        scale(self, SMALL)
        self.reader = qt.QDialog(self)
        self.reader.setWindowTitle(tr("Code of an agent"))
        self.details = DetailsBox(details_view(Details("")), Mnemonics())
        qt.QVBoxLayout(self.reader).addWidget(self.details)

    def show_code(self, code: CodeRun | None, facts: str) -> None:
        """Show the facts about a run of code, or hide where there is none.

        Args:
            code: The run of code, or None.
            facts: The text of the card.
        """
        before = self._code
        self._code = code
        if facts != self.toPlainText():
            self.setPlainText(facts)
        self.setVisible(code is not None)
        if code is not before and self.reader.isVisible():
            self.open()

    @qt.Slot()
    def open(self) -> None:
        """Show the text of the code in the window; the text is laid out only here."""
        if self._code is not None:
            self.details.show_view(details_view(self._code.details, tr))
            self.reader.adjustSize()
            self.reader.show()
