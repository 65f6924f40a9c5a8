"""Text that steps back, and buttons that leave the host's focus alone. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.qt.binding import (
    QApplication,
    QColor,
    QEvent,
    QKeyEvent,
    QLabel,
    QPalette,
    QPushButton,
    QSizePolicy,
    QStyle,
    Qt,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.buttons import ENTER
from dcc_bridge.qt.labels import SMALL, scale, unmarked

_SHARE: Final = 0.72
"""Of the text's own colour, mixed with the ground: it must still be read easily."""
_PALETTES: Final = (
    QEvent.Type.PaletteChange,
    QEvent.Type.ApplicationPaletteChange,
    QEvent.Type.ParentChange,
    QEvent.Type.StyleChange,
)


def muted(palette: QPalette, text: QPalette.ColorRole, ground: QPalette.ColorRole) -> QColor:
    """Give a palette's text colour for what matters less."""
    one, other = palette.color(text), palette.color(ground)
    mixed = (
        round(a * _SHARE + b * (1 - _SHARE))
        for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)  # type: ignore[index]  # PySide's stub says object
    )
    return QColor(*mixed)


def style_icon(widget: QWidget, icon: QStyle.StandardPixmap) -> QLabel:
    """Make a label with an icon of the style's own, as high as a line of text."""
    label = QLabel()
    side = widget.fontMetrics().height()
    label.setPixmap(widget.style().standardIcon(icon).pixmap(side, side))
    return label


class Quiet(QLabel):
    """A small plain label for what matters less; it follows the host's palette."""

    def __init__(self, *, on_base: bool = False) -> None:
        """Say nothing yet.

        Args:
            on_base: It stands on the palette's base, and not on the window.
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

    def say(self, text: str) -> None:
        """Show a sentence, or nothing where it is empty."""
        shown = plain.breakable(text)
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
        pressed_for: It was pressed; says for what.

    Attributes:
        verb: For what it is pressed.
    """

    pressed_for = Signal(str)

    def __init__(self, caption: str, tip: str = "", verb: str = "") -> None:
        """Draw it.

        Args:
            caption: What stands on it.
            tip: What it does, in a sentence.
            verb: For what it is pressed.
        """
        super().__init__(unmarked(caption))
        self.verb = verb
        self.clicked.connect(self._tell)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
        scale(self, SMALL)

    @Slot()
    def _tell(self) -> None:
        self.pressed_for.emit(self.verb)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Enter, and leave the arrows to the list; the rest is QPushButton's."""
        if event.key() in ENTER:
            self.click()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.ignore()
        else:
            super().keyPressEvent(event)
