"""The history: every undo step by its label, and where the scene stands among them.

Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from dcc_bridge.spi.qt import tool_tip

from . import scene, theme
from .scene import SessionFeed

if TYPE_CHECKING:
    from ..host import UsdSession


class History(QListWidget):
    """The undo stack, oldest step on top; a click goes to a step.

    Attributes:
        refused: Emitted when a step could not be undone or redone; the text says why.
    """

    refused = Signal(str)

    def __init__(
        self, session: UsdSession, feed: SessionFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._labels: list[str] = []
        self.setAccessibleName("Undo history")
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.ensurePolished()  # or its first rows are laid out without the style sheet
        self.itemClicked.connect(self._click)
        self.itemActivated.connect(self._click)
        feed.steps_changed.connect(self.refresh)
        self.refresh()

    @property
    def position(self) -> int:
        """How many steps are done; the row of the scene's present state."""
        return len(self._session.undo_labels)

    def refresh(self) -> None:
        """Show the steps as they are now."""
        done = self._session.undo_labels
        undone = self._session.redo_labels
        labels = ["Start", *done, *reversed(undone)]
        if labels != self._labels:
            self._labels = labels
            self.clear()
            self.addItems(labels)
        for row in range(self.count()):
            self._mark(self.item(row), row)
        self.setCurrentRow(self.position)

    def _mark(self, item: QListWidgetItem, row: int) -> None:
        font = QFont(self.font())
        font.setBold(row == self.position)
        font.setItalic(row > self.position)
        item.setFont(font)
        colour = theme.TEXT if row <= self.position else theme.FAINT
        item.setForeground(colour)
        item.setToolTip(tool_tip(self._labels[row]))

    def _click(self, item: QListWidgetItem) -> None:
        self.go_to(self.row(item))

    def undo(self) -> None:
        """Undo one step."""
        self.go_to(self.position - 1)

    def redo(self) -> None:
        """Redo one step."""
        self.go_to(self.position + 1)

    def go_to(self, position: int) -> None:
        """Undo or redo until a number of steps is done."""
        wanted = min(max(position, 0), len(self._labels) - 1)
        try:
            while self.position > wanted:
                scene.undo(self._session)
            while self.position < wanted:
                scene.redo(self._session)
        except scene.Refused as refusal:
            self.refused.emit(str(refusal))
