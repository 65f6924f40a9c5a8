"""A call: one run of a skill, and what was agreed to in it so far.

It is a `Caller` that turns the answers to its questions into grants. Its fields are written by the
thread that runs the skill; the reason of its end by any thread, once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping
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
from dcc_bridge.elicitation.question import Caller, Question
from dcc_bridge.elicitation.refusal import refusal
from dcc_bridge.elicitation.types import Answered, ElicitationResponse
from dcc_bridge.errors import WrongRisk

T = TypeVar("T")
_GRANTORS: Final = ("client", "host", "policy", "grant")  # theirs is a grant; a fallback's is not


class RunControl:
    """What a question needs of the run that it belongs to: `dcc_bridge.skills.run.Run`.

    This one is that of a call which no runner runs: nothing is noted, and edits happen at once,
    where the caller is.
    """

    def pause(self) -> AbstractContextManager[None]:
        """Close the undo step while a question is open. Main thread."""
        return nullcontext()

    def reading(self, what: str) -> AbstractContextManager[None]:
        """Close the undo step while `what` runs, a part that only reads. Main thread."""
        return nullcontext()

    def edit(self, fn: Callable[[], T]) -> Future[T]:
        """Run a part of the skill on the main thread, in an undo step. Any thread."""
        future: Future[T] = Future()
        future.set_result(fn())
        return future

    def look(self, fn: Callable[[], T]) -> Future[T]:
        """Run something on the main thread that only reads the scene. Any thread."""
        return self.edit(fn)

    def take_back(self) -> bool:
        """Undo what the call has changed, and go on in a new undo step. Main thread.

        Gives whether there was anything. PartlyApplied: somebody else's change lies on top.
        """
        return False

    def limit(self, seconds: float | None) -> None:
        """Let the skill run for so long from now on, questions aside; None for no limit."""

    def enter(
        self,
        call: Call,
        fn: Callable[..., object],  # its function, as the decorator gave it
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Generator[Any, Any, None] | None:
        """Have a destructive skill agreed to that is called in another one. Any thread.

        Gives what asks; None where nobody has to be asked here. WrongRisk: the called skill says
        that it only reads.
        """
        call.raise_risk("destructive")
        return None

    def inside(self, call: Call) -> AbstractContextManager[None]:
        """Run the body of a destructive skill that another one called. Any thread."""
        return nullcontext()

    def record_undo(self, label: str) -> None:
        """Write down that another call's step is undone next, or raise NotRecorded. Main thread."""

    def report(self, progress: Progress) -> None:
        """Note how far it is: how much is done, of how much, and a word about it. Any thread."""

    def attempt(self, body: Callable[[], T], ask_for_loss: Callable[[Loss], None]) -> T:
        """Try a part of a body that asks by itself, until what it loses was agreed to.

        Args:
            body: What edits; it is called once for each try.
            ask_for_loss: Has the person agree to what it lost, or raises NotConfirmed.
        """
        return body()

    @property
    def is_trying(self) -> bool:
        """Whether what the body loses is seen at its end, and asked about then. Main thread."""
        return False

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer to the same question of an earlier try. Any thread."""
        return None

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Note the answer to a question of the body. Any thread."""

    def question_opened(self) -> None:
        """Note that a question is open. Any thread."""

    def question_closed(self, answered: Answered) -> None:
        """Note how a question ended. Any thread."""


@dataclass(eq=False)
class Call(Caller):
    """One run of a skill."""

    control: RunControl = field(default_factory=RunControl)  # the run that the call belongs to
    ledger: Ledger = field(default_factory=Ledger)  # what was agreed to so far
    lasting: LastingLosses = field(default_factory=LastingLosses)  # for good, with the copies of it
    ran: CodeRun | None = None  # the code of an agent that it runs, and what that did

    @property
    def remainder(self) -> str:
        """What stands once the steps of the call are undone, in a sentence."""
        lost = f", except for what undo cannot reverse: {', '.join(self.lasting.lost)}"
        return f"{self.dialogue.left}{lost if self.lasting.lost else ''}."

    @property
    def inner_skill(self) -> str:
        """The destructive skill in it that runs here; "" for the called one, or none."""
        losing = self.losing_here
        return "" if losing == self.skill else losing

    @property
    def asks_consent(self) -> bool:
        """Whether each form that is asked here decides whether something is lost."""
        return self.risk_here == "destructive"

    @property
    def is_granted(self) -> bool:
        """Whether something was agreed to, which holds for the scene as it was then."""
        return bool(self.ledger.grants)

    @property
    def keeps_errors(self) -> bool:
        """Whether its errors may be written down: those of code have lines of it."""
        return self.ran is None or self.ran.is_kept

    @property
    def risk_here(self) -> Risk:
        """The risk of the skill that runs here: a destructive one in an edit is destructive."""
        if self.losing_here:
            return "destructive"
        return "edit" if self.ledger.is_raised else self.risk

    @property
    def losing_here(self) -> str:
        """The name of the destructive skill that runs here: the innermost one; "" for none."""
        is_own = self.risk == "destructive" and not self.ledger.is_raised
        return destructive_skill.get() or (self.skill if is_own else "")

    def raise_risk(self, risk: Risk) -> None:
        """Be a call that may lose something, from here to its end.

        What was agreed to before was less than that, so it is no grant for what comes; nothing of
        what is remembered for the session covers it. WrongRisk: it said that it only reads, so
        there is no undo step, and an edit may wait.
        """
        if risk == "destructive" and self.risk == "read":
            raise WrongRisk(self.skill)
        if risk == "destructive" and self.risk != risk:
            self.risk = risk
            self.ledger.is_raised = True
            is_tried = self.ledger.judges_losses
            self.ledger.withdraw()
            self.ledger.judges_losses = is_tried  # what it loses is seen at its end all the same

    def start_over(self, risk: Risk) -> None:
        """Be as before the body: of this risk, and nothing was agreed to."""
        self.risk = risk
        ledger = self.ledger
        ledger.is_raised = False
        ledger.judges_losses = False
        ledger.refused = None
        ledger.grants.clear()

    @contextmanager
    def asking(self, *, on_main: bool) -> Iterator[None]:
        """Close the undo step while a question is open, where the main thread asks."""
        risk = self.risk_here  # only the stack that asks knows which skill it is in
        with self.control.pause() if on_main else nullcontext():
            self.raise_risk(risk)  # inside the pause: what was changed so far was allowed
            # before the pause ends: whether the undo step opens again is decided by the grant
            yield

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer of the run before this one, where the body is tried again."""
        return self.control.answered_before(question)

    def question_opened(self) -> None:
        """Tell the run that a question is open. Any thread."""
        self.control.question_opened()

    def question_closed(self, answered: Answered) -> None:
        """Tell the run how a question ended. Any thread."""
        self.control.question_closed(answered)

    def is_refusal(self, question: Question, response: ElicitationResponse) -> bool:
        """Return whether an answer refuses more than an input, or to go to a page."""
        if question.page is not None or question.id in self.dialogue.inputs:
            return False
        if question.consent is not None:
            return not question.agrees(response)
        return not response.accepted

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Grant what an answer agrees to, or withdraw all that was granted."""
        ledger = self.ledger
        self.lasting.kept.clear()  # the person may have worked on meanwhile
        lists_nothing = self.control.is_trying and not question.items and question.undoable
        ledger.consents += question.consent is not None and not lists_nothing
        is_refusal = self.is_refusal(question, response)
        ledger.refused = None
        if is_refusal and self.risk != "read":
            ledger.refused = refusal(question, response)
        is_granted = question.agrees(response) and response.answered_by in _GRANTORS
        if question.consent and is_granted:
            grant = _grant(question)
            if lists_nothing:  # what it loses is asked about once that is known
                grant.items = ()
            ledger.grants.append(grant)
        elif is_refusal and (question.consent or response.answered_by in ("client", "host")):
            ledger.withdraw()
        self.control.note_answer(question, response)  # at last: the body may begin anew there


def _grant(question: Question) -> CallGrant:
    """Return what a yes to a question allows."""
    files = question.consent.files if question.consent else None
    over = None
    if files is not None:
        over = frozenset(Path(os.path.abspath(file)) for file in files)
    return CallGrant(question.id, question.items or None, undoable=question.undoable, files=over)


def running_call() -> Call | None:
    """Return the call in whose skill the code runs; None outside of any."""
    return running_caller(Call)


def current_call() -> Call:
    """Return the call in whose skill the code runs, or a new one of the host's own."""
    return caller_here(Call)


# The name of the innermost destructive skill whose body runs in this context, or "".
destructive_skill: ContextVar[str] = ContextVar("dcc_bridge_destructive_skill", default="")
# Its run, which a call that has ended holds weakly: else the two would wait for the collector.
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
