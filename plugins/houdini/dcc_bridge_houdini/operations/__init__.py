"""The operations of Houdini 20.5 and newer, by SideFX's reference of ``hou``. Main thread."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.spi import Host, HostOperations

from .building import _Builds
from .files import _Files
from .looking import _Looks
from .losing import _Loses
from .reading import _Reads
from .shading import _Shades
from .values import _Values

_INSTRUCTIONS: Final = (
    "Houdini builds scenes of nodes. An item is a node's path (/obj/geo1/box1). Objects (geo, cam, "
    "hlight, null) are in /obj and have a place; shapes are nodes in a geo (box, sphere, merge). "
    "Create takes a type as its network names it; a shape without under gets a geo around it. Y is "
    "up, lengths are metres unless the studio says else, angles degrees. A property is a "
    "parameter (tx) or all of a tuple (t). connect leads an output into an input by name "
    "(output1, input1). The parent of an object in transforms is its first input: group with under "
    "connects it. Sets are node groups."
)


class HoudiniOperations(_Reads, _Values, _Builds, _Shades, _Files, _Loses):
    """Houdini's side of the verbs."""

    instructions = _INSTRUCTIONS
    instruction_folder = Path(__file__).parents[1] / "instructions"
    is_experimental = True

    def __init__(self, host: Host) -> None:
        self.host = host


class _WindowedOperations(HoudiniOperations, _Looks):
    """Houdini with a window, which has a scene view to look through."""


def operations(host: Host) -> HostOperations:
    """Return the operations of this Houdini, with pictures if it has a window."""
    if host.has_ui:
        return _WindowedOperations(host)
    return HoudiniOperations(host)
