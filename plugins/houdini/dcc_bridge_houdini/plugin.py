"""Starts and stops the bridge in Houdini, and shows its panel. Main thread.

``uiready.py``, the panel and the shelf call this module, because Houdini runs those files without
`__file__`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import hou

from dcc_bridge.spi import PlugIn

from . import VENDOR
from .host import HoudiniHost
from .operations import operations

if TYPE_CHECKING:
    from dcc_bridge.spi.qt import QWidget


@cache
def plug_in() -> PlugIn:
    """Return the only `PlugIn` of this Houdini, and make it on the first call."""
    return PlugIn(HoudiniHost(), vendor=VENDOR, operations=operations)


def start_when_ready() -> None:
    """Start the bridge as soon as Houdini can show a dialog."""
    if hou.isUIAvailable():
        plug_in().install(_start)


def stop() -> None:
    """Stop the bridge; more calls do nothing."""
    plug_in().uninstall()


def make_panel() -> QWidget:
    """Return the widget of the Python panel, or a label with the reason if there is no bridge."""
    from dcc_bridge.spi.qt import QLabel, Qt, tr

    panel = plug_in().panel
    if panel is not None:
        return panel
    label = QLabel(plug_in().problem or tr("The bridge is not running."))
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label


def show_panel() -> None:
    """Show the panel, with the focus on the open question if there is one."""
    _show_pane()
    plug_in().enter_question()


def _show_pane() -> None:
    """Open a pane with the panel, or bring the existing pane to the front."""
    kind = hou.pypanel.interfaceByName("dcc_bridge")
    for tab in hou.ui.paneTabs():
        if isinstance(tab, hou.PythonPanel) and tab.activeInterface() == kind:
            tab.setIsCurrentTab()
            return
    desktop = hou.ui.curDesktop()
    tab = desktop.createFloatingPaneTab(hou.paneTabType.PythonPanel)
    if isinstance(tab, hou.PythonPanel) and kind is not None:
        tab.setActiveInterface(kind)


def _start() -> None:
    plug_in().start()
    bridge = plug_in().bridge
    if bridge is not None:
        # Qt wakes the main thread at once. This callback is for a wake that Houdini's loop lost.
        drain = bridge.main.drain
        hou.ui.addEventLoopCallback(drain)
        plug_in().cleanup.callback(hou.ui.removeEventLoopCallback, drain)
