"""What becomes of a scene while a skill's body runs. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.spi import Changes, CountChanges

from .prims import READING, tracked

Held = Callable[[Sdf.Path], list[Any]]  # the specs at a path
_COMPARED: Final = 2_000  # with more prims and properties nobody waits for what they held


@contextmanager
def noting_changes(stage: Usd.Stage, held: Held) -> Iterator[CountChanges]:
    """Note what becomes of prims and of what layers `held` in their properties.

    Of a prim that is deleted and made anew, what it no longer has counts as deleted; the prim too,
    where that is no single change block. What a layer says of itself (its sublayers, frames, units,
    data) counts as a change of that layer. It is not exact where other files or variants are
    edited, nor where a layer was and nothing of that is to be seen.
    """
    own = _own_data(stage)
    layers = set[Sdf.Layer]()
    before, touched, resynced = _every_path(stage), set[Sdf.Path](), set[Sdf.Path]()
    gone, whole, moves = set[Sdf.Path](), set[Sdf.Path](), list[tuple[Sdf.Path, Sdf.Path]]()

    def note(notice: Any, _stage: object) -> None:
        touched.update(notice.GetChangedInfoOnlyPaths())
        for path in notice.GetResyncedPaths():
            (resynced if path.IsAbsoluteRootOrPrimPath() else touched).add(path)
            whole.update([] if _was_off(stage, notice, path, held) else [path])
            kind, other = notice.GetPrimResyncType(path)
            if kind.name.endswith("Source"):
                moves.append((path, other))
            elif kind.name == "Delete":
                gone.add(path)

    def note_layers(notice: Any, _sender: object) -> None:
        layers.update(notice.GetLayers())

    def count() -> Changes:
        now = _every_path(stage) if resynced else before  # else there are the same prims
        missing, new = before - now, now - before
        moved = {it: it for it in missing} if moves else {}
        for old, path in moves:
            moved = {it: at.ReplacePrefix(old, path) for it, at in moved.items()}
        moved = {it: at for it, at in moved.items() if at in new}
        lost = (missing - moved.keys()) | (gone & before & now)
        stay = before & now
        changed = (({it.GetPrimPath() for it in touched} | whole) & stay) | {*moved.values()}
        created = sorted(map(str, new - {*moved.values()}))
        less, is_exact = _less_than(held, stage, touched, resynced)
        lost |= {it for it in less if it.GetPrimPath() in stay}
        told = [*sorted(map(str, changed)), *_changed_layers(own, _own_data(stage))]
        is_seen = bool(created or told or lost)
        is_edited = not layers.isdisjoint(stage.GetLayerStack(includeSessionLayers=True))
        is_exact = is_exact and (is_seen or not is_edited)
        return Changes(created, told, sorted(map(str, lost)), is_exact)

    listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, note, stage)
    of_layers = Tf.Notice.RegisterGlobally(Sdf.Notice.LayersDidChange, note_layers)
    try:
        yield count
    finally:
        listener.Revoke()
        of_layers.Revoke()


def _less_than(
    held: Held, stage: Usd.Stage, touched: set[Sdf.Path], resynced: set[Sdf.Path]
) -> tuple[set[Sdf.Path], bool]:
    """Give the properties that hold less than they `held`, and whether these are all."""
    tops = filter(None, map(stage.GetPrimAtPath, Sdf.Path.RemoveDescendentPaths([*resynced])))
    every = list(islice(chain.from_iterable(map(Usd.PrimRange.AllPrims, tops)), _COMPARED))
    props = {
        prop.path for it in every for spec in held(Usd.Prim.GetPath(it)) for prop in spec.properties
    }
    props |= {it for it in islice(touched, _COMPARED) if it.IsPrimPropertyPath()}
    if len(every) + max(len(props), len(touched)) >= _COMPARED:
        return set(), False
    layers = stage.GetLayerStack(includeSessionLayers=True)
    less, is_exact = set[Sdf.Path](), True
    for path in props:
        before, now = held(path), list(filter(None, (it.GetObjectAtPath(path) for it in layers)))
        is_hidden = (it := stage.GetAttributeAtPath(path)) and not it.HasAuthoredValue()
        kept = {it for spec in now for it in _facts(spec) if not is_hidden or it == "targets"}
        if before and not (now and kept.issuperset(it for spec in before for it in _facts(spec))):
            less.add(path)
        is_exact = is_exact and bool(before or now)  # else it is of another file, or a variant
    return less, is_exact


def _facts(spec: Any) -> Iterator[object]:
    """Name what a property holds: each frame with a key, a value, targets."""
    is_attribute = isinstance(spec, Sdf.AttributeSpec)
    if (spec.connectionPathList if is_attribute else spec.targetPathList).GetAppliedItems():
        yield "targets"
    if is_attribute:
        values = {**spec.GetInfo("timeSamples"), "value": spec.default}
        yield from (it for it, v in values.items() if not isinstance(v, Sdf.ValueBlock | None))
        yield from ["spline"] * spec.HasSpline()


def _own_data(stage: Usd.Stage) -> dict[Sdf.Layer, dict[str, str]]:
    """Return what each layer of the scene says of itself, by its field."""
    data: dict[Sdf.Layer, dict[str, str]] = {}
    for layer in stage.GetLayerStack(includeSessionLayers=True):
        root = layer.pseudoRoot
        plain = [name for name in root.ListInfoKeys() if not name.startswith("subLayer")]
        data[layer] = {name: str(root.GetInfo(name)) for name in plain}
        below: Any = layer.subLayerPaths, layer.subLayerOffsets  # lists; the stubs say otherwise
        data[layer]["subLayers"] = str([*zip(*below, strict=True)])
    return data


def _changed_layers(
    before: Mapping[Sdf.Layer, Mapping[str, str]], now: Mapping[Sdf.Layer, Mapping[str, str]]
) -> list[str]:
    """Name the layers that say something else of themselves, with the fields."""
    told = []
    for layer in before.keys() & now.keys():
        old, new = before[layer], now[layer]
        fields = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        if fields:
            told.append(f"layer {layer.GetDisplayName()} ({', '.join(fields)})")
    return sorted(told)


def _was_off(stage: Usd.Stage, notice: Any, path: Sdf.Path, held: Held) -> bool:
    """Whether a prim was only hidden for a moment, in which children went."""
    if notice.GetChangedFields(path) != ["active"]:
        return False
    now = (it.GetPrimAtPath(path) for it in stage.GetLayerStack(includeSessionLayers=True))
    return not any(spec.HasInfo("active") for spec in (*held(path), *filter(None, now)))


def _every_path(stage: Usd.Stage) -> set[Sdf.Path]:
    every = list(Usd.PrimRange.AllPrims(stage.GetPseudoRoot()))
    return {Usd.Prim.GetPath(prim) for prim in tracked(every[1:], READING)}
