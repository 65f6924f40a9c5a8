"""The host port: what an application must offer so that skills can edit its scene safely.

An adapter is a subclass of `Host` with that application's own API; ``resources/guide/hosts.md``
says how to write one. What is marked abstract is required, all the rest has a default here that
does the plain thing. `Host` is four protocols, each of which says what it is for:

=============  ===================  ===============================================================
protocol       required             better with
=============  ===================  ===============================================================
`Host`         ``name``,            ``item_noun``, ``suffix``, `Host.summary`, `Host.modified`;
               ``version``,         seldom `Host.scene`, `Host.files`, `Host.kinds`,
               ``has_ui``,          `Host.nouns`, `Host.display_names`
               `Host.file`,
               `Host.save_copy`,
               `Host.selection`,
               `Host.describe`,
               `Host.fingerprint`
`UndoStack`    ``undo_step``,       ``trial``, ``take_back``
               ``undo_mark``,
               ``undo``, ``redo``
`Application`  ``select``           ``frame``, ``watch``, ``main_window``, ``when_ready``,
                                    ``when_leaving``
`SceneGuard`                        ``losing``, ``guard``, ``lost``, ``changes``
=============  ===================  ===============================================================

An item is a string that names one thing in the scene so that it is found again: a path, a unique
name, an id. Everything here is called on the host's main thread, except ``name``, ``version``,
``has_ui``, ``item_noun`` and ``suffix``, which are read from any thread and do not change.
"""

from __future__ import annotations

import atexit
import json
import re
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
    """A place in the undo stack.

    Attributes:
        depth: How many entries lie below it, those included that the host has dropped by now.
        label: What the entry on top is called; None where the stack is empty.
        entry: Tells the entry on top from every other one, also of the same label. None where the
            application has no such thing: the labels of the bridge's own steps are unique.
    """

    depth: int
    label: str | None = None
    entry: Hashable = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the items of a scene since a moment.

    Attributes:
        created: Items that were not there at that moment.
        changed: Items that are there still; a new name is a change.
        deleted: Items that were there at that moment.
        is_exact: The host was told of each, so nothing is missing.
    """

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    is_exact: bool = False


CountChanges = Callable[[], Changes]


class Trial(Protocol):
    """The open undo step, as long as what is edited in it can be taken back without a trace.

    It is kept by doing nothing: the step then ends as every other one. Main thread.

    Attributes:
        keeps_redo: After `revert` the person can redo what they could redo before the step.
    """

    keeps_redo: bool

    @abstractmethod
    def is_edited(self) -> bool:
        """Return whether anything was edited in the step. Raises nothing.

        Returns:
            Whether it would leave an entry, or the undo stack is another one.
        """

    @abstractmethod
    def broken(self) -> list[str]:
        """Name the items that worked when the step began and do not now. Raises nothing.

        Those are items that fail to compute, or refer to what is not there any more.

        Returns:
            What a person reads, for each: "Cut", "Boolean of Cube". Nothing of what is gone itself.
        """

    @abstractmethod
    def revert(self) -> list[str]:
        """Take back what was edited in the step, inside it: nothing was ever on the undo stack.

        The step stays open, and is empty. What undo does not hold is put back as well: the
        selection, the cursor, what is listening, documents that are new.

        Returns:
            What stays changed, in a person's words: "preferences".

        Raises:
            NotUndoable: Not all of it came back.
        """


class Application(Protocol):
    """What surrounds the scene: its window, what is selected there, its start and its end."""

    @abstractmethod
    def select(self, items: Sequence[str]) -> None:
        """Select items in the application, so that the person sees them; others no longer.

        Args:
            items: Those that are not there are passed over; none of them clears the selection.

        Raises:
            RuntimeError: The application cannot now, or any other error of its own.
        """

    def frame(self, items: Sequence[str]) -> None:
        """Show items in the viewport. Nothing happens where there is none. Raises nothing.

        Args:
            items: Those that are not there are passed over.
        """
        return

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Have a function called when the scene or the selection changed. Raises nothing.

        Without it agents are not told of changes, and have to look again.

        Args:
            changed: Call it on the main thread, as often as the application likes: the bridge
                makes one of many.

        Returns:
            What ends it.
        """
        return lambda: None

    def main_window(self) -> object | None:
        """Return the main window, which dialogs are put above. Raises nothing.

        Returns:
            A QWidget as the application's own Qt binding wraps it; None if it is not Qt's.
        """
        return None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Have a function called once, when a dialog can be shown. Raises nothing itself.

        By default that is at once; `start_once` helps where it is later.

        Args:
            start: Call it on the main thread.

        Returns:
            What prevents it.
        """
        start()
        return lambda: None

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Have a function called before the application goes, while its API still works.

        By default that is when the interpreter ends. Some hosts tell twice, or not at all. It
        raises nothing.

        Args:
            stop: Call it on the main thread, any number of times.

        Returns:
            What takes it back.
        """
        atexit.register(stop)
        return lambda: atexit.unregister(stop)


class UndoStack(Protocol):
    """The application's own undo stack, on which each edit of a skill is one entry."""

    @abstractmethod
    def undo_step(self, label: str) -> AbstractContextManager[None]:
        """Open one undo step; whatever is edited inside becomes one entry of the undo stack.

        A step in which nothing was edited leaves no entry. Steps are never nested by the bridge,
        and never left open across a question.

        Args:
            label: What the person reads in the application's Edit menu. Unique for each step.

        Returns:
            A block. It must close the step whatever is raised inside, raise that again, and may
            leave what was edited until then: the bridge then undoes the entry.

        Raises:
            Busy: The person is at something in which nothing can be edited: a tool, a dialog.
        """

    @abstractmethod
    def undo_mark(self) -> UndoMark:
        """Mark the place in the undo stack: what was edited since shows as another one.

        A person's edit is an entry as well. It raises nothing.

        Returns:
            A mark. Two are equal only if nothing was pushed, undone or redone between them, or all
            of it was undone again.
        """

    @abstractmethod
    def undo(self) -> None:
        """Undo the step on top of the stack.

        Raises:
            NotUndoable: Not all of it came back.
            RuntimeError: There is nothing to undo.
        """

    @abstractmethod
    def redo(self) -> None:
        """Redo the step undone last.

        Raises:
            RuntimeError: There is nothing to redo.
        """

    def trial(self) -> Trial | None:
        """Return what can take back the undo step that was just opened, while it is open.

        It is asked of the application as it is now: its mode, how large the scene is, what lies on
        its stacks. Nothing was edited in the step yet. It raises nothing.

        Returns:
            By default None: an edit that must not stay is then undone once the step is closed, and
            the person may find it as the next thing to redo.
        """
        return None

    def take_back(self) -> None:
        """Undo the step on top, which is the bridge's own, as if it had never been.

        The redo stack is then as it was before the step, where the application can do that.

        Raises:
            NotUndoable: Not all of it came back.
        """
        self.undo()


class SceneGuard(Protocol):
    """What keeps a skill to what a person agreed to. All of it has a default that protects less."""

    def losing(self, what: str, files: Sequence[Path] = ()) -> None:
        """Call this before something is done that undo does not bring back. Do not override it.

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

        Returns:
            A block around the stretch; by default it does nothing.

        Raises:
            LostAnyway: At its end, for what was lost although the host cannot refuse it.
        """
        return nullcontext()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the open undo step took away, or the newest one, beside what was agreed to.

        That is whatever a person would miss: items that are deleted, hidden for good or in no scene
        any more, and parts of items such as modifiers, keys and cells. A new name, parent or value
        is no loss, and what refers to something that is gone is `Trial.broken`. It raises nothing.

        Args:
            agreed: Items. They, whatever was below them and every part of them may be gone.

        Returns:
            What was there when the step began and is not now, by identity and not by name: items
            as others name them, parts in a person's words: "modifier Bevel of Cube". Nothing for a
            step that changed nothing, and where nobody knows.
        """
        return []

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note from now on, in an undo step, what becomes of the items. Raises nothing.

        The default notes nothing, so code of an agent may delete there what nobody was told of.

        Returns:
            A block that gives what counts the changes until then; `compared` helps.
        """
        return nullcontext(Changes)


class Host(Application, UndoStack, SceneGuard, Protocol):
    """A desktop application with a scene, as the bridge sees it.

    Attributes:
        name: The application, as its users call it: "Maya", "Blender".
        version: The application's own version.
        has_ui: Whether a person sits in front of its window.
        item_noun: What the application calls a thing in its scene, one lower-case word: "prim",
            "node".
        suffix: What the name of a scene's file ends in, for one that has none yet: ".usda".
    """

    name: str
    version: str
    has_ui: bool
    item_noun: str = "item"
    suffix: str = ""

    @abstractmethod
    def file(self) -> Path | None:
        """Return the scene's file. Raises nothing.

        Returns:
            A whole path; None for a scene that was never saved.
        """

    @abstractmethod
    def save_copy(self, path: Path) -> None:
        """Write the scene as it is now to another file; its own name and state stay.

        Args:
            path: A file that is not there yet, in a folder that is.

        Raises:
            OSError: It cannot be written. So may be a RuntimeError or ValueError of the host.
        """

    def scene(self) -> str:
        """Return the open scene's name as its title bar has it. Raises nothing.

        Returns:
            By default the file's name, or "untitled".
        """
        file = self.file()
        return "untitled" if file is None else file.name

    @property
    def modified(self) -> bool:
        """Whether the scene holds what its file does not. True where nobody knows."""
        return True

    def files(self) -> list[Path]:
        """List the files that a save would write over. Raises nothing.

        Returns:
            The scene's own first; by default no other.
        """
        file = self.file()
        return [] if file is None else [file]

    def summary(self) -> dict[str, Any]:
        """Describe the scene as a whole, for an agent.

        Add what the application knows to what stands here: units, frames, the number of items of
        each type. Of a scene with 100,000 items it must not take longer than 50 ms: count lazily,
        or up to a limit and say so. It raises nothing.

        Returns:
            What JSON can carry, quick and short.
        """
        file = self.file()
        return {
            "scene": self.scene(),
            "file": str(file) if file is not None else None,
            "modified": self.modified,
            "selection": self.selection[:MOST_TOLD],
            "undo": self.undo_mark().label,
        }

    @property
    @abstractmethod
    def selection(self) -> list[str]:
        """The selected items, in the order of the application."""

    @abstractmethod
    def describe(self, item: str) -> dict[str, Any]:
        """Describe one item, for an agent.

        Args:
            item: One item.

        Returns:
            What JSON can carry; at least "type", as the application calls it: "Camera".

        Raises:
            LookupError: There is no such item; the message may say what there is instead.
        """

    @abstractmethod
    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest what a person agreed to change. Raises nothing. `digest` makes it of plain facts.

        Args:
            items: Names of things in the scene; their order does not matter.

        Returns:
            A digest that differs as soon as an item's identity (its path, if it has no id), type,
            parent, locks or descendants do; values are no part of it. An item that is gone is part
            of it too, and so is the scene's file.
        """

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Return the type of each item. Raises nothing.

        Args:
            items: Names of things that may be gone.

        Returns:
            As many types, "gone" for an item that is not there.
        """
        found = []
        for item in items:
            try:
                found.append(str(self.describe(item)["type"]))
            except LookupError:
                found.append("gone")
        return found

    def nouns(self, items: Sequence[str]) -> list[str]:
        """Return what people call the type of each item, for a sentence. Raises nothing.

        Args:
            items: Items.

        Returns:
            As many nouns in small letters and the singular: "sphere light". By default the types in
            words, and ``item_noun`` for what has no type or is gone.
        """
        kinds = self.kinds(items)
        return [in_words(kind) if kind not in ("", "gone") else self.item_noun for kind in kinds]

    def display_names(self, items: Sequence[str]) -> list[str]:
        """Return what a person reads for each item in the application. Raises nothing.

        Args:
            items: Items.

        Returns:
            As many names; by default the items themselves.
        """
        return list(items)


def in_words(kind: str) -> str:
    """Return the name of a type in words: "sphere light" for "SphereLight". Any thread."""
    spaced = re.sub("(?<=[a-z])(?=[A-Z])", " ", kind)
    return spaced.replace("_", " ").lower()


def start_once(
    start: Callable[[], None], later: Later, is_up: Callable[[], object] = lambda: True
) -> Undo:
    """Call a function in the first later turn in which the host is up. For `Host.when_ready`.

    Main thread. It raises nothing itself.

    Args:
        start: What is called.
        later: Has the host's event loop call a function in a later turn.
        is_up: Tells whether the host is up.

    Returns:
        What prevents it.
    """
    is_wanted = [True]

    def look() -> None:
        if is_wanted and not is_up():
            later(look)
        elif is_wanted:
            is_wanted.clear()
            start()

    later(look)
    return is_wanted.clear


def digest(facts: object) -> str:
    """Digest plain facts, as `Host.fingerprint` has to. Any thread.

    Args:
        facts: What JSON can carry, and anything else by its text.

    Returns:
        A digest in hexadecimal, the same for equal facts.

    Raises:
        ValueError: The facts hold themselves.
    """
    from hashlib import sha256  # 3 ms that whoever only describes a host need not pay

    return sha256(json.dumps(facts, default=str, sort_keys=True).encode()).hexdigest()


def compared(before: Mapping[K, str], now: Mapping[K, str], touched: Container[K] = ()) -> Changes:
    """Return what became of items, for `Host.changes`. Any thread. It raises nothing.

    Args:
        before: Their names then, by what stays when they are renamed: an id.
        now: Their names now.
        touched: Those of which the host knows that they changed.

    Returns:
        The changes, which are not exact.
    """
    created = [name for key, name in now.items() if key not in before]
    kept = ((key, name) for key, name in now.items() if key in before)
    changed = [name for key, name in kept if before[key] != name or key in touched]
    return Changes(created, changed, [name for key, name in before.items() if key not in now])
