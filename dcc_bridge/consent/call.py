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
from dcc_bridge.elicitation.types import Answered
from dcc_bridge.errors import NotConfirmed, WrongRisk

if TYPE_CHECKING:
    from dcc_bridge.elicitation.question import CodeRun, Presenter
    from dcc_bridge.elicitation.secret import Secret

T = TypeVar("T")
Risk = Literal["read", "edit", "destructive"]
Progress = tuple[float, float | None, str]
GRANT_LASTS: Final = 3600.0  # seconds after which a grant ends, though its call still runs


@dataclass(frozen=True, slots=True)
class Client:
    """Who called."""

    label: str  # the name under which the person set it up; proved by its token
    name: str = ""  # what it says of itself
    version: str = ""  # what it says of its version


@dataclass(frozen=True, slots=True)
class SeenClient:
    """A client as its last message showed it."""

    client: Client  # its label, and what it says of itself
    era: str  # the version of the protocol that it speaks
    form: bool  # it says that it can draw a form
    url: bool  # it says that it can open a page
    at: float  # when its last message came, in seconds since the epoch


# Who asks on a thread to which no call was carried: limited as a client is, to one question.
BACKGROUND: Final = Client("a background thread of the host")


@dataclass(frozen=True, slots=True)
class Route:
    """How the client's own questions are reached."""

    form: Presenter | None = None  # draws a form there, or None where the client cannot
    url: Presenter | None = None  # offers a page there, or None where the client cannot
    withdrawable: bool = False  # a question that the client shows can be withdrawn again


@dataclass(eq=False, slots=True)
class CallGrant:
    """What one answer allows one call, until it is withdrawn or its time is over."""

    question: str  # the id of the question that was agreed to
    # What may be lost, each once; None where it was about the arguments, or all that its text says.
    items: tuple[str, ...] | None = None
    undoable: bool = True  # it does not cover what undo does not bring back
    files: frozenset[Path] | None = None  # may be written over; None for any, and another scene
    until: float = field(default_factory=lambda: time.monotonic() + GRANT_LASTS)


@dataclass(slots=True)
class Agreement:
    """What was agreed to so far, and what is kept of it."""

    needs_grant: bool = False  # a change without a grant is undone
    grants: list[CallGrant] = field(default_factory=list)  # what a person agreed to, oldest first
    refused: NotConfirmed | None = None  # why the last question was, if nothing was changed since
    refusals: int = 0  # how often all that was granted was withdrawn
    undoable: bool = True  # nothing was agreed to that undo does not bring back
    lost: list[str] = field(default_factory=list)  # done for good: "write over shot.usda"
    checkpoint: Path | None = None  # the copy of what undo does not bring back, or None
    kept: set[Path | None] = field(default_factory=set)  # with a copy; None: the whole scene
    kept_at: object = None  # the place in the undo stack when that was kept
    copies: set[Path] = field(default_factory=set)  # the folders of the copies kept for it
    # Declared folders; a copy of each file in them is kept just before the file is changed.
    copied_folders: frozenset[Path] = frozenset()
    is_raised: bool = False  # the call loses something only because it called a skill that does
    is_recorded: bool = False  # the audit log tells of the call, so also how it ended

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
        return not self.needs_grant or bool(self.live)

    @property
    def covered(self) -> list[str] | None:
        """The items that may be lost; None where nothing limits them."""
        named = [grant.items for grant in self.live]
        if not self.needs_grant or None in named:
            return None
        return [item for items in named for item in items or ()]

    def use_up(self, lost: Callable[[], Sequence[str]]) -> None:
        """Take what was lost out of the grants; it is listed only where a grant names items."""
        if not self.covered or not (gone := set(lost())):
            return
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
    """Why the body should stop before its own end."""

    reason: str | None = None  # why nobody waits for the call; written once, by any thread
    is_known: bool = False  # the skill was told so
    is_overdue: bool = False  # the call runs for longer than it may


@dataclass(slots=True)
class Dialogue:
    """What was said in a call, for what comes later in it."""

    questions: int = 0  # how many were named; the next one's key on the wire is counted from it
    repeats: str | None = None  # a sentence for the first question of a call made before
    # What a person entered on pages; kept until the skill has ended, so that what it says and
    # returns can be searched for them.
    secrets: list[Secret] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)  # ids of no consents; refused, they end nothing
    deeds: list[str] = field(default_factory=list)  # what its skills did, in a person's words
    # The SHA-256 of the code of an agent that it runs, or "": where nobody can be asked, a list may
    # allow that very text, and never the skill.
    code: str = ""
    for_session: str = ""  # what a yes for the session covers beyond the very question, or ""
    ran: CodeRun | None = None  # that code, and what it did, for the history
    answered_by: str = ""  # who answered the last question: "host" and "client" are a person
    left: str = "Nothing was changed"  # what stands once the steps of the call are undone


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

    def question_opened(self) -> None:
        """Note that a question is open. Any thread."""

    def question_closed(self, answered: Answered) -> None:
        """Note how a question ended. Any thread."""


@dataclass(eq=False)
class Call:
    """One run of a skill."""

    skill: str  # the skill's name
    title: str  # what a person reads
    risk: Risk = "read"  # what it may do; raised when a destructive skill in it asks
    client: Client | None = None  # who called, or None for the host itself
    digest: str = ""  # the digest of the skill's file
    route: Route = Route()  # how the client's own questions are reached
    arguments: Redacted = field(default_factory=Redacted)
    control: RunControl = field(default_factory=RunControl)  # the run that the call belongs to
    agreement: Agreement = field(default_factory=Agreement)  # what was agreed to so far
    ending: CallEnding = field(default_factory=CallEnding)
    dialogue: Dialogue = field(default_factory=Dialogue)  # what was said in it
    id: str = field(default_factory=lambda: os.urandom(8).hex())

    @property
    def remainder(self) -> str:
        """What stands once the steps of the call are undone, in a sentence."""
        lost = f", but for what undo does not bring back: {', '.join(self.agreement.lost)}"
        return f"{self.dialogue.left}{lost if self.agreement.lost else ''}."

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
            self.agreement.withdraw()


# The name of the innermost destructive skill whose body runs in this context, or "".
destructive_skill: ContextVar[str] = ContextVar("dcc_bridge_destructive_skill", default="")
# The call in whose skill the code runs; None outside of any.
current: ContextVar[Call | None] = ContextVar("dcc_bridge_call", default=None)
# Its run, which a call that has ended holds weakly: else the two would wait for the collector.
current_run: ContextVar[RunControl | None] = ContextVar("dcc_bridge_run", default=None)


def calling_client() -> str | None:
    """Return the label of the client for whose call the code runs. Any thread.

    Returns:
        The label, which its token proves; None outside of any call, and for one of the host's own.

    Raises:
        Nothing.
    """
    call = current.get()
    if call is None or call.client is None:
        return None
    return call.client.label
