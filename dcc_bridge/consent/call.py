"""A call: one run of a skill, and the grants that it has so far.

A `Call` is a `Caller` that turns the answers to its questions into grants of its ledger. It reaches
its run by a `RunControl`. The thread that runs the skill writes the fields of the call; any thread
writes the reason of its end, once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.consent.ledger import CallGrant, LastingLosses, Ledger
from dcc_bridge.consent.loss import Loss
from dcc_bridge.elicitation.caller import Progress, Risk
from dcc_bridge.elicitation.context import caller_here, running_caller
from dcc_bridge.elicitation.question import Caller, Picture, Question
from dcc_bridge.elicitation.refusal import refusal
from dcc_bridge.elicitation.types import Answered, ElicitationResponse
from dcc_bridge.errors import WrongRisk

T = TypeVar("T")
# The sources whose yes is a grant. The yes of a fallback is none.
_GRANTORS: Final = ("client", "host", "policy", "grant")


class RunControl:
    """The interface of a call to the run that it belongs to, `dcc_bridge.skills.run.Run`.

    The methods here serve a call without a runner: nothing is noted, and each edit happens at once,
    on the thread of the caller.
    """

    def pause(self) -> AbstractContextManager[None]:
        """Close the undo step while a question is open. Main thread."""
        return nullcontext()

    def reading(self, what: str) -> AbstractContextManager[None]:
        """Close the undo step while a part runs that only reads. Main thread.

        Args:
            what: The name of the part, for an error about an edit in it.
        """
        return nullcontext()

    def edit(self, fn: Callable[[], T]) -> Future[T]:
        """Run a part of the skill on the main thread, in an undo step. Any thread."""
        future: Future[T] = Future()
        future.set_result(fn())
        return future

    def look(self, fn: Callable[[], T]) -> Future[T]:
        """Run a function on the main thread that only reads the scene. Any thread."""
        return self.edit(fn)

    def take_back(self) -> bool:
        """Undo the edits of the call, and go on in a new undo step. Main thread.

        Returns:
            Whether there was an edit.

        Raises:
            PartlyApplied: An edit of somebody else lies on top.
        """
        return False

    def rehearse(self, body: Callable[[], object], items: Sequence[str]) -> None:
        """Try an edit and take it back, to draw the scene after it for a question. Main thread.

        Args:
            body: The edit.
            items: The items that it takes away.
        """

    def limit(self, seconds: float | None) -> None:
        """Limit the time that the skill may run from now on, open questions not counted.

        Args:
            seconds: The limit; None for no limit.
        """

    def enter(
        self,
        call: Call,
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Generator[Any, Any, None] | None:
        """Ask about a destructive skill that is called in another skill. Any thread.

        Args:
            call: The call in which this happens.
            fn: The function of the destructive skill, as the decorator returned it.
            args: The arguments by position.
            kwargs: The arguments by name.

        Returns:
            The flow that asks; None where nobody has to be asked here.

        Raises:
            WrongRisk: The outer skill declares that it only reads.
        """
        call.raise_risk("destructive")
        return None

    def inside(self, call: Call) -> AbstractContextManager[None]:
        """Surround the body of a destructive skill that another skill called. Any thread."""
        return nullcontext()

    def record_undo(self, label: str) -> None:
        """Write into the record that another call's step is undone next. Main thread.

        Args:
            label: The label of the step.

        Raises:
            NotRecorded: The record cannot be written, so the step must not be undone.
        """

    def report(self, progress: Progress) -> None:
        """Note the progress of the skill. Any thread."""

    def attempt(self, body: Callable[[], T], ask_for_loss: Callable[[Loss], None]) -> T:
        """Try a part of a body that asks by itself, until a person agreed to its loss. Main thread.

        Args:
            body: The part; it is called once for each try.
            ask_for_loss: Asks the person about a loss; raises NotConfirmed after a no.

        Returns:
            The result of the last try.
        """
        return body()

    @property
    def is_trying(self) -> bool:
        """Whether the person is asked about the body's losses at its end. Main thread."""
        return False

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer to the same question of an earlier try. Any thread."""
        return None

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Note the answer to a question of the body. Any thread."""

    def note_write(self) -> None:
        """Write into the record, before the call writes files, that it does. Main thread."""

    def expect_loss(self) -> None:
        """Prepare pictures of a loss, before the body edits. Main thread."""

    def pictures(self, items: Sequence[str]) -> tuple[Picture, ...]:
        """Return pictures of items that are lost after a yes, or none. Main thread."""
        return ()

    def question_opened(self) -> None:
        """Note that a question is open. Any thread."""

    def question_closed(self, answered: Answered) -> None:
        """Note how a question ended. Any thread."""


@dataclass(eq=False)
class Call(Caller):
    """One run of a skill.

    Attributes:
        control: The run that the call belongs to.
        ledger: The grants so far.
        lasting: The losses that undo does not bring back, with the copies.
        ran: The code of an agent that the call runs, and its effect; None for no code.
        is_dry_run: Whether the body is tried and taken back, to tell what it would change.
        deeds: What the skills of the call did, in a person's words: "Moved 12 lights".
        left: What remains once the steps of the call are undone, in words.
        agreed_pictures: Pictures of the last loss that was agreed to: the scene before it and after
            it, or before it, each with a text that says what it shows.
    """

    control: RunControl = field(default_factory=RunControl)
    ledger: Ledger = field(default_factory=Ledger)
    lasting: LastingLosses = field(default_factory=LastingLosses)
    ran: CodeRun | None = None
    is_dry_run: bool = False
    deeds: list[str] = field(default_factory=list)
    left: str = "Nothing was changed"
    agreed_pictures: tuple[tuple[bytes, str], ...] = ()

    @property
    def remainder(self) -> str:
        """The sentence about what is left once the steps of the call are undone."""
        if not self.lasting.lost:
            return f"{self.left}."
        lost = ", ".join(self.lasting.lost)
        return f"{self.left}, except for what undo cannot reverse: {lost}."

    @property
    def inner_skill(self) -> str:
        """The destructive skill that the skill of the call has called and that runs here, or ""."""
        if self.destructive_here == self.skill:
            return ""
        return self.destructive_here

    @property
    def asks_consent(self) -> bool:
        """Whether the answer to each form that is asked here may be a yes to a loss."""
        return self.risk_here == "destructive"

    @property
    def is_granted(self) -> bool:
        """Whether the call has a grant, for the scene as it was at the answer."""
        return bool(self.ledger.grants)

    @property
    def keeps_errors(self) -> bool:
        """Whether errors may be written into the record: those of code quote lines of it."""
        return self.ran is None or self.ran.is_kept

    @property
    def risk_here(self) -> Risk:
        """The risk of the skill that runs here, which may be one that the skill has called."""
        if self.destructive_here:
            return "destructive"
        if self.ledger.is_raised:
            return "edit"
        return self.risk

    @property
    def destructive_here(self) -> str:
        """The name of the innermost destructive skill that runs here; "" for none."""
        inner = destructive_skill.get()
        if inner:
            return inner
        if self.risk == "destructive" and not self.ledger.is_raised:
            return self.skill
        return ""

    def raise_risk(self, risk: Risk) -> None:
        """Make the call destructive from here to its end, if that is the risk.

        The grants so far were for less than that, so they end, and no grant of the session covers
        the call.

        Args:
            risk: The risk of the skill that runs here.

        Raises:
            WrongRisk: The skill of the call declares that it only reads. So no undo step is open,
                and an edit of somebody else may wait.
        """
        if risk != "destructive" or self.risk == "destructive":
            return
        if self.risk == "read":
            raise WrongRisk(self.skill)
        self.risk = risk
        ledger = self.ledger
        ledger.is_raised = True
        is_tried = ledger.judges_losses
        ledger.withdraw()
        ledger.judges_losses = is_tried  # losses are judged at the body's end all the same

    def start_over(self, risk: Risk) -> None:
        """Reset the call for another try of the body: the risk as declared, and no grants."""
        self.risk = risk
        ledger = self.ledger
        ledger.is_raised = False
        ledger.judges_losses = False
        ledger.refused = None
        ledger.grants.clear()

    @contextmanager
    def asking(self, *, on_main: bool) -> Iterator[None]:
        """Close the undo step while a question is open, if the main thread asks.

        The question ends inside this block: its grant decides whether the undo step opens again.

        Args:
            on_main: Whether the main thread asks.
        """
        risk = self.risk_here  # only here the context knows which skill asks
        pause = self.control.pause() if on_main else nullcontext()
        with pause:
            self.raise_risk(risk)  # inside the pause: the edits so far were allowed
            yield

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer of the try before this one, or None."""
        return self.control.answered_before(question)

    def pictures(self, items: Sequence[str]) -> tuple[Picture, ...]:
        """Return the pictures of the run where items may be lost, or none."""
        if self.risk != "destructive":
            return ()
        return self.control.pictures(items)

    def question_opened(self) -> None:
        """Tell the run that a question is open. Any thread."""
        self.control.question_opened()

    def question_closed(self, answered: Answered) -> None:
        """Tell the run how a question ended. Any thread."""
        if answered.agrees and answered.pictures:
            self.agreed_pictures = answered.pictures
        self.control.question_closed(answered)

    def is_refusal(self, question: Question, response: ElicitationResponse) -> bool:
        """Return whether an answer refuses an edit, and not merely an input or a page."""
        if question.page is not None or question.id in self.dialogue.inputs:
            return False
        if question.consent is not None:
            return not question.agrees(response)
        return not response.accepted

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Turn a yes into a grant; after a refusal withdraw every grant of the call."""
        ledger = self.ledger
        self.lasting.copied_files.clear()  # the person may have edited meanwhile
        lists_nothing = self.control.is_trying and not question.items and question.undoable
        if question.consent is not None and not lists_nothing:
            ledger.consents += 1
        is_refusal = self.is_refusal(question, response)
        ledger.refused = None
        if is_refusal and self.risk != "read":
            ledger.refused = refusal(question, response)
        is_granted = question.agrees(response) and response.answered_by in _GRANTORS
        if question.consent and is_granted:
            items = None
            if question.items:
                items = question.agreed_items(response)
            if lists_nothing:  # the losses are asked about once they are known
                items = ()
            files = None
            if question.consent.files is not None:
                files = frozenset(Path(os.path.abspath(file)) for file in question.consent.files)
            undoable = question.undoable
            grant = CallGrant(
                question.id, items, undoable=undoable, files=files, kept=response.left_out
            )
            ledger.grants.append(grant)
        elif is_refusal and (question.consent or response.answered_by in ("client", "host")):
            ledger.withdraw()
        self.control.note_answer(question, response)  # last, as the body may begin anew in there


def running_call() -> Call | None:
    """Return the call in whose skill the code runs; None outside of any call."""
    return running_caller(Call)


def current_call() -> Call:
    """Return the call in whose skill the code runs, or a new one of the host's own."""
    return caller_here(Call)


# The name of the innermost destructive skill whose body runs in this context, or "".
destructive_skill: ContextVar[str] = ContextVar("dcc_bridge_destructive_skill", default="")
# The run in this context. A call that has ended holds its run weakly: otherwise both would wait for
# the garbage collector.
current_run: ContextVar[RunControl | None] = ContextVar("dcc_bridge_run", default=None)


def calling_client() -> str | None:
    """Return the label of the client for whose call the code runs. Any thread.

    Returns:
        The label, which its token proves; None outside of any call, and for one of the host's own.

    Raises:
        Nothing.
    """
    call = running_call()
    if call is None or call.client is None:
        return None
    return call.client.label
