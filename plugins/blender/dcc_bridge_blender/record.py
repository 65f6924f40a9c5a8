"""What a file holds, by identity, to tell afterwards what an edit took away. Main thread.

A data-block is told from another one by Blender's Python object of it: as long as that is kept,
Blender gives the same one, and another for what takes the place or the name of one that is gone.
What is in a data-block has no such thing, and is told apart by its address and type. An undo makes
all of it dangle, so a record is of one step and no longer.

Source of the facts: measured with Debian's Blender 3.4.1 and the wheels of bpy 4.5.15 and 5.2.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, NamedTuple

import bpy

from .aspects import Budget, NodeWords
from .names import name_of, names_of, text_of
from .objects import data, item_named, item_of, lists, local_name
from .parts import ASPECTS
from .parts_animation import Animation

_PASSED: Final = {
    "window_managers",
    "screens",
    "workspaces",
    "all_ids",  # 5.x: all of them
    "shape_keys",  # parts of what they shape
}


class Loss(NamedTuple):
    """Something that is gone.

    Attributes:
        text: What a person reads.
        items: Items: who agreed to lose one of them agreed to this.
        users: Or who agreed to lose all of these, if there are any.
    """

    text: str
    items: frozenset[str]
    users: frozenset[str] = frozenset()

    def is_covered(self, agreed: set[str]) -> bool:
        """Return whether it was agreed to."""
        return bool(self.items & agreed) or (bool(self.users) and self.users <= agreed)


class _Listed(NamedTuple):
    """The data-blocks of one list."""

    name: str
    blocks: list[Any]
    names: list[str]
    libraries: list[str | None]  # as the items name them; empty where nothing is linked

    def item(self, at: int) -> str:
        """Return the item that one was."""
        library = self.libraries[at] if self.libraries else None
        return item_named(_word_of(self.name), self.names[at], library)


class _Group(NamedTuple):
    """A collection, or a scene, and what was in it."""

    owner: Any
    members: list[Any]


class Record:
    """What the open file holds: 15 ms for 10,000 objects, and less to compare."""

    def __init__(self) -> None:
        """Look at everything once."""
        self._lists = [_listed(name) for name in lists().values() if name not in _PASSED]
        (things,) = (it for it in self._lists if it.name == "objects")
        self._things = things
        self._data = [thing.data for thing in things.blocks]
        budget = Budget()
        self._parts = [_parts(it, budget) for it in self._lists]
        self._is_whole = budget.is_kept
        self._groups = _groups()
        self._in_scene = _in_scenes()

    def losses(self) -> list[Loss]:
        """Return what is not there any more: items first, then parts of those that are."""
        now = {it.name: {id(block) for block in data(it.name)} for it in self._lists}
        gone = {
            id(block): listed.item(at)
            for listed in self._lists
            for at, block in enumerate(listed.blocks)
            if id(block) not in now[listed.name]
        }
        found = [*self._items(gone)]
        outside = self._out_of_scenes(gone)
        found += [_of_item(item) for item in outside.values()]
        found += self._members(gone, outside)
        found += self._replaced(gone)
        found += self._of_parts(gone)
        return found

    def _items(self, gone: Mapping[int, str]) -> Iterator[Loss]:
        """Yield what is deleted, without the data of objects that are, which goes with them."""
        first = [self._things, *(it for it in self._lists if it is not self._things)]
        users = self._users() if gone else {}
        for listed in first:
            for block in listed.blocks:
                if id(block) not in gone:
                    continue
                having = users.get(id(block), ())
                is_part = bool(having) and all(id(thing) in gone for thing, _ in having)
                if not is_part:
                    names = frozenset(local_name(item) for _, item in having)
                    yield _of_item(gone[id(block)], names)

    def _users(self) -> dict[int, list[tuple[Any, str]]]:
        """Return by data the objects that had it, each with its item."""
        found: dict[int, list[tuple[Any, str]]] = {}
        for at, (thing, own) in enumerate(zip(self._things.blocks, self._data, strict=True)):
            if own is not None:
                found.setdefault(id(own), []).append((thing, self._things.item(at)))
        return found

    def _out_of_scenes(self, gone: Mapping[int, str]) -> dict[int, str]:
        """Return what is in no scene any more: collections, and objects that are in none of them.

        What is in a collection goes with it.
        """
        now = _in_scenes()
        out = {
            id(block): listed.item(at)
            for listed in self._lists
            if listed.name in ("collections", "objects")
            for at, block in enumerate(listed.blocks)
            if id(block) in self._in_scene and id(block) not in now and id(block) not in gone
        }
        inner = {id(each) for row in self._groups if id(row.owner) in out for each in row.members}
        return {key: item for key, item in out.items() if key not in inner}

    def _members(self, gone: Mapping[int, str], outside: Mapping[int, str]) -> Iterator[Loss]:
        """Yield what is in fewer collections than it was, with those that it left.

        What moved from one to another is none, nor what was in a collection that is deleted.
        """
        alive = [row for row in self._groups if id(row.owner) not in gone]
        left: dict[int, list[tuple[Any, str]]] = {}
        for row in alive:
            now = {id(it) for it in _members_of(row.owner)}
            for each in row.members:
                key = id(each)
                if key not in now and key not in gone and key not in outside:
                    left.setdefault(key, []).append((each, item_of(row.owner)))
        if not left:
            return
        in_scenes = _in_scenes()
        before = Counter(id(each) for row in alive for each in row.members)
        since = Counter(id(each) for row in _groups() for each in row.members)
        items = self._items_of(left)
        for key, those in left.items():
            if key in in_scenes and since[key] < before[key]:
                for each, group in those:
                    what = "collection" if isinstance(each, bpy.types.Collection) else "object"
                    covering = frozenset({group, *map(local_name, (items[key], item_of(each)))})
                    yield Loss(f"{what} {name_of(each)} of {group}", covering)

    def _items_of(self, blocks: Container[int]) -> dict[int, str]:
        """Return what objects and collections were called."""
        return {
            id(block): listed.item(at)
            for listed in self._lists
            if listed.name in ("collections", "objects")
            for at, block in enumerate(listed.blocks)
            if id(block) in blocks
        }

    def _replaced(self, gone: Mapping[int, str]) -> Iterator[Loss]:
        """Yield data and actions that another one took the place of, and nothing has any more.

        They are there still, and Blender leaves them out as it saves.
        """
        for owner, own, now, item in self._had():
            is_alive = id(owner) not in gone and id(own) not in gone
            if is_alive and now() not in (own, None) and own.users == 0:
                word, name = item_of(own).split(":", 1)
                items = frozenset(map(local_name, (item, item_of(own))))
                yield Loss(f"{word} {name} of {item}", items)

    def _had(self) -> Iterator[tuple[Any, Any, Callable[[], Any], str]]:
        """Yield what had data or an action: itself, that, what reads it now, and the item."""
        for at, (thing, own) in enumerate(zip(self._things.blocks, self._data, strict=True)):
            if own is not None:
                yield thing, own, partial(getattr, thing, "data"), self._things.item(at)
        for listed, parts in zip(self._lists, self._parts, strict=True):
            for at, _, before in parts:
                if isinstance(before, Animation) and before.action is not None:
                    block = listed.blocks[at]
                    yield block, before.action, partial(_action_of, block), listed.item(at)

    def _of_parts(self, gone: Mapping[int, str]) -> Iterator[Loss]:
        budget = Budget(is_limited=not self._is_whole)
        owners_of: dict[int, list[str]] | None = None
        for listed, parts in zip(self._lists, self._parts, strict=True):
            for at, aspect, before in parts:
                block = listed.blocks[at]
                if id(block) in gone:
                    continue
                texts = ASPECTS[aspect].gone(before, block, budget)
                if not texts:
                    continue
                if owners_of is None:
                    owners_of = self._owners()
                item = listed.item(at)
                owners = owners_of.get(id(block), [item])
                owner = owners[0] if len(owners) == 1 else item
                items = frozenset(map(local_name, (item, owner)))
                users = frozenset(map(local_name, owners))
                for text in texts:
                    node = {f"{item}/{text.node}"} if isinstance(text, NodeWords) else set[str]()
                    yield Loss(f"{text} of {owner}", items | node, users)

    def _owners(self) -> dict[int, list[str]]:
        """Return the items that had each action, and the objects that had each data."""
        found = {key: [item for _, item in users] for key, users in self._users().items()}
        for listed, parts in zip(self._lists, self._parts, strict=True):
            for at, _, before in parts:
                if isinstance(before, Animation) and before.action is not None:
                    found.setdefault(id(before.action), []).append(listed.item(at))
        return found


def _listed(name: str) -> _Listed:
    blocks = data(name)
    libraries: list[str | None] = []
    if len(bpy.data.libraries):
        owners = [block.library for block in blocks]
        libraries = [text_of(it, "filepath") if it is not None else None for it in owners]
    return _Listed(name, list(blocks), names_of(blocks), libraries)


@cache
def _word_of(name: str) -> str:
    """Return what an item of a list begins with; nothing for objects."""
    words = {plural: word for word, plural in lists().items()}
    return "" if name == "objects" else words[name]


def _parts(listed: _Listed, budget: Budget) -> list[tuple[int, str, Any]]:
    """Return what is in data-blocks: where, which aspect, and what was read of it."""
    found = []
    for aspect, row in ASPECTS.items():
        if not row.is_of(listed.name):
            continue
        has, read = row.has, row.read
        for at, block in enumerate(listed.blocks):
            if has(block):
                found.append((at, aspect, read(block, budget)))
    return found


def _groups() -> list[_Group]:
    """Return each collection, also those that scenes are, with what is in it."""
    every = [*bpy.data.collections, *bpy.data.scenes]
    return [_Group(owner, _members_of(owner)) for owner in every]


def _members_of(owner: Any) -> list[Any]:
    """Return the objects and collections in a collection, or in a scene itself."""
    group = owner.collection if isinstance(owner, bpy.types.Scene) else owner
    return [*group.objects, *group.children]


def _in_scenes() -> set[int]:
    """Return the objects and collections that are in any scene."""
    found = set[int]()
    for scene in bpy.data.scenes:
        found |= {id(thing) for thing in scene.collection.all_objects}
        found |= {id(group) for group in scene.collection.children_recursive}
    return found


def _action_of(block: Any) -> Any:
    """Return the action of a data-block now; None where it has none."""
    animation = block.animation_data
    return animation.action if animation is not None else None


def _of_item(item: str, users: frozenset[str] = frozenset()) -> Loss:
    name = local_name(item)
    return Loss(item, frozenset({name, name.partition(":")[2] or name}), users)
