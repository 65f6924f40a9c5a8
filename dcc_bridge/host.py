"""The host port: the interface that an application implements so that skills can edit its scene.

An adapter is a subclass of `Host` that uses the application's own API; ``resources/guide/hosts.md``
says how to write an adapter. Abstract members are required; all others have a plain default here.
`Host` is made of four protocols:

=============  ===================  ===============================================================
protocol       required             better with
=============  ===================  ===============================================================
`Host`         ``name``,            ``item_noun``, ``suffix``, `Host.summary`, `Host.modified`;
               ``version``,         seldom `Host.scene`, `Host.files`,
               ``has_ui``,          `Host.kinds`, `Host.nouns`, `Host.display_names`
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
Undo = Callable[[], None]  # ends a registration; a second call does nothing
Later = Callable[[Callable[[], None]], object]  # has the event loop call a function in a later turn
LossCheck = Callable[[str, Sequence[Path]], None]
# Raises an error if the skill of this context may not cause a loss; None outside of any skill.
loss_check: ContextVar[LossCheck | None] = ContextVar("dcc_bridge_loss_check", default=None)


class UndoMark(NamedTuple):
    """A place in the undo stack.

    Attributes:
        depth: How many entries lie below it, including those that the host has dropped by now.
        label: The label of the entry on top; None where the stack is empty.
        entry: Identifies the entry on top, also among entries of the same label. None where the
            application has no such identity: the labels of the bridge's own steps are unique.
    """

    depth: int
    label: str | None = None
    entry: Hashable = None


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of the items of a scene since a moment.

    Attributes:
        created: Items that were not there at that moment.
        changed: Items that were changed and are still there; a new name is a change.
        deleted: Items that were there at that moment, and are gone.
        is_exact: Whether the application reported each change, so that none is missing.
    """

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    is_exact: bool = False


CountChanges = Callable[[], Changes]


@dataclass(frozen=True, slots=True)
class Account:
    """The differences in a scene after an edit, for the agent that made the edit.

    Attributes:
        created: Items that are there now.
        changed: What changed in items that were there before, and in what is no item (the settings
            of the scene, its layers): a name, or "Cube, location: [0, 0, 0] -> [1, 0, 0]", as
            `value_change` makes it, or "Cube is Box", as `name_change` does, or "Wheel, with Car",
            as `follow_change` does.
        deleted: Items that are gone.
        broken: What worked before, or is new, and does not work now; with the reason where the
            application tells one.
    """

    created: Sequence[str] = ()
    changed: Sequence[str] = ()
    deleted: Sequence[str] = ()
    broken: Sequence[str] = ()


class Trial(Protocol):
    """The open undo step, as long as its edits can be taken back without a trace. Main thread.

    To keep the edits, nothing needs to be called: the step then ends as every other one.

    Attributes:
        keeps_redo: Whether the person can redo after `revert` what they could redo before the step.
    """

    keeps_redo: bool

    @property
    def is_complete(self) -> bool:
        """Whether `Host.lost` sees every loss that it can name in the step. Raises nothing.

        Read it after `Host.lost`: before, the edits are not compared yet.

        Returns:
            By default True; False where something is too large to be compared, or cannot be read
            now, so that a loss may be missing in the list.
        """
        return True

    @abstractmethod
    def is_edited(self) -> bool:
        """Return whether anything was edited in the step. Raises nothing.

        Returns:
            Whether the step would leave an entry, or the undo stack has changed.
        """

    @abstractmethod
    def broken(self) -> list[str]:
        """Name the items that worked when the step began and do not now. Raises nothing.

        Those are items that fail to compute, or refer to an item that is not there any more.

        Returns:
            A name for each, as a person reads it: "Cut", "Boolean of Cube". Items that are gone
            are not named.
        """

    def account(self) -> Account | None:
        """Return what is different in the scene since the step began. Raises nothing.

        It is called after `Host.lost`, of an edit that stays. It tells what was noted and compared
        until then, and takes a small part of the time of the edit.

        Returns:
            By default None: the host does not tell it.
        """
        return None

    @abstractmethod
    def revert(self) -> list[str]:
        """Take back the edits of the step while it is open, so none was ever on the undo stack.

        The step stays open, and is empty. State outside of the undo stack is put back as well: the
        selection, the cursor, listeners, new documents.

        Returns:
            The state that stays changed, in a person's words: "preferences".

        Raises:
            NotUndoable: Not all of the edits came back.
        """


class Application(Protocol):
    """The application around the scene: its window, its selection, its start and its end."""

    @abstractmethod
    def select(self, items: Sequence[str]) -> None:
        """Select items in the application, so that the person sees them; others no longer.

        Args:
            items: Items; those that are not there are passed over. An empty list clears the
                selection.

        Raises:
            RuntimeError: The application cannot select now. It may raise other errors of its own.
        """

    def frame(self, items: Sequence[str]) -> None:
        """Show items in the viewport, if there is one. Raises nothing.

        Args:
            items: Items; those that are not there are passed over.
        """
        return

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call a function whenever the scene or the selection has changed. Raises nothing.

        Without it agents are not told of changes, and have to look again.

        Args:
            changed: The function. Call it on the main thread, as often as the application likes:
                the bridge makes one call of many.

        Returns:
            A function that ends the calls.
        """
        return lambda: None

    def main_window(self) -> object | None:
        """Return the main window, above which dialogs are put. Raises nothing.

        Returns:
            A QWidget as the application's own Qt binding wraps it; None if the window is not Qt's.
        """
        return None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call a function once, when a dialog can be shown. Raises nothing itself.

        By default that is at once; `start_once` helps where it is later.

        Args:
            start: The function. Call it on the main thread.

        Returns:
            A function that prevents the call.
        """
        start()
        return lambda: None

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Call a function before the application goes, while its API still works.

        By default that is when the interpreter ends. Some applications report their end twice, or
        not at all. It raises nothing.

        Args:
            stop: The function. Call it on the main thread, any number of times.

        Returns:
            A function that prevents the call.
        """
        atexit.register(stop)
        return lambda: atexit.unregister(stop)


class UndoStack(Protocol):
    """The application's own undo stack, on which each edit of a skill is one entry."""

    @abstractmethod
    def undo_step(self, label: str) -> AbstractContextManager[None]:
        """Open one undo step; all edits inside it become one entry of the undo stack.

        A step in which nothing was edited leaves no entry. Steps are never nested by the bridge,
        and never left open across a question.

        Args:
            label: The text that the person reads in the application's Edit menu. Unique for each
                step.

        Returns:
            A context manager. If its block raises an error, it must close the step and raise the
            error again. It may leave the edits until then: the bridge undoes the entry.

        Raises:
            Busy: The person uses a tool or a dialog in which nothing can be edited.
        """

    @abstractmethod
    def undo_mark(self) -> UndoMark:
        """Return the present place in the undo stack, which differs after any edit.

        A person's edit is an entry as well. It raises nothing.

        Returns:
            A mark. Two are equal only if nothing was pushed, undone or redone between them, or all
            of it was undone again.
        """

    @property
    def undo_labels(self) -> list[str]:
        """The entries that can be undone, the newest last, as many as the application lists.

        The person is shown which entries of their own are between those of agents. By default the
        list is empty, and such an entry has no name.
        """
        return []

    @abstractmethod
    def undo(self) -> None:
        """Undo the step on top of the stack.

        Raises:
            NotUndoable: Not all of the step came back.
            RuntimeError: There is nothing to undo.
        """

    @abstractmethod
    def redo(self) -> None:
        """Redo the step undone last.

        Raises:
            RuntimeError: There is nothing to redo.
        """

    def trial(self) -> Trial | None:
        """Return an object that can take back the undo step that was just opened.

        The answer is for the application as it is now: its mode, the size of the scene, the
        content of its stacks. Nothing was edited in the step yet. It raises nothing.

        Returns:
            By default None: an edit that must not stay is then undone once the step is closed, and
            the person may find it as the next thing to redo.
        """
        return None

    def take_back(self) -> None:
        """Undo the step on top, which is the bridge's own, as if it had never been.

        The redo stack is then as it was before the step, where the application can do that.

        Raises:
            NotUndoable: Not all of the step came back.
        """
        self.undo()


class SceneGuard(Protocol):
    """Limits a skill to the losses that a person agreed to. Each default protects less."""

    def losing(self, what: str, files: Sequence[Path] = ()) -> None:
        """Call this before something is done that undo does not bring back. Do not override it.

        Examples are that another scene is opened in place of this one, and that a file is written
        over. A person may do so; a skill needs a grant for it.

        Args:
            what: The act, for a sentence: "open other.usda".
            files: The files that it writes over; those that are not there are nothing to lose.

        Raises:
            NoConsent: A skill does it, and nobody agreed that something is lost.
            NoCheckpoint: No copy can be kept of the scene or of the files.
        """
        check = loss_check.get()
        if check is not None:
            check(what, files)

    def guard(self, put_back: list[str], *, read: bool) -> AbstractContextManager[None]:
        """Keep state outside of the undo stack while a stretch of a skill's body runs.

        A stretch is a part of the body between two questions. At its end its changes of such
        state are put back: the layer that edits go to, and which parts are muted, loaded or locked.

        Args:
            put_back: Gets the names of the state that was put back, for the record.
            read: Whether the body says that it only reads: then the host refuses edits, if it can.

        Returns:
            A context manager around the stretch; by default it does nothing.

        Raises:
            LostAnyway: At its end, if something was lost because the host cannot refuse it.
        """
        return nullcontext()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List the losses of the open undo step, or of the newest one, beyond the agreed items.

        A loss is anything that a person would miss: items that are deleted, hidden for good or in
        no scene any more, and parts of items such as modifiers, keys and cells. A new name, parent
        or value is no loss. An item that refers to a lost one belongs to `Trial.broken`. It raises
        nothing.

        Args:
            agreed: Items that may be gone, with all items below them and all their parts.

        Returns:
            Items and parts that were there when the step began and are not now, by identity and
            not by name: items as others name them, parts in a person's words: "modifier Bevel of
            Cube". Nothing for a step that changed nothing, and where the host cannot tell.
        """
        return []

    def account(self) -> Account | None:
        """Return what is different in the scene after the newest undo step. Raises nothing.

        It is called after `lost`, of a closed step that stays, where there was no `Trial` to tell
        it. The step's `guard` may have ended.

        Returns:
            By default None: the host does not tell it.
        """
        return None

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note the changes of the items from now on, in an undo step. Raises nothing.

        The default notes nothing, so an agent's code may delete items there without a report.

        Returns:
            A context manager that gives a function, which returns the changes until its call;
            `compared` helps.
        """
        return nullcontext(Changes)


class Host(Application, UndoStack, SceneGuard, Protocol):
    """A desktop application with a scene, as the bridge sees it.

    Attributes:
        name: The name of the application that its users say: "Maya", "Blender".
        version: The application's own version.
        has_ui: Whether a person sits in front of its window.
        item_noun: The application's word for a thing in its scene, in lower case: "prim", "node".
        suffix: The suffix of a scene's file, for a scene that has none yet: ".usda".
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
            OSError: The file cannot be written.
            RuntimeError: The same, as some applications report it.
            ValueError: The same, as some applications report it.
        """

    def scene(self) -> str:
        """Return the open scene's name as the title bar has it. Raises nothing.

        Returns:
            By default the file's name, or "untitled".
        """
        file = self.file()
        if file is None:
            return "untitled"
        return file.name

    @property
    def modified(self) -> bool:
        """Return whether the scene differs from its file; True where the host cannot tell."""
        return True

    def files(self) -> list[Path]:
        """List the files that a save would write over. Raises nothing.

        Returns:
            The scene's own first; by default no other.
        """
        file = self.file()
        if file is None:
            return []
        return [file]

    def summary(self) -> dict[str, Any]:
        """Describe the scene as a whole, for an agent.

        An override adds facts of the application to these: units, frames, the number of items of
        each type. For a scene with 100,000 items it must not take longer than 50 ms: count lazily,
        or up to a limit and say so. It raises nothing.

        Returns:
            Short facts that JSON can carry.
        """
        file = self.file()
        file_text = str(file) if file is not None else None
        return {
            "scene": self.scene(),
            "file": file_text,
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
            Facts that JSON can carry; at least "type", as the application calls it: "Camera".

        Raises:
            LookupError: There is no such item; the message may say what there is instead.
        """

    @abstractmethod
    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest the items that a person agreed to change. Raises nothing.

        `digest` makes the digest of plain facts.

        Args:
            items: Items that may be gone; their order does not matter.

        Returns:
            A digest that differs as soon as an item's identity (its path, if it has no id), type,
            parent, locks or descendants do; values are no part of it. An item that is gone is part
            of it too, and so is the scene's file.
        """

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Return the type of each item. Raises nothing.

        Args:
            items: Items that may be gone.

        Returns:
            As many types, "gone" for an item that is not there.
        """
        kinds = []
        for item in items:
            try:
                facts = self.describe(item)
                kinds.append(str(facts["type"]))
            except LookupError:
                kinds.append("gone")
        return kinds

    def nouns(self, items: Sequence[str]) -> list[str]:
        """Return people's word for the type of each item, for a sentence. Raises nothing.

        Args:
            items: Items.

        Returns:
            As many nouns in small letters and the singular: "sphere light". By default the types in
            words, and ``item_noun`` for an item that has no type or is gone.
        """
        nouns = []
        for kind in self.kinds(items):
            if kind in ("", "gone"):
                nouns.append(self.item_noun)
            else:
                nouns.append(in_words(kind))
        return nouns

    def display_names(self, items: Sequence[str]) -> list[str]:
        """Return the name of each item that a person reads in the application. Raises nothing.

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
        start: The function.
        later: Has the host's event loop call a function in a later turn.
        is_up: Returns whether the host is up.

    Returns:
        A function that prevents the call.
    """
    is_over = False  # whether `start` was called or prevented

    def start_if_up() -> None:
        nonlocal is_over
        if is_over:
            return
        if not is_up():
            later(start_if_up)  # tries again in the next turn
            return
        is_over = True
        start()

    def prevent() -> None:
        nonlocal is_over
        is_over = True

    later(start_if_up)
    return prevent


def digest(facts: object) -> str:
    """Digest plain facts, for `Host.fingerprint`. Any thread.

    Args:
        facts: Facts that JSON can carry; any other value counts by its text.

    Returns:
        A digest in hexadecimal, the same for equal facts.

    Raises:
        ValueError: The facts hold themselves.
    """
    from hashlib import sha256  # 3 ms, which an import of this module does not need

    text = json.dumps(facts, default=str, sort_keys=True)
    return sha256(text.encode()).hexdigest()


def scene_digest(host: Host, fingerprint: str) -> str:
    """Digest which scene is open, with the state of some items in it. Main thread.

    Args:
        host: The application.
        fingerprint: The state of the items, as `Host.fingerprint` returns it.

    Returns:
        A digest in hexadecimal, the same for the same items of the same scene.
    """
    return digest([host.scene(), host.file(), fingerprint])


def compared(before: Mapping[K, str], now: Mapping[K, str], touched: Container[K] = ()) -> Changes:
    """Return the changes of items between two moments, for `Host.changes`. Any thread.

    It raises nothing.

    Args:
        before: The items' names at the first moment, by a key that stays when they are renamed,
            such as an id.
        now: Their names at the second moment.
        touched: The keys of items of which the host knows that they changed.

    Returns:
        The changes, which are not exact.
    """
    created = []
    changed = []
    for key, name in now.items():
        if key not in before:
            created.append(name)
        elif before[key] != name or key in touched:
            changed.append(name)
    deleted = [name for key, name in before.items() if key not in now]
    return Changes(created, changed, deleted)
