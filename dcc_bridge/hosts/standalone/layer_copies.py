"""What layers held: a mirror of each, and what it held where the layer was edited. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pxr import Sdf

MOST_PLACES: Final = 1000
_BYTES_PER_SPEC: Final = 250
_BYTES_PER_SAMPLE: Final = 24
# No dictionary: on its way through Python, a float in it becomes a double, a token a string.
_PLAIN: Final = {"comment", "documentation", "hidden", "kind"}
_PLAIN_OF_LAYER: Final = {"comment", "endTimeCode", "startTimeCode"}

Places = Mapping[Sdf.Path, frozenset[str]]
"""Where something was edited: properties, and those fields of prims or of the layer itself."""


def copy_of(layer: Sdf.Layer) -> Sdf.Layer:
    """Copy a layer to one of our own."""
    content = Sdf.Layer.CreateAnonymous(".usdc")
    content.TransferContent(layer)
    return content


@dataclass(frozen=True, slots=True)
class Copy:
    """What a layer held, or a part of it.

    Attributes:
        content: A layer of our own.
        size: About how many bytes it keeps, as measured for specs and time samples.
        has_variants: USD does not tell of edits in a variant.
    """

    content: Sdf.Layer
    size: int
    has_variants: bool

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
        """Take it from the layer's mirror, and bring that up to date.

        Args:
            mirror: What the layer held when we looked last.
            layer: What was edited.
            edited: Where; None where that is not known, or is too much to be told.
        """
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
    return {it.path for it in prim.properties} - places.keys(), [*prim.propertyOrder]


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
