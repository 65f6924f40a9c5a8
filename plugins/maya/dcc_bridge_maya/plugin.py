"""Starts and stops the bridge in Maya, and shows its panel and its shelf button. Main thread.

Two files that Maya runs call this module, because Maya gives neither of them a `__file__`:

- `userSetup` calls `load` when Maya starts;
- the *plug-in file*, which Maya's plug-in manager loads, calls `start_when_ready` and `unload`.

A *control* is the dockable frame that Maya owns and restores with the person's workspace. The
*panel* is the bridge's widget, which is put into the control.
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
# The Python code with which Maya fills the control. Maya saves it in the person's workspace, so it
# must do nothing where the package is no longer installed.
_FILL_SCRIPT: Final = (
    "import importlib.util; importlib.util.find_spec('dcc_bridge_maya') "
    "and __import__('dcc_bridge_maya.plugin').plugin.restore()"
)


@cache
def plug_in() -> PlugIn:
    """Return the only `PlugIn` of this Maya, and make it on the first call.

    It is not made at import, because making a `MayaHost` switches undo on in mayapy.
    """
    return PlugIn(MayaHost(_widget_at), vendor=VENDOR, operations=operations)


def load() -> None:
    """Load the plug-in file once Maya is idle; `userSetup` calls this before any window exists.

    In batch mode nothing happens: a Maya without windows serves agents only if a command starts the
    bridge in it.
    """
    if not cmds.about(batch=True):
        cmds.evalDeferred(_load_plug_in, lowestPriority=True)


def _load_plug_in() -> None:
    """Have Maya load the plug-in file, which then calls `start_when_ready`."""
    cmds.loadPlugin(PLUG_IN, quiet=True)


def start_when_ready() -> None:
    """Start the bridge once Maya can show a dialog; the plug-in file calls this when loaded."""
    if not cmds.about(batch=True):
        plug_in().install(_start)


def unload() -> None:
    """Stop the bridge, and remove the control and the shelf.

    The plug-in file calls this when it is unloaded.
    """
    if cmds.about(batch=True):
        return
    plug_in().uninstall()
    if cmds.workspaceControl(PANEL, exists=True):
        cmds.deleteUI(PANEL)
    if cmds.shelfLayout(SHELF, exists=True):
        cmds.deleteUI(SHELF)


def show_panel() -> None:
    """Show the panel where it was last, and give the focus to an open question if there is one.

    A new control is filled by Maya itself, which runs `_FILL_SCRIPT` and so `restore`.
    """
    if cmds.workspaceControl(PANEL, exists=True):
        cmds.workspaceControl(PANEL, edit=True, restore=True)
    else:
        cmds.workspaceControl(
            PANEL, label="Agents", uiScript=_FILL_SCRIPT, retain=False, floating=True
        )
    plug_in().enter_question()


def restore() -> None:
    """Put the panel into the control that Maya is building right now.

    `_FILL_SCRIPT` calls this. Maya also builds the control when it restores its windows, before any
    plug-in is loaded; then the control stays empty until `_start` fills it.
    """
    _put_panel_into(MQtUtil.getCurrentParent())


def _start() -> None:
    """Start the bridge, add the shelf, and fill a control that Maya restored before."""
    plug_in().start()
    _add_shelf()
    if cmds.workspaceControl(PANEL, exists=True):
        _put_panel_into(MQtUtil.findControl(PANEL))


def _put_panel_into(control: int | None) -> None:
    """Put the panel into a control, unless one of the two does not exist.

    Args:
        control: The C++ address of the control; None or 0 for no control.
    """
    panel = plug_in().panel
    if panel is not None and control:
        from dcc_bridge.spi.qt import getCppPointer

        (address,) = getCppPointer(panel)
        MQtUtil.addWidgetToMayaLayout(int(address), int(control))


def _add_shelf() -> None:
    """Add the shelf with its button, unless Maya has restored it from the last session."""
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


def _widget_at(address: int) -> object:
    """Return the Qt widget at a C++ address, which is how Maya names its windows."""
    from dcc_bridge.spi.qt import QWidget, wrapInstance

    return wrapInstance(address, QWidget)
