"""What layers held: a mirror of each, and what it held where it was edited. Main thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import inf
from typing import Any, Final, NamedTuple

from pxr import Sdf, Usd

from dcc_bridge.hosts.standalone import prims
from dcc_bridge.hosts.standalone.prims import CHECKING, child_names, tracked

_BYTES_PER_SPEC: Final = 250
_BYTES_PER_SAMPLE: Final = 24
_SMALL: Final = 1000 * _BYTES_PER_SPEC
_PARTS: Final = 4  # a part costs thrice what it costs in a copy of the whole layer, as measured
_FEW: Final = 8  # of as many siblings one is put in its place without them
_TOP: Final = Sdf.Path.absoluteRootPath
# No dictionary: on its way through Python, a float in it becomes a double, a token a string.
_PLAIN: Final = {"comment", "documentation", "hidden", "kind"}
_PLAIN_OF_LAYER: Final = {"comment", "endTimeCode", "startTimeCode"}
_ASIDE: Final = "/dcc_bridge_undo_"  # where a prim is for a moment that gets another place
WHOLE: Final = ""  # among the fields of what is another one with all below it, or may be

# Where USD tells that something was edited: fields of properties, of prims or of the layer itself.
Edited = Mapping[Sdf.Path, frozenset[str]]
Orders = Mapping[Sdf.Path, list[str]]  # the names of children


class Places(NamedTuple):
    """Where a layer is another one."""

    fields: Edited  # of prims or the layer itself; none for properties, which are whole
    branches: Mapping[Sdf.Path, set[str]]  # children that are others with all below them

    def roots(self) -> list[Sdf.Path]:
        """List the branches."""
        return [at.AppendChild(it) for at, names in self.branches.items() for it in names]


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
    variants: frozenset[Sdf.Path]  # prims with variant sets: not of all edits in one USD tells

    @classmethod
    def of(cls, layer: Sdf.Layer) -> Copy:
        """Copy a layer, and look it through."""
        return cls(copy_of(layer), *_sizes(layer, [_TOP]))

    def part(self, places: Places) -> Copy:
        """Copy what it holds at some places."""
        held = Sdf.Layer.CreateAnonymous(".usdc")
        for path in (*places.fields, *places.branches):
            Sdf.CreatePrimInLayer(held, path.GetAbsoluteRootOrPrimPath())
        _put(self.content, held, Places(places.fields, {}))
        for root in filter(self.content.GetPrimAtPath, places.roots()):
            Sdf.CopySpec(self.content, root, held, root)
        return Copy(held, *_sizes(held, [_TOP]))


class LayerChange:
    """What a layer held where it was edited; once that is undone, what it held then."""

    def __init__(self, mirror: Copy, layer: Sdf.Layer, edited: Edited | None) -> None:
        """Take it from the mirror, and bring that up to date; None if nobody knows where."""
        places, names = None, cache(child_names)
        if edited is not None:
            kept = mirror.content
            unseen = [at for at in mirror.variants if _variants(kept, at) != _variants(layer, at)]
            edited = {**edited, **dict.fromkeys(unseen, frozenset([WHOLE]))}
            places = _differing(edited, names, kept, layer)
        self._roots = roots = frozenset(places.roots() if places else ())
        self._parents = {it for at in edited or () for it in (at, at.GetParentPath())}
        most = (mirror.size + _SMALL) // _PARTS
        size, variants = _sizes(mirror.content, roots, most)[0], frozenset[Sdf.Path]()
        if size <= most:
            size, variants = _sizes(layer, roots, most)
        self.places = places = places if size <= most else None
        if not places:
            self.held, self.mirror = mirror, Copy.of(layer)
            return
        old, new = ({at: names(it, at) for at in places.branches} for it in (mirror.content, layer))
        self.held, self._orders = mirror.part(places), old
        _put(layer, mirror.content, places, old, new)
        self.mirror = self._mirror(mirror, size, variants)

    def swap(self, mirror: Copy, layer: Sdf.Layer) -> Copy:
        """Give a layer what is held here, and hold what it held; gives the mirror of it then."""
        held, places = self.held, self.places
        self.held = mirror.part(places) if places else mirror
        if not places:
            for path in self._parents:
                there, then = (len(child_names(it, path)) for it in (layer, held.content))
                if there - then > prims.MANY:
                    prims.turn_off(layer.GetPrimAtPath(path))
            layer.TransferContent(held.content)
            return held
        orders = self._orders
        self._orders = {at: child_names(mirror.content, at) for at in places.branches}
        for content in (mirror.content, layer):
            _put(held.content, content, places, self._orders, orders)
        return self._mirror(mirror, held.size, held.variants)

    def _mirror(self, old: Copy, size: int, variants: frozenset[Sdf.Path]) -> Copy:
        kept = [it for it in old.variants if self._roots.isdisjoint(it.GetPrefixes())]
        return Copy(old.content, old.size + size - self.held.size, variants.union(kept))

    def covers(self, path: Sdf.Path) -> bool:
        """Whether what there was at a path is held here."""
        if not self.places or (path.IsPropertyPath() and path in self.places.fields):
            return True
        return bool(self._roots) and not self._roots.isdisjoint(path.GetPrefixes())


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
        return [spec for it in self._before(path, mirrors) if (spec := it.GetObjectAtPath(path))]

    def _before(self, path: Sdf.Path, mirrors: Mapping[Place, Copy]) -> list[Sdf.Layer]:
        contents = {place: mirrors[place].content for place in self.before}
        contents |= {at: it.held.content for at, it in reversed(self.changes) if it.covers(path)}
        return list(contents.values())

    def lost(
        self, stage: Usd.Stage, mirrors: Mapping[Place, Copy], agreed: frozenset[str]
    ) -> list[str]:
        """List what layers held before it, if it is the newest, and the scene shows no more.

        Of what is agreed, or below it, some is left out: the caller leaves out the rest.
        """
        layers = stage.GetLayerStack(includeSessionLayers=True)
        now = [mirrors[place].content for place in self.before]
        holding: list[Any] = [stage, *(it for it in layers if it.rootPrims)]
        changes = [change for _, change in self.changes]
        # with much below it, each takes a while
        size = sum(it.held.size for it in changes) // _BYTES_PER_SPEC
        gone, left = self._gone(holding, mirrors, size, agreed)
        lost, old = dict[Sdf.Path, None](), self._before(_TOP, mirrors)
        alike = [it for it in old if it.rootPrims and not any(it.places for it in changes)]
        for root in tracked(gone, CHECKING, size):
            contents = alike or self._before(root, mirrors)
            paths = [path for it in contents for path in _below(it, root)]
            lost |= dict.fromkeys(filter(Sdf.Path.IsPrimPath, paths))
        composed = tracked(list(self.resynced) if left else [], CHECKING)
        paths = [it for it in composed if not left.isdisjoint(it.GetPrefixes())]
        for root in tracked(list(left), CHECKING, size):
            for content in [*now, *(it.held.content for it in changes)]:
                own, children = _split(content, root)
                paths += own
                for child in tracked(_not_agreed(root, children, agreed), CHECKING):
                    if child not in lost:
                        paths += _below(content, child)
        for path in tracked(list(set(paths)), CHECKING):
            is_thing = path.IsPrimPath() or path.IsPrimPropertyPath()
            if is_thing and _is_gone(path, stage, self.held(path, mirrors), layers):
                lost[path] = None
        lost |= dict.fromkeys(_relocated(layers) - _relocated(old))  # renamed in a reference
        every = tracked(list(lost), CHECKING)  # a prim takes its properties along
        return sorted(str(it) for it in every if it.IsPrimPath() or it.GetPrimPath() not in lost)

    def _gone(
        self, holding: list[Any], mirrors: Mapping[Place, Copy], size: int, agreed: frozenset[str]
    ) -> tuple[list[Sdf.Path], set[Sdf.Path]]:
        """Part what nobody holds any more, nor what is below it, from what may have lost more."""
        gone, left = list[Sdf.Path](), set[Sdf.Path]()
        for root in tracked(Sdf.Path.RemoveDescendentPaths(list(self.resynced)), CHECKING, size):
            if root.IsPrimPath() and not any(it.GetPrimAtPath(root) for it in holding):
                gone.append(root)
                continue
            left.add(root)
            names = {it for at in self._before(root, mirrors) for it in child_names(at, root)}
            names.difference_update(*(child_names(it, root) for it in holding))
            gone += _not_agreed(root, sorted(names), agreed)
        return gone, left


def _not_agreed(root: Sdf.Path, names: list[str], agreed: frozenset[str]) -> list[Sdf.Path]:
    """Give the paths of those children of a prim that nobody agreed to."""
    above = str(root).rstrip("/")
    return [root.AppendChild(it) for it in names if f"{above}/{it}" not in agreed]


def _split(layer: Sdf.Layer, root: Sdf.Path) -> tuple[list[Sdf.Path], list[str]]:
    """List what a layer holds at a path, and the names of the children that hold the rest."""
    prim: Any = layer.GetPrimAtPath(root)
    if not prim or prim.variantSets:
        return _below(layer, root), []
    return [root, *(it.path for it in prim.properties)], child_names(layer, root)


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


def _differing(
    edited: Edited, names: Callable[..., list[str]], *layers: Sdf.Layer
) -> Places | None:
    """Find where a mirror and its layer differ, from what USD tells; None if all of it may."""
    fields, roots = dict[Sdf.Path, frozenset[str]](), set[Sdf.Path]()
    for path, changed in edited.items():
        prim = path.GetAbsoluteRootOrPrimPath()
        plain = _PLAIN if prim.IsPrimPath() else _PLAIN_OF_LAYER
        is_small = path.IsPropertyPath() or (path == prim and changed <= plain)
        if is_small and all(it.GetObjectAtPath(prim) for it in layers):
            fields[path] = changed - {WHOLE}
        else:
            roots.add(prim)
    for prim in {it.GetAbsoluteRootOrPrimPath() for it in fields}:
        beside = _beside(prim, *layers)
        fields |= dict.fromkeys(beside - {prim}, frozenset())
        roots |= beside & {prim}
    above = {it for path in edited for it in (_TOP, *path.GetPrefixes())} if roots else ()
    for prim in [it for it in above if roots.isdisjoint(it.GetPrefixes())]:  # else it is whole
        roots |= _moved(prim, *(names(it, prim) for it in layers))
    if _TOP in roots:
        return None
    branches = defaultdict[Sdf.Path, set[str]](set)
    present = {it for layer in layers for it in filter(layer.GetPrimAtPath, roots)}
    for root in Sdf.Path.RemoveDescendentPaths([*present]):
        branches[root.GetParentPath()].add(root.name)
    below = {it for it in fields if not roots.isdisjoint(it.GetPrefixes())}
    return Places({it: fields[it] for it in fields if it not in below}, branches)


def _beside(prim: Sdf.Path, *layers: Sdf.Layer) -> set[Sdf.Path]:
    """Give what USD leaves out of a notice: old names of properties; the prim for their order."""
    specs: list[Any] = [it.GetPrimAtPath(prim) for it in layers]
    old, new = (it.GetInfo("properties") if it.HasInfo("properties") else () for it in specs)
    before, now = ([*it.propertyOrder] for it in specs)
    props = {prim.AppendProperty(it) for it in {*old} ^ {*new}}
    return props if before == now else {*props, prim}


def _moved(prim: Sdf.Path, old: list[str], new: list[str]) -> set[Sdf.Path]:
    """Give what else USD leaves out: old names of prims; the parent, if they are in disorder."""
    names = new[len(old) :] if new[: len(old)] == old else {*old} ^ {*new}  # most comes last
    return {prim.AppendChild(it) for it in names} if names or old == new else {prim}


def _sizes(
    layer: Sdf.Layer, roots: Collection[Sdf.Path], most: float = inf
) -> tuple[int, frozenset[Sdf.Path]]:
    """Measure what there is at prims and below, up to `most`; list which of them have variants."""
    size, selections, groups = 0, list[Sdf.Path](), map(layer.GetPrimAtPath, roots)
    if (least := _BYTES_PER_SPEC * sum(len(it.nameChildren) for it in groups if it)) > most:
        return least, frozenset()
    for root in roots:
        own, names = _split(layer, root) if most < inf else (_below(layer, root), [])
        for specs in chain([own], (_below(layer, root.AppendChild(it)) for it in names)):
            samples = sum(layer.GetNumTimeSamplesForPath(p) for p in specs if p.IsPropertyPath())
            size += len(specs) * _BYTES_PER_SPEC + samples * _BYTES_PER_SAMPLE
            selections += filter(Sdf.Path.IsPrimVariantSelectionPath, specs)
            if size > most:
                break
    return size, frozenset(map(Sdf.Path.StripAllVariantSelections, selections))


def _variants(layer: Sdf.Layer, path: Sdf.Path) -> list[str]:
    prim = layer.GetPrimAtPath(path)
    return [it.GetAsText() for it in prim.variantSets.values()] if prim else []


def _put(source: Sdf.Layer, target: Sdf.Layer, places: Places, *orders: Orders) -> None:
    """Have one layer hold at some places what another one does; old and new orders of children."""
    with Sdf.ChangeBlock():
        for path, fields in places.fields.items():
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
        for parent, names in places.branches.items():
            before, order = (it[parent] for it in orders)
            _graft(source, target, parent=parent, names=names, before=before, order=order)


def _copy(source: Sdf.Layer, target: Sdf.Layer, root: Sdf.Path) -> None:
    """Have a prim and all below it be what they are in another layer."""
    old = _below(target, root)
    for path in filter(Sdf.Path.IsPropertyPath, old):
        prop: Any = target.GetPropertyAtPath(path)
        new = source.GetPropertyAtPath(path)
        if new and type(prop) is not type(new):  # a copy would mix the two
            prop.owner.RemoveProperty(prop)
    Sdf.CopySpec(source, root, target, root)
    for path in filter(Sdf.Path.IsPrimPath, _below(source, root) if old else ()):
        _arrange(target, path, child_names(source, path))  # it does not do that


def _below(layer: Sdf.Layer, root: Sdf.Path) -> list[Sdf.Path]:
    paths: list[Sdf.Path] = []
    if layer.GetObjectAtPath(root):
        layer.Traverse(root, paths.append)  # type: ignore[arg-type]  # gives paths
    return paths


def _arrange(layer: Sdf.Layer, parent: Sdf.Path, order: list[str]) -> None:
    """Bring the children of a prim in an order; all of them are composed anew then."""
    if child_names(layer, parent) != order:
        prim: Any = layer.GetPrimAtPath(parent)
        children = {it.name: it for it in prim.nameChildren}
        prim.nameChildren[:] = [children[name] for name in order]


def _graft(
    *layers: Sdf.Layer, parent: Sdf.Path, names: set[str], before: list[str], order: list[str]
) -> None:
    """Have some children of a prim be what they are in another layer, the first of the two."""
    source, target = layers
    wanted, old = ({n for n in names if it.GetPrimAtPath(parent.AppendChild(n))} for it in layers)
    if gone := old - wanted:
        prims.drop_children(target.GetPrimAtPath(parent), gone)
    # The others stay: of an over that is removed and made in one block USD says nothing, and its
    # stage goes on with what was below it (a crash, measured, 26.11).
    kept = [it for it in order if it in wanted] if len(wanted) > 1 else [*wanted]
    for name in kept:
        _copy(source, target, parent.AppendChild(name))
    grafts = [it for it in kept if it not in old]
    if ([it for it in before if it not in gone] if gone else before) + grafts == order:
        return  # what is new is last
    if _FEW * len(grafts) < len(order):
        edits = Sdf.BatchNamespaceEdit()  # a child cannot be moved to a place among its siblings
        for name in grafts:
            edits.Add(parent.AppendChild(name), f"{_ASIDE}{name}")
        for name in grafts:
            edits.Add(f"{_ASIDE}{name}", parent.AppendChild(name), order.index(name))
        target.Apply(edits)
    _arrange(target, parent, order)
