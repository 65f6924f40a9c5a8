"""Qt inside of Blender, which has none: only where it surely starts, for a failure ends Blender.

Its events are served by the bridge's timer. Main thread.
"""

from __future__ import annotations

import ctypes.util
import os
import sys
from importlib import metadata, util
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # it is not there in most Blenders
    from dcc_bridge.host import Host
    from dcc_bridge.main_thread import MainThread

_TURN: Final = 5
"""Milliseconds for which Qt may go on with its events at a time."""
_ABORTS: Final = "6.12.0"
"""The PySide6 that drops references to True and None, which a Python before 3.12 counts."""


def lacking() -> str | None:
    """Say what keeps Qt's dialogs from being used, or None. Imports nothing of Qt."""
    if util.find_spec("PySide6") is None or util.find_spec("PySide6.QtWidgets") is None:
        return "PySide6 is not installed in Blender."
    if sys.version_info < (3, 12) and _version() == _ABORTS:
        return f"PySide6 {_ABORTS} ends a Python older than 3.12; install 6.11."
    if sys.platform == "darwin":
        return "On a Mac Qt and Blender both want to be the application."
    if sys.platform == "linux":
        return _no_display()
    return None


def _version() -> str | None:
    for name in ("PySide6-Essentials", "PySide6"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def _no_display() -> str | None:
    """Qt aborts where it cannot open a window."""
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        return "Qt is told to draw nowhere (QT_QPA_PLATFORM=offscreen)."
    if os.environ.get("WAYLAND_DISPLAY"):
        return None
    if not os.environ.get("DISPLAY"):
        return "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    if ctypes.util.find_library("xcb-cursor") is None:
        return "The library libxcb-cursor0 is not installed, and Qt ends Blender without it."
    return None


class Dialogs:
    """Qt's dialogs beside Blender's window. It must not be made where something is lacking."""

    def __init__(self, main: MainThread, host: Host) -> None:
        """Start Qt; a QApplication that is there already, from before a reload, is used again."""
        from dcc_bridge.qt.binding import QApplication, QEvent, QEventLoop
        from dcc_bridge.qt.presenter import DialogPresenter

        app = QApplication.instance()
        self._app = app if isinstance(app, QApplication) else QApplication(["blender"])
        self._app.setQuitOnLastWindowClosed(False)
        self._deleted = QEvent.Type.DeferredDelete
        self._everything = QEventLoop.ProcessEventsFlag.AllEvents
        self.presenter = DialogPresenter(main, host, lambda: None)

    def turn(self) -> None:
        """Serve Qt's events for a moment."""
        self._app.sendPostedEvents(None, self._deleted)
        self._app.processEvents(self._everything, _TURN)

    def close(self) -> None:
        """End every question, and delete every widget."""
        self.presenter.close()
