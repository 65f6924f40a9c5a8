"""Blender without a window, as the module ``bpy``: a host with a scene and one camera.

``python -m tests.client.proxy.in_blender FOLDER FILE`` says its id once it takes requests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from dcc_bridge import skill
from dcc_bridge_blender.host import BlenderHost
from tests.client.proxy.until_killed import serve


@skill(risk="read")
def where() -> str:
    """Say which scene is open."""
    return Path(bpy.data.filepath).name


@skill(risk="edit", undo="Add an object")
def add_object(name: str) -> list[str]:
    """Add an object, and list all there are."""
    bpy.data.scenes[0].collection.objects.link(bpy.data.objects.new(name, None))
    return sorted(bpy.data.objects.keys())


if __name__ == "__main__":
    bpy.ops.wm.read_factory_settings()
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
    serve(Path(sys.argv[1]), BlenderHost(), lambda bridge: [where, add_object])
