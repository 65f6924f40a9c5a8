"""The kinds of parts of an object, called aspects, and how their tables are built. Main thread.

An `Aspect` is one kind of part that data-blocks have and that an edit can remove, such as modifiers
or keys. As an undo step begins, `parts` reads each aspect of the data-blocks that have any of it.
After the edit it reads the same data-blocks again. Where the two readings differ, the aspect names
the missing parts. A part that is renamed, moved or set to another value is not missing.

The tables are in `parts` and the modules `parts_*`, at the end of each.

Many data-blocks are read by one call where that is possible: with 10,000 objects,
`map(attrgetter(...), blocks)` takes 0.6 to 2.4 ms, and a Python function that is called for each
object takes twice as long.
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

_MAX_INNER: Final = 50_000  # nodes, links and F-curves that are compared
_IS_FAST: Final = bpy.app.version >= (4, 0)  # the content of meshes is read as it lies in memory
_MAX_CONTENT: Final = 10_000_000 if _IS_FAST else 1_000_000  # numbers: some 25 ms
_MAX_WEIGHED: Final = 20_000  # vertices whose weights are read: 10 to 20 ms
_SINGULARS: Final = {"vertices": "vertex", "curves": "curve"}  # of plurals that add more than "s"
_Modifier: Final = bpy.types.Modifier  # the look-up takes longer than the test of a part's type
_HAS_IDS: Final = "persistent_uid" in _Modifier.bl_rna.properties  # since 4.2
_SHOWN: Final = {"active", "is_active", "show_expanded"}  # how a part is shown in the interface
UNREAD: Final[Any] = object()
"""Stands for an aspect of a data-block that was not read, since the file is too large."""
WordsByKey = dict[tuple[Any, ...], str]
"""The words for each part, such as "modifier Bevel", by the part's `key_of`."""


class Budget:
    """How much of a file may still be read, so that reading a large file does not take too long.

    There are three amounts, each with a method that takes from it:

    - `take`: nodes, links and F-curves. After the last, no more of them are read.
    - `take_content`: numbers of meshes and other data. Data with more than are left is skipped.
    - `take_vertices`: vertices with weights. Of a mesh with more than are left, a sample is read.

    Attributes:
        is_complete: Whether everything was read that had to be read.
    """

    def __init__(self, *, is_limited: bool = False) -> None:
        """Begin with all three amounts; if limited, without nodes, links and curves."""
        self._left = 0 if is_limited else _MAX_INNER
        self._content = _MAX_CONTENT
        self._vertices = _MAX_WEIGHED
        self.is_complete = not is_limited

    @property
    def is_left(self) -> bool:
        """Whether nodes, links and curves may still be read."""
        return self._left > 0

    def take(self, count: int) -> bool:
        """Take nodes, links or curves from the budget, and return whether they may be read."""
        self._left -= count
        if self._left <= 0:
            self.is_complete = False
        return self._left > 0

    def take_content(self, count: int) -> bool:
        """Take numbers of content from the budget, and return whether they may be read."""
        if count > self._content:
            self.is_complete = False
            return False
        self._content -= count
        return True

    def take_vertices(self, count: int) -> int:
        """Take vertices from the budget, and return how many of them may be read."""
        if count > self._vertices:
            self.is_complete = False
        taken = min(count, self._vertices)
        self._vertices -= taken
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
    """The words for a part whose address a new part may get.

    Attributes:
        values: A digest of the part's values, which a rename leaves as they are.
    """

    values: int

    def __new__(cls, words: str, values: int) -> Self:
        """Take the words, and the digest."""
        text = super().__new__(cls, words)
        text.values = values
        return text


class Aspect(NamedTuple):
    """One kind of part that data-blocks have and that an edit can remove.

    A place is an index into the data-blocks of a `BlockList`.

    Attributes:
        applies_to: Returns whether the data-blocks of a list of `bpy.data` can have such parts,
            given the name of the list.
        find_places: Returns the places of the data-blocks of a list that have any such parts.
        read: Returns the parts of each data-block, in any form that can be compared; `UNREAD` where
            the budget is used up.
        describe_loss: Returns words for a person for each missing part. Called with what was read
            before and now, which differ, and with the data-block.
        used_blocks: Returns the data-blocks that the parts use, such as materials, given what was
            read of a data-block.
    """

    applies_to: Callable[[str], bool]
    find_places: Callable[[BlockList], Sequence[int]]
    read: Callable[[Sequence[Any], Budget], Sequence[Any]]
    describe_loss: Callable[[Any, Any, Any], list[str]]
    used_blocks: Callable[[Any], Iterable[Any]] = lambda _: ()


# ---- for `applies_to`


def lists_named(*names: str) -> Callable[[str], bool]:
    """Return a function that returns whether a list has one of these names."""
    return frozenset(names).__contains__


def lists_with_property(prop: str) -> Callable[[str], bool]:
    """Return a function that returns whether the data-blocks of a list have a property."""
    return lambda name: has_property(name, prop)


def every_list(_: str) -> bool:
    """Return True, for parts that the data-blocks of every list can have."""
    return True


# ---- for `find_places`


def places_with(prop: str) -> Callable[[BlockList], list[int]]:
    """Return a function that finds the data-blocks in which a property is set and not empty."""
    get = attrgetter(prop)
    return lambda block_list: places(map(get, block_list.blocks))


def all_places(block_list: BlockList) -> Sequence[int]:
    """Return the places of all data-blocks, as each of them may have such parts."""
    return range(len(block_list.blocks))


# ---- for `read`


def read_each(read: Callable[[Any], Any]) -> Callable[[Sequence[Any], Budget], list[Any]]:
    """Return a function that reads one data-block after the other, without a budget."""
    return lambda blocks, _: [read(block) for block in blocks]


def read_each_within(
    read: Callable[[Any, Budget], Any],
) -> Callable[[Sequence[Any], Budget], list[Any]]:
    """Return a function that reads one data-block after the other, within the budget."""
    return lambda blocks, budget: [read(block, budget) for block in blocks]


def words_by_key(
    kind: str, parts: Iterable[Any], digest: Callable[[Any], int] | None = None
) -> WordsByKey:
    """Return the words for parts, such as "modifier Bevel", by their keys.

    Args:
        kind: The word for a part of this kind, such as "modifier".
        parts: The parts.
        digest: Returns a digest of a part's values, where a new part may get the key of another.
    """
    if digest is not None:
        return {key_of(part): PartWords(f"{kind} {name_of(part)}", digest(part)) for part in parts}
    try:
        return {key_of(part): f"{kind} {part.name}" for part in parts}
    except UnicodeDecodeError:
        return {key_of(part): f"{kind} {name_of(part)}" for part in parts}


def key_of(part: Any) -> tuple[Any, ...]:
    """Return the key that tells a part from others for as long as an undo step lasts.

    A new part may have the key of a removed one: the address, or in 4.5 the id of a modifier.
    """
    if _HAS_IDS and isinstance(part, _Modifier):
        return part.persistent_uid, type(part).__name__
    return part.as_pointer(), type(part).__name__


def digest_of_values(part: Any) -> int:
    """Return a digest of a part's own values, without its name."""
    kind: Any = type(part)
    return hash(_values_getter(kind)(part)[:-1])


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


# ---- for `describe_loss`


def missing_parts(before: Mapping[Any, str], now: Mapping[Any, str], _: Any = None) -> list[str]:
    """Return the words for parts that are missing now, given the words for all parts by key.

    A new part often gets the address of a removed one. A part at the same address that has another
    name and other values as well is another part.
    """
    missing = []
    for key, words in before.items():
        if key not in now or _is_other(words, now[key]):
            missing.append(words)
    return missing


def _is_other(before: str, now: str) -> bool:
    """Return whether two parts with the same key are different parts."""
    if before == now or not isinstance(before, PartWords) or not isinstance(now, PartWords):
        return False
    return before.values != now.values


def words_for_count(count: int, words: str) -> str:
    """Return "1 key" or "3 keys"."""
    if count != 1:
        return f"{count} {words}"
    singular = _SINGULARS.get(words, words.removesuffix("s"))
    return f"{count} {singular}"
