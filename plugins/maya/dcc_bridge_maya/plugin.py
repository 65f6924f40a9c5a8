"""The bridge in Maya: its start and its end, its panel, its shelf button. Main thread.

`userSetup` and the plug-in file call this module: Maya runs those two without `__file__`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from maya import cmds, mel

from dcc_bridge.spi import PlugIn

from . import VENDOR
from .host import MayaHost, MQtUtil
from .operations import operations

PLUG_IN: Final = "dcc_bridge_plugin"
PANEL: Final = "dccBridgePanel"
SHELF: Final = "Agents"
_FILL: Final = (  # Maya keeps this text in the person's workspace, where it outlives the package
    "import importlib.util; importlib.util.find_spec('dcc_bridge_maya') "
    "and __import__('dcc_bridge_maya.plugin').plugin.restore()"
)


@cache
def plug_in() -> PlugIn:
    """Return the plug-in, which the first call makes: `MayaHost` turns the undo of a mayapy on."""
    return PlugIn(MayaHost(_wrap), vendor=VENDOR, operations=operations)


def load() -> None:
    """Load the plug-in once Maya is up, for `userSetup`, which runs before there is a window.

    In batch nothing happens: a farm's interpreter serves agents only when a command starts it so.
    """
    if not cmds.about(batch=True):
        cmds.evalDeferred(_load_plug_in, lowestPriority=True)


def _load_plug_in() -> None:
    cmds.loadPlugin(PLUG_IN, quiet=True)


def start_when_ready() -> None:
    """Start as soon as Maya can show a dialog, for the start of the plug-in file."""
    if not cmds.about(batch=True):
        plug_in().install(_start)


def unload() -> None:
    """Stop, and remove the panel and the shelf, for the end of the plug-in file."""
    if cmds.about(batch=True):
        return
    plug_in().uninstall()
    if cmds.workspaceControl(PANEL, exists=True):
        cmds.deleteUI(PANEL)
    if cmds.shelfLayout(SHELF, exists=True):
        cmds.deleteUI(SHELF)


def show_panel() -> None:
    """Show the panel in its last place, with the focus on the open question if there is one."""
    if cmds.workspaceControl(PANEL, exists=True):
        cmds.workspaceControl(PANEL, edit=True, restore=True)
    else:
        cmds.workspaceControl(PANEL, label="Agents", uiScript=_FILL, retain=False, floating=True)
    plug_in().enter_question()


def restore() -> None:
    """Fill the panel's control while Maya builds it.

    Maya also builds the control when it restores its windows, before any plug-in is loaded; then
    the control stays empty until the bridge starts.
    """
    _fill(MQtUtil.getCurrentParent())


def _start() -> None:
    plug_in().start()
    _add_shelf()
    if cmds.workspaceControl(PANEL, exists=True):
        _fill(MQtUtil.findControl(PANEL))


def _fill(control: int | None) -> None:
    """Put the panel into a control, given by its address, if there is a panel."""
    panel = plug_in().panel
    if panel is not None and control:
        from dcc_bridge.spi.qt import getCppPointer

        (address,) = getCppPointer(panel)
        MQtUtil.addWidgetToMayaLayout(int(address), int(control))


def _add_shelf() -> None:
    """Make the shelf, unless Maya has saved it with the person's own shelves last time."""
    if cmds.shelfLayout(SHELF, exists=True):
        return
    shelves = mel.eval("$dccBridgeShelves = $gShelfTopLevel")
    cmds.shelfLayout(SHELF, parent=shelves)
    cmds.shelfButton(
        parent=SHELF,
        label="Agents",
        annotation="What AI agents do in this scene, and what they ask you",
        image="commandButton.png",
        imageOverlayLabel="Agents",
        sourceType="python",
        command="import dcc_bridge_maya.plugin; dcc_bridge_maya.plugin.show_panel()",
    )


def _wrap(address: int) -> object:
    """Return the widget at an address."""
    from dcc_bridge.spi.qt import QWidget, wrapInstance

    return wrapInstance(address, QWidget)
