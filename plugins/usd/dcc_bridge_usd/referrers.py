"""Who leads to what goes: relationships, connections, references. Main thread."""

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
Known = Callable[[Set[Sdf.Path]], Sequence[Sdf.Path]]


def leading_to(
    stage: Usd.Stage, gone: Set[Sdf.Path], known: Known, referring: Iterable[Sdf.Path]
) -> list[str]:
    """Name what leads to prims or properties, or to what is below them, and stays itself.

    Args:
        stage: The scene.
        gone: What is led to.
        known: Gives the properties that lead to some paths by what the scene's own layers say.
        referring: Prims that may refer to it or to what is in it.

    Returns:
        Such as "material:binding of /World/a", "reference of /World/b".
    """
    if not gone:
        return []
    found = dict.fromkeys(_properties(stage, gone, known))
    found |= dict.fromkeys(_arcs(stage, gone, referring))
    return list(found)


def depending(stage: Usd.Stage, paths: Collection[Sdf.Path]) -> Iterator[Sdf.Path]:
    """Yield the prims that refer to some, or to what is below them, as USD notes it itself."""
    cache = stage._GetPcpCache()  # USD's only list of who refers to whom
    for path in paths:
        found = cache.FindSiteDependencies(cache.layerStack, path, _DIRECT, True, False, False)
        yield from (Sdf.Path(it.indexPath) for it in found if it.indexPath != it.sitePath)


def _properties(stage: Usd.Stage, gone: Set[Sdf.Path], known: Known) -> Iterator[str]:
    """Name the properties that lead there."""
    relocated = stage._GetPcpCache().layerStack.relocatesSourceToTarget
    for prop in _at(stage, tracked(known({*gone, *relocated}), READING)):
        if _leads(prop, gone):
            yield from _named(prop, gone)
    roots = list(map(stage.GetPrimAtPath, Sdf.Path.RemoveDescendentPaths([*_composed(stage)])))
    for root in tracked(list(filter(None, roots)), READING):
        for prop in _below(root, gone):
            if _leads(prop, gone):
                yield from _named(prop, gone)


def _at(stage: Usd.Stage, paths: Iterable[Sdf.Path]) -> Iterator[Usd.Property]:
    """Yield the properties at paths, but not those that an instance hides."""
    for path in paths:
        prim = stage.GetPrimAtPath(path.GetPrimPath())
        if not prim or prim.IsInstanceProxy():
            continue
        found = prim.GetRelationship(path.name) or prim.GetAttribute(path.name)
        if found:
            yield found


def _below(root: Usd.Prim, gone: Set[Sdf.Path]) -> Iterator[Usd.Property]:
    """Yield the properties that may lead there, of a prim and all below it."""
    every = list(Usd.PrimRange.AllPrims(root))
    for prim in every:
        yield from prim.GetAuthoredRelationships()
    # of all prims at once, in a fourth of the time that each alone takes; most scenes have few
    sources = root.FindAllAttributeConnectionPaths(Usd.PrimAllPrimsPredicate)
    if any(_is_in(path, gone) for path in sources):
        for prim in every:
            yield from filter(Usd.Attribute.HasAuthoredConnections, prim.GetAuthoredAttributes())


def _leads(prop: Usd.Property, gone: Set[Sdf.Path]) -> bool:
    if isinstance(prop, Usd.Relationship):
        return any(_is_in(target, gone) for target in prop.GetTargets())
    assert isinstance(prop, Usd.Attribute)
    return any(_is_in(source, gone) for source in prop.GetConnections())


def _composed(stage: Usd.Stage) -> Iterator[Sdf.Path]:
    """Yield the prims that refer to others, or are put elsewhere: they show what is of these."""
    cache = stage._GetPcpCache()
    own = cache.layerStack
    yield from (Sdf.Path(target) for target in own.relocatesSourceToTarget.values() if target)
    used = (cache.FindAllLayerStacksUsingLayer(layer) for layer in stage.GetUsedLayers())
    for stack in {it for stacks in used for it in stacks}:
        for it in cache.FindSiteDependencies(stack, _TOP, _DIRECT, True, False, False):
            # what is in a variant is of the scene's layers
            if stack != own or it.sitePath.StripAllVariantSelections() != it.indexPath:
                yield Sdf.Path(it.indexPath)


def _named(prop: Usd.Property, gone: Set[Sdf.Path]) -> Iterator[str]:
    """Name a property that stays, but not where a prim only has it by referring to another."""
    path = prop.GetPath()
    if _is_own(prop, path) and not _is_in(path, gone):
        yield f"{path.name} of {path.GetPrimPath()}"


def _is_own(prop: Usd.Property, path: Sdf.Path) -> bool:
    stack = prop.GetPropertyStack()
    if any(it.path.StripAllVariantSelections() == path for it in stack):
        return True
    local = prop.GetStage().GetLayerStack()
    return any(it.layer not in local for it in stack)


def _arcs(stage: Usd.Stage, gone: Set[Sdf.Path], referring: Iterable[Sdf.Path]) -> Iterator[str]:
    roots = [it for it in referring if it.IsPrimPath() and not _is_in(it, gone)]
    for root in Sdf.Path.RemoveDescendentPaths(roots):
        prim = stage.GetPrimAtPath(root)
        for each in Usd.PrimRange.AllPrims(prim) if prim else ():
            for word in _words(each, gone):
                yield f"{word} of {each.GetPath()}"


def _words(prim: Usd.Prim, gone: Set[Sdf.Path]) -> Iterator[str]:
    """Yield by what a prim refers to something."""
    for spec in prim.GetPrimStack():
        if spec.path.StripAllVariantSelections() != prim.GetPath():
            continue
        for name, word in _LISTS:
            listed: Any = getattr(spec, name).GetAddedOrExplicitItems()
            if any(_is_in(target, gone) for target in map(_target, listed)):
                yield word


def _target(arc: Any) -> Sdf.Path:
    """Return the prim of the scene that an arc leads to; the empty path if it is of a file."""
    if isinstance(arc, Sdf.Path):
        return arc
    return Sdf.Path.emptyPath if arc.assetPath else Sdf.Path(arc.primPath)


def _is_in(path: Sdf.Path, gone: Set[Sdf.Path]) -> bool:
    return not gone.isdisjoint(path.GetPrefixes())
