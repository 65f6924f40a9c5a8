"""What layers held: a mirror of each, and what it held where it was edited. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pxr import Sdf

from . import prims
from .places import Places, below, put, put_frames
from .prims import child_names
from .targets import Targets

_BYTES_PER_SPEC: Final = 250
_BYTES_PER_SAMPLE: Final = 24
_SMALL: Final = 1000 * _BYTES_PER_SPEC
_PARTS: Final = 4  # a part costs thrice what it costs in a copy of the whole layer, as measured
_TOP: Final = Sdf.Path.absoluteRootPath
FRAMES: Final = frozenset({"startTimeCode", "endTimeCode"})
"""The frame range of a layer; where other metadata of it is edited, it is copied whole."""


def copy_of(layer: Sdf.Layer) -> Sdf.Layer:
    """Return a copy of a layer, in memory."""
    content = Sdf.Layer.CreateAnonymous(".usdc")
    content.TransferContent(layer)
    return content


class Copy(NamedTuple):
    """What a layer held, or a part of it.

    Attributes:
        content: A layer of our own.
        size: How many bytes it keeps, about, as measured for specs and time samples.
        variants: The prims with variant sets: of some edits inside them USD does not tell.
        targets: What its relationships and connections lead to.
    """

    content: Sdf.Layer
    size: int
    variants: frozenset[Sdf.Path]
    targets: Targets

    @classmethod
    def of(cls, layer: Sdf.Layer) -> Copy:
        """Copy a layer."""
        return cls._having(copy_of(layer))

    @classmethod
    def _having(cls, content: Sdf.Layer) -> Copy:
        paths = below(content, _TOP)
        return cls(content, _size(content, paths), _varied(paths), Targets(paths))

    def part(self, places: Places) -> Copy:
        """Copy what it holds at some places."""
        held = Sdf.Layer.CreateAnonymous(".usdc")
        for path in (*places.properties, *places.roots()):
            Sdf.CreatePrimInLayer(held, path.GetParentPath())
            if self.content.GetObjectAtPath(path):
                Sdf.CopySpec(self.content, path, held, path)
        put_frames(self.content, held, places.frames)
        return self._having(held)

    def targets_at(self, places: Places) -> Targets:
        """Return what leads from some places to others."""
        roots = (*places.properties, *places.roots())
        return Targets(path for root in roots for path in below(self.content, root))


@dataclass(eq=False, slots=True)
class Followed:
    """A layer whose edits are undone.

    Attributes:
        layer: The layer; another one for the root once the scene is saved under another name.
        mirror: What it held when we looked last.
        state: What stands for that: the same object for the same content.
        saved: The state that its file holds.
    """

    layer: Sdf.Layer
    mirror: Copy
    state: object
    saved: object


class LayerChange:
    """What a layer held where it was edited; once that is undone, what it held then.

    Attributes:
        followed: The layer.
        places: Where it was edited; None if the whole layer is held.
        edited: Where its prims may have been edited; None if nobody knows.
        held: What is held.
    """

    def __init__(
        self, followed: Followed, edited: Set[Sdf.Path] | None, frames: frozenset[str] = frozenset()
    ) -> None:
        """Bring the mirror up to date, and hold what was in it.

        Args:
            followed: The layer.
            edited: Where it may have been edited; None if nobody knows.
            frames: Those of its `FRAMES` that may have been edited.
        """
        mirror, layer = followed.mirror, followed.layer
        self.followed = followed
        self._state = followed.state
        followed.state = object()
        self.places: Places | None = None
        self.edited: Places | None = None
        self.held = mirror
        if edited is not None:
            old = mirror.content
            varied = {it for it in mirror.variants if _variants(old, it) != _variants(layer, it)}
            told = edited | varied
            self.edited = _differing(told, frames, old, layer)
            if _TOP not in told:  # else it says something else of itself
                self.places = self.edited
        if self.places is not None:
            self._roots = self.places.roots()
            most = (mirror.size + _SMALL) // _PARTS
            before, _ = _measure(mirror.content, self._roots, most)
            now, variants = _measure(layer, self._roots, most)
            if max(before, now) > most:
                self.places = None
        if self.places is None:
            followed.mirror = Copy.of(layer)
            return
        self._hold(self.places)
        put(layer, mirror.content, self.places, _orders(layer, self.places))
        variants |= self._variants_elsewhere(mirror)
        mirror.targets.replace(self.held.targets, mirror.targets_at(self.places))
        size = mirror.size + now - before
        followed.mirror = Copy(mirror.content, size, variants, mirror.targets)

    def _variants_elsewhere(self, mirror: Copy) -> frozenset[Sdf.Path]:
        """Return the prims with variant sets that are in no branch of this change."""
        return frozenset(it for it in mirror.variants if self._roots.isdisjoint(it.GetPrefixes()))

    def _hold(self, places: Places) -> None:
        mirror = self.followed.mirror
        self.held = mirror.part(places)
        self._orders = _orders(mirror.content, places)

    def swap(self) -> None:
        """Give the layer what is held here, and hold what it held."""
        followed = self.followed
        mirror = followed.mirror
        state = followed.state
        then = self.held
        followed.state = self._state
        self._state = state
        if self.places is None:
            self.held = mirror
            followed.mirror = then
            if mirror.size > then.size + prims.CROWD_SIZE * _BYTES_PER_SPEC:
                _hide_crowds(followed.layer, then.content)
            followed.layer.TransferContent(then.content)
            return
        orders = self._orders
        self._hold(self.places)
        for content in (mirror.content, followed.layer):
            put(then.content, content, self.places, orders)
        size = mirror.size + then.size - self.held.size
        variants = then.variants | self._variants_elsewhere(mirror)
        mirror.targets.replace(self.held.targets, then.targets)
        followed.mirror = Copy(mirror.content, size, variants, mirror.targets)

    def covers(self, path: Sdf.Path) -> bool:
        """Return whether what there was at a path is held here."""
        if self.places is None or path in self.places.properties:
            return True
        return not self._roots.isdisjoint(path.GetPrefixes())


def _differing(
    edited: Set[Sdf.Path], frames: frozenset[str], old: Sdf.Layer, new: Sdf.Layer
) -> Places | None:
    """Find where a mirror and its layer differ, from what USD tells; None if all of it may.

    In a notice of a block USD leaves out old names of properties and prims, and orders of prims.
    Of the top it is told what the layer says of itself; which prims are below it is compared.
    """
    roots = set[Sdf.Path]()
    properties = set[Sdf.Path]()
    for path in edited - {_TOP}:
        prim = path.GetAbsoluteRootOrPrimPath()
        if path.IsPropertyPath() and old.GetPrimAtPath(prim) and new.GetPrimAtPath(prim):
            properties.add(path)
        else:
            roots.add(prim)
    for prim in {it.GetPrimPath() for it in properties}:
        had: Any = old.GetPrimAtPath(prim)
        has: Any = new.GetPrimAtPath(prim)
        names = {*had.properties.keys()} ^ {*has.properties.keys()}
        properties |= {prim.AppendProperty(name) for name in names}
    unordered = set[Sdf.Path]()
    if roots or _TOP in edited:
        above = {prim for path in edited for prim in path.GetPrefixes()}
        unordered, renamed = _reordered({_TOP, *above} - roots, old, new)
        roots |= renamed
    if _TOP in roots:
        return None
    present = [it for it in roots if old.GetPrimAtPath(it) or new.GetPrimAtPath(it)]
    roots = set(Sdf.Path.RemoveDescendentPaths(present))
    branches: dict[Sdf.Path, set[str]] = {it: set() for it in unordered}
    for root in roots:
        branches.setdefault(root.GetParentPath(), set()).add(root.name)
    return Places(
        {it for it in properties if roots.isdisjoint(it.GetPrefixes())},
        {it: names for it, names in branches.items() if roots.isdisjoint(it.GetPrefixes())},
        frames,
    )


def _reordered(
    prims: Iterable[Sdf.Path], old: Sdf.Layer, new: Sdf.Layer
) -> tuple[set[Sdf.Path], set[Sdf.Path]]:
    """Return which prims have other children or in another order, and the others of these."""
    unordered = set[Sdf.Path]()
    renamed = set[Sdf.Path]()
    for prim in prims:
        had = child_names(old, prim)
        has = child_names(new, prim)
        if had != has:
            unordered.add(prim)
            renamed |= {prim.AppendChild(name) for name in {*had} ^ {*has}}
    return unordered, renamed


def _variants(layer: Sdf.Layer, prim: Sdf.Path) -> list[str]:
    """Return all that the variant sets of a prim hold; nothing where it is gone."""
    spec = layer.GetPrimAtPath(prim)
    return [it.GetAsText() for it in spec.variantSets.values()] if spec else []


def _orders(layer: Sdf.Layer, places: Places) -> dict[Sdf.Path, list[str]]:
    return {parent: child_names(layer, parent) for parent in places.branches}


def _measure(
    layer: Sdf.Layer, roots: Iterable[Sdf.Path], most: float
) -> tuple[int, frozenset[Sdf.Path]]:
    """Return the size of prims with all below them, up to `most`, and which have variants."""
    children = sum(len(child_names(layer, root)) for root in roots)
    if children * _BYTES_PER_SPEC > most:
        return children * _BYTES_PER_SPEC, frozenset()
    size = 0
    variants = set[Sdf.Path]()
    for root in roots:
        paths = below(layer, root)
        if size + len(paths) * _BYTES_PER_SPEC > most:
            return size + len(paths) * _BYTES_PER_SPEC, frozenset()
        size += _size(layer, paths)
        variants |= _varied(paths)
    return size, frozenset(variants)


def _size(layer: Sdf.Layer, paths: Sequence[Sdf.Path]) -> int:
    samples = sum(layer.GetNumTimeSamplesForPath(it) for it in paths if it.IsPropertyPath())
    return len(paths) * _BYTES_PER_SPEC + samples * _BYTES_PER_SAMPLE


def _varied(paths: Iterable[Sdf.Path]) -> frozenset[Sdf.Path]:
    """Return the prims that have variants, of the paths of all that they hold."""
    chosen = filter(Sdf.Path.IsPrimVariantSelectionPath, paths)
    return frozenset(map(Sdf.Path.StripAllVariantSelections, chosen))


def _hide_crowds(layer: Sdf.Layer, then: Sdf.Layer) -> None:
    """Turn off the prims of a layer of which many children are about to go."""
    for path in filter(Sdf.Path.IsPrimPath, below(layer, _TOP)):
        count = len(child_names(layer, path))
        if count > prims.CROWD_SIZE + len(child_names(then, path)):
            prims.turn_off(layer.GetPrimAtPath(path))
