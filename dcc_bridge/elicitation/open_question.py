"""A question that is open, and the answers that nobody gave. Any thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Final

from dcc_bridge.callbacks import tell
from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import (
    MOST_REASON,
    Heard,
    Question,
    Reply,
    Stage,
    Surface,
    TakeDown,
)
from dcc_bridge.elicitation.record import QuestionRecord
from dcc_bridge.elicitation.types import CANCELLED, DECLINED, NOT_RECORDED, ElicitationResponse

REFUSED: Final = ElicitationResponse(False, None, DECLINED, "decline", "policy")
CLOSED_BY_PERSON: Final = ElicitationResponse(False, None, CANCELLED, "cancel", "host")


@dataclass(eq=False)
class Opened:
    """A question that waits for an answer.

    Attributes:
        question: Which one; another one once it is asked again.
        stages: Whom to ask after those who are asked now.
        record: What is written down of it.
        future: Its answer.
        showings: Where it is drawn now.
        lock: Held while any of them changes.
    """

    question: Question
    stages: deque[Stage]
    record: QuestionRecord
    future: Future[ElicitationResponse] = field(default_factory=Future)
    showings: list[Showing] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _settled: bool = False

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """Where it is drawn; nowhere while its client's other questions go first."""
        with self.lock:
            return tuple(showing.surface for showing in self.showings if showing.is_drawn)

    def at(self, surface: Surface) -> Showing | None:
        """Give its showing on a surface, if there is one."""
        with self.lock:
            return next((each for each in self.showings if each.surface == surface), None)

    @property
    def host_remains(self) -> bool:
        """Whether the person at the host is asked too, or can still be."""
        with self.lock:
            return self.at("host") is not None or ("host",) in self.stages

    def draw(self, showing: Showing) -> int:
        """Begin a drawing, and give its number; below 0 for one that must not be shown."""
        turn = showing.draw()
        if turn >= 0 and not self.record.show(showing.surface):
            self.settle(cancel(NOT_RECORDED))
            return -1
        return turn

    def follow(self) -> None:
        """End with what the person does on a page of this application, if it has one."""

        def arrive(heard: Heard) -> None:
            at: Surface = "client" if self.surfaces == ("client",) else "host"
            match heard:
                case Reply(action="accept"):
                    self.settle(ElicitationResponse(True, None, None, "accept", at))
                case Reply(action="decline"):
                    self.refuse(heard, at)
                case _:
                    self.settle(ElicitationResponse(False, None, CANCELLED, "cancel", at))

        if self.question.visit is not None:
            self.question.visit.follow(arrive)

    def settle(self, response: ElicitationResponse) -> None:
        """End it; of several endings the first one counts."""
        with self.lock:
            if self._settled or not self.future.set_running_or_notify_cancel():
                return
            self._settled = True
        recorded = cancel(NOT_RECORDED)
        try:
            recorded = self.record.end(response)
        finally:  # what is called then may wait for others: not locked
            self.future.set_result(recorded)

    def refuse(self, reply: Reply, surface: Surface) -> None:
        """End it with what a person did instead of agreeing, and with the reason they gave."""
        reason = plain.line((reply.reason or "").strip(), MOST_REASON) or None
        self.record.hear(replace(reply, reason=reason))
        message = DECLINED if reply.action == "decline" else CANCELLED
        self.settle(ElicitationResponse(False, None, message, reply.action, surface, reason))

    def tell_end(self, showings: list[Showing]) -> None:
        """Tell everybody that it is over; its future is done.

        Args:
            showings: Where it was drawn.
        """
        answer = None if self.future.cancelled() else self.future.result()
        tell(self.question.call.heard, None if answer is None else answer.answered_by)
        why = CANCELLED if answer is None else answer.message or "answered"
        for showing in showings:
            showing.end(why)
        if self.question.visit is not None:
            self.question.visit.end(why)
        if answer is None:  # last: if it fails, nobody else has to bear it
            self.record.end(None)


def cancel(message: str) -> ElicitationResponse:
    """Make the answer to a question that ended by itself."""
    return ElicitationResponse(False, None, message, "cancel", "nobody")


def granted(question: Question) -> ElicitationResponse:
    """Make the answer to a question that a person answered for the session."""
    lone = question.form.lone_confirmation if question.form is not None else None
    return ElicitationResponse(True, {lone.name: True} if lone else {}, None, "accept", "grant")


class Showing:
    """One showing. It may be drawn anew, and then what was heard of the last drawing is ignored.

    Attributes:
        surface: Where it is.
        retried: It was drawn anew after an invalid answer.
    """

    def __init__(self, surface: Surface) -> None:
        """Begin with nothing drawn."""
        self.surface = surface
        self.retried = False
        self._lock = threading.Lock()
        self._turn = 0
        self._began = time.monotonic()
        self._down: list[TakeDown] | None = []
        self._lasting: list[TakeDown] = []
        self._why = ""

    @property
    def is_drawn(self) -> bool:
        """Whether it was drawn, and does not only wait for its turn."""
        with self._lock:
            return self._turn > 0

    @property
    def age(self) -> float:
        """Seconds since it was drawn."""
        return time.monotonic() - self._began

    def draw(self) -> int:
        """Begin a drawing, and give its number."""
        with self._lock:
            self._turn += 1
            self._began = time.monotonic()
            if self._down is not None:
                return self._turn
        return -1

    def take(self, turn: int) -> bool:
        """Take what was heard of a drawing; only the first time, and only of the last one."""
        with self._lock:
            if self._down is None or turn != self._turn:
                return False
            self._turn += 1
            return True

    def keep(self, down: TakeDown, *, lasting: bool = False) -> None:
        """Remember how to take something down; it is done now if the showing is over.

        Args:
            down: Given the reason, takes it down.
            lasting: It outlasts the drawing, and goes with the showing.
        """
        with self._lock:
            if self._down is not None:
                (self._lasting if lasting else self._down).append(down)
                return
        down(self._why)

    def keep_clock(self, stop: Callable[[], None]) -> None:
        """Remember how to stop a clock."""
        self.keep(lambda why: stop())

    def clear(self, why: str) -> None:
        """Take down what is drawn; the showing goes on."""
        with self._lock:
            down, self._down = self._down or [], None if self._down is None else []
        for one in down:
            tell(one, why)

    def end(self, why: str) -> None:
        """Take down what is drawn, and whatever may still come."""
        with self._lock:
            down, self._down, self._why = [*(self._down or []), *self._lasting], None, why
            self._lasting = []
        for one in down:
            tell(one, why)
