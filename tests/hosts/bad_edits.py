"""What bad skills do to a scene with files, and what the scene and the files are at a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pxr import Sdf, Usd

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import remove, rename
from tests.hosts.bad_port import Edit, Port, Scene, in_files

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


def value(usd: UsdPort, at: str, other: str) -> None:
    prim = _prim(usd, at)
    prim.CreateAttribute("size", Sdf.ValueTypeNames.Double).Set(1.0)


def delete(usd: UsdPort, at: str, other: str) -> None:
    path = Sdf.Path(at)
    if path.IsPropertyPath():
        usd.stage.GetPrimAtPath(path.GetPrimPath()).RemoveProperty(path.name)
    else:
        usd.stage.RemovePrim(path)


def move(usd: UsdPort, at: str, other: str) -> None:
    editor = Usd.NamespaceEditor(usd.stage)
    editor.ReparentPrim(_prim(usd, at), _prim(usd, other))
    if editor.CanApplyEdits():
        editor.ApplyEdits()


def make_anew(usd: UsdPort, at: str, other: str) -> None:
    path = Sdf.Path(at).GetPrimPath()
    remove(usd.stage, [path])
    usd.stage.DefinePrim(path, "Xform")


def beside(usd: UsdPort, at: str, other: str) -> None:
    with Usd.EditContext(usd.stage, usd.stage.GetSessionLayer()):
        _prim(usd, at).SetActive(False)


def new_prim(usd: UsdPort, layer: str, path: str) -> None:
    Sdf.CreatePrimInLayer(_layer(usd.stage, layer), path).specifier = Sdf.SpecifierDef


def in_reference(usd: UsdPort, *_: str) -> None:
    new_prim(usd, "ref.usda", "/Model/in/new")


def of_reference(usd: UsdPort, at: str, other: str) -> None:
    layer = _layer(usd.stage, "ref.usda")
    edit = Sdf.BatchNamespaceEdit()
    edit.Add(Sdf.NamespaceEdit.Remove("/Model/in"))
    layer.Apply(edit)


def save_reference(usd: UsdPort, at: str, other: str) -> None:
    in_reference(usd)
    _layer(usd.stage, "ref.usda").Save()


def unlock(usd: UsdPort, at: str, other: str) -> None:
    for layer in usd.stage.GetUsedLayers():
        layer.SetPermissionToEdit(True)


EDITS: Final[dict[str, Edit]] = {
    "create": lambda it, at, _: it.stage.DefinePrim(
        _prim(it, at).GetPath().AppendChild("new"), "Camera"
    ),
    "value": value,
    "delete": delete,
    "take_away": lambda it, at, _: remove(it.stage, [Sdf.Path(at).GetPrimPath()]),
    "hide": lambda it, at, _: _prim(it, at).SetActive(False),
    "call_it": lambda it, at, _: rename(it.stage, _prim(it, at), "named"),
    "move": move,
    "make_anew": make_anew,
    "wipe": lambda it, *_: it.stage.GetRootLayer().Clear(),
    "load_text": lambda it, *_: it.stage.GetRootLayer().ImportFromString(FILES["other.usda"]),
}
"""Edits of the scene, which undo brings back."""
OWN: Final[dict[str, Edit]] = {
    "cut_off": lambda it, *_: (
        it.stage.GetPrimAtPath("/World/ref").GetReferences().ClearReferences()
    ),
    "unpin": lambda it, *_: it.stage.GetRootLayer().subLayerPaths.clear(),
    "beside": beside,
    "below": lambda it, *_: new_prim(it, "sub.usda", "/World/low/new"),
    "in_reference": in_reference,
    "of_reference": of_reference,
    "save_reference": save_reference,
    "save_layers": lambda it, *_: it.stage.Save(),
    "reload_layers": lambda it, *_: it.stage.Reload(),
    "mute": lambda it, *_: it.stage.MuteLayer(_layer(it.stage, "sub.usda").identifier),
    "mute_reference": lambda it, *_: it.stage.MuteLayer(_layer(it.stage, "ref.usda").identifier),
    "unload": lambda it, *_: it.stage.Unload("/World/load"),
    "aim": lambda it, *_: it.stage.SetEditTarget(it.stage.GetSessionLayer()),
    "aim_below": lambda it, *_: it.stage.SetEditTarget(_layer(it.stage, "sub.usda")),
    "lock": lambda it, *_: it.stage.GetRootLayer().SetPermissionToEdit(False),
    "unlock": unlock,
    "open_other": lambda it, *_: it.host.open(it.folder / "other.usda"),
    "open_again": lambda it, *_: it.host.open(it.folder / "scene.usda"),
    "save": lambda it, *_: it.host.save(),
    "save_over": lambda it, *_: it.host.save(it.folder / "other.usda"),
    "save_as": lambda it, *_: it.host.save(it.folder / "new.usda"),
    "copy_over": lambda it, *_: it.host.save_copy(it.folder / "other.usda"),
    "copy_over_part": lambda it, *_: it.host.save_copy(it.folder / "ref.usda"),
    "undo": lambda it, *_: it.host.undo(),
    "redo": lambda it, *_: it.host.redo(),
    "take_back": lambda it, *_: it.host.take_back(),
}
"""What undo does not hold, and undo itself."""


class UsdPort(Port):
    """Our own host, on a scene with files."""

    items = PATHS
    edits = EDITS
    own = OWN

    def __init__(self, folder: Path) -> None:
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
        return self.host.stage

    @property
    def which(self) -> Usd.Stage:
        return self.stage

    def objects(self) -> frozenset[str]:
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
