"""The operations on parts that are items: variant sets and variants. Main thread.

Each operation looks whether an item is a part, and leaves all other items to the prims' operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from pxr import Sdf, Usd

from dcc_bridge.spi import Bounds, Imported, Keys, Part, Placement, Shape, Value, Vector

from .. import variants
from ..host import UsdSession
from ..shown import is_selected
from ..variants import variant_around, variant_path
from .items import refusing
from .losing import _Losing
from .part_kinds import KINDS, PartKind, part_at
from .placing import Axes


class _Parts(_Losing):
    """Creates, lists, sets and deletes parts."""

    def part(self, item: str) -> PartKind | None:
        """Return the part that an item stands for; None for a prim, and for what is not there."""
        if "{" not in item:
            return None
        return part_at(self.stage, item)

    def prim(self, item: str) -> Usd.Prim:
        part = self.part(item)
        if part is not None:
            raise ValueError(f"{item} is a {part.kind}, not a prim: that takes {_prim_of(item)}.")
        if variant_around(item) is not None:
            raise ValueError(f"{item} is in a variant: that takes {_prim_of(item)}.")
        return super().prim(item)

    def _shown(self, item: str) -> str:
        """Return the prim for a path that leads into a variant; any other item as it is.

        Raises:
            LookupError: There is no such variant.
            ValueError: The variant is not selected.
        """
        variant = variant_around(item) or variant_path(item)
        if variant is None:
            return item
        self._check_selected(item, variant)
        return _prim_of(item)

    def _check_selected(self, item: str, path: Sdf.Path) -> None:
        """Check that a variant is selected.

        Raises:
            LookupError: There is no such variant or variant set; the message names what there is.
            ValueError: It is not selected; the message names the item, and what to do.
        """
        if is_selected(self.stage, path):
            return
        name, variant = path.GetVariantSelection()
        owner = path.GetParentPath().StripAllVariantSelections()
        sets = super().prim(str(owner)).GetVariantSets()
        if not sets.HasVariantSet(name):
            there = ", ".join(sets.GetNames()) or "none"
            raise LookupError(f"{owner} has no variant set {name!r}. It has {there}.")
        known = sets.GetVariantSet(name).GetVariantNames()
        if variant not in known:
            there = ", ".join(known) or "none"
            raise LookupError(f"{owner} has no variant {variant!r} of {name}. It has {there}.")
        raise ValueError(
            f"{item} is not selected: set variant:{name} of {owner} to {variant} first."
        )

    # ---- reading

    def types(self) -> Iterable[str]:
        return [*super().types(), *KINDS]

    def items(self, under: str | None = None) -> Iterable[str]:
        """Return the prims below a prim, the parts below a part, or those of a prim.

        Args:
            under: A prim or a part; a prim with ``{}`` behind for its variant sets and variants.
        """
        if under is not None and under.endswith("{}"):
            return self._variants_of(under.removesuffix("{}"))
        part = self.part(under or "")
        if part is not None:
            return part.below()
        return super().items(self._shown(under) if under else under)

    def _variants_of(self, item: str) -> Iterator[str]:
        for path in variants.sets_of(self.prim(item)):
            yield str(path)
            yield from self.items(str(path))

    def kind(self, item: str) -> str:
        part = self.part(item)
        return part.kind if part else super().kind(self._shown(item))

    def name(self, item: str) -> str:
        part = self.part(item)
        return part.name if part else super().name(self._shown(item))

    def parent(self, item: str) -> str | None:
        part = self.part(item)
        return part.parent if part else super().parent(self._shown(item))

    def bounds(self, item: str) -> Bounds | None:
        return None if self.part(item) else super().bounds(self._shown(item))

    def look_into(self, item: str, part: Part) -> Any:
        owner = self.part(item)
        if owner is None:
            return super().look_into(self._shown(item), part)
        return owner.values() if part == "values" else None

    def value(self, item: str, prop: str) -> Value:
        part = self.part(item)
        if part is None:
            return super().value(self._shown(item), prop)
        known = part.values()
        if prop in known:
            return known[prop]
        if part.variant is not None:
            self._check_selected(item, part.variant)
            return super().value(_prim_of(item), prop)
        raise LookupError(f"{item} has no property {prop!r}. It has {', '.join(known) or 'none'}.")

    def elements(
        self, item: str, prop: str, offset: int, most: int
    ) -> tuple[int, list[Any]] | None:
        part = self.part(item)
        if part is None:
            return super().elements(self._shown(item), prop, offset, most)
        if part.variant is None or not is_selected(self.stage, part.variant):
            return None
        return super().elements(_prim_of(item), prop, offset, most)

    # ---- editing

    @contextmanager
    def _inside(self, item: str) -> Iterator[str]:
        """Yield the prim for a variant or a path in it, and have edits go into the variant.

        Any other item is yielded as it is.

        Raises:
            ValueError: The variant is not selected, so that nobody would see the edits.
        """
        part = self.part(item)
        variant = part.variant if part else variant_around(item)
        if variant is None:
            yield item
            return
        self._check_selected(item, variant)
        layer = self.stage.GetEditTarget().GetLayer()
        target = Usd.EditTarget.ForLocalDirectVariant(layer, variant)
        with Usd.EditContext(self.stage, target):
            yield _prim_of(item)

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        if kind not in KINDS:
            with self._inside(under or "") as above:
                return _seen_from(super().create(kind, name, above or under), under)
        owner = self.part(under or "")
        above = under or ""
        if owner is not None and owner.variant is None:  # a variant set, perhaps in a variant
            above = owner.parent
        with self._inside(above), refusing(f"{kind} cannot be made under {under}"):
            return KINDS[kind].create(self.stage, name or "", under)

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        with self._inside(under or "") as above:
            came = super().import_file(path, how, above or under, scale, up)
        return replace(came, items=[_seen_from(item, under) for item in came.items])

    def placement(self, item: str, space: Axes = "world") -> Placement:
        part = self.part(item)
        if part is not None and part.variant is None:
            raise ValueError(f"{item} has no place of its own: it is a {part.kind}.")
        return super().placement(self._shown(item), space)

    def place(
        self,
        item: str,
        at: Vector | None = None,
        rotation: Vector | None = None,
        scale: Vector | None = None,
        space: Axes = "world",
    ) -> None:
        with self._inside(item) as prim_item:
            super().place(prim_item, at, rotation, scale, space)

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        part = self.part(item)
        if part is not None and part.variant is None:
            self.value(item, prop)
            refused = f"{prop} of {item} cannot be set to {value!r} here"
            with self._inside(part.parent), refusing(refused):
                part.set_value(prop, value)
            return
        with self._inside(item) as prim_item:
            super().set_value(prim_item, prop, value, replace=replace)

    def check_written(self, written: Sequence[tuple[str, str]]) -> None:
        super().check_written([(_outside(item), prop) for item, prop in written])

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        with self._inside(item) as prim_item:
            return super().keys(prim_item, prop)

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        with self._inside(item) as prim_item:
            super().set_keys(prim_item, prop, keys, shape, clear=clear)

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return the item that a rename leads to; ValueError for what cannot be a name."""
        part = self.part(item)
        if part is None:
            return super().called(item, name)
        new = part.renamed(name)
        return new, [] if self.part(new) is None else [new]

    def rename(self, item: str, name: str) -> str:
        part = self.part(item)
        if part is None:
            return super().rename(item, name)
        with refusing(f"{item} cannot be renamed to {name}"):
            return part.rename(name)

    # ---- deleting

    def check_deletable(self, items: Sequence[str]) -> None:
        parts, prims = self._parted(items)
        locked = cast("UsdSession", self.host).locked_layers()
        for part in parts:
            part.check_deletable(locked)
        super().check_deletable(prims)

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        _, prims = self._parted(items)
        return super().dependents(prims)

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        parts, prims = self._parted(items)
        # A variant goes before its set, as it is found in it.
        parts.sort(key=lambda part: part.item, reverse=True)
        with refusing("They cannot be deleted"):
            for part in parts:
                part.delete()
        return super().delete(prims)

    def _parted(self, items: Sequence[str]) -> tuple[list[PartKind], Sequence[str]]:
        """Return the parts among items, and the other items."""
        if "{" not in "".join(items):
            return [], items
        parts = []
        prims = []
        for item in items:
            part = self.part(item)
            if part is None:
                prims.append(item)
            else:
                parts.append(part)
        return parts, prims


def _seen_from(item: str, under: str | None) -> str:
    """Return the path in a variant for a prim below `under`, if that is in a variant or is one."""
    if under is None or "{" not in under:
        return item
    return str(Sdf.Path(item).ReplacePrefix(_prim_of(under), under))


def _outside(item: str) -> str:
    """Return the prim for a variant or a path in one; any other item as it is."""
    return _prim_of(item) if "{" in item else item


def _prim_of(item: str) -> str:
    """Return the prim that has a variant, or for which a path in a variant stands."""
    return str(Sdf.Path(item).StripAllVariantSelections())
