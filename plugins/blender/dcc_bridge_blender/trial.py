"""Takes back what was edited in the open undo step. Main thread.

The edit is made an entry and undone, and so is an empty one after it: what is then left to redo
does nothing. The person's own redo is gone, as with every entry that is pushed. To read the newest
entry anew in the old way of undo would keep it, but a later redo then restores a scene that never
was, or crashes Blender (5.2.3, in one of some 100 redos), and counts users wrongly (3.4.1).
"""

from __future__ import annotations

from collections.abc import Callable

import bpy

from dcc_bridge.spi import NotUndoable, Trial

from .beside import Beside
from .loop import in_window, redraw
from .references import Broken, references
from .steps import OpenStep
from .undo import ChangeCounter, Stack

_TRIED, _NOTHING = "Taken back", "Nothing"  # labels of entries that do not stay
_Move = Callable[[], object]


class BlenderTrial(Trial):
    """The open step of Blender."""

    keeps_redo = False

    def __init__(self, stack: Stack, changes: ChangeCounter, step: OpenStep) -> None:
        """Note what undo does not hold, and what refers to what."""
        self._stack, self._changes, self._step = stack, changes, step
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
        """Undo it; NotUndoable where another file was opened meanwhile, or not all came back."""
        stack, step = self._stack, self._step
        if not step.is_same_file:
            raise NotUndoable(stack.why_opened)
        self._back_to_top()
        if step.is_edited():
            with in_window():
                for label in (_TRIED, _NOTHING):
                    stack.push(label)
                    bpy.ops.ed.undo()
        left = self._beside.put_back()
        self._changes.put_back(*self._counts)
        redraw()
        missing = step.unplaced()
        if missing or step.is_edited():
            what = ", ".join(missing[:5]) or "something that Blender does not name"
            raise NotUndoable(
                f"Blender's undo did not bring back {what}. The person has to look at the scene."
            )
        step.begin()
        self._references = references()
        return left

    def _back_to_top(self) -> None:
        """Undo the entries that the body itself has made."""
        stack, top = self._stack, self._step.top
        count = stack.mark().depth - top.depth
        move: _Move = bpy.ops.ed.undo if count > 0 else bpy.ops.ed.redo
        with in_window():
            for _ in range(abs(count)):
                move()
        if stack.mark() != top:
            raise NotUndoable("It moved along Blender's undo stack, whose entries are others now.")
