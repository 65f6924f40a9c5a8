"""What Houdini 20.5 and newer does for the verbs, by SideFX's reference of ``hou``. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.host import Host
from dcc_bridge.verbs.acts import Acts

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


class HoudiniActs(_Reads, _Values, _Builds, _Shades, _Files, _Loses):
    """Houdini's side of the verbs."""

    instructions = _INSTRUCTIONS
    is_experimental = True

    def __init__(self, host: Host) -> None:
        self.host = host


class _WindowedActs(HoudiniActs, _Looks):
    """With a window there is a scene view to look through."""


def acts(host: Host) -> Acts:
    """Give the acts of this Houdini."""
    return _WindowedActs(host) if host.has_ui else HoudiniActs(host)
