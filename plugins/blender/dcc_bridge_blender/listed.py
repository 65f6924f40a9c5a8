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

_PASSED: Final = {
    "window_managers",
    "screens",
    "workspaces",
    "all_ids",  # 5.x: all of them
    "shape_keys",  # parts of what they shape
}


class Listed(NamedTuple):
    """The data-blocks of one list.

    Attributes:
        name: The list's.
        blocks: They, which stay the same Python objects as long as this is kept.
        own: Of objects the data of each; of others nothing.
        firsts: The place of the first object of each data, by the data's `id`.
        names: Theirs.
        libraries: Where they are linked from, as the items name it; empty where nothing is linked.
    """

    name: str
    blocks: list[Any]
    own: list[Any]
    firsts: dict[int, int]
    names: list[str]
    libraries: list[str | None]

    def item(self, at: int) -> str:
        """Return the item that one was."""
        library = self.libraries[at] if self.libraries else None
        return item_named(_word_of(self.name), self.names[at], library)

    def items(self, ids: Container[int]) -> dict[int, str]:
        """Return the items that some of them were."""
        return {id(it): self.item(at) for at, it in enumerate(self.blocks) if id(it) in ids}

    def gone(self) -> dict[int, str]:
        """Return what is deleted, each with the item that it was."""
        now = [*data(self.name)]
        if now == self.blocks:
            return {}
        left = set(map(id, self.blocks)).difference(map(id, now))
        return self.items(left) if left else {}


def all_listed() -> list[Listed]:
    """Return all lists of data-blocks but those of windows, and of what is part of others."""
    return [_listed(name) for name in lists().values() if name not in _PASSED]


def data_of(things: Iterable[Any]) -> list[Any]:
    """Return the data of objects."""
    return [*map(attrgetter("data"), things)]


def places(truths: Iterable[object]) -> list[int]:
    """Return where something is true."""
    return [*compress(count(), truths)]


def _listed(name: str) -> Listed:
    things = data(name)
    blocks = [*things]
    own = data_of(blocks) if name == "objects" else []
    firsts = dict(zip(map(id, reversed(own)), range(len(own) - 1, -1, -1), strict=True))
    libraries: list[str | None] = []
    if len(bpy.data.libraries):
        owners = [block.library for block in blocks]
        libraries = [text_of(it, "filepath") if it is not None else None for it in owners]
    return Listed(name, blocks, own, firsts, names_of(things), libraries)


@cache
def _word_of(name: str) -> str:
    """Return what an item of a list begins with; nothing for objects."""
    words = {plural: word for word, plural in lists().items()}
    return "" if name == "objects" else words[name]
