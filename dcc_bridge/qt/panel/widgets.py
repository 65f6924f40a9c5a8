"""The banner, quiet text and small buttons of the panel. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.text import breakable
from dcc_bridge.qt.binding import (
    QApplication,
    QColor,
    QEvent,
    QHBoxLayout,
    QKeyEvent,
    QLabel,
    QPalette,
    QPushButton,
    QSizePolicy,
    QStyle,
    Qt,
    QTimer,
    QVBoxLayout,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.buttons import ENTER
from dcc_bridge.qt.labels import SMALL, label, scale, tr, unmarked
from dcc_bridge.qt.panel import rows
from dcc_bridge.qt.panel.state import State

_SHARE: Final = 0.72
"""Of the text's own colour, mixed with the ground: it must still be read easily."""
_PALETTES: Final = (
    QEvent.Type.PaletteChange,
    QEvent.Type.ApplicationPaletteChange,
    QEvent.Type.ParentChange,
    QEvent.Type.StyleChange,
)


def muted(palette: QPalette, text: QPalette.ColorRole, ground: QPalette.ColorRole) -> QColor:
    """Mix a palette's text colour with its ground, for secondary text."""
    foreground, background = palette.color(text), palette.color(ground)
    mixed = (
        round(a * _SHARE + b * (1 - _SHARE))
        for a, b in zip(foreground.getRgb()[:3], background.getRgb()[:3], strict=True)  # type: ignore[index]  # PySide's stub says object
    )
    return QColor(*mixed)


def style_icon(widget: QWidget, icon: QStyle.StandardPixmap) -> QLabel:
    """Make a label with an icon of the style's own, as high as a line of text."""
    label = QLabel()
    side = widget.fontMetrics().height()
    label.setPixmap(widget.style().standardIcon(icon).pixmap(side, side))
    return label


class SecondaryLabel(QLabel):
    """A small, muted label for plain text; it follows the host's palette."""

    def __init__(self, *, on_base: bool = False) -> None:
        """Make an empty label.

        Args:
            on_base: It stands on the palette's base colour, and not on the window's.
        """
        super().__init__()
        roles = QPalette.ColorRole
        self._text, self._ground = roles.WindowText, roles.Window
        if on_base:
            self._text, self._ground = roles.Text, roles.Base
        self.setForegroundRole(roles.WindowText)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        scale(self, SMALL)
        self._tint()

    def show_text(self, text: str) -> None:
        """Show a sentence, or hide the label if it is empty."""
        shown = breakable(text)
        if shown != self.text():
            self.setText(shown)
        self.setVisible(bool(text))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette."""
        super().changeEvent(event)
        if event.type() in _PALETTES:
            self._tint()

    def _tint(self) -> None:
        parent = self.parentWidget()
        around = parent.palette() if parent is not None else QApplication.palette()
        colour = muted(around, self._text, self._ground)
        if self.palette().color(QPalette.ColorRole.WindowText) != colour:
            own = QPalette()
            own.setColor(QPalette.ColorRole.WindowText, colour)
            self.setPalette(own)


class Action(QPushButton):
    """A small button that Tab reaches and Enter presses; a click takes no focus.

    Signals:
        pressed_for: It was pressed; carries its verb.

    Attributes:
        verb: What it stands for.
    """

    pressed_for = Signal(str)

    def __init__(self, caption: str, tip: str = "", verb: str = "") -> None:
        """Make a button.

        Args:
            caption: Its text.
            tip: What it does, in a sentence.
            verb: What it stands for.
        """
        super().__init__(unmarked(caption))
        self.verb = verb
        self.clicked.connect(self._emit_verb)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
        scale(self, SMALL)

    @Slot()
    def _emit_verb(self) -> None:
        self.pressed_for.emit(self.verb)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Enter, and leave the arrows to the list; the rest is QPushButton's."""
        if event.key() in ENTER:
            self.click()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.ignore()
        else:
            super().keyPressEvent(event)


_COPIED_FOR: Final = 1500
"""Milliseconds for which the button shows that the address was copied."""
_ICONS: Final = {
    "question": QStyle.StandardPixmap.SP_MessageBoxQuestion,
    "warning": QStyle.StandardPixmap.SP_MessageBoxWarning,
}


class Banner(QWidget):
    """The top of the panel: a headline, the clients, the address and the pause switch.

    Signals:
        paused: The person pauses edits, or resumes them.

    Attributes:
        pause: The switch.
        copy: Copies the address.
    """

    paused = Signal(bool)

    def __init__(self) -> None:
        """Build it; `show_state` fills it."""
        super().__init__()
        self._address = ""
        self._icons = {name: style_icon(self, icon) for name, icon in _ICONS.items()}
        self._headline = label("", size=1.15, bold=True)
        self._where = SecondaryLabel()
        self._who = SecondaryLabel()
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = Action(tr("Copy"), tr("Copy the address for an agent's settings."))
        self.copy.setAccessibleName(tr("Copy the address"))
        self.copy.clicked.connect(self._copy)
        self.pause = Action(tr("Pause"))
        self.pause.setCheckable(True)
        self.pause.clicked.connect(self._switch)
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.timeout.connect(self._reset_copy)
        self._lay_out()

    @property
    def text(self) -> str:
        """The headline."""
        return self._headline.text().replace("\N{ZERO WIDTH SPACE}", "")

    def show_state(self, state: State) -> None:
        """Show a state."""
        text = breakable(rows.headline(state))
        if text != self._headline.text():
            self._headline.setText(text)
        for name, icon in self._icons.items():
            icon.setVisible(name == _icon(state))
        self._address = state.address or ""
        self._where.show_text(self._address.removeprefix("http://"))
        self._who.show_text(rows.connected(state))
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
        self._copied_timer.start(_COPIED_FOR)

    @Slot()
    def _reset_copy(self) -> None:
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
