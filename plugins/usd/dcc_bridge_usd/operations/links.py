"""The links of prims, and the links that lead nowhere. No Qt in here. Main thread."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pxr import Sdf, Usd

from dcc_bridge import track
from dcc_bridge.spi import read_each

from ..views import relative
from .arcs import arcs

_ASSETS: Final = (Sdf.ValueTypeNames.Asset, Sdf.ValueTypeNames.AssetArray)


def targets(prop: Usd.Property) -> list[Sdf.Path]:
    """Return the paths that a relationship or a connection leads to."""
    if isinstance(prop, Usd.Relationship):
        return list(prop.GetTargets())
    if isinstance(prop, Usd.Attribute) and prop.HasAuthoredConnections():
        return list(prop.GetConnections())
    return []


def used(prim: Usd.Prim) -> Iterator[str]:
    """Yield the paths of the prims and files that a prim names."""
    for prop in prim.GetAuthoredProperties():
        for target in targets(prop):
            yield str(target.GetPrimPath())
        if isinstance(prop, Usd.Attribute) and prop.GetTypeName() in _ASSETS:
            yield from _paths(prop)
    for _, arc in arcs(prim):
        yield arc.assetPath or str(arc.primPath)


def files(stage: Usd.Stage) -> Iterator[tuple[str, str, str]]:
    """Yield the files that prims name.

    Yields:
        The prim, its property ("references" or "payloads" for such), and the path as the root layer
        would write it.
    """
    prims = track(list(stage.Traverse()), message="Reading the files")
    for _, named in read_each(prims, _files_of, path_of):
        yield from named


def path_of(prim: Usd.Prim) -> str:
    """Return the path of a prim, which is its item."""
    return str(prim.GetPath())


def _files_of(prim: Usd.Prim) -> list[tuple[str, str, str]]:
    """Return the files that a prim names, as `files` yields them."""
    root = prim.GetStage().GetRootLayer()
    item = path_of(prim)
    named = []
    for spec, arc in arcs(prim):
        if arc.assetPath:
            prop = "payloads" if isinstance(arc, Sdf.Payload) else "references"
            named.append((item, prop, _seen_from(root, spec.layer, arc.assetPath)))
    for attribute in prim.GetAuthoredAttributes():
        if attribute.GetTypeName() in _ASSETS:
            layer = attribute.GetPropertyStack(Usd.TimeCode.EarliestTime())[0].layer
            for path in _paths(attribute):
                named.append((item, attribute.GetName(), _seen_from(root, layer, path)))
    return named


def _paths(attribute: Usd.Attribute) -> Iterator[str]:
    """Yield the paths of files in an attribute."""
    value = attribute.Get(Usd.TimeCode.EarliestTime())
    if not attribute.GetTypeName().isArray:
        value = [value]
    for asset in value or ():
        if asset and asset.path:
            yield asset.path


def _seen_from(root: Sdf.Layer, layer: Sdf.Layer, path: str) -> str:
    """Return a path of a layer as the root layer would write it."""
    if layer == root or not layer.realPath or not root.realPath or not path.startswith("."):
        return path
    file, bracket, inner = path.partition("[")  # of a package: package.usdz[inner.usd]
    whole = layer.ComputeAbsolutePath(file)
    return relative(whole, os.path.dirname(root.realPath)) + bracket + inner


def replace_users(stage: Usd.Stage, replacements: Mapping[str, str]) -> None:
    """Make relationships lead to other prims.

    Args:
        stage: The scene.
        replacements: The new targets, by the old ones.
    """
    for prim in track(list(stage.Traverse()), message="Assigning"):
        for relationship in prim.GetAuthoredRelationships():
            old = [str(target) for target in relationship.GetTargets()]
            new = [replacements.get(path) or path for path in old]
            if new != old:
                relationship.SetTargets(new)


# ---- links that lead nowhere


def dead_links(stage: Usd.Stage) -> Iterator[str]:
    """Yield the properties that lead nowhere, and the prims whose files are lost."""
    prims = track(list(stage.Traverse()), message="Looking for dead links")
    for _, dead in read_each(prims, _dead_links_of, path_of):
        yield from dead


def _dead_links_of(prim: Usd.Prim) -> list[str]:
    """Return the paths of what leads nowhere of one prim, as `dead_links` yields them."""
    dead = []
    if any(_is_lost(prim.GetStage(), arc) for _, arc in arcs(prim)):
        dead.append(path_of(prim))
    for prop in prim.GetAuthoredProperties():
        if _dead_targets(prop):
            dead.append(str(prop.GetPath()))
    return dead


def dead_of(prim: Usd.Prim) -> Iterator[str]:
    """Yield words for what of a prim leads nowhere; missing files are reported elsewhere."""
    for _, arc in arcs(prim):
        if not arc.assetPath and _is_lost(prim.GetStage(), arc):
            yield f"its reference to {arc.primPath}"
    for prop in prim.GetAuthoredProperties():
        for path in _dead_targets(prop):
            yield f"{prop.GetName()} leads to {path}"


def _dead_targets(prop: Usd.Property) -> list[Sdf.Path]:
    return [path for path in targets(prop) if not _is_there(prop.GetStage(), path)]


def _is_there(stage: Usd.Stage, path: Sdf.Path) -> bool:
    """Return whether there is something at a path, or something may be that is not loaded."""
    for prefix in reversed(path.GetPrefixes()):
        prim = stage.GetPrimAtPath(prefix)
        if prim:
            if not prim.IsActive() or not prim.IsLoaded():
                return True
            break
    if path.IsPrimPath():
        return bool(stage.GetPrimAtPath(path))
    if Usd.CollectionAPI.IsCollectionAPIPath(path):
        return bool(Usd.CollectionAPI.GetCollection(stage, path))
    return bool(stage.GetPropertyAtPath(path))


def _is_lost(stage: Usd.Stage, arc: Any) -> bool:
    """Return whether the prim or the file of a reference or payload is not there."""
    if not arc.assetPath:
        return bool(arc.primPath) and not stage.GetPrimAtPath(arc.primPath)
    for layer in stage.GetLayerStack():
        path = Sdf.ComputeAssetPathRelativeToLayer(layer, arc.assetPath)
        if os.path.exists(path) or Sdf.Layer.Find(path):
            return False
    return True


def cut_dead(stage: Usd.Stage, items: Iterable[str]) -> None:
    """Remove the links that lead nowhere.

    Args:
        stage: The scene.
        items: Properties and prims from `dead_links`.
    """
    for item in items:
        path = Sdf.Path(item)
        if path.IsPrimPath():
            _drop_lost(stage.GetPrimAtPath(path))
            continue
        prop = stage.GetPropertyAtPath(path)
        dead = _dead_targets(prop)
        alive = [target for target in targets(prop) if target not in dead]
        if isinstance(prop, Usd.Relationship):
            prop.SetTargets(alive)
        elif isinstance(prop, Usd.Attribute):
            prop.SetConnections(alive)


def _drop_lost(prim: Usd.Prim) -> None:
    """Remove the references and payloads of a prim whose files or prims are not there."""
    for _, arc in list(arcs(prim)):
        if not _is_lost(prim.GetStage(), arc):
            continue
        if isinstance(arc, Sdf.Payload):
            prim.GetPayloads().RemovePayload(arc)
        else:
            prim.GetReferences().RemoveReference(arc)
