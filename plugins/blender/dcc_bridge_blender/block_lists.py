"""The data-blocks of each list of `bpy.data`, as a step began. Main thread."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cache
from itertools import compress, count
from operator import attrgetter
from typing import Any, Final, NamedTuple

import bpy

from .names import names_of, text_of
from .objects import data, item_named, lists

_SKIPPED: Final = {
    "window_managers",
    "screens",
    "workspaces",
    "all_ids",  # since 5.x: the data-blocks of all lists
    "shape_keys",  # parts of the meshes, curves and lattices that they shape
}


class BlockList(NamedTuple):
    """The data-blocks of one list.

    Attributes:
        name: The name of the list, such as "meshes".
        blocks: The data-blocks. They stay the same Python objects as long as this list is kept.
        own: For "objects", the data of each object; empty for other lists.
        firsts: The place of the first object of each data, by the `id` of the data.
        names: The name of each data-block.
        libraries: The file that each data-block is linked from, as items name the file, or None;
            empty where nothing in the scene is linked.
    """

    name: str
    blocks: list[Any]
    own: list[Any]
    firsts: dict[int, int]
    names: list[str]
    libraries: list[str | None]

    def item(self, at: int) -> str:
        """Return the item that the data-block at a place was."""
        library = None
        if self.libraries:
            library = self.libraries[at]
        return item_named(_prefix_of(self.name), self.names[at], library)

    def items(self, ids: Container[int]) -> dict[int, str]:
        """Return the items that some data-blocks were.

        Args:
            ids: The Python `id` of each of these data-blocks.
        """
        items = {}
        for at, block in enumerate(self.blocks):
            if id(block) in ids:
                items[id(block)] = self.item(at)
        return items

    def gone(self) -> dict[int, str]:
        """Return the deleted data-blocks: the items that they were, by their Python `id`."""
        now = list(data(self.name))
        if now == self.blocks:
            return {}
        ids = set(map(id, self.blocks))
        ids.difference_update(map(id, now))
        if not ids:
            return {}
        return self.items(ids)


def block_lists() -> list[BlockList]:
    """Return all lists but those of windows, and those whose data-blocks are part of others."""
    names = [name for name in lists().values() if name not in _SKIPPED]
    return [_block_list(name) for name in names]


def data_of(objects: Iterable[Any]) -> list[Any]:
    """Return the data of each object."""
    return list(map(attrgetter("data"), objects))


def places(values: Iterable[object]) -> list[int]:
    """Return the places of the values that are true."""
    return list(compress(count(), values))  # in C: each step has this for each aspect of each list


def _block_list(name: str) -> BlockList:
    things = data(name)
    blocks = list(things)
    own: list[Any] = []
    if name == "objects":
        own = data_of(blocks)
    firsts: dict[int, int] = {}
    for at, block in enumerate(own):
        firsts.setdefault(id(block), at)
    libraries: list[str | None] = []
    if len(bpy.data.libraries):
        libraries = [_library_of(block) for block in blocks]
    return BlockList(name, blocks, own, firsts, names_of(things), libraries)


def _library_of(block: Any) -> str | None:
    if block.library is None:
        return None
    return text_of(block.library, "filepath")


@cache
def _prefix_of(name: str) -> str:
    """Return the word that the items of a list begin with; "" for objects."""
    if name == "objects":
        return ""
    prefixes = {plural: prefix for prefix, plural in lists().items()}
    return prefixes[name]
