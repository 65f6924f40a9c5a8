"""What is played in Blender's window besides the plug-in: somebody who does what a file says.

Blender runs it with ``--python``. Main thread, from a timer.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import addon_utils
import bpy
from mathutils import Vector

HOME: Final = Path(os.environ["HOME"])
ORDERS: Final = HOME / "orders"
ADDON: Final = "dcc_bridge_blender"
seen: dict[str, Any] = {"ticks": 0}
obeyed = 0


def write() -> None:
    """Tell the test what there is to see."""
    new = {
        **seen,
        "objects": sorted(bpy.data.objects.keys()),
        "bridge": str(sys.modules["dcc_bridge"].__file__) if "dcc_bridge" in sys.modules else "",
        "jobs": [job for job in ("RENDER",) if bpy.app.is_job_running(job)],
    }
    if "PySide6" in sys.modules and (verb := find_verb()) is not None:
        new["verb"] = verb
    part = HOME / "seen.part"
    part.write_text(json.dumps(new), encoding="utf-8")
    os.replace(part, HOME / "seen.json")


def find_verb() -> list[int] | None:
    """Give the place on the screen of the button that deletes."""
    from PySide6.QtWidgets import QApplication, QPushButton  # only where Qt was started

    for button in QApplication.allWidgets():
        if isinstance(button, QPushButton) and button.isVisible() and "elete" in button.text():
            at = button.mapToGlobal(button.rect().center())
            return [at.x(), at.y()]
    return None


def reload() -> None:
    """Disable and enable the add-on."""
    addon_utils.disable(ADDON)
    addon_utils.enable(ADDON)


def disable() -> None:
    """Switch the add-on off for good, as in the preferences."""
    bpy.ops.preferences.addon_disable(module=ADDON)
    bpy.ops.wm.save_userpref()


def render() -> None:
    """Begin a render as F12 does."""
    scene: Any = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 4096
    scene.render.resolution_x = scene.render.resolution_y = 800
    window: Any = bpy.context.window_manager
    with bpy.context.temp_override(window=window.windows[0]):
        bpy.ops.render.render("INVOKE_DEFAULT")


def load() -> None:
    """Open another file."""
    file = str(HOME / "other.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    bpy.ops.wm.open_mainfile(filepath=file)


def fill() -> None:
    """Put a circle of cameras around a monkey's head, each looking at it, up in the left."""
    bpy.data.objects["Cube"].scale.z = 0.2
    context: Any = bpy.context
    for number in range(12):
        angle = math.tau * number / 12
        place = (5 * math.cos(angle), 5 * math.sin(angle), 1.5)
        turned = (math.radians(86), 0, (angle + math.pi / 2) % math.tau)
        bpy.ops.object.camera_add(location=place, rotation=turned)
        context.object.name = f"shot_{number + 1:02}0_cam"
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1.2), rotation=(0, 0, math.radians(40)))
    areas = context.window_manager.windows[0].screen.areas
    (view,) = [area.spaces.active.region_3d for area in areas if area.type == "VIEW_3D"]
    view.view_distance = 24
    view.view_location = view.view_rotation @ Vector((4, -3, 0))


WORDS: Final[dict[str, Callable[[], object]]] = {
    "reload": reload,
    "disable": disable,
    "render": render,
    "load": load,
    "write": write,
    "fill": fill,
    "close": bpy.ops.wm.quit_blender,
}


def look() -> float:
    global obeyed
    seen["ticks"] += 1
    orders = ORDERS.read_text(encoding="utf-8").splitlines() if ORDERS.exists() else []
    if len(orders) > obeyed:
        order = orders[obeyed]
        obeyed += 1
        with open(HOME / "done", "a", encoding="utf-8") as out:
            try:
                WORDS[order]()
            except Exception:  # noqa: BLE001 - the test reads it
                traceback.print_exc()
            out.write(f"{order}\n")
    return 0.05


preferences: Any = bpy.context.preferences
preferences.view.show_splash = False
bpy.app.timers.register(look, persistent=True)
