"""A large USD stage, and the calls of verbs that are measured in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

from pxr import Sdf, Usd, UsdGeom, UsdLux, UsdShade

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.bench.verbs import MANY, Case, asks, batches

IN_A_SET: Final = 1000
SOME: Final = 20  # what takes half a second each
_WOOD: Final = "/World/Wood"
_COPIED: Final = "what the step changed is copied from the layer: Sdf.CopySpec"
_MOVED: Final = "NamespaceEditor.CanApplyEdits looks for users of each prim"
_CAUSES: Final = {
    "": _COPIED,
    "group": _MOVED,
    "rename": _MOVED,
    "look": "one picture is painted in one piece, and its view measured",
    "export_file": "Stage.Flatten and Layer.Export",
    "save": "Layer.Export",
    "inspect": "BBoxCache of the whole world",
}


class Large:
    """A stage of sets with boxes of one material, and a light in each."""

    causes = _CAUSES

    def __init__(self, folder: Path, items: int) -> None:
        self._folder, self._items = folder, items
        self._file = folder / "many.usda"
        self._copy: Usd.Stage | None = None
        _build(self._file, items)
        self.host = UsdSession(self._file)
        install(self.host)

    def operations(self) -> HostOperations:
        """Return what the host does for the verbs."""
        return operations(self.host)

    def own(self, run: Callable[[Any], object]) -> float:
        """Work on a copy of the stage, which serves until its first box is gone."""
        if self._copy is None or not _box(self._copy):
            self._copy = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(str(self._file)))
        began = process_time()
        run(self._copy)
        return 1000 * (process_time() - began)

    def cases(self) -> list[Case]:
        """Give the calls."""
        return [*self._reads(), *self._edits(), *self._losses(), *self._batches()]

    def _boxes(self, count: int, first: int = 0) -> list[str]:
        numbers = range(first, min(first + count, self._items))
        return [f"/World/Set_{it // IN_A_SET:02}/box_{it:06}" for it in numbers]

    def _reads(self) -> list[Case]:
        (box,), every = self._boxes(1, 7), "Usd.PrimRange"
        fields, some = ["at", "material"], {"size": ">1"}
        three = ["/World", box, "@scene"]
        return [
            Case("summary", {}, "", every, _walk),
            Case("list_items", {}, "", every, _walk),
            Case("list_items", {"type": "Cube", "limit": 1000}, "type=Cube, limit=1000"),
            Case("list_items", {"name": "box_*7"}, "name=box_*7", every, _walk),
            Case("list_items", {"where": some}, "where size > 1", "Attribute.Get", _get_sizes),
            Case("list_items", {"type": "Cube", "fields": fields, "sort": "-name"}, "sort=-name"),
            Case("list_items", {"uses": _WOOD}, f"uses={_WOOD}"),
            Case("list_items", {"type": "Lite"}, "type=Lite, which is none"),
            Case("inspect", {"items": three}, "3 items, the world with its bounds",
                 "BBoxCache.ComputeWorldBound", _bound),
            Case("find_api", {"query": "camera focal length"}, "camera focal length, the first"),
            Case("find_api", {"query": "intensity of a light"}, "intensity of a light"),
            Case("check", {}, "all rules"),
            *(Case("check", {"rules": [it]}, it) for it in
              ("scale_applied", "duplicate_names", "empty_groups", "unused_materials", "usd_geom")),
            Case("look", {}, "the whole scene"),
            Case("look", {"items": [box], "view": "front"}, "one item"),
        ]  # fmt: skip

    def _edits(self) -> list[Case]:
        (box,), many, more = self._boxes(1), self._boxes(MANY), self._boxes(MANY + 1)
        some, most = many[:SOME], len(many)
        things = [{"type": "Sphere", "under": "/World/Set_00"} for _ in range(MANY)]
        points = [[0.0, 0.0, float(it)] for it in range(MANY)]
        moved = {"move": [0, 1, 0]}
        cubes = [[it, [0, it, 0]] for it in range(1, 49)]
        wood, set_0 = {"base_color": [1, 0, 0]}, "/World/Set_00"
        names = {it: it.rpartition("/")[2].replace("box", "crate") for it in some}
        return [
            Case("select", {"items": [box]}, "1"),
            Case("select", {"items": more}, f"{len(more)}"),
            Case("create", {"things": things[:1]}, "1", "DefinePrim", partial(_define, 1)),
            Case("create", {"things": things}, f"{MANY}", "DefinePrim", partial(_define, MANY)),
            Case("duplicate", {"items": [box]}, "1 linked", "AddInternalReference", _instance),
            Case("duplicate", {"items": [box], "to": points}, f"1 to {MANY} points",
                 "AddInternalReference", partial(_instance, count=MANY)),
            Case("duplicate", {"items": [set_0], "linked": False}, "a set of 1,000, whole",
                 "Sdf.CopySpec", _copy),
            Case("transform", {"items": [box], **moved}, "move 1", "SetTranslate", _move),
            Case("transform", {"items": many, **moved}, f"move {most}",
                 "SetTranslate", partial(_move, count=most)),
            Case("transform", {"items": more, **moved}, f"move {len(more)}{asks(more)}",
                 "SetTranslate", partial(_move, count=len(more))),
            Case("transform", {"items": many, "look_at": set_0}, f"{most} look at a set"),
            Case("transform", {"items": many, "on": "ground"}, f"{most} on the ground"),
            Case("transform", {"items": [set_0], "apply": ["at"]}, "apply a set of 1,000"),
            Case("group", {"items": [box], "under": "/World/Set_01"}, "1",
                 "NamespaceEditor", _move_in_namespace),
            Case("group", {"items": some, "under": "/World/Set_01"}, f"{len(some)}",
                 "BatchNamespaceEdit", partial(_reparent, len(some))),
            Case("group", {"items": many, "into": "heroes", "kind": "collection"},
                 f"{most} into a collection", "IncludePath", partial(_collect, most)),
            Case("assign_material", {"items": many, "values": wood}, f"a new one, {most}",
                 "MaterialBindingAPI.Bind", partial(_bind, most)),
            Case("rename", {"names": {box: "crate"}}, "1", "NamespaceEditor", _move_in_namespace),
            Case("rename", {"names": names}, f"{len(some)}", "BatchNamespaceEdit",
                 partial(_rename, len(some))),
            Case("rename", {"pattern": "box_00000*", "to": "crate_*"}, "pattern of 10"),
            Case("rename", {"pattern": "box_*", "to": "crate_*", "preview": True},
                 "preview of all"),
            Case("set_keys", {"item": box, "prop": "xformOp:translate", "keys": cubes,
                              "shape": "linear"}, "48", "Attribute.Set", _key),
        ]  # fmt: skip

    def _losses(self) -> list[Case]:
        (box,), many, more = self._boxes(1), self._boxes(MANY), self._boxes(MANY + 1)
        (self._folder / "lid.usda").write_text('#usda 1.0\n(defaultPrim="Lid")\ndef Cube "Lid" {}')
        bad = [{"item": it, "prop": "size", "value": 3.0} for it in more]
        bad[-1] = {**bad[-1], "value": "wide"}
        export, values = str(self._folder / "out.usda"), {"size": 3.0}
        link = {"from": f"{_WOOD}/Surface", "out": "surface", "to": _WOOD, "in": "surface"}
        set_size = "Attribute.Set"
        return [
            Case("set_values", {"items": [box], "values": values}, "1", set_size, _set),
            Case("set_values", {"items": many, "values": values}, f"{len(many)}", set_size,
                 partial(_set, count=len(many))),
            Case("set_values", {"items": more, "values": values}, f"{len(more)}{asks(more)}",
                 set_size, partial(_set, count=len(more))),
            Case("set_values", {"changes": bad[1:]}, f"{len(bad) - 1}, the last one bad",
                 status="failed"),
            Case("set_values", {"changes": [{"item": "@scene", "prop": "end", "value": 48}]},
                 "of the scene"),
            Case("connect", {"links": [link]}, "1", "ConnectToSource", _connect),
            Case("import_file", {"path": "lid.usda"}, "a small file"),
            Case("export_file", {"path": export, "items": [box]}, "1 item"),
            Case("export_file", {"path": export}, "all", "Stage.Flatten, Export",
                 partial(_export, str(self._folder / "own.usda"))),
            Case("clean", {"what": ["empty_groups"]}, "nothing"),
            Case("clean", {"what": ["unused"]}, "1"),
            Case("delete", {"items": [box]}, "1", "RemovePrim", partial(_delete, 1)),
            Case("delete", {"items": many}, f"{len(many)}", "BatchNamespaceEdit",
                 partial(_delete, len(many))),
            Case("delete", {"pattern": "box_*"}, "all", "nameChildren.clear", _clear),
            Case("save", {}, "over the file", "Layer.Export", partial(
                _save, str(self._folder / "own.usda"))),
        ]  # fmt: skip

    def _batches(self) -> list[Case]:
        (box,), (hundred, many) = self._boxes(1), map(self._boxes, (100, MANY))
        facts = {"values": {"radius": 2.0}, "other": {"size": 1.0}, "material": _WOOD}
        return batches(box, hundred, many, kind="Sphere", move=[0, 1, 0], **facts)


def _build(file: Path, items: int) -> None:
    stage = Usd.Stage.CreateInMemory()
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    wood = UsdShade.Material.Define(stage, _WOOD)
    surface = UsdShade.Shader.Define(stage, f"{_WOOD}/Surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    surface.CreateOutput("surface", Sdf.ValueTypeNames.Token)
    UsdShade.Material.Define(stage, "/World/Unused")
    for number in range(max(2, (items - 1) // IN_A_SET + 1)):  # one is put below the second
        path = f"/World/Set_{number:02}"
        UsdGeom.Xform.Define(stage, path)
        UsdLux.SphereLight.Define(stage, f"{path}/Light")
    for number in range(items):
        path = f"/World/Set_{number // IN_A_SET:02}"
        box = UsdGeom.Cube.Define(stage, f"{path}/box_{number:06}")
        UsdGeom.XformCommonAPI(box).SetTranslate((number % 100 * 3, 0, number // 100 * 3))
        UsdShade.MaterialBindingAPI.Apply(box.GetPrim()).Bind(wood)
    stage.GetRootLayer().Export(str(file))


# ---- what USD's own API takes for the same


def _box(stage: Usd.Stage, number: int = 0) -> Usd.Prim:
    return stage.GetPrimAtPath(f"/World/Set_00/box_{number:06}")


def _walk(stage: Usd.Stage) -> None:
    for _ in Usd.PrimRange(stage.GetPseudoRoot()):
        pass


def _get_sizes(stage: Usd.Stage) -> None:
    for prim in stage.Traverse():
        if prim.GetTypeName() == "Cube":
            UsdGeom.Cube(prim).GetSizeAttr().Get()


def _bound(stage: Usd.Stage) -> None:
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])
    cache.ComputeWorldBound(stage.GetDefaultPrim())


def _define(count: int, stage: Usd.Stage) -> None:
    for number in range(count):
        UsdGeom.Sphere.Define(stage, f"/World/Set_00/Sphere_{number}")


def _instance(stage: Usd.Stage, count: int = 1) -> None:
    box = _box(stage)
    for number in range(count):
        copy = stage.DefinePrim(f"/World/Set_00/copy_{number}")
        copy.GetReferences().AddInternalReference(box.GetPath())
        if count > 1:
            UsdGeom.XformCommonAPI(copy).SetTranslate((0, 0, number))


def _move_in_namespace(stage: Usd.Stage) -> None:
    editor = Usd.NamespaceEditor(stage)
    editor.MovePrimAtPath(_box(stage).GetPath(), "/World/Set_01/crate")
    assert editor.CanApplyEdits()
    editor.ApplyEdits()


def _copy(stage: Usd.Stage) -> None:
    layer = stage.GetRootLayer()
    Sdf.CopySpec(layer, "/World/Set_00", layer, "/World/Copy")


def _move(stage: Usd.Stage, count: int = 1) -> None:
    for number in range(count):
        UsdGeom.XformCommonAPI(_box(stage, number)).SetTranslate((0, 1, 0))


def _edited(stage: Usd.Stage, count: int, make: Callable[[Sdf.Path], Any]) -> None:
    edits = Sdf.BatchNamespaceEdit()
    for number in range(count):
        edits.Add(make(_box(stage, number).GetPath()))
    assert stage.GetRootLayer().Apply(edits)


def _reparent(count: int, stage: Usd.Stage) -> None:
    _edited(stage, count, lambda it: Sdf.NamespaceEdit.Reparent(it, "/World/Set_01", -1))


def _rename(count: int, stage: Usd.Stage) -> None:
    _edited(stage, count, lambda it: Sdf.NamespaceEdit.Rename(it, it.name.replace("box", "crate")))


def _delete(count: int, stage: Usd.Stage) -> None:
    _edited(stage, count, Sdf.NamespaceEdit.Remove)


def _clear(stage: Usd.Stage) -> None:
    with Sdf.ChangeBlock():
        for group in stage.GetRootLayer().GetPrimAtPath("/World").nameChildren:
            group.nameChildren.clear()


def _collect(count: int, stage: Usd.Stage) -> None:
    heroes = Usd.CollectionAPI.Apply(stage.GetDefaultPrim(), "heroes")
    for number in range(count):
        heroes.IncludePath(_box(stage, number).GetPath())


def _bind(count: int, stage: Usd.Stage) -> None:
    look = UsdShade.Material.Define(stage, "/World/Red")
    for number in range(count):
        UsdShade.MaterialBindingAPI.Apply(_box(stage, number)).Bind(look)


def _key(stage: Usd.Stage) -> None:
    attribute = _box(stage).GetAttribute("xformOp:translate")
    for frame in range(1, 49):
        attribute.Set((0, frame, 0), frame)


def _set(stage: Usd.Stage, count: int = 1) -> None:
    for number in range(count):
        UsdGeom.Cube(_box(stage, number)).GetSizeAttr().Set(3.0)


def _connect(stage: Usd.Stage) -> None:
    surface = UsdShade.Shader(stage.GetPrimAtPath(f"{_WOOD}/Surface"))
    output = UsdShade.Material(stage.GetPrimAtPath(_WOOD)).CreateSurfaceOutput()
    output.ConnectToSource(surface.ConnectableAPI(), "surface")


def _export(file: str, stage: Usd.Stage) -> None:
    stage.Flatten().Export(file)


def _save(file: str, stage: Usd.Stage) -> None:
    stage.GetRootLayer().Export(file)
