"""Takes back what was edited in the open undo step, before it is an entry. Main thread.

Undo to the entry below and redo read the newest entry anew, and leave both stacks as they are. Only
the old way of undo does: the other one takes over data-blocks that it believes unchanged, and part
of the edit with them (seen in 3.4.1 and 4.5.15). The old way restores nothing where the newest
entry is one of an edit mode, and takes two loads of the whole file: some 5 s with 10,000 objects.
There the edit is made an entry and undone, and so is an empty one after it, so that what is left to
redo does nothing.

Not mended: in 3.4.1 one in 40 later undos, once an entry was read anew, miscounts the users of the
materials that brushes have, or gives the brushes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import bpy

from dcc_bridge.spi import NotUndoable, Trial

from .beside import Beside
from .loop import in_window, redraw
from .references import Broken, references
from .steps import OpenStep
from .undo import ChangeCounter, Stack, can_move

_MOST_READ_TWICE: Final = 5_000  # objects
_TRIED, _NOTHING = "Taken back", "Nothing"  # labels of entries that do not stay
_Move = Callable[[], object]


class BlenderTrial(Trial):
    """The open step of Blender."""

    def __init__(self, stack: Stack, changes: ChangeCounter, step: OpenStep) -> None:
        """Note what undo does not hold, and what refers to what."""
        self._stack, self._changes, self._step = stack, changes, step
        is_small = len(bpy.data.objects) <= _MOST_READ_TWICE
        is_ahead = stack.ahead() not in ([], [_NOTHING])
        self.keeps_redo = stack.is_global and (is_small or is_ahead)
        self._counts = changes.seen, changes.edits()
        self._beside = Beside()
        self._references = references()

    def is_edited(self) -> bool:
        """Return whether anything was edited in the step, or an entry made."""
        return self._step.is_edited()

    def broken(self) -> list[str]:
        """Name what refers to something that is gone."""
        return Broken(self._references).named()

    def revert(self) -> list[str]:
        """Read the newest entry anew; NotUndoable where another file was opened meanwhile."""
        stack, step = self._stack, self._step
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
        """Undo the entries that the body itself has made; returns whether there were any."""
        stack, top = self._stack, self._step.top
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
        moves: list[_Move] = [bpy.ops.ed.undo, bpy.ops.ed.redo]
        if not can_move(bpy.ops.ed.undo):
            moves.reverse()
        with _old_undo():
            for move in moves:
                move()


@contextmanager
def _old_undo() -> Iterator[None]:
    """Have Blender read a whole entry, as an option for developers has it do."""
    preferences: Any = bpy.context.preferences
    view, experimental = preferences.view, preferences.experimental
    before = view.show_developer_ui, experimental.use_undo_legacy, preferences.is_dirty
    view.show_developer_ui = experimental.use_undo_legacy = True
    try:
        yield
    finally:
        view.show_developer_ui, experimental.use_undo_legacy, preferences.is_dirty = before
