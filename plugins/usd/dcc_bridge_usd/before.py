"""The contents of a scene when an undo step began, and now. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pxr import Ar, Sdf, Usd

from .layer_copies import Followed, LayerChange
from .views import StageView

_TOP: Final = Sdf.Path.absoluteRootPath
Move = tuple[Sdf.Path, Sdf.Path]


class StepNotices(NamedTuple):
    """The notices of USD about an undo step.

    Attributes:
        resynced: The paths of what was made, deleted or composed anew.
        vanished: Those of them at which there was nothing for a moment at least.
        moves: The old and new paths of prims that were renamed or put below others, in this order.
        blocks: The paths of each notice that named several: what was edited as one.
    """

    resynced: frozenset[Sdf.Path] = frozenset()
    vanished: frozenset[Sdf.Path] = frozenset()
    moves: tuple[Move, ...] = ()
    blocks: tuple[tuple[Sdf.Path, ...], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One entry of the undo stack.

    Attributes:
        label: What the person reads in the Edit menu.
        changes: What became of layers, in this order.
        redo: The steps that could be redone before this step.
        notices: What USD said of the step.
        views: The views of the stage before and after it; none if it set none.
    """

    label: str
    changes: tuple[LayerChange, ...]
    redo: tuple[Step, ...]
    notices: StepNotices
    views: tuple[StageView, ...] = ()


class Before(NamedTuple):
    """The contents of layers before the newest changes.

    Attributes:
        layers: The layers.
        changes: The changes, in their order.
    """

    layers: Iterable[Followed]
    changes: Sequence[LayerChange]

    def specs(self, path: Sdf.Path) -> Iterator[Any]:
        """Yield what the layers held at a path, in the order of the layers."""
        for followed in self.layers:
            content = followed.mirror.content
            for change in self.changes:
                if change.followed is followed and change.covers(path):
                    content = change.held.content
                    break
            spec = spec_at(content, path)
            if spec:
                yield spec

    def own_fields(self, followed: Followed) -> dict[str, Any]:
        """Return the metadata that a layer had."""
        fields = own_fields(followed.mirror.content)
        for change in reversed(self.changes):
            if change.followed is not followed:
                continue
            held = own_fields(change.held.content)
            if change.places is None:
                fields = held
                continue
            for name in change.places.frames:
                fields.pop(name, None)
                if name in held:
                    fields[name] = held[name]
        return fields


class Scene:
    """The scene as it was when a step began, beside what it is now.

    Attributes:
        stage: The stage of now.
        layers_before: The layers that the scene had, the strongest first.
        layers_now: The layers that the scene has, in the same order, muted layers included.
        before: What `layers_before` held.
        stayed: What those of them held that are in the scene still.
    """

    def __init__(
        self,
        stage: Usd.Stage,
        followed: Mapping[Sdf.Layer, Followed],
        changes: Sequence[LayerChange],
    ) -> None:
        """Find the layers.

        Args:
            stage: The stage of now.
            followed: All layers that the scene ever had.
            changes: The changes of the step.
        """
        self.stage = stage
        every = Before(followed.values(), changes)
        tops = [stage.GetSessionLayer(), stage.GetRootLayer()]

        def sublayers_before(layer: Sdf.Layer) -> Iterable[str]:
            return list(every.own_fields(followed[layer]).get("subLayers", ()))

        def sublayers_now(layer: Sdf.Layer) -> Iterable[str]:
            paths: Any = layer.subLayerPaths  # a list; the stubs say otherwise
            return list(paths)

        self.layers_before = [followed[layer] for layer in _walk(tops, followed, sublayers_before)]
        self.layers_now = list(_walk(tops, followed, sublayers_now))
        self.before = Before(self.layers_before, changes)
        stayed = [each for each in self.layers_before if each.layer in self.layers_now]
        self.stayed = Before(stayed, changes)

    def specs_before(self, path: Sdf.Path) -> list[Any]:
        """List what the layers held at a path, the strongest first."""
        return list(self.before.specs(path))

    def specs_now(self, path: Sdf.Path) -> list[Any]:
        """List what the layers hold at a path, the strongest first."""
        specs = (spec_at(layer, path) for layer in self.layers_now)
        return [spec for spec in specs if spec]

    def file_before(self, asset_path: str) -> str:
        """Return the file that an asset path led to from one of the layers; "" if from none."""
        resolver = Ar.GetResolver()
        for followed in self.layers_before:
            anchored = Sdf.ComputeAssetPathRelativeToLayer(followed.layer, asset_path)
            file = str(resolver.Resolve(anchored))
            if file:
                return file
            if Sdf.Layer.Find(anchored):  # it is in memory only
                return anchored
        return ""


def spec_at(layer: Sdf.Layer, path: Sdf.Path) -> Any:
    """Return what a layer holds at a path; of a variant, the prim in it."""
    if path.IsPrimVariantSelectionPath():
        return layer.GetPrimAtPath(path)
    return layer.GetObjectAtPath(path)


def _walk(
    layers: Iterable[Sdf.Layer | None],
    followed: Mapping[Sdf.Layer, Followed],
    sublayers: Callable[[Sdf.Layer], Iterable[str]],
) -> Iterator[Sdf.Layer]:
    """Yield layers, each with the layers below it, and none twice."""
    seen = set[Sdf.Layer]()
    left = list(layers)
    while left:
        layer = left.pop(0)
        if layer is None or layer in seen or layer not in followed:
            continue
        seen.add(layer)
        yield layer
        left[:0] = [Sdf.Layer.FindRelativeToLayer(layer, path) for path in sublayers(layer)]


def own_fields(layer: Sdf.Layer) -> dict[str, Any]:
    """Return the metadata that a layer has now."""
    root = layer.pseudoRoot
    names = [name for name in root.ListInfoKeys() if name != "subLayerOffsets"]  # no Python type
    return {name: root.GetInfo(name) for name in names}
