"""Runs a module's promises once FreeCAD's window is up, and closes it. Main thread.

Which module that is, and the folder where its exit code is written down, the environment says.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import FreeCADGui

from dcc_bridge.qt.binding import QTimer


def begin() -> None:
    """Begin when there is a window."""
    window = FreeCADGui.getMainWindow()
    if not window.isVisible():
        QTimer.singleShot(50, begin)
        return
    code = import_module(os.environ["PROMISES"]).run()
    Path(os.environ["SEEN_IN"], "told").write_text(str(code), encoding="utf-8")
    window.close()


QTimer.singleShot(0, begin)
