"""The plug-in as Maya's Plug-in Manager loads and unloads it. Main thread.

The file must not have the package's name: Maya puts this folder on the path before the package's.
"""

from maya.api import OpenMaya

from dcc_bridge_maya import plugin


def maya_useNewAPI() -> None:
    """Mark the plug-in as written for Python API 2.0; Maya looks for this name."""


def initializePlugin(plug_in: OpenMaya.MObject) -> None:
    """Start the bridge once Maya idles; now Maya waits for the return, and may have no window."""
    OpenMaya.MFnPlugin(plug_in, "dcc_bridge", "0.1.0")
    plugin.start_when_ready()


def uninitializePlugin(plug_in: OpenMaya.MObject) -> None:
    """Stop the bridge, and remove the panel and the shelf."""
    plugin.unload()
