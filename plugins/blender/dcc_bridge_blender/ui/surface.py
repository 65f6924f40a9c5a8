"""The surface that draws the questions: Qt where that is installed and safe, else Blender itself.

Blender has no Qt of its own, and a Qt that cannot start ends Blender. Where Qt can start, the
bridge's timer serves Qt's events. Main thread.
"""

from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from typing import Any, Final

from dcc_bridge.spi import Host
from dcc_bridge.spi.drawing import HostPresenter, MainThread

from .presenter import OperatorPresenter

_QT_TURN_MS: Final = 5  # for which Qt may go on with its events at a time
_ABORTING_VERSION: Final = "6.12.0"
"""The PySide6 that drops references to True and None, which a Python before 3.12 counts."""


@dataclass(frozen=True)
class Surface:
    """A way to draw questions, and its functions. Main thread, but for what the broker calls.

    Attributes:
        presenter: What the broker calls.
        turn: Called whenever the timer fires.
        close: Ends every question; after it nothing is drawn.
        enter: Leads the person into the question that waits; returns whether there is one.
        asked: Returns a line about the question that waits for the person to go there, or "".
        draw_in_sidebar: Draws the list or the form of the question. Takes a layout of the sidebar
            and how many characters its lines have. Draws nothing where Qt draws the question.
        notes: The notifications, each with the time when it goes; none where Qt draws its own.
        why: Why this surface was chosen, for the person.
    """

    presenter: HostPresenter
    turn: Callable[[], None]
    close: Callable[[], None]
    enter: Callable[[], bool]
    asked: Callable[[], str]
    draw_in_sidebar: Callable[[Any, int], None]
    notes: Sequence[tuple[str, float]]
    why: str


def choose(main: MainThread, host: Host, wanted: str) -> Surface:
    """Choose and start the surface that draws questions.

    Args:
        main: The lanes to the main thread.
        host: The host that the dialogs name.
        wanted: "qt" for Qt's dialogs, if they can be used; "blender" for Blender's own.
    """
    lacking: str | None = "You chose them."
    if wanted == "qt":
        lacking = _lacking()
    if lacking is None:
        try:
            return _start_qt(main, host)
        except ImportError as error:  # of a PySide6 for another Python on the path
            lacking = f"PySide6 cannot be loaded: {error}"
    own = OperatorPresenter(main, host)
    return Surface(
        presenter=own,
        turn=own.turn,
        close=own.close,
        enter=own.enter,
        asked=own.asked,
        draw_in_sidebar=own.draw_in_sidebar,
        notes=own.notes,
        why=f"Blender's own dialogs: {lacking}",
    )


def _start_qt(main: MainThread, host: Host) -> Surface:
    """Start Qt. A QApplication from before a reload is used again."""
    from dcc_bridge.spi.qt import DialogPresenter, QApplication, QEvent, QEventLoop

    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["blender"])
    app.setQuitOnLastWindowClosed(False)
    presenter = DialogPresenter(main, host, lambda: None)

    def turn() -> None:
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, _QT_TURN_MS)

    def asked() -> str:
        for dialog in presenter.dialogs:
            if not dialog.isActiveWindow():
                return dialog.question.message
        return ""

    return Surface(
        presenter=presenter,
        turn=turn,
        close=presenter.close,
        enter=presenter.enter,
        asked=asked,
        draw_in_sidebar=lambda layout, wide: None,
        notes=(),
        why=f"Dialogs of Qt, from {_folder()}.",
    )


def _lacking() -> str | None:
    """Return why Qt's dialogs cannot be used, or None. Imports nothing of Qt."""
    if util.find_spec("PySide6") is None or util.find_spec("PySide6.QtWidgets") is None:
        return "PySide6 is not installed in Blender."
    if sys.version_info < (3, 12) and _version() == _ABORTING_VERSION:
        return f"PySide6 {_ABORTING_VERSION} crashes a Python older than 3.12; install 6.11."
    if sys.platform == "darwin":
        return "On macOS, Qt and Blender cannot both be the application."
    if sys.platform == "linux":
        return _no_display()
    return None


def _folder() -> str:
    """Return where PySide6 is, or ""."""
    spec = util.find_spec("PySide6")
    if spec is None:
        return ""
    return str(spec.origin)


def _version() -> str | None:
    """Return the version of PySide6, or None where no distribution of it is known."""
    for name in ("PySide6-Essentials", "PySide6"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def _no_display() -> str | None:
    """Return why Qt cannot open a window, or None. Qt aborts the process in that case."""
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        return "Qt is set to draw nowhere (QT_QPA_PLATFORM=offscreen)."
    if os.environ.get("WAYLAND_DISPLAY"):
        return None
    if not os.environ.get("DISPLAY"):
        return "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    if ctypes.util.find_library("xcb-cursor") is None:
        return "The library libxcb-cursor0 is not installed, and without it Qt crashes Blender."
    return None
