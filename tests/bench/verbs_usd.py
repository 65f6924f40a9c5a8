"""A large USD stage, and what USD's own API does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, Final

from pxr import Sdf, Usd, UsdGeom, UsdLux, UsdShade

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.bench.verbs import Job
from tests.bench.verbs_cases import MANY, Terms

IN_A_SET: Final = 1000
FEW: Final = 20  # what takes half a second each
_WOOD: Final = "/World/Wood"
_LID: Final = '#usda 1.0\n(defaultPrim="Lid")\ndef Cube "Lid" {}'
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
        self._file = folder / "many.usda"
        self._copy: Usd.Stage | None = None
        self._own = str(folder / "own.usda")
        _build(self._file, items)
        (folder / "lid.usda").write_text(_LID)
        self.host = UsdSession(self._file)
        install(self.host)
        self.terms = _terms(items)
        self.jobs: Mapping[str, Job] = {
            **_JOBS,
            "export": ("Stage.Flatten, Export", self._export),
            "save": ("Layer.Export", self._save),
        }

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

    def _export(self, stage: Usd.Stage, count: int) -> None:
        stage.Flatten().Export(self._own)

    def _save(self, stage: Usd.Stage, count: int) -> None:
        stage.GetRootLayer().Export(self._own)


def _terms(items: int) -> Terms:
    surface = f"{_WOOD}/Surface"
    return Terms(
        boxes=[f"/World/Set_{it // IN_A_SET:02}/box_{it:06}" for it in range(items)],
        type="Cube",
        pattern="box_*",
        new_names="crate_*",
        new_type="Sphere",
        move=[0, 1, 0],
        values={"size": 3.0},
        new_values={"radius": 2.0},
        group="/World/Set_00",
        heroes="collection",
        parent=("/World/Set_01", FEW),
        material=_WOOD,
        key="xformOp:translate",
        connection={"from": surface, "out": "surface", "to": _WOOD, "in": "surface"},
        suffixes=("usda", "usda"),
    )


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


def _box(stage: Usd.Stage, number: int = 0) -> Usd.Prim:
    return stage.GetPrimAtPath(f"/World/Set_00/box_{number:06}")


def _walk(stage: Usd.Stage, count: int) -> None:
    for _ in Usd.PrimRange(stage.GetPseudoRoot()):
        pass


def _read(stage: Usd.Stage, count: int) -> None:
    for prim in stage.Traverse():
        if prim.GetTypeName() == "Cube":
            UsdGeom.Cube(prim).GetSizeAttr().Get()


def _create(stage: Usd.Stage, count: int) -> None:
    for number in range(count):
        UsdGeom.Sphere.Define(stage, f"/World/Set_00/Sphere_{number}")


def _instance(stage: Usd.Stage, count: int) -> None:
    for number in range(count):
        copy = stage.DefinePrim(f"/World/Set_00/copy_{number}")
        copy.GetReferences().AddInternalReference(_box(stage).GetPath())
        UsdGeom.XformCommonAPI(copy).SetTranslate((0, 0, number))


def _move(stage: Usd.Stage, count: int) -> None:
    for number in range(count):
        UsdGeom.XformCommonAPI(_box(stage, number)).SetTranslate((0, 1, 0))


def _edited(stage: Usd.Stage, count: int, make: Callable[[Sdf.Path], Any]) -> None:
    """Edit in one batch, in which nobody looks for what refers to a prim."""
    edits = Sdf.BatchNamespaceEdit()
    for number in range(count):
        edits.Add(make(_box(stage, number).GetPath()))
    assert stage.GetRootLayer().Apply(edits)


def _moved(stage: Usd.Stage) -> None:
    """Move one prim by the editor that does look for what refers to it."""
    editor = Usd.NamespaceEditor(stage)
    editor.MovePrimAtPath(_box(stage).GetPath(), "/World/Set_01/crate")
    assert editor.CanApplyEdits()
    editor.ApplyEdits()


def _parent(stage: Usd.Stage, count: int) -> None:
    if count == 1:
        _moved(stage)
        return
    _edited(stage, count, lambda it: Sdf.NamespaceEdit.Reparent(it, "/World/Set_01", -1))


def _rename(stage: Usd.Stage, count: int) -> None:
    if count == 1:
        _moved(stage)
        return
    _edited(stage, count, lambda it: Sdf.NamespaceEdit.Rename(it, it.name.replace("box", "crate")))


def _delete(stage: Usd.Stage, count: int) -> None:
    if count <= MANY:
        _edited(stage, count, Sdf.NamespaceEdit.Remove)
        return
    with Sdf.ChangeBlock():
        for group in stage.GetRootLayer().GetPrimAtPath("/World").nameChildren:
            group.nameChildren.clear()


def _collect(stage: Usd.Stage, count: int) -> None:
    heroes = Usd.CollectionAPI.Apply(stage.GetDefaultPrim(), "heroes")
    for number in range(count):
        heroes.IncludePath(_box(stage, number).GetPath())


def _bind(stage: Usd.Stage, count: int) -> None:
    look = UsdShade.Material.Define(stage, "/World/Red")
    for number in range(count):
        UsdShade.MaterialBindingAPI.Apply(_box(stage, number)).Bind(look)


def _key(stage: Usd.Stage, count: int) -> None:
    attribute = _box(stage).GetAttribute("xformOp:translate")
    for frame in range(1, 49):
        attribute.Set((0, frame, 0), frame)


def _set(stage: Usd.Stage, count: int) -> None:
    for number in range(count):
        UsdGeom.Cube(_box(stage, number)).GetSizeAttr().Set(3.0)


_JOBS: Final[Mapping[str, Job]] = {
    "walk": ("Usd.PrimRange", _walk),
    "read": ("Attribute.Get", _read),
    "create": ("DefinePrim", _create),
    "instance": ("AddInternalReference", _instance),
    "move": ("SetTranslate", _move),
    "parent": ("NamespaceEditor, a batch of many", _parent),
    "rename": ("NamespaceEditor, a batch of many", _rename),
    "delete": ("BatchNamespaceEdit", _delete),
    "collect": ("IncludePath", _collect),
    "bind": ("MaterialBindingAPI.Bind", _bind),
    "key": ("Attribute.Set", _key),
    "set": ("Attribute.Set", _set),
}
