"""The bridge in FreeCAD: its start and its end. Main thread.

``InitGui.py`` calls it, and so may whoever types in FreeCAD's Python console.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).resolve().parent
# In front: where FreeCAD has the system's Python, that brings older ones of the same names.
_SYSTEM: Final = {"win32": "win64", "darwin": "mac"}.get(sys.platform, "linux")
_VENDOR: Final = ROOT / "vendor" / f"py{sys.version_info.major}{sys.version_info.minor}-{_SYSTEM}"
if _VENDOR.is_dir() and str(_VENDOR) not in sys.path:
    sys.path.insert(0, str(_VENDOR))

import FreeCAD  # noqa: E402 - what was vendored is found by now

from dcc_bridge import headless  # noqa: E402
from dcc_bridge.bridge import Bridge  # noqa: E402
from dcc_bridge.errors import BridgeError  # noqa: E402
from dcc_bridge.hosts.freecad import FreeCADHost  # noqa: E402
from dcc_bridge.plugin import PlugIn  # noqa: E402

if TYPE_CHECKING:  # it needs Qt, which freecadcmd must not load
    from dcc_bridge_freecad_menu import Menu

SKILLS: Final = ROOT / "skills"
_plug_in: PlugIn | None = None
_menu: Menu | None = None


def load() -> None:
    """Start as soon as FreeCAD can show a dialog."""
    global _plug_in
    if not FreeCAD.GuiUp or (_plug_in is not None and _plug_in.is_installed):
        return
    _plug_in = PlugIn(FreeCADHost(_later), [SKILLS])
    _plug_in.install(_begin, unload)


def unload() -> None:
    """Stop and take the menu away, however often it is called."""
    global _menu
    menu, _menu = _menu, None
    if menu is not None:
        menu.close()
    if _plug_in is not None:
        _plug_in.uninstall()


def start() -> Future[None] | None:
    """Start the bridge, unless it runs; what stands in the way is told in the Report view.

    Returns:
        Done once requests are taken; None where it could not be started.
    """
    if _plug_in is None or not _plug_in.is_installed:
        return None
    try:
        return _plug_in.start()
    except BridgeError as error:
        FreeCAD.Console.PrintError(f"The bridge did not start: {error}\n")
        return None


def stop() -> None:
    """Stop the bridge; `start` starts it again."""
    if _menu is not None:
        _menu.close_panel()
    if _plug_in is not None:
        _plug_in.stop()


def bridge() -> Bridge | None:
    """Give the bridge that runs, or None."""
    return _plug_in.bridge if _plug_in is not None else None


def show_panel() -> None:
    """Show what agents do and did, while a bridge runs."""
    panel = _plug_in.panel if _plug_in is not None else None
    if panel is not None and _menu is not None:
        _menu.show_panel(panel)


def serve(until: Callable[[], bool], ready: Callable[[Bridge], None] = lambda _: None) -> None:
    """Serve in ``freecadcmd``, where there is no event loop.

    Args:
        until: Whether to end; it is looked at after each call.
        ready: Called once requests are taken.
    """
    headless.serve(FreeCADHost(), [SKILLS], until, ready)


def _begin() -> None:
    from dcc_bridge_freecad_menu import Menu

    global _menu
    _menu = Menu()
    start()


def _later(fn: Callable[[], None]) -> None:
    from dcc_bridge.qt.binding import QTimer  # FreeCAD's own, which it has loaded before us

    QTimer.singleShot(50, fn)
