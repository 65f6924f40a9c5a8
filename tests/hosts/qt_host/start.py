"""What the C++ application runs when it is up: a plug-in's whole start and stop. Main thread."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import qt_host  # type: ignore[import-not-found]  # the application's own, inside of it only

sys.path[:0] = os.environ["QT_HOST_PATH"].split(os.pathsep)

from dcc_bridge.bridge import Bridge  # noqa: E402 - found on the path above
from dcc_bridge.headless import Pump  # noqa: E402
from dcc_bridge.plugin import PlugIn  # noqa: E402
from tests.hosts.orders import DONE, ORDERS  # noqa: E402
from tests.hosts.qt_host.adapter import QtHost  # noqa: E402

if TYPE_CHECKING:
    from dcc_bridge.qt.presenter import DialogPresenter

SKILLS = Path(__file__).parent / "skills"
HOME = Path(os.environ["HOME"])


def in_window() -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from tests.hosts.heart import Heart
    from tests.hosts.person import WindowPerson

    heart = globals()["heart"] = Heart()
    plug_in = globals()["plug_in"] = PlugIn(QtHost(), [SKILLS])
    started = time.perf_counter()

    def press_undo() -> None:
        window: Any = plug_in.host.main_window()
        QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

    def presenter() -> DialogPresenter | None:
        return plug_in._parts.presenter if plug_in._parts is not None else None

    def reload() -> None:
        plug_in.stop()
        plug_in.start()

    def close() -> None:
        plug_in.uninstall()
        qt_host.quit(0)

    words = {
        "undo": press_undo,
        "reload": reload,
        "modal": lambda: qt_host.modal(1500),
        "edit": lambda: qt_host.create(f"by_hand_{time.perf_counter() - started:.6f}"),
        "beat": heart.begin,
        "note": heart.note,
        "close": close,
        "vanish": lambda: qt_host.quit(0),  # without a word to the plug-in
    }
    globals()["person"] = WindowPerson(presenter, words)
    plug_in.install()


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
