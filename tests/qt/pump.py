"""Qt's own event loop, turned by a test, and a bridge with dialogs and a panel in it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from mcp_types import CallToolResult
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop

from dcc_bridge.headless import Pump
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.qt.keep_bar import KeepBar
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.threads.main_thread import MainThread
from tests.live import AskedFn, Live
from tests.stand_ins import FakeHost

from .stage import delete


class QtPump(Pump):
    """A main loop as `tests.live.Live` wants it."""

    def __init__(self) -> None:
        self.loop = HostLoop()
        self.main: MainThread = self.loop.main

    def wake(self, delay: float) -> None:
        """Do nothing: `run` looks often enough."""

    def run(self, until: Callable[[], bool]) -> None:
        while not until():
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class LiveDesk:
    """A host with a bridge, its dialogs and its panel, and real clients."""

    def __init__(
        self, folder: Path, *, has_ui: bool = True, host: Any = None, **settings: Any
    ) -> None:
        self.host: Any = host or FakeHost(["cam0"], has_ui=has_ui)
        self.pump = QtPump()
        self.presenter = DialogPresenter(self.pump.main, self.host, lambda: None)
        presenter = self.presenter if has_ui else None
        more = {"host": self.host, "presenter": presenter, "pump": self.pump, **settings}
        self.running = Live(folder, *self.skills(), **more)
        self.bridge = self.running.bridge
        self.panel = Panel(self.bridge, self.presenter.bring)
        self.keep_bar = KeepBar(
            self.bridge, self.presenter.notifications, lambda: self.panel.is_seen
        )
        self.presenter.is_shown_elsewhere = self.keep_bar.covers
        self.panel.resize(340, 760)
        self.panel.show()

    def skills(self) -> list[Callable[..., Any]]:
        raise NotImplementedError

    def go(self, tool: str, asked: AskedFn | None = None) -> Future[CallToolResult]:
        return self.running.start(tool, asked=asked, label="claude-code")

    def dialog(self) -> Any:
        """Wait for a dialog that can be answered, and give it."""
        self.running.until(lambda: bool(self.presenter.dialogs))
        (dialog,) = self.presenter.dialogs
        self.running.until(dialog.exits.verb.isEnabled)
        return dialog

    def close(self) -> None:
        """Take everything down, in a host's order."""
        self.running.stop()
        self.keep_bar.close()
        self.panel.close_for_good()
        self.presenter.close()
        self.pump.loop.close()
        delete(self.panel)
