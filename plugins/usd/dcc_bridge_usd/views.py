"""The view of a stage: its edit target, and what of it is muted and loaded. Main thread.

USD keeps none of these in a layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pxr import Sdf, Usd


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


def unloaded_in(rules: Usd.StageLoadRules) -> list[str]:
    """Return the prims whose payloads are not loaded, by their own rule."""
    return [str(path) for path, rule in rules.GetRules() if rule == rules.NoneRule]


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
