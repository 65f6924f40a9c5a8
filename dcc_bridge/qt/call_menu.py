"""The menu that copies a call's id, in the panel and at a notification. Main thread."""

from __future__ import annotations

from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import OURS_PROPERTY
from dcc_bridge.qt.labels import tr


class CallMenu(qt.QMenu):
    """Comes up on a right click. While the widget has the keyboard, the Copy key does the same.

    Attributes:
        call: The id of the call that is shown, or "" where none is.
        copy: The entry that copies the id.
    """

    def __init__(self, shown: qt.QWidget) -> None:
        """Add the menu to the widget that shows a call."""
        super().__init__(shown)
        self.call = ""
        self._shown = shown
        self.setProperty(OURS_PROPERTY, True)
        self.copy = self.addAction(tr("Copy the call's id"))
        self.copy.setShortcut(qt.QKeySequence(qt.QKeySequence.StandardKey.Copy))
        self.copy.setShortcutContext(qt.Qt.ShortcutContext.WidgetShortcut)
        self.copy.triggered.connect(self._copy)
        self.copy.setEnabled(False)
        shown.addAction(self.copy)
        shown.setContextMenuPolicy(qt.Qt.ContextMenuPolicy.CustomContextMenu)
        shown.customContextMenuRequested.connect(self._come_up)

    def set_call(self, call: str) -> None:
        """Copy the id of another call from now on; with "" there is nothing to copy."""
        self.call = call
        self.copy.setEnabled(bool(call))

    @qt.Slot(qt.QPoint)
    def _come_up(self, at: qt.QPoint) -> None:
        self.popup(self._shown.mapToGlobal(at))  # not exec: the widget may go meanwhile

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText(self.call)
