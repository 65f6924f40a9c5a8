"""A call: one run of a skill, as questions see it. Who wants what, and what was agreed so far.

Its fields are written by the thread that runs the skill; the reason of its end by any thread, once.
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
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.errors import WrongRisk

if TYPE_CHECKING:
    from dcc_bridge.elicitation.question import Presenter
    from dcc_bridge.elicitation.secret import Secret

T = TypeVar("T")
Risk = Literal["read", "edit", "destructive"]
Progress = tuple[float, float | None, str]
GRANT_LASTS: Final = 3600.0  # seconds after which a grant ends, though its call still runs


@dataclass(frozen=True, slots=True)
class Client:
    """Who called.

    Attributes:
        label: The name under which the person set it up; proved by its token.
        name: What it says of itself.
        version: What it says of its version.
    """

    label: str
    name: str = ""
    version: str = ""


# Who asks on a thread to which no call was carried: limited as a client is, to one question.
BACKGROUND: Final = Client("a background thread of the host")


@dataclass(frozen=True, slots=True)
class Route:
    """How the client's own questions are reached.

    Attributes:
        form: Draws a form there, or None where the client cannot.
        url: Offers a page there, or None where the client cannot.
        withdrawable: A question that the client shows can be withdrawn again.
    """

    form: Presenter | None = None
    url: Presenter | None = None
    withdrawable: bool = False


@dataclass(eq=False, slots=True)
class CallGrant:
    """What one answer allows one call, until it is withdrawn or its time is over.

    Attributes:
        question: The id of the question that was agreed to.
        items: What may be lost, each once; None where the question named no items: then it was
            about the arguments, or all that its text says.
        undoable: It does not cover what undo does not bring back.
        files: What may be written over, absolute; None for any file, and another scene.
        until: When it ends, as `time.monotonic` has it.
    """

    question: str
    items: tuple[str, ...] | None = None
    undoable: bool = True
    files: frozenset[Path] | None = None
    until: float = field(default_factory=lambda: time.monotonic() + GRANT_LASTS)


@dataclass(slots=True)
class Agreement:
    """What was agreed to so far, and what is kept of it.

    Attributes:
        needs_grant: A change without a grant is undone.
        grants: What a person agreed to, the oldest first.
        refused: The last answer was a refusal, and nothing was changed since.
        refusals: How often all that was granted was withdrawn.
        undoable: Nothing was agreed to that undo does not bring back.
        checkpoint: The copy that was kept of what undo does not bring back, or None.
        kept: The files of which there is a copy; None among them for the scene as a whole.
        kept_at: The place in the undo stack when it was kept; what came later is not in it.
        copies: The folders with the copies that the call has had kept.
        is_raised: The call loses something only because it called a skill that does.
        is_recorded: The audit log tells of the call already, so it must tell how it ended.
    """

    needs_grant: bool = False
    grants: list[CallGrant] = field(default_factory=list)
    refused: bool = False
    refusals: int = 0
    undoable: bool = True
    checkpoint: Path | None = None
    kept: set[Path | None] = field(default_factory=set)
    kept_at: object = None
    copies: set[Path] = field(default_factory=set)
    is_raised: bool = False
    is_recorded: bool = False

    @property
    def live(self) -> list[CallGrant]:
        """The grants whose time is not over."""
        now = time.monotonic()
        return [grant for grant in self.grants if grant.until > now]

    def allows_loss(self, files: Sequence[Path]) -> bool:
        """Whether files may be written over; none of them: whether the scene may be closed."""
        lasting = [grant.files for grant in self.live if not grant.undoable]
        granted = {file for over in lasting for file in over or ()}
        wanted = {Path(os.path.abspath(file)) for file in files}
        return None in lasting or (bool(wanted) and wanted <= granted)

    @property
    def allows_change(self) -> bool:
        """Whether the scene may be changed: no grant is needed, or there is one."""
        return not self.needs_grant or bool(self.live)

    @property
    def covered(self) -> list[str] | None:
        """The items that may be lost; None where nothing limits them."""
        named = [grant.items for grant in self.live]
        if not self.needs_grant or None in named:
            return None
        return [item for items in named for item in items or ()]

    def use_up(self, lost: Callable[[], Sequence[str]]) -> None:
        """Take what was lost out of the grants.

        Args:
            lost: Lists it; it is asked only where a grant names items.
        """
        if not self.covered:
            return
        gone = set(lost())
        for grant in self.grants:
            if grant.items is not None:
                grant.items = tuple(item for item in grant.items if item not in gone)

    def withdraw(self) -> None:
        """Withdraw all that was granted: a person refused, so nothing may be changed any more."""
        self.grants.clear()
        self.needs_grant = True
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

    def drop(self, question: str) -> None:
        """Withdraw the grant of one question: it was given for something else."""
        self.grants = [grant for grant in self.grants if grant.question != question]


@dataclass(slots=True)
class CallEnding:
    """Why the body should stop before its own end.

    Attributes:
        reason: Why nobody waits for the call any more, or None. Written by any thread, once.
        is_known: The skill was told so.
        is_overdue: The call runs for longer than it may.
    """

    reason: str | None = None
    is_known: bool = False
    is_overdue: bool = False


@dataclass(slots=True)
class Dialogue:
    """What the questions of a call leave for later ones.

    Attributes:
        questions: How many were named; the next one's key on the wire is counted from it.
        repeats: A sentence for the first question where the same call was made before, or None.
        secrets: What a person entered on pages; kept until the skill has ended, so that what it
            says and returns can be searched for them.
        inputs: The ids of questions that are no consent, as the skill says: a refusal of one ends
            nothing.
    """

    questions: int = 0
    repeats: str | None = None
    secrets: list[Secret] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)


class RunControl:
    """What a question needs of the run that it belongs to: `dcc_bridge.skills.run.Run`.

    This one is that of a call which no runner runs: nothing is noted, and edits happen at once,
    where the caller is.
    """

    def pause(self) -> AbstractContextManager[None]:
        """Close the undo step while a question is open. Main thread."""
        return nullcontext()

    def edit(self, fn: Callable[[], T]) -> Future[T]:
        """Run a part of the skill on the main thread, in an undo step. Any thread."""
        future: Future[T] = Future()
        future.set_result(fn())
        return future

    def look(self, fn: Callable[[], T]) -> Future[T]:
        """Run something on the main thread that only reads the scene. Any thread."""
        return self.edit(fn)

    def enter(
        self,
        call: Call,
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Generator[Any, Any, None] | None:
        """Have a destructive skill agreed to that is called in another one. Any thread.

        Args:
            call: In which call.
            fn: Its function, as the decorator gave it.
            args: With what it is called.
            kwargs: With what it is called, by name.

        Returns:
            What asks; None where nobody has to be asked here.

        Raises:
            WrongRisk: The called skill says that it only reads.
        """
        call.raise_risk("destructive")
        return None

    def inside(self, call: Call) -> AbstractContextManager[None]:
        """Run the body of a destructive skill that another one called. Any thread."""
        return nullcontext()

    def record_undo(self, label: str) -> None:
        """Write down that another call's undo step is undone next. Main thread.

        Raises:
            NotRecorded: It cannot be written, so nothing may be undone.
        """

    def report(self, progress: Progress) -> None:
        """Note how far it is: how much is done, of how much, and a word about it. Any thread."""

    def question_opened(self) -> None:
        """Note that a question is open. Any thread."""

    def question_closed(self, answered_by: str | None) -> None:
        """Note by whom a question was answered; None if it was withdrawn. Any thread."""


@dataclass(eq=False)
class Call:
    """One run of a skill.

    Attributes:
        skill: The skill's name.
        title: What a person reads.
        risk: What it may do; raised when a destructive skill in it asks.
        client: Who called, or None for the host itself.
        digest: The digest of the skill's file.
        route: How the client's own questions are reached.
        arguments: What the skill was called with, for the audit log.
        control: The run that the call belongs to.
        agreement: What was agreed to so far.
        ending: Why the body should stop before its own end.
        dialogue: What its questions leave for later ones.
    """

    skill: str
    title: str
    risk: Risk = "read"
    client: Client | None = None
    digest: str = ""
    route: Route = Route()
    arguments: Redacted = field(default_factory=Redacted)
    control: RunControl = field(default_factory=RunControl)
    agreement: Agreement = field(default_factory=Agreement)
    ending: CallEnding = field(default_factory=CallEnding)
    dialogue: Dialogue = field(default_factory=Dialogue)
    id: str = field(default_factory=lambda: os.urandom(8).hex())

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
        what is remembered for the session covers it.

        Raises:
            WrongRisk: It said that it only reads, so there is no undo step, and an edit may wait.
        """
        if risk == "destructive" and self.risk == "read":
            raise WrongRisk(self.skill)
        if risk == "destructive" and self.risk != risk:
            self.risk = risk
            self.agreement.is_raised = True
            self.agreement.withdraw()


# The name of the innermost destructive skill whose body runs in this context, or "".
destructive_skill: ContextVar[str] = ContextVar("dcc_bridge_destructive_skill", default="")
# The call in whose skill the code runs; None outside of any.
current: ContextVar[Call | None] = ContextVar("dcc_bridge_call", default=None)
