"""The references and payloads of prims, as values. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pxr import Sdf, Usd

from ..prims import is_path, prim_at
from ..views import layer_names

ARCS: Final[dict[str, Any]] = {"references": Sdf.Reference, "payloads": Sdf.Payload}
"""The properties, with USD's class for an entry of each."""
_FIELDS: Final = {"references": "references", "payloads": "payload"}
"""USD's own names of the properties."""
_EDITS: Final = (
    "addedItems",
    "prependedItems",
    "appendedItems",
    "deletedItems",
    "orderedItems",
)
"""The edits that a layer makes to the list of weaker layers."""
_FORM: Final = '{"file": "./chair.usda", "prim": "/Chair"}'


class Arc(NamedTuple):
    """A reference or a payload in a layer of the scene.

    Attributes:
        spec: The spec of the prim in its layer.
        entry: The reference or payload.
    """

    spec: Any
    entry: Any


def arcs(prim: Usd.Prim) -> Iterator[Arc]:
    """Yield the references and payloads that the scene's own layers give a prim.

    The strongest of each kind comes first. While edits go into a variant, they are those in it.
    """
    if not prim.HasAuthoredReferences() and not prim.HasAuthoredPayloads():
        return
    yield from composed_arcs(_specs(prim))


def _specs(prim: Usd.Prim) -> list[Any]:
    """Return the specs of a prim in the scene's own layers, or in the variant that is edited."""
    stage = prim.GetStage()
    place = _edited_place(prim)
    own_layers = stage.GetLayerStack()
    return [spec for spec in prim.GetPrimStack() if spec.path == place and spec.layer in own_layers]


def _edited_place(prim: Usd.Prim) -> Sdf.Path:
    """Return the path of the specs of a prim, in a variant where edits go into one."""
    edited = prim.GetStage().GetEditTarget().MapToSpecPath(prim.GetPath())
    return edited if edited.ContainsPrimVariantSelection() else prim.GetPath()


def composed_arcs(specs: Sequence[Any]) -> Iterator[Arc]:
    """Yield the references and payloads of a prim that its specs have together, as USD does.

    Args:
        specs: The specs of the prim at one path, the strongest first.
    """
    for field in _FIELDS.values():
        yield from _composed(specs, field).values()


def _composed(specs: Sequence[Any], field: str) -> dict[Any, Arc]:
    """Return the arcs that specs have together, by the entries as `_anchored` has them."""
    origins: dict[Any, Arc] = {}
    order: list[Any] = []
    for spec in reversed(specs):
        if not spec.HasInfo(field):
            continue
        edits = spec.GetInfo(field)
        for entry in edits.GetAddedOrExplicitItems():
            origins[_anchored(spec.layer, entry)] = Arc(spec, entry)
        order = _anchored_edits(spec.layer, edits).ApplyOperations(order)
    return {entry: origins[entry] for entry in order}


def _anchored_edits(layer: Sdf.Layer, edits: Any) -> Any:
    """Return the edits that a layer makes to a list of entries, each as `_anchored` has it."""
    anchored = type(edits)()
    kinds = ("explicitItems",) if edits.isExplicit else _EDITS
    for kind in kinds:
        entries = getattr(edits, kind)
        setattr(anchored, kind, [_anchored(layer, entry) for entry in entries])
    return anchored


def _anchored(layer: Sdf.Layer, entry: Any) -> Any:
    """Return an entry of a layer with the whole path of its file, by which USD compares entries."""
    file = entry.assetPath
    if file:
        file = Sdf.ComputeAssetPathRelativeToLayer(layer, file)
    if isinstance(entry, Sdf.Payload):
        return Sdf.Payload(file, entry.primPath, entry.layerOffset)
    return Sdf.Reference(file, entry.primPath, entry.layerOffset, entry.customData)


def shown_arcs(arcs: Iterator[Arc], prop: str) -> list[dict[str, str]]:
    """Return the references or the payloads among arcs, each with its file and its prim.

    Args:
        arcs: The arcs.
        prop: One of `ARCS`.
    """
    return [_row(arc.entry) for arc in _of_kind(arcs, prop)]


def _of_kind(arcs: Iterable[Arc], prop: str) -> list[Arc]:
    """Return the references or the payloads among arcs."""
    return [arc for arc in arcs if isinstance(arc.entry, ARCS[prop])]


def _row(entry: Any) -> dict[str, str]:
    """Return the file and the prim of an entry; no file for one in the scene itself."""
    row = {}
    if entry.assetPath:
        row["file"] = str(entry.assetPath)
    if entry.primPath:
        row["prim"] = str(entry.primPath)
    return row


def set_arcs(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Make the references or payloads of a prim those of a list, in its order.

    Only the layer that edits go to is edited: it adds to the entries of weaker layers, removes them
    and orders them. An entry that stays keeps its time offset, and so does one whose file or prim
    is another one now.

    Args:
        prim: The prim.
        prop: One of `ARCS`.
        value: The list: for each the path of a file, or an object with a file and a prim.

    Raises:
        ValueError: An entry does not fit, or another layer holds others.
    """
    if not isinstance(value, list):
        raise ValueError(f"{prop} are a list, of paths of files or of {_FORM}.")
    rows = [_checked(prim, prop, each) for each in value]
    before = _of_kind(arcs(prim), prop)
    old = [_row(arc.entry) for arc in before]
    if old == rows:
        return
    if any(rows.count(row) > max(1, old.count(row)) for row in rows):
        raise ValueError(f"{prop} are named once each, or as often as they are there now.")
    wanted = _wanted(prim, prop, before, rows)
    if len(wanted) < len(rows):
        raise ValueError(f"{prop} name one file in two ways: name it once.")
    _write(prim, prop, wanted)
    now = _of_kind(arcs(prim), prop)
    if [_anchored(arc.spec.layer, arc.entry) for arc in now] != list(wanted):
        raise ValueError(_held(prim, prop, old))


def _wanted(
    prim: Usd.Prim, prop: str, before: Sequence[Arc], rows: Sequence[dict[str, str]]
) -> dict[Any, Arc]:
    """Return the arcs that a prim is to have, by the entries as `_anchored` has them.

    Args:
        prim: The prim.
        prop: One of `ARCS`.
        before: What the prim has.
        rows: What it is to have, each as `_row` has it.
    """
    stage = prim.GetStage()
    spec = Sdf.CreatePrimInLayer(stage.GetEditTarget().GetLayer(), _edited_place(prim))
    leaving = list(before)
    staying: list[Arc | None] = []
    for row in rows:
        same = [arc for arc in leaving if _row(arc.entry) == row]
        staying.append(same[0] if same else None)
        if same:
            leaving.remove(same[0])
    wanted = {}
    for row, stays in zip(rows, staying, strict=True):
        arc = stays
        if arc is None:
            replaced = leaving.pop(0).entry if leaving else None
            arc = Arc(spec, _entry(prop, row, replaced))
        wanted[_anchored(arc.spec.layer, arc.entry)] = arc
    return wanted


def _write(prim: Usd.Prim, prop: str, wanted: Mapping[Any, Arc]) -> None:
    """Edit the list of the edited layer so that a prim has some arcs, as far as that layer can.

    Args:
        prim: The prim.
        prop: One of `ARCS`.
        wanted: The arcs, by the entries as `_anchored` has them.
    """
    field = _FIELDS[prop]
    stage = prim.GetStage()
    layer = stage.GetEditTarget().GetLayer()
    strength = {each: number for number, each in enumerate(stage.GetLayerStack())}
    specs = _specs(prim)
    stronger = [spec for spec in specs if strength[spec.layer] < strength[layer]]
    weaker = [spec for spec in specs if strength[spec.layer] > strength[layer]]
    above = _composed(stronger, field)
    below = _composed(weaker, field)
    own = [key for key in wanted if key not in above]
    kept = [key for key in below if key in own]
    spec = Sdf.CreatePrimInLayer(layer, _edited_place(prim))
    edits = spec.GetInfo(field)
    kind, written = _place_in_list(edits, own, kept)
    new = type(edits)()
    setattr(new, kind, [_entry_in(stage, wanted[key]) for key in written])
    if not edits.isExplicit:
        removed = [_entry_in(stage, arc) for key, arc in below.items() if key not in wanted]
        old = [entry for entry in edits.deletedItems if _anchored(layer, entry) not in wanted]
        new.deletedItems = list(dict.fromkeys([*old, *removed]))
    if new == type(edits)():
        spec.ClearInfo(field)
    else:
        spec.SetInfo(field, new)


def _place_in_list(edits: Any, own: list[Any], kept: list[Any]) -> tuple[str, list[Any]]:
    """Return the kind of edit that brings entries into a list, and the entries that it names.

    Args:
        edits: What the layer does to the list now.
        own: The entries that the list is to have, without those of stronger layers.
        kept: Those of them that weaker layers have, in their order.
    """
    if edits.isExplicit:
        return "explicitItems", own
    is_appending = bool(kept) or (bool(edits.appendedItems) and not edits.prependedItems)
    if is_appending and own[: len(kept)] == kept:
        return "appendedItems", own[len(kept) :]
    first = len(own) - len(kept)
    if own[first:] == kept:
        return "prependedItems", own[:first]
    return "prependedItems", own


def _entry_in(stage: Usd.Stage, arc: Arc) -> Any:
    """Return the entry of an arc for the layer that edits go to.

    Raises:
        ValueError: The same entry would mean something else there.
    """
    layer = stage.GetEditTarget().GetLayer()
    own = arc.spec.layer
    has_other_times = _offset(stage, own) != _offset(stage, layer)
    if has_other_times or _anchored(own, arc.entry) != _anchored(layer, arc.entry):
        names = layer_names(stage)
        raise ValueError(
            f"{arc.entry.assetPath or arc.entry.primPath} is held by {names[own]}, and would not "
            f"be the same in {names[layer]}: they are in other folders, or have other times. Set "
            f"edit_target of @scene to {names[own]} first."
        )
    return arc.entry


def _offset(stage: Usd.Stage, layer: Sdf.Layer) -> Sdf.LayerOffset:
    """Return the time offset that a layer has in the scene."""
    return stage.GetEditTargetForLocalLayer(layer).GetMapFunction().timeOffset


def _held(prim: Usd.Prim, prop: str, old: Any) -> str:
    """Return the sentence that other layers hold the list of a prim."""
    stage = prim.GetStage()
    target = stage.GetEditTarget().GetLayer()
    names = layer_names(stage)
    layers = stage.GetLayerStack()
    stronger = layers[: layers.index(target)]
    holding = [
        names[spec.layer]
        for spec in _specs(prim)
        if spec.layer in stronger and spec.HasInfo(_FIELDS[prop])
    ]
    if not holding:
        return f"{prop} of {prim.GetPath()} are held by another layer: {old}."
    return (
        f"{prop} of {prim.GetPath()} stay {old}: {holding[0]} holds them, which is stronger than "
        f"{names[target]}, the edit_target. Set edit_target of @scene to {holding[0]} first."
    )


def _checked(prim: Usd.Prim, prop: str, value: Any) -> dict[str, str]:
    """Return one entry of a list as `_row` has it."""
    row = {"file": value} if isinstance(value, str) else value
    is_row = isinstance(row, dict) and bool(row) and row.keys() <= {"file", "prim"}
    if not is_row or not all(isinstance(text, str) and text for text in row.values()):
        raise ValueError(f"An entry of {prop} is the path of a file or {_FORM}, not {value!r}.")
    path = row.get("prim", "/")
    if not is_path(path) or not Sdf.Path(path).IsAbsolutePath():
        raise ValueError(f"{path!r} is no path of a prim.")
    if "file" not in row:
        _check_in_scene(prim, path)
    return {name: row[name] for name in ("file", "prim") if name in row}


def _check_in_scene(prim: Usd.Prim, path: str) -> None:
    """Check that a prim of the scene can be referred to by another one of the scene."""
    own = prim.GetPath()
    if prim_at(prim.GetStage(), path) is None:
        raise ValueError(f"There is no prim {path} to refer to.")
    if own.HasPrefix(Sdf.Path(path)) or Sdf.Path(path).HasPrefix(own):
        raise ValueError(f"{own} cannot refer to {path}, which is above it or below it.")


def _entry(prop: str, row: dict[str, str], before: Any = None) -> Any:
    """Return a reference or payload, with the time offset of the one in whose place it comes."""
    file = row.get("file", "")
    path = Sdf.Path(row["prim"]) if "prim" in row else Sdf.Path()
    if before is None:
        return ARCS[prop](file, path)
    if prop == "payloads":
        return Sdf.Payload(file, path, before.layerOffset)
    return Sdf.Reference(file, path, before.layerOffset, before.customData)
