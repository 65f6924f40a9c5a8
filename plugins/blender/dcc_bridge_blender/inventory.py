"""The names of all items before each step, to check what an undo brought back. Main thread.

An undo replaces all of Blender's Python objects, so items are compared by name, and objects also by
their `session_uid` if Blender has one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import chain
from typing import Final

import bpy

from dcc_bridge.spi import UndoMark

from .names import names_of
from .objects import HAS_IDS, KEPT, data, lists

_MAX_STEPS: Final = 5  # whose inventories are kept


class Inventory:
    """The items of a file at one moment.

    20,000 objects take some 10 ms to list, and as much to compare.
    """

    def __init__(self) -> None:
        """List the items of now."""
        self._names = {name: names_of(data(name)) for name in ("objects", *KEPT)}
        # The session_uid of each object; empty if this Blender has none.
        self._ids = array("i")
        if HAS_IDS and len(bpy.data.objects):
            self._ids = array("i", bytes(4 * len(bpy.data.objects)))
            bpy.data.objects.foreach_get("session_uid", self._ids)
        collections = [*bpy.data.collections]
        collections += [scene.collection for scene in bpy.data.scenes]
        self._members = [names_of(collection.objects) for collection in collections]

    def unplaced(self) -> list[str]:
        """Return the missing items, and the names of objects that are in fewer collections now."""
        now = Inventory()
        before_counts = Counter(chain.from_iterable(self._members))
        now_counts = Counter(chain.from_iterable(now._members))
        return list(dict.fromkeys([*self.missing(now), *(before_counts - now_counts)]))

    def missing(self, now: Inventory | None = None) -> list[str]:
        """Return the items that are missing, objects first.

        Args:
            now: The inventory to compare with; None for one of this moment.
        """
        now = now or Inventory()
        gone: list[str] = []
        if self._ids != now._ids:  # another object may have taken the name
            names_now = dict(zip(now._ids, now._names["objects"], strict=True))
            for key, name in zip(self._ids, self._names["objects"], strict=True):
                if names_now.get(key) != name:
                    gone.append(name)
        prefixes = {plural: f"{prefix}:" for prefix, plural in lists().items()}
        prefixes["objects"] = ""
        for plural, names in self._names.items():
            if names != now._names[plural]:
                fewer = Counter(names) - Counter(now._names[plural])
                gone += [prefixes[plural] + name for name in fewer]
        return list(dict.fromkeys(gone))


class Inventories:
    """The inventories before the newest steps, by the undo entry that was on top."""

    def __init__(self) -> None:
        self._before: dict[UndoMark, Inventory] = {}

    def note(self, top: UndoMark) -> None:
        """Take an inventory before a step, and drop those of old or undone steps.

        Args:
            top: The undo entry on top.
        """
        below = [mark for mark in self._before if mark.depth < top.depth]
        inventories = {mark: self._before[mark] for mark in below[-_MAX_STEPS:]}
        inventories[top] = Inventory()
        self._before = inventories

    def unplaced(self, now: UndoMark) -> list[str]:
        """Return the `Inventory.unplaced` since an entry was on top; none if that is unknown."""
        inventory = self._before.get(now)
        if inventory is None:
            return []
        return inventory.unplaced()

    def missing(self, top: UndoMark) -> list[str]:
        """Return the `Inventory.missing` since an entry was on top; none if that is unknown."""
        inventory = self._before.get(top)
        if inventory is None:
            return []
        return inventory.missing()
