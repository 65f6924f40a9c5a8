"""The account of an undo step, from its changes: what is different in the scene. Main thread.

The changes of a step hold what the layers had at the edited places, so nothing else is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, Final

from pxr import Sdf, Usd

from dcc_bridge.spi import SCENE, Account, name_change, value_change

from .before import Move, Scene, own_fields
from .coercion import plain
from .layer_copies import LayerChange
from .places import below
from .prims import child_names
from .variants import contents, variant_paths
from .views import StageView, layer_names, names_of_muted, unloaded_in

_MAX_READ: Final = 25  # places whose values are read; an answer names 20 at most
_MAX_COUNTED: Final = 10_000  # prims below a new one
_MAX_COMPARED_BYTES: Final = 2_500_000  # of a layer that is compared whole, 10,000 specs
_MAX_ELEMENTS: Final = 8  # of an array that is told whole
_TOP: Final = Sdf.Path.absoluteRootPath
_STRUCTURE: Final = {"specifier", "typeName", "properties", "primChildren", "variantSetChildren"}
"""The fields of a prim's spec that are told otherwise, or say nothing."""
_NAMES: Final = {
    "assetInfo": "asset_info",
    "customData": "custom_data",
    "defaultPrim": "default_prim",
    "payload": "payloads",
    "subLayers": "sublayers",
    "variantSetNames": "variant sets",
}
"""The names that `inspect` has for fields."""
_OF_CONTEXT: Final = {"subLayerOffsets", "primChildren", "primOrder"}


def account_of(scene: Scene, changes: Sequence[LayerChange], moves: Sequence[Move]) -> Account:
    """Return what is different in a scene after some changes.

    Args:
        scene: The scene before the changes and now.
        changes: The changes of the layers.
        moves: The old and new paths of prims that were renamed or put below others.
    """
    roots = _roots(changes)
    origins = dict(_origins(scene, moves, roots))
    left = set(origins.values())
    told = _Told()
    told.changed += [f"layer {name}" for name in _layers_below(scene.stage, changes)]
    told.changed += [name_change(str(old), str(new)) for new, old in origins.items()]
    places = _places(changes, roots, left | origins.keys()) | _places_of_new_layers(scene)
    for path in sorted(places):
        before = [] if path in left else scene.specs_before(path)
        now = [] if path in origins else scene.specs_now(path)
        is_gone = _defines(before) or not scene.stage.GetPrimAtPath(path)
        if before and not now and is_gone:  # else a referenced file still has it
            told.deleted.append(_with_number(path, _count_below(before, left)))
        elif now and not before and _defines(now):
            told.created.append(_with_below(scene.stage, path))
        elif now or before:  # else it was moved, or made and deleted again
            told.note_root(scene, path)
    told.changed += _property_edits(scene, changes)
    told.changed += _layer_edits(scene, changes)
    return Account(told.created, told.changed, told.deleted)


def view_edits(stage: Usd.Stage, before: StageView, now: StageView) -> Iterator[str]:
    """Yield what a step changed of the edit target, of what is muted and of what is loaded."""
    if before.target != now.target:
        old = _layer_name(stage, before.target.GetLayer())
        new = _layer_name(stage, now.target.GetLayer())
        yield value_change(SCENE, "edit_target", old, new)
    if before.muted != now.muted:
        muted = names_of_muted(stage, before.muted)
        yield value_change(SCENE, "muted_layers", muted, names_of_muted(stage, now.muted))
    if before.rules != now.rules:
        unloaded = unloaded_in(before.rules)
        yield value_change(SCENE, "unloaded", unloaded, unloaded_in(now.rules))


def _layer_name(stage: Usd.Stage, layer: Sdf.Layer) -> str:
    return layer_names(stage).get(layer) or str(layer.GetDisplayName())


def _layers_below(stage: Usd.Stage, changes: Iterable[LayerChange]) -> Iterator[str]:
    """Yield the names of the edited layers, without the scene's own and the session layer."""
    for layer in dict.fromkeys(change.followed.layer for change in changes):
        if layer not in (stage.GetRootLayer(), stage.GetSessionLayer()):
            yield _layer_name(stage, layer)


class _Told:
    """The differences in a scene.

    Attributes:
        created: What is new.
        changed: What has another value, or another name.
        deleted: What is gone.
    """

    def __init__(self) -> None:
        self.created: list[str] = []
        self.changed: list[str] = []
        self.deleted: list[str] = []

    def note_root(self, scene: Scene, path: Sdf.Path) -> None:
        """Note what is different in a prim, or that something below it is.

        Args:
            scene: The scene before the step and now.
            path: The path of the prim.
        """
        if len(self.changed) >= _MAX_READ:
            self.changed.append(str(path))
            return
        count = self._count()
        self.note(scene, path)
        if self._count() == count:
            self.changed.append(f"{path}, below it")

    def _count(self) -> int:
        return len(self.created) + len(self.changed) + len(self.deleted)

    def note(self, scene: Scene, path: Sdf.Path) -> None:
        """Note what is different in a prim itself, and in a variant or a prim in one.

        Args:
            scene: The scene before the step and now.
            path: The path of the prim or variant.
        """
        before = scene.specs_before(path)
        now = scene.specs_now(path)
        if before and not now and _is_whole(path, before):
            self.deleted.append(str(path))
        elif now and not before and _is_whole(path, now):
            self.created.append(str(path))
        elif len(self.changed) < _MAX_READ:
            self.changed += _edits(path, before, now)
            inner = self._variants(scene, path, (*before, *now))
            if path.ContainsPrimVariantSelection():
                inner += _children(path, (*before, *now))
            for each in dict.fromkeys(inner):
                self.note(scene, each)

    def _variants(self, scene: Scene, path: Sdf.Path, specs: Iterable[Any]) -> list[Sdf.Path]:
        """Return the variants of a prim, and note those that only have another name."""
        left = dict.fromkeys(variant_paths(path, specs))
        new = [each for each in left if not scene.specs_before(each)]
        for old in [each for each in left if not scene.specs_now(each)]:
            held = contents(scene.specs_before(old))
            named = [each for each in new if contents(scene.specs_now(each)) == held]
            if named:
                self.changed.append(name_change(str(old), str(named[0])))
                new.remove(named[0])
                del left[old]
                del left[named[0]]
        return list(left)


def _children(path: Sdf.Path, specs: Iterable[Any]) -> list[Sdf.Path]:
    """Return the paths of the prims below a prim that its specs have."""
    names: dict[str, None] = {}
    for spec in specs:
        names |= dict.fromkeys(child_names(spec.layer, spec.path))
    return [path.AppendChild(name) for name in names]


def _origins(
    scene: Scene, moves: Sequence[Move], roots: Iterable[Sdf.Path]
) -> Iterator[tuple[Sdf.Path, Sdf.Path]]:
    """Yield the paths of moved prims now and before, of those that the step did not make.

    Args:
        scene: The scene before the step and now.
        moves: The moves, in their order.
        roots: The prims that were edited.
    """
    if not moves:
        return
    made = {path for path in roots if not scene.specs_before(path)}
    for new, old in _followed(moves).items():
        if old is None or old == new:
            continue
        now = scene.specs_now(new)
        if not now and not scene.stage.GetPrimAtPath(new):
            continue
        # A prim of a referenced file has no specs before, and none that define it now.
        is_referenced = not _defines(now) and made.isdisjoint(new.GetParentPath().GetPrefixes())
        if scene.specs_before(old) or is_referenced:
            yield new, old


def _followed(moves: Iterable[Move]) -> dict[Sdf.Path, Sdf.Path | None]:
    """Return where prims were before all moves, by their paths now; None if they were nowhere."""
    origins: dict[Sdf.Path, Sdf.Path | None] = {}
    left: set[Sdf.Path] = set()  # where nothing is any more, unless it is new
    above: set[Sdf.Path] = set()  # the paths above those of `origins`
    for old, new in moves:
        origin = _origin(old, origins, left)
        origins.pop(old, None)
        came = {new: origin}
        if old in above:
            for path in [each for each in origins if each.HasPrefix(old)]:
                came[path.ReplacePrefix(old, new)] = origins.pop(path)
        origins |= came
        left.add(old)
        left.discard(new)
        for path in came:
            above.update(path.GetParentPath().GetPrefixes())
    return origins


def _origin(
    path: Sdf.Path, origins: Mapping[Sdf.Path, Sdf.Path | None], left: Set[Sdf.Path]
) -> Sdf.Path | None:
    """Return where the prim at a path was before the moves until now; None for a new one."""
    for prefix in reversed(path.GetPrefixes()):
        if prefix in origins:
            origin = origins[prefix]
            return origin and path.ReplacePrefix(prefix, origin)
        if prefix in left:
            return None
    return path


def _property_edits(scene: Scene, changes: Sequence[LayerChange]) -> Iterator[str]:
    """Yield what changed in properties of prims that were not edited otherwise."""
    properties: dict[Sdf.Path, None] = {}
    for change in changes:
        if change.edited is not None:
            properties |= dict.fromkeys(sorted(change.edited.properties))
    for number, path in enumerate(properties):
        before = scene.specs_before(path)
        now = scene.specs_now(path)
        if not before and not now:  # it was made and deleted in the step
            continue
        if number < _MAX_READ:
            yield _property_edit(path, before, now)
        else:
            yield str(path)


def _roots(changes: Sequence[LayerChange]) -> list[Sdf.Path]:
    """Return the prims that were edited, each with all below it."""
    roots = set[Sdf.Path]()
    for change in changes:
        if change.edited is not None:
            roots |= change.edited.roots()
    return sorted(roots)


def _places(
    changes: Sequence[LayerChange], roots: Iterable[Sdf.Path], moved: Set[Sdf.Path]
) -> set[Sdf.Path]:
    """Return the prims that differ themselves, at edited prims and below them.

    Args:
        changes: The changes of the layers.
        roots: The edited prims, of which each stands for all below it where much was edited.
        moved: The paths of moved prims, before and now.
    """
    places = set(roots) & moved
    for change in changes:
        edited: Set[Sdf.Path] = {_TOP}
        if change.edited is not None:
            edited = change.edited.roots() - moved
        if change.held.size >= _MAX_COMPARED_BYTES:
            places |= edited - {_TOP}
            continue
        for path in edited:
            places |= set(_differing(path, change.held.content, change.followed.layer))
    return places


def _places_of_new_layers(scene: Scene) -> set[Sdf.Path]:
    """Return the prims that come from layers which the scene did not have before."""
    before = {followed.layer for followed in scene.layers_before}
    nothing = Sdf.Layer.CreateAnonymous()
    places: set[Sdf.Path] = set()
    for layer in scene.layers_now:
        if layer not in before and len(below(layer, _TOP)) < _MAX_COUNTED:
            places |= set(_differing(_TOP, nothing, layer))
    return places


def _differing(path: Sdf.Path, old: Sdf.Layer, new: Sdf.Layer) -> Iterator[Sdf.Path]:
    """Yield the prims that differ themselves, from a path on down.

    Args:
        path: A prim, or the top.
        old: The layer as it was, or that part of it.
        new: The layer as it is.
    """
    specs = [layer.GetPrimAtPath(path) for layer in (old, new)]
    there = [spec for spec in specs if spec]
    if path != _TOP:
        if len(there) == 1 and _defines(there):  # it is new, or gone
            yield path
            return
        if len(there) == 2 and specs[0].GetAsText() == specs[1].GetAsText():
            return
        if len({_own_text(spec) for spec in specs}) > 1:
            yield path
    for child in _children(path, there):
        yield from _differing(child, old, new)


def _own_text(spec: Any) -> str:
    """Return all that a prim holds in a layer, without the prims below it; "" for no prim."""
    if not spec:
        return ""
    texts = []
    for name in spec.ListInfoKeys():
        if name not in _STRUCTURE:
            texts.append(f"{name} {spec.GetInfo(name)}")
    for each in (*spec.properties, *spec.variantSets.values()):
        texts.append(each.GetAsText())
    return "\n".join(texts)


def _is_whole(path: Sdf.Path, specs: Iterable[Any]) -> bool:
    """Return whether specs are all of something, and not edits of a prim of a referenced file."""
    return path.IsPrimVariantSelectionPath() or _defines(specs)


def _defines(specs: Iterable[Any]) -> bool:
    """Return whether one of the specs of a prim defines it, so that it is not only edited."""
    return any(spec.specifier != Sdf.SpecifierOver for spec in specs)


def _with_below(stage: Usd.Stage, path: Sdf.Path) -> str:
    """Return the path of a new prim, and how many prims are below it."""
    prim = stage.GetPrimAtPath(path)
    if not prim:
        return str(path)
    every = islice(iter(Usd.PrimRange(prim)), _MAX_COUNTED)
    return _with_number(path, sum(1 for _ in every) - 1)


def _count_below(specs: Iterable[Any], left: Set[Sdf.Path]) -> int:
    """Return how many prims the layers had below a deleted one, without those that are elsewhere.

    Args:
        specs: The specs of the deleted prim.
        left: The paths from which prims were moved.
    """
    prims: set[Sdf.Path] = set()
    for spec in specs:
        prims.update(path for path in below(spec.layer, spec.path) if path.IsPrimPath())
        prims.discard(spec.path)
    return sum(1 for path in prims if left.isdisjoint(path.GetPrefixes()))


def _with_number(path: Sdf.Path, count: int) -> str:
    if count < 1:
        return str(path)
    return f"{path} (and {count} below)"


def _edits(path: Sdf.Path, before: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    """Yield what changed in a prim whose specs were edited."""
    fields_before = _fields(before)
    fields_now = _fields(now)
    for name in sorted({*fields_before, *fields_now}):
        old = fields_before.get(name)
        new = fields_now.get(name)
        if old != new:
            yield from _field_edits(path, name, old, new)
    names = {prop.name: None for spec in (*before, *now) for prop in spec.properties}
    for name in islice(names, _MAX_READ):
        prop = path.AppendProperty(name)
        specs_before = _specs(before, prop)
        specs_now = _specs(now, prop)
        if _value(specs_before) != _value(specs_now):
            yield _property_edit(prop, specs_before, specs_now)


def _field_edits(path: Sdf.Path, name: str, old: Any, new: Any) -> Iterator[str]:
    """Yield what changed in the metadata of a prim, by the names that `inspect` has for it."""
    if name != "variantSelection":
        yield value_change(str(path), _NAMES.get(name, name), _plain(old), _plain(new))
        return
    before = old or {}
    now = new or {}
    for variant_set in sorted({*before, *now}):
        old_name = before.get(variant_set)
        new_name = now.get(variant_set)
        if old_name != new_name:
            yield value_change(str(path), f"variant:{variant_set}", old_name, new_name)


def _fields(specs: Sequence[Any]) -> dict[str, Any]:
    """Return the metadata of a prim, of the strongest spec that has each; lists are of all."""
    fields: dict[str, Any] = {}
    for spec in reversed(specs):
        for name in spec.ListInfoKeys():
            if name in _STRUCTURE:
                continue
            value = spec.GetInfo(name)
            if hasattr(value, "ApplyOperations"):  # a list that is edited
                value = value.ApplyOperations(fields.get(name, []))
            fields[name] = value
    return fields


def _specs(specs: Iterable[Any], path: Sdf.Path) -> list[Any]:
    """Return the specs of a property in the layers of some specs of its prim."""
    found = (spec.layer.GetPropertyAtPath(path) for spec in specs)
    return [spec for spec in found if spec]


def _property_edit(path: Sdf.Path, before: Sequence[Any], now: Sequence[Any]) -> str:
    owner = path.GetPrimOrPrimVariantSelectionPath()
    return value_change(str(owner), path.name, _value(before), _value(now))


def _value(specs: Sequence[Any]) -> Any:
    """Return the value, keys or targets of a property, of the strongest spec; None for nothing."""
    for spec in specs:
        if isinstance(spec, Sdf.RelationshipSpec):
            return [str(target) for target in spec.targetPathList.GetAppliedItems()]
        sources = [str(source) for source in spec.connectionPathList.GetAppliedItems()]
        if sources:
            return f"connected to {sources[0]}"
        keys = spec.layer.GetNumTimeSamplesForPath(spec.path)
        if keys:
            return f"{keys} keys"
        if spec.default is not None:
            return _plain(spec.default)
    return None


def _plain(value: Any) -> Any:
    """Return a value as JSON carries it; of a long array, how many elements it has."""
    if isinstance(value, list):
        return [_entry(entry) for entry in value]
    is_array = hasattr(value, "__len__") and not isinstance(value, str)
    if is_array and len(value) > _MAX_ELEMENTS:
        return f"{len(value)} elements"
    return plain(value)


def _entry(entry: Any) -> Any:
    """Return an entry of a list as JSON carries it: a reference by its file and its prim."""
    if not isinstance(entry, Sdf.Reference | Sdf.Payload):
        return plain(entry)
    prim = f"<{entry.primPath}>" if entry.primPath else ""
    return f"{entry.assetPath}{prim}"


def _layer_edits(scene: Scene, changes: Sequence[LayerChange]) -> Iterator[str]:
    """Yield what changed in the metadata of layers: frames, units, sublayers."""
    for followed in dict.fromkeys(change.followed for change in changes):
        before = scene.before.own_fields(followed)
        now = own_fields(followed.layer)
        for name in sorted({*before, *now} - _OF_CONTEXT):
            old = before.get(name)
            new = now.get(name)
            if old != new:
                item = SCENE
                if followed.layer != scene.stage.GetRootLayer():
                    item = f"layer {_layer_name(scene.stage, followed.layer)}"
                yield value_change(item, _NAMES.get(name, name), _plain(old), _plain(new))
