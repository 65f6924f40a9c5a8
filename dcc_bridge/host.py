"""The host port: what an application must offer so that skills can edit its scene safely.

An adapter in ``dcc_bridge.hosts`` implements it with that application's own API. Everything here
is called on the host's main thread, except ``name``, ``version`` and ``has_ui``, which are read
from any thread and do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class Host(Protocol):
    """A desktop application with a scene, as the bridge sees it."""

    name: str
    """The application, as its users call it: "Maya", "Blender"."""
    version: str
    """The application's own version."""
    has_ui: bool
    """Whether a person sits in front of its window."""

    def scene(self) -> str:
        """Name the open scene as its title bar would: a file's name, or "untitled"."""
        ...

    def undo_step(self, label: str) -> AbstractContextManager[None]:
        """Open one undo step; whatever is edited inside becomes one entry of the undo stack.

        A step in which nothing was edited leaves no entry. Steps are never nested by the bridge,
        and never left open across a question.

        Args:
            label: What the person reads in the application's Edit menu. Unique for each step.
        """
        ...

    def undo_label(self) -> str | None:
        """Give the label on top of the undo stack, or None if there is nothing to undo."""
        ...

    def undo(self) -> None:
        """Undo the step on top of the stack."""
        ...

    def redo(self) -> None:
        """Redo the step undone last."""
        ...

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the type of each item, as the application calls it: "Camera", "transform"."""
        ...

    def select(self, items: Sequence[str]) -> None:
        """Select items in the application, so that the person sees them."""
        ...

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest what a person agreed to change.

        Args:
            items: Paths or names of things in the scene.

        Returns:
            A digest that differs as soon as an item's identity, type, parent, locks or
            descendants do. An item that is gone is part of it too.
        """
        ...

    def scene_digest(self) -> str:
        """Digest the whole scene. An oracle for tests, too slow to be part of a call."""
        ...
