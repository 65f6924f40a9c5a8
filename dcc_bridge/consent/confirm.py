"""The question for consent, and the items that the answer covers.

A person agrees to the items that they saw. The items are looked up when the question is asked, and
again in the main-thread job that goes on to edit. If they differ by then (other items, another
parent, another child below one of them), the person is asked again, twice at most. Main thread,
pool threads and coroutines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar, cast

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
from dcc_bridge.host import Host, scene_digest
from dcc_bridge.threads.flows import (
    Flow,
    awaiting,
    blocking,
    refuse_without_call,
    run_async,
    run_sync,
)

T = TypeVar("T")
Items = Callable[[], Sequence[str]] | Sequence[str]
Files = Callable[[], Sequence[Path]] | Sequence[Path] | None
Text = Callable[[Sequence[str]], str] | str

MAX_ASKED: Final = 3  # how often the same is asked while the scene changes
_SCENE_CHANGED: Final = outcome(SCENE_CHANGED)
_ASKED_AGAIN: Final = (
    "The scene has changed since this question was asked. Please check the list again."
)


@dataclass(frozen=True, slots=True)
class SceneSnapshot:
    """The items of a question and their state at one moment.

    Attributes:
        consent: The items, and what the question says of them.
        fingerprint: Equal for two snapshots between which nothing of the items changed.
    """

    consent: Consent
    fingerprint: str = ""

    @property
    def items(self) -> tuple[str, ...]:
        """The paths or names of the items."""
        return self.consent.items

    def items_without(self, left_out: Iterable[str]) -> list[str]:
        """Return the items but those that the person unticked."""
        left_out = frozenset(left_out)
        return [item for item in self.items if item not in left_out]


_EditResult = tuple[T, SceneSnapshot | None]  # or the changed scene that nobody has agreed to


class Grant(list[str]):
    """The items that a person agreed to, as they were at the moment of the answer.

    `confirm_sync` and `apply` both ask until the scene stays the same, in a loop of their own each.
    `confirm_sync` compares the scene while the grant is held back, and returns to the body, which
    edits. `apply` compares and edits in one job of the main thread, so the grant is valid there.

    Attributes:
        checkpoint: The folder with the copies of what undo does not bring back, or None.
        left_out: The items that the person unticked; they are not among the agreed items.
    """

    def __init__(
        self,
        plan: _Plan,
        snapshot: SceneSnapshot,
        call: Call,
        question: str,
        left_out: tuple[str, ...] = (),
    ) -> None:
        super().__init__(snapshot.items_without(left_out))
        self._plan = plan
        self._snapshot = snapshot
        self._call = call
        self._question = question
        self.left_out = left_out
        self.checkpoint = call.lasting.checkpoint

    async def apply(self, fn: Callable[[list[str]], T]) -> T:
        """Edit in a job on the main thread, as an undo step of the skill, from a coroutine.

        Args:
            fn: Gets the items as they are, and edits.

        Returns:
            The result of the function.

        Raises:
            NotConfirmed: The scene had changed, and the person refused when asked again.
        """
        return await run_async(self._apply(fn), "grant.apply")

    def apply_sync(self, fn: Callable[[list[str]], T]) -> T:
        """Edit as `apply` does, from a skill on a pool thread or on the main thread.

        Args:
            fn: Gets the items as they are, and edits.

        Returns:
            The result of the function.

        Raises:
            NotConfirmed: The scene had changed, and the person refused when asked again.
            WrongThread: It was called in a coroutine; use ``await grant.apply``. Or on a thread to
                which no call was carried.
        """
        return run_sync(self._apply(fn), "grant.apply")

    def _apply(self, fn: Callable[[list[str]], T]) -> Flow[T]:
        for asked in range(1, MAX_ASKED + 1):
            value, changed = yield from self._plan.edit(self._snapshot, self.left_out, fn)
            if changed is None:
                return value
            self._call.ledger.drop(self._question)  # the answer was for another scene
            if asked == MAX_ASKED:
                break
            self._snapshot = changed
            self[:] = changed.items
            if self._plan.items is not None and not changed.items:
                continue  # nothing is left to ask about
            question = self._plan.question(changed, current_call(), _ASKED_AGAIN)
            self._question = question.id
            answer = yield from ask.ask_flow(question)
            check(question, answer)
            self.left_out = answer.left_out
            self[:] = changed.items_without(self.left_out)
            with self._call.ledger.holding(question.id):  # the first copy is of the scene before
                yield from look(self._plan.keep_checkpoint)
            self.checkpoint = self._call.lasting.checkpoint
        raise self._plan.scene_changed(self._snapshot)


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
    may_take_fewer: bool = False,
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
        may_take_fewer: The edit makes sense for some of the items too. Then a person who answers in
            the host may untick others, if undo brings the items back.

    Returns:
        The items that the person agreed to, as they are now: edit these and no others. On the main
        thread nothing can change them before the caller goes on to edit; on another thread, edit
        through `Grant.apply`.

    Raises:
        NotConfirmed: The person did not agree: `Declined`, `Cancelled`, `TimedOut`, `NobodyToAsk`.
        NoCheckpoint: It cannot be undone, and no copy can be kept; do not go on.
        SchemaError: The message or the text is too long, or a line is marked that is not there.
        WrongThread: `confirm_sync` was called in a coroutine; use ``await confirm``. Or it looks
            items up on a thread to which no call was carried.
    """
    plan = _Plan(
        message=message,
        items=items,
        verb=verb,
        undoable=undoable,
        files=files,
        title=title,
        timeout=timeout,
        key=key,
        details=ask.details_of(details),
        may_take_fewer=may_take_fewer,
    )
    if callable(plan.items) or callable(plan.files):
        refuse_without_call("A function that looks items up")
    snapshot = yield from look(plan.take_snapshot)
    call = current_call()
    reason = None
    for _ in range(MAX_ASKED):
        if plan.items is not None and not snapshot.items:
            return Grant(plan, snapshot, call, "")
        question = plan.question(snapshot, call, reason)
        answer = yield from ask.ask_flow(question)
        check(question, answer)
        with call.ledger.holding(question.id):  # no grant before the scene is compared
            current_snapshot = yield from look(plan.take_snapshot)
            is_same = current_snapshot.fingerprint == snapshot.fingerprint
            if is_same:
                yield from look(plan.keep_checkpoint)
        if is_same:
            return Grant(plan, current_snapshot, call, question.id, answer.left_out)
        call.ledger.drop(question.id)
        snapshot = current_snapshot
        reason = _ASKED_AGAIN
    raise plan.scene_changed(snapshot)


confirm = awaiting(confirm_sync)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The arguments of `confirm`, from which the snapshots and the questions are made."""

    message: Text
    items: Items | None
    verb: Text
    undoable: bool
    files: Files
    title: str | None
    timeout: float | None
    key: str | None
    details: Details | None
    may_take_fewer: bool

    def take_snapshot(self) -> SceneSnapshot:
        """Return the items and their state. Main thread."""
        items = self.items or ()
        if callable(items):
            items = items()
        may_take_fewer = self.may_take_fewer and self.undoable and len(items) > 1
        consent = Consent(tuple(items), undoable=self.undoable, may_take_fewer=may_take_fewer)
        context = current_context()
        if context is None:
            return SceneSnapshot(consent)
        host = context.host
        fingerprint = host.fingerprint(consent.items)
        kinds = tuple(host.kinds(consent.items))
        labels = tuple(host.display_names(consent.items))
        scene = scene_digest(host, fingerprint)
        consent = replace(consent, kinds=kinds, labels=labels, scene=scene)
        if not self.undoable:
            consent = self._with_files(consent, host)
        return SceneSnapshot(consent, fingerprint)

    def _with_files(self, consent: Consent, host: Host) -> Consent:
        """Return the consent with the files that are lost, and the place of their copies."""
        folder = str(checkpoints.checkpoint_folder(host))
        paths = self._find_files()
        if paths is None:
            return replace(consent, kept=folder)
        files = tuple(paths)
        filled = {path for path in files if _is_filled(path)}
        copied = filled & current_call().lasting.copied_folders
        uncopied = tuple(path for path in files if path in filled - copied)
        consent = replace(consent, files=files, uncopied=uncopied)
        if any(path.is_file() or path in copied for path in files):
            return replace(consent, kept=folder)
        return consent

    def keep_checkpoint(self) -> None:
        """Keep a copy of what undo will not bring back. Main thread."""
        if not self.undoable:
            keep_checkpoint(current_call(), self._find_files())

    def _find_files(self) -> Sequence[Path] | None:
        if callable(self.files):
            return self.files()
        return self.files

    def scene_changed(self, snapshot: SceneSnapshot) -> Cancelled:
        """Return the error for a scene that changes each time that the person is asked."""
        return Cancelled(_render(self.message, snapshot), how=_SCENE_CHANGED)

    def question(self, snapshot: SceneSnapshot, call: Call, reason: str | None) -> Question:
        """Return the question about the items.

        Args:
            snapshot: The items.
            call: The call that asks.
            reason: Why the person is asked again; None for the first time.
        """
        verb = _render(self.verb, snapshot)
        return Question(
            message=ask.sayable(_render(self.message, snapshot)),
            call=call,
            form=ask.yes_or_no(verb),
            title=self.title or verb,
            key=self.key or ask.next_key(call),
            timeout=self.timeout,
            reason=reason,
            details=self.details,
            consent=snapshot.consent,
        )

    def edit(
        self, agreed: SceneSnapshot, left_out: tuple[str, ...], fn: Callable[[list[str]], T]
    ) -> Flow[_EditResult[T]]:
        """Edit on the main thread, unless the items have changed.

        Args:
            agreed: The items that the person was asked about.
            left_out: Those of them that the person unticked.
            fn: Gets the items, and edits.

        Returns:
            The result of the function; or None, and the items as they are now.
        """
        context = current_context()
        if context is None or context.main.is_current:
            return self._edit(agreed, left_out, fn)
        refuse_without_call("An edit")
        future = current_call().control.edit(lambda: self._edit(agreed, left_out, fn))
        result = yield future, context.broker.settings.deadline
        return cast("_EditResult[T]", result)

    def _edit(
        self, agreed: SceneSnapshot, left_out: tuple[str, ...], fn: Callable[[list[str]], T]
    ) -> _EditResult[Any]:
        snapshot = self.take_snapshot()
        if snapshot.fingerprint != agreed.fingerprint:
            return None, snapshot
        return fn(snapshot.items_without(left_out)), None


def _render(text: Text, snapshot: SceneSnapshot) -> str:
    """Return a text, made from the items where the text is a function."""
    if isinstance(text, str):
        return text
    return text(snapshot.items)


def _is_filled(path: Path) -> bool:
    """Return whether a path is a folder that is not empty, or that nobody may read."""
    try:
        with os.scandir(path) as entries:
            return any(True for _ in entries)
    except (NotADirectoryError, FileNotFoundError):
        return False
    except OSError:
        return True
