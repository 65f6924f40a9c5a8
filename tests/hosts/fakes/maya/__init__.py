"""A stand-in for Maya 2025, as far as Autodesk's documents and the field's reports say how it is.

Each trap is named where it is built in: "Python and threading" (commands raise off the main thread;
deferral rides on idle events and is not available in batch), the command reference (`undoInfo`,
`file`, `viewFit`, `evalDeferred`, `workspaceControl`, `listRelatives`), and the API reference
(`MSceneMessage`, `MQtUtil`, `MFnPlugin`). What is no document but somebody's measurement says so.
"""

from tests.hosts.fakes.maya.application import Maya

__all__ = ["Maya"]
