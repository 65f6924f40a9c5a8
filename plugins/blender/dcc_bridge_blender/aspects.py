"""How parts of data-blocks are read, and what of them is gone. Main thread.

Each aspect is read twice: as a step begins, of the data-blocks that have any of it, and of the same
ones afterwards; only where that differs is it asked what is gone. A part that is renamed, moved or
set to something else is not.

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

_MOST_INNER: Final = 50_000  # nodes, links and curves of keys up to which they are compared
_ONE: Final = {"vertices": "vertex", "curves": "curve"}
_Modifier: Final = bpy.types.Modifier  # to look it up takes longer than to test for it
_HAS_IDS: Final = "persistent_uid" in _Modifier.bl_rna.properties  # since 4.2
UNREAD: Final[Any] = object()
"""In place of what is not read since the file is too large."""
Named = dict[tuple[Any, ...], str]


class Budget:
    """How many nodes and curves of keys are still looked at; of a larger file none is compared."""

    def __init__(self, *, is_limited: bool = False) -> None:
        self._left = 0 if is_limited else _MOST_INNER

    @property
    def is_kept(self) -> bool:
        """Whether there were no more than that."""
        return self._left > 0

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
        having: Returns the places of those that have any, of a list in one go.
        read: Reads it of each of them; `UNREAD` where the budget is used up.
        gone: Tells in a person's words what is gone, given what was read before and what is read
            now, which differ, and the data-block.
        has_action: Whether what is read has an `action`.
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
    """Return an aspect of parts that have a name each."""
    names = {*lists}
    return Aspect(names.__contains__, having, each(read), missing)


def each(read: Callable[[Any], Any]) -> Callable[[Sequence[Any], Budget], list[Any]]:
    """Return what reads each data-block by itself, whatever there is."""
    return lambda blocks, _: [read(block) for block in blocks]


def each_within(read: Callable[[Any, Budget], Any]) -> Callable[[Sequence[Any], Budget], list[Any]]:
    """Return what reads each data-block by itself as long as the budget is kept."""
    return lambda blocks, budget: [read(block, budget) for block in blocks]


def every(prop: str) -> Callable[[BlockList], list[int]]:
    """Return what finds the data-blocks in which a property is something, and no empty list."""
    get = attrgetter(prop)
    return lambda block_list: places(map(get, block_list.blocks))


def missing(before: Named, now: Named, _: Any) -> list[str]:
    """Return the words of parts that a data-block has no more."""
    return missing_parts(before, now)


def missing_parts(before: Mapping[Any, str], now: Mapping[Any, str]) -> list[str]:
    """Return the words of parts that are not there any more."""
    return [words for key, words in before.items() if key not in now]


def each_part(what: str, things: Iterable[Any]) -> Named:
    """Return parts by what tells them apart for as long as a step lasts."""
    try:
        return {key_of(it): f"{what} {it.name}" for it in things}
    except UnicodeDecodeError:
        return {key_of(it): f"{what} {name_of(it)}" for it in things}


def key_of(part: Any) -> tuple[Any, ...]:
    """Return what tells a part from others for as long as a step lasts."""
    if _HAS_IDS and isinstance(part, _Modifier):
        return (part.persistent_uid,)
    return part.as_pointer(), type(part).__name__


def numbered(count: int, words: str) -> str:
    """Return "1 key" or "3 keys"."""
    one = _ONE.get(words, words.removesuffix("s"))
    return f"1 {one}" if count == 1 else f"{count} {words}"


def has(prop: str) -> Callable[[str], bool]:
    """Return what tells whether the data-blocks of a list of `bpy.data` have a property."""
    return lambda name: has_property(name, prop)


def always(block_list: BlockList) -> Sequence[int]:
    """Return that there may be some of it in each."""
    return range(len(block_list.blocks))


def keys_of_bones(bones: Iterable[Any]) -> dict[str, list[str]]:
    """Return of each bone that has custom properties, but for an add-on's own, what they are."""
    found = {}
    for bone in bones:
        keys = custom_keys(bone)
        own = [key for key in keys if key not in bone.bl_rna.properties] if keys else []
        if own:
            found[name_of(bone)] = own
    return found


def gone_keys_of_bones(
    before: Mapping[str, list[str]], now: Mapping[str, list[str]], bones: Container[str]
) -> list[str]:
    """Tell of properties that are gone of a bone that is there under its name."""
    return [
        f"custom property {key} of bone {name}"
        for name, keys in before.items()
        for key in keys
        if name in bones and key not in now.get(name, ())
    ]
