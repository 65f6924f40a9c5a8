"""A session's changes as Qt signals, told apart by what must be drawn again.

The session reports once after each step; what the step touched is learned from USD's notices in
between. An edit that nobody put in a step is seen at the loop's next turn. Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pxr import Tf, Usd
from PySide6.QtCore import QObject, QThread, QTimer, Signal

if TYPE_CHECKING:
    from dcc_bridge.hosts.standalone import UsdSession


class SessionFeed(QObject):
    """Tells the window's parts what changed in a session.

    Emitted in this order: ``prims_changed`` when prims came, went, were renamed or retyped;
    ``values_changed`` after that, or alone when only attributes did; ``stage_opened`` after both,
    when the stage is another one (a scene that was opened, or saved under another name);
    ``selection_changed``; ``steps_changed`` after every report.
    """

    prims_changed = Signal()
    values_changed = Signal()
    stage_opened = Signal()
    selection_changed = Signal()
    steps_changed = Signal()

    def __init__(self, session: UsdSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._selection = session.selection
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.timeout.connect(self._report)
        self._unregister = session.on_change(self._report)
        self._listen()

    def close(self) -> None:
        """Stop listening; nothing is emitted from here on."""
        self._unregister()
        self._listener.Revoke()
        self._late.stop()

    def _listen(self) -> None:
        self._stage = self._session.stage
        self._prims = self._values = False
        self._listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._noticed, self._stage)

    def _noticed(self, notice: Usd.Notice.ObjectsChanged, _: Usd.Stage) -> None:
        self._values = True
        self._prims |= any(not path.IsPropertyPath() for path in notice.GetResyncedPaths())
        if QThread.currentThread() is not self.thread():
            return  # USD calls on whatever thread edits
        if not self._session.is_in_step:  # a long one repaints the window, but need not read all
            self._late.start(0)

    def _report(self) -> None:
        self._late.stop()
        opened = self._session.stage is not self._stage
        if opened:
            self._listener.Revoke()
            self._listen()
            self._prims = self._values = True
        self._report_edits()
        if opened:
            self.stage_opened.emit()
        if self._selection != self._session.selection:
            self._selection = self._session.selection
            self.selection_changed.emit()
        self.steps_changed.emit()

    def _report_edits(self) -> None:
        prims, values = self._prims, self._values
        self._prims = self._values = False
        if prims:
            self.prims_changed.emit()
        if values:
            self.values_changed.emit()
