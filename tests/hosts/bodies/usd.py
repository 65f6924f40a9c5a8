"""Our own host on a scene with files, in which each prim has a mark; and what bodies do to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pxr import Sdf, Usd

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations.drawing import UsdOperations
from dcc_bridge_usd.prims import remove, rename
from tests.hosts.bodies.port import MARK, Edit, MarkedPort, Scene, in_files
from tests.hosts.bodies.usd_files import FILES, INSIDE

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
_BELOW: Final = "sub.usda"
_BRINGING: Final = ("reference ", "payload ")


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


def animate(usd: UsdPort, at: str, other: str) -> None:
    attribute = _prim(usd, at).CreateAttribute("size", Sdf.ValueTypeNames.Double)
    for time in (1.0, 5.0):
        attribute.Set(time, time)


def relate(usd: UsdPort, at: str, other: str) -> None:
    sees = _prim(usd, at).CreateRelationship("sees")
    sees.SetTargets([_prim(usd, other).GetPath(), "/Other"])


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


def empty(usd: UsdPort, at: str, other: str) -> None:
    """Take the values of all attributes of a prim."""
    for each in _prim(usd, at).GetAttributes():
        each.Clear()


def drop_key(usd: UsdPort, at: str, other: str) -> None:
    """Take one key."""
    usd.stage.GetPrimAtPath("/World/a").GetAttribute("width").ClearAtTime(9)


def switch_class(usd: UsdPort, at: str, other: str) -> None:
    """Make a class of a prim, which is in no scene then."""
    _prim(usd, at).SetSpecifier(Sdf.SpecifierClass)


EDITS: Final[dict[str, Edit]] = {
    "create": lambda it, at, _: it.stage.DefinePrim(
        _prim(it, at).GetPath().AppendChild("new"), "Camera"
    ),
    "value": value,
    "animate": animate,
    "relate": relate,
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


_HELD: Final = (
    *("cut_off", "unpin", "beside", "below", "in_reference", "of_reference"),
    *("mute", "unload", "aim", "aim_below", "lock"),
)
"""What a trial reverts of `OWN`."""
TRIED: Final[dict[str, Edit]] = {
    **{name: OWN[name] for name in _HELD},
    "empty": empty,
    "drop_key": drop_key,
    "switch_class": switch_class,
}


def _is_blocked(attribute: Usd.Attribute) -> bool:
    return isinstance(attribute.GetMetadata("default"), Sdf.ValueBlock)


def _of_property(item: str) -> str:
    """Return words of a part of a property, "value of size of /a", as those of "/a.size"."""
    part, is_of, owner = item.rpartition(" of ")
    what, is_named, name = part.rpartition(" of ")
    if is_of and is_named and Sdf.Path.IsValidNamespacedIdentifier(name):
        return f"{what} of {owner}.{name}"
    return item


class UsdPort(MarkedPort):
    """Our own host."""

    items = PATHS
    edits = EDITS
    own = OWN
    tried_edits = TRIED
    export_name = "other.usda"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.host: UsdSession = UsdSession(folder / "scene.usda")
        self._theirs = 0
        for name in ("first", "second"):
            with self.host.undo_step(f"The person's {name}"):
                prim = self.stage.DefinePrim(f"/World/{name}", "Scope")
                prim.SetCustomDataByKey(MARK, name)
        self.host.undo()

    @property
    def stage(self) -> Usd.Stage:
        return self.host.stage

    @property
    def which(self) -> Usd.Stage:
        return self.stage

    def things(self) -> Mapping[str, str]:
        found = dict[str, str]()
        for prim in self.stage.TraverseAll():
            if prim.IsActive() and prim.IsDefined() and not prim.IsAbstract():
                self._add(prim, found)
        return found

    def _add(self, prim: Usd.Prim, found: dict[str, str]) -> None:
        mark = prim.GetCustomDataByKey(MARK)
        if mark is None:
            return
        found[mark] = str(prim.GetPath())
        for prop in prim.GetAuthoredProperties():
            path = str(prop.GetPath())
            found[f"{mark}|{prop.GetName()}"] = path
            if not isinstance(prop, Usd.Attribute):
                continue
            if prop.HasAuthoredMetadata("default") and not _is_blocked(prop):
                found[f"{mark} {prop.GetName()}|value"] = path
            for time in prop.GetTimeSamples():
                found[f"{mark} {prop.GetName()} {time}|key"] = path

    def above(self, item: str) -> Iterable[str]:
        yield from (str(path) for path in Sdf.Path(item).GetPrefixes())

    def covered(self, items: Sequence[str]) -> set[str]:
        """With a reference goes what it brings, with a layer what is in it."""
        things = self.things()
        items = [_of_property(item) for item in items]
        owners = [item.rpartition(" of ")[2] for item in items if item.startswith(_BRINGING)]
        inside = [mark for mark, at in things.items() if INSIDE in mark
                  and any(owner in self.above(at) for owner in owners)]  # fmt: skip
        if f"layer {_BELOW} of the scene" in items:
            inside += [mark for mark in things if mark.startswith("low")]
        return {*super().covered(items), *inside}

    def export(self) -> None:
        self.stage.GetRootLayer().Export(str(self.folder / self.export_name))

    def writers(self) -> Sequence[Writer]:
        return UsdOperations(self.host).writers()

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
        name = f"theirs{self._theirs}"
        root = self.stage.GetRootLayer()
        with self.host.undo_step("The person's edit"), Usd.EditContext(self.stage, root):
            prim = self.stage.DefinePrim(f"/{name}", "Scope")
            prim.SetCustomDataByKey(MARK, name)
        self._theirs += 1
