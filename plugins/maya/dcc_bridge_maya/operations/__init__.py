"""The operations of Autodesk Maya, 2025 and newer, for the verbs.

All statements about Maya come from Autodesk's reference of its commands; none was run in Maya. All
operations run on the main thread, inside the chunk that `dcc_bridge_maya.host` opens.

The package is large since an item is a transform, its shape and their plugs, and since Maya's
commands change the selection.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from dcc_bridge.spi import Host

from .dg import ask
from .looking import _Looking

INSTRUCTIONS: Final = (
    "Maya. An item is a transform's long path (|props|lamp1), whose type and attributes are also "
    "its shape's, or a node's name (file1, lambert1, polyCube1). Names may have namespaces "
    "(ns:lamp1). Properties are Maya's attributes: translateX, visibility, focalLength. create "
    "takes node types: transform, polyCube, camera, areaLight. Lengths and frames are in the "
    "scene's units (summary), angles in degrees. What a reference brought can be changed, not "
    "renamed or deleted. apply freezes all below an item too."
)


class MayaOperations(_Looking):
    """Maya's operations for the verbs."""

    instructions = INSTRUCTIONS
    instruction_folder = Path(__file__).parents[1] / "instructions"
    is_experimental = True

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def up(self) -> Literal["Y", "Z"]:  # type: ignore[override]  # the port says it may be one
        """Return the axis that is up in this scene."""
        is_z = ask.upAxis(query=True, axis=True) == "z"
        return "Z" if is_z else "Y"


def operations(host: Host) -> MayaOperations:
    """Return Maya's operations."""
    return MayaOperations(host)
