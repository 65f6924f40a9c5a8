"""A large Blender file, and what Blender's own API does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, Final

import bpy

from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations
from tests.bench.verbs import Job, silence
from tests.bench.verbs_cases import MANY, Terms

IN_A_SET: Final = 100
_WOOD: Final = "material:Wood"
_EVALUATED: Final = "view_layer.update evaluates all objects, and ed.undo_push writes them"
_CAUSES: Final = {
    "": _EVALUATED,
    "find_api": f"the nodes that it makes and takes away: {_EVALUATED}",
    "look": "one picture is rendered in one piece (Cycles), after an evaluation",
    "export_file": "wm.save_as_mainfile",
    "save": "wm.save_as_mainfile",
    "list_items": "BlendData.user_map",
    "check": "Collection.all_objects is made anew after an evaluation",
}


class Large:
    """A file of collections with boxes of shared meshes and one material, and lights."""

    causes = _CAUSES

    def __init__(self, folder: Path, items: int) -> None:
        silence()  # Blender tells of each render
        self._own = str(folder / "own.blend")
        _build(items)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "many.blend"))
        (folder / "lid.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.host = BlenderHost()
        self.terms = _terms(items)
        saving = ("save_as_mainfile(copy)", self._save)
        self.jobs: Mapping[str, Job] = {**_JOBS, "export": saving, "save": saving}

    def own(self, run: Callable[[Any], object]) -> float:
        """Work as an add-on does: evaluated, and with an entry of undo, which is undone."""
        depth, layer = self.host.undo_mark().depth, bpy.context.view_layer
        began = process_time()
        run(bpy)
        layer.update()  # type: ignore[union-attr]  # there is one
        took = process_time() - began
        while self.host.undo_mark().depth > depth:
            self.host.undo()
        return 1000 * took

    def operations(self) -> BlenderOperations:
        """Return what the host does for the verbs."""
        return BlenderOperations(self.host)

    def _save(self, _: Any, count: int) -> None:
        bpy.ops.wm.save_as_mainfile(filepath=self._own, copy=True)


def _terms(items: int) -> Terms:
    surface = f"{_WOOD}/Principled BSDF"
    output = f"{_WOOD}/Material Output"
    return Terms(
        boxes=[f"box_{it:05}" for it in range(items)],
        type="MESH",
        pattern="box_*",
        new_names="crate_*",
        new_type="CUBE",
        move=[0, 0, 1],
        values={"pass_index": 2},
        new_values={"pass_index": 2},
        group="collection:All",
        heroes="collection",
        parent=("Light", MANY),
        material=_WOOD,
        key="location",
        connection={"from": surface, "out": "BSDF", "to": output, "in": "Surface"},
        look={"shading": "wire", "size": 256},
        suffixes=("obj", "blend"),
    )


def _build(items: int) -> None:
    bpy.ops.wm.read_factory_settings()
    data: Any = bpy.data
    data.batch_remove([it for it in data.objects if it.type == "MESH"])
    wood = data.materials.new("Wood")
    wood.use_nodes = True
    data.materials.new("Unused")
    whole = data.collections.new("All")
    bpy.context.scene.collection.children.link(whole)  # type: ignore[union-attr]  # there is one
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    for number in range(items):
        if number % IN_A_SET == 0:
            mesh = data.meshes.new("Box")
            mesh.from_pydata(corners, [], faces)
            mesh.materials.append(wood)
            group = data.collections.new(f"Set_{number // IN_A_SET:03}")
            whole.children.link(group)
        box = data.objects.new(f"box_{number:05}", mesh)
        box.location = (number % 100 * 3, number // 100 * 3, 0)
        group.objects.link(box)
    bpy.context.view_layer.update()  # type: ignore[union-attr]  # there is one


def _those(count: int) -> list[Any]:
    return [bpy.data.objects[f"box_{number:05}"] for number in range(count)]


def _walk(_: Any, count: int) -> None:
    for thing in bpy.data.objects:
        thing.name  # noqa: B018 - it is read


def _users(_: Any, count: int) -> None:
    bpy.data.user_map(subset=[bpy.data.materials["Wood"]])


def _select(_: Any, count: int) -> None:
    for thing in _those(count):
        thing.select_set(True)


def _create(_: Any, count: int) -> None:
    scene: Any = bpy.context.scene
    for _number in range(count):
        mesh = bpy.data.meshes.new("Cube")
        scene.collection.objects.link(bpy.data.objects.new("Cube", mesh))
    _push()


def _copy(_: Any, count: int) -> None:
    box: Any = bpy.data.objects["box_00000"]
    for number in range(count):
        copy = box.copy()
        copy.location.z = number
        box.users_collection[0].objects.link(copy)
    _push()


def _move(_: Any, count: int) -> None:
    for thing in _those(count):
        thing.location.z += 1
    _push()


def _parent(_: Any, count: int) -> None:
    for thing in _those(count):
        thing.parent = bpy.data.objects["Light"]
    _push()


def _collect(_: Any, count: int) -> None:
    heroes, scene = bpy.data.collections.new("Heroes"), bpy.context.scene
    scene.collection.children.link(heroes)  # type: ignore[union-attr]  # there is one
    for thing in _those(count):
        thing.users_collection[0].objects.unlink(thing)
        heroes.objects.link(thing)
    _push()


def _bind(_: Any, count: int) -> None:
    red = bpy.data.materials.new("Red")
    for thing in _those(count):
        thing.material_slots[0].link = "OBJECT"
        thing.material_slots[0].material = red
    _push()


def _rename(_: Any, count: int) -> None:
    for thing in _those(count):
        thing.name = thing.name.replace("box", "crate")
    _push()


def _key(_: Any, count: int) -> None:
    (box,) = _those(1)
    for frame in range(1, 49):
        box.location.z = frame
        box.keyframe_insert("location", frame=frame)
    _push()


def _set(_: Any, count: int) -> None:
    for thing in _those(count):
        thing.pass_index = 2
    _push()


def _delete(_: Any, count: int) -> None:
    bpy.data.batch_remove(_those(count))
    _push()


def _push() -> None:
    bpy.ops.ed.undo_push(message="own")


_JOBS: Final[Mapping[str, Job]] = {
    "walk": ("for it in objects", _walk),
    "users": ("user_map", _users),
    "select": ("select_set", _select),
    "create": ("objects.new", _create),
    "instance": ("Object.copy", _copy),
    "move": ("location", _move),
    "parent": ("parent", _parent),
    "collect": ("objects.link", _collect),
    "bind": ("slot.material", _bind),
    "rename": ("name", _rename),
    "key": ("keyframe_insert", _key),
    "set": ("pass_index", _set),
    "delete": ("batch_remove", _delete),
}
