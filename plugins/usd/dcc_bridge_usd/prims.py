"""Prims found on a stage by what people and agents write, renamed and deleted. Main thread."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Sequence
from fnmatch import translate
from itertools import chain
from typing import Any, Final, TypeVar

from pxr import Sdf, Usd, UsdGeom

from dcc_bridge import track

T = TypeVar("T")
CROWD_SIZE: Final = 500  # prims; up to so many are looked at or deleted without a wait
_VALUES_A_STEP: Final = 50  # of progress; each value takes some microseconds
_MAX_NAMES: Final = 10  # children that an error names
READING: Final = "Reading the scene"
CHECKING: Final = "Checking what was deleted"
is_path: Final = Sdf.Path.IsValidPathString
is_plain: Final = re.compile(r"(?:/[A-Za-z_][A-Za-z0-9_]*)+").fullmatch
# Functions of the class: a method of a prim costs four times as much, since USD looks each time
# whether the prim is there.
_path = Usd.Prim.GetPath
_type = Usd.Prim.GetTypeName
_children = Usd.Prim.GetAllChildren
_ALL_PRIMS: Final = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)


def prim_at(stage: Usd.Stage, path: str) -> Usd.Prim | None:
    """Return the prim at a path, or None.

    A text that is no path of a prim gives None too; USD itself would print a warning.
    """
    if not is_plain(path):
        if not is_path(path):
            return None
        parsed = Sdf.Path(path)
        if not parsed.IsAbsolutePath() or not parsed.IsPrimPath():
            return None
    return stage.GetPrimAtPath(path) or None


def require(stage: Usd.Stage, path: str) -> Usd.Prim:
    """Return the prim at a path.

    Raises:
        ValueError: There is no prim; the message names what there is instead.
    """
    prim = prim_at(stage, path)
    if prim is None:
        raise ValueError(f"There is no prim at {path!r}. {_nearest(stage, path)}")
    return prim


def find_paths(
    stage: Usd.Stage, name: str = "*", type_name: str | None = None, under: str = "/"
) -> list[str]:
    """List the paths of the active, loaded, defined prims that match, in the order of the scene.

    Args:
        stage: The scene.
        name: A glob for the prim's name, or for its whole path if there is a slash in the glob.
        type_name: The USD type; None or "*" stands for any.
        under: The prim below which to look; the prim itself is not listed.

    Raises:
        ValueError: There is no prim `under`.
    """
    root = stage.GetPseudoRoot()
    if under != "/":
        root = require(stage, under)
    # A list, for a walk would end in a crash if the host edits the scene as it paints.
    prims = list(Usd.PrimRange(root))
    matches = re.compile(translate(name)).match
    is_whole_path = "/" in name
    paths = []
    for prim in tracked(prims[1:], READING):
        if type_name not in (None, "*") and _type(prim) != type_name:
            continue
        path = _path(prim)
        text = str(path)
        searched = text if is_whole_path else path.name
        if matches(searched):
            paths.append(text)
    return paths


def _nearest(stage: Usd.Stage, path: str) -> str:
    """Return a sentence about the prims below the deepest part of a path that is there."""
    if not is_path(path) or not Sdf.Path(path).IsAbsolutePath():
        return 'A path looks like "/World/Cameras/cam1".'
    parent = Sdf.Path(path)
    while not parent.IsAbsoluteRootPath() and not stage.GetPrimAtPath(parent):
        parent = parent.GetParentPath()
    names = [child.GetName() for child in stage.GetPrimAtPath(parent).GetChildren()]
    shown = ", ".join(names[:_MAX_NAMES]) or "nothing"
    more = ""
    if len(names) > _MAX_NAMES:
        more = f" and {len(names) - _MAX_NAMES} more"
    return f"Under {parent} there is {shown}{more}."


def remove(stage: Usd.Stage, paths: Iterable[Sdf.Path | str]) -> list[Sdf.Path]:
    """Delete prims with what is below them.

    A prim that comes from a referenced file cannot be deleted from here. It is deactivated, which
    is how USD hides a prim from everybody who looks at this scene. So is a prim that another layer
    holds than the `only_layer` to which edits go.

    Returns:
        The prims that were only deactivated.

    Raises:
        ValueError: A layer is locked; the message names it.
    """
    wanted: dict[str, None] = {}
    names_by_parent = defaultdict[str, set[str]](set)
    layer = only_layer(stage)
    for each in tracked([*paths], READING):
        path = str(each)
        wanted[path] = None
        if layer is not None and holders(stage, path) != [layer]:
            continue
        parent, _, name = path.rpartition("/")
        names_by_parent[parent or "/"].add(name)
    for parent in list(names_by_parent):
        if _is_in(parent, wanted):  # these children go with a prim above them
            del names_by_parent[parent]
    _remove_specs(stage.GetLayerStack(includeSessionLayers=True), names_by_parent)
    is_there = any(_present(stage, parent, names) for parent, names in names_by_parent.items())
    if layer is None and not is_there:
        return []
    left = [Sdf.Path(path) for path in tracked([*wanted], "Deleting") if stage.GetPrimAtPath(path)]
    for remaining in tracked(left, "Deleting"):
        _deactivate(stage.GetPrimAtPath(remaining))
    return left


def _deactivate(prim: Usd.Prim) -> None:
    """Deactivate a prim, unless it is gone with one above it.

    Raises:
        ValueError: A stronger layer keeps it active.
    """
    if not prim:
        return
    prim.SetActive(False)
    if prim.IsActive():
        raise ValueError(f"{prim.GetPath()} stays: a stronger layer keeps it active.")


def only_layer(stage: Usd.Stage) -> Sdf.Layer | None:
    """Return the layer that a deletion keeps to; None where it goes through all layers.

    Whoever has edits go to a layer below the scene's own wants the other layers as they are.
    """
    layer = stage.GetEditTarget().GetLayer()
    if layer in (stage.GetRootLayer(), stage.GetSessionLayer()):
        return None
    return layer


def holders(stage: Usd.Stage, path: Sdf.Path | str) -> list[Sdf.Layer]:
    """Return the scene's own layers that hold a prim or a variant, the strongest first."""
    layers = stage.GetLayerStack(includeSessionLayers=True)
    return [layer for layer in layers if layer.GetObjectAtPath(path)]


def _is_in(path: str, roots: Container[str]) -> bool:
    """Return whether a path is one of some roots or lies below one of them."""
    prefix = ""
    for name in path.split("/")[1:]:
        prefix = f"{prefix}/{name}"
        if prefix in roots:
            return True
    return False


def check_name(name: str) -> None:
    """Raise a ValueError for what cannot be a prim's name."""
    if not Sdf.Path.IsValidIdentifier(name):
        raise ValueError(
            f"{name!r} cannot be a prim's name: use letters, digits and _, with no digit first."
        )


def rename(stage: Usd.Stage, prim: Usd.Prim, name: str) -> Sdf.Path:
    """Rename a prim, and keep its place among its siblings.

    Relationships, connections and collections that point to the prim or below it follow.

    Returns:
        The new path of the prim.

    Raises:
        ValueError: The prim cannot have that name; the message says why.
    """
    old = prim.GetPath()
    check_name(name)
    editor = Usd.NamespaceEditor(stage)
    editor.RenamePrim(prim, name)
    can_apply = editor.CanApplyEdits()
    if not can_apply:
        raise ValueError(f"{old} cannot be renamed to {name}: {can_apply.whyNot}.")
    editor.ApplyEdits()
    return old.ReplaceName(name)


def _remove_specs(layers: list[Sdf.Layer], names_by_parent: dict[str, set[str]]) -> None:
    """Remove children from the layers that hold them."""
    places = []
    size = 0
    for layer in layers:
        if layer.empty:
            continue
        for parent, names in names_by_parent.items():
            places.append((layer, parent, names))
            size += len(names)
    for layer, parent, names in tracked(places, "Deleting", size):
        present = _present(layer, parent, names)
        if not present:
            continue
        if not layer.permissionToEdit:
            raise ValueError(f"The layer {layer.GetDisplayName()} is locked: unlock it first.")
        with Sdf.ChangeBlock():
            drop_children(layer.GetPrimAtPath(parent), present)


def _present(scene: Any, parent: str, names: set[str]) -> Collection[str]:
    """Return which of some names are those of children in a layer or a stage."""
    if len(names) > CROWD_SIZE:
        return names.intersection(child_names(scene, parent))
    prefix = parent.rstrip("/")
    return [name for name in names if scene.GetPrimAtPath(f"{prefix}/{name}")]


def child_names(scene: Any, path: Sdf.Path | str) -> list[str]:
    """List the children that a layer or a stage has at a path, those in instances too."""
    prim = scene.GetPrimAtPath(path)
    if not prim:
        return []
    names: list[str] = []
    if isinstance(scene, Usd.Stage):
        names = prim.GetFilteredChildrenNames(_ALL_PRIMS)
    elif prim.HasInfo("primChildren"):
        names = prim.GetInfo("primChildren")
    return names


def drop_children(prim: Any, names: Collection[str]) -> None:
    """Remove children of a prim of a layer.

    Args:
        prim: The prim's spec; the stubs leave out how specs are edited. The caller sets no
            `active` on the spec in the same change block.
        names: The children.
    """
    children = prim.nameChildren
    count = len(children)
    is_turned_off = False
    if len(names) > CROWD_SIZE:
        is_turned_off = turn_off(prim)
    if len(names) == count:
        children.clear()  # takes two thirds of the time of the last way
    elif len(names) < min(CROWD_SIZE, count / 2 + 1):
        for name in names:
            del children[name]
    else:  # a removal by name moves all children that stay
        children[:] = [child for child in children if child.name not in names]
    if is_turned_off:
        prim.ClearActive()


def turn_off(prim: Any) -> bool:
    """Deactivate a prim of a layer within a change block, unless `active` is written there.

    Below an inactive prim USD does not look up each child among its siblings, which takes the
    square of their number: 100,000 children go in 1 s in place of 78, as measured.

    Returns:
        Whether the prim was deactivated; the caller clears `active` then.
    """
    if prim.path.IsAbsoluteRootPath() or prim.HasInfo("active"):
        return False
    prim.active = False
    return True


def branch(prim: Usd.Prim) -> Iterable[Usd.Prim]:
    """Return a prim and all prims below it.

    Most prims are leaves, and for a leaf a range costs ten times as much as this tuple.
    """
    if not _children(prim):
        return (prim,)
    return Usd.PrimRange.AllPrims(prim)


def require_end(prims: Iterable[Usd.Prim]) -> None:
    """Check that no instancer among prims shows itself: USD 26.11 crashes as it measures one.

    Raises:
        ValueError: One does, over any number of instancers.
    """
    for prim in prims:
        if prim.GetTypeName() == "PointInstancer" and _shows_itself(prim, frozenset()):
            raise ValueError(f"the instancer {prim.GetPath()} shows itself")


def _shows_itself(instancer: Usd.Prim, outer: frozenset[Sdf.Path]) -> bool:
    """Return whether the prototypes of an instancer lead back to it, or to one in `outer`."""
    path = instancer.GetPath()
    if path in outer:
        return True
    stage = instancer.GetStage()
    for target in UsdGeom.PointInstancer(instancer).GetPrototypesRel().GetForwardedTargets():
        if path.HasPrefix(target):
            return True
        prototype = stage.GetPrimAtPath(target)
        for below in branch(prototype) if prototype else ():
            is_instancer = below.GetTypeName() == "PointInstancer"
            if is_instancer and _shows_itself(below, outer | {path}):
                return True
    return False


def tracked(values: Sequence[T], message: str, size: int | None = None) -> Iterable[T]:
    """Return the values one by one, and report progress if they are more than a crowd.

    Args:
        values: What the caller goes through.
        message: What the person reads beside the progress.
        size: How many prims the values stand for together; each value is a step of progress then.
            Without a size several values are one step, since a look at the clock takes longer than
            the work for most values.
    """
    count = len(values) if size is None else size
    if count <= CROWD_SIZE:
        return values
    if size is not None:
        return track(values, message=message)
    starts = range(0, len(values), _VALUES_A_STEP)
    parts = (values[start : start + _VALUES_A_STEP] for start in starts)
    return chain.from_iterable(track(parts, message=message, total=len(starts)))
