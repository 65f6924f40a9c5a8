"""Reads the outcomes with bpy: ``blender -b --python blender.py -- TASK FILE``, or by a Python."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

data: Any = bpy.data
context: Any = bpy.context


def light_a_model() -> None:
    """Three lights and the camera look at the model, and there is no other light."""
    lights = [it for it in data.objects if it.type == "LIGHT"]
    assert {it.name for it in lights} == {"Key", "Fill", "Rim"}
    assert "Cube" not in data.objects
    model = data.objects["Model"]
    for thing in [*lights, data.objects["Camera"]]:
        ahead = thing.matrix_world.to_quaternion() @ Vector((0, 0, -1))
        way = model.matrix_world.translation - thing.matrix_world.translation
        assert math.degrees(ahead.angle(way)) < 5, thing.name
    assert data.lights["Key"].energy == 800


def model_a_prop() -> None:
    """The crate has both modifiers, more faces for them, and a material whose colour is noise."""
    crate = data.objects["Crate"]
    assert [it.type for it in crate.modifiers] == ["BEVEL", "SUBSURF"]
    evaluated = crate.evaluated_get(context.evaluated_depsgraph_get())
    assert len(evaluated.data.polygons) > 500
    nodes: Any = crate.active_material.node_tree.nodes
    (link,) = nodes["Principled BSDF"].inputs["Base Color"].links
    assert link.from_node.name == "Grain"
    assert nodes["Principled BSDF"].inputs["Normal"].is_linked


def rig_a_character() -> None:
    """The figure hangs on its bones, the right hand goes up, and both pictures show that."""
    rig: Any = data.objects["Rig"]
    parents = {it.name: it.parent.name for it in rig.data.bones if it.parent}
    assert len(rig.data.bones) == 15
    assert (parents["hand.R"], parents["forearm.R"]) == ("forearm.R", "upper_arm.R")
    assert (parents["head"], parents["thigh.L"]) == ("spine", "hips")
    body = [it for it in data.objects if it.type == "MESH" and it.name != "Floor"]
    assert len(body) == 14
    for part in body:
        assert part.parent == rig
        assert part.active_material is not None
        assert all(vertex.groups for vertex in part.data.vertices), part.name
    assert _highest("Hands", 1) < 1
    assert _highest("Hands", 20) > 1.4
    _check_pictures(data.objects["Camera"])


def _highest(name: str, frame: int) -> float:
    """Return the height of the highest point of a mesh as it is drawn at a frame."""
    context.scene.frame_set(frame)
    mesh = data.objects[name].evaluated_get(context.evaluated_depsgraph_get()).data
    return float(max(vertex.co.z for vertex in mesh.vertices))


def _check_pictures(camera: Any) -> None:
    """See that there are two pictures, each with the figure in it, which differ."""
    assert context.scene.camera == camera
    rows = []
    for frame in ("01", "20"):
        picture = data.images.load(str(Path(data.filepath).parent / f"pose_{frame}.png"))
        assert tuple(picture.size) == (360, 480)
        rows.append(list(picture.pixels)[::4])
        assert max(rows[-1]) - min(rows[-1]) > 0.4
    assert sum(abs(one - other) > 0.1 for one, other in zip(*rows, strict=True)) > 3_000


def shape_a_face() -> None:
    """The smile is wider, and comes by frame 12."""
    head = data.objects["Head"]
    keys = head.data.shape_keys.key_blocks
    assert list(keys.keys()) == ["Basis", "Smile"]
    widths = []
    for key in keys:
        xs = [point.co.x for point in key.data if point.co.z < 0]
        widths.append(max(xs) - min(xs))
    assert widths[1] > widths[0] * 1.1
    context.scene.frame_set(12)
    assert abs(keys["Smile"].value - 1) < 1e-6


def scatter_in_a_grid() -> None:
    """A hundred trees share a mesh, and stand four metres apart."""
    trees = list(data.collections["Forest"].objects)
    assert len(trees) == 100
    assert len({it.data for it in trees}) == 1
    places = {(round(it.location.x), round(it.location.y)) for it in trees}
    assert places == {(x, y) for x in range(-18, 19, 4) for y in range(-18, 19, 4)}


def render_a_frame() -> None:
    """The picture is there, in its size, and shows something."""
    picture = data.images.load(str(Path(data.filepath).parent / "frame.png"))
    assert tuple(picture.size) == (64, 48)
    pixels = list(picture.pixels)
    assert max(pixels[::4]) - min(pixels[::4]) > 0.1


def turn_a_product() -> None:
    """The camera is on the other side after half of the frames, as far away."""
    camera = data.objects["Camera"]
    places = []
    for frame in (1, 25):
        context.scene.frame_set(frame)
        places.append(camera.matrix_world.translation.copy())
    assert (places[0] + Vector((0, 16, 0)) - places[1]).length < 1e-3
    assert context.scene.frame_end == 48


def mend_an_import() -> None:
    """The model is a metre wide and has a texture that is there; the file that goes on has it."""
    folder = Path(data.filepath).parent
    lid: Any = next(it for it in data.objects if it.name.startswith("Lid"))
    assert abs(lid.dimensions.x - 1) < 1e-4
    assert max(abs(part - 1) for part in lid.scale) < 1e-6
    files = [Path(bpy.path.abspath(it.filepath)) for it in data.images if it.filepath]
    assert [it.name for it in files if it.exists()] == ["wood.png"]
    assert (folder / "lid.glb").stat().st_size > 100


def main(task: str, file: str) -> None:
    """Read the outcome of a task."""
    bpy.ops.wm.open_mainfile(filepath=file)
    globals()[task]()


if __name__ == "__main__":
    main(*sys.argv[-2:])
