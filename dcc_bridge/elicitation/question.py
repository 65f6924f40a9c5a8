"""A question, who asks it, the events of the surfaces that draw it, and their ports.

All but the caller is frozen; any thread. Caller and question stand in one module, for each is told
of the other: a question says who asks, and its caller hears what was answered.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.caller import CallEnding, Client, Dialogue, Risk
from dcc_bridge.elicitation.types import Answered, ElicitationResponse

if TYPE_CHECKING:
    from dcc_bridge.elicitation.details import Details
    from dcc_bridge.elicitation.schema import Form
    from dcc_bridge.elicitation.validation import Field

Surface = Literal["client", "host"]
Stage = tuple[Surface, ...]

MAX_MESSAGE_BYTES: Final = 8192  # bytes of a question's message, as UTF-8
MOST_REASON: Final = 500  # how many characters are read of the reason that a person gives


@dataclass(frozen=True, slots=True)
class Route:
    """How the client's own questions are reached."""

    form: Presenter | None = None  # draws a form there, or None where the client cannot
    url: Presenter | None = None  # offers a page there, or None where the client cannot
    withdrawable: bool = False  # a question that the client shows can be withdrawn again


@dataclass(eq=False)
class Caller:
    """Who asks: one run of a skill, as questions see it.

    What an answer leads to is its own business: it hears that it asks, and what was answered. This
    one, of the host's own code, makes nothing of that.
    """

    skill: str  # the skill's name
    title: str  # what a person reads
    risk: Risk = "read"  # what it may do; raised when a destructive skill in it asks
    client: Client | None = None  # who called, or None for the host itself
    digest: str = ""  # the digest of the skill's file
    route: Route = Route()  # how the client's own questions are reached
    arguments: Redacted = field(default_factory=Redacted)
    ending: CallEnding = field(default_factory=CallEnding)
    dialogue: Dialogue = field(default_factory=Dialogue)  # what was said in it
    is_recorded: bool = False  # the audit log tells of it, so also how it ended
    id: str = field(default_factory=lambda: os.urandom(8).hex())

    @property
    def remainder(self) -> str:
        """What stands once its steps are undone, in a sentence."""
        return f"{self.dialogue.left}."

    @property
    def inner_skill(self) -> str:
        """The skill in it that asks here; "" for the called one."""
        return ""

    @property
    def asks_consent(self) -> bool:
        """Whether each form that is asked here decides whether something is lost."""
        return False

    @property
    def is_granted(self) -> bool:
        """Whether something was agreed to, which holds for the scene as it was then."""
        return False

    def asking(self, *, on_main: bool) -> AbstractContextManager[None]:
        """Hear that it asks, until it has heard the answer.

        Args:
            on_main: It asks on the main thread.
        """
        return nullcontext()

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer that it had to the same question, so that nobody is asked twice.

        Args:
            question: What it is about to ask.

        Returns:
            The answer; None where a person has to be asked.
        """
        return None

    def question_opened(self) -> None:
        """Hear that a question of it is open. Any thread."""

    def question_closed(self, answered: Answered) -> None:
        """Hear how a question of it ended. Any thread."""

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Hear an answer, where it was asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with all that a presenter needs to draw it.

    Attributes:
        message: A sentence; plain text.
        call: Whose question it is.
        form: What to fill in; None for a page.
        title: A heading, or None.
        page: The page to visit instead of a form, or None.
        consent: What is agreed to, where the answer decides whether something is lost; or None.
        key: Its name on the wire.
        timeout: Seconds for an answer; None for the surface's own limit.
        reason: Why it is asked again, or None.
        details: A text that is agreed to, shown whole; or None.
        offers: What else the person may do with it here.
        id: Its own.
    """

    message: str
    call: Caller
    form: Form | None = None
    title: str | None = None
    page: Page | None = None
    consent: Consent | None = None
    key: str = "answer"
    timeout: float | None = None
    reason: str | None = None
    details: Details | None = None
    offers: Offers = field(default_factory=lambda: Offers())
    id: str = field(default_factory=lambda: os.urandom(4).hex())

    @property
    def items(self) -> tuple[str, ...]:
        """What it is about: paths or names in the scene."""
        return self.consent.items if self.consent else ()

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """What the skill is called with, where that is agreed to: names and whole values."""
        return self.consent.arguments if self.consent else ()

    @property
    def undoable(self) -> bool:
        """Whether the host can undo what the answer leads to, as one step."""
        return self.consent is None or self.consent.undoable

    @property
    def confirmation(self) -> Field | None:
        """The only field of a consent: the verb's button stands for it, and it is not drawn."""
        return self.form.lone_confirmation if self.consent and self.form else None

    @property
    def visit(self) -> Visit | None:
        """The page, where it is one of this application and says itself when it is done."""
        return self.page.visit if self.page else None

    def agrees(self, response: ElicitationResponse) -> bool:
        """Return whether a response is a yes, in each field that asks for one. It raises nothing.

        Args:
            response: How it ended.

        Returns:
            Whether what is asked for may be done.
        """
        form = self.form
        return response.accepted and (form is None or form.agrees(response.data or {}))

    def answered(self, response: ElicitationResponse) -> Answered:
        """Return how it ended, for the panel and the record. It raises nothing.

        Args:
            response: How it ended.

        Returns:
            The question's message with how it was answered, and by whom.
        """
        how = response.message or types.DECLINED
        if response.accepted and how != types.COMPLETION_UNVERIFIED:
            agreed = types.AGREED if self.agrees(response) else types.DECLINED
            how = agreed if self.consent else types.ANSWERED
        return Answered(self.message, how, response.answered_by)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that a person is sent to."""

    url: str  # where it is
    description: str | None = None  # what happens there, or None
    visit: Visit | None = None  # the page itself, where it is one of this application; or None


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person agrees to, or not.

    Attributes:
        items: What it is about: paths or names in the scene.
        kinds: The type of each item, as the host calls it; empty where nobody said.
        undoable: The host can undo it, as one step.
        kept: The folder in which a copy of what undo does not bring back is kept first, or None.
        skill: The destructive skill that asks; "" for the called one.
        files: What is written over, where undo does not help; None for the scene as a whole.
        arguments: What the skill is called with, where that is agreed to: names and whole values.
        uncopied: Folders among the files; of what is in them no copy is kept.
        labels: What the person reads for each item; empty where that is the item itself.
    """

    items: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    undoable: bool = True
    kept: str | None = None
    skill: str = ""
    files: tuple[Path, ...] | None = field(default=None, compare=False)
    arguments: tuple[tuple[str, str], ...] = ()
    uncopied: tuple[Path, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def shown_items(self) -> tuple[str, ...]:
        """The items, as the person knows them."""
        return self.labels or self.items

    @property
    def overwrites_nothing(self) -> bool:
        """Whether only new files are written: undo does not help, but nothing is lost."""
        may_lose = self.undoable or self.items or self.uncopied or self.kept is not None
        return bool(self.files) and not may_lose


@dataclass(frozen=True, slots=True)
class Offers:
    """What a person at the host may do with a question besides answering it."""

    soon: float = 45.0  # seconds after which it ends unless the person types or asks for more time
    latest: float = 45.0  # seconds after which it ends whatever they do
    # The client's name, where the question can be answered there instead; or None.
    hand_over: str | None = None
    # It may be agreed to for the session, for that many items at most; 0 where it names none, for
    # the same arguments; or None.
    remember: int | None = None
    # For so many minutes plain code of the client may be agreed to; 0 where that is not offered.
    minutes: int = 0
    mute: str | None = None  # the label of the client that may be muted, or None
    # What they had filled in when the same was asked before, and not sent; or None.
    typed: Mapping[str, Any] | None = None
    since: float = field(default_factory=time.monotonic, compare=False)  # when it was drawn

    @property
    def left(self) -> float:
        """Seconds that are left until it ends whatever they do."""
        return max(0.0, self.since + self.latest - time.monotonic())

    @property
    def may_remember(self) -> bool:
        """Whether a yes may be one for what comes as well."""
        return self.remember is not None or self.minutes > 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's reply, as a presenter reports it. Not trusted yet.

    Attributes:
        action: What the person did.
        content: The form's fields, where they accepted; what they had typed, where they did not.
        remember: They agreed for what comes as well: for the session, or a while.
        mute: They want to hear no more of this client for a while.
        reason: Why they refused, in their own words, or None.
    """

    action: types.Action
    content: object = None
    remember: bool = False
    mute: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HandOver:
    """The person would rather answer on the other surface."""


@dataclass(frozen=True, slots=True)
class Expired:
    """Nobody answered within the time that the presenter showed, or it ended for another reason.

    Attributes:
        message: Why, in one of the words of the protocol or a sentence.
    """

    message: str = types.TIMED_OUT


@dataclass(frozen=True, slots=True)
class Unable:
    """A presenter cannot show a question.

    Attributes:
        message: Why.
        ends: If no other surface can be asked, it is a cancel rather than unattended.
        lasting: It will not be able to show the next one either.
    """

    message: str = types.NOT_SUPPORTED
    ends: bool = False
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer of a shape that the protocol does not know; no consent, whatever is in it."""


PresenterEvent = Reply | HandOver | Expired | Unable | Unreadable
Settle = Callable[[PresenterEvent], None]
TakeDown = Callable[[str], None]


class Visit(Protocol):
    """A page of this application, to which a person is sent from another surface."""

    def follow(self, settle: Settle) -> None:
        """Call `settle` once, on any thread, when the person is done or was before. Any thread."""

    def end(self, reason: str) -> None:
        """Take the page down. Any thread, at any time."""


class Presenter(Protocol):
    """A surface on which questions are drawn."""

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question, and return at once. Any thread.

        It raises nothing: what cannot be shown is settled as `Unable`.

        Args:
            question: Which one.
            settle: To be called once, on any thread, with what came of it.

        Returns:
            What takes the question down, given the reason; on any thread, at any time, also after
            an answer.
        """


class HostPresenter(Presenter, Protocol):
    """The surface of a host, where a person sits."""

    def chip(
        self,
        question: Question,
        where: str,  # the name of that surface: "Claude Code"
        answer_here: Callable[[], None],  # brings the question here
        cancel: Callable[[], None],  # ends it
    ) -> TakeDown:
        """Say quietly that a question waits elsewhere. Any thread. It raises nothing.

        Args:
            question: Which one.
            where: The name of that surface: "Claude Code".
            answer_here: Brings the question here.
            cancel: Ends it.

        Returns:
            What takes it away, on any thread.
        """

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> TakeDown:
        """Say something in passing that needs no answer. Any thread. It raises nothing.

        Args:
            text: What is said.
            undo: Takes back what happened, on the main thread; None where there is nothing.
            call: The id of the call that did it, or None.

        Returns:
            What takes it away once it is no longer true; at any time, on any thread.
        """
