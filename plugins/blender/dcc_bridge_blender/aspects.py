"""How parts of a data-block are read, and what of them is gone. Main thread.

Each aspect is read twice: as a step begins, of the data-blocks that have any of it, and of the same
ones afterwards. A part that is renamed, moved or set to something else is not gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Self

import bpy

from .names import name_of
from .objects import has_property

_MOST_INNER: Final = 50_000  # nodes, links and curves of keys up to which they are compared
_ONE: Final = {"vertices": "vertex", "curves": "curve"}
_HAS_IDS: Final = "persistent_uid" in bpy.types.Modifier.bl_rna.properties  # since 4.2
Named = dict[tuple[Any, ...], str]


class Budget:
    """How many nodes and curves of keys are still looked at; of a larger file none is compared."""

    def __init__(self, *, is_limited: bool = False) -> None:
        self._left = 0 if is_limited else _MOST_INNER
        self._seen = set[int]()

    @property
    def is_kept(self) -> bool:
        """Whether there were no more than that."""
        return self._left > 0

    def is_first(self, data: Any) -> bool:
        """Return whether something that several share has not been read yet."""
        is_first = id(data) not in self._seen
        self._seen.add(id(data))
        return is_first

    def take(self, count: int) -> bool:
        """Take some, and return whether they may be looked at."""
        self._left -= count
        return self._left > 0


class NodeWords(str):
    """What a person reads for a node, or for a link into it, with the node's name."""

    node: str

    def __new__(cls, words: str, node: str) -> Self:
        """Take the words, and the name of the node."""
        made = super().__new__(cls, words)
        made.node = node
        return made


class Aspect(NamedTuple):
    """Something that data-blocks have.

    Attributes:
        is_of: Tells whether those of a list of `bpy.data` can have it.
        has: Tells whether one has any, quickly.
        read: Reads it.
        gone: Tells of what was read what a data-block has no more, in a person's words.
    """

    is_of: Callable[[str], bool]
    has: Callable[[Any], Any]
    read: Callable[[Any, Budget], Any]
    gone: Callable[[Any, Any, Budget], list[str]]


def named_parts(
    lists: Iterable[str], read: Callable[[Any, Budget], Named], has: Callable[[Any], Any]
) -> Aspect:
    """Return an aspect of parts that have a name each."""

    def gone(before: Named, block: Any, budget: Budget) -> list[str]:
        return missing_parts(before, read(block, budget)) if before else []

    names = {*lists}
    return Aspect(names.__contains__, has, read, gone)


def missing_parts(before: Mapping[Any, str], now: Mapping[Any, str]) -> list[str]:
    """Return the words of parts that are not there any more."""
    return [words for key, words in before.items() if key not in now]


def each_part(what: str, things: Iterable[Any]) -> Named:
    """Return parts by what tells them apart for as long as a step lasts."""
    return {key_of(it): f"{what} {name_of(it)}" for it in things}


def key_of(part: Any) -> tuple[Any, ...]:
    """Return what tells a part from others for as long as a step lasts."""
    if _HAS_IDS and isinstance(part, bpy.types.Modifier):
        return (part.persistent_uid,)
    return part.as_pointer(), type(part).__name__


def numbered(count: int, words: str) -> str:
    """Return "1 key" or "3 keys"."""
    one = _ONE.get(words, words.removesuffix("s"))
    return f"1 {one}" if count == 1 else f"{count} {words}"


def has(prop: str) -> Callable[[str], bool]:
    """Return what tells whether the data-blocks of a list of `bpy.data` have a property."""
    return lambda name: has_property(name, prop)


def always(block: Any) -> bool:
    """Return that there may be some of it."""
    return True
