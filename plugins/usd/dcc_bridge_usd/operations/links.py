"""What prims refer to, and what of it is of no use: lost links, twins, empty and unused prims.

No Qt in here. Main thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pxr import Sdf, Usd

from dcc_bridge import track

_GROUPS: Final = ("Xform", "Scope", "")
_ASSETS: Final = (Sdf.ValueTypeNames.Asset, Sdf.ValueTypeNames.AssetArray)


def prims(stage: Usd.Stage) -> Iterator[Usd.Prim]:
    """Give what is active, loaded and defined."""
    return iter(stage.Traverse())


def targets(prop: Usd.Property) -> list[Sdf.Path]:
    """Give where a relationship or a connection leads to."""
    if isinstance(prop, Usd.Relationship):
        return list(prop.GetTargets())
    if isinstance(prop, Usd.Attribute) and prop.HasAuthoredConnections():
        return list(prop.GetConnections())
    return []


def arcs(prim: Usd.Prim) -> Iterator[tuple[Sdf.Layer, Any]]:
    """Give the references and payloads that the scene's own layers give a prim."""
    if prim.HasAuthoredReferences() or prim.HasAuthoredPayloads():
        for spec in prim.GetPrimStack():
            if spec.path == prim.GetPath():
                for listed in (spec.referenceList, spec.payloadList):
                    yield from ((spec.layer, arc) for arc in listed.GetAddedOrExplicitItems())


def used(prim: Usd.Prim) -> Iterator[str]:
    """Give the paths of prims and of files that a prim names."""
    for prop in prim.GetAuthoredProperties():
        yield from (str(path.GetPrimPath()) for path in targets(prop))
        if isinstance(prop, Usd.Attribute) and prop.GetTypeName() in _ASSETS:
            yield from _paths(prop)
    yield from (arc.assetPath or str(arc.primPath) for _, arc in arcs(prim))


def files(stage: Usd.Stage) -> Iterator[tuple[str, str, str]]:
    """Give the files that prims name: prim, property and path as the scene would write it."""
    root = stage.GetRootLayer()
    for prim in track(list(prims(stage)), message="Reading the files"):
        item = str(prim.GetPath())
        for layer, arc in arcs(prim):
            if arc.assetPath:
                yield item, "references", _seen_from(root, layer, arc.assetPath)
        for attribute in prim.GetAuthoredAttributes():
            if attribute.GetTypeName() in _ASSETS:
                layer = attribute.GetPropertyStack(Usd.TimeCode.EarliestTime())[0].layer
                for path in _paths(attribute):
                    yield item, attribute.GetName(), _seen_from(root, layer, path)


def _paths(attribute: Usd.Attribute) -> Iterator[str]:
    value = attribute.Get(Usd.TimeCode.EarliestTime())
    every = value if attribute.GetTypeName().isArray else [value]
    yield from (each.path for each in every or () if each and each.path)


def _seen_from(root: Sdf.Layer, layer: Sdf.Layer, path: str) -> str:
    """Write a path that stands in a layer as the root layer would; of a package only its file."""
    path = path.partition("[")[0]
    if layer == root or not layer.realPath or not root.realPath or not path.startswith("."):
        return path
    return relative(layer.ComputeAbsolutePath(path), os.path.dirname(root.realPath))


def relative(path: str, folder: str) -> str:
    """Write an absolute path as seen from a folder, where that is possible."""
    try:
        seen = os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return path
    return seen if seen.startswith("..") else f"./{seen}"


# ---- what is of no use


def unused_materials(stage: Usd.Stage) -> Iterator[str]:
    """Give the materials that nothing outside of them leads to."""
    wanted = _wanted(stage)
    looked = track(list(prims(stage)), message="Looking for materials")
    every = (str(prim.GetPath()) for prim in looked if prim.GetTypeName() == "Material")
    return (item for item in every if item not in wanted)


def _wanted(stage: Usd.Stage) -> set[str]:
    """Give all that something outside of it leads to."""
    found, known = set[str](), dict[str, list[Sdf.Path]]()
    for prim in track(list(prims(stage)), message="Looking for users"):
        own = prim.GetPath()
        for path in used(prim):
            if path not in known:
                known[path] = Sdf.Path(path).GetPrefixes() if path.startswith("/") else []
            missing = [it for it in known[path] if not own.HasPrefix(it)]
            if missing == known[path]:
                known[path] = []  # all of it is found now
            found.update(map(str, missing))
    return found


def empty_groups(stage: Usd.Stage) -> Iterator[str]:
    """Give the groups in which there is nothing but such groups, and which nothing leads to."""
    wanted, empty = _wanted(stage), dict[Sdf.Path, None]()
    wanted.add(str(stage.GetDefaultPrim().GetPath()) if stage.GetDefaultPrim() else "")
    for prim in track(list(prims(stage))[::-1], message="Looking for empty groups"):
        if prim.GetTypeName() not in _GROUPS or prim.IsInstance() or _says(prim):
            continue
        is_kept = str(prim.GetPath()) in wanted or any(arcs(prim))
        if not is_kept and all(it.GetPath() in empty for it in prim.GetAllChildren()):
            empty[prim.GetPath()] = None
    return map(str, reversed(empty))


def _says(prim: Usd.Prim) -> bool:
    """Whether a group is more than a place: somebody may want what stands in it."""
    names = prim.GetAuthoredPropertyNames()
    return any(not it.startswith(("xformOp", "visibility", "purpose")) for it in names)


def twins(stage: Usd.Stage) -> Mapping[str, str]:
    """Give the materials that are as another one before them, with that one."""
    first, same = dict[tuple[Any, ...], str](), dict[str, str]()
    for root in (it for it in prims(stage) if it.GetTypeName() == "Material"):
        facts = tuple(_facts(prim, root.GetPath()) for prim in Usd.PrimRange(root))
        known = first.setdefault(facts, item := str(root.GetPath()))
        if known != item:
            same[item] = known
    return same


def _facts(prim: Usd.Prim, root: Sdf.Path) -> tuple[Any, ...]:
    """Tell what a prim is, wherever it stands."""

    def here(path: Sdf.Path) -> str:
        return str(path.ReplacePrefix(root, "/root"))

    values = (
        (
            prop.GetName(),
            str(prop.Get()) if isinstance(prop, Usd.Attribute) else "",
            tuple(map(here, targets(prop))),
        )
        for prop in prim.GetAuthoredProperties()
    )
    return here(prim.GetPath()), prim.GetTypeName(), *values


def replace_users(stage: Usd.Stage, stays: Mapping[str, str]) -> None:
    """Have relationships lead to other prims."""
    for prim in track(list(prims(stage)), message="Assigning"):
        for rel in prim.GetAuthoredRelationships():
            paths = list(map(str, rel.GetTargets()))
            if any(stays.get(it) for it in paths):
                rel.SetTargets([stays.get(it) or it for it in paths])


def dead_links(stage: Usd.Stage) -> Iterator[str]:
    """Give the properties that lead nowhere, and the prims whose files are lost."""
    for prim in track(list(prims(stage)), message="Looking for dead links"):
        if any(_is_lost(stage, arc) for _, arc in arcs(prim)):
            yield str(prim.GetPath())
        yield from (str(it.GetPath()) for it in prim.GetAuthoredProperties() if _dead(it))


def dead_of(prim: Usd.Prim) -> Iterator[str]:
    """Say of a prim what leads nowhere; files that are not there are told otherwise."""
    for _, arc in arcs(prim):
        if not arc.assetPath and _is_lost(prim.GetStage(), arc):
            yield f"its reference to {arc.primPath}"
    for prop in prim.GetAuthoredProperties():
        yield from (f"{prop.GetName()} leads to {path}" for path in _dead(prop))


def _dead(prop: Usd.Property) -> list[Sdf.Path]:
    return [path for path in targets(prop) if not _is_there(prop.GetStage(), path)]


def _is_there(stage: Usd.Stage, path: Sdf.Path) -> bool:
    every = (stage.GetPrimAtPath(it) for it in reversed(path.GetPrefixes()))
    above = next(filter(None, every), None)
    if above is not None and not (above.IsActive() and above.IsLoaded()):
        return True  # below what is not loaded
    if path.IsPrimPath():
        return bool(stage.GetPrimAtPath(path))
    if Usd.CollectionAPI.IsCollectionAPIPath(path):
        return bool(Usd.CollectionAPI.GetCollection(stage, path))
    return bool(stage.GetPropertyAtPath(path))


def _is_lost(stage: Usd.Stage, arc: Any) -> bool:
    if not arc.assetPath:
        return bool(arc.primPath) and not stage.GetPrimAtPath(arc.primPath)
    layers = stage.GetLayerStack()
    every = (Sdf.ComputeAssetPathRelativeToLayer(it, arc.assetPath) for it in layers)
    return not any(os.path.exists(path) or Sdf.Layer.Find(path) for path in every)


def cut_dead(stage: Usd.Stage, items: Iterable[str]) -> None:
    """Take away what leads nowhere, from what `dead_links` gave."""
    for path in map(Sdf.Path, items):
        prop = None if path.IsPrimPath() else stage.GetPropertyAtPath(path)
        if prop is None:
            _drop_lost(stage.GetPrimAtPath(path))
            continue
        kept = [it for it in targets(prop) if it not in _dead(prop)]
        if isinstance(prop, Usd.Relationship):
            prop.SetTargets(kept)
        elif isinstance(prop, Usd.Attribute):
            prop.SetConnections(kept)


def _drop_lost(prim: Usd.Prim) -> None:
    for _, arc in list(arcs(prim)):
        if _is_lost(prim.GetStage(), arc):
            if isinstance(arc, Sdf.Payload):
                prim.GetPayloads().RemovePayload(arc)
            else:
                prim.GetReferences().RemoveReference(arc)
