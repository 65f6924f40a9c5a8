"""What was in a file before each step, by name: what an undo has to bring back. Main thread."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import chain
from typing import Final

import bpy

from dcc_bridge.spi import UndoMark

from .names import names_of
from .objects import HAS_IDS, KEPT, data, lists

_MOST_LISTED: Final = 5  # steps


class Inventory:
    """What was in a file at one moment: some 10 ms for 20,000 objects, and as much to compare."""

    def __init__(self) -> None:
        self._names = {it: names_of(data(it)) for it in ("objects", *KEPT)}
        # What tells each object from all others; nothing where Blender has no such thing.
        self._ids = array("i", bytes(4 * len(bpy.data.objects) if HAS_IDS else 0))
        if self._ids:
            bpy.data.objects.foreach_get("session_uid", self._ids)
        groups = *bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)
        self._placed = [names_of(group.objects) for group in groups]

    def unplaced(self) -> list[str]:
        """Name what is missing, and objects that are in fewer collections than they were."""
        now = Inventory()
        old, new = (Counter(chain.from_iterable(it._placed)) for it in (self, now))
        return list(dict.fromkeys([*self.missing(now), *(old - new)]))

    def missing(self, now: Inventory | None = None) -> list[str]:
        """Name what is not there any more, the objects first."""
        now = now or Inventory()
        words = {plural: f"{word}:" for word, plural in lists().items()} | {"objects": ""}
        both = [(words[name], old, now._names[name]) for name, old in self._names.items()]
        changed = [pair for pair in both if pair[1] != pair[2]]
        gone = [word + name for word, old, new in changed for name in Counter(old) - Counter(new)]
        if self._ids != now._ids:  # another one may have taken the name
            names = dict(zip(now._ids, now._names["objects"], strict=True))
            known = zip(self._ids, self._names["objects"], strict=True)
            gone = [name for one, name in known if names.get(one) != name] + gone
        return list(dict.fromkeys(gone))


class Inventories:
    """Those of the newest steps, by what was on top of the stack as each began."""

    def __init__(self) -> None:
        self._before: dict[UndoMark, Inventory] = {}

    def note(self, top: UndoMark) -> None:
        """List what is there before a step."""
        kept = [(mark, it) for mark, it in self._before.items() if mark.depth < top.depth]
        self._before = {**dict(kept[-_MOST_LISTED:]), top: Inventory()}

    def unplaced(self, now: UndoMark) -> list[str]:
        """Name what is missing at a place of the stack, and what is in fewer collections there."""
        inventory = self._before.get(now)
        return inventory.unplaced() if inventory is not None else []

    def missing(self, top: UndoMark) -> list[str]:
        """Name what was there before a step and is not any more, by its name alone."""
        inventory = self._before.get(top)
        return inventory.missing() if inventory is not None else []
