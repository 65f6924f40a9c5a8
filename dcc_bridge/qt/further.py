"""What else a person may do with a question: answer elsewhere, hear no more, agree for a while.

Small and beside the buttons that matter. Main thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.qt.binding import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.buttons import Button, small
from dcc_bridge.qt.labels import Mnemonics, label, unmarked
from dcc_bridge.qt.words import tr

_MOST: Final = 24
"""Characters of a client's name."""


class Further(QWidget):
    """The further choices.

    Signals:
        handed_over: The person would rather answer in the client.
        muted: They decline, and want to hear no more of this client for a while.

    Attributes:
        remember: Agreeing is meant for the session; None where that is not offered.
        hand_over: Answers elsewhere; None where that is not offered.
        mute: Mutes the client; None where nobody is to be muted.
    """

    handed_over = Signal()
    muted = Signal()

    def __init__(self, question: Question, mnemonics: Mnemonics, countdown: QWidget) -> None:
        """Draw those that the question offers.

        Args:
            question: What is asked.
            mnemonics: Of the window.
            countdown: How long it still waits; it begins the row.
        """
        super().__init__()
        offers = question.offers
        self.remember = _remember(question) if offers.remember is not None else None
        self.hand_over: Button | None = None
        self.mute: Button | None = None
        if offers.hand_over is not None:
            caption = tr("Ask in {client}", client=plain.line(offers.hand_over, _MOST))
            self.hand_over = small(mnemonics.mark(caption))
            self.hand_over.clicked.connect(self._hand_over)
        if offers.mute is not None:
            who = plain.line(offers.mute, _MOST)
            self.mute = small(unmarked(tr("Mute {client} for 10 minutes", client=who)))
            self.mute.setToolTip(tr("Decline this, and every question it asks here in that time."))
            self.mute.clicked.connect(self._mute)
        self._lay_out(countdown)

    @property
    def is_remembered(self) -> bool:
        """Whether agreeing is meant for the session."""
        return self.remember is not None and self.remember.isChecked()

    @Slot()
    def _hand_over(self) -> None:
        self.handed_over.emit()

    @Slot()
    def _mute(self) -> None:
        self.muted.emit()

    def _lay_out(self, countdown: QWidget) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        if self.remember is not None:
            column.addWidget(self.remember)
        row = QHBoxLayout()
        row.addWidget(countdown, 1)
        for button in (self.hand_over, self.mute):
            if button is not None:
                row.addWidget(button)
        column.addLayout(row)


class NameToArm(QWidget):
    """A line in which a word is to be typed before what cannot be undone can be agreed to.

    Signals:
        typed: Whether the word stands there.
    """

    typed = Signal(bool)

    def __init__(self, word: str) -> None:
        """Draw it.

        Args:
            word: What is to be typed.
        """
        super().__init__()
        self._word = word
        self.editor = QLineEdit()
        self.editor.setAccessibleName(tr("Type {word} to go on", word=plain.line(word)))
        self.editor.textChanged.connect(self._look)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(label(tr("Type {word} to go on:", word=plain.line(word))))
        column.addWidget(self.editor)

    @Slot(str)
    def _look(self, text: str) -> None:
        self.typed.emit(text.strip() == self._word)


def _remember(question: Question) -> QCheckBox:
    n = question.offers.remember or 1
    who = plain.line(question.offers.mute or tr("this client"), _MOST)
    box = QCheckBox(unmarked(_lasting(who, n)))
    box.setToolTip(tr("For this skill only. You can take it back, and everything can be undone."))
    return box


def _lasting(who: str, n: int) -> str:
    if n == 1:
        return tr("Do not ask {client} again this session, for up to 1 item", client=who)
    return tr("Do not ask {client} again this session, for up to {n:,} items", client=who, n=n)
