"""The plug-in as Maya's Plug-in Manager loads and unloads it. Main thread.

It must not be called as the package is: Maya puts its folder on the path, before the package's.
"""

from maya.api import OpenMaya

from dcc_bridge_maya import plugin


def maya_useNewAPI() -> None:
    """Say that this is written for Python API 2.0; Maya looks for the name."""


def initializePlugin(plug_in: OpenMaya.MObject) -> None:
    """Start once Maya idles. Not here: Maya waits for this to return, and may have no window."""
    OpenMaya.MFnPlugin(plug_in, "dcc_bridge", "0.1.0")
    plugin.start_when_ready()


def uninitializePlugin(plug_in: OpenMaya.MObject) -> None:
    """Stop, and take our windows away."""
    plugin.unload()
