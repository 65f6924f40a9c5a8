"""What bad skills do to a scene with files, and what the scene and the files are at a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pxr import Sdf, Usd

from dcc_bridge.hosts.standalone import UsdSession
from dcc_bridge.hosts.standalone.prims import remove, rename
from tests.hosts.bad_port import Port, Scene, by_name, in_files

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


def _layer(stage: Usd.Stage, name: str) -> Sdf.Layer:
    layer = next((it for it in stage.GetUsedLayers() if it.GetDisplayName() == name), None)
    if layer is None:
        raise ValueError(f"There is no {name} here.")
    return layer


def _prim(usd: UsdPort, path: str) -> Usd.Prim:
    prim = usd.stage.GetPrimAtPath(Sdf.Path(path).GetPrimPath())
    if not prim:
        raise ValueError(f"There is no {path}.")
    return prim


def create(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.DefinePrim(_prim(usd, at).GetPath().AppendChild("new"), "Camera")


def value(usd: UsdPort, at: str, other: str) -> None:
    prim = _prim(usd, at)
    prim.CreateAttribute("size", Sdf.ValueTypeNames.Double).Set(1.0)


def delete(usd: UsdPort, at: str, other: str) -> None:
    path = Sdf.Path(at)
    if path.IsPropertyPath():
        usd.stage.GetPrimAtPath(path.GetPrimPath()).RemoveProperty(path.name)
    else:
        usd.stage.RemovePrim(path)


def take_away(usd: UsdPort, at: str, other: str) -> None:
    remove(usd.stage, [Sdf.Path(at).GetPrimPath()])


def hide(usd: UsdPort, at: str, other: str) -> None:
    _prim(usd, at).SetActive(False)


def call_it(usd: UsdPort, at: str, other: str) -> None:
    rename(usd.stage, _prim(usd, at), "named")


def move(usd: UsdPort, at: str, other: str) -> None:
    editor = Usd.NamespaceEditor(usd.stage)
    editor.ReparentPrim(_prim(usd, at), _prim(usd, other))
    if editor.CanApplyEdits():
        editor.ApplyEdits()


def make_anew(usd: UsdPort, at: str, other: str) -> None:
    take_away(usd, at, other)
    usd.stage.DefinePrim(Sdf.Path(at).GetPrimPath(), "Xform")


def wipe(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.GetRootLayer().Clear()


def load_text(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.GetRootLayer().ImportFromString(FILES["other.usda"])


def cut_off(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.GetPrimAtPath("/World/ref").GetReferences().ClearReferences()


def unpin(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.GetRootLayer().subLayerPaths.clear()


def beside(usd: UsdPort, at: str, other: str) -> None:
    with Usd.EditContext(usd.stage, usd.stage.GetSessionLayer()):
        _prim(usd, at).SetActive(False)


def below(usd: UsdPort, at: str, other: str) -> None:
    layer = _layer(usd.stage, "sub.usda")
    Sdf.CreatePrimInLayer(layer, "/World/low/new").specifier = Sdf.SpecifierDef


def in_reference(usd: UsdPort, at: str, other: str) -> None:
    layer = _layer(usd.stage, "ref.usda")
    Sdf.CreatePrimInLayer(layer, "/Model/in/new").specifier = Sdf.SpecifierDef


def of_reference(usd: UsdPort, at: str, other: str) -> None:
    layer = _layer(usd.stage, "ref.usda")
    edit = Sdf.BatchNamespaceEdit()
    edit.Add(Sdf.NamespaceEdit.Remove("/Model/in"))
    layer.Apply(edit)


def save_reference(usd: UsdPort, at: str, other: str) -> None:
    in_reference(usd, at, other)
    _layer(usd.stage, "ref.usda").Save()


def save_layers(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.Save()


def reload_layers(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.Reload()


def mute(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.MuteLayer(_layer(usd.stage, "sub.usda").identifier)


def mute_reference(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.MuteLayer(_layer(usd.stage, "ref.usda").identifier)


def unload(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.Unload("/World/load")


def aim(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.SetEditTarget(usd.stage.GetSessionLayer())


def aim_below(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.SetEditTarget(_layer(usd.stage, "sub.usda"))


def lock(usd: UsdPort, at: str, other: str) -> None:
    usd.stage.GetRootLayer().SetPermissionToEdit(False)


def unlock(usd: UsdPort, at: str, other: str) -> None:
    for layer in usd.stage.GetUsedLayers():
        layer.SetPermissionToEdit(True)


def open_other(usd: UsdPort, at: str, other: str) -> None:
    usd.host.open(usd.folder / "other.usda")


def open_again(usd: UsdPort, at: str, other: str) -> None:
    usd.host.open(usd.folder / "scene.usda")


def save(usd: UsdPort, at: str, other: str) -> None:
    usd.host.save()


def save_over(usd: UsdPort, at: str, other: str) -> None:
    usd.host.save(usd.folder / "other.usda")


def save_as(usd: UsdPort, at: str, other: str) -> None:
    usd.host.save(usd.folder / "new.usda")


def copy_over(usd: UsdPort, at: str, other: str) -> None:
    usd.host.save_copy(usd.folder / "other.usda")


def copy_over_part(usd: UsdPort, at: str, other: str) -> None:
    usd.host.save_copy(usd.folder / "ref.usda")


def undo(usd: UsdPort, at: str, other: str) -> None:
    usd.host.undo()


def redo(usd: UsdPort, at: str, other: str) -> None:
    usd.host.redo()


def take_back(usd: UsdPort, at: str, other: str) -> None:
    usd.host.take_back()


EDITS: Final = by_name(
    create, value, delete, take_away, hide, call_it, move, make_anew, wipe, load_text
)
"""Edits of the scene, which undo brings back."""
OWN: Final = by_name(
    *(cut_off, unpin, beside, below, in_reference, of_reference, save_reference, save_layers),
    *(reload_layers, mute, mute_reference, unload, aim, aim_below, lock, unlock, open_other),
    *(open_again, save, save_over, save_as, copy_over, copy_over_part, undo, redo, take_back),
)
"""What undo does not hold, and undo itself."""


class UsdPort(Port):
    """Our own host, on a scene with files."""

    items = PATHS
    edits = EDITS
    own = OWN

    def __init__(self, folder: Path) -> None:
        """Write the scene, its layers and another scene, and open it."""
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.host: UsdSession = UsdSession(folder / "scene.usda")
        self._theirs = 0
        for name in ("first", "second"):
            with self.host.undo_step(f"The person's {name}"):
                self.stage.DefinePrim(f"/World/{name}", "Scope")
        self.host.undo()

    @property
    def stage(self) -> Usd.Stage:
        """The stage that is open."""
        return self.host.stage

    @property
    def which(self) -> Usd.Stage:
        return self.stage

    def objects(self) -> frozenset[str]:
        """List active prims and authored properties."""
        prims = [prim for prim in self.stage.TraverseAll() if prim.IsActive()]
        properties = [prop for prim in prims for prop in prim.GetAuthoredProperties()]
        return frozenset(str(it.GetPath()) for it in (*prims, *properties))

    def reach(self, items: Sequence[str]) -> Callable[[str], bool]:
        """All that is below a path; a prim that goes elsewhere is another one."""
        paths = [Sdf.Path(item) for item in items]
        return lambda thing: any(Sdf.Path(thing).HasPrefix(path) for path in paths)

    def state(self) -> str:
        return self.host.scene_digest()

    def look(self) -> Scene:
        stage, session = self.stage, self.host
        used = {*stage.GetUsedLayers(), *stage.GetLayerStack()}
        names = {layer: "session" if layer.anonymous else layer.GetDisplayName() for layer in used}
        target, rules = stage.GetEditTarget().GetLayer(), str(stage.GetLoadRules())
        return Scene(
            stage,
            session.file(),
            {name: layer.ExportToString() for layer, name in names.items()},
            (names.get(target), tuple(stage.GetMutedLayers()), rules),
            self.objects(),
            tuple(session.undo_labels),
            tuple(session.redo_labels),
            {names[it]: (it.permissionToEdit, it.permissionToSave) for it in used},
            in_files(self.folder, tuple(FILES)),
        )

    def work(self) -> None:
        with self.host.undo_step("The person's edit"):
            Sdf.CreatePrimInLayer(self.stage.GetRootLayer(), f"/theirs{self._theirs}")
        self._theirs += 1
