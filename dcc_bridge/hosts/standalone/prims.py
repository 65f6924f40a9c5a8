"""Looking things up on a stage by what people and agents write. Main thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, Final

from pxr import Sdf, Usd, UsdGeom

from dcc_bridge import track
from dcc_bridge.host import digest
from dcc_bridge.hosts.standalone.values import plain

_FEW: Final = 500  # prims that are soon looked at or deleted


def prim_at(stage: Usd.Stage, path: str) -> Usd.Prim | None:
    """Give the prim at a path, or None. A path that is none, USD complains of; we do not."""
    if not Sdf.Path.IsValidPathString(path):
        return None
    place = Sdf.Path(path)
    is_prim = place.IsAbsolutePath() and place.IsPrimPath()
    return (stage.GetPrimAtPath(place) or None) if is_prim else None


def require(stage: Usd.Stage, path: str) -> Usd.Prim:
    """Give the prim at a path; ValueError says what there is instead."""
    prim = prim_at(stage, path)
    if prim is None:
        raise ValueError(f"There is no prim at {path!r}. {_nearest(stage, path)}")
    return prim


def require_attribute(prim: Usd.Prim, name: str) -> Usd.Attribute:
    """Give an attribute that a prim has; ValueError names those that are like it."""
    attribute = prim.GetAttribute(name)
    if attribute and attribute.IsDefined():
        return attribute
    if prim.GetRelationship(name):
        raise ValueError(f"{name} of {prim.GetPath()} is a relationship, not an attribute.")
    names = prim.GetPropertyNames()
    near = get_close_matches(name, names, 5) or names[:10]
    raise ValueError(
        f"{prim.GetPath()} has no attribute {name!r}. It has {', '.join(near) or 'none'}."
    )


def find(
    stage: Usd.Stage, name: str = "*", type_name: str | None = None, under: str = "/"
) -> list[Usd.Prim]:
    """List the active, loaded, defined prims that match, in the order of the scene.

    Args:
        stage: The scene.
        name: Glob on the prim's name, or on its whole path if there is a slash in it.
        type_name: The exact type; None or "*" for any.
        under: Where to look; that prim itself is not among them.

    Raises:
        ValueError: There is no prim ``under`` which to look.
    """
    root = stage.GetPseudoRoot() if under == "/" else require(stage, under)
    return [
        prim
        for prim in Usd.PrimRange(root)
        if prim != root
        and type_name in (None, "*", str(prim.GetTypeName()))
        and fnmatchcase(str(prim.GetPath()) if "/" in name else prim.GetName(), name)
    ]


def _nearest(stage: Usd.Stage, path: str) -> str:
    """Help with the first step of a path that is not there."""
    if not Sdf.Path.IsValidPathString(path) or not Sdf.Path(path).IsAbsolutePath():
        return 'A path looks like "/World/Cameras/cam1".'
    above = (p for p in Sdf.Path(path).GetAncestorsRange() if stage.GetPrimAtPath(p))
    parent = next(above, Sdf.Path.absoluteRootPath)
    names = [child.GetName() for child in stage.GetPrimAtPath(parent).GetChildren()]
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"Under {parent} there is {', '.join(names[:10]) or 'nothing'}{more}."


def remove(stage: Usd.Stage, paths: Iterable[Sdf.Path]) -> list[Sdf.Path]:
    """Delete prims with what is below them; gives those that were only deactivated.

    A prim that comes from a referenced file cannot be deleted from here; it is deactivated, which
    is how USD hides it from everybody who looks at this scene. ValueError names a locked layer.
    """
    gone = list(paths)
    for layer in stage.GetLayerStack(includeSessionLayers=True):
        _remove_specs(layer, [path for path in gone if layer.GetPrimAtPath(path)])
    left = [path for path in gone if stage.GetPrimAtPath(path)]
    for prim in filter(None, map(stage.GetPrimAtPath, left)):  # one below another goes with it
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


def _remove_specs(layer: Sdf.Layer, paths: list[Sdf.Path]) -> None:
    if paths and not layer.permissionToEdit:
        raise ValueError(f"The layer {layer.GetDisplayName()} is locked: unlock it first.")
    names = defaultdict[Sdf.Path, set[str]](set)
    for path in Sdf.Path.RemoveDescendentPaths(paths):
        names[path.GetParentPath()].add(path.name)
    for parent, gone in _tracked(list(names.items()), "Deleting", len(paths)):
        children: Any = layer.GetPrimAtPath(parent).nameChildren  # the stubs leave edits out
        with Sdf.ChangeBlock():
            if len(gone) < min(_FEW, len(children) / 2):
                for name in gone:
                    del children[name]
            else:  # by name, each removal moves all that stay
                children[:] = [it for it in children if it.name not in gone]


MOST_COUNTED: Final = 20_000
"""Prims that are counted by type in 25 ms, as measured."""
_MOST_NAMED: Final = 200
_MOST_ELEMENTS: Final = 16


def scene_summary(stage: Usd.Stage, most: int | None = MOST_COUNTED) -> dict[str, Any]:
    """Describe a stage: units, frames, layers, and how many prims of each type.

    At `most` so many are counted, None for all; if there are more, "counted_all" is false.
    """
    prims = iter(stage.Traverse())
    # the parts of a scene usually are below its default prim
    top = (stage.GetDefaultPrim() or stage.GetPseudoRoot()).GetChildren()
    types = Counter(p.GetTypeName() or "(no type)" for p in islice(prims, most))
    return {
        "default_prim": str(stage.GetDefaultPrim().GetPath()) if stage.HasDefaultPrim() else None,
        "top": _names([str(prim.GetPath()) for prim in top]),
        "prims": types.total(),
        "counted_all": next(prims, None) is None,
        "types": dict(types.most_common()),
        "up_axis": str(UsdGeom.GetStageUpAxis(stage)),
        "metres_per_unit": UsdGeom.GetStageMetersPerUnit(stage),
        "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
        "frames_per_second": stage.GetFramesPerSecond(),
        "layers": _names([layer.GetDisplayName() for layer in stage.GetLayerStack(False)]),
    }


def describe_prim(stage: Usd.Stage, path: str) -> dict[str, Any]:
    """Describe a prim: its type, what is below it, its attributes and relationships.

    The slash in front of its path may be missing. LookupError says what there is instead.
    """
    try:
        prim = require(stage, f"/{path.lstrip('/')}")
    except ValueError as error:
        raise LookupError(str(error)) from error
    children = prim.GetAllChildren()
    return {
        "path": str(prim.GetPath()),
        "type": str(prim.GetTypeName()),
        "active": prim.IsActive(),
        "children": _names([child.GetName() for child in children]),
        "children_count": len(children),
        "attributes": {a.GetName(): _attribute(a) for a in prim.GetAttributes() if a.HasValue()},
        "relationships": {
            r.GetName(): _names([str(target) for target in r.GetTargets()])
            for r in prim.GetRelationships()
        },
    }


def _attribute(attribute: Usd.Attribute) -> dict[str, Any]:
    keys = attribute.GetNumTimeSamples()
    value = attribute.Get() if not keys else attribute.Get(attribute.GetTimeSamples()[0])
    facts: dict[str, Any] = {"type": str(attribute.GetTypeName())}
    if attribute.GetTypeName().isArray and value is not None and len(value) > _MOST_ELEMENTS:
        facts |= {"elements": len(value), "value": plain(value[:_MOST_ELEMENTS])}
    else:
        facts["value"] = plain(value)
    return facts | ({"keys": keys} if keys else {})


def _names(names: Sequence[str]) -> list[str]:
    """Name so many that an agent learns what there is."""
    return list(names[:_MOST_NAMED])


def scene_digest(stage: Usd.Stage) -> str:
    """Digest everything that the local layers hold, the session layer too."""
    return digest([it.ExportToString() for it in stage.GetLayerStack(includeSessionLayers=True)])


def fingerprint(stage: Usd.Stage, items: Iterable[str]) -> str:
    """Digest what prims or properties are, not their values; their order does not matter.

    In another scene's file, the same path is another thing.
    """
    every = _tracked(names := sorted(set(items)), "Reading the scene", len(names))
    return digest([stage.GetRootLayer().identifier, [repr(_describe(stage, it)) for it in every]])


def _tracked(values: list[Any], message: str, size: int) -> Iterable[Any]:
    """Show how far it is where that takes a while."""
    return track(values, message=message) if size > _FEW else values


def _describe(stage: Usd.Stage, item: str) -> list[object]:
    path = Sdf.Path(item) if Sdf.Path.IsValidPathString(item) else Sdf.Path.emptyPath
    prim = stage.GetPrimAtPath(path.GetPrimPath())
    if not path.IsAbsolutePath() or not prim:
        return [item, "gone"]
    if path.IsPropertyPath():
        return [item, *_property(prim.GetProperty(path.name)), _locks(prim)]
    every = [(p.GetPath(), p.GetTypeName(), p.IsActive(), p.IsDefined()) for p in branch(prim)]
    return [item, _locks(prim), *every]


def branch(prim: Usd.Prim) -> Iterable[Usd.Prim]:
    """Give a prim and all below it: a range costs ten times the rest, and most are leaves."""
    return Usd.PrimRange.AllPrims(prim) if prim.GetAllChildrenNames() else (prim,)


def _property(prop: Usd.Property) -> list[object]:
    if isinstance(prop, Usd.Attribute):
        return [str(prop.GetTypeName()), str(prop.GetVariability())]
    return ["relationship" if prop else "gone"]


def _locks(prim: Usd.Prim) -> list[object]:
    """USD locks whole layers, and forbids edits of a prim by its permission."""
    return [(spec.permission, spec.layer.permissionToEdit) for spec in prim.GetPrimStack()]
