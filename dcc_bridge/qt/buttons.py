"""The three ways out of a question; one of them may say why. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.question import MOST_REASON
from dcc_bridge.qt.binding import (
    QHBoxLayout,
    QKeyEvent,
    QLineEdit,
    QPushButton,
    QShowEvent,
    QStyle,
    Qt,
    QTimer,
    QVBoxLayout,
    QWidget,
    Slot,
)
from dcc_bridge.qt.labels import SMALL, Mnemonics, scale, unmarked
from dcc_bridge.qt.words import tr

ARM_DELAY: Final = 250
"""Milliseconds for which what cannot be taken back cannot be clicked."""
ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Button(QPushButton):
    """A button that leaves Enter to its dialog: on some desktops every button takes it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setAutoDefault(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pass Enter on."""
        if event.key() in ENTER:
            event.ignore()
        else:
            super().keyPressEvent(event)


def small(caption: str) -> Button:
    """Make a quiet button, beside those that matter."""
    button = Button(caption)
    button.setFlat(True)
    scale(button, SMALL)
    return button


class Exits(QWidget):
    """Decline, Cancel, and the button that says what will be done.

    Attributes:
        verb: Agrees.
        decline: Says no, with the reason if one stands there.
        with_reason: Brings the line for that reason.
        reason: The line; hidden until it is asked for.
        cancel: Gives no answer.
    """

    def __init__(self, verb: str, *aside: QWidget, consent: bool, mnemonics: Mnemonics) -> None:
        """Draw them.

        Args:
            verb: What will be done, as `wording.on_button` gives it.
            consent: Something may be lost: Cancel is the default, the verb stands out, has no
                mnemonic, and cannot be clicked for a moment after it appeared.
            mnemonics: Of the window.
            *aside: What stands above them.
        """
        super().__init__()
        self._consent = consent
        self._is_armed = not consent
        self._is_held = False
        self.cancel = Button(mnemonics.mark(tr("Cancel")))
        self.cancel.setToolTip(tr("Close without an answer. Nothing is done."))
        self.decline = Button(mnemonics.mark(tr("Decline")))
        self.decline.setToolTip(tr("Say no, so that the agent knows you do not want this."))
        self.with_reason = small(unmarked(tr("with a reason…")))
        self.with_reason.setToolTip(tr("Say no, and why: the agent is told."))
        self.reason = _line()
        self.verb = Button(unmarked(verb) if consent else mnemonics.mark(verb))
        (self.cancel if consent else self.verb).setDefault(True)
        self.with_reason.clicked.connect(self._ask_reason)
        self._moment = QTimer(self)
        self._moment.setSingleShot(True)
        self._moment.timeout.connect(self._arm)
        if consent:
            self._make_weighty()
        self._lay_out(*aside)

    def showEvent(self, event: QShowEvent) -> None:
        """Start the moment in which a click meant for something else does nothing."""
        super().showEvent(event)
        if self._consent and not event.spontaneous():
            self._is_armed = False
            self.verb.setEnabled(False)
            self._moment.start(ARM_DELAY)

    def hold(self, held: bool) -> None:
        """Keep the verb from being clicked until something else is done."""
        self._is_held = held
        self.verb.setEnabled(self._is_armed and not held)

    def clear(self) -> None:
        """Take all of them away; what stands above them stays."""
        for part in (self.decline, self.with_reason, self.reason, self.cancel, self.verb):
            part.hide()

    @Slot()
    def _ask_reason(self) -> None:
        self.with_reason.hide()
        self.reason.show()
        self.reason.setFocus()

    @Slot()
    def _arm(self) -> None:
        self._is_armed = True
        self.verb.setEnabled(not self._is_held)

    def _make_weighty(self) -> None:
        scale(self.verb, 1.0, bold=True)
        self.verb.setIcon(self.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxWarning))

    def _lay_out(self, *aside: QWidget) -> None:
        column = QVBoxLayout(self)
        for part in aside:
            column.addWidget(part)
        column.addWidget(self.reason)
        row = QHBoxLayout()
        row.addWidget(self.decline)
        row.addWidget(self.with_reason)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.verb)
        column.addLayout(row)


def _line() -> QLineEdit:
    line = QLineEdit()
    line.setMaxLength(MOST_REASON)
    line.setAccessibleName(tr("Why you decline"))
    line.setPlaceholderText(tr("Why not? The agent is told. Enter declines."))
    line.hide()
    return line
