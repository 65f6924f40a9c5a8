"""How aspects of data-blocks are read, and what of them is gone. Main thread.

An aspect is something that data-blocks have, such as modifiers or keys. It is read twice: as a step
begins, of the data-blocks that have any of it, and of the same data-blocks afterwards. Only where
the two differ, the aspect is asked what is gone. A part that is renamed, moved or set to another
value is not gone.

A list is read in one go where it can be: with 10,000 objects, `map(attrgetter(...), blocks)` takes
0.6 to 2.4 ms, and a Python function that is called for each of them twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self

import bpy

from .block_lists import BlockList, places
from .names import custom_keys, name_of
from .objects import has_property

_MAX_INNER: Final = 50_000  # nodes, links and curves of keys that are compared
_SINGULARS: Final = {"vertices": "vertex", "curves": "curve"}  # of plurals that add more than "s"
_Modifier: Final = bpy.types.Modifier  # the look-up takes longer than the test of a part's type
_HAS_IDS: Final = "persistent_uid" in _Modifier.bl_rna.properties  # since 4.2
UNREAD: Final[Any] = object()
"""Stands for what is not read, since the file is too large."""
Named = dict[tuple[Any, ...], str]
"""The words for parts, by the keys that tell the parts apart for as long as a step lasts."""


class Budget:
    """How many nodes, links and curves of keys are still read.

    Of a file with more of them none is compared.
    """

    def __init__(self, *, is_limited: bool = False) -> None:
        """Begin with the whole budget, or with none if it is limited."""
        self._left = 0 if is_limited else _MAX_INNER

    @property
    def is_kept(self) -> bool:
        """Whether some of the budget is left."""
        return self._left > 0

    def take(self, count: int) -> bool:
        """Take so many from the budget, and return whether they may be read."""
        self._left -= count
        return self._left > 0


class NodeWords(str):
    """The words for a node, or for a link into a node.

    Attributes:
        node: The name of the node.
    """

    node: str

    def __new__(cls, words: str, node: str) -> Self:
        """Take the words, and the name of the node."""
        text = super().__new__(cls, words)
        text.node = node
        return text


class Aspect(NamedTuple):
    """Something that data-blocks have.

    Attributes:
        is_of: Returns whether the data-blocks of a list of `bpy.data`, given by its name, can have
            the aspect.
        having: Returns the places of the data-blocks of a list that have any of it.
        read: Reads the aspect of each data-block; `UNREAD` where the budget is used up.
        gone: Returns in words for a person what is gone of a data-block, given what was read before
            and now, which differ, and the data-block.
        has_action: Whether what is read has an attribute `action`.
    """

    is_of: Callable[[str], bool]
    having: Callable[[BlockList], Sequence[int]]
    read: Callable[[Sequence[Any], Budget], Sequence[Any]]
    gone: Callable[[Any, Any, Any], list[str]]
    has_action: bool = False


def named_parts(
    lists: Iterable[str],
    read: Callable[[Any], Named],
    having: Callable[[BlockList], Sequence[int]],
) -> Aspect:
    """Return an aspect of parts that have a name each.

    Args:
        lists: The names of the lists of `bpy.data` whose data-blocks can have such parts.
        read: Returns the parts of a data-block.
        having: Returns the places of the data-blocks of a list that have any.
    """
    return Aspect(frozenset(lists).__contains__, having, each(read), missing)


def each(read: Callable[[Any], Any]) -> Callable[[Sequence[Any], Budget], list[Any]]:
    """Return a function that reads each data-block by itself, without a budget."""
    return lambda blocks, _: [read(block) for block in blocks]


def each_within(read: Callable[[Any, Budget], Any]) -> Callable[[Sequence[Any], Budget], list[Any]]:
    """Return a function that reads each data-block by itself, within the budget."""
    return lambda blocks, budget: [read(block, budget) for block in blocks]


def every(prop: str) -> Callable[[BlockList], list[int]]:
    """Return a function that finds the data-blocks in which a property is set and not empty."""
    get = attrgetter(prop)
    return lambda block_list: places(map(get, block_list.blocks))


def missing(before: Named, now: Named, _: Any) -> list[str]:
    """Return the words for parts that a data-block has no more; an `Aspect.gone`."""
    return missing_parts(before, now)


def missing_parts(before: Mapping[Any, str], now: Mapping[Any, str]) -> list[str]:
    """Return the words for parts that are not there any more."""
    return [words for key, words in before.items() if key not in now]


def each_part(what: str, things: Iterable[Any]) -> Named:
    """Return the words for parts, such as "modifier Bevel", by their keys."""
    try:
        return {key_of(part): f"{what} {part.name}" for part in things}
    except UnicodeDecodeError:
        return {key_of(part): f"{what} {name_of(part)}" for part in things}


def key_of(part: Any) -> tuple[Any, ...]:
    """Return the key that tells a part from others for as long as a step lasts."""
    if _HAS_IDS and isinstance(part, _Modifier):
        return (part.persistent_uid,)
    return part.as_pointer(), type(part).__name__


def numbered(count: int, words: str) -> str:
    """Return "1 key" or "3 keys"."""
    if count != 1:
        return f"{count} {words}"
    singular = _SINGULARS.get(words, words.removesuffix("s"))
    return f"{count} {singular}"


def has(prop: str) -> Callable[[str], bool]:
    """Return a function that returns whether the data-blocks of a list have a property."""
    return lambda name: has_property(name, prop)


def always(block_list: BlockList) -> Sequence[int]:
    """Return the places of all data-blocks: each of them may have some of an aspect."""
    return range(len(block_list.blocks))


def keys_of_bones(bones: Iterable[Any]) -> dict[str, list[str]]:
    """Return the custom properties of each bone that has any, without those of add-ons."""
    found = {}
    for bone in bones:
        keys = custom_keys(bone)
        if keys:
            declared = bone.bl_rna.properties  # those of add-ons
            keys = [key for key in keys if key not in declared]
        if keys:
            found[name_of(bone)] = keys
    return found


def gone_keys_of_bones(
    before: Mapping[str, list[str]], now: Mapping[str, list[str]], bones: Container[str]
) -> list[str]:
    """Return the words for custom properties that are gone.

    Args:
        before: The custom properties by bone as they were.
        now: The custom properties by bone as they are.
        bones: The names of the bones that are there: what a missing bone had goes with the bone.
    """
    gone = []
    for name, keys in before.items():
        if name not in bones:
            continue
        left = now.get(name, ())
        gone += [f"custom property {key} of bone {name}" for key in keys if key not in left]
    return gone
