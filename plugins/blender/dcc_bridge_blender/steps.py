"""The open undo step, and edits outside of any step. Main thread.

`OpenStep` reads the scene as a step begins and reports what the step changed and lost. `Outside`
finds edits of scripts and add-ons between steps, and makes an undo entry of them.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

import bpy

from dcc_bridge.spi import Account, UndoMark

from .account import NO_VALUES, LastValues, Snapshot
from .inventory import Inventories
from .record import Loss, Record
from .undo import ChangeCounter, Stack

OUTSIDE: Final = "Edit outside a step"
log = logging.getLogger("dcc_bridge.blender")
_MAX_COMPARED: Final = 2_000  # objects of a file that is compared completely outside of steps


class ValuesBetween:
    """The values that an account has read, for the next step, which need not read them again.

    They hold as long as Blender reports no change, undo or opening of a file. It reports that a
    hidden object was changed as well, but not which one.
    """

    def __init__(self, changes: ChangeCounter) -> None:
        """Begin without any values."""
        self._changes = changes
        self._values = NO_VALUES
        self._count = 0

    def keep(self, values: LastValues) -> None:
        """Keep the values as they are now."""
        self._values = values
        self._count = self._changes.count

    def take(self) -> LastValues:
        """Return the values that were kept, once; none if they may be others now."""
        values = self._values
        self._values = NO_VALUES
        if self._count != self._changes.count:
            return NO_VALUES
        return values


class OpenStep:
    """The open undo step, with the scene as the step began.

    Attributes:
        top: The entry on top of the undo stack as the step began.
        before: The state of the change counter as the step began.
        opened: How many files had been opened as the step began.
    """

    def __init__(
        self,
        stack: Stack,
        changes: ChangeCounter,
        inventories: Inventories,
        between: ValuesBetween,
    ) -> None:
        """Read the scene before anything is edited."""
        self._stack = stack
        self._changes = changes
        self._inventories = inventories
        self._between = between
        self.top = stack.mark()
        self.before = changes.state()
        inventories.note(self.top)
        self.begin()

    def begin(self) -> None:
        """Read the scene; again after a revert, which has restored all of the scene."""
        self._record = Record()
        self._snapshot = self._taken_snapshot()
        self._changes.evaluated = set()
        self._moves = self._stack.moves
        self.opened = self._stack.opened

    def _taken_snapshot(self) -> Snapshot | None:
        """Return the values that the account compares; None if Blender raises, as no edit waits."""
        try:
            return Snapshot(self._record.lists, self._between.take())
        except Exception:  # whatever an add-on has registered: the edit goes on without an account
            log.exception("what is different after the step cannot be told")
            return None

    @property
    def is_same_file(self) -> bool:
        """Whether no other file was opened in the step."""
        return self._stack.opened == self.opened

    @property
    def is_complete(self) -> bool:
        """Whether all calls of `losses` could compare the whole scene."""
        return self._moves == self._stack.moves and self._record.is_complete

    def is_edited(self) -> bool:
        """Return whether the step changed anything or made an undo entry."""
        return self._changes.is_changed(self.before) or self._stack.mark() != self.top

    def account(self) -> Account | None:
        """Return what is different since the step began; None after an undo or redo within it."""
        if self._snapshot is None:
            return None
        if not self.is_same_file or self._moves != self._stack.moves:
            return None
        self._changes.let_evaluate()
        account = self._snapshot.account(self._changes.evaluated or ())
        self._between.keep(self._snapshot.now)
        return account

    def end(self) -> None:
        """End the notes of the step."""
        self._changes.evaluated = None

    def unplaced(self) -> list[str]:
        """Return the items that are missing or in fewer collections after a revert."""
        return self._inventories.unplaced(self.top)

    def losses(self) -> list[Loss]:
        """Return the losses of the step until now.

        After an undo or redo within the step, Blender has replaced every object. Then only items
        are compared, by name.
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
    """The state of the scene and the undo stack at a time when the newest entry held all edits.

    Attributes:
        mark: The newest entry.
        moves: The number of undos and redos until then.
        state: The state of the change counter.
    """

    mark: UndoMark
    moves: int
    state: tuple[int, int]


class Outside:
    """Finds edits without an undo entry, of scripts, add-ons or timers.

    Without an entry, a revert of the next step, or an undo, would revert these edits as well.
    """

    def __init__(self, stack: Stack, changes: ChangeCounter) -> None:
        """Find no edits before the first `settle`."""
        self._stack = stack
        self._changes = changes
        self._settled: _Settled | None = None

    def settle(self) -> None:
        """Note that the newest entry holds all edits until now."""
        self._settled = self._now()

    def enter(self) -> None:
        """Make an entry of the edits since `settle`, if there are any.

        No entry is made if somebody has pushed another one or moved along the stack since then.
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
