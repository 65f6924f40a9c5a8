"""Where each host looks for plug-ins: one module a host, each a `Kind`. Any thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.install.places.blender import BLENDER
from dcc_bridge.install.places.freecad import FREECAD
from dcc_bridge.install.places.houdini import HOUDINI
from dcc_bridge.install.places.maya import MAYA
from dcc_bridge.install.places.place import Kind, NoPlace, Place, Told

KINDS: Final[dict[str, Kind]] = {one.name: one for one in (BLENDER, FREECAD, HOUDINI, MAYA)}
"""By the names that the command takes."""

__all__ = ["KINDS", "Kind", "NoPlace", "Place", "Told"]
