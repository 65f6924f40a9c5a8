"""The trial of an open undo step of a session: it can be reverted without a trace. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pxr import Sdf, Usd

from dcc_bridge.spi import Account, NotUndoable, Trial

from .referrers import leading_to

if TYPE_CHECKING:
    from .undo_stack import UndoStack

Select = Callable[[Sequence[str]], object]


class StepTrial(Trial):
    """The trial of an undo step that was just opened.

    It reverts layers, selection and an edit target that a verb set. `Locks.hold` puts back what
    undo does not hold: muting, load rules, and an edit target that a body set in another way.
    """

    keeps_redo = True

    def __init__(self, history: UndoStack, selection: Sequence[str], select: Select) -> None:
        """Remember the scene and its selection, which undo does not hold.

        Args:
            history: The undo stack, with the step open.
            selection: The paths of the selected prims.
            select: Selects prims.
        """
        self._history = history
        self._scene = history.scene_mark
        self._selection = selection
        self._select = select

    def is_edited(self) -> bool:
        """Return whether anything was edited, or another scene was opened."""
        return self._is_other_scene or self._history.is_edited

    @property
    def _is_other_scene(self) -> bool:
        return self._history.scene_mark is not self._scene

    def broken(self) -> list[str]:
        """Name the relationships, connections and references that led to prims lost in the step.

        They are links that were cut with the prims, and links that stand and lead nowhere now.
        """
        losses = self._history.losses()
        if losses is None:
            return []
        stage = self._history.stage
        gone = {path for path in losses.gone if not _has_prim_again(stage, path)}
        resynced = self._history.step_notices().resynced
        dangling = leading_to(stage, gone, self._history.leading_to, resynced)
        return sorted({*losses.cut_links(), *dangling})

    def account(self) -> Account | None:
        """Return what is different since the step began; None if another scene was opened."""
        if self._is_other_scene:
            return None
        account = self._history.account()
        if not account.deleted:
            return account
        return replace(account, broken=self.broken())

    def revert(self) -> list[str]:
        """Put back the contents of the layers and the selection from the beginning of the step.

        Returns:
            An empty list, since all is put back without a trace.

        Raises:
            NotUndoable: Another scene was opened in the step.
        """
        if self._is_other_scene:
            raise NotUndoable("Another scene was opened in this step, and that cannot be undone.")
        self._history.revert()
        self._select(self._selection)
        return []


def _has_prim_again(stage: Usd.Stage, path: Sdf.Path) -> bool:
    """Return whether the scene shows a prim at the path of a lost one, so that no link dangles."""
    if not path.IsPrimPath():
        return False
    prim = stage.GetPrimAtPath(path)
    if not prim:
        return False
    return prim.IsActive() and prim.IsDefined() and not prim.IsAbstract()
