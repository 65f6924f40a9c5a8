"""The top of the panel: how things are, where agents connect, and the switch. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.qt.binding import (
    QApplication,
    QHBoxLayout,
    QStyle,
    Qt,
    QTimer,
    QVBoxLayout,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.labels import label
from dcc_bridge.qt.panel import sentences
from dcc_bridge.qt.panel.quiet import Action, Quiet, style_icon
from dcc_bridge.qt.panel.state import State
from dcc_bridge.qt.words import tr

_SAID: Final = 1500
"""Milliseconds for which the button says that the address was copied."""
_ICONS: Final = {
    "question": QStyle.StandardPixmap.SP_MessageBoxQuestion,
    "warning": QStyle.StandardPixmap.SP_MessageBoxWarning,
}


class Banner(QWidget):
    """How things are, in a sentence that can be read from afar.

    Signals:
        paused: The person wants edits to be held off, or to begin again.

    Attributes:
        pause: The switch.
        copy: Copies the address.
    """

    paused = Signal(bool)

    def __init__(self) -> None:
        """Draw it; nothing is known yet."""
        super().__init__()
        self._address = ""
        self._icons = {name: style_icon(self, icon) for name, icon in _ICONS.items()}
        self._headline = label("", size=1.15, bold=True)
        self._where = Quiet()
        self._who = Quiet()
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = Action(tr("Copy"), tr("Copy the address for an agent's settings."))
        self.copy.setAccessibleName(tr("Copy the address"))
        self.copy.clicked.connect(self._copy)
        self.pause = Action(tr("Pause"))
        self.pause.setCheckable(True)
        self.pause.clicked.connect(self._switch)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self._name_copy)
        self._lay_out()

    @property
    def text(self) -> str:
        """The sentence."""
        return self._headline.text().replace("\N{ZERO WIDTH SPACE}", "")

    def show_state(self, state: State) -> None:
        """Say how things are now."""
        text = plain.breakable(sentences.headline(state))
        if text != self._headline.text():
            self._headline.setText(text)
        for name, icon in self._icons.items():
            icon.setVisible(name == _icon(state))
        self._address = state.address or ""
        self._where.say(self._address.removeprefix("http://"))
        self._who.say(sentences.connected(state))
        self.copy.setVisible(bool(self._address))
        self._show_switch(state.is_paused)

    def _show_switch(self, paused: bool) -> None:
        self.pause.setChecked(paused)
        self.pause.setText(tr("Resume") if paused else tr("Pause"))
        tip = (
            tr("Let agents change the scene again.")
            if paused
            else tr(
                "Refuse every new change, and tell the agents why. They may still read, "
                "and what runs goes on."
            )
        )
        self.pause.setToolTip(tip)
        self.pause.setAccessibleDescription(tip)

    @Slot()
    def _switch(self) -> None:
        self.paused.emit(self.pause.isChecked())

    @Slot()
    def _copy(self) -> None:
        QApplication.clipboard().setText(self._address)
        self.copy.setText(tr("Copied"))
        self._again.start(_SAID)

    @Slot()
    def _name_copy(self) -> None:
        self.copy.setText(tr("Copy"))

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        top = QHBoxLayout()
        top.setSpacing(gap)
        for icon in self._icons.values():
            top.addWidget(icon)
        top.addWidget(self._headline, 1)
        top.addWidget(self.pause, 0, Qt.AlignmentFlag.AlignTop)
        below = QHBoxLayout()
        below.setSpacing(gap)
        below.addWidget(self._where, 1)
        below.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap // 2)
        column.addLayout(top)
        column.addWidget(self._who)
        column.addLayout(below)


def _icon(state: State) -> str | None:
    """Choose the icon; none where nothing is wanted of the person."""
    if state.address is None:
        return "warning"
    return "question" if any(asked.is_here for asked in state.asked) else None
