"""Shows the questions of a host one at a time. Without Qt. Main thread."""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from dcc_bridge.elicitation.question import PresenterEvent, Question, Settle, Unable
from dcc_bridge.elicitation.types import BRIDGE_CLOSED

log = logging.getLogger(__name__)

CLOSED: Final = Unable(BRIDGE_CLOSED, ends=True)


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
        """Give the question as its turn comes: some of its time is gone."""
        offers = self.question.offers
        latest = max(0.0, offers.latest - (time.monotonic() - self.asked))
        return replace(self.question, offers=replace(offers, latest=latest))


class QuestionSurface(Protocol):
    """What draws the questions of a queue. Main thread."""

    def draw(self, ticket: Ticket) -> None:
        """Draw a question, or show it again after it was set aside."""
        ...

    def set_aside(self, ticket: Ticket) -> None:
        """Hide a question; what was filled in stays filled in."""
        ...

    def take_down(self, ticket: Ticket) -> None:
        """Take a question away; it may not have been drawn."""
        ...


class QuestionQueue:
    """Shows one question at a time; the others wait for it to go. Without Qt. Main thread."""

    def __init__(self, surface: QuestionSurface) -> None:
        """Begin with nothing.

        Args:
            surface: Draws them.
        """
        self._surface = surface
        self._waiting: deque[Ticket] = deque()
        self._closed = False
        self.shown: Ticket | None = None

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown."""
        return len(self._waiting)

    @property
    def tickets(self) -> list[Ticket]:
        """All of them, the one that is shown first."""
        return [*([self.shown] if self.shown else []), *self._waiting]

    def add(self, ticket: Ticket) -> None:
        """Let a question wait for its turn."""
        if self._closed:
            ticket.settle(CLOSED)
        else:
            self._waiting.append(ticket)
            self._show_next()

    def bring(self, question: str) -> None:
        """Show the question of that id before all others; the one that is shown waits meanwhile."""
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

    def withdraw(self, ticket: Ticket, reason: str) -> None:
        """Take a question back, without an answer."""
        if ticket in self.tickets:
            log.info("the question %s was taken down: %s", ticket.question.id, reason)
            self._remove(ticket)
            self._show_next()

    def end(self, ticket: Ticket, heard: PresenterEvent) -> None:
        """Settle a question that is shown or waits, and show the next one."""
        if ticket in self.tickets:
            self._remove(ticket)
            ticket.settle(heard)
            self._show_next()

    def close(self) -> None:
        """End every question; later ones end at once."""
        self._closed = True
        for ticket in self.tickets:
            self._remove(ticket)
            ticket.settle(CLOSED)

    def _show_next(self) -> None:
        while self.shown is None and self._waiting:
            self.shown = ticket = self._waiting.popleft()
            try:
                self._surface.draw(ticket)
            except Exception:  # the host's own calls run here, and the question must end
                log.exception("the question %s could not be drawn", ticket.question.id)
                self.end(ticket, Unable())

    def _remove(self, ticket: Ticket) -> None:
        if ticket is self.shown:
            self.shown = None
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
        self._surface.take_down(ticket)
