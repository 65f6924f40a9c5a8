"""Who draws the questions: Qt where it is there and safe, else Blender itself. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcc_bridge.elicitation.question import HostPresenter
from dcc_bridge.host import Host
from dcc_bridge.main_thread import MainThread

from . import qt
from .corner import Corner
from .presenter import OperatorPresenter


@dataclass(frozen=True)
class Surface:
    """Who draws.

    Attributes:
        presenter: What the broker calls.
        turn: Called whenever the timer fires.
        close: Ends every question; after it nothing is drawn.
        corner: What the panel shows, where it is Blender that draws.
        why: Why it is this one, for the person.
    """

    presenter: HostPresenter
    turn: Callable[[], None]
    close: Callable[[], None]
    corner: Corner | None
    why: str


def choose(main: MainThread, host: Host, wanted: str) -> Surface:
    """Choose who draws.

    Args:
        main: The way to the main thread.
        host: For the dialogs' header.
        wanted: "qt" for Qt's dialogs, if they can be had; "blender" for Blender's own.
    """
    lacking = qt.lacking() if wanted == "qt" else "They were chosen."
    if lacking is not None:
        own = OperatorPresenter(main, host)
        return Surface(own, own.turn, own.close, own.corner, f"Blender's own dialogs: {lacking}")
    dialogs = qt.Dialogs(main, host)
    return Surface(dialogs.presenter, dialogs.turn, dialogs.close, None, "Dialogs of Qt.")
