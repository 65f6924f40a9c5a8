"""Consent, and what it is bound to. Main thread, pool threads and coroutines.

A person agrees to what they saw. The items are looked up when the question is asked, and again in
the main-thread job that goes on to edit; if they are not the same any more (other items, another
parent, another child below one of them) the person is asked again, twice at most.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from dcc_bridge import checkpoints
from dcc_bridge.consent.call import Call, current_call
from dcc_bridge.consent.copies import keep_checkpoint
from dcc_bridge.elicitation import ask
from dcc_bridge.elicitation.context import current_context, look
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.refusal import check
from dcc_bridge.elicitation.types import SCENE_CHANGED, outcome
from dcc_bridge.errors import Cancelled
from dcc_bridge.threads.flows import (
    Flow,
    awaiting,
    blocking,
    refuse_without_call,
    run_async,
    run_sync,
)

if TYPE_CHECKING:  # skills import this, and need none of it
    from dcc_bridge.host import Host

T = TypeVar("T")
Items = Callable[[], Sequence[str]] | Sequence[str]
Files = Callable[[], Sequence[Path]] | Sequence[Path] | None
Text = Callable[[Sequence[str]], str] | str

MOST_ASKED: Final = 3
_RESTLESS: Final = outcome(SCENE_CHANGED)
_CHANGED: Final = (
    "The scene has changed since this question was asked. Please check the list again."
)


@dataclass(frozen=True, slots=True)
class SceneSnapshot:
    """The items and their state at one moment."""

    items: tuple[str, ...]  # their paths or names
    kinds: tuple[str, ...]  # the type of each, as the host calls it
    fingerprint: str  # equal for two snapshots between which nothing of them changed
    kept: str | None = None  # the folder in which a copy would be kept, or None
    # What is written over, where undo does not help; None for the scene as a whole.
    files: tuple[Path, ...] | None = None
    uncopied: tuple[Path, ...] = ()  # the folders among them of which no copy is kept
    labels: tuple[str, ...] = ()  # what the person reads for each item


_EditResult = tuple[T, SceneSnapshot | None]  # or the changed scene to which nobody agreed


class Grant(list[str]):
    """What a person agreed to: the items as they were at the moment of the answer.

    Attributes:
        checkpoint: The folder with the copies of what undo does not bring back, or None.
    """

    def __init__(self, plan: _Plan, snapshot: SceneSnapshot, call: Call, question: str) -> None:
        super().__init__(snapshot.items)
        self._plan = plan
        self._snapshot = snapshot
        self._ledger = call.ledger
        self._lasting = call.lasting
        self._question = question
        self.checkpoint = call.lasting.checkpoint

    async def apply(self, fn: Callable[[list[str]], T]) -> T:
        """Edit in a job on the main thread, as an undo step of the skill, from a coroutine.

        Args:
            fn: Gets the items as they are, and edits.

        Raises:
            NotConfirmed: The scene had changed, it was asked again, and refused.
        """
        return await run_async(self._apply(fn), "grant.apply")

    def apply_sync(self, fn: Callable[[list[str]], T]) -> T:
        """Do the same from a skill on a pool thread, or on the main thread.

        Raises:
            WrongThread: It was called in a coroutine; use ``await grant.apply``. Or on a thread to
                which no call was carried.
        """
        return run_sync(self._apply(fn), "grant.apply")

    def _apply(self, fn: Callable[[list[str]], T]) -> Flow[T]:
        for left in reversed(range(MOST_ASKED)):
            value, changed = yield from self._plan.edit(self._snapshot, fn)
            if changed is None:
                return value
            self._ledger.drop(self._question)  # it was given for another scene
            if left:
                question = self._renew(changed)
                check(question, (yield from ask.ask_flow(question)))
                with self._ledger.holding(question.id):
                    yield from look(self._keep_checkpoint)
        raise Cancelled(self._plan.render(self._plan.message, self._snapshot), how=_RESTLESS)

    def _keep_checkpoint(self) -> None:
        """Keep a copy again: the first one is of the scene before it changed."""
        self._plan.keep_checkpoint()
        self.checkpoint = self._lasting.checkpoint

    def _renew(self, snapshot: SceneSnapshot) -> Question:
        self._snapshot = snapshot
        self[:] = snapshot.items
        question = self._plan.question(snapshot, current_call(), again=True)
        self._question = question.id
        return question


@blocking
def confirm_sync(
    message: Text,
    *,
    items: Items | None = None,
    verb: Text = "Confirm",
    undoable: bool = True,
    files: Files = None,
    title: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
    details: Details | str | None = None,
) -> Flow[Grant]:
    """Ask for consent, and wait for it.

    Args:
        message: What is asked, a sentence, or a function that makes it from the items; shown as
            plain text.
        items: What it is about: paths or names, or a function that looks them up. A function is
            called again after the answer. If there are none, nobody is asked and nothing is
            granted; None if the message says it all.
        verb: The label of the button that agrees, such as "Delete", or a function that makes it
            from the items.
        undoable: The host can undo it as one step. If False, the question says so, and a copy
            (a checkpoint) is kept after the yes and before this returns.
        files: What is overwritten or deleted, for the checkpoint; or a function that lists it.
            None for the scene as a whole. Of a folder no copy is kept, and the question says so.
        title: A heading, a few words.
        timeout: Seconds for an answer; None for the surface's own limit.
        key: The name of the request on the wire.
        details: A text that is agreed to, such as code: shown whole, with line numbers, what is
            marked, and first what differs from the text agreed to last. A str has neither. At
            most 64 kB and 2,000 lines. A client that draws its own forms is asked only where the
            message and the text fit in 8 kB.

    Returns:
        The items, as they are now. On the main thread nothing can change them before the caller
        goes on to edit; on another thread, edit through `Grant.apply`.

    Raises:
        NotConfirmed: The person did not agree: `Declined`, `Cancelled`, `TimedOut`, `NobodyToAsk`.
        NoCheckpoint: It cannot be undone, and no copy can be kept; do not go on.
        SchemaError: The message or the text is too long, or a line is marked that is not there.
        WrongThread: `confirm_sync` was called in a coroutine; use ``await confirm``. Or it looks
            items up on a thread to which no call was carried.
    """
    plan = _Plan(
        message, items, verb, undoable, files, title, timeout, key, ask.details_of(details)
    )
    if callable(plan.items) or callable(plan.files):
        refuse_without_call("A function that looks items up")
    snapshot = yield from look(plan.take_snapshot)
    for attempt in range(MOST_ASKED):
        if plan.items is not None and not snapshot.items:
            return Grant(plan, snapshot, current_call(), "")
        call = current_call()
        question = plan.question(snapshot, call, again=attempt > 0)
        check(question, (yield from ask.ask_flow(question)))
        ledger = call.ledger
        with ledger.holding(question.id):  # until it is known what is there now
            current_snapshot = yield from look(plan.take_snapshot)
            if current_snapshot.fingerprint == snapshot.fingerprint:
                yield from look(plan.keep_checkpoint)
        if current_snapshot.fingerprint == snapshot.fingerprint:
            return Grant(plan, current_snapshot, call, question.id)
        ledger.drop(question.id)
        snapshot = current_snapshot
    raise Cancelled(plan.render(plan.message, snapshot), how=_RESTLESS)


confirm = awaiting(confirm_sync)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The arguments of `confirm`: what is to be agreed to."""

    message: Text
    items: Items | None
    verb: Text
    undoable: bool
    files: Files
    title: str | None
    timeout: float | None
    key: str | None
    details: Details | None

    def take_snapshot(self) -> SceneSnapshot:
        """Look the items up. Main thread."""
        items = tuple(self.items() if callable(self.items) else self.items or ())
        if (context := current_context()) is None:
            return SceneSnapshot(items, (), "")
        fingerprint, kinds = context.host.fingerprint(items), tuple(context.host.kinds(items))
        labels = tuple(context.host.display_names(items))
        if self.undoable:
            return SceneSnapshot(items, kinds, fingerprint, labels=labels)
        paths = self._paths()
        if paths is None:
            return SceneSnapshot(
                items, kinds, fingerprint, self._place(context.host), labels=labels
            )
        files = tuple(paths)
        copied = current_call().lasting.copied_folders
        filled = {path for path in files if _is_filled(path)}
        has_copies = any(path.is_file() or path in filled & copied for path in files)
        place = self._place(context.host) if has_copies else None
        uncopied = tuple(path for path in files if path in filled - copied)
        return SceneSnapshot(items, kinds, fingerprint, place, files, uncopied, labels)

    def keep_checkpoint(self) -> None:
        """Keep a copy of what undo will not bring back. Main thread."""
        if not self.undoable:
            keep_checkpoint(current_call(), self._paths())

    def _paths(self) -> Sequence[Path] | None:
        return self.files() if callable(self.files) else self.files

    @staticmethod
    def _place(host: Host) -> str:
        """Return where the copies will be."""
        return str(checkpoints.checkpoint_folder(host))

    @staticmethod
    def render(text: Text, snapshot: SceneSnapshot) -> str:
        """Return a text, made from the items where it is a function."""
        return text if isinstance(text, str) else text(snapshot.items)

    def question(self, snapshot: SceneSnapshot, call: Call, *, again: bool = False) -> Question:
        """Make the question of a call about the items as they were looked up."""
        verb = self.render(self.verb, snapshot)
        return Question(
            message=ask.sayable(self.render(self.message, snapshot)),
            call=call,
            form=ask.yes_or_no(verb),
            title=self.title or verb,
            key=self.key or ask.next_key(call),
            timeout=self.timeout,
            reason=_CHANGED if again else None,
            details=self.details,
            consent=Consent(
                snapshot.items,
                snapshot.kinds,
                self.undoable,
                snapshot.kept,
                files=snapshot.files,
                uncopied=snapshot.uncopied,
                labels=snapshot.labels,
            ),
        )

    def edit(self, agreed: SceneSnapshot, fn: Callable[[list[str]], T]) -> Flow[_EditResult[T]]:
        """Edit on the main thread, but only if the scene is what was agreed to."""
        context = current_context()
        if context is None or context.main.is_current:
            return self._edit(agreed, fn)
        refuse_without_call("An edit")
        future = current_call().control.edit(lambda: self._edit(agreed, fn))
        return cast("_EditResult[T]", (yield future, context.broker.settings.client_deadline))

    def _edit(self, agreed: SceneSnapshot, fn: Callable[[list[str]], T]) -> _EditResult[Any]:
        snapshot = self.take_snapshot()
        if snapshot.fingerprint != agreed.fingerprint:
            return None, snapshot
        return fn(list(snapshot.items)), None


def _is_filled(path: Path) -> bool:
    """Whether a path is a folder with something in it."""
    try:
        with os.scandir(path) as entries:
            return any(True for _ in entries)
    except NotADirectoryError:
        return False
    except FileNotFoundError:
        return False
    except OSError:  # nobody may look into it
        return True
