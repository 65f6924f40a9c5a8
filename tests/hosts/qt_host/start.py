"""What the C++ application runs when it is up: a plug-in's whole start and stop. Main thread."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import qt_host  # type: ignore[import-not-found]  # the application's own, inside of it only

sys.path[:0] = os.environ["QT_HOST_PATH"].split(os.pathsep)

from dcc_bridge.bridge import Bridge  # noqa: E402 - found on the path above
from dcc_bridge.headless import Pump  # noqa: E402
from tests.hosts.orders import DONE, ORDERS  # noqa: E402
from tests.hosts.qt_host.adapter import QtHost  # noqa: E402

if TYPE_CHECKING:
    from dcc_bridge.qt.presenter import DialogPresenter

SKILLS = Path(__file__).parent / "skills"
HOME = Path(os.environ["HOME"])


class PlugIn:
    """What the host's own loader starts and stops."""

    def __init__(self, host: QtHost) -> None:
        self.host = host
        self.presenter: DialogPresenter | None = None

    def start(self) -> None:
        from dcc_bridge.qt.event_loop import HostLoop
        from dcc_bridge.qt.presenter import DialogPresenter

        self._loop = HostLoop()
        self.presenter = DialogPresenter(self._loop.main, self.host, self.host.main_window)
        self._bridge = Bridge(self.host, self._loop.main, presenter=self.presenter, skills=[SKILLS])
        self._bridge.start()

    def stop(self) -> None:
        self._bridge.stop()
        if self.presenter is not None:
            self.presenter.close()
        self.presenter = None
        self._loop.close()

    def reload(self) -> None:
        self.stop()
        self.start()


def in_window() -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from tests.hosts.heart import Heart
    from tests.hosts.person import Person

    heart = globals()["heart"] = Heart()
    plug_in = PlugIn(QtHost())
    started = time.perf_counter()

    def press_undo() -> None:
        window = plug_in.host.main_window()
        QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

    def close() -> None:
        plug_in.stop()
        qt_host.quit(0)

    words = {
        "undo": press_undo,
        "reload": plug_in.reload,
        "modal": lambda: qt_host.modal(1500),
        "edit": lambda: qt_host.create(f"by_hand_{time.perf_counter() - started:.6f}"),
        "beat": heart.begin,
        "note": heart.note,
        "close": close,
        "vanish": lambda: qt_host.quit(0),  # without a word to the plug-in
    }
    globals()["person"] = Person(lambda: plug_in.presenter, words)
    plug_in.host.when_ready(plug_in.start)


def in_batch() -> None:
    """Serve until the person says that it is enough."""
    pump = Pump()
    bridge = Bridge(QtHost(), pump.main, skills=[SKILLS])
    bridge.start()

    def is_enough() -> bool:
        pump.wake(0.05)  # looked at again then, also if nothing happens
        return (HOME / ORDERS).exists()

    pump.run(until=is_enough)
    bridge.stop()
    (HOME / DONE).write_text("close\n", encoding="utf-8")


if qt_host.is_batch():
    in_batch()
else:
    in_window()
