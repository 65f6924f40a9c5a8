"""Consent to what a call changes, also where a batch comes to it later. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from dcc_bridge.consent.attempt import TryAgain
from dcc_bridge.consent.call import Call, current_call
from dcc_bridge.consent.confirm import Grant, confirm_sync
from dcc_bridge.consent.ledger import CallGrant
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import PartlyApplied
from dcc_bridge.verbs.operations import HostOperations

T = TypeVar("T")
OperationsT = TypeVar("OperationsT", bound=HostOperations)


@dataclass(slots=True)
class _Run:
    """What one call has changed so far, and what was agreed to in it."""

    changes: int = 0
    agreed: int = 0  # changes that were asked for
    known: int = 0  # changes that were asked for before a batch
    questions: int = 0  # that came so far; a yes is of its place, what goes may be named alike
    is_batch: bool = False
    was_tried: bool = False  # when the batch began, it was
    is_split: bool = False  # somebody worked on between two of its steps, which stay two
    answers: dict[object, Any] = field(default_factory=dict)  # in the batch, by what was asked
    files: list[Path] = field(default_factory=list)  # that it wrote, and that were not there


class Consents:
    """Asks for the person's consent, and counts what a call changes, where that is much.

    An undo step is never open while a question is. So a batch in which one comes after an edit is
    taken back once that is agreed to, and done again with the answer: that is one step. What is
    asked then must be what was agreed to, or it is asked again.
    """

    def __init__(self, operations: HostOperations, many: int) -> None:
        self._operations = operations
        self._many = many
        self._runs = WeakKeyDictionary[Call, _Run]()

    def begin_batch(self, changes: int, *, loses: bool) -> None:
        """Begin a batch, or begin it anew; what it is known to change is asked for first.

        Args:
            changes: How many changes are known before it runs.
            loses: Something in it may be lost.
        """
        call = current_call()
        run = self._run
        run.changes = 0
        run.questions = 0
        is_trying = call.control.is_trying
        is_new = not run.is_batch or run.was_tried != is_trying
        run.is_batch = True
        run.was_tried = is_trying
        _remove_new_files(run, call)
        call.ledger.keeps_answers = True
        if loses and is_new:  # at once: to be allowed more later on would end the undo step
            call.raise_risk("destructive")
        if loses and is_new and not is_trying:
            call.ledger.grants.append(CallGrant("batch", items=()))
        if is_new:
            self.ask("Make", changes, "change")
            run.known = run.agreed
            run.changes = 0
        run.agreed = run.known

    def ask(self, verb: str, count: int, noun: str, items: Sequence[str] | None = None) -> None:
        """Count what is changed next, and ask for it where that is much."""
        if end := self.add(count):
            what = f"{verb} {plural(count, noun)}"
            self.confirm(what + end, items, what)

    def add(self, changes: int) -> str:
        """Count what is changed next; gives how its question ends, "" where it needs none."""
        run = self._run
        is_more, run.changes = run.changes > 0, run.changes + changes
        if run.changes - run.agreed <= self._many:
            return ""
        run.agreed = run.changes
        return f", {run.changes} changes in all?" if is_more else " at once?"

    def confirm(
        self,
        message: Callable[[Sequence[str]], str] | str,
        items: Sequence[str] | None,
        verb: Callable[[Sequence[str]], str] | str,
        look: Callable[[], Sequence[str]] | None = None,
        **more: Any,
    ) -> Grant | list[str]:
        """Ask as `confirm_sync` does; gives the items, as `look` lists them after the answer."""

        def agreed(listed: Sequence[str]) -> object:
            kinds = tuple(self._operations.host.kinds(listed))
            return message if isinstance(message, str) else message(listed), *listed, kinds

        seen = [items or ()]
        every = (lambda: seen.pop() if seen else look()) if look else items
        return self.once(agreed(items or ()), items or (), lambda: confirm_sync(
            message, items=every, verb=verb, **more), agreed)  # fmt: skip

    def once(
        self,
        key: object,
        items: Sequence[str],
        ask: Callable[[], T],
        agreed: Callable[[Any], object] = lambda answer: None,
    ) -> T:
        """Ask, or give what was answered; a batch that has edited before it is done again."""
        run, key = self._run, (self._run.questions, key)
        run.questions += 1
        if key in run.answers:
            self._operations.host.fingerprint(
                items
            )  # what goes with them is other data, of these names
            allow(items)
            return cast("T", run.answers[key])
        answer = ask()
        if not run.is_batch:
            return answer
        run.answers[key[0], agreed(answer) or key[1]] = answer
        if not run.is_split:
            self._begin_anew(run)
        return answer

    def _begin_anew(self, run: _Run) -> None:
        call = current_call()
        call.ledger.limit_losses()
        try:
            was_edited = call.control.take_back()
        except PartlyApplied:
            run.is_split = True
            return
        if was_edited:
            raise TryAgain

    def ask_to_write(self, verb: str, question: str, files: Sequence[Path]) -> dict[str, str]:
        """Ask before files are written; gives the folder with the copies of what was there."""
        over = ", over the file that is there" if files[0].exists() else ", a new file"
        others = ["\nIt also writes these files:", *map(str, files[1:])] if files[1:] else []
        text = "\n".join([f"{question}{over}?", *others])
        grant = self.confirm(text, None, verb, undoable=False, files=files, title=verb)
        copy = getattr(grant, "checkpoint", None)
        return {"copies": str(copy)} if copy else {}

    @contextmanager
    def writing(self, files: Sequence[Path]) -> Iterator[None]:
        """Have a later refusal name the new files, which undo leaves there."""
        new = [file for file in files if not file.exists()]
        try:
            yield
        finally:
            written = [file for file in new if file.exists()]
            self._run.files += written
            current_call().lasting.lost += [f"write {file.name}" for file in written]

    @property
    def _run(self) -> _Run:
        return self._runs.setdefault(current_call(), _Run())


class Consenting(Generic[OperationsT]):
    """Verbs that may ask, over a host's operations."""

    def __init__(self, operations: OperationsT, consents: Consents) -> None:
        self._operations = operations
        self._consents = consents


def _remove_new_files(run: _Run, call: Call) -> None:
    """Take back the files that a batch wrote, which begins anew and writes them again."""
    for file in run.files:
        file.unlink(missing_ok=True)
        call.lasting.lost.remove(f"write {file.name}")
    run.files.clear()


def allow(items: Sequence[str]) -> None:
    """Let items go that a person agreed to lose."""
    current_call().ledger.grants.append(CallGrant("", items=tuple(items)))


def cover(items: Sequence[str]) -> None:
    """Let an edit take away parts of what it names: a link, a key, the member of a group."""
    current_call().ledger.parts += items
