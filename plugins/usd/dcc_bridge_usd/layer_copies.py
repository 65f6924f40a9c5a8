"""Copies of layers: a mirror of each, and the old content of edited places. Main thread."""

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
_SMALL_LAYER_BYTES: Final = 1000 * _BYTES_PER_SPEC
_WHOLE_TO_PART: Final = 4  # a part costs thrice what it costs in a copy of the layer, as measured
_TOP: Final = Sdf.Path.absoluteRootPath
FRAMES: Final = frozenset({"startTimeCode", "endTimeCode"})
"""The frame range of a layer; where other metadata of it is edited, it is copied whole."""


def copy_of(layer: Sdf.Layer) -> Sdf.Layer:
    """Return a copy of a layer, in memory."""
    content = Sdf.Layer.CreateAnonymous(".usdc")
    content.TransferContent(layer)
    return content


class Copy(NamedTuple):
    """A copy of a layer's content, or of a part of it.

    Attributes:
        content: A layer of our own.
        size: How many bytes the copy takes, about, as measured for specs and time samples.
        variants: The prims with variant sets: USD reports not all edits inside them.
        targets: What the relationships and connections lead to.
    """

    content: Sdf.Layer
    size: int
    variants: frozenset[Sdf.Path]
    targets: Targets

    @classmethod
    def of(cls, layer: Sdf.Layer) -> Copy:
        """Copy a layer."""
        return cls._of_content(copy_of(layer))

    @classmethod
    def _of_content(cls, content: Sdf.Layer) -> Copy:
        paths = below(content, _TOP)
        return cls(content, _size(content, paths), _varied(paths), Targets(paths))

    def part(self, places: Places) -> Copy:
        """Copy what is held at some places."""
        held = Sdf.Layer.CreateAnonymous(".usdc")
        for path in (*places.properties, *places.roots()):
            Sdf.CreatePrimInLayer(held, path.GetParentPath())
            if self.content.GetObjectAtPath(path):
                Sdf.CopySpec(self.content, path, held, path)
        put_frames(self.content, held, places.frames)
        return self._of_content(held)

    def targets_at(self, places: Places) -> Targets:
        """Return what leads from some places to others."""
        paths: list[Sdf.Path] = []
        for root in (*places.properties, *places.roots()):
            paths += below(self.content, root)
        return Targets(paths)


@dataclass(eq=False, slots=True)
class Followed:
    """A layer whose edits are undone.

    Attributes:
        layer: The layer; another one for the root once the scene is saved under another name.
        mirror: What the layer held when we looked last.
        state: What stands for that content: the same object for the same content.
        saved: The state that the layer's file holds; None where no state is saved.
    """

    layer: Sdf.Layer
    mirror: Copy
    state: object
    saved: object


class LayerChange:
    """A layer's content where it was edited; after an undo, the content that the edit had made.

    Attributes:
        followed: The layer.
        places: Where the layer was edited; None if the whole layer is held.
        edited: Where prims of the layer may have been edited; None if nobody knows.
        held: What is held.
    """

    def __init__(
        self, followed: Followed, edited: Set[Sdf.Path] | None, frames: frozenset[str] = frozenset()
    ) -> None:
        """Bring the mirror up to date, and hold what was in it.

        Args:
            followed: The layer.
            edited: Where the layer may have been edited; None if nobody knows.
            frames: Those of the layer's `FRAMES` that may have been edited.
        """
        mirror = followed.mirror
        layer = followed.layer
        self.followed = followed
        self._state = followed.state
        followed.state = object()
        self.places: Places | None = None
        self.edited: Places | None = None
        self.held = mirror
        if edited is not None:
            paths = edited | _edited_variants(mirror, layer)
            self.edited = _differing(paths, frames, mirror.content, layer)
            if _TOP not in paths:  # else metadata of the layer itself was edited
                self.places = self.edited
        if self.places is not None:
            self._roots = self.places.roots()
            limit = (mirror.size + _SMALL_LAYER_BYTES) // _WHOLE_TO_PART
            size_before, _ = _measure(mirror.content, self._roots, limit)
            size_now, variants = _measure(layer, self._roots, limit)
            if max(size_before, size_now) > limit:
                self.places = None
        if self.places is None:
            followed.mirror = Copy.of(layer)
            return
        self._hold(self.places)
        put(layer, mirror.content, self.places, _orders(layer, self.places))
        variants |= self._variants_elsewhere(mirror)
        mirror.targets.replace(self.held.targets, mirror.targets_at(self.places))
        size = mirror.size + size_now - size_before
        followed.mirror = Copy(mirror.content, size, variants, mirror.targets)

    def _variants_elsewhere(self, mirror: Copy) -> frozenset[Sdf.Path]:
        """Return the prims with variant sets that are in no branch of this change."""
        return frozenset(
            path for path in mirror.variants if self._roots.isdisjoint(path.GetPrefixes())
        )

    def _hold(self, places: Places) -> None:
        """Hold what the mirror has at some places."""
        mirror = self.followed.mirror
        self.held = mirror.part(places)
        self._orders = _orders(mirror.content, places)

    def swap(self) -> None:
        """Put what is held here into the layer, and hold what the layer held."""
        followed = self.followed
        mirror = followed.mirror
        restored = self.held
        state = followed.state
        followed.state = self._state
        self._state = state
        if self.places is None:
            self.held = mirror
            followed.mirror = restored
            if mirror.size > restored.size + prims.CROWD_SIZE * _BYTES_PER_SPEC:
                _hide_crowds(followed.layer, restored.content)
            followed.layer.TransferContent(restored.content)
            return
        orders = self._orders
        self._hold(self.places)
        for content in (mirror.content, followed.layer):
            put(restored.content, content, self.places, orders)
        size = mirror.size + restored.size - self.held.size
        variants = restored.variants | self._variants_elsewhere(mirror)
        mirror.targets.replace(self.held.targets, restored.targets)
        followed.mirror = Copy(mirror.content, size, variants, mirror.targets)

    def covers(self, path: Sdf.Path) -> bool:
        """Return whether what there was at a path is held here."""
        if self.places is None or path in self.places.properties:
            return True
        return not self._roots.isdisjoint(path.GetPrefixes())


def _differing(
    edited: Set[Sdf.Path], frames: frozenset[str], old: Sdf.Layer, new: Sdf.Layer
) -> Places | None:
    """Find where a mirror and its layer differ, from what USD reports; None if all may differ.

    In a notice of a block USD leaves out old names of properties and prims, and orders of prims.
    It reports the top for metadata of the layer itself; the prims below the top are compared.
    """
    properties, roots = _parted(edited, old, new)
    properties |= _renamed_properties(properties, old, new)
    unordered = set[Sdf.Path]()
    if roots or _TOP in edited:
        above = set[Sdf.Path]()
        for path in edited:
            above.update(path.GetPrefixes())
        unordered, renamed = _reordered({_TOP, *above} - roots, old, new)
        roots |= renamed
    if _TOP in roots:
        return None
    present = [path for path in roots if old.GetPrimAtPath(path) or new.GetPrimAtPath(path)]
    roots = set(Sdf.Path.RemoveDescendentPaths(present))
    branches: dict[Sdf.Path, set[str]] = {path: set() for path in unordered}
    for root in roots:
        branches.setdefault(root.GetParentPath(), set()).add(root.name)
    for parent in list(branches):
        if not roots.isdisjoint(parent.GetPrefixes()):
            del branches[parent]
    outside = {path for path in properties if roots.isdisjoint(path.GetPrefixes())}
    return Places(outside, branches, frames)


def _parted(
    edited: Set[Sdf.Path], old: Sdf.Layer, new: Sdf.Layer
) -> tuple[set[Sdf.Path], set[Sdf.Path]]:
    """Part edited paths into properties of prims that are in both layers, and prims."""
    properties = set[Sdf.Path]()
    roots = set[Sdf.Path]()
    for path in edited - {_TOP}:
        prim = path.GetAbsoluteRootOrPrimPath()
        if path.IsPropertyPath() and old.GetPrimAtPath(prim) and new.GetPrimAtPath(prim):
            properties.add(path)
        else:
            roots.add(prim)
    return properties, roots


def _renamed_properties(properties: Set[Sdf.Path], old: Sdf.Layer, new: Sdf.Layer) -> set[Sdf.Path]:
    """Return the properties that one layer only has, of the prims of some properties."""
    renamed = set[Sdf.Path]()
    for prim in {path.GetPrimPath() for path in properties}:
        old_spec: Any = old.GetPrimAtPath(prim)
        new_spec: Any = new.GetPrimAtPath(prim)
        names = {*old_spec.properties.keys()} ^ {*new_spec.properties.keys()}
        renamed |= {prim.AppendProperty(name) for name in names}
    return renamed


def _reordered(
    prims: Iterable[Sdf.Path], old: Sdf.Layer, new: Sdf.Layer
) -> tuple[set[Sdf.Path], set[Sdf.Path]]:
    """Return the prims with other or reordered children, and the children that one layer has."""
    unordered = set[Sdf.Path]()
    renamed = set[Sdf.Path]()
    for prim in prims:
        old_names = child_names(old, prim)
        new_names = child_names(new, prim)
        if old_names != new_names:
            unordered.add(prim)
            renamed |= {prim.AppendChild(name) for name in {*old_names} ^ {*new_names}}
    return unordered, renamed


def _edited_variants(mirror: Copy, layer: Sdf.Layer) -> set[Sdf.Path]:
    """Return the prims whose variants differ: USD reports not all edits inside them."""
    old = mirror.content
    return {path for path in mirror.variants if _variants(old, path) != _variants(layer, path)}


def _variants(layer: Sdf.Layer, prim: Sdf.Path) -> list[str]:
    """Return all that the variant sets of a prim hold; nothing where it is gone."""
    spec = layer.GetPrimAtPath(prim)
    if not spec:
        return []
    return [variants.GetAsText() for variants in spec.variantSets.values()]


def _orders(layer: Sdf.Layer, places: Places) -> dict[Sdf.Path, list[str]]:
    return {parent: child_names(layer, parent) for parent in places.branches}


def _measure(
    layer: Sdf.Layer, roots: Iterable[Sdf.Path], limit: float
) -> tuple[int, frozenset[Sdf.Path]]:
    """Return the bytes that prims take with all below them, and which of them have variants.

    Above `limit` the size is only a size above it, and no prims are returned.
    """
    children = sum(len(child_names(layer, root)) for root in roots)
    if children * _BYTES_PER_SPEC > limit:
        return children * _BYTES_PER_SPEC, frozenset()
    size = 0
    variants = set[Sdf.Path]()
    for root in roots:
        paths = below(layer, root)
        if size + len(paths) * _BYTES_PER_SPEC > limit:
            return size + len(paths) * _BYTES_PER_SPEC, frozenset()
        size += _size(layer, paths)
        variants |= _varied(paths)
    return size, frozenset(variants)


def _size(layer: Sdf.Layer, paths: Sequence[Sdf.Path]) -> int:
    samples = 0
    for path in paths:
        if path.IsPropertyPath():
            samples += layer.GetNumTimeSamplesForPath(path)
    return len(paths) * _BYTES_PER_SPEC + samples * _BYTES_PER_SAMPLE


def _varied(paths: Iterable[Sdf.Path]) -> frozenset[Sdf.Path]:
    """Return the prims that have variants, from the paths of all that a layer holds."""
    owners = set()
    for path in paths:
        if path.IsPrimVariantSelectionPath():
            owners.add(path.StripAllVariantSelections())
    return frozenset(owners)


def _hide_crowds(layer: Sdf.Layer, restored: Sdf.Layer) -> None:
    """Turn off the prims of a layer of which a crowd of children is about to go."""
    for path in below(layer, _TOP):
        if not path.IsPrimPath():
            continue
        count = len(child_names(layer, path))
        if count > prims.CROWD_SIZE + len(child_names(restored, path)):
            prims.turn_off(layer.GetPrimAtPath(path))
