"""The menu that copies a call's id, in the panel and at a notification. Main thread."""

from __future__ import annotations

from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import OURS_PROPERTY
from dcc_bridge.qt.labels import tr


class CallMenu(qt.QMenu):
    """A context menu with one entry. The Copy key does the same while the widget has the focus.

    Attributes:
        call: The id of the call that the widget shows, or "".
        copy: The entry that copies the id.
    """

    def __init__(self, widget: qt.QWidget) -> None:
        """Add the menu to the widget that shows a call."""
        super().__init__(widget)
        self.call = ""
        self._widget = widget
        self.setProperty(OURS_PROPERTY, True)
        self.copy = self.addAction(tr("Copy the call's id"))
        self.copy.setShortcut(qt.QKeySequence(qt.QKeySequence.StandardKey.Copy))
        self.copy.setShortcutContext(qt.Qt.ShortcutContext.WidgetShortcut)
        self.copy.triggered.connect(self._copy)
        self.copy.setEnabled(False)
        widget.addAction(self.copy)
        widget.setContextMenuPolicy(qt.Qt.ContextMenuPolicy.CustomContextMenu)
        widget.customContextMenuRequested.connect(self._pop_up)

    def set_call(self, call: str) -> None:
        """Set the id that the entry copies; "" disables the entry."""
        self.call = call
        self.copy.setEnabled(bool(call))

    @qt.Slot(qt.QPoint)
    def _pop_up(self, at: qt.QPoint) -> None:
        self.popup(self._widget.mapToGlobal(at))  # not exec: the widget may be deleted meanwhile

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText(self.call)
