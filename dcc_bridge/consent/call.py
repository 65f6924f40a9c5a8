"""A call: one run of a skill, and what was agreed to in it so far.

It is a `Caller` that turns the answers to its questions into grants. Its fields are written by the
thread that runs the skill; the reason of its end by any thread, once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.consent.loss import Loss
from dcc_bridge.elicitation.caller import Progress, Risk
from dcc_bridge.elicitation.context import caller_here, running_caller
from dcc_bridge.elicitation.question import Caller, Question
from dcc_bridge.elicitation.refusal import refusal
from dcc_bridge.elicitation.types import Answered, ElicitationResponse
from dcc_bridge.errors import NotConfirmed, WrongRisk

T = TypeVar("T")
_GRANTORS: Final = ("client", "host", "policy", "grant")  # theirs is a grant; a fallback's is not
GRANT_LASTS: Final = 3600.0  # seconds after which a grant ends, though its call still runs


@dataclass(eq=False, slots=True)
class CallGrant:
    """What one answer allows one call, until it is withdrawn or its time is over."""

    question: str  # the id of the question that was agreed to
    # What may be lost, each once; None where it was about the arguments, or all that its text says.
    items: tuple[str, ...] | None = None
    used: set[str] = field(default_factory=set)  # what of them was lost already
    undoable: bool = True  # it does not cover what undo does not bring back
    files: frozenset[Path] | None = None  # may be written over; None for any, and another scene
    until: float = field(default_factory=lambda: time.monotonic() + GRANT_LASTS)


@dataclass(slots=True)
class Agreement:
    """What was agreed to so far, and what is kept of it."""

    needs_grant: bool = False  # a change without a grant is undone
    judges_losses: bool = False  # only a loss needs a grant, while the body can be done again
    grants: list[CallGrant] = field(default_factory=list)  # what a person agreed to, oldest first
    refused: NotConfirmed | None = None  # why the last question was, if nothing was changed since
    refusals: int = 0  # how often all that was granted was withdrawn
    consents: int = 0  # how many questions for consent were answered
    keeps_answers: bool = False  # a body that is tried again does not ask for consent again
    parts: list[str] = field(default_factory=list)  # items of which an edit may take parts away
    undoable: bool = True  # nothing was agreed to that undo does not bring back
    lost: list[str] = field(default_factory=list)  # done for good: "write over shot.usda"
    checkpoint: Path | None = None  # the copy of what undo does not bring back, or None
    kept: set[Path | None] = field(default_factory=set)  # with a copy; None: the whole scene
    kept_at: object = None  # the place in the undo stack when that was kept
    copies: set[Path] = field(default_factory=set)  # the folders of the copies kept for it
    # Declared folders; a copy of each file in them is kept just before the file is changed.
    copied_folders: frozenset[Path] = frozenset()
    is_raised: bool = False  # the call loses something only because it called a skill that does

    @property
    def live(self) -> list[CallGrant]:
        """The grants whose time is not over."""
        return [grant for grant in self.grants if grant.until > time.monotonic()]

    def allows_loss(self, files: Sequence[Path]) -> bool:
        """Whether files may be written over; none of them: whether the scene may be closed."""
        lasting = [grant.files for grant in self.live if not grant.undoable]
        granted = {file for over in lasting for file in over or ()}
        wanted = {Path(os.path.abspath(file)) for file in files}
        return None in lasting or (bool(wanted) and wanted <= granted)

    @property
    def allows_change(self) -> bool:
        """Whether the scene may be changed: no grant is needed, or there is one."""
        return self.judges_losses or not self.needs_grant or bool(self.live)

    @property
    def covered(self) -> list[str] | None:
        """The items that may be lost; None where nothing limits them."""
        is_limited = self.needs_grant or self.judges_losses
        if not is_limited or any(grant.items is None for grant in self.live):
            return None
        return [item for grant in self.live for item in grant.items or () if item not in grant.used]

    def use_up(self, lost: Callable[[], Sequence[str]]) -> None:
        """Take what was lost out of the grants; it is listed only where a grant names items."""
        if not self.covered or not (gone := set(lost())):
            return
        for grant in self.grants:
            grant.used |= gone.intersection(grant.items or ())

    def begin_anew(self) -> None:
        """Let a body lose again what it was agreed to lose: what it had lost is there again."""
        self.parts.clear()
        for grant in self.grants:
            grant.used.clear()

    def withdraw(self) -> None:
        """Withdraw all that was granted: a person refused, so nothing may be changed any more."""
        self.grants.clear()
        self.needs_grant = True
        self.judges_losses = False
        self.refusals += 1

    @contextmanager
    def holding(self, question: str) -> Iterator[None]:
        """Hold back the grant of a question until what it depends on was seen to be so."""
        held = [grant for grant in self.grants if grant.question == question]
        self.drop(question)
        refusals = self.refusals
        yield
        if self.refusals == refusals:  # nor where it failed: then there is no grant
            self.grants += held

    def limit_losses(self) -> None:
        """Let nothing go that was not listed, though what was agreed to listed nothing."""
        for grant in self.live:
            grant.items = () if grant.items is None else grant.items

    def drop(self, question: str) -> None:
        """Withdraw the grant of one question: it was given for something else."""
        self.grants = [grant for grant in self.grants if grant.question != question]


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
    agreement: Agreement = field(default_factory=Agreement)  # what was agreed to so far
    ran: CodeRun | None = None  # the code of an agent that it runs, and what that did

    @property
    def remainder(self) -> str:
        """What stands once the steps of the call are undone, in a sentence."""
        lost = f", but for what undo does not bring back: {', '.join(self.agreement.lost)}"
        return f"{self.dialogue.left}{lost if self.agreement.lost else ''}."

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
        return bool(self.agreement.grants)

    @property
    def keeps_errors(self) -> bool:
        """Whether its errors may be written down: those of code have lines of it."""
        return self.ran is None or self.ran.is_kept

    @property
    def risk_here(self) -> Risk:
        """The risk of the skill that runs here: a destructive one in an edit is destructive."""
        if self.losing_here:
            return "destructive"
        return "edit" if self.agreement.is_raised else self.risk

    @property
    def losing_here(self) -> str:
        """The name of the destructive skill that runs here: the innermost one; "" for none."""
        is_own = self.risk == "destructive" and not self.agreement.is_raised
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
            self.agreement.is_raised = True
            is_tried = self.agreement.judges_losses
            self.agreement.withdraw()
            self.agreement.judges_losses = is_tried  # what it loses is seen at its end all the same

    def start_over(self, risk: Risk) -> None:
        """Be as before the body: of this risk, and nothing was agreed to."""
        self.risk = risk
        agreement = self.agreement
        agreement.is_raised = False
        agreement.judges_losses = False
        agreement.refused = None
        agreement.grants.clear()

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
        agreement = self.agreement
        agreement.kept.clear()  # the person may have worked on meanwhile
        lists_nothing = self.control.is_trying and not question.items and question.undoable
        agreement.consents += question.consent is not None and not lists_nothing
        is_refusal = self.is_refusal(question, response)
        agreement.refused = None
        if is_refusal and self.risk != "read":
            agreement.refused = refusal(question, response)
        is_granted = question.agrees(response) and response.answered_by in _GRANTORS
        if question.consent and is_granted:
            grant = _grant(question)
            if lists_nothing:  # what it loses is asked about once that is known
                grant.items = ()
            agreement.grants.append(grant)
        elif is_refusal and (question.consent or response.answered_by in ("client", "host")):
            agreement.withdraw()
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
