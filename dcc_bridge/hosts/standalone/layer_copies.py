"""What layers held: a mirror of each, and what it held where it was edited. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pxr import Sdf, Usd

from dcc_bridge.hosts.standalone.prims import tracked

_CHECKING: Final = "Checking what was deleted"
_BYTES_PER_SPEC: Final = 250
_BYTES_PER_SAMPLE: Final = 24
# No dictionary: on its way through Python, a float in it becomes a double, a token a string.
_PLAIN: Final = {"comment", "documentation", "hidden", "kind"}
_PLAIN_OF_LAYER: Final = {"comment", "endTimeCode", "startTimeCode"}

# Where something was edited: properties, and those fields of prims or of the layer itself.
Places = Mapping[Sdf.Path, frozenset[str]]


def copy_of(layer: Sdf.Layer) -> Sdf.Layer:
    """Copy a layer to one of our own."""
    content = Sdf.Layer.CreateAnonymous(".usdc")
    content.TransferContent(layer)
    return content


@dataclass(frozen=True, slots=True)
class Copy:
    """What a layer held, or a part of it."""

    content: Sdf.Layer  # one of our own
    size: int  # about how many bytes it keeps, as measured for specs and time samples
    has_variants: bool  # USD does not tell of edits in a variant

    @classmethod
    def of(cls, content: Sdf.Layer) -> Copy:
        """Look a layer of our own through."""
        specs: list[Sdf.Path] = []
        content.Traverse(Sdf.Path.absoluteRootPath, specs.append)  # type: ignore[arg-type]  # paths
        samples = sum(content.GetNumTimeSamplesForPath(p) for p in specs if p.IsPropertyPath())
        size = len(specs) * _BYTES_PER_SPEC + samples * _BYTES_PER_SAMPLE
        return cls(content, size, any(map(Sdf.Path.ContainsPrimVariantSelection, specs)))

    def part(self, places: Places) -> Copy:
        """Copy what it holds at some places."""
        held = Sdf.Layer.CreateAnonymous(".usdc")
        for path in places:
            Sdf.CreatePrimInLayer(held, path.GetAbsoluteRootOrPrimPath())
        _put(self.content, held, places)
        return Copy.of(held)


class LayerChange:
    """What a layer held where it was edited; once that is undone, what it held then."""

    def __init__(self, mirror: Copy, layer: Sdf.Layer, edited: Places | None) -> None:
        """Take it from the mirror, and bring that up to date; None if nobody knows where."""
        if edited is None or mirror.has_variants or not _are_plain(edited, mirror.content, layer):
            self.places, self.held, self.mirror = None, mirror, Copy.of(copy_of(layer))
        else:
            self.places, self.held, self.mirror = edited, mirror.part(edited), mirror
            _put(layer, mirror.content, edited)

    def swap(self, mirror: Copy, layer: Sdf.Layer) -> Copy:
        """Give a layer what is held here, and hold what it held; gives the mirror of it then."""
        held, self.held = self.held, mirror if self.places is None else mirror.part(self.places)
        if self.places is None:
            layer.TransferContent(held.content)
            return held
        for content in (mirror.content, layer):
            _put(held.content, content, self.places)
        return mirror

    def covers(self, path: Sdf.Path) -> bool:
        """Whether what there was at a path is held here."""
        return self.places is None or (path.IsPropertyPath() and path in self.places)


Place = Sdf.Layer | None  # None for the root layer, whichever: "save as" makes another one root
State = Mapping[Place, object]  # what each layer held at one moment: the same object for the same


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One entry of the undo stack."""

    label: str  # what the person reads in the Edit menu
    before: State
    after: State  # the same but for the touched layers
    changes: tuple[tuple[Place, LayerChange], ...]  # in their order
    redo: tuple[Step, ...]  # what could be redone before it
    resynced: frozenset[Sdf.Path]  # what was made, deleted or composed anew

    def held(self, path: Sdf.Path, mirrors: Mapping[Place, Copy]) -> list[Any]:
        """List what the layers held at a path before it, if it is the newest."""
        contents = {place: mirrors[place].content for place in self.before}
        contents |= {at: it.held.content for at, it in reversed(self.changes) if it.covers(path)}
        return [spec for it in contents.values() if (spec := it.GetObjectAtPath(path))]

    def lost(self, stage: Usd.Stage, mirrors: Mapping[Place, Copy]) -> list[str]:
        """List what layers held before it, if it is the newest, and the scene shows no more."""
        layers = stage.GetLayerStack(includeSessionLayers=True)
        whole = {at: it.held.content for at, it in reversed(self.changes) if it.places is None}
        now = [mirrors[place].content for place in self.before]
        old = [whole.get(place, mirrors[place].content) for place in self.before]
        held = [it for it in old if it.rootPrims]
        holding: list[Any] = [stage, *(it for it in layers if it.rootPrims)]
        lost, left = dict[Sdf.Path, None](), set[Sdf.Path]()
        for root in tracked(Sdf.Path.RemoveDescendentPaths(list(self.resynced)), _CHECKING):
            if root.IsPrimPath() and not any(it.GetPrimAtPath(root) for it in holding):
                lost |= dict.fromkeys(_prims(root, held))  # nothing is there, nor below it
            else:
                left.add(root)
        composed = tracked(list(self.resynced) if left else [], _CHECKING)
        paths = [it for it in composed if not left.isdisjoint(it.GetPrefixes())]
        for content in [*now, *(change.held.content for _, change in self.changes)]:
            for root in filter(content.GetObjectAtPath, left):
                content.Traverse(root, paths.append)  # type: ignore[arg-type]  # gives paths
        for path in tracked(list(set(paths)), _CHECKING):
            is_thing = path.IsPrimPath() or path.IsPrimPropertyPath()
            if is_thing and _is_gone(path, stage, self.held(path, mirrors), layers):
                lost[path] = None
        lost |= dict.fromkeys(_relocated(layers) - _relocated(old))  # renamed in a reference
        every = tracked(list(lost), _CHECKING)  # a prim takes its properties along
        return sorted(str(it) for it in every if it.IsPrimPath() or it.GetPrimPath() not in lost)


def _prims(root: Sdf.Path, contents: list[Sdf.Layer]) -> list[Sdf.Path]:
    """List the prims that layers hold at a path and below it."""
    paths = list[Sdf.Path]()
    for content in contents:
        if prim := content.GetPrimAtPath(root):
            paths.append(root)
            if prim.nameChildren:
                content.Traverse(root, paths.append)  # type: ignore[arg-type]  # gives paths
    return [path for path in paths if path.IsPrimPath()]


def _is_gone(path: Sdf.Path, stage: Usd.Stage, before: list[Any], layers: list[Sdf.Layer]) -> bool:
    if prim := path.IsPrimPath() and stage.GetPrimAtPath(path):
        was_hidden = any(it.HasInfo("active") and not it.active for it in before)
        referred = any(spec.hasReferences or spec.hasPayloads for spec in before)
        refers = prim.HasAuthoredReferences() or prim.HasAuthoredPayloads()
        # What is referenced is deleted by hiding it, or all at once with what refers to it.
        return (not prim.IsActive() and not was_hidden) or (referred and not refers)
    prop = path.IsPropertyPath() and stage.GetPropertyAtPath(path)
    is_there = prop and prop.IsAuthored()  # one of the prim's schema is there without it, too
    return bool(before) and not is_there and not any(it.GetObjectAtPath(path) for it in layers)


def _relocated(layers: list[Sdf.Layer]) -> set[Sdf.Path]:
    return {source for layer in layers for source, _ in layer.relocates}


def _are_plain(places: Places, *layers: Sdf.Layer) -> bool:
    """Whether places can be copied one by one: beside them, their prims stay what they are."""
    for path in {it.GetAbsoluteRootOrPrimPath() for it in places}:
        plain = _PLAIN_OF_LAYER if path == Sdf.Path.absoluteRootPath else _PLAIN
        mirrored, now = (layer.GetObjectAtPath(path) for layer in layers)
        if not (mirrored and now and places.get(path, set()) <= plain):
            return False
        if _beside(places, mirrored) != _beside(places, now):
            return False
    return True


def _beside(places: Places, prim: Any) -> tuple[set[Sdf.Path], list[str]]:
    """Give what USD leaves out of a block's notice: old names of properties, and their order."""
    return {it.path for it in prim.properties if it.path not in places}, [*prim.propertyOrder]


def _put(source: Sdf.Layer, target: Sdf.Layer, places: Places) -> None:
    """Have one layer hold at some places what another one does."""
    with Sdf.ChangeBlock():
        for path, fields in places.items():
            old: Any = target.GetObjectAtPath(path)
            new = source.GetObjectAtPath(path)
            if not path.IsPropertyPath():
                for name in fields:
                    old.ClearInfo(name)
                    if new.HasInfo(name):
                        old.SetInfo(name, new.GetInfo(name))
                continue
            if old and type(old) is not type(new):  # a copy would mix the two
                old.owner.RemoveProperty(old)
            if new:
                Sdf.CopySpec(source, path, target, path)
