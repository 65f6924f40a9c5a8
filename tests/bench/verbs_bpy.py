"""A large Blender file, and the calls of verbs that are measured in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

import bpy

from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations
from tests.bench.verbs import MANY, Case, asks, batches, silence

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
        self._folder, self._items = folder, items
        self._file = folder / "many.blend"
        _build(items)
        bpy.ops.wm.save_as_mainfile(filepath=str(self._file))
        self.host = BlenderHost()

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

    def cases(self) -> list[Case]:
        """Give the calls."""
        return [*self._reads(), *self._edits(), *self._losses(), *self._batches()]

    def _boxes(self, count: int, first: int = 0) -> list[str]:
        return [f"box_{it:05}" for it in range(first, min(first + count, self._items))]

    def _reads(self) -> list[Case]:
        (box,) = self._boxes(1, 7)
        return [
            Case("summary", {}, ""),
            Case("list_items", {}, "", "for it in objects", _walk),
            Case("list_items", {"type": "MESH", "limit": 1000}, "type=MESH, limit=1000"),
            Case("list_items", {"name": "box_*7"}, "name=box_*7", "for it in objects", _walk),
            Case("list_items", {"where": {"pass_index": ">1"}}, "where pass_index > 1"),
            Case("list_items", {"type": "MESH", "fields": ["at", "size"], "sort": "-name"},
                 "with at and size, sort=-name"),
            Case("list_items", {"uses": _WOOD}, f"uses={_WOOD}", "user_map", _users),
            Case("list_items", {"type": "Lite"}, "type=Lite, which is none"),
            Case("inspect", {"items": ["collection:All", box, "@scene"]},
                 "3 items, a collection of all with its bounds"),
            Case("find_api", {"query": "camera focal length"}, "camera focal length, the first"),
            Case("find_api", {"query": "intensity of a light"}, "intensity of a light"),
            Case("check", {}, "all rules"),
            *(Case("check", {"rules": [it]}, it) for it in
              ("scale_applied", "duplicate_names", "empty_groups", "unused_materials", "ngons")),
            Case("look", {"shading": "wire", "size": 256}, "the whole scene"),
            Case("look", {"items": [box], "size": 256}, "one item"),
        ]  # fmt: skip

    def _edits(self) -> list[Case]:
        (box,), many, more = self._boxes(1), self._boxes(MANY), self._boxes(MANY + 1)
        most = len(many)
        things = [{"type": "CUBE"} for _ in range(MANY)]
        points, moved = [[0.0, 0.0, float(it)] for it in range(MANY)], {"move": [0, 0, 1]}
        names = {it: it.replace("box", "crate") for it in many}
        keys = [[it, [0, 0, it]] for it in range(1, 49)]
        red = {"base_color": [1, 0, 0]}
        return [
            Case("select", {"items": [box]}, "1", "select_set", partial(_select, 1)),
            Case("select", {"items": more}, f"{len(more)}", "select_set",
                 partial(_select, len(more))),
            Case("create", {"things": things[:1]}, "1", "objects.new", partial(_create, 1)),
            Case("create", {"things": things}, f"{MANY}", "objects.new", partial(_create, MANY)),
            Case("duplicate", {"items": [box]}, "1 linked", "Object.copy", partial(_copy, 1)),
            Case("duplicate", {"items": [box], "to": points}, f"1 to {MANY} points",
                 "Object.copy", partial(_copy, MANY)),
            Case("duplicate", {"items": many, "linked": False}, f"{most}, whole",
                 "Object.copy", partial(_copy, most)),
            Case("transform", {"items": [box], **moved}, "move 1", "location", partial(_move, 1)),
            Case("transform", {"items": many, **moved}, f"move {most}", "location",
                 partial(_move, most)),
            Case("transform", {"items": more, **moved}, f"move {len(more)}{asks(more)}", "location",
                 partial(_move, len(more))),
            Case("transform", {"items": many, "look_at": "collection:All"},
                 f"{most} look at a collection of all"),
            Case("transform", {"items": many, "on": "ground"}, f"{most} on the ground"),
            Case("transform", {"items": many, "apply": ["scale"]}, f"apply {most}"),
            Case("group", {"items": [box], "under": "Light"}, "1", "parent", partial(_parent, 1)),
            Case("group", {"items": many, "under": "Light"}, f"{most}", "parent",
                 partial(_parent, most)),
            Case("group", {"items": many, "into": "Heroes", "kind": "collection"},
                 f"{most} into a collection", "objects.link", partial(_collect, most)),
            Case("assign_material", {"items": many, "values": red}, f"a new one, {most}",
                 "slot.material", partial(_assign, most)),
            Case("rename", {"names": {box: "crate"}}, "1", "name", partial(_rename, 1)),
            Case("rename", {"names": names}, f"{most}", "name", partial(_rename, most)),
            Case("rename", {"pattern": "box_000*", "to": "crate_*"}, "pattern of 100"),
            Case("rename", {"pattern": "box_*", "to": "crate_*", "preview": True},
                 "preview of all"),
            Case("set_keys", {"item": box, "prop": "location", "keys": keys}, "48",
                 "keyframe_insert", _key),
        ]  # fmt: skip

    def _losses(self) -> list[Case]:
        (box,), many, more = self._boxes(1), self._boxes(MANY), self._boxes(MANY + 1)
        most = len(many)
        (self._folder / "lid.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        bad: list[dict[str, Any]] = [{"item": it, "prop": "pass_index", "value": 2} for it in more]
        bad[-1]["value"] = "wide"
        export, values = str(self._folder / "out.blend"), {"pass_index": 2}
        surface = f"{_WOOD}/Principled BSDF"
        link = {"from": surface, "out": "BSDF", "to": f"{_WOOD}/Material Output", "in": "Surface"}
        return [
            Case("set_values", {"items": [box], "values": values}, "1", "pass_index",
                 partial(_set, 1)),
            Case("set_values", {"items": many, "values": values}, f"{most}", "pass_index",
                 partial(_set, most)),
            Case("set_values", {"items": more, "values": values}, f"{len(more)}{asks(more)}",
                 "pass_index", partial(_set, len(more))),
            Case("set_values", {"changes": bad[1:]}, f"{len(bad) - 1}, the last one bad",
                 status="failed"),
            Case("set_values", {"changes": [{"item": "@scene", "prop": "end", "value": 48}]},
                 "of the scene"),
            Case("connect", {"links": [link]}, "1"),
            Case("import_file", {"path": "lid.obj"}, "a small file", "wm.obj_import",
                 partial(_import, str(self._folder / "lid.obj"))),
            Case("export_file", {"path": export, "items": [box]}, "1 item"),
            Case("export_file", {"path": export}, "all", "save_as_mainfile(copy)",
                 partial(_save, str(self._folder / "own.blend"))),
            Case("clean", {"what": ["empty_groups"]}, "empty groups"),
            Case("clean", {"what": ["unused"]}, "unused data"),
            Case("delete", {"items": [box]}, "1", "batch_remove", partial(_delete, 1)),
            Case("delete", {"items": many}, f"{most}", "batch_remove", partial(_delete, most)),
            Case("delete", {"pattern": "box_*"}, "all", "batch_remove",
                 partial(_delete, self._items)),
            Case("save", {}, "over the file", "save_as_mainfile(copy)",
                 partial(_save, str(self._folder / "own.blend"))),
        ]  # fmt: skip

    def _batches(self) -> list[Case]:
        (box,), (hundred, many) = self._boxes(1), map(self._boxes, (100, MANY))
        facts = {"values": {"pass_index": 2}, "other": {"pass_index": 1}, "material": _WOOD}
        return batches(box, hundred, many, kind="CUBE", move=[0, 0, 1], **facts)


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


# ---- what Blender's own API takes for the same


def _those(count: int) -> list[Any]:
    return [bpy.data.objects[f"box_{number:05}"] for number in range(count)]


def _walk(_: Any) -> None:
    for thing in bpy.data.objects:
        thing.name  # noqa: B018 - it is read


def _users(_: Any) -> None:
    bpy.data.user_map(subset=[bpy.data.materials["Wood"]])


def _select(count: int, _: Any) -> None:
    for thing in _those(count):
        thing.select_set(True)


def _create(count: int, _: Any) -> None:
    scene: Any = bpy.context.scene
    for _number in range(count):
        mesh = bpy.data.meshes.new("Cube")
        scene.collection.objects.link(bpy.data.objects.new("Cube", mesh))
    _push()


def _copy(count: int, _: Any) -> None:
    box: Any = bpy.data.objects["box_00000"]
    for number in range(count):
        copy = box.copy()
        copy.location.z = number
        box.users_collection[0].objects.link(copy)
    _push()


def _move(count: int, _: Any) -> None:
    for thing in _those(count):
        thing.location.z += 1
    _push()


def _parent(count: int, _: Any) -> None:
    for thing in _those(count):
        thing.parent = bpy.data.objects["Light"]
    _push()


def _collect(count: int, _: Any) -> None:
    heroes, scene = bpy.data.collections.new("Heroes"), bpy.context.scene
    scene.collection.children.link(heroes)  # type: ignore[union-attr]  # there is one
    for thing in _those(count):
        thing.users_collection[0].objects.unlink(thing)
        heroes.objects.link(thing)
    _push()


def _assign(count: int, _: Any) -> None:
    red = bpy.data.materials.new("Red")
    for thing in _those(count):
        thing.material_slots[0].link = "OBJECT"
        thing.material_slots[0].material = red
    _push()


def _rename(count: int, _: Any) -> None:
    for thing in _those(count):
        thing.name = thing.name.replace("box", "crate")
    _push()


def _key(_: Any) -> None:
    (box,) = _those(1)
    for frame in range(1, 49):
        box.location.z = frame
        box.keyframe_insert("location", frame=frame)
    _push()


def _set(count: int, _: Any) -> None:
    for thing in _those(count):
        thing.pass_index = 2
    _push()


def _import(file: str, _: Any) -> None:
    bpy.ops.wm.obj_import(filepath=file)
    _push()


def _delete(count: int, _: Any) -> None:
    bpy.data.batch_remove(_those(count))
    _push()


def _save(file: str, _: Any) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)


def _push() -> None:
    bpy.ops.ed.undo_push(message="own")
