"""Consent to the changes of a call, also for steps in the middle of a batch. Main thread."""

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
    """The changes of one call so far, and what was agreed to in it.

    Attributes:
        changes: How many changes the call has made.
        agreed: How many of them were asked for.
        known: How many changes were asked for before a batch began.
        questions: How many questions came so far. A yes is kept by the place of its question,
            since other data may later have the same names.
        is_batch: The call is a batch.
        was_tried: The batch was being tried when it began.
        is_split: Somebody worked on between two steps of the batch, which stay two undo steps.
        answers: The answers in a batch, by place and question.
        files: The files that the call wrote and that were not there before.
    """

    changes: int = 0
    agreed: int = 0
    known: int = 0
    questions: int = 0
    is_batch: bool = False
    was_tried: bool = False
    is_split: bool = False
    answers: dict[object, Any] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)


class Consents:
    """Asks for the person's consent, and counts what a call changes, where that is much.

    An undo step is never open while a question is. So where a question comes after an edit of a
    batch, a yes takes the batch back and runs it anew with that answer: that is one step. What is
    asked the second time must be what was agreed to, or the person is asked again.

    Args:
        operations: What the host can do.
        many: The number of changes up to which a call needs no consent.
    """

    def __init__(self, operations: HostOperations, many: int) -> None:
        self._operations = operations
        self._many = many
        self._runs = WeakKeyDictionary[Call, _Run]()

    @property
    def is_batch(self) -> bool:
        """Whether the call is a batch."""
        return self._run.is_batch

    def begin_batch(self, changes: int, *, loses: bool) -> None:
        """Begin a batch, or begin it anew; the person is first asked for its known changes.

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
        if loses and is_new and is_trying:
            call.control.expect_loss()
        if loses and is_new and not is_trying:
            call.ledger.grants.append(CallGrant("batch", items=()))
        if is_new:
            self.ask("Make", changes, "change")
            run.known = run.agreed
            run.changes = 0
        run.agreed = run.known

    def ask(self, verb: str, count: int, noun: str, items: Sequence[str] | None = None) -> None:
        """Count the next changes, and ask the person first where they are many.

        Args:
            verb: What is done, as the question begins: "Copy".
            count: How many changes there will be.
            noun: What each change is of: "prim".
            items: The items that are changed; None where there are none yet.
        """
        question_end = self.add(count)
        if question_end:
            what = f"{verb} {plural(count, noun)}"
            self.confirm(what + question_end, items, what)

    def add(self, changes: int) -> str:
        """Count the next changes; return how their question ends, "" where they need none."""
        run = self._run
        is_more = run.changes > 0
        run.changes += changes
        if run.changes - run.agreed <= self._many:
            return ""
        run.agreed = run.changes
        if is_more:
            return f", {run.changes} changes in all?"
        return " at once?"

    def confirm(
        self,
        message: Callable[[Sequence[str]], str] | str,
        items: Sequence[str] | None,
        verb: Callable[[Sequence[str]], str] | str,
        look: Callable[[], Sequence[str]] | None = None,
        **more: Any,
    ) -> Grant | list[str]:
        """Ask as `confirm_sync` does, or return what was answered before the batch began anew.

        Args:
            message: The question, or a function that returns it for the items.
            items: The items that are asked about, as they were listed before; None for none.
            verb: What is done, for the button; or a function that returns it for the items.
            look: Lists the items again after the answer; None where they cannot change.
            more: Arguments of `confirm_sync`.

        Returns:
            What `confirm_sync` returns: with `look` the items that the person agreed to, which may
            be fewer unless a batch asks; else the grant.

        Raises:
            NotConfirmed: The person did not agree.
            TryAgain: The batch had edited before, and begins anew with this answer.
        """

        def question_about(listed: Sequence[str]) -> object:
            kinds = tuple(self._operations.host.kinds(listed))
            text = message
            if not isinstance(text, str):
                text = text(listed)
            return text, *listed, kinds

        listed_before = [items or ()]

        def every() -> Sequence[str]:
            # The first list was made by the caller already.
            if listed_before or look is None:
                return listed_before.pop()
            return look()

        def ask() -> Grant | list[str]:
            if look is None:
                return confirm_sync(message, items=items, verb=verb, **more)
            # The answer of a batch is found by the items that were asked about.
            may_take_fewer = not self._run.is_batch
            return confirm_sync(
                message, items=every, verb=verb, may_take_fewer=may_take_fewer, **more
            )

        return self.once(question_about(items or ()), items or (), ask, question_about)

    def once(
        self,
        key: object,
        items: Sequence[str],
        ask: Callable[[], T],
        agreed: Callable[[Any], object] = lambda answer: None,
    ) -> T:
        """Ask, or return what was answered before the batch began anew.

        Args:
            key: The question, to find its answer by when the batch runs again.
            items: The items that may go after a yes.
            ask: Asks the person.
            agreed: Returns the question that was answered in the end, by its answer, where that may
                be about other items than `key`; None where it was `key`.

        Raises:
            TryAgain: The batch had edited before, and begins anew with this answer.
        """
        run = self._run
        number = run.questions
        run.questions += 1
        if (number, key) in run.answers:
            # Other data may have these names by now, so the host takes their fingerprints again.
            self._operations.host.fingerprint(items)
            allow(items)
            return cast("T", run.answers[number, key])
        answer = ask()
        if not run.is_batch:
            return answer
        answered = agreed(answer) or key
        run.answers[number, answered] = answer
        if not run.is_split:
            self._begin_anew(run)
        return answer

    def _begin_anew(self, run: _Run) -> None:
        """Revert what the batch has edited so far, so that it runs again.

        Raises:
            TryAgain: Something was edited.
        """
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
        """Ask before files are written.

        Args:
            verb: What is done, for the button: "Save".
            question: How the question begins; what is said of the files follows.
            files: The file that the question is about, then others that are written too.

        Returns:
            The folder with the copies of the files that were there, as "copies"; else nothing.
        """
        state = ", a new file"
        if files[0].exists():
            state = ", over the file that is there"
        lines = [f"{question}{state}?"]
        if files[1:]:
            lines += ["\nIt also writes these files:", *map(str, files[1:])]
        return self.confirm_files(verb, "\n".join(lines), files)

    def confirm_files(self, verb: str, question: str, files: Sequence[Path]) -> dict[str, str]:
        """Ask before files are written, of which those that are there are copied after a yes.

        Args:
            verb: What is done, for the button: "Render".
            question: The question.
            files: The files.

        Returns:
            The folder with the copies of the files that were there, as "copies"; else nothing.
        """
        grant = self.confirm(question, None, verb, undoable=False, files=files, title=verb)
        copy = getattr(grant, "checkpoint", None)
        if not copy:
            return {}
        return {"copies": str(copy)}

    @contextmanager
    def writing(self, files: Sequence[Path]) -> Iterator[None]:
        """Return a block in which files are written.

        Undo leaves the new ones there, so a later refusal names them. If the block fails and has
        written nothing, the refusal does not name what was agreed to either.

        Args:
            files: The files that may be written.
        """
        host = self._operations.host
        call = current_call()
        call.control.note_write()
        lost = call.lasting.lost
        new = [file for file in files if not file.exists()]
        before = [host.file(), *map(stamp, files)]
        noted = len(lost)
        try:
            yield
        except BaseException:
            if [host.file(), *map(stamp, files)] == before:
                del lost[noted:]
            raise
        finally:
            written = [file for file in new if file.exists()]
            self._run.files += written
            lost += [f"write {file.name}" for file in written]

    @property
    def _run(self) -> _Run:
        return self._runs.setdefault(current_call(), _Run())


class ConsentingVerbs(Generic[OperationsT]):
    """A base for verbs that may ask, over a host's operations."""

    def __init__(self, operations: OperationsT, consents: Consents) -> None:
        self._operations = operations
        self._consents = consents


def _remove_new_files(run: _Run, call: Call) -> None:
    """Remove the new files of a batch, which begins anew and writes them again."""
    for file in run.files:
        file.unlink(missing_ok=True)
        call.lasting.lost.remove(f"write {file.name}")
    run.files.clear()


def stamp(file: Path) -> tuple[int, ...]:
    """Return numbers of a file that change when it is written, its size first; 0 without a file."""
    if not file.exists():
        return (0,)
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def allow(items: Sequence[str]) -> None:
    """Allow the loss of items, to which the person agreed."""
    current_call().ledger.grants.append(CallGrant("", items=tuple(items)))


def cover(items: Sequence[str]) -> None:
    """Allow an edit to take away parts of the items that it names.

    Such parts are a link, a key, or a member of a group.
    """
    current_call().ledger.parts += items
