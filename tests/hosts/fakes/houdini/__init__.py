"""A stand-in for Houdini 21, as far as SideFX's documents say how it is.

Each trap is named where it is built in: the reference of ``hou`` (`hou.undos.group`,
`hou.ObjectWasDeleted`, `hou.ui.postEventCallback`, `hou.ui.addEventLoopCallback`,
`hou.hipFile.hasUnsavedChanges`, `hou.isUIAvailable`), of HScript (``mwrite -n``), and of where
scripts are looked for (``pythonX.Ylibs/uiready.py``). What is no document but somebody's report
says so.
"""

from tests.hosts.fakes.houdini.application import Houdini

__all__ = ["Houdini"]
