"""The undo step that is open, and what was edited outside of any. Main thread."""

from __future__ import annotations

from typing import Final, NamedTuple

import bpy

from dcc_bridge.spi import UndoMark

from .inventory import Inventories
from .record import Loss, Record
from .undo import ChangeCounter, Stack

OUTSIDE: Final = "Edit outside a step"
_MAX_COMPARED: Final = 2_000  # objects of a file that is compared completely outside of steps


class OpenStep:
    """One undo step that is open, with what there was as it began.

    Attributes:
        top: The entry on top of the undo stack as the step began.
        before: The state of the change counter as the step began.
        opened: How many files had been opened as the step began.
    """

    def __init__(self, stack: Stack, changes: ChangeCounter, inventories: Inventories) -> None:
        """Read the scene before anything is edited."""
        self._stack = stack
        self._changes = changes
        self._inventories = inventories
        self.top = stack.mark()
        self.before = changes.state()
        inventories.note(self.top)
        self.begin()

    def begin(self) -> None:
        """Read the scene anew: also after a revert, which has put all of it back."""
        self._record = Record()
        self._moves = self._stack.moves
        self.opened = self._stack.opened

    @property
    def is_same_file(self) -> bool:
        """Whether no other file was opened in the step."""
        return self._stack.opened == self.opened

    @property
    def is_complete(self) -> bool:
        """Whether `losses` has compared everything, as far as it was called."""
        return self._moves == self._stack.moves and self._record.is_complete

    def is_edited(self) -> bool:
        """Return whether anything was changed in the step, or an entry made."""
        return self._changes.is_changed(self.before) or self._stack.mark() != self.top

    def unplaced(self) -> list[str]:
        """Return what is missing, or in fewer collections, once all was taken back."""
        return self._inventories.unplaced(self.top)

    def losses(self) -> list[Loss]:
        """Return what the step took away until now.

        Where its body moved along the undo stack, Blender has replaced every object, and items are
        compared by name.
        """
        if not self.is_same_file:
            return []  # opening a file is a loss of its own, see `Losses.ending`
        if self._moves == self._stack.moves:
            return self._record.losses()
        losses = []
        for item in self._inventories.missing(self.top):
            name = item.partition(":")[2] or item
            losses.append(Loss(item, frozenset([item, name])))
        return losses


class _Settled(NamedTuple):
    """The scene as the newest entry has it.

    Attributes:
        mark: The newest entry.
        moves: How often somebody had undone or redone.
        state: The state of the change counter.
    """

    mark: UndoMark
    moves: int
    state: tuple[int, int]


class Outside:
    """Finds edits that have no entry: of scripts, add-ons or timers.

    A revert of the next step, or an undo, would revert such edits as well.
    """

    def __init__(self, stack: Stack, changes: ChangeCounter) -> None:
        """Begin without knowledge of the scene, until `settle`."""
        self._stack = stack
        self._changes = changes
        self._settled: _Settled | None = None

    def settle(self) -> None:
        """Note that the scene is as the newest entry has it."""
        self._settled = self._now()

    def enter(self) -> None:
        """Make an entry of what was edited since the scene was as its newest entry.

        Where somebody has pushed another entry, or moved along the stack, no edits are known, and
        no entry is made.
        """
        settled = self._settled
        now = self._now()
        if settled is None or settled[:2] != now[:2] or settled.state == now.state:
            return
        self._stack.push(OUTSIDE)
        self.settle()

    def _now(self) -> _Settled:
        is_large = len(bpy.data.objects) > _MAX_COMPARED
        state = (self._changes.edits(), self._changes.compared(read=is_large))
        return _Settled(self._stack.mark(), self._stack.moves, state)
