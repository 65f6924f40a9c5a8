"""A question, the events of the surfaces that draw it, and their ports. Frozen, any thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from dcc_bridge.elicitation.types import NOT_SUPPORTED, Action

if TYPE_CHECKING:
    from dcc_bridge.elicitation.call import Call
    from dcc_bridge.elicitation.schema import Field, Form

Surface = Literal["client", "host"]
Stage = tuple[Surface, ...]

MOST_REASON: Final = 500  # how many characters are read of the reason that a person gives


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
        fallback: The answer where nobody can be asked, or None.
        timeout: Seconds for an answer; None for the surface's own limit.
        reason: Why it is asked again, or None.
        offers: What else the person may do with it here.
        id: Its own.
    """

    message: str
    call: Call
    form: Form | None = None
    title: str | None = None
    page: Page | None = None
    consent: Consent | None = None
    key: str = "answer"
    fallback: Mapping[str, Any] | None = None
    timeout: float | None = None
    reason: str | None = None
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


@dataclass(frozen=True, slots=True)
class Page:
    """A page that a person is sent to.

    Attributes:
        url: Where it is.
        description: What happens there, or None.
        visit: The page itself, where it is one of this application; or None.
    """

    url: str
    description: str | None = None
    visit: Visit | None = None


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
    """

    items: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    undoable: bool = True
    kept: str | None = None
    skill: str = ""
    files: tuple[Path, ...] | None = field(default=None, compare=False)
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Offers:
    """What a person at the host may do with a question besides answering it.

    Attributes:
        soon: Seconds after which it ends unless the person types or asks for more time.
        latest: Seconds after which it ends whatever they do.
        hand_over: The client's name, where the question can be answered there instead; or None.
        remember: It may be agreed to for the session, for that many items at most; 0 where it
            names none, for the same arguments; or None.
        mute: The label of the client that may be muted, or None.
    """

    soon: float = 45.0
    latest: float = 45.0
    hand_over: str | None = None
    remember: int | None = None
    mute: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's reply, as a presenter reports it. Not trusted yet.

    Attributes:
        action: What the person did.
        content: The form's fields, where they accepted; what they had typed, where they did not.
        remember: They agreed for the session.
        mute: They want to hear no more of this client for a while.
        reason: Why they refused, in their own words, or None.
    """

    action: Action
    content: object = None
    remember: bool = False
    mute: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HandOver:
    """The person would rather answer on the other surface."""


@dataclass(frozen=True, slots=True)
class Expired:
    """Nobody answered within the time that the presenter showed."""


@dataclass(frozen=True, slots=True)
class Unable:
    """A presenter cannot show a question.

    Attributes:
        message: Why.
        ends: If no other surface can be asked, it is a cancel rather than unattended.
        lasting: It will not be able to show the next one either.
    """

    message: str = NOT_SUPPORTED
    ends: bool = False
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer of a shape that the protocol does not know; no consent, whatever is in it."""


PresenterEvent = Reply | HandOver | Expired | Unable | Unreadable
Settle = Callable[[PresenterEvent], None]
TakeDown = Callable[[str], None]


class Visit(Protocol):
    """A page of this application, to which a person is sent from another surface.

    Attributes:
        ours: The address that the person is shown is the page's own, and not another one from
            which they come to it.
    """

    ours: bool

    def follow(self, settle: Settle) -> None:
        """Tell once what the person did on the page, or that they did it before. Any thread.

        Args:
            settle: To be called on any thread.
        """

    def end(self, reason: str) -> None:
        """Take the page down. Any thread, at any time."""


class Presenter(Protocol):
    """A surface on which questions are drawn."""

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question, and return at once.

        Args:
            question: What to draw.
            settle: To be called once with what came of it, on any thread.

        Returns:
            What takes the question down, given the reason. It may be called at any time and on
            any thread, also after an answer.
        """


class HostPresenter(Presenter, Protocol):
    """The surface of a host, where a person sits."""

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Say quietly that a question waits on another surface.

        Args:
            question: Which one.
            where: The name of that surface: "Claude Code".
            answer_here: Brings the question here.
            cancel: Ends it.

        Returns:
            What takes the chip away; to be called at any time and on any thread.
        """

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> None:
        """Say something in passing that needs no answer. Any thread.

        Args:
            text: What happened.
            undo: Takes it back, where that can be offered. Called on the main thread.
            call: The id of the call that did it, for who wants to look it up; or None.
        """
