"""The operations of Autodesk Maya, 2025 and newer, for the verbs.

All that is said here of Maya comes from Autodesk's reference of its commands; it was not run in
Maya. All of it runs on the main thread, inside the chunk that `dcc_bridge_maya.host` opens.

It is long since an item is a transform, its shape and their plugs, and its commands select.
"""

from __future__ import annotations

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
    """All of them."""

    instructions = INSTRUCTIONS
    is_experimental = True

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def up(self) -> Literal["Y", "Z"]:  # type: ignore[override]  # the port says it may be one
        """Which axis is up in this scene."""
        return "Z" if ask.upAxis(query=True, axis=True) == "z" else "Y"


def operations(host: Host) -> MayaOperations:
    """Return Maya's operations."""
    return MayaOperations(host)
