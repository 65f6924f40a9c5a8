"""A question, its caller, and the ports and events of the surfaces that draw it.

- `Question` is what is asked, with its `Page` or form, its `Consent` and its `Offers`.
- `Caller` is the call that asks. It stands here because it is notified of each answer.
- A surface is a place where a question can be answered: the MCP client, or the host application.
  `Presenter` and `HostPresenter` are the ports by which it draws, and `PresenterEvent` is what it
  reports.

All records except `Caller` are frozen. Everything here may be used on any thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.caller import CallEnding, Client, Dialogue, Risk
from dcc_bridge.elicitation.types import Answered, ElicitationResponse

if TYPE_CHECKING:
    from dcc_bridge.elicitation.details import Details
    from dcc_bridge.elicitation.schema import Form
    from dcc_bridge.elicitation.validation import Field

Surface = Literal["client", "host"]
LateState = Literal["drawn", "expired", "answered"]  # of a question whose call has ended
Stage = tuple[Surface, ...]  # the surfaces that show a question at the same time

MAX_MESSAGE_BYTES: Final = 8192  # of a question's message, as UTF-8
MAX_REASON_CHARS: Final = 500  # of the reason that a person gives; the rest is not read
_MAX_ITEMS_KEPT: Final = 50  # of a question that has ended


@dataclass(frozen=True, slots=True)
class Route:
    """The presenters of a client, which draw questions there.

    Attributes:
        form: Draws a form in the client; None where the client cannot.
        url: Offers a page in the client; None where the client cannot.
        withdrawable: Whether a question that the client shows can be withdrawn again.
    """

    form: Presenter | None = None
    url: Presenter | None = None
    withdrawable: bool = False


@dataclass(eq=False)
class Caller:
    """The call that asks: one run of a skill, as questions see it.

    A subclass decides what an answer leads to: it is notified before it asks, and of each answer.
    This class, for the host's own code, does nothing with an answer.

    Attributes:
        skill: The skill's name.
        title: The skill's title, which a person reads.
        risk: What the skill may do: "destructive" once a destructive skill inside the call asks.
        client: The client that called, or None for the host itself.
        digest: The digest of the skill's file.
        file: The path of the skill's file, or "" for a skill without a file.
        route: The presenters of the client.
        arguments: The arguments of the call, without hidden values.
        asked_for: The names and texts that tell the person what the agent asked for, where the
            arguments do not: the steps of a batch.
        repeat_key: Equal for the same skill and arguments, called again; "" for a call that cannot
            be called again.
        ending: The reason why the body should stop before its own end.
        dialogue: The questions and answers of the call so far.
        note_late: Notes how a question ended whose call has ended.
        is_recorded: Whether the audit log has the call, so that the call's end is recorded too.
        id: The id of the call.
    """

    skill: str
    title: str
    risk: Risk = "read"
    client: Client | None = None
    digest: str = ""
    file: str = ""
    route: Route = Route()
    arguments: Redacted = field(default_factory=Redacted)
    asked_for: tuple[tuple[str, str], ...] = ()
    repeat_key: str = ""
    ending: CallEnding = field(default_factory=CallEnding)
    dialogue: Dialogue = field(default_factory=Dialogue)
    note_late: Callable[[Answered], None] = lambda answered: None
    is_recorded: bool = False
    id: str = field(default_factory=lambda: os.urandom(8).hex())

    @property
    def remainder(self) -> str:
        """A sentence about what remains once the steps of the call are undone."""
        return "Nothing was changed."

    @property
    def inner_skill(self) -> str:
        """The skill inside the call that asks now; "" for the called skill itself."""
        return ""

    @property
    def asks_consent(self) -> bool:
        """Whether the answer to each form of the call decides if something is lost."""
        return False

    @property
    def is_granted(self) -> bool:
        """Whether a person has agreed to an edit of the scene as the scene was then."""
        return False

    def asking(self, *, on_main: bool) -> AbstractContextManager[None]:
        """Return a context that is entered before the call asks, and left after the answer.

        Args:
            on_main: Whether the call asks on the main thread.
        """
        return nullcontext()

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return an earlier answer to the same question, so that nobody is asked twice.

        Args:
            question: The question that the call is about to ask.

        Returns:
            The answer; None where a person has to be asked.
        """
        return None

    def pictures(self, items: Sequence[str]) -> tuple[Picture, ...]:
        """Return pictures of the items that a question of the call is about. Main thread.

        It is called while no undo step is open, just before the question is put. It raises nothing.

        Args:
            items: The items, at least one.

        Returns:
            The scene now and after the edit, the first one alone, or none.
        """
        return ()

    def question_opened(self) -> None:
        """Handle that a question of the call is open. Any thread."""

    def question_closed(self, answered: Answered) -> None:
        """Handle the end of a question of the call. Any thread."""

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Handle an answer, on the thread that asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with all that a presenter needs to draw it.

    Attributes:
        message: What is asked, in a sentence; plain text.
        call: The call that asks.
        form: The form to fill in; None for a page.
        title: A heading, or None.
        page: The page to visit instead of a form, or None.
        consent: What is agreed to, where the answer decides if something is lost; else None.
        key: The name of the request on the wire.
        timeout: Seconds for an answer; None for the surface's own limit.
        reason: Why the question is asked again, or None.
        details: A text that is agreed to, shown whole; or None.
        offers: What else the person may do with the question on this surface.
        late: Whether the call has ended, and the answer stands for the same call made again: ""
            for a question that the call waits for, else its state, as `late_answers` has them.
        id: The id of the question.
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
    late: Literal[""] | LateState = ""
    id: str = field(default_factory=lambda: os.urandom(4).hex())

    @property
    def items(self) -> tuple[str, ...]:
        """The paths or names in the scene that the question is about."""
        if self.consent is None:
            return ()
        return self.consent.items

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The names and whole values of the skill's arguments, where they are agreed to."""
        if self.consent is None:
            return ()
        return self.consent.arguments

    @property
    def undoable(self) -> bool:
        """Whether the host can undo what the answer leads to, as one step."""
        return self.consent is None or self.consent.undoable

    @property
    def confirmation(self) -> Field | None:
        """The field of a consent that is its only one, or None.

        The field is not drawn. The button with the verb, such as "Delete", stands for it.
        """
        if self.consent is None or self.form is None:
            return None
        return self.form.lone_confirmation

    @property
    def visit(self) -> Visit | None:
        """The page, if it is a page of this application; None otherwise.

        Such a page reports by itself when the person is done.
        """
        if self.page is None:
            return None
        return self.page.visit

    def agrees(self, response: ElicitationResponse) -> bool:
        """Return whether a response is a yes, in each field that asks for one. It raises nothing.

        Args:
            response: How the question ended.

        Returns:
            Whether what is asked for may be done.
        """
        if not response.accepted:
            return False
        return self.form is None or self.form.agrees(response.data or {})

    def agreed_items(self, response: ElicitationResponse) -> tuple[str, ...]:
        """Return the items that a yes covers. It raises nothing.

        Args:
            response: How the question ended; a yes.

        Returns:
            The items but those that the person unticked.
        """
        if not response.left_out:
            return self.items
        left_out = frozenset(response.left_out)
        return tuple(item for item in self.items if item not in left_out)

    def answered(self, response: ElicitationResponse) -> Answered:
        """Return how the question ended, for the panel and the audit log. It raises nothing.

        Args:
            response: The response to the question.

        Returns:
            The question's message, items and pictures, how the question ended, and who ended it.
        """
        how = response.message or types.DECLINED
        if response.accepted and how != types.COMPLETION_UNVERIFIED:
            if self.consent is None:
                how = types.ANSWERED
            elif self.agrees(response):
                how = types.AGREED
            else:
                how = types.DECLINED
        items: tuple[str, ...] = ()
        pictures: tuple[Picture, ...] = ()
        if self.consent is not None:
            items = self.consent.shown_items
            pictures = self.consent.pictures
        return Answered(
            self.message,
            how,
            response.answered_by,
            response.reason or "",
            is_consent=self.consent is not None,
            count=len(items),
            items=items[:_MAX_ITEMS_KEPT],
            pictures=pictures,
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A page that a person is sent to.

    Attributes:
        url: The URL of the page.
        description: What happens on the page, or None.
        visit: The page itself, where it is a page of this application; else None.
    """

    url: str
    description: str | None = None
    visit: Visit | None = None


class Picture(NamedTuple):
    """A picture in a question.

    Attributes:
        png: The picture, as the bytes of a PNG file.
        says: What the picture shows, for the caption and for a screen reader.
    """

    png: bytes
    says: str


@dataclass(frozen=True, slots=True)
class Consent:
    """The edit that a person agrees to or declines.

    Attributes:
        items: The paths or names in the scene that the edit is about.
        kinds: The type of each item, as the host calls it; empty where the types are not known.
        undoable: Whether the host can undo the edit, as one step.
        kept: The folder of the copy that is kept before an edit that undo does not bring back;
            None where no copy is kept.
        skill: The destructive skill that asks; "" for the called skill itself.
        files: The files that are written over, where undo does not help; None for the scene as a
            whole.
        arguments: The names and whole values of the skill's arguments, where they are agreed to.
        uncopied: Folders among the files; no copy is kept of their contents.
        labels: The texts that the person reads in place of the items; empty for the items.
        pictures: The scene now, with the items marked, and after the edit; the first one alone, or
            none, where more could not be drawn.
        may_take_fewer: Whether the asker can go on with some of the items, so that the person may
            untick the others.
        breaks_nothing: Whether a trial has shown that no other item stops working.
        scene: A digest of the open scene and of the items, as `scene_digest` makes it; "" where
            that is not known.
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
    pictures: tuple[Picture, ...] = field(default=(), compare=False)
    may_take_fewer: bool = False
    breaks_nothing: bool = False
    scene: str = field(default="", compare=False)

    @property
    def shown_items(self) -> tuple[str, ...]:
        """The items under the names that the person knows."""
        return self.labels or self.items

    @property
    def overwrites_nothing(self) -> bool:
        """Whether only new files are written: undo does not help, but nothing is lost."""
        if self.undoable or self.items or self.uncopied:
            return False
        return bool(self.files) and self.kept is None


@dataclass(frozen=True, slots=True)
class Draft:
    """The entries of a person that were not sent, for the same question asked again.

    Attributes:
        values: The values of the fields; None where they are the values from the beginning.
        left_out: The items that are unticked.
        reason: The reason to decline, as far as it was typed.
    """

    values: Mapping[str, Any] | None = None
    left_out: tuple[str, ...] = ()
    reason: str = ""


NO_DRAFT: Final = Draft()


@dataclass(frozen=True, slots=True)
class Offers:
    """The acts that are offered to a person at the host, besides an answer.

    Attributes:
        soon: Seconds for an answer. They run only while the person could see the question, and
            neither reads nor types.
        latest: Seconds after which the question ends whatever the person does, seen or not.
        hand_over: The client's name, where the question can be answered there instead; else None.
        remember: The number of items that a yes for the session covers; 0 for a question without
            items, whose yes covers calls with the same arguments. None where a yes for the session
            is not offered.
        mute: The label of the client that may be muted, or None.
        draft: The entries that the person made, and did not send, when the same question was asked
            before.
        is_wanted: Whether the person asked to see the question, so that it comes before the others.
        since: When the question was drawn, by the monotonic clock in seconds.
    """

    soon: float = 300.0
    latest: float = 300.0
    hand_over: str | None = None
    remember: int | None = None
    mute: str | None = None
    draft: Draft = NO_DRAFT
    is_wanted: bool = False
    since: float = field(default_factory=time.monotonic, compare=False)

    @property
    def left(self) -> float:
        """The seconds that are left until the question ends whatever the person does."""
        return max(0.0, self.since + self.latest - time.monotonic())

    @property
    def may_remember(self) -> bool:
        """Whether a yes may hold for later questions as well."""
        return self.remember is not None


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's reply, as a presenter reports it, not validated yet.

    Attributes:
        action: What the person did.
        content: The values of the form's fields, where the person accepted; the values that they
            had typed, where they did not.
        remember: Whether the person agreed to later questions of the session as well.
        mute: Whether the person mutes this client for a while.
        reason: Why the person refused, in their own words, or None.
        left_out: The items that the person unticked, where they agreed to the others.
    """

    action: types.Action
    content: object = None
    remember: bool = False
    mute: bool = False
    reason: str | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandOver:
    """The person wants to answer on the other surface."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The question ended on a surface: nobody answered in the time that the presenter showed.

    Attributes:
        message: The reason, as a word of the protocol or a sentence.
    """

    message: str = types.TIMED_OUT


@dataclass(frozen=True, slots=True)
class Unable:
    """A presenter cannot show a question.

    Attributes:
        message: Why not.
        cancels: What to do if no other surface can be asked: True cancels the question, False
            leaves the answer to the setting `unattended`.
        lasting: Whether the presenter cannot show later questions either.
    """

    message: str = types.NOT_SUPPORTED
    cancels: bool = False
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer of a shape that the protocol does not know; never a consent."""


PresenterEvent = Reply | HandOver | Expired | Unable | Unreadable
Settle = Callable[[PresenterEvent], None]  # reports, once, how the question ended on a surface
TakeDown = Callable[[str], None]  # removes the question from a surface; takes the reason


class Visit(Protocol):
    """A page of this application, to which a person is sent from another surface."""

    def follow(self, settle: Settle) -> None:
        """Call `settle` once, on any thread, when the person is done; at once if they are already.

        Any thread.
        """

    def end(self, reason: str) -> None:
        """Take the page down. Any thread, at any time."""


class Presenter(Protocol):
    """A surface on which questions are drawn."""

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question, and return at once. Any thread.

        It raises nothing: a question that cannot be shown is settled with `Unable`.

        Args:
            question: The question.
            settle: To be called once, on any thread, with the event that ends the drawing.

        Returns:
            A function that takes the question down for a reason; it may be called on any thread, at
            any time, also after an answer.
        """


class HostPresenter(Presenter, Protocol):
    """The surface of a host, at which a person sits."""

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Show a quiet notice that a question waits in a client. Any thread. It raises nothing.

        Args:
            question: The question.
            where: The client's name, such as "Claude Code".
            answer_here: Brings the question to the host.
            cancel: Ends the question.

        Returns:
            A function that takes the notice away, on any thread.
        """

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> TakeDown:
        """Show a notice that needs no answer. Any thread. It raises nothing.

        Args:
            text: The text of the notice.
            undo: Takes back what happened, on the main thread; None where there is nothing to undo.
            call: The id of the call that the notice is about, or None.

        Returns:
            A function that takes the notice away once it is no longer true; at any time, on any
            thread.
        """
