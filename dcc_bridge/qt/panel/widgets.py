"""The banner, quiet text and small buttons of the panel. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.text import breakable
from dcc_bridge.panel import rows
from dcc_bridge.panel.state import State
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import ENTER
from dcc_bridge.qt.event_loop import LIVE_PROPERTY
from dcc_bridge.qt.labels import SMALL, align, label, plain_column, scale, tr, unmarked
from dcc_bridge.qt.outlines import quieter

_TEXT_SHARE: Final = 0.72
"""The share of the text's colour in a muted colour; the rest is the ground's colour."""
_PALETTE_EVENTS: Final = (
    qt.QEvent.Type.PaletteChange,
    qt.QEvent.Type.ApplicationPaletteChange,
    qt.QEvent.Type.ParentChange,
    qt.QEvent.Type.StyleChange,
)
Role = qt.QPalette.ColorRole
_COPIED_MS: Final = 1500
"""The time for which the button says that the address was copied."""
_ICONS: Final = {
    "question": qt.QStyle.StandardPixmap.SP_MessageBoxQuestion,
    "warning": qt.QStyle.StandardPixmap.SP_MessageBoxWarning,
}


def muted(palette: qt.QPalette, text: Role, ground: Role) -> qt.QColor:
    """Mix a palette's text colour with its ground, for secondary text that can still be read."""
    return quieter(palette.color(text), palette.color(ground), _TEXT_SHARE)


def style_icon(widget: qt.QWidget, icon: qt.QStyle.StandardPixmap) -> qt.QLabel:
    """Make a label with an icon of the widget's style, as high as a line of text."""
    label = qt.QLabel()
    side = widget.fontMetrics().height()
    label.setPixmap(widget.style().standardIcon(icon).pixmap(side, side))
    return label


class SecondaryLabel(qt.QLabel):
    """A small label for plain text, in a muted colour of the host's palette."""

    def __init__(self, *, on_base: bool = False) -> None:
        """Make an empty label.

        Args:
            on_base: Whether the label lies on the palette's base colour, not the window colour.
        """
        super().__init__(textFormat=qt.Qt.TextFormat.PlainText, wordWrap=True)
        align(self)
        self._text_role = Role.WindowText
        self._ground_role = Role.Window
        if on_base:
            self._text_role = Role.Text
            self._ground_role = Role.Base
        self.setForegroundRole(Role.WindowText)
        scale(self, SMALL)
        self._tint()

    def show_text(self, text: str) -> None:
        """Show a sentence, or hide the label if it is empty."""
        shown = breakable(text)
        if shown != self.text():
            self.setText(shown)
        self.setVisible(bool(text))

    def changeEvent(self, event: qt.QEvent) -> None:
        """Follow the palette."""
        super().changeEvent(event)
        if event.type() in _PALETTE_EVENTS:
            self._tint()

    def _tint(self) -> None:
        parent = self.parentWidget()
        host_palette = qt.QApplication.palette()
        if parent is not None:
            host_palette = parent.palette()
        colour = muted(host_palette, self._text_role, self._ground_role)
        if self.palette().color(Role.WindowText) != colour:
            palette = qt.QPalette()
            palette.setColor(Role.WindowText, colour)
            self.setPalette(palette)


class Action(qt.QPushButton):
    """A small button that Tab reaches and Enter presses; a click does not focus the button.

    Attributes:
        pressed_for: Emitted when the button is pressed, with its verb.
        verb: The name of the action that the button stands for, or "".
    """

    pressed_for = qt.Signal(str)

    def __init__(self, caption: str, tip: str = "", verb: str = "") -> None:
        super().__init__()
        self.verb = verb
        self.clicked.connect(self._emit_verb)
        self.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(qt.QSizePolicy.Policy.Maximum, qt.QSizePolicy.Policy.Fixed)
        self.setAutoDefault(False)  # no button of a dialog is pressed by an Enter elsewhere
        self.name(caption, tip)
        scale(self, SMALL)

    def name(self, caption: str, tip: str) -> None:
        """Show a caption, and a sentence about what the button does."""
        self.setText(unmarked(caption))
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)

    @qt.Slot()
    def _emit_verb(self) -> None:
        self.pressed_for.emit(self.verb)

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Press the button on Enter, leave the arrows to the list, and the rest to QPushButton."""
        if event.key() in ENTER:
            self.click()
        elif event.key() in (qt.Qt.Key.Key_Up, qt.Qt.Key.Key_Down):
            event.ignore()
        else:
            super().keyPressEvent(event)


class Banner(qt.QWidget):
    """The top of the panel: a headline, the clients, the address and the pause switch.

    Attributes:
        paused: Emitted when the person pauses edits, with True, or resumes them, with False.
        unmuted: Emitted when the person lets every client ask again.
        copy: The button that copies the address.
        connect_client: The button that leads to the clients; hidden while a client is connected.
        pause: The switch that pauses edits.
        unmute: The button that lets every client ask again; hidden while no client is muted.
        buttons: These buttons, in the order of Tab.
    """

    paused = qt.Signal(bool)
    unmuted = qt.Signal()

    def __init__(self) -> None:
        super().__init__()
        self._address = ""
        self._icons = {name: style_icon(self, icon) for name, icon in _ICONS.items()}
        self._headline = label("", size=1.15, bold=True)
        self._where = SecondaryLabel()
        self._who = SecondaryLabel()
        self._where.setTextInteractionFlags(qt.Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = Action(tr("Copy"), tr("Copy the address for an agent's settings."))
        self.copy.setAccessibleName(tr("Copy the address"))
        self.copy.clicked.connect(self._copy)
        self.connect_client = Action(
            tr("Connect a client"), tr("Set up a client on this computer.")
        )
        self.pause = Action(tr("Pause"))
        self.pause.setCheckable(True)
        self.pause.setProperty(LIVE_PROPERTY, True)
        self.pause.clicked.connect(self.paused)
        self._muted = SecondaryLabel()
        self.unmute = Action(tr("Unmute"), tr("Allow questions from all agents again."))
        self.unmute.clicked.connect(self.unmuted)
        self.buttons = (self.pause, self.connect_client, self.unmute, self.copy)
        self._copied_timer = qt.QTimer(self, singleShot=True)
        self._copied_timer.timeout.connect(self._reset_copy)
        self._lay_out()

    @property
    def text(self) -> str:
        """The headline."""
        return self._headline.text().replace("\N{ZERO WIDTH SPACE}", "")

    def show_state(self, state: State) -> None:
        """Show a state of the bridge."""
        text = breakable(rows.headline(state))
        if text != self._headline.text():
            self._headline.setText(text)
        for name, icon in self._icons.items():
            icon.setVisible(name == _icon(state))
        self._address = state.address or ""
        self._where.show_text(self._address.removeprefix("http://"))
        self._who.show_text(rows.connected(state))
        self.copy.setVisible(bool(self._address))
        self.connect_client.setVisible(not state.clients)
        self._muted.show_text(rows.muted(state))
        self.unmute.setVisible(bool(state.muted))
        self._show_switch(state.is_paused)

    def _show_switch(self, paused: bool) -> None:
        self.pause.setChecked(paused)
        if paused:
            caption = tr("Resume")
            tip = tr("Let agents change the scene again.")
        else:
            caption = tr("Pause")
            tip = tr(
                "Refuse new edits, and tell the agents why. They can still read. Running "
                "calls continue."
            )
        self.pause.setText(caption)
        self.pause.setToolTip(tip)
        self.pause.setAccessibleDescription(tip)

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText(self._address)
        self.copy.setText(tr("Copied"))
        self._copied_timer.start(_COPIED_MS)

    @qt.Slot()
    def _reset_copy(self) -> None:
        self.copy.setText(tr("Copy"))

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        top = qt.QHBoxLayout()
        top.setSpacing(gap)
        for icon in self._icons.values():
            top.addWidget(icon)
        top.addWidget(self._headline, 1)
        top.addWidget(self.pause, 0, qt.Qt.AlignmentFlag.AlignTop)
        column = plain_column(self, gap // 2)
        column.addLayout(top)
        lines = (
            (self._who, self.connect_client),
            (self._muted, self.unmute),
            (self._where, self.copy),
        )
        for text, action in lines:
            below = qt.QHBoxLayout()
            below.setSpacing(gap)
            below.addWidget(text, 1)
            below.addWidget(action, 0, qt.Qt.AlignmentFlag.AlignTop)
            column.addLayout(below)


def _icon(state: State) -> str | None:
    """Return the name of the banner's icon; None where the person has nothing to do."""
    if state.address is None:
        return "warning"
    if any(asked.is_here for asked in state.asked):
        return "question"
    return None
