"""What bad skills do to a scene with files, and what the scene and the files are at a moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pxr import Sdf, Usd

from dcc_bridge.hosts.standalone import UsdSession
from dcc_bridge.hosts.standalone.prims import remove, rename

PATHS: Final = (
    "/World",
    "/World/a",
    "/World/a.focalLength",
    "/World/b",
    "/World/b/below",
    "/World/c",
    "/World/ref",
    "/World/ref/in",
    "/World/load",
    "/World/low",
    "/World/first",
    "/Other",
)
FILES: Final = {
    "scene.usda": """#usda 1.0
(
    defaultPrim = "World"
    subLayers = [@./sub.usda@]
)
def Xform "World"
{
    def Camera "a"
    {
        float focalLength = 35
    }
    def Xform "b"
    {
        def Sphere "below" {}
    }
    def Xform "c" {}
    def "ref" ( references = @./ref.usda@ ) {}
    def "load" ( payload = @./ref.usda@ ) {}
}
def Xform "Other"
{
    def Sphere "s" {}
}
""",
    "sub.usda": """#usda 1.0
over "World"
{
    def Xform "low"
    {
        def Cube "lower" {}
    }
}
""",
    "ref.usda": """#usda 1.0
(
    defaultPrim = "Model"
)
def Xform "Model"
{
    def Xform "in"
    {
        def Cube "deep" {}
    }
}
""",
    "other.usda": """#usda 1.0
def Xform "World"
{
    def Camera "elsewhere" {}
}
""",
}
Edit = Callable[[UsdSession, Path, str, str], object]


def write_files(folder: Path) -> None:
    """Write the scene, its layers and another scene."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)


def objects(stage: Usd.Stage) -> set[str]:
    """List what there is for somebody who looks at a scene: active prims, authored properties."""
    prims = [prim for prim in stage.TraverseAll() if prim.IsActive()]
    properties = [prop for prim in prims for prop in prim.GetAuthoredProperties()]
    return {str(it.GetPath()) for it in (*prims, *properties)}


@dataclass(frozen=True)
class Scene:
    """A scene and its files at one moment.

    Attributes:
        stage: The stage itself.
        file: The scene's file.
        layers: What each layer holds.
        view: Edit target, mutings and load rules.
        locks: Whether each layer may be edited and saved.
        objects: What is in it.
        undo: The labels of what can be undone.
        redo: The labels of what can be redone.
        files: What is in each file.
    """

    stage: Usd.Stage
    file: Path | None
    layers: dict[str, str]
    view: tuple[object, ...]
    locks: dict[str, tuple[bool, bool]]
    objects: frozenset[str]
    undo: tuple[str, ...]
    redo: tuple[str, ...]
    files: dict[str, bytes]

    @classmethod
    def of(cls, session: UsdSession, folder: Path) -> Scene:
        """Look at a scene."""
        stage = session.stage
        undo, redo = tuple(session.undo_labels), tuple(session.redo_labels)
        used = {*stage.GetUsedLayers(), *stage.GetLayerStack()}
        names = {layer: "session" if layer.anonymous else layer.GetDisplayName() for layer in used}
        locks = {names[it]: (it.permissionToEdit, it.permissionToSave) for it in used}
        target = stage.GetEditTarget().GetLayer()
        rules = str(stage.GetLoadRules())
        view = (names.get(target), tuple(stage.GetMutedLayers()), rules)
        return cls(
            stage,
            session.file(),
            {name: layer.ExportToString() for layer, name in names.items()},
            view,
            locks,
            frozenset(objects(stage)),
            undo,
            redo,
            {name: (folder / name).read_bytes() for name in FILES if (folder / name).is_file()},
        )

    @property
    def content(self) -> tuple[object, ...]:
        """All of it but the stacks and the files."""
        return self.file, self.layers, self.view, self.objects


def _layer(stage: Usd.Stage, name: str) -> Sdf.Layer:
    layer = next((it for it in stage.GetUsedLayers() if it.GetDisplayName() == name), None)
    if layer is None:
        raise ValueError(f"There is no {name} here.")
    return layer


def _prim(session: UsdSession, path: str) -> Usd.Prim:
    prim = session.stage.GetPrimAtPath(Sdf.Path(path).GetPrimPath())
    if not prim:
        raise ValueError(f"There is no {path}.")
    return prim


def create(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.DefinePrim(_prim(session, at).GetPath().AppendChild("new"), "Camera")


def value(session: UsdSession, folder: Path, at: str, other: str) -> None:
    prim = _prim(session, at)
    prim.CreateAttribute("size", Sdf.ValueTypeNames.Double).Set(1.0)


def delete(session: UsdSession, folder: Path, at: str, other: str) -> None:
    path = Sdf.Path(at)
    if path.IsPropertyPath():
        session.stage.GetPrimAtPath(path.GetPrimPath()).RemoveProperty(path.name)
    else:
        session.stage.RemovePrim(path)


def take_away(session: UsdSession, folder: Path, at: str, other: str) -> None:
    remove(session.stage, [Sdf.Path(at).GetPrimPath()])


def hide(session: UsdSession, folder: Path, at: str, other: str) -> None:
    _prim(session, at).SetActive(False)


def call_it(session: UsdSession, folder: Path, at: str, other: str) -> None:
    rename(session.stage, _prim(session, at), "named")


def move(session: UsdSession, folder: Path, at: str, other: str) -> None:
    editor = Usd.NamespaceEditor(session.stage)
    editor.ReparentPrim(_prim(session, at), _prim(session, other))
    if editor.CanApplyEdits():
        editor.ApplyEdits()


def make_anew(session: UsdSession, folder: Path, at: str, other: str) -> None:
    take_away(session, folder, at, other)
    session.stage.DefinePrim(Sdf.Path(at).GetPrimPath(), "Xform")


def wipe(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.GetRootLayer().Clear()


def load_text(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.GetRootLayer().ImportFromString(FILES["other.usda"])


def cut_off(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.GetPrimAtPath("/World/ref").GetReferences().ClearReferences()


def unpin(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.GetRootLayer().subLayerPaths.clear()


def beside(session: UsdSession, folder: Path, at: str, other: str) -> None:
    with Usd.EditContext(session.stage, session.stage.GetSessionLayer()):
        _prim(session, at).SetActive(False)


def below(session: UsdSession, folder: Path, at: str, other: str) -> None:
    layer = _layer(session.stage, "sub.usda")
    Sdf.CreatePrimInLayer(layer, "/World/low/new").specifier = Sdf.SpecifierDef


def in_reference(session: UsdSession, folder: Path, at: str, other: str) -> None:
    layer = _layer(session.stage, "ref.usda")
    Sdf.CreatePrimInLayer(layer, "/Model/in/new").specifier = Sdf.SpecifierDef


def of_reference(session: UsdSession, folder: Path, at: str, other: str) -> None:
    layer = _layer(session.stage, "ref.usda")
    edit = Sdf.BatchNamespaceEdit()
    edit.Add(Sdf.NamespaceEdit.Remove("/Model/in"))
    layer.Apply(edit)


def save_reference(session: UsdSession, folder: Path, at: str, other: str) -> None:
    in_reference(session, folder, at, other)
    _layer(session.stage, "ref.usda").Save()


def save_layers(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.Save()


def reload_layers(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.Reload()


def mute(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.MuteLayer(_layer(session.stage, "sub.usda").identifier)


def mute_reference(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.MuteLayer(_layer(session.stage, "ref.usda").identifier)


def unload(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.Unload("/World/load")


def aim(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.SetEditTarget(session.stage.GetSessionLayer())


def aim_below(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.SetEditTarget(_layer(session.stage, "sub.usda"))


def lock(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.stage.GetRootLayer().SetPermissionToEdit(False)


def unlock(session: UsdSession, folder: Path, at: str, other: str) -> None:
    for layer in session.stage.GetUsedLayers():
        layer.SetPermissionToEdit(True)


def open_other(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.open(folder / "other.usda")


def open_again(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.open(folder / "scene.usda")


def save(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.save()


def save_over(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.save(folder / "other.usda")


def save_as(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.save(folder / "new.usda")


def copy_over(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.save_copy(folder / "other.usda")


def copy_over_part(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.save_copy(folder / "ref.usda")


def undo(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.undo()


def redo(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.redo()


def take_back(session: UsdSession, folder: Path, at: str, other: str) -> None:
    session.take_back()


EDITS: Final[dict[str, Edit]] = {
    it.__name__: it
    for it in (create, value, delete, take_away, hide, call_it, move, make_anew, wipe, load_text)
}
"""Edits of the scene, which undo brings back."""
OWN: Final[dict[str, Edit]] = {
    it.__name__: it
    for it in (
        *(cut_off, unpin, beside, below, in_reference, of_reference, save_reference, save_layers),
        *(reload_layers, mute, mute_reference, unload, aim, aim_below, lock, unlock, open_other),
        *(open_again, save, save_over, save_as, copy_over, copy_over_part, undo, redo, take_back),
    )
}
"""What undo does not hold, and undo itself."""
