"""The pictures in a question about a loss, as far as consent knows of them. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from dcc_bridge.elicitation.question import Picture

OutsideStep = Callable[[], AbstractContextManager[None]]
"""Returns a context in which no undo step is open."""


class Preview:
    """Draws what one call is about to lose: the scene now, and after the edit.

    An edit is tried, so the picture of the scene after it is drawn while the edit stands, and that
    of the scene now once the edit is reverted. The methods here draw nothing; a subclass does where
    the host can. They raise nothing: a question is asked with its pictures or without them.
    """

    @property
    def can_rehearse(self) -> bool:
        """Whether an edit may be tried only to draw the scene after it."""
        return False

    def rehearsing(self) -> AbstractContextManager[None]:
        """Return a context in which an edit is tried only to draw the scene after it."""
        return nullcontext()

    def expect_loss(self, outside: OutsideStep = nullcontext) -> None:
        """Choose the viewpoint of the pictures, before an edit that may lose items begins.

        Args:
            outside: Returns a context in which no undo step is open. The host draws its first
                picture in it, which takes long.
        """

    def draw_after(self, items: Sequence[str]) -> None:
        """Draw the scene after an edit, while the edit stands in an open undo step.

        Args:
            items: The things that the edit lost.
        """

    def forget(self) -> None:
        """Forget the viewpoint and the picture of the last edit: another one begins."""

    def pictures(self, items: Sequence[str]) -> tuple[Picture, ...]:
        """Return the pictures for a question, while no undo step is open.

        Args:
            items: The things that are lost after a yes; they are there now.

        Returns:
            The scene now, with the items marked, and after the edit; or the first one alone; or
            none.
        """
        return ()
