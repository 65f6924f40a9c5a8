"""The changes of a scene while a skill's body runs, for the record of the edit. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.spi import Changes, CountChanges

from .prims import READING, tracked
from .views import StageView

SpecsBefore = Callable[[Sdf.Path], list[Any]]  # returns the specs that were at a path
_MAX_COMPARED: Final = 2_000  # prims and properties; with more, a person would wait for the count


@contextmanager
def noting_changes(
    stage: Usd.Stage, held: SpecsBefore, show: Callable[[StageView], object]
) -> Iterator[CountChanges]:
    """Note what becomes of prims and of their properties, and yield the function that counts.

    Of a prim that is deleted and made anew, the properties that it no longer has count as deleted.
    The prim counts as deleted too, unless both happened in one change block. What a layer says of
    itself (its sublayers, frames, units, data) counts as a change of that layer. The count is not
    exact where other files or variants are edited, nor where a layer was edited and nothing of the
    edit is seen.

    Args:
        stage: The scene.
        held: Returns the specs that the layers held at a path before.
        show: Has the stage mute and load what a view does.
    """
    notes = _Notes(stage, held, show)
    stage_listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, notes.note, stage)
    layer_listener = Tf.Notice.RegisterGlobally(Sdf.Notice.LayersDidChange, notes.note_layers)
    try:
        yield notes.count
    finally:
        stage_listener.Revoke()
        layer_listener.Revoke()


class _Notes:
    """Collects what USD's notices say of a scene from a moment on."""

    def __init__(
        self, stage: Usd.Stage, held: SpecsBefore, show: Callable[[StageView], object]
    ) -> None:
        self._stage = stage
        self._held = held
        self._show = show
        self._view_before = StageView.of(stage)
        self._is_counting = False  # what is shown again meanwhile is no change
        self._data_before = _layer_data(stage)
        self._paths_before = _every_path(stage)
        self._layers = set[Sdf.Layer]()  # those that were edited
        self._touched = set[Sdf.Path]()
        self._resynced = set[Sdf.Path]()
        self._deleted = set[Sdf.Path]()
        self._recomposed = set[Sdf.Path]()  # resynced, and not only turned off for a moment
        self._moves: list[tuple[Sdf.Path, Sdf.Path]] = []

    def note(self, notice: Any, _stage: object) -> None:
        """Note what was edited on the stage."""
        if self._is_counting:
            return
        self._touched.update(notice.GetChangedInfoOnlyPaths())
        for path in notice.GetResyncedPaths():
            if path.IsAbsoluteRootOrPrimPath():
                self._resynced.add(path)
            else:
                self._touched.add(path)
            if not _was_off(self._stage, notice, path, self._held):
                self._recomposed.add(path)
            kind, other = notice.GetPrimResyncType(path)
            if kind.name.endswith("Source"):
                self._moves.append((path, other))
            elif kind.name == "Delete":
                self._deleted.add(path)

    def note_layers(self, notice: Any, _sender: object) -> None:
        """Note which layers were edited."""
        self._layers.update(notice.GetLayers())

    def count(self) -> Changes:
        """Return what was created, changed and deleted until now."""
        stage = self._stage
        before = self._paths_before
        now = before
        if self._resynced:  # else the prims are the same
            now = _every_path(stage)
        new = now - before
        stay = before & now
        moved = _follow_moves(self._moves, before - now, new)
        arrived = set(moved.values())
        missing = before - now - moved.keys()
        if missing:
            missing -= self._hidden_paths()
        lost = missing | (self._deleted & stay)
        edited = {path.GetPrimPath() for path in self._touched} | self._recomposed
        changed = (edited & stay) | arrived
        created = sorted(map(str, new - arrived))
        emptied, is_exact = _emptied_properties(self._held, stage, self._touched, self._resynced)
        lost |= {path for path in emptied if path.GetPrimPath() in stay}
        changed_names = sorted(map(str, changed))
        changed_names += _changed_layers(self._data_before, _layer_data(stage))
        is_seen = bool(created or changed_names or lost)
        is_edited = not self._layers.isdisjoint(stage.GetLayerStack(includeSessionLayers=True))
        is_exact = is_exact and (is_seen or not is_edited)
        return Changes(created, changed_names, sorted(map(str, lost)), is_exact)

    def _hidden_paths(self) -> set[Sdf.Path]:
        """Return the prims that are there, if the scene muted and loaded what it did before."""
        view = StageView.of(self._stage)
        if view.shows_as(self._view_before):
            return set()
        self._is_counting = True
        self._show(self._view_before)
        hidden = _every_path(self._stage)
        self._show(view)
        self._is_counting = False
        return hidden


def _follow_moves(
    moves: list[tuple[Sdf.Path, Sdf.Path]], missing: set[Sdf.Path], new: set[Sdf.Path]
) -> dict[Sdf.Path, Sdf.Path]:
    """Return where missing prims are now, for those that are at one of the new paths."""
    if not moves:
        return {}
    places = {path: path for path in missing}
    for old, target in moves:
        for path, place in places.items():
            places[path] = place.ReplacePrefix(old, target)
    return {path: place for path, place in places.items() if place in new}


def _emptied_properties(
    held: SpecsBefore, stage: Usd.Stage, touched: set[Sdf.Path], resynced: set[Sdf.Path]
) -> tuple[set[Sdf.Path], bool]:
    """Return the properties that hold less than before, and whether these are all.

    Args:
        held: Returns the specs that the layers held at a path before.
        stage: The scene.
        touched: The paths of prims and properties of which something was edited.
        resynced: The prims that were composed anew with all below them.
    """
    prims = _first_prims(stage, resynced)
    properties = {path for path in islice(touched, _MAX_COMPARED) if path.IsPrimPropertyPath()}
    for prim in prims:
        for spec in held(prim.GetPath()):
            properties.update(prop.path for prop in spec.properties)
    if len(prims) + max(len(properties), len(touched)) >= _MAX_COMPARED:
        return set(), False
    layers = stage.GetLayerStack(includeSessionLayers=True)
    emptied = set[Sdf.Path]()
    is_exact = True
    for path in properties:
        before = held(path)
        now = _specs_at(layers, path)
        if before:
            if not now or not _facts_of(before) <= _facts_left(stage, path, now):
                emptied.add(path)
        elif not now:  # a property of another file, or in a variant
            is_exact = False
    return emptied, is_exact


def _first_prims(stage: Usd.Stage, roots: set[Sdf.Path]) -> list[Usd.Prim]:
    """List the prims at some paths and below, at most `_MAX_COMPARED` of them."""
    prims: list[Usd.Prim] = []
    for root in Sdf.Path.RemoveDescendentPaths([*roots]):
        prim = stage.GetPrimAtPath(root)
        if prim:
            every = Usd.PrimRange.AllPrims(prim)
            prims += islice(every, _MAX_COMPARED - len(prims))
    return prims


def _specs_at(layers: list[Sdf.Layer], path: Sdf.Path) -> list[Any]:
    specs = (layer.GetObjectAtPath(path) for layer in layers)
    return [spec for spec in specs if spec]


def _facts_of(specs: list[Any]) -> set[object]:
    facts = set[object]()
    for spec in specs:
        facts.update(_facts(spec))
    return facts


def _facts_left(stage: Usd.Stage, path: Sdf.Path, specs: list[Any]) -> set[object]:
    """Return what a property still holds; only its targets where its value is blocked."""
    facts = _facts_of(specs)
    attribute = stage.GetAttributeAtPath(path)
    if attribute and not attribute.HasAuthoredValue():
        return facts & {"targets"}
    return facts


def _facts(spec: Any) -> Iterator[object]:
    """Yield what a property's spec holds: the time of each key, "value", "targets", "spline"."""
    if isinstance(spec, Sdf.RelationshipSpec):
        if spec.targetPathList.GetAppliedItems():
            yield "targets"
        return
    if spec.connectionPathList.GetAppliedItems():
        yield "targets"
    values = {**spec.GetInfo("timeSamples"), "value": spec.default}
    for name, value in values.items():
        if not isinstance(value, Sdf.ValueBlock | None):
            yield name
    if spec.HasSpline():
        yield "spline"


def _layer_data(stage: Usd.Stage) -> dict[Sdf.Layer, dict[str, str]]:
    """Return what each layer of the scene says of itself, by its field."""
    data: dict[Sdf.Layer, dict[str, str]] = {}
    for layer in stage.GetLayerStack(includeSessionLayers=True):
        root = layer.pseudoRoot
        names = [name for name in root.ListInfoKeys() if not name.startswith("subLayer")]
        data[layer] = {name: str(root.GetInfo(name)) for name in names}
        paths: Any = layer.subLayerPaths  # these two are lists; the stubs say otherwise
        offsets: Any = layer.subLayerOffsets
        data[layer]["subLayers"] = str(list(zip(paths, offsets, strict=True)))
    return data


def _changed_layers(
    before: Mapping[Sdf.Layer, Mapping[str, str]], now: Mapping[Sdf.Layer, Mapping[str, str]]
) -> list[str]:
    """Name the layers that say something else of themselves, with the fields."""
    changed = []
    for layer in before.keys() & now.keys():
        old = before[layer]
        new = now[layer]
        fields = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        if fields:
            changed.append(f"layer {layer.GetDisplayName()} ({', '.join(fields)})")
    return sorted(changed)


def _was_off(stage: Usd.Stage, notice: Any, path: Sdf.Path, held: SpecsBefore) -> bool:
    """Return whether a prim was only turned off for a moment, in which children went."""
    if notice.GetChangedFields(path) != ["active"]:
        return False
    for spec in held(path):
        if spec.HasInfo("active"):
            return False
    for layer in stage.GetLayerStack(includeSessionLayers=True):
        spec = layer.GetPrimAtPath(path)
        if spec and spec.HasInfo("active"):
            return False
    return True


def _every_path(stage: Usd.Stage) -> set[Sdf.Path]:
    prims = list(Usd.PrimRange.AllPrims(stage.GetPseudoRoot()))
    return {Usd.Prim.GetPath(prim) for prim in tracked(prims[1:], READING)}
