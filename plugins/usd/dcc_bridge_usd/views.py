"""The view of a stage: its edit target, and what of it is muted and loaded. Main thread.

USD keeps none of these in a layer.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from pxr import Sdf, Usd

from .prims import branch


class StageView(NamedTuple):
    """The view of a stage at one moment.

    Attributes:
        target: Where edits go.
        muted: The identifiers of the layers that are muted.
        rules: What is loaded.
    """

    target: Usd.EditTarget
    muted: frozenset[str]
    rules: Usd.StageLoadRules

    @classmethod
    def of(cls, stage: Usd.Stage) -> StageView:
        """Return the view of a stage as it is now."""
        return cls(stage.GetEditTarget(), frozenset(stage.GetMutedLayers()), stage.GetLoadRules())

    def shows_as(self, other: StageView) -> bool:
        """Return whether another view mutes and loads the same."""
        return self[1:] == other[1:]

    def show(self, stage: Usd.Stage) -> None:
        """Mute and load what this view does, and nothing else."""
        muted = frozenset(stage.GetMutedLayers())
        if muted != self.muted:
            stage.MuteAndUnmuteLayers(sorted(self.muted - muted), sorted(muted - self.muted))
        if stage.GetLoadRules() != self.rules:
            stage.SetLoadRules(self.rules)

    def restore(self, stage: Usd.Stage, since: StageView) -> None:
        """Put back what of this view another view, of a later moment, has otherwise.

        Args:
            stage: The stage.
            since: The other view.
        """
        now = StageView.of(stage)
        if since.muted != self.muted:
            now = now._replace(muted=self.muted)
        if since.rules != self.rules:
            now = now._replace(rules=self.rules)
        now.show(stage)
        if since.target == self.target:
            return
        stage.SetEditTarget(stage.GetRootLayer())  # another one after a save as
        if self.target.GetLayer() in stage.GetLayerStack():
            stage.SetEditTarget(self.target)


def sublayers_in(layer: Sdf.Layer) -> list[Sdf.Layer]:
    """Return the layers below a layer, also those that are muted."""
    found: dict[Sdf.Layer, None] = {}
    left = [layer]
    while left:
        above = left.pop(0)
        paths: Any = above.subLayerPaths  # a list; the stubs say otherwise
        below = [Sdf.Layer.FindRelativeToLayer(above, path) for path in paths]
        new = [each for each in below if each and each not in found]
        found |= dict.fromkeys(new)
        left[:0] = new
    return list(found)


def layer_names(stage: Usd.Stage) -> dict[Sdf.Layer, str]:
    """Return the names of a scene's own layers, each of which stands for one layer alone.

    A layer that shares its name with another one is called by its path as the root layer has it.
    """
    root = stage.GetRootLayer()
    layers = dict.fromkeys([stage.GetSessionLayer(), root, *sublayers_in(root)])
    names = {layer: str(layer.GetDisplayName()) for layer in layers if layer}
    counts = Counter(names.values())
    shared = [layer for layer, name in names.items() if counts[name] > 1]
    if shared:
        names |= {layer: _path_below(root, layer) for layer in shared}
    return names


def names_of_muted(stage: Usd.Stage, identifiers: Iterable[str]) -> list[str]:
    """Return the names of muted layers, by their identifiers."""
    known = {layer.identifier: name for layer, name in layer_names(stage).items()}
    names = []
    for identifier in identifiers:
        names.append(known.get(identifier) or Sdf.Layer.GetDisplayNameFromIdentifier(identifier))
    return sorted(names)


def _path_below(root: Sdf.Layer, layer: Sdf.Layer) -> str:
    """Return the path of a layer as the root layer has it, or would have it."""
    paths: Any = root.subLayerPaths
    for path in paths:
        if Sdf.Layer.FindRelativeToLayer(root, path) == layer:
            return str(path)
    if not layer.realPath or not root.realPath:
        return str(layer.identifier)
    return relative(layer.realPath, os.path.dirname(root.realPath))


def relative(path: str, folder: str) -> str:
    """Return an absolute path as seen from a folder, where that is possible."""
    try:
        seen = os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return path
    return seen if seen.startswith("..") else f"./{seen}"


def unloaded_in(rules: Usd.StageLoadRules) -> list[str]:
    """Return the prims whose payloads are not loaded, by their own rule."""
    return [str(path) for path, rule in rules.GetRules() if rule == rules.NoneRule]


def moved_rules(stage: Usd.Stage, old: Sdf.Path, new: Sdf.Path) -> Usd.StageLoadRules:
    """Return the load rules of a stage, by which a moved prim is loaded as it was before.

    Args:
        stage: The stage, before the move.
        old: The old path of the prim.
        new: Its new path.
    """
    rules = stage.GetLoadRules()
    moved = Usd.StageLoadRules()
    for path, rule in rules.GetRules():
        moved.AddRule(path.ReplacePrefix(old, new), rule)
    for prim in branch(stage.GetPrimAtPath(old)):
        path = prim.GetPath().ReplacePrefix(old, new)
        is_unloaded = prim.HasAuthoredPayloads() and not prim.IsLoaded()
        if is_unloaded and moved.IsLoaded(path):  # a prim above its old path was unloaded
            moved.AddRule(path, rules.NoneRule)
    return moved


def with_loaded(
    rules: Usd.StageLoadRules, path: Sdf.Path, *, is_loaded: bool
) -> Usd.StageLoadRules:
    """Return rules by which a prim is loaded with all below it, or is not."""
    others = [(place, rule) for place, rule in rules.GetRules() if not place.HasPrefix(path)]
    new = Usd.StageLoadRules()
    new.SetRules(others)
    if not is_loaded:
        new.Unload(path)
    elif not new.IsLoaded(path):
        new.LoadWithDescendants(path)
    return new
