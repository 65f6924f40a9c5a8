"""What an undo step deleted: what layers held before, and the scene shows no more. Main thread."""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Any, Final

from pxr import Sdf, Usd

from .layer_copies import Before, below
from .prims import CHECKING, child_names, is_path, tracked

_TOP: Final = Sdf.Path.absoluteRootPath


def lost(stage: Usd.Stage, resynced: Set[Sdf.Path], before: Before, agreed: Set[str]) -> list[str]:
    """List the prims and properties that the newest step deleted.

    Args:
        stage: The scene.
        resynced: The paths of what was made, deleted or composed anew in the step.
        before: What the layers held before the step.
        agreed: Items; they and what is below them are left out.
    """
    layers = stage.GetLayerStack(includeSessionLayers=True)
    contents = [it.mirror.content for it in before.layers]
    contents += [change.held.content for change in before.changes]
    gone, others = _gone(resynced, [stage, *layers], before, contents, agreed)
    gone |= _relocated(layers) - _relocated(before.whole_layers())  # renamed in a reference
    every = tracked([it for it in others if it.IsPrimPath()], CHECKING)
    gone |= {it for it in every if _is_gone(it, stage, layers, before)}
    # A prim takes its properties along.
    left = [it for it in others if it.IsPrimPropertyPath() and it.GetPrimPath() not in gone]
    gone |= {it for it in tracked(left, CHECKING) if _is_gone(it, stage, layers, before)}
    covered = {Sdf.Path(item) for item in agreed if is_path(item)}
    if gone and covered:
        every = tracked(list(gone), CHECKING)
        gone = {it for it in every if covered.isdisjoint((_TOP, *it.GetPrefixes()))}
    return sorted(map(str, gone))


def _gone(
    resynced: Set[Sdf.Path],
    holders: list[Any],
    before: Before,
    contents: list[Sdf.Layer],
    agreed: Set[str],
) -> tuple[set[Sdf.Path], Collection[Sdf.Path]]:
    """Return the prims that no holder has, and what else may be gone, but for what is agreed."""

    def is_held(path: Sdf.Path) -> bool:
        return any(it.GetPrimAtPath(path) for it in holders)

    gone = set[Sdf.Path]()
    others = dict.fromkeys(resynced)  # what is referenced may be in no layer of these
    for root in tracked(Sdf.Path.RemoveDescendentPaths(list(resynced)), CHECKING):
        tops = [root]
        if is_held(root):
            own, tops = _split(contents, root, agreed)
            others |= dict.fromkeys(own)
        for top in tracked(tops, CHECKING):
            if is_held(top):
                for content in contents:
                    others |= dict.fromkeys(below(content, top))
            else:
                for spec in before.specs(top):
                    gone.update(filter(Sdf.Path.IsPrimPath, below(spec.layer, top)))
    return gone, others


def _is_gone(path: Sdf.Path, stage: Usd.Stage, layers: list[Sdf.Layer], before: Before) -> bool:
    prim = path.IsPrimPath() and stage.GetPrimAtPath(path)
    if prim:
        return _is_hidden(prim, list(before.specs(path)))
    prop = path.IsPropertyPath() and stage.GetPropertyAtPath(path)
    if prop and prop.IsAuthored():  # one of the prim's schema is there without it, too
        return False
    is_held = any(it.GetObjectAtPath(path) for it in layers)
    return not is_held and any(before.specs(path))


def _split(
    contents: list[Sdf.Layer], root: Sdf.Path, agreed: Set[str]
) -> tuple[list[Sdf.Path], list[Sdf.Path]]:
    """List what layers hold at a path, and those of its children that are not agreed."""
    own: list[Sdf.Path] = []
    names: dict[str, None] = {}
    for content in contents:
        prim: Any = content.GetPrimAtPath(root)
        if prim and prim.variantSets:
            own += below(content, root)
        elif prim:
            own += [root, *(prop.path for prop in prim.properties)]
            names |= dict.fromkeys(child_names(content, root))
    above = str(root).rstrip("/")
    return own, [root.AppendChild(name) for name in names if f"{above}/{name}" not in agreed]


def _is_hidden(prim: Usd.Prim, before: list[Any]) -> bool:
    """Return whether a prim is hidden, or refers to nothing, and was not and did before.

    What is referenced is deleted by hiding it, or all at once with what refers to it.
    """
    if not prim.IsActive():
        return not any(spec.HasInfo("active") and not spec.active for spec in before)
    referred = any(spec.hasReferences or spec.hasPayloads for spec in before)
    return referred and not (prim.HasAuthoredReferences() or prim.HasAuthoredPayloads())


def _relocated(layers: list[Sdf.Layer]) -> set[Sdf.Path]:
    return {source for layer in layers for source, _ in layer.relocates}
