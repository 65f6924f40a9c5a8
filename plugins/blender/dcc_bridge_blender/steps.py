"""The undo step that is open, and what was edited outside of any. Main thread."""

from __future__ import annotations

from typing import Final, NamedTuple

import bpy

from dcc_bridge.spi import UndoMark

from .inventory import Inventories
from .record import Loss, Record
from .undo import ChangeCounter, Stack

OUTSIDE: Final = "Edit outside a step"
_FEW: Final = 2_000  # objects up to which all that Blender does not tell of is compared once more


class OpenStep:
    """One undo step, from what there was as it began."""

    def __init__(self, stack: Stack, changes: ChangeCounter, inventories: Inventories) -> None:
        """Look at the scene before anything is edited."""
        self._stack, self._changes, self._inventories = stack, changes, inventories
        self.top = stack.mark()
        self.before = changes.state()
        inventories.note(self.top)
        self.begin()

    def begin(self) -> None:
        """Look at what there is once more: a revert has put all of it back."""
        self._record = Record()
        self._moves, self.opened = self._stack.moves, self._stack.opened

    @property
    def is_same_file(self) -> bool:
        """Whether no other file was opened in it."""
        return self._stack.opened == self.opened

    def is_edited(self) -> bool:
        """Return whether anything was changed in it."""
        return self._changes.is_changed(self.before) or self._stack.mark() != self.top

    def unplaced(self) -> list[str]:
        """Name what is missing, or in fewer collections, once all was taken back."""
        return self._inventories.unplaced(self.top)

    def losses(self) -> list[Loss]:
        """Return what it took away until now.

        Where its body moved along the undo stack, everything is another thing, and names tell.
        """
        if not self.is_same_file:
            return []  # that is told of by itself
        if self._moves == self._stack.moves:
            return self._record.losses()
        names = self._inventories.missing(self.top)
        return [Loss(name, frozenset({name, name.partition(":")[2] or name})) for name in names]


class _Settled(NamedTuple):
    """The scene as the newest entry has it."""

    mark: UndoMark
    moves: int
    state: tuple[int, int]


class Outside:
    """Finds edits that have no entry: a script's, an add-on's, a timer's.

    A revert, or an undo of the next step, would take them along.
    """

    def __init__(self, stack: Stack, changes: ChangeCounter) -> None:
        self._stack, self._changes = stack, changes
        self._settled: _Settled | None = None

    def settle(self) -> None:
        """Take the scene for the one of the newest entry."""
        self._settled = self._now()

    def enter(self) -> None:
        """Make an entry of what was edited since.

        Nothing is known, and nothing entered, where somebody has pushed another entry, or moved
        along the stack.
        """
        settled = self._settled
        now = self._now()
        if settled is None or settled[:2] != now[:2] or settled.state == now.state:
            return
        self._stack.push(OUTSIDE)
        self.settle()

    def _now(self) -> _Settled:
        is_large = len(bpy.data.objects) > _FEW
        state = self._changes.edits(), self._changes.compared(read=is_large)
        return _Settled(self._stack.mark(), self._stack.moves, state)
