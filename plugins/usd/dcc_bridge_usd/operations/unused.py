"""Junk of a stage: unused and duplicate materials, and empty groups. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pxr import Sdf, Usd

from dcc_bridge import track

from .arcs import arcs
from .links import targets, used

_GROUPS: Final = ("Xform", "Scope", "")
_GROUP_PROPERTIES: Final = ("xformOp", "visibility", "purpose")  # prefixes of names


def unused_materials(stage: Usd.Stage) -> Iterator[str]:
    """Yield the materials to which no prim outside of them has a link."""
    used_paths = _used_from_outside(stage)
    for prim in track(list(stage.Traverse()), message="Looking for materials"):
        path = str(prim.GetPath())
        if prim.GetTypeName() == "Material" and path not in used_paths:
            yield path


def _used_from_outside(stage: Usd.Stage) -> set[str]:
    """Return the prims to which, or to prims below them, a prim outside of them has a link."""
    outside = set[str]()
    prefixes = dict[str, list[Sdf.Path]]()  # by the path; none once all are in `outside`
    for prim in track(list(stage.Traverse()), message="Looking for users"):
        own = prim.GetPath()
        for path in used(prim):
            if path not in prefixes:
                prefixes[path] = []
                if path.startswith("/"):
                    prefixes[path] = Sdf.Path(path).GetPrefixes()
            used_prefixes = [prefix for prefix in prefixes[path] if not own.HasPrefix(prefix)]
            if used_prefixes == prefixes[path]:
                prefixes[path] = []
            outside.update(map(str, used_prefixes))
    return outside


def empty_groups(stage: Usd.Stage) -> Iterator[str]:
    """Return the groups without content, or with empty groups only, to which no link leads."""
    needed = _used_from_outside(stage)
    default = stage.GetDefaultPrim()
    if default:
        needed.add(str(default.GetPath()))
    empty = dict[Sdf.Path, None]()
    # From the end, so that children come before their parents.
    for prim in track(list(stage.Traverse())[::-1], message="Looking for empty groups"):
        if prim.GetTypeName() not in _GROUPS or prim.IsInstance() or _has_data(prim):
            continue
        if str(prim.GetPath()) in needed or any(arcs(prim)):
            continue
        if all(child.GetPath() in empty for child in prim.GetAllChildren()):
            empty[prim.GetPath()] = None
    return (str(path) for path in reversed(empty))


def _has_data(prim: Usd.Prim) -> bool:
    """Return whether a group has properties that not every group may have."""
    return any(not name.startswith(_GROUP_PROPERTIES) for name in prim.GetAuthoredPropertyNames())


def duplicate_materials(stage: Usd.Stage) -> Mapping[str, str]:
    """Return the path of the equal earlier material, by the path of each duplicate."""
    first = dict[tuple[Any, ...], str]()
    duplicates = dict[str, str]()
    for material in stage.Traverse():
        if material.GetTypeName() != "Material":
            continue
        path = material.GetPath()
        facts = tuple(_facts(prim, path) for prim in Usd.PrimRange(material))
        known = first.setdefault(facts, str(path))
        if known != str(path):
            duplicates[str(path)] = known
    return duplicates


def _facts(prim: Usd.Prim, root: Sdf.Path) -> tuple[Any, ...]:
    """Return the type, path and properties of a prim, with all paths relative to a root."""
    values = []
    for prop in prim.GetAuthoredProperties():
        value = ""
        if isinstance(prop, Usd.Attribute):
            value = str(prop.Get())
        links = tuple(_below_root(target, root) for target in targets(prop))
        values.append((prop.GetName(), value, links))
    return _below_root(prim.GetPath(), root), prim.GetTypeName(), *values


def _below_root(path: Sdf.Path, root: Sdf.Path) -> str:
    return str(path.ReplacePrefix(root, "/root"))
