"""Blender's operations for the verbs, for 3.4 in a window and for the module ``bpy``. Main thread.

The operations edit data without Blender's own operators, and operators and keys differ from 3.4 to
5.2; so there is much code.
"""

from __future__ import annotations

from pathlib import Path

from dcc_bridge.spi import Host, HostOperations

from ..host import BlenderHost
from .rendering import _Rendering


def operations(host: Host) -> HostOperations:
    """Return Blender's operations on a host, which has to be a `BlenderHost`."""
    assert isinstance(host, BlenderHost)
    return BlenderOperations(host)


class BlenderOperations(_Rendering):
    """All operations of the verbs, in Blender."""

    up = "Z"
    instruction_folder = Path(__file__).parents[1] / "instructions"
    instructions = (
        "Items are objects, by name; linked ones as `Tree [//set.blend]`. Other data has a prefix: "
        "material:Steel, collection:Set, image:wood.png; a node is "
        "material:Steel/Principled BSDF, its inputs are its properties; other parts are "
        "Cube/modifier:Bevel, Rig/bone:Arm. list_items shows objects; under='material:' "
        "materials, under='material:Steel' its nodes, under='Rig/' its parts. Z is up, lengths in "
        "Blender units, angles in degrees, cameras and lights look along -Z. Data has properties: "
        "data.energy. Objects of linked copies "
        "share data; apply gives an item its own. Children of a deleted object stay."
    )
