"""Parts of data-blocks that agents edit as items: modifiers, bones, keys' curves. Main thread.

The item of a part is that of its owner, with the kind and the name of the part:
``Cube/modifier:Bevel``, ``Rig/bone:Arm``. The owner may be a part itself:
``Rig/bone:Arm/constraint:IK``. The table `KINDS` has a row for each kind; a new kind takes a new
row and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import bpy

from .animating import ANIMATED, ANIMATING
from .containing import CONTAINING
from .kind import Access, PartKind
from .rigging import RIGGING

__all__ = [
    *("KINDS", "Access", "Found", "PartKind", "find", "items_below"),
    *("kind_named", "kind_of_struct", "values_of", "with_parts"),
]
KINDS: Final[Mapping[str, PartKind]] = {**RIGGING, **ANIMATING, **CONTAINING}
"""The kinds of parts, by the word that stands for them in an item."""


class Found(NamedTuple):
    """A part that was found.

    Attributes:
        part: The part.
        name: Its name.
        kind: Its kind.
        owner: What it belongs to.
        owner_item: The item of that.
    """

    part: Any
    name: str
    kind: PartKind
    owner: Any
    owner_item: str


def find(item: str, block: Callable[[str], Any]) -> Found | None:
    """Return the part of an item, or None.

    Args:
        item: The item; the names of owner and part may contain slashes.
        block: Returns what an item stands for, or None.
    """
    for owner_item, word, name in _split(item):
        kind = KINDS[word]
        owner = block(owner_item)
        if owner is None:
            continue
        part = kind.parts(owner).get(name)
        if part is not None:
            return Found(part, name, kind, owner, owner_item)
    return None


def _split(item: str) -> Iterator[tuple[str, str, str]]:
    """Yield each way to read an item as that of an owner, a kind and a name."""
    at = item.rfind("/")
    while at > 0:
        word, colon, name = item[at + 1 :].partition(":")
        if colon and word in KINDS:
            yield item[:at], word, name
        at = item.rfind("/", 0, at)


def items_below(under: str, block: Callable[[str], Any]) -> list[str] | None:
    """Return the parts of a kind for ``Rig/bone:``; None for an item that does not end so.

    For ``Rig/`` these are all parts, each with its own ones, such as the constraints of a bone.
    """
    owner_item, slash, word = under.rpartition("/")
    kind = word.removesuffix(":")
    is_kind = word.endswith(":") and kind in KINDS
    if not slash or (word and not is_kind):
        return None
    owner = block(owner_item)
    if owner is None:
        return None
    if not word:
        return list(_all_below(owner_item, owner))
    return [f"{under}{name}" for name in KINDS[kind].parts(owner)]


def _all_below(owner_item: str, owner: Any) -> Iterator[str]:
    """Yield all parts of an owner, each followed by its own parts."""
    for word, kind in KINDS.items():
        for name, part in kind.parts(owner).items():
            item = f"{owner_item}/{word}:{name}"
            yield item
            yield from _all_below(item, part)


def with_parts(found: Found) -> list[Any]:
    """Return a part, and the parts of the part."""
    parts = [found.part]
    for kind in KINDS.values():
        parts += kind.parts(found.part).values()
    return parts


def kind_named(kind: str) -> tuple[str, PartKind, str] | None:
    """Return the word, the row and Blender's own name for a type to create; or None."""
    for word, row in KINDS.items():
        own = row.types().get(kind)
        if own is not None:
            return word, row, own
    return None


def kind_of_struct(thing: Any) -> PartKind:
    """Return the kind of a part.

    Raises:
        LookupError: No part has that type.
    """
    for row in KINDS.values():
        if isinstance(thing, row.structs):
            return row
    raise LookupError(f"{thing!r} is no part of an item.")


def values_of(thing: Any) -> Mapping[str, Access]:
    """Return the values of an item beside Blender's own properties, by name."""
    if isinstance(thing, bpy.types.ID):
        return ANIMATED if hasattr(thing, "animation_data") else {}
    if isinstance(thing, bpy.types.Node):
        return {}
    return kind_of_struct(thing).values
