"""What is played where Blender has no window: the plug-in's server, and somebody who orders.

Run by ``python`` where ``bpy`` is a module, and by ``blender -b --python``. Main thread.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import bpy

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [
    str(ROOT),
    str(ROOT / "plugins" / "blender"),
    *filter(None, os.environ.get("BLENDER_PATH", "").split(os.pathsep)),
]

from dcc_bridge_blender import plugin  # noqa: E402 - found on the path above
from tests.hosts.batch_person import HOME, BatchPerson  # noqa: E402


def load() -> None:
    """Open another file: the one that is open, saved, with one thing less."""
    file = str(HOME / "other.blend")
    bpy.data.objects.remove(bpy.data.objects["Light"])
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    bpy.ops.wm.open_mainfile(filepath=file)


ORDERED: Final[dict[str, Callable[[], object]]] = {
    "undo": lambda: bpy.ops.ed.undo(),
    "load": load,
    "save": lambda: bpy.ops.wm.save_as_mainfile(filepath=str(HOME / "mine.blend")),
    "new": lambda: bpy.ops.wm.read_homefile(),
}

if __name__ == "__main__":
    scene: Any = bpy.context.scene  # an image that needs no graphics card, and takes a moment
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    person = BatchPerson(ORDERED)
    while person.end != "close":
        plugin.serve(lambda: person.end is not None, person.sit_down)
