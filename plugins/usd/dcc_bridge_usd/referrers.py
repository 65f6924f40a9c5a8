"""The relationships, connections and references that lead to lost prims. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import Any, Final

from pxr import Pcp, Sdf, Usd

from .prims import READING, tracked

_TOP: Final = Sdf.Path.absoluteRootPath
_DIRECT: Final[Any] = Pcp.DependencyTypeAnyNonVirtual  # an int; the stubs say otherwise
_LISTS: Final = (
    ("referenceList", "reference"),
    ("payloadList", "payload"),
    ("inheritPathList", "inherited class"),
    ("specializesList", "specialized class"),
)
KnownTargets = Callable[[Set[Sdf.Path]], Sequence[Sdf.Path]]


def leading_to(
    stage: Usd.Stage, gone: Set[Sdf.Path], known: KnownTargets, referring: Iterable[Sdf.Path]
) -> list[str]:
    """Name what leads to prims or properties, or to what is below them, and stays itself.

    Args:
        stage: The scene.
        gone: The prims and properties that go.
        known: Returns the properties that lead to some paths according to the scene's own layers.
        referring: Prims that may refer to what goes.

    Returns:
        Such as "material:binding of /World/a", "reference of /World/b".
    """
    if not gone:
        return []
    names = dict.fromkeys(_properties(stage, gone, known))
    names |= dict.fromkeys(_arcs(stage, gone, referring))
    return list(names)


def depending(stage: Usd.Stage, paths: Collection[Sdf.Path]) -> Iterator[Sdf.Path]:
    """Yield the prims that refer to some prims, or to what is below them, as USD notes it."""
    cache = stage._GetPcpCache()  # USD's only list of who refers to whom
    for path in paths:
        for site in _dependencies(cache, cache.layerStack, path):
            if site.indexPath != site.sitePath:
                yield Sdf.Path(site.indexPath)


def _dependencies(cache: Any, layer_stack: Any, path: Sdf.Path) -> Any:
    """Return what depends directly on a prim of a layer stack, or on what is below the prim."""
    return cache.FindSiteDependencies(layer_stack, path, _DIRECT, True, False, False)


def _properties(stage: Usd.Stage, gone: Set[Sdf.Path], known: KnownTargets) -> Iterator[str]:
    """Name the properties that lead to what goes."""
    relocated = stage._GetPcpCache().layerStack.relocatesSourceToTarget
    for prop in _at(stage, tracked(known({*gone, *relocated}), READING)):
        if _leads(prop, gone):
            yield from _named(prop, gone)
    roots = []
    for path in Sdf.Path.RemoveDescendentPaths([*_composed(stage)]):
        root = stage.GetPrimAtPath(path)
        if root:
            roots.append(root)
    for root in tracked(roots, READING):
        for prop in _below(root, gone):
            if _leads(prop, gone):
                yield from _named(prop, gone)


def _at(stage: Usd.Stage, paths: Iterable[Sdf.Path]) -> Iterator[Usd.Property]:
    """Yield the properties at paths, except those that an instance hides."""
    for path in paths:
        prim = stage.GetPrimAtPath(path.GetPrimPath())
        if not prim or prim.IsInstanceProxy():
            continue
        prop = prim.GetRelationship(path.name) or prim.GetAttribute(path.name)
        if prop:
            yield prop


def _below(root: Usd.Prim, gone: Set[Sdf.Path]) -> Iterator[Usd.Property]:
    """Yield the properties of a prim and all below it that may lead to what goes."""
    prims = list(Usd.PrimRange.AllPrims(root))
    for prim in prims:
        yield from prim.GetAuthoredRelationships()
    # Of all prims at once, in a fourth of the time that each alone takes; most scenes have few.
    sources = root.FindAllAttributeConnectionPaths(Usd.PrimAllPrimsPredicate)
    if not any(_is_in(path, gone) for path in sources):
        return
    for prim in prims:
        for attribute in prim.GetAuthoredAttributes():
            if attribute.HasAuthoredConnections():
                yield attribute


def _leads(prop: Usd.Property, gone: Set[Sdf.Path]) -> bool:
    if isinstance(prop, Usd.Relationship):
        return any(_is_in(target, gone) for target in prop.GetTargets())
    assert isinstance(prop, Usd.Attribute)
    return any(_is_in(source, gone) for source in prop.GetConnections())


def _composed(stage: Usd.Stage) -> Iterator[Sdf.Path]:
    """Yield the prims that refer to others, or are relocated: they show properties of others."""
    cache = stage._GetPcpCache()
    own = cache.layerStack
    for target in own.relocatesSourceToTarget.values():
        if target:
            yield Sdf.Path(target)
    layer_stacks = set()
    for layer in stage.GetUsedLayers():
        layer_stacks.update(cache.FindAllLayerStacksUsingLayer(layer))
    for layer_stack in layer_stacks:
        for site in _dependencies(cache, layer_stack, _TOP):
            # What is in a variant belongs to the scene's own layers.
            is_own = site.sitePath.StripAllVariantSelections() == site.indexPath
            if layer_stack != own or not is_own:
                yield Sdf.Path(site.indexPath)


def _named(prop: Usd.Property, gone: Set[Sdf.Path]) -> Iterator[str]:
    """Name a property that stays, except where a prim only has it by referring to another."""
    path = prop.GetPath()
    if _is_own(prop, path) and not _is_in(path, gone):
        yield f"{path.name} of {path.GetPrimPath()}"


def _is_own(prop: Usd.Property, path: Sdf.Path) -> bool:
    stack = prop.GetPropertyStack()
    if any(spec.path.StripAllVariantSelections() == path for spec in stack):
        return True
    local = prop.GetStage().GetLayerStack()
    return any(spec.layer not in local for spec in stack)


def _arcs(stage: Usd.Stage, gone: Set[Sdf.Path], referring: Iterable[Sdf.Path]) -> Iterator[str]:
    """Name the references and other arcs that lead to what goes, with their prims."""
    roots = [path for path in referring if path.IsPrimPath() and not _is_in(path, gone)]
    for root in Sdf.Path.RemoveDescendentPaths(roots):
        top = stage.GetPrimAtPath(root)
        if not top:
            continue
        for prim in Usd.PrimRange.AllPrims(top):
            for word in _arc_words(prim, gone):
                yield f"{word} of {prim.GetPath()}"


def _arc_words(prim: Usd.Prim, gone: Set[Sdf.Path]) -> Iterator[str]:
    """Yield the words for the arcs of one prim that lead to what goes."""
    for spec in prim.GetPrimStack():
        if spec.path.StripAllVariantSelections() != prim.GetPath():
            continue
        for name, word in _LISTS:
            arcs: Any = getattr(spec, name).GetAddedOrExplicitItems()
            if any(_is_in(_target(arc), gone) for arc in arcs):
                yield word


def _target(arc: Any) -> Sdf.Path:
    """Return the prim of the scene that an arc leads to; the empty path if it is of a file."""
    if isinstance(arc, Sdf.Path):
        return arc
    if arc.assetPath:
        return Sdf.Path.emptyPath
    return Sdf.Path(arc.primPath)


def _is_in(path: Sdf.Path, gone: Set[Sdf.Path]) -> bool:
    return not gone.isdisjoint(path.GetPrefixes())
