"""Who draws the questions: Qt where it is there and safe, else Blender itself. Main thread.

Blender has no Qt of its own, and a Qt that cannot start ends Blender. Where it can, the bridge's
timer serves its events.
"""

from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from typing import Final

from dcc_bridge.spi import Host
from dcc_bridge.spi.drawing import HostPresenter, MainThread

from .presenter import OperatorPresenter

_TURN: Final = 5  # milliseconds for which Qt may go on with its events at a time
_ABORTS: Final = "6.12.0"
"""The PySide6 that drops references to True and None, which a Python before 3.12 counts."""


@dataclass(frozen=True)
class Surface:
    """Who draws."""

    presenter: HostPresenter  # what the broker calls
    turn: Callable[[], None]  # called whenever the timer fires
    close: Callable[[], None]  # ends every question; after it nothing is drawn
    enter: Callable[[], bool]  # leads the person into the question, if there is one
    asked: Callable[[], str]  # gives the question that waits for the person to go there, or ""
    notes: Sequence[tuple[str, float]]  # notifications; none where Qt draws its own
    why: str  # why it is this one, for the person


def choose(main: MainThread, host: Host, wanted: str) -> Surface:
    """Choose who draws: "qt" for Qt's dialogs, if they can be had; "blender" for Blender's own."""
    lacking = _lacking() if wanted == "qt" else "You chose them."
    if lacking is None:
        try:
            return _start_qt(main, host)
        except ImportError as error:  # one that another Python on the path brought
            lacking = f"PySide6 cannot be loaded: {error}"
    own = OperatorPresenter(main, host)
    return Surface(
        presenter=own,
        turn=own.turn,
        close=own.close,
        enter=own.enter,
        asked=own.asked,
        notes=own.notes,
        why=f"Blender's own dialogs: {lacking}",
    )


def _start_qt(main: MainThread, host: Host) -> Surface:
    """Start Qt; a QApplication that is there already, from before a reload, is used again."""
    from dcc_bridge.spi.qt import DialogPresenter, QApplication, QEvent, QEventLoop

    instance = QApplication.instance()
    app = instance if isinstance(instance, QApplication) else QApplication(["blender"])
    app.setQuitOnLastWindowClosed(False)
    presenter = DialogPresenter(main, host, lambda: None)

    def turn() -> None:
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, _TURN)

    def asked() -> str:
        return next(
            (it.question.message for it in presenter.dialogs if not it.isActiveWindow()), ""
        )

    return Surface(
        presenter=presenter,
        turn=turn,
        close=presenter.close,
        enter=presenter.enter,
        asked=asked,
        notes=(),
        why=f"Dialogs of Qt, from {_folder()}.",
    )


def _lacking() -> str | None:
    """Say what keeps Qt's dialogs from being used, or None. Imports nothing of Qt."""
    if util.find_spec("PySide6") is None or util.find_spec("PySide6.QtWidgets") is None:
        return "PySide6 is not installed in Blender."
    if sys.version_info < (3, 12) and _version() == _ABORTS:
        return f"PySide6 {_ABORTS} crashes a Python older than 3.12; install 6.11."
    if sys.platform == "darwin":
        return "On macOS, Qt and Blender cannot both be the application."
    if sys.platform == "linux":
        return _no_display()
    return None


def _folder() -> str:
    """Return where PySide6 is."""
    spec = util.find_spec("PySide6")
    return str(spec.origin) if spec is not None else ""


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
        return "Qt is set to draw nowhere (QT_QPA_PLATFORM=offscreen)."
    if os.environ.get("WAYLAND_DISPLAY"):
        return None
    if not os.environ.get("DISPLAY"):
        return "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    if ctypes.util.find_library("xcb-cursor") is None:
        return "The library libxcb-cursor0 is not installed, and without it Qt crashes Blender."
    return None
