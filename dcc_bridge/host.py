"""The host port: what an application must offer so that skills can edit its scene safely.

An adapter is a subclass of `Host`, in the package of its leaf, with that application's own API and
nothing else; ``resources/guide/hosts.md`` says how to write one. What is marked abstract is
required, all the rest has a default here that does the plain thing.

============  ==================================================================================
required      ``name``, ``version``, ``has_ui``, `Host.file`, `Host.save_copy`, `Host.undo_step`,
              `Host.undo_mark`, `Host.undo`, `Host.selection`, `Host.describe`,
              `Host.fingerprint`, `Application.redo`, `Application.select`
better with   ``item_noun``, ``suffix``, `Host.summary`, `Host.modified`, `Host.changes`,
              `Application.watch`,
              `SceneGuard.losing`, `SceneGuard.guard`, `SceneGuard.lost`, `SceneGuard.take_back`,
              `Application.frame`, `Application.main_window`, `Application.when_ready`,
              `Application.when_leaving`
seldom        `Host.scene`, `Host.kinds`, `Host.files`
============  ==================================================================================

An item is a string that names one thing in the scene so that it is found again: a path, a unique
name, an id. Everything here is called on the host's main thread, except ``name``, ``version``,
``has_ui``, ``item_noun`` and ``suffix``, which are read from any thread and do not change.
"""

from __future__ import annotations

import atexit
import json
from abc import abstractmethod
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

K = TypeVar("K", bound=Hashable)
MOST_TOLD: Final = 1000  # names in one answer to an agent; more of them help nobody
Undo = Callable[[], None]  # takes a registration back; harmless the second time
Later = Callable[[Callable[[], None]], object]  # has the event loop call a function in a later turn
LossCheck = Callable[[str, Sequence[Path]], None]
# What refuses a loss to the skill whose body runs in this context; None outside of any.
loss_check: ContextVar[LossCheck | None] = ContextVar("dcc_bridge_loss_check", default=None)


class UndoMark(NamedTuple):
    """A place in the undo stack."""

    depth: int  # how many entries lie below it, those included that the host has dropped by now
    label: str | None = None  # what the entry on top is called, or None where the stack is empty
    # What tells the entry on top from every other one, also of the same label.
    entry: Hashable = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the items of a scene since a moment."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # a new name is one
    deleted: list[str] = field(default_factory=list)  # they were there at that moment
    is_exact: bool = False  # the host was told of each, so nothing is missing


CountChanges = Callable[[], Changes]


class Application(Protocol):
    """What surrounds the scene: its window, its start and its end."""

    @abstractmethod
    def redo(self) -> None:
        """Redo the step undone last."""

    @abstractmethod
    def select(self, items: Sequence[str]) -> None:
        """Select items in the application, so that the person sees them; others no longer."""

    def frame(self, items: Sequence[str]) -> None:
        """Show items in the viewport. Nothing happens where there is none."""
        return

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Be told, on the main thread, that the scene or the selection changed; gives what ends it.

        As often as the application likes: the bridge makes one of many. Without it agents are not
        told of changes, and have to look again.
        """
        return lambda: None

    def main_window(self) -> object | None:
        """Give the main window as the application's Qt binding wraps it; None if it is not Qt's."""
        return None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call once, on the main thread, when a dialog can be shown; gives what prevents it."""
        start()
        return lambda: None

    @staticmethod
    def _start_once(
        start: Callable[[], None], later: Later, is_up: Callable[[], object] = lambda: True
    ) -> Undo:
        """Call in the first later turn in which the host is up; gives what prevents it."""
        is_wanted = [True]

        def look() -> None:
            if is_wanted and not is_up():
                later(look)
            elif is_wanted:
                is_wanted.clear()
                start()

        later(look)
        return is_wanted.clear

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Call on the main thread before the application goes, while its API still works.

        Some hosts tell twice, or not at all; `stop` may be called any number of times. Gives what
        takes it back.
        """
        atexit.register(stop)
        return lambda: atexit.unregister(stop)


class SceneGuard(Protocol):
    """What keeps a skill to what a person agreed to. All of it has a default that protects less."""

    def losing(self, what: str, files: Sequence[Path] = ()) -> None:
        """Call this before something is done that undo does not bring back.

        That is: another scene is opened in place of this one, a file is written over. What the
        person does by themselves passes; in a skill there must be a grant for it.

        Args:
            what: What is about to be done, for a sentence: "open other.usda".
            files: The files that it writes over; those that are not there are nothing to lose.

        Raises:
            NoConsent: A skill does it, and nobody agreed that something is lost.
            NoCheckpoint: No copy can be kept of it.
        """
        check = loss_check.get()
        if check is not None:
            check(what, files)

    def guard(self, put_back: list[str], *, read: bool) -> AbstractContextManager[None]:
        """Keep what undo does not hold as it is while a stretch of a skill's body runs.

        At its end what the stretch changed of it is put back: the layer that edits go to, what is
        muted, loaded or locked.

        Args:
            put_back: Gets the names of what was put back, for the record.
            read: The body says that it only reads: where the host can refuse edits, it does.
        """
        return nullcontext()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the newest undo step deleted beside what was agreed to.

        Args:
            agreed: Items. They and whatever was below them may be gone.

        Returns:
            What else was there when the step began and is not now; nothing where nobody knows.
        """
        return []

    def take_back(self) -> None:
        """Undo the step on top, which is the bridge's own, as if it had never been.

        Where the host can, there is nothing to redo then but what there was before the step.
        """
        self.undo()

    @abstractmethod
    def undo(self) -> None:
        """Undo the step on top of the stack; NotUndoable: not all of it came back."""


class Host(Application, SceneGuard, Protocol):
    """A desktop application with a scene, as the bridge sees it."""

    name: str  # the application, as its users call it: "Maya", "Blender"
    version: str  # the application's own version
    has_ui: bool  # whether a person sits in front of its window
    item_noun: str = "item"
    """What the application calls a thing in its scene, one lower-case word: "prim", "node"."""
    suffix: str = ""  # what the name of a scene's file ends in, for one that has none yet: ".usda"

    @abstractmethod
    def file(self) -> Path | None:
        """Give the scene's file, or None for a scene that was never saved."""

    @abstractmethod
    def save_copy(self, path: Path) -> None:
        """Write the scene as it is now to another file; its own name and state stay.

        Args:
            path: A file that is not there yet, in a folder that is.

        Raises:
            OSError: It cannot be written. So may be a RuntimeError or ValueError of the host.
        """

    def scene(self) -> str:
        """Name the open scene as its title bar would: a file's name, or "untitled"."""
        return file.name if (file := self.file()) is not None else "untitled"

    @property
    def modified(self) -> bool:
        """Whether the scene holds what its file does not. True where nobody knows."""
        return True

    def files(self) -> list[Path]:
        """List the files that a save would write over, the scene's own first."""
        return [] if (file := self.file()) is None else [file]

    def summary(self) -> dict[str, Any]:
        """Describe the scene as a whole, for an agent: what JSON can carry, quick and short.

        Add what the application knows to what stands here: units, frames, the number of items of
        each type. Of a scene with 100,000 items it must not take longer than 50 ms: count lazily,
        or up to a limit and say so.
        """
        file = self.file()
        return {
            "scene": self.scene(),
            "file": str(file) if file is not None else None,
            "modified": self.modified,
            "selection": self.selection[:MOST_TOLD],
            "undo": self.undo_mark().label,
        }

    @abstractmethod
    def undo_step(self, label: str) -> AbstractContextManager[None]:
        """Open one undo step; whatever is edited inside becomes one entry of the undo stack.

        A step in which nothing was edited leaves no entry. Steps are never nested by the bridge,
        and never left open across a question. It must close whatever is raised inside, and may
        leave what was edited until then: the bridge then undoes the entry.

        Args:
            label: What the person reads in the application's Edit menu. Unique for each step.
        """

    @abstractmethod
    def undo_mark(self) -> UndoMark:
        """Mark the place in the undo stack: what was edited since shows as another one.

        A person's edit is an entry as well. Two marks are equal only if nothing was pushed, undone
        or redone between them, or all of it was undone again.
        """

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note from now on, in an undo step, what becomes of the items; gives what counts it.

        The default notes nothing, so code of an agent may delete there what nobody was told of.
        """
        return nullcontext(Changes)

    @property
    @abstractmethod
    def selection(self) -> list[str]:
        """The selected items, in the order of the application."""

    @abstractmethod
    def describe(self, item: str) -> dict[str, Any]:
        """Describe one item, for an agent: what JSON can carry.

        Returns:
            At least "type", as the application calls it: "Camera", "transform".

        Raises:
            LookupError: There is no such item; the message may say what there is instead.
        """

    @abstractmethod
    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest what a person agreed to change. `digest` makes it of plain facts.

        Args:
            items: Names of things in the scene; their order does not matter.

        Returns:
            A digest that differs as soon as an item's identity, type, parent, locks or
            descendants do. An item that is gone is part of it too, and so is the scene's file.
        """

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the type of each item, "gone" for one that is not there."""
        return [self._kind(item) for item in items]

    def display_names(self, items: Sequence[str]) -> list[str]:
        """Return what a person reads for each item, where the application shows another name."""
        return list(items)

    def _kind(self, item: str) -> str:
        try:
            return str(self.describe(item)["type"])
        except LookupError:
            return "gone"


def digest(facts: object) -> str:
    """Digest plain facts: what JSON can carry, and anything else by its text. Any thread."""
    from hashlib import sha256  # 3 ms that whoever only describes a host need not pay

    return sha256(json.dumps(facts, default=str, sort_keys=True).encode()).hexdigest()


def compared(before: Mapping[K, str], now: Mapping[K, str], touched: Container[K] = ()) -> Changes:
    """Tell what became of items, from their names by what stays when they are renamed."""
    created = [name for key, name in now.items() if key not in before]
    kept = ((key, name) for key, name in now.items() if key in before)
    changed = [name for key, name in kept if before[key] != name or key in touched]
    return Changes(created, changed, [name for key, name in before.items() if key not in now])
