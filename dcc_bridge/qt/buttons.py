"""The three ways out of a question. Main thread."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStyle, QVBoxLayout, QWidget

from dcc_bridge.qt.labels import Mnemonics, scale, unmarked

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


class Exits(QWidget):
    """Decline, Cancel, and the button that says what will be done.

    Attributes:
        verb: Agrees.
        decline: Says no.
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
        self.cancel = Button(mnemonics.mark("Cancel"))
        self.cancel.setToolTip("Close without an answer. Nothing is done.")
        self.decline = Button(mnemonics.mark("Decline"))
        self.decline.setToolTip("Say no, so that the agent knows you do not want this.")
        self.verb = Button(unmarked(verb) if consent else mnemonics.mark(verb))
        (self.cancel if consent else self.verb).setDefault(True)
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
        row = QHBoxLayout()
        row.addWidget(self.decline)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.verb)
        column.addLayout(row)
