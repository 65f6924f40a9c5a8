"""How aspects of data-blocks are read, and what of them is gone. Main thread.

An aspect is something that data-blocks have, such as modifiers or keys. It is read twice: as a step
begins, of the data-blocks that have any of it, and of the same data-blocks afterwards. Only where
the two differ, the aspect is asked what is gone. A part that is renamed, moved or set to another
value is not gone.

A list is read in one go where it can be: with 10,000 objects, `map(attrgetter(...), blocks)` takes
0.6 to 2.4 ms, and a Python function that is called for each of them twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self

import bpy

from .block_lists import BlockList, places
from .names import name_of
from .objects import has_property

_MAX_INNER: Final = 50_000  # nodes, links and curves of keys that are compared
_IS_FAST: Final = bpy.app.version >= (4, 0)  # the content of meshes is read as it lies in memory
_MAX_CONTENT: Final = 10_000_000 if _IS_FAST else 1_000_000  # numbers: some 25 ms
_MAX_WEIGHED: Final = 20_000  # vertices whose weights are read: 10 to 20 ms
_SINGULARS: Final = {"vertices": "vertex", "curves": "curve"}  # of plurals that add more than "s"
_Modifier: Final = bpy.types.Modifier  # the look-up takes longer than the test of a part's type
_HAS_IDS: Final = "persistent_uid" in _Modifier.bl_rna.properties  # since 4.2
_SHOWN: Final = {"active", "is_active", "show_expanded"}  # how a part is shown in the interface
UNREAD: Final[Any] = object()
"""Stands for what is not read, since the file is too large."""
Named = dict[tuple[Any, ...], str]
"""The words for parts, by the keys that tell the parts apart for as long as a step lasts."""


class Budget:
    """How much is still read.

    Nodes, links and curves of keys: of a file with more of them none is compared. The content of
    meshes and other data: what is too large is left out. The weights of vertices: a sample is
    compared.

    Attributes:
        is_complete: Whether all was read that was asked for.
    """

    def __init__(self, *, is_limited: bool = False) -> None:
        """Begin with the whole budget, or without nodes, links and curves if it is limited."""
        self._left = 0 if is_limited else _MAX_INNER
        self._content = _MAX_CONTENT
        self._weighed = _MAX_WEIGHED
        self.is_complete = not is_limited

    @property
    def is_kept(self) -> bool:
        """Whether some of the budget is left."""
        return self._left > 0

    def take(self, count: int) -> bool:
        """Take so many from the budget, and return whether they may be read."""
        self._left -= count
        if self._left <= 0:
            self.is_complete = False
        return self._left > 0

    def take_content(self, count: int) -> bool:
        """Take so many numbers of content, and return whether they may be read."""
        if count > self._content:
            self.is_complete = False
            return False
        self._content -= count
        return True

    def take_weighed(self, count: int) -> int:
        """Take so many vertices, and return how many of them may be read."""
        if count > self._weighed:
            self.is_complete = False
        taken = min(count, self._weighed)
        self._weighed -= taken
        return taken


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


class PartWords(str):
    """The words for a part that another part may replace at its address.

    Attributes:
        values: A digest of the part's values: they stay as the part is renamed.
    """

    values: int

    def __new__(cls, words: str, values: int) -> Self:
        """Take the words, and the digest."""
        text = super().__new__(cls, words)
        text.values = values
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
        uses: Returns the data-blocks that are used, given what was read of a data-block.
    """

    is_of: Callable[[str], bool]
    having: Callable[[BlockList], Sequence[int]]
    read: Callable[[Sequence[Any], Budget], Sequence[Any]]
    gone: Callable[[Any, Any, Any], list[str]]
    uses: Callable[[Any], Iterable[Any]] = lambda _: ()


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
    """Return the words for parts that are not there any more.

    A new part often gets the address of a removed one. A part that has another name and other
    values as well is another part.
    """
    gone = []
    for key, words in before.items():
        if key not in now or _is_other(words, now[key]):
            gone.append(words)
    return gone


def _is_other(before: str, now: str) -> bool:
    if before == now or not isinstance(before, PartWords) or not isinstance(now, PartWords):
        return False
    return before.values != now.values


def each_part(
    what: str, things: Iterable[Any], values: Callable[[Any], int] | None = None
) -> Named:
    """Return the words for parts, such as "modifier Bevel", by their keys.

    Args:
        what: The word for a part of this kind.
        things: The parts.
        values: Returns a digest of a part's values, for parts that are replaced unseen otherwise.
    """
    if values is not None:
        return {key_of(it): PartWords(f"{what} {name_of(it)}", values(it)) for it in things}
    try:
        return {key_of(part): f"{what} {part.name}" for part in things}
    except UnicodeDecodeError:
        return {key_of(part): f"{what} {name_of(part)}" for part in things}


def key_of(part: Any) -> tuple[Any, ...]:
    """Return the key that tells a part from others for as long as a step lasts.

    A new part may have the key of a removed one: the address, or in 4.5 the id of a modifier.
    """
    if _HAS_IDS and isinstance(part, _Modifier):
        return part.persistent_uid, type(part).__name__
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


@cache
def _values_getter(kind: Any) -> Callable[[Any], Any]:
    """Return what reads the numbers, switches and data-blocks among the properties of a type."""
    names = []
    for rna in kind.bl_rna.properties:
        is_value = rna.type in ("BOOLEAN", "INT", "FLOAT") and not rna.is_array
        is_block = rna.type == "POINTER" and "use_fake_user" in rna.fixed_type.properties
        is_computed = rna.is_readonly or rna.identifier in _SHOWN
        if (is_value or is_block) and not is_computed:
            names.append(rna.identifier)
    return attrgetter(*names, "bl_rna")


def values_of(part: Any) -> int:
    """Return a digest of a part's own values, without its name."""
    kind: Any = type(part)
    return hash(_values_getter(kind)(part)[:-1])
