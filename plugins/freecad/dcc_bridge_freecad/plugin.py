"""The bridge in FreeCAD: its start and its end. Main thread.

``InitGui.py`` calls `load`; people may call the others in FreeCAD's Python console.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import TYPE_CHECKING, Final

import FreeCAD

from dcc_bridge.spi import BridgeError, PlugIn

from . import VENDOR, log
from .host import FreeCADHost
from .operations import operations

if TYPE_CHECKING:
    from .menu import Command, Menu

_LATER_MS: Final = 50

_menu: Menu | None = None
_end_log: Callable[[], None] | None = None


@cache
def plug_in() -> PlugIn:
    """Return the plug-in, which the first call makes."""
    return PlugIn(FreeCADHost(_later), vendor=VENDOR, operations=operations)


def load() -> None:
    """Start as soon as FreeCAD can show a dialog."""
    if FreeCAD.GuiUp:
        plug_in().install(_begin, unload)


def unload() -> None:
    """Stop and take the menu away, however often it is called."""
    global _menu, _end_log
    menu = _menu
    _menu = None
    if menu is not None:
        menu.close()
    plug_in().uninstall()
    end_log = _end_log
    _end_log = None
    if end_log is not None:
        end_log()


def start() -> Future[None] | None:
    """Start the bridge, unless it runs.

    Returns:
        A future that is done once the bridge takes requests; None if the bridge could not be
        started. The Report view then says why.
    """
    if not plug_in().is_installed:
        return None
    try:
        return plug_in().start()
    except BridgeError:
        FreeCAD.Console.PrintError(f"{plug_in().problem}\n")
        return None


def stop() -> None:
    """Stop the bridge; `start` starts it again."""
    if _menu is not None:
        _menu.close_panel()
    plug_in().stop()


def pause() -> None:
    """Let agents only read, until `resume`."""
    running = plug_in().bridge
    if running is not None:
        running.pause()


def resume() -> None:
    """Let agents edit again."""
    running = plug_in().bridge
    if running is not None:
        running.resume()


def show_panel() -> None:
    """Show the panel while a bridge runs, with the focus on the open question if there is one."""
    panel = plug_in().panel
    if panel is None or _menu is None:
        return
    _menu.show_panel(panel)
    if not plug_in().enter_question():
        panel.enter()  # no Tab leaves FreeCAD's 3D view


def show_clients() -> None:
    """Show the panel's list of clients on this computer, while a bridge runs."""
    show_panel()
    panel = plug_in().panel
    if panel is not None:
        panel.enter_clients()


def _begin() -> None:
    from .menu import Menu  # imports Qt, which freecadcmd must not load

    global _menu, _end_log
    _menu = Menu(_commands())
    if _end_log is None:
        _end_log = log.install()
    start()


def _commands() -> list[Command]:
    """Return the menu's entries."""
    from .menu import Command

    return [
        Command(
            "DccBridge_Start",
            "Start",
            "Let AI agents work in this FreeCAD",
            act=start,
            can=_is_stopped,
        ),
        Command(
            "DccBridge_Stop",
            "Stop",
            "Disconnect all agents, and stop what they are doing",
            act=stop,
            can=_is_running,
        ),
        Command(
            "DccBridge_Pause",
            "Pause",
            "Let agents read but not edit",
            act=pause,
            can=_is_serving,
        ),
        Command(
            "DccBridge_Resume",
            "Resume",
            "Let agents edit again",
            act=resume,
            can=_is_paused,
        ),
        Command(
            "DccBridge_Agents",
            "What agents did",
            "Show what AI agents do in this session, what they ask you, and what they did",
            act=show_panel,
            can=_is_running,
            key="F8",
        ),
        Command(
            "DccBridge_Connect",
            "Connect a client",
            "Set up an AI client on this computer so that it finds this FreeCAD",
            act=show_clients,
            can=_is_running,
        ),
    ]


def _is_running() -> bool:
    return plug_in().bridge is not None


def _is_stopped() -> bool:
    return plug_in().bridge is None


def _is_paused() -> bool:
    bridge = plug_in().bridge
    if bridge is None:
        return False
    return bridge.is_paused


def _is_serving() -> bool:
    """Return whether the bridge runs and is not paused."""
    bridge = plug_in().bridge
    if bridge is None:
        return False
    return not bridge.is_paused


def _later(call: Callable[[], None]) -> None:
    from dcc_bridge.spi.qt import QTimer  # of FreeCAD's own Qt, which is loaded before us

    QTimer.singleShot(_LATER_MS, call)
