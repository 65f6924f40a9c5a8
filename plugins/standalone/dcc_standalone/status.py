"""The status bar's lasting parts: what the scene holds, and whether agents can reach it.

Main thread.
"""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from . import theme
from .kinds import Kind

_COUNTED = {
    Kind.CAMERA: ("camera", "cameras"),
    Kind.LIGHT: ("light", "lights"),
    Kind.GEOMETRY: ("object", "objects"),
    Kind.MATERIAL: ("material", "materials"),
}


def summary(census: Counter[Kind], selected: int) -> str:
    """Say in a line what a scene holds."""
    parts = [_count(census.total(), ("prim", "prims"))]
    parts += [_count(census[kind], words) for kind, words in _COUNTED.items() if census[kind]]
    return "   ·   ".join(parts + ([f"{selected} selected"] if selected else []))


def _count(number: int, words: tuple[str, str]) -> str:
    return f"{number:,} {words[number != 1]}".replace(",", "\N{NARROW NO-BREAK SPACE}")


class _Dot(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.colour = QColor(theme.WAITING)

    def sizeHint(self) -> QSize:
        return QSize(10, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour)
        side = min(self.width(), self.height()) - 2
        painter.drawEllipse((self.width() - side) // 2, (self.height() - side) // 2, side, side)
        painter.end()


class ServerState(QWidget):
    """The server's address with a dot for its state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dot, self._label = _Dot(self), QLabel(self)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 10, 2)
        layout.setSpacing(7)
        layout.addWidget(self._dot)
        layout.addWidget(self._label)
        self.show_state("MCP: starting…", False)

    @property
    def text(self) -> str:
        """What is shown."""
        return self._label.text()

    def show_state(self, text: str, ok: bool) -> None:
        """Show a text, and a green dot or an amber one."""
        self._label.setText(text)
        self._dot.colour = theme.GOOD if ok else theme.WAITING
        self._dot.setToolTip("Agents can connect" if ok else "Agents cannot connect")
        self._dot.update()
