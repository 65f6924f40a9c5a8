"""The items of a file before each step, by name: an undo has to bring them back. Main thread."""

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
    """The items of a file at one moment: some 10 ms for 20,000 objects, and as much to compare."""

    def __init__(self) -> None:
        """List the items that there are now."""
        self._names = {name: names_of(data(name)) for name in ("objects", *KEPT)}
        # The session_uid of each object; empty where Blender has none.
        self._ids = array("i")
        if HAS_IDS and len(bpy.data.objects):
            self._ids = array("i", bytes(4 * len(bpy.data.objects)))
            bpy.data.objects.foreach_get("session_uid", self._ids)
        collections = [*bpy.data.collections]
        collections += [scene.collection for scene in bpy.data.scenes]
        self._members = [names_of(collection.objects) for collection in collections]

    def unplaced(self) -> list[str]:
        """Return what is missing, and objects that are in fewer collections than before."""
        now = Inventory()
        before_counts = Counter(chain.from_iterable(self._members))
        now_counts = Counter(chain.from_iterable(now._members))
        return list(dict.fromkeys([*self.missing(now), *(before_counts - now_counts)]))

    def missing(self, now: Inventory | None = None) -> list[str]:
        """Return what is not there any more, the objects first.

        Args:
            now: The inventory to compare with; None for one of this moment.
        """
        now = now or Inventory()
        gone: list[str] = []
        if self._ids != now._ids:  # another object may have taken the name
            names = dict(zip(now._ids, now._names["objects"], strict=True))
            for key, name in zip(self._ids, self._names["objects"], strict=True):
                if names.get(key) != name:
                    gone.append(name)
        prefixes = {plural: f"{prefix}:" for prefix, plural in lists().items()}
        prefixes["objects"] = ""
        for plural, before in self._names.items():
            left = now._names[plural]
            if before != left:
                fewer = Counter(before) - Counter(left)
                gone += [prefixes[plural] + name for name in fewer]
        return list(dict.fromkeys(gone))


class Inventories:
    """The inventories before the newest steps, by the entry that was on top of the undo stack."""

    def __init__(self) -> None:
        """Begin without an inventory."""
        self._before: dict[UndoMark, Inventory] = {}

    def note(self, top: UndoMark) -> None:
        """List what is there before a step."""
        below = [mark for mark in self._before if mark.depth < top.depth]
        inventories = {mark: self._before[mark] for mark in below[-_MAX_STEPS:]}
        inventories[top] = Inventory()
        self._before = inventories

    def unplaced(self, now: UndoMark) -> list[str]:
        """Return what is missing at a place of the stack, or in fewer collections there."""
        inventory = self._before.get(now)
        if inventory is None:
            return []
        return inventory.unplaced()

    def missing(self, top: UndoMark) -> list[str]:
        """Return what was there before a step and is not any more, by its name alone."""
        inventory = self._before.get(top)
        if inventory is None:
            return []
        return inventory.missing()
