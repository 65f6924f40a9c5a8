"""The kinds of parts that are items as prims are: variant sets and variants. Main thread."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from typing import Any, ClassVar, Final

from pxr import Sdf, Usd

from dcc_bridge.spi import ApiEntry, Value

from .. import variants
from ..prims import only_layer
from ..shown import is_selected
from .arcs import ARCS, composed_arcs, shown_arcs
from .items import short
from .properties import choose


class PartKind(ABC):
    """A part of a scene that is an item. Each subclass describes one kind.

    Attributes:
        kind: The type, as `create` takes it.
        text: What it is, for `find_api`.
        example: Arguments of `create`, for `find_api`.
        item: The item.
        variant: The variant into which edits of the item go; None for a part with values of its
            own.
    """

    kind: ClassVar[str]
    text: ClassVar[str]
    example: ClassVar[dict[str, Any]]
    item: str
    variant: Sdf.Path | None = None

    @classmethod
    @abstractmethod
    def find(cls, stage: Usd.Stage, item: str) -> PartKind | None:
        """Return the part that an item stands for; None if it is no part of this kind."""

    @classmethod
    @abstractmethod
    def create(cls, stage: Usd.Stage, name: str, under: str | None) -> str:
        """Create a part, and return its item.

        Raises:
            LookupError: There is no such item `under`.
            ValueError: It cannot have the part, or the part cannot have the name.
        """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the part."""

    @property
    @abstractmethod
    def parent(self) -> str:
        """The item that has the part."""

    @abstractmethod
    def below(self) -> list[str]:
        """Return the items below the part."""

    @abstractmethod
    def values(self) -> dict[str, Value]:
        """Return the properties of the part."""

    @abstractmethod
    def set_value(self, prop: str, value: Any) -> None:
        """Set one of `values`.

        Raises:
            ValueError: The value does not fit.
        """

    @abstractmethod
    def renamed(self, name: str) -> str:
        """Return the item that the part would be under another name.

        Raises:
            ValueError: It cannot have that name.
        """

    @abstractmethod
    def rename(self, name: str) -> str:
        """Rename the part, and return its item.

        Raises:
            ValueError: The name is taken or not valid, or the part is not in the scene's layers.
        """

    @abstractmethod
    def check_deletable(self, locked: Collection[Sdf.Layer]) -> None:
        """Check that the part can be deleted while some layers are locked.

        Raises:
            ValueError: It cannot be deleted; the message says why.
        """

    @abstractmethod
    def delete(self) -> None:
        """Delete the part."""


class _OfVariants(PartKind):
    """A variant set or a variant.

    Attributes:
        prim: The prim that has it.
        path: Its path.
    """

    def __init__(self, stage: Usd.Stage, item: str) -> None:
        self.item = item
        self.path = Sdf.Path(item)
        self.prim = variants.owner_of(stage, self.path)
        self._stage = stage

    @classmethod
    def find(cls, stage: Usd.Stage, item: str) -> PartKind | None:
        if variants.kind_of(stage, item) == cls.kind:
            return cls(stage, item)
        return None

    @property
    def variant_set(self) -> Usd.VariantSet:
        """The variant set."""
        return self.prim.GetVariantSet(self.path.GetVariantSelection()[0])

    def check_deletable(self, locked: Collection[Sdf.Layer]) -> None:
        specs = variants.specs_of(self._stage, self.path)
        if not specs:
            raise ValueError(
                f"{self.item} cannot be deleted: a referenced file or another variant holds it."
            )
        for spec in specs:
            if spec.layer in locked:
                name = spec.layer.GetDisplayName()
                raise ValueError(
                    f"{self.item} cannot be deleted: the layer {name} is locked; unlock it first."
                )
        only = only_layer(self._stage)
        others = [spec.layer for spec in specs if only is not None and spec.layer != only]
        if only is not None and others:
            name = others[0].GetDisplayName()
            raise ValueError(
                f"{self.item} cannot be deleted in {only.GetDisplayName()}, the edit_target: "
                f"{name} holds it. Set edit_target of @scene to {name} first."
            )

    def renamed(self, name: str) -> str:
        set_name, variant = self.path.GetVariantSelection()
        above = self.path.GetParentPath()
        if variant:
            _check_variant(name)
            return str(variants.path_in(above, set_name, name))
        _check_variant_set(name)
        return str(variants.path_in(above, name))

    def rename(self, name: str) -> str:
        new = self.renamed(name)
        if part_at(self._stage, new) is not None:
            raise ValueError(f"{self.item} cannot be called {name}: {new} is there already.")
        if not variants.specs_of(self._stage, self.path):
            raise ValueError(
                f"{self.item} cannot be renamed: a referenced file or another variant holds it."
            )
        variants.rename(self._stage, self.path, name)
        if part_at(self._stage, self.item) is not None:
            raise ValueError(
                f"{self.item} cannot be renamed: a referenced file or another variant holds it too."
            )
        return new

    def delete(self) -> None:
        variants.remove(self._stage, self.path)


class _VariantSet(_OfVariants):
    """A variant set: `/World/Set{look=}`."""

    kind = "VariantSet"
    text = "A variant set of a prim, such as /World/Set{look=}; variant:look of the prim selects"
    example: ClassVar = {
        "type": "VariantSet",
        "name": "look",
        "under": "<Xform>",
        "values": {"variants": ["red", "blue"], "selection": "red"},
    }

    @classmethod
    def create(cls, stage: Usd.Stage, name: str, under: str | None) -> str:
        above = Sdf.Path(under or "/")
        prim = stage.GetPrimAtPath(above.StripAllVariantSelections())
        if not prim or prim.IsPseudoRoot():
            raise ValueError("A VariantSet belongs to a prim: name the prim in `under`.")
        _check_variant_set(name)
        if prim.GetVariantSets().HasVariantSet(name):
            raise ValueError(f"{under} has a variant set {name} already.")
        prim.GetVariantSets().AddVariantSet(name)
        return str(variants.path_in(above, name))

    @property
    def name(self) -> str:
        return str(self.variant_set.GetName())

    @property
    def parent(self) -> str:
        return str(self.path.GetParentPath())

    def below(self) -> list[str]:
        above = self.path.GetParentPath()
        names = self.variant_set.GetVariantNames()
        return [str(variants.path_in(above, self.name, name)) for name in names]

    def values(self) -> dict[str, Value]:
        return {
            "variants": Value(self.variant_set.GetVariantNames(), "string[]"),
            "selection": Value(self.variant_set.GetVariantSelection(), "variant"),
        }

    def set_value(self, prop: str, value: Any) -> None:
        if prop == "selection":
            choose(self.prim, self.name, value)
            return
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError(f"variants of {self.item} are names, in a list.")
        names = self.variant_set.GetVariantNames()
        missing = [name for name in names if name not in value]
        if missing:
            raise ValueError(f"Variants are removed by delete: {', '.join(missing)}.")
        for name in value:
            if name not in names:
                _add(self.variant_set, name)


class _Variant(_OfVariants):
    """A variant: `/World/Set{look=red}`. Its properties are those of the prim, in the variant."""

    kind = "Variant"
    text = "A variant, /World/Set{look=red}; what is set or created in it needs it selected"
    example: ClassVar = {"type": "Variant", "name": "look=green", "under": "<Xform>"}

    def __init__(self, stage: Usd.Stage, item: str) -> None:
        super().__init__(stage, item)
        self.variant = self.path

    @classmethod
    def create(cls, stage: Usd.Stage, name: str, under: str | None) -> str:
        """Create a variant in a variant set, or as "look=red" in a prim, with the set if needed."""
        set_name, _, variant = name.rpartition("=")
        if set_name:
            under = _set_of(stage, set_name, under)
        owner = _VariantSet.find(stage, under or "")
        if not isinstance(owner, _VariantSet):
            raise ValueError(
                'A Variant belongs to a variant set: give under="/World/Set{look=}", name="red".'
            )
        if variant in owner.variant_set.GetVariantNames():
            raise ValueError(f"{under} has a variant {variant} already.")
        _add(owner.variant_set, variant)
        return str(variants.path_in(owner.path.GetParentPath(), owner.name, variant))

    @property
    def name(self) -> str:
        return str(self.path.GetVariantSelection()[1])

    @property
    def parent(self) -> str:
        set_name = self.path.GetVariantSelection()[0]
        return str(variants.path_in(self.path.GetParentPath(), set_name))

    def below(self) -> list[str]:
        """Return the prims that the scene's layers hold in the variant, while it is selected."""
        if not is_selected(self._stage, self.path):
            return []
        return variants.prims_in(self._stage, self.path)

    def values(self) -> dict[str, Value]:
        """Return the attributes, references and payloads that the scene's layers hold in it."""
        values: dict[str, Value] = {}
        specs = variants.specs_of(self._stage, self.path)
        for name in ARCS:
            rows = shown_arcs(composed_arcs([spec.primSpec for spec in specs]), name)
            if rows:
                values[name] = Value(rows, "asset[]")
        for spec in specs:
            for attribute in spec.primSpec.attributes.values():
                held = Value(short(attribute.default), str(attribute.typeName))
                values.setdefault(attribute.name, held)
        return values

    def set_value(self, prop: str, value: Any) -> None:
        raise ValueError(f"{prop} of {self.item} is not set in this way.")


def _set_of(stage: Usd.Stage, name: str, under: str | None) -> str:
    """Return the variant set of a prim with that name, which is created if there is none."""
    above = Sdf.Path(under or "/")
    prim = stage.GetPrimAtPath(above.StripAllVariantSelections())
    if prim and prim.GetVariantSets().HasVariantSet(name):
        return str(variants.path_in(above, name))
    return _VariantSet.create(stage, name, under)


def _add(variant_set: Usd.VariantSet, name: str) -> None:
    """Add a variant.

    Raises:
        ValueError: No variant can have that name.
    """
    _check_variant(name)
    variant_set.AddVariant(name)


def _check_variant(name: str) -> None:
    """Raise a ValueError for what cannot be the name of a variant."""
    if not name or not Sdf.Path.IsValidPathString(f"/Prim{{set={name}}}"):
        raise ValueError(f"{name!r} cannot be a variant: use letters, digits, _ and -.")


def _check_variant_set(name: str) -> None:
    """Raise a ValueError for what cannot be the name of a variant set."""
    if not Sdf.Path.IsValidIdentifier(name):
        raise ValueError(f"{name!r} cannot be a variant set: use letters, digits and _.")


KINDS: Final[dict[str, type[PartKind]]] = {kind.kind: kind for kind in (_VariantSet, _Variant)}
"""The kinds by their types."""


def part_at(stage: Usd.Stage, item: str) -> PartKind | None:
    """Return the part that an item stands for; None for a prim, and for what is not there."""
    for kind in KINDS.values():
        part = kind.find(stage, item)
        if part is not None:
            return part
    return None


def entries() -> Iterator[ApiEntry]:
    """Yield the kinds, with examples."""
    for kind in KINDS.values():
        example = f"create {json.dumps({'things': [kind.example]})}"
        yield ApiEntry(f"create type {kind.kind}", "type", kind.text, example=example)
