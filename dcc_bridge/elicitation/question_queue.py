"""The queue of questions at a host: a surface draws one at a time. Main thread.

The broker puts questions in with `show`, from any thread. The queue has its `QuestionSurface` draw
the first one; the surface reports a person's reply with `end`, and the queue goes on to the next
question. What was filled in and not sent is kept as a draft, for the same question asked again.
"""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from dcc_bridge import errors
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.question import (
    NO_DRAFT,
    Draft,
    PresenterEvent,
    Question,
    Reply,
    Settle,
    TakeDown,
    Unable,
)
from dcc_bridge.threads import main_thread

log = logging.getLogger(__name__)

Click = Callable[[], None]  # what a button of a notice or a dialog calls
_CLOSED: Final = Unable(types.BRIDGE_CLOSED, cancels=True)
_MAX_DRAFTS: Final = 32


@dataclass(eq=False, slots=True)
class Ticket:
    """A question that is drawn, or waits for its turn.

    Attributes:
        question: The question.
        settle: Takes the event that ends the question here.
        asked: When the question was asked, by the monotonic clock in seconds.
    """

    question: Question
    settle: Settle
    asked: float = field(default_factory=time.monotonic)

    def timely(self) -> Question:
        """Return the question with the time that is left now. It raises nothing.

        Returns:
            A copy of the question, whose `offers.latest` is shorter by the seconds of the wait.
        """
        offers = self.question.offers
        waited = time.monotonic() - self.asked
        latest = max(0.0, offers.latest - waited)
        return replace(self.question, offers=replace(offers, latest=latest))


class QuestionSurface(Protocol):
    """A surface that draws the questions of a queue. Main thread."""

    def draw(self, ticket: Ticket) -> None:
        """Draw a question, or show it again after it was set aside."""

    def set_aside(self, ticket: Ticket) -> None:
        """Hide a question; the values that were filled in stay."""

    def show_place(self, place: int, count: int) -> None:
        """Show the place of the drawn question among several; called whenever that changes.

        Args:
            place: The place, counted from 1.
            count: How many questions there are.
        """

    def take_down(self, ticket: Ticket) -> Draft | None:
        """Take a question away, drawn or not.

        Returns:
            The entries of the person, sent or not; None where the draft from before stays.
        """


class QuestionQueue:
    """Shows one question at a time; the others wait. Main thread, but for `show` and `post`.

    Attributes:
        shown: The question that is drawn now, or None.
    """

    def __init__(self, surface: QuestionSurface, main: main_thread.MainThread) -> None:
        """Prepare an empty queue.

        Args:
            surface: Draws the questions: `draw`, `set_aside`, `show_place` and `take_down`.
            main: The way to the main thread.
        """
        self._surface = surface
        self._main = main
        self._waiting: deque[Ticket] = deque()
        # By `_draft_key`, the newest last; in memory only.
        self._drafts: dict[tuple[str, ...], Draft] = {}
        # The ids of the questions since the queue was empty, without those that nobody has seen and
        # that were withdrawn.
        self._numbered: list[str] = []
        self._seen: set[str] = set()
        self._is_closed = False
        self.shown: Ticket | None = None

    @property
    def waiting(self) -> int:
        """How many questions wait behind the drawn one."""
        return len(self._waiting)

    @property
    def tickets(self) -> list[Ticket]:
        """All questions, the drawn one first."""
        tickets = list(self._waiting)
        if self.shown is not None:
            tickets.insert(0, self.shown)
        return tickets

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. Any thread. It raises nothing.

        Args:
            question: The question.
            settle: Called on the main thread with the event that ends the question here.

        Returns:
            A function that takes the question down for a reason; it may be called on any thread, at
            any time.
        """
        ticket = Ticket(question, settle)
        self.post(lambda: self._add(ticket), lambda: settle(_CLOSED))
        return lambda reason: self.post(lambda: self._withdraw(ticket, reason))

    def post(self, fn: Callable[[], object], refused: Callable[[], None] = lambda: None) -> None:
        """Call a function on the main thread, and log its error. Any thread. It raises nothing.

        Args:
            fn: The function.
            refused: Called instead of the function once the bridge is closed.
        """

        def check(future: Future[object]) -> None:
            error = future.exception()
            if isinstance(error, errors.BridgeClosed):
                refused()
            elif error is not None:
                log.error("what the host should have shown failed", exc_info=error)

        self._main.post(fn).add_done_callback(check)

    def _add(self, ticket: Ticket) -> None:
        if self._is_closed:
            ticket.settle(_CLOSED)
            return
        if ticket.question.id not in self._numbered:  # else it is asked again
            self._numbered.append(ticket.question.id)
        if ticket.question.offers.is_wanted:
            self._show_first(ticket)
        else:
            self._waiting.append(ticket)
            self._show_next()

    def bring(self, question: str) -> None:
        """Show a question before all others; the drawn one waits meanwhile.

        It raises nothing.

        Args:
            question: The id of the question; nothing happens if no such question waits.
        """
        ticket = self._find_waiting(question)
        if ticket is None:
            return
        self._waiting.remove(ticket)
        self._show_first(ticket)

    def _show_first(self, ticket: Ticket) -> None:
        """Show a question at once; the drawn one waits meanwhile."""
        shown = self.shown
        self.shown = None
        if shown is not None:
            self._waiting.appendleft(shown)
            self._surface.set_aside(shown)
        self._waiting.appendleft(ticket)
        self._show_next()

    def _find_waiting(self, question: str) -> Ticket | None:
        for ticket in self._waiting:
            if ticket.question.id == question:
                return ticket
        return None

    def _withdraw(self, ticket: Ticket, reason: str) -> None:
        if ticket in self.tickets:
            log.info("the question %s was taken down: %s", ticket.question.id, reason)
            self._remove(ticket)
            self._show_next()

    def end(self, ticket: Ticket, event: PresenterEvent) -> None:
        """End a question that is drawn or waits, and show the next one. It raises nothing.

        Args:
            ticket: The question; nothing happens if it has ended.
            event: The event that ends the question here.
        """
        if ticket not in self.tickets:
            return
        self._remove(ticket)
        # An answer that does not fit brings the question back: `settle` calls `show` again.
        ticket.settle(event)
        if isinstance(event, Reply) and event.action == "accept":
            self._drafts.pop(_draft_key(ticket.question), None)
        self._show_next()

    def close(self) -> None:
        """End every question; later ones end at once. It raises nothing."""
        self._is_closed = True
        for ticket in self.tickets:
            self._remove(ticket)
            ticket.settle(_CLOSED)

    def _show_next(self) -> None:
        while self.shown is None and self._waiting:
            ticket = self._waiting.popleft()
            self.shown = ticket
            self._seen.add(ticket.question.id)
            question = ticket.question
            draft = self._drafts.get(_draft_key(question), NO_DRAFT)
            ticket.question = replace(question, offers=replace(question.offers, draft=draft))
            try:
                self._surface.draw(ticket)
            except Exception:  # the host's own calls run here, and the question must end
                log.exception("the question %s could not be drawn", ticket.question.id)
                self.end(ticket, Unable())
        if self.shown is None:
            self._numbered.clear()
            self._seen.clear()
            return
        place = self._numbered.index(self.shown.question.id) + 1
        self._surface.show_place(place, len(self._numbered))

    def _remove(self, ticket: Ticket) -> None:
        if ticket is self.shown:
            self.shown = None
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
        id = ticket.question.id
        if id not in self._seen and id in self._numbered:
            self._numbered.remove(id)
        draft = self._surface.take_down(ticket)
        if draft is None:
            return
        draft = _without_hidden(ticket.question, draft)
        key = _draft_key(ticket.question)
        self._drafts.pop(key, None)
        if draft != NO_DRAFT:
            self._drafts[key] = draft
        if len(self._drafts) > _MAX_DRAFTS:
            oldest = next(iter(self._drafts))
            del self._drafts[oldest]


def _without_hidden(question: Question, draft: Draft) -> Draft:
    """Return a draft without the values of the form's hidden fields."""
    if draft.values is None or question.form is None:
        return draft
    values = {}
    for name, value in draft.values.items():
        if name not in question.form.hidden:
            values[name] = value
    return replace(draft, values=values)


def _draft_key(question: Question) -> tuple[str, ...]:
    """Return the key of a question's draft; the same question, asked again, has the same key."""
    label = ""
    if question.call.client is not None:
        label = question.call.client.label
    schema = None
    if question.form is not None:
        schema = question.form.schema
    return label, question.call.skill, question.message, json.dumps(schema, default=str)
