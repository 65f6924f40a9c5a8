"""Looking things up on a stage by what people and agents write. Main thread."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from fnmatch import translate
from itertools import accumulate, chain
from typing import Any, Final, TypeVar

from pxr import Sdf, Usd

from dcc_bridge import track

T = TypeVar("T")
MANY: Final = 500  # prims: so many are soon looked at or deleted
_AT_ONCE: Final = 50  # values of which each takes some microseconds
READING: Final = "Reading the scene"
CHECKING: Final = "Checking what was deleted"
is_path: Final = Sdf.Path.IsValidPathString
is_plain: Final = re.compile(r"(?:/[A-Za-z_][A-Za-z0-9_]*)+").fullmatch
# Of the class, for one of a prim costs four times as much: USD looks whether the prim is there.
_path, _type, _children = Usd.Prim.GetPath, Usd.Prim.GetTypeName, Usd.Prim.GetAllChildren
_EVERY: Final = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)


def prim_at(stage: Usd.Stage, path: str) -> Usd.Prim | None:
    """Give the prim at a path, or None. A path that is none, USD complains of; we do not."""
    is_prim = is_plain(path) or (
        is_path(path) and (it := Sdf.Path(path)).IsAbsolutePath() and it.IsPrimPath()
    )
    return (stage.GetPrimAtPath(path) or None) if is_prim else None


def require(stage: Usd.Stage, path: str) -> Usd.Prim:
    """Give the prim at a path; ValueError says what there is instead."""
    prim = prim_at(stage, path)
    if prim is None:
        raise ValueError(f"There is no prim at {path!r}. {_nearest(stage, path)}")
    return prim


def find_paths(
    stage: Usd.Stage, name: str = "*", type_name: str | None = None, under: str = "/"
) -> list[str]:
    """List the paths of the active, loaded, defined prims that match, in the order of the scene.

    `name` is a glob on the prim's name, or on its whole path if there is a slash in it. None or "*"
    is any type. The prim `under` which to look is not among them; ValueError where there is none.
    """
    root = stage.GetPseudoRoot() if under == "/" else require(stage, under)
    every = list(Usd.PrimRange(root))  # a walk would end in a crash if the host edits as it paints
    matches, is_whole = re.compile(translate(name)).match, "/" in name
    found = []
    for prim in tracked(every[1:], READING):
        if type_name in (None, "*") or _type(prim) == type_name:
            path = _path(prim)
            if matches(str(path) if is_whole else path.name):
                found.append(str(path))
    return found


def _nearest(stage: Usd.Stage, path: str) -> str:
    """Help with the first step of a path that is not there."""
    if not is_path(path) or not Sdf.Path(path).IsAbsolutePath():
        return 'A path looks like "/World/Cameras/cam1".'
    above = (p for p in Sdf.Path(path).GetAncestorsRange() if stage.GetPrimAtPath(p))
    parent = next(above, Sdf.Path.absoluteRootPath)
    names = [child.GetName() for child in stage.GetPrimAtPath(parent).GetChildren()]
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"Under {parent} there is {', '.join(names[:10]) or 'nothing'}{more}."


def remove(stage: Usd.Stage, paths: Iterable[Sdf.Path | str]) -> list[Sdf.Path]:
    """Delete prims with what is below them; gives those that were only deactivated.

    A prim that comes from a referenced file cannot be deleted from here; it is deactivated, which
    is how USD hides it from everybody who looks at this scene. ValueError names a locked layer.
    """
    every, names = dict[str, None](), defaultdict[str, set[str]](set)
    for path in map(str, tracked([*paths], READING)):
        every[path] = None
        parent, _, name = path.rpartition("/")
        names[parent or "/"].add(name)
    for parent in list(names):  # what is below another goes with it
        if not every.keys().isdisjoint(accumulate(parent.split("/"), "{}/{}".format)):
            del names[parent]
    _remove_specs(stage.GetLayerStack(includeSessionLayers=True), names)
    if not any(_present(stage, parent, it) for parent, it in names.items()):
        return []
    left = [Sdf.Path(it) for it in tracked([*every], "Deleting") if stage.GetPrimAtPath(it)]
    for at in tracked(left, "Deleting"):
        if prim := stage.GetPrimAtPath(at):  # one below another goes with it
            prim.SetActive(False)
    return left


def rename(stage: Usd.Stage, prim: Usd.Prim, name: str) -> Sdf.Path:
    """Give a prim another name, in its place among its siblings; gives its new path.

    Relationships, connections and collections that point to it or below it follow. ValueError says
    why it cannot have that name.
    """
    old = prim.GetPath()
    if not Sdf.Path.IsValidIdentifier(name):
        raise ValueError(
            f"{name!r} cannot be a prim's name: use letters, digits and _, with no digit first."
        )
    editor = Usd.NamespaceEditor(stage)
    editor.RenamePrim(prim, name)
    can_apply = editor.CanApplyEdits()
    if not can_apply:
        raise ValueError(f"{old} cannot be renamed to {name}: {can_apply.whyNot}.")
    editor.ApplyEdits()
    return old.ReplaceName(name)


def _remove_specs(layers: list[Sdf.Layer], names: dict[str, set[str]]) -> None:
    places = [(layer, *it) for layer in layers if not layer.empty for it in names.items()]
    for layer, parent, wanted in tracked(places, "Deleting", sum(len(it) for *_, it in places)):
        if gone := _present(layer, parent, wanted):
            if not layer.permissionToEdit:
                raise ValueError(f"The layer {layer.GetDisplayName()} is locked: unlock it first.")
            with Sdf.ChangeBlock():
                drop_children(layer.GetPrimAtPath(parent), gone)


def _present(scene: Any, parent: str, names: set[str]) -> Collection[str]:
    """Give those of some names that children in a layer or a stage have."""
    if len(names) > MANY:
        return names.intersection(child_names(scene, parent))
    return [it for it in names if scene.GetPrimAtPath(f"{parent.rstrip('/')}/{it}")]


def child_names(scene: Any, path: Sdf.Path | str) -> list[str]:
    """List the children that a layer or a stage has at a path, in instances too."""
    if isinstance(scene, Usd.Stage):
        prim = scene.GetPrimAtPath(path)
        return prim.GetFilteredChildrenNames(_EVERY) if prim else []
    spec = scene.GetPrimAtPath(path)
    return spec.GetInfo("primChildren") if spec and spec.HasInfo("primChildren") else []


def drop_children(prim: Any, gone: Collection[str]) -> None:  # the stubs leave edits out
    """Remove children of a prim of a layer. Give it no value for `active` meanwhile."""
    children, is_off = prim.nameChildren, len(gone) > MANY and turn_off(prim)
    count = len(children)
    if len(gone) == count:
        children.clear()  # two thirds of what the last way takes
    elif len(gone) < min(MANY, count / 2 + 1):
        for name in gone:
            del children[name]
    else:  # by name, each removal moves all that stay
        children[:] = [it for it in children if it.name not in gone]
    if is_off:
        prim.ClearActive()


def turn_off(prim: Any) -> bool:
    """Hide a prim within a change block, if it says nothing of it; gives whether it did.

    Of what is hidden USD does not look up each child among its siblings, which takes their square:
    100,000 go in 1 s in place of 78, as measured.
    """
    if is_free := not prim.path.IsAbsoluteRootPath() and not prim.HasInfo("active"):
        prim.active = False
    return is_free


def branch(prim: Usd.Prim) -> Iterable[Usd.Prim]:
    """Give a prim and all below it: a range costs ten times the rest, and most are leaves."""
    return Usd.PrimRange.AllPrims(prim) if _children(prim) else (prim,)


def tracked(values: Sequence[T], message: str, size: int | None = None) -> Iterable[T]:
    """Show how far it is where that takes a while; each counts alone if together they have a size.

    Else some are one, for to look at the clock takes longer than what is done with most values.
    """
    if (len(values) if size is None else size) <= MANY:
        return values
    if size is not None:
        return track(values, message=message)
    parts = (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))
    return chain.from_iterable(track(parts, message=message, total=-(-len(values) // _AT_ONCE)))
