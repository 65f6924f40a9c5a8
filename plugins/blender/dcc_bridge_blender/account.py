"""The account of an undo step: what is different in the file, with values before and now.

A `Snapshot` is taken as a step begins, and compared after the edit. In a large file the values of
some data-blocks are read (`file_values`); of the other objects it is told where they are, and that
Blender has evaluated them. Main thread.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import bpy

from dcc_bridge.spi import Account, follow_change, name_change, value_change

from .block_lists import BlockList
from .file_values import (
    PLACE,
    BlockValues,
    Known,
    in_degrees,
    known_objects,
    read_again,
    read_values,
    told_values,
)
from .names import names_of
from .objects import data, item_of
from .part_values import ROWS

_MAX_TOLD: Final = 25  # places whose values are told; an answer names 20 at most
_EPSILON: Final = 1e-6
_KIND: Final = re.compile(r'/(?:.*/)?\w+:|/|\w+\["', re.DOTALL)
"""All of a path before the name of the part, which may have colons and slashes."""
_BONE: Final = "/bone:"  # in the path of one
_ELEMENTS_AT_ONCE: Final = 256  # of the places of all objects, that are compared
_DATA: Final = {"armatures", "cameras", "curves", "lattices", "lights", "meshes", "metaballs"}
"""Data of objects: made and deleted with these, so that only the objects are told."""
_PART_PATH: Final = re.compile(r'(modifier|constraint)s\["(.*)"\]\.', re.DOTALL)
_GEOMETRY: Final = {"armatures", "curves", "lattices", "meshes", "metaballs"}


class _Names(NamedTuple):
    """The names of a file before and now.

    Attributes:
        gone: The `id` of each data-block that is deleted.
        created: The items of those that are new.
        deleted: The items of those that are gone.
        renamed: Both items of those that have another name now.
    """

    gone: set[int]
    created: list[str]
    deleted: list[str]
    renamed: list[str]


class _Places(NamedTuple):
    """The places of all objects.

    Attributes:
        things: The objects.
        elements: The elements of all of them in one array, for each property.
    """

    things: list[Any]
    elements: dict[str, array[float]]


class LastValues(NamedTuple):
    """The values that an account has read, which the next step need not read again.

    Attributes:
        known: The values of objects.
        places: Where all objects are; None if that was not read.
    """

    known: Known
    places: _Places | None


NO_VALUES: Final = LastValues({}, None)


class _Parts(NamedTuple):
    """The parts of data-blocks that differ, such as modifiers and nodes.

    Attributes:
        created: The items of those that are new.
        changed: The values that are others now.
        deleted: The items of those that are gone.
    """

    created: list[str]
    changed: list[str]
    deleted: list[str]

    def compare(self, item: str, before: BlockValues, now: BlockValues) -> None:
        """Add what differs in a data-block."""
        renamed = _renamed(before, now)
        for path, path_now in renamed.items():
            self.changed.append(name_change(_part_item(item, path), _part_item(item, path_now)))
        for path in _only_in(before, now):
            if path not in renamed:
                self.deleted.append(_part_item(item, path))
        for path in _only_in(now, before):
            if path not in renamed.values():
                self.created.append(_part_item(item, path))
        for path in before:
            if path in now and before[path] != now[path]:
                old_values = told_values(before[path])
                new_values = told_values(now[path])
                self.changed.extend(_changes(item, path, old_values, new_values))


class Snapshot:
    """The values of a file as a step began, as far as they are read.

    Attributes:
        now: What the last account has read; it holds until Blender reports a change.
    """

    def __init__(self, lists: Sequence[BlockList], last: LastValues) -> None:
        """Read the values.

        Args:
            lists: All lists of data-blocks, read just before.
            last: What the account of the last step has read, if that still holds.
        """
        self._lists = lists
        (self._objects,) = [listed for listed in lists if listed.name == "objects"]
        self._read = read_values(lists, last.known)
        places = last.places
        if places is None or places.things != self._objects.blocks:
            places = _places()
        self._places = places.elements
        self.now = NO_VALUES

    def account(self, evaluated: Collection[int]) -> Account:
        """Return what is different now.

        Args:
            evaluated: The `id` of the data-blocks that Blender has evaluated since.
        """
        names = self._names()
        again = read_again(self._read, names.gone, evaluated)
        places = _places()
        self.now = LastValues(known_objects(self._read, names.gone, again), places)
        parts = _Parts([], [], [])
        self._add_differing(again, parts)
        created = [*names.created, *parts.created]
        deleted = [*names.deleted, *parts.deleted]
        changed = [*names.renamed, *self._moved(places, names.gone), *parts.changed]
        told = {entry.partition(", ")[0] for entry in changed}
        changed += self._evaluated(evaluated, names.gone, told)
        if not (changed or created or deleted):
            changed += self._shaped(evaluated, names.gone)
        return Account(created, changed, deleted)

    def _names(self) -> _Names:
        """Compare which data-blocks there are, and their names."""
        names = _Names(set(), [], [], [])
        for listed in self._lists:
            things = data(listed.name)
            now = list(things)
            is_as_before = now == listed.blocks
            if is_as_before and listed.name not in _DATA:
                is_as_before = names_of(things) == listed.names
            if not is_as_before:
                _compare_list(listed, now, names)
        return names

    def _items(self, keys: Collection[int]) -> dict[int, str]:
        """Return the items that some data-blocks were, by their `id`."""
        items: dict[int, str] = {}
        for listed in self._lists:
            items |= listed.items(keys)
        return items

    def _add_differing(self, again: Mapping[int, BlockValues], parts: _Parts) -> None:
        """Add the parts and the values that differ in the data-blocks that were read again."""
        keys = [key for key, now in again.items() if now != self._read[key].values]
        if not keys:
            return
        items = self._items(keys)
        for key in keys:
            parts.compare(items[key], self._read[key].values, again[key])

    def _moved(self, places: _Places, gone: Collection[int]) -> Iterator[str]:
        """Yield the objects that are in another place, given all places now."""
        now = places.elements
        if places.things != self._objects.blocks:
            now = self._in_order(places)
        told = 0
        for prop, count in PLACE.items():
            old = self._places[prop]
            new = now[prop]
            for at in _differing_rows(old, new, count):
                if id(self._objects.blocks[at]) in gone:
                    continue
                told += 1
                item = self._objects.item(at)
                if told > _MAX_TOLD:
                    yield f"{item}, {prop}"
                    continue
                row = slice(at * count, (at + 1) * count)
                yield _place_change(item, prop, old[row], new[row])

    def _in_order(self, places: _Places) -> dict[str, array[float]]:
        """Return places in the order in which the objects were; those of deleted ones as before."""
        rows = {id(thing): row for row, thing in enumerate(places.things)}
        ordered = {}
        for prop, count in PLACE.items():
            values = self._places[prop][:]
            for at, thing in enumerate(self._objects.blocks):
                row = rows.get(id(thing))
                if row is not None:
                    new = places.elements[prop][row * count : (row + 1) * count]
                    values[at * count : (at + 1) * count] = new
            ordered[prop] = values
        return ordered

    def _evaluated(
        self, evaluated: Collection[int], gone: Collection[int], told: Collection[str]
    ) -> Iterator[str]:
        """Yield the objects that Blender evaluated, of those whose values were not read."""
        keys = {key for key in evaluated if key not in gone and key not in self._read}
        if not keys:
            return
        items = self._objects.items(keys)
        for thing in self._objects.blocks:
            item = items.get(id(thing))
            if item is not None and item not in told:
                yield _with_parent(thing, item, told)

    def _shaped(self, evaluated: Collection[int], gone: Collection[int]) -> Iterator[str]:
        """Yield the data whose geometry Blender evaluated."""
        for listed in self._lists:
            if listed.name not in _GEOMETRY:
                continue
            for at, block in enumerate(listed.blocks):
                if id(block) in evaluated and id(block) not in gone:
                    yield f"{listed.item(at)}, its geometry"


def _compare_list(listed: BlockList, now: Sequence[Any], names: _Names) -> None:
    """Compare a list of which data-blocks or names differ."""
    by_id = dict(zip(map(id, now), now, strict=True))
    names_now = dict(zip(by_id, names_of(now), strict=True))
    before = set()
    for at, block in enumerate(listed.blocks):
        key = id(block)
        before.add(key)
        if key not in by_id:
            names.gone.add(key)
            if listed.name not in _DATA:
                names.deleted.append(listed.item(at))
            continue
        if names_now[key] != listed.names[at]:
            names.renamed.append(name_change(listed.item(at), item_of(block)))
    for key, block in by_id.items():
        if key not in before and listed.name not in _DATA:
            names.created.append(item_of(block))


def _places() -> _Places:
    """Return where all objects are now."""
    things = bpy.data.objects
    elements = {}
    for prop, count in PLACE.items():
        values = array("f", bytes(4 * count * len(things)))
        if len(things):
            things.foreach_get(prop, values)
        elements[prop] = values
    return _Places(list(things), elements)


def _differing_rows(old: array[float], new: array[float], count: int) -> list[int]:
    """Return the objects of which an element differs, by their places in the list."""
    rows: set[int] = set()
    if old.tobytes() == new.tobytes():  # bytes are compared a hundred times faster than arrays
        return []
    for start in range(0, len(old), _ELEMENTS_AT_ONCE):
        end = start + _ELEMENTS_AT_ONCE
        olds = old[start:end]
        news = new[start:end]
        if olds.tobytes() == news.tobytes():
            continue
        for at, (before, now) in enumerate(zip(olds, news, strict=True), start):
            if abs(before - now) > _EPSILON:
                rows.add(at // count)
    return sorted(rows)


def _with_parent(thing: Any, item: str, told: Collection[str]) -> str:
    """Return the entry of an evaluated object: with the object above it that is told, if any."""
    while thing.parent is not None:
        thing = thing.parent
        above = item_of(thing)
        if above in told:
            return follow_change(item, above)
    return item


def _place_change(item: str, prop: str, old: Sequence[float], new: Sequence[float]) -> str:
    before: Any = list(old)
    now: Any = list(new)
    if prop == "rotation_euler":
        before = in_degrees(before)
        now = in_degrees(now)
    return value_change(item, prop, before, now)


def _renamed(before: BlockValues, now: BlockValues) -> dict[str, str]:
    """Return the parts that have another name now: the only one of a kind with the same values."""
    gone = _by_kind(path for path in before if path not in now)
    new = _by_kind(path for path in now if path not in before)
    renamed = {}
    for kind, paths in gone.items():
        others = new.get(kind, [])
        if len(paths) == len(others) == 1 and before[paths[0]] == now[others[0]]:
            renamed[paths[0]] = others[0]
    return renamed


def _by_kind(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return paths by all that stands before the names of the parts."""
    kinds: dict[str, list[str]] = {}
    for path in paths:
        match = _KIND.match(path)
        if match is not None:
            kinds.setdefault(match[0], []).append(path)
    return kinds


def _only_in(there: BlockValues, gone: BlockValues) -> Iterator[str]:
    """Yield the parts that are in one only, without the parts of such parts."""
    for path in there:
        above = path.rpartition("/")[0]
        is_told = above in there and above not in gone
        if path not in gone and not is_told:
            yield path


def _part_item(item: str, path: str) -> str:
    """Return how an agent names a part of a data-block."""
    if path.startswith("/"):
        return item + path
    part = _PART_PATH.fullmatch(path)
    if part is not None:
        word, name = part.groups()
        return f"{item}/{word}:{name}"
    return f"{item}, {path.removesuffix('.')}"


def _changes(
    item: str, path: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the properties of a struct that differ."""
    prefix = path
    if path.startswith("/"):
        item += path
        prefix = ""
    for name in {**before, **now}:
        old = before.get(name)
        new = now.get(name)
        if isinstance(old, array) and isinstance(new, array):
            yield from _row_changes(item, name, old, new)
        elif old != new and not (path.startswith(_BONE) and _is_near(old, new)):
            yield value_change(item, prefix + name, old, new)


def _row_changes(item: str, name: str, old: array[float], new: array[float]) -> Iterator[str]:
    """Yield how many rows of an array differ; nothing where there are more or fewer of them."""
    if len(old) != len(new):
        return
    rows = ROWS[name]
    count = len(_differing_rows(old, new, rows.size))
    if count == 1:
        yield f"{item}, {rows.one}"
    elif count:
        yield f"{item}, {rows.many.format(count)}"


def _is_near(old: Any, new: Any) -> bool:
    """Return whether numbers differ by no more than edit mode moves the bones of an armature."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=_EPSILON, abs_tol=_EPSILON)
    if not isinstance(old, tuple | list) or not isinstance(new, tuple | list):
        return False
    return len(old) == len(new) and all(map(_is_near, old, new))
