"""Qt's own event loop, turned by a test."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop

from dcc_bridge.headless import Pump
from dcc_bridge.main_thread import MainThread
from dcc_bridge.qt.event_loop import HostLoop


class QtPump(Pump):
    """A main loop as `tests.live.Live` wants it."""

    def __init__(self) -> None:
        self.loop = HostLoop()
        self.main: MainThread = self.loop.main

    def wake(self, delay: float) -> None:
        """Do nothing: `run` looks often enough."""

    def run(self, until: Callable[[], bool]) -> None:
        """Let Qt serve its events until a condition holds."""
        while not until():
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
