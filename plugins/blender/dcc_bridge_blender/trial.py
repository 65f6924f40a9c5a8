"""The trial of an edit in Blender: reverts the open undo step before it is an entry. Main thread.

Undo to the entry below, and redo, read the newest entry anew, and leave both stacks as they are.
Only Blender's legacy undo reads all of an entry. The other undo reuses data-blocks that it believes
unchanged, and part of the edit with them (seen in 3.4.1 and 4.5.15).

The legacy undo restores nothing if the newest entry is one of an edit mode. And it takes two loads
of the whole file: some 5 s with 10,000 objects. In these cases the edit is made an entry and
undone, and so is an empty entry after it, so that a redo of the entries that are left does nothing.

Not mended: in 3.4.1, after an entry was read anew, one in 40 later undos miscounts the users of the
materials that brushes have, or gives the brushes another material.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import bpy

from dcc_bridge.spi import Account, NotUndoable, Trial

from .beside import Beside
from .loop import in_window, redraw
from .references import Broken, references
from .steps import OpenStep
from .undo import ChangeCounter, Stack, can_move

_MAX_READ_TWICE: Final = 5_000  # objects of a file that is read anew twice
_TRIED: Final = "Taken back"  # the label of an edit's entry that does not stay
_NOTHING: Final = "Nothing"  # the label of an empty entry that does not stay
_Move = Callable[[], object]


class BlenderTrial(Trial):
    """The trial of an edit in Blender: the open step, and how it is reverted.

    Attributes:
        keeps_redo: Whether a revert keeps what the person could redo.
    """

    def __init__(self, stack: Stack, changes: ChangeCounter, step: OpenStep) -> None:
        """Note the state that undo does not hold, and the references of the file."""
        self._stack = stack
        self._changes = changes
        self._step = step
        is_small = len(bpy.data.objects) <= _MAX_READ_TWICE
        can_redo = stack.ahead() not in ([], [_NOTHING])
        self.keeps_redo = stack.is_global and (is_small or can_redo)
        self._counts = (changes.seen, changes.edits())
        self._beside = Beside()
        self._references = references()

    def is_edited(self) -> bool:
        """Return whether the step changed anything or made an undo entry."""
        return self._step.is_edited()

    @property
    def is_complete(self) -> bool:
        """Whether nothing was too large to be compared for losses."""
        return self._step.is_complete

    def broken(self) -> list[str]:
        """Return the words for the references whose target is gone."""
        return Broken(self._references).named()

    def account(self) -> Account | None:
        """Return what is different since the step began; None if Blender replaced all objects."""
        account = self._step.account()
        if account is None or not account.deleted:
            return account
        return replace(account, broken=self.broken())

    def revert(self) -> list[str]:
        """Take back all edits of the step.

        Returns:
            The names of the values that undo does not hold and that stay changed.

        Raises:
            NotUndoable: Another file was opened, the body moved along the undo stack, or not all of
                the scene came back.
        """
        stack = self._stack
        step = self._step
        if not step.is_same_file:
            raise NotUndoable(stack.why_opened)
        has_left_entries = self._back_to_top()
        with in_window():
            if self.keeps_redo:
                self._read_again()
            else:
                has_left_entries = True
                stack.push(_TRIED)
                bpy.ops.ed.undo()
            if has_left_entries:
                stack.push(_NOTHING)
                bpy.ops.ed.undo()
        left = self._beside.put_back()
        self._changes.put_back(*self._counts)
        redraw()
        missing = step.unplaced()
        if missing or step.is_edited():
            what = ", ".join(missing[:5]) or "something that Blender does not name"
            raise NotUndoable(
                f"Blender's undo did not restore {what}. The person must check the scene."
            )
        step.begin()
        self._references = references()
        return left

    def _back_to_top(self) -> bool:
        """Undo the entries that the body itself has made, and return whether there were any."""
        stack = self._stack
        top = self._step.top
        count = stack.mark().depth - top.depth
        move: _Move = bpy.ops.ed.undo if count > 0 else bpy.ops.ed.redo
        with in_window():
            for _ in range(abs(count)):
                move()
        if stack.mark() != top:
            raise NotUndoable("It moved along Blender's undo stack, whose entries are others now.")
        return count > 0

    @staticmethod
    def _read_again() -> None:
        """Read the newest entry anew: undo and redo, or without an entry below redo and undo."""
        moves: list[_Move] = [bpy.ops.ed.undo, bpy.ops.ed.redo]
        if not can_move(bpy.ops.ed.undo):
            moves.reverse()
        with _old_undo():
            for move in moves:
                move()


@contextmanager
def _old_undo() -> Iterator[None]:
    """Have Blender's undo read a whole entry in the block, by an option for developers."""
    preferences: Any = bpy.context.preferences
    view = preferences.view
    experimental = preferences.experimental
    shows_options = view.show_developer_ui
    is_legacy = experimental.use_undo_legacy
    is_dirty = preferences.is_dirty
    view.show_developer_ui = True  # the option counts only while developers' options are shown
    experimental.use_undo_legacy = True
    try:
        yield
    finally:
        view.show_developer_ui = shows_options
        experimental.use_undo_legacy = is_legacy
        preferences.is_dirty = is_dirty
