"""Shows the questions of a host one at a time, whatever draws them there."""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from dcc_bridge import errors
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.question import (
    PresenterEvent,
    Question,
    Reply,
    Settle,
    TakeDown,
    Unable,
)
from dcc_bridge.threads import main_thread

log = logging.getLogger(__name__)

Click = Callable[[], None]
Act = tuple[str, Click]  # what a notification's button says, and what it does
_CLOSED: Final = Unable(types.BRIDGE_CLOSED, ends=True)
_MOST_DRAFTS: Final = 32


@dataclass(eq=False, slots=True)
class Ticket:
    """A question that is drawn, or waits for its turn.

    Attributes:
        question: Which one.
        settle: Takes what is heard.
        asked: When it was asked.
    """

    question: Question
    settle: Settle
    asked: float = field(default_factory=time.monotonic)

    def timely(self) -> Question:
        """Return the question as its turn comes: some of its time is gone. It raises nothing.

        Returns:
            The question with the time that is left.
        """
        offers = self.question.offers
        latest = max(0.0, offers.latest - (time.monotonic() - self.asked))
        return replace(self.question, offers=replace(offers, latest=latest))


class QuestionSurface(Protocol):
    """What draws the questions of a queue. Main thread."""

    def draw(self, ticket: Ticket) -> None:
        """Draw a question, or show it again after it was set aside."""

    def set_aside(self, ticket: Ticket) -> None:
        """Hide a question; what was filled in stays filled in."""

    def show_place(self, place: int, count: int) -> None:
        """Show which one of several questions is drawn; called whenever that changes."""

    def take_down(self, ticket: Ticket) -> Mapping[str, Any] | None:
        """Take a question away, drawn or not; return what the person filled in, or None."""


class QuestionQueue:
    """Shows one question at a time; the others wait. Main thread, but for `show` and `post`."""

    def __init__(self, surface: QuestionSurface, main: main_thread.MainThread) -> None:
        """Prepare an empty queue.

        Args:
            surface: Draws them: `draw`, `set_aside`, `show_place` and `take_down`.
            main: The way to the main thread.
        """
        self._surface = surface
        self._main = main
        self._waiting: deque[Ticket] = deque()
        # What was filled in and not sent, by what `_same` gives; in memory only.
        self._drafts: dict[tuple[str, ...], Mapping[str, Any]] = {}
        self._ended = 0  # since none was there
        self._closed = False
        self.shown: Ticket | None = None  # the question that is drawn now, or None

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown."""
        return len(self._waiting)

    @property
    def tickets(self) -> list[Ticket]:
        """All of them, the one that is shown first."""
        return [*([self.shown] if self.shown else []), *self._waiting]

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. Any thread. It raises nothing.

        Args:
            question: Which one.
            settle: Called on the main thread with what came of it.

        Returns:
            What takes the question down, given the reason; on any thread, at any time.
        """
        ticket = Ticket(question, settle)
        self.post(lambda: self._add(ticket), lambda: settle(_CLOSED))
        return lambda reason: self.post(lambda: self._withdraw(ticket, reason))

    def post(self, fn: Callable[[], object], refused: Callable[[], None] = lambda: None) -> None:
        """Call a function on the main thread, and log its error. Any thread. It raises nothing.

        Args:
            fn: What is called.
            refused: Called instead once the bridge is closed.
        """

        def check(future: Future[object]) -> None:
            error = future.exception()
            if isinstance(error, errors.BridgeClosed):
                refused()
            elif error is not None:
                log.error("what the host should have shown failed", exc_info=error)

        self._main.post(fn).add_done_callback(check)

    def _add(self, ticket: Ticket) -> None:
        if self._closed:
            ticket.settle(_CLOSED)
        else:
            self._waiting.append(ticket)
            self._show_next()

    def bring(self, question: str) -> None:
        """Show a question before all others; the one that is shown waits meanwhile.

        It raises nothing.

        Args:
            question: Its id; nothing happens if it does not wait.
        """
        ticket = next((item for item in self._waiting if item.question.id == question), None)
        if ticket is None:
            return
        self._waiting.remove(ticket)
        shown, self.shown = self.shown, None
        if shown is not None:
            self._waiting.appendleft(shown)
            self._surface.set_aside(shown)
        self._waiting.appendleft(ticket)
        self._show_next()

    def _withdraw(self, ticket: Ticket, reason: str) -> None:
        if ticket in self.tickets:
            log.info("the question %s was taken down: %s", ticket.question.id, reason)
            self._remove(ticket)
            self._show_next()

    def end(self, ticket: Ticket, heard: PresenterEvent) -> None:
        """Settle a question that is shown or waits, and show the next one. It raises nothing.

        Args:
            ticket: Which one; nothing happens if it has ended.
            heard: What came of it.
        """
        if ticket in self.tickets:
            self._remove(ticket)
            ticket.settle(heard)  # an answer that does not fit is asked for again in it
            if isinstance(heard, Reply) and heard.action == "accept":
                self._drafts.pop(_same(ticket.question), None)
            self._show_next()

    def close(self) -> None:
        """End every question; later ones end at once. It raises nothing."""
        self._closed = True
        for ticket in self.tickets:
            self._remove(ticket)
            ticket.settle(_CLOSED)

    def _show_next(self) -> None:
        while self.shown is None and self._waiting:
            self.shown = ticket = self._waiting.popleft()
            question, typed = ticket.question, self._drafts.get(_same(ticket.question))
            ticket.question = replace(question, offers=replace(question.offers, typed=typed))
            try:
                self._surface.draw(ticket)
            except Exception:  # the host's own calls run here, and the question must end
                log.exception("the question %s could not be drawn", ticket.question.id)
                self.end(ticket, Unable())
        if self.shown is None:
            self._ended = 0
        else:
            self._surface.show_place(self._ended + 1, self._ended + 1 + len(self._waiting))

    def _remove(self, ticket: Ticket) -> None:
        if ticket is self.shown:
            self.shown = None
            self._ended += 1
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
        typed, form = self._surface.take_down(ticket), ticket.question.form
        if typed is None or form is None:
            return
        same = _same(ticket.question)
        self._drafts.pop(same, None)
        self._drafts[same] = {n: value for n, value in typed.items() if n not in form.hidden}
        if len(self._drafts) > _MOST_DRAFTS:
            del self._drafts[next(iter(self._drafts))]


def _same(question: Question) -> tuple[str, ...]:
    """Return what two questions have in common that are the same."""
    client, form = question.call.client, question.form
    asked = json.dumps(form.schema if form else None, default=str)
    return client.label if client else "", question.call.skill, question.message, asked
