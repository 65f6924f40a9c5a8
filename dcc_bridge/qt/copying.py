"""The menu of what shows a call: it copies the id by which the record and the log name it.

``dcc-bridge audit show --call ID`` tells the rest. Main thread.
"""

from __future__ import annotations

from dcc_bridge.qt.binding import QApplication, QKeySequence, QMenu, QPoint, Qt, QWidget, Slot
from dcc_bridge.qt.wake import OURS
from dcc_bridge.qt.words import tr


class CallMenu(QMenu):
    """Comes up on a right click. Where the keyboard is there, Copy does the same.

    Attributes:
        call: The id of the call that is shown, or "" where none is.
        copy: Copies it.
    """

    def __init__(self, shown: QWidget) -> None:
        """Belong to a widget.

        Args:
            shown: What shows a call.
        """
        super().__init__(shown)
        self.call = ""
        self._shown = shown
        self.setProperty(OURS, True)
        self.copy = self.addAction(tr("Copy the call's id"))
        self.copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        self.copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.copy.triggered.connect(self._copy)
        self.copy.setEnabled(False)
        shown.addAction(self.copy)
        shown.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        shown.customContextMenuRequested.connect(self._come_up)

    def tell(self, call: str) -> None:
        """Be about another call, or about none with ""."""
        self.call = call
        self.copy.setEnabled(bool(call))

    @Slot(QPoint)
    def _come_up(self, at: QPoint) -> None:
        self.popup(self._shown.mapToGlobal(at))  # not exec: what is shown may go meanwhile

    @Slot()
    def _copy(self) -> None:
        QApplication.clipboard().setText(self.call)


def tip(call: str) -> str:
    """Say which call is shown."""
    return tr("Call {id}", id=call)
