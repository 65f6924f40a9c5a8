"""A host that ends while questions are open ends with exit code 0."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.tiers import sampled

ROOT = Path(__file__).parents[2]
START = """
    import sys
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow
    app = QApplication([])
    from tests.qt.stage import Stage, ask_name, consent, until
    stage = Stage()
"""
OPEN = """
    asked = stage.broker.ask(consent())
    stage.broker.ask(ask_name())
    dialog = stage.dialog
    stage.presenter.chip(ask_name(), "elsewhere", lambda: None, lambda: None)
    stage.presenter.notice("in passing")
    until(lambda: len(stage.presenter.notifications.visible) == 2)
"""
SUSPENDED = """
    seen = []
    def skill():
        seen.append("started")
        seen.append(stage.main.wait(stage.broker.ask(consent())).message)
    job = stage.main.submit(skill)
    until(lambda: stage.presenter.dialogs)
    assert seen == ["started"]
"""
TAKEN_DOWN = """
    stage.close()
"""


def run(*parts: str) -> None:
    """Run a host of its own, and see that nothing is wrong with its end."""
    code = "\n".join(dedent(part) for part in parts) + "\nprint('the end')\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "faulthandler", "-c", code],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    noise = "This plugin does not support"
    errors = [line for line in done.stderr.splitlines() if not line.startswith(noise)]
    assert (done.returncode, done.stdout, errors) == (0, "the end\n", [])


KEY = """
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QShortcut
    from PySide6.QtTest import QTest
    quits = QShortcut("Ctrl+Q", stage.window)
    quits.setContext(Qt.ShortcutContext.ApplicationShortcut)
    quits.activated.connect(app.quit)
    control = Qt.KeyboardModifier.ControlModifier
    cancel = dialog.exits.cancel
    QTimer.singleShot(0, lambda: QTest.keyClick(cancel, Qt.Key.Key_Q, control))
    app.exec()
"""
SHELF = """
    from concurrent.futures import Future
    from dcc_bridge.errors import BridgeClosed
    seen = []
    def shelf():
        QTimer.singleShot(50, {quits})
        try:
            seen.append({waits})
        except BridgeClosed:
            seen.append("BridgeClosed")
    QTimer.singleShot(0, shelf)
    app.exec()
    assert seen == [{end!r}], seen
"""
WAKING = """
    import threading
    def wake():
        while not never.wait(0.001):
            stage.loop.wake(0)
    never = threading.Event()
    threading.Thread(target=wake, daemon=True).start()
"""
CANCELLED = """
    assert asked.result().action == 'cancel', asked.result()
    assert not stage.window.findChildren(type(dialog))
"""
ENDS = {
    "a dialog, taken down": [OPEN, TAKEN_DOWN, "assert asked.result().message == 'bridge_closed'"],
    "a dialog": [OPEN],
    "a skill, taken down": [SUSPENDED, TAKEN_DOWN, "assert seen == ['started', 'bridge_closed']"],
    "a skill": [SUSPENDED],
    "a skill as the interpreter ends": [
        SUSPENDED,
        "import atexit\natexit._run_exitfuncs()\nassert job.done()",
    ],
    "a key in a dialog": [OPEN, KEY, "assert asked.result().action == 'cancel', asked.result()"],
    "an answer in the last moment": [
        OPEN,
        "dialog.exits.decline.click()\nstage.main.drain()",
        TAKEN_DOWN,
    ],
    "a thread that still wakes it": [WAKING, OPEN, TAKEN_DOWN],
    "a window that outlives the presenter": [
        OPEN,
        "stage.presenter.close()\nassert stage.window.isVisible()",
    ],
    **{
        f"a dialog as it quits by {quits}": [
            OPEN,
            f"QTimer.singleShot(0, {quits})\napp.exec()",
            CANCELLED,
        ]
        for quits in ("app.quit", "stage.window.close")
    },
    **{
        f"a skill as it quits by {quits}": [
            SUSPENDED,
            f"QTimer.singleShot(0, {quits})\napp.exec()\nassert job.done()",
        ]
        for quits in ("app.quit", "app.exit", "stage.window.close")
    },
    **{
        f"a shelf button as it quits by {quits}, {end}": [
            SHELF.format(quits=quits, waits=waits, end=end),
            TAKEN_DOWN,
        ]
        for quits in ("app.quit", "app.exit")
        for waits, end in (
            ("stage.main.wait(stage.broker.ask(consent())).action", "cancel"),
            ("stage.main.wait(Future())", "BridgeClosed"),
        )
    },
}


QUICK = {
    "a dialog, taken down",
    "a skill as the interpreter ends",
    "a shelf button as it quits by app.quit, cancel",
}
"""One of each way to end; each end is an interpreter of its own."""


@pytest.mark.parametrize("end", sampled(QUICK, ENDS))
def test_a_host_ends_well_with(end: str) -> None:
    run(START, *ENDS[end])


PANEL = """
    from tests.qt.desk import Desk
    from PySide6.QtCore import Qt
    desk = Desk()
    dock = QDockWidget(desk.window)
    dock.setWidget(desk.panel)
    desk.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    desk.panel.show()
    desk.furnish()
    until(lambda: desk.presenter.dialogs and desk.presenter.notifications.visible)
"""


QUITS = "QTimer.singleShot(0, app.quit)\napp.exec()"
PANEL_ENDS = (
    "desk.close()",
    "desk.panel.close_for_good()",
    "dock.close()",
    "dock.deleteLater()",
    QUITS,
    "QTimer.singleShot(0, desk.window.close)\napp.exec()",
    "for _ in range(20):\n    dock.hide()\n    dock.show()\n    desk.panel.refresh()",
    "",
)


@pytest.mark.parametrize("ends", sampled([QUITS], PANEL_ENDS))
def test_a_host_ends_well_with_the_panel_docked_and_full(ends: str) -> None:
    run(START.replace("stage = Stage()", ""), PANEL, ends)
