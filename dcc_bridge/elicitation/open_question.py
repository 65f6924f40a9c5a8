"""A question that is open, and what is drawn of it. Any thread."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from dcc_bridge.audit.trail import QuestionRecord
from dcc_bridge.callbacks import CallLater, Unsubscribe, call_safely
from dcc_bridge.elicitation import text, types
from dcc_bridge.elicitation.question import (
    MAX_REASON_CHARS,
    Presenter,
    PresenterEvent,
    Question,
    Reply,
    Stage,
    Surface,
    TakeDown,
    Unable,
)
from dcc_bridge.elicitation.question_facts import answer_facts
from dcc_bridge.elicitation.types import ElicitationResponse, cancelled_response

log = logging.getLogger(__name__)

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
CLOSED_BY_PERSON: Final = ElicitationResponse(False, None, types.CANCELLED, "cancel", "host")


class OpenQuestion:
    """A question that waits for an answer."""

    def __init__(
        self,
        question: Question,
        stages: tuple[Stage, ...],
        record: QuestionRecord,
        clock: CallLater,
    ) -> None:
        self.question = question  # which one; another one once it is asked again
        self.stages = deque(stages)  # whom to ask after those who are asked now
        self.record = record  # what is written down of it
        self._reply: Reply | None = None  # a refusal, with what was typed or a reason
        self.future: Future[ElicitationResponse] = Future()  # its answer
        self.presentations: list[Presentation] = []  # where it is drawn now
        self.lock = threading.RLock()  # held while any of them changes
        self.clock = clock
        self._is_settled = False

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """Where it is drawn; nowhere while its client's other questions go first."""
        with self.lock:
            return tuple(shown.surface for shown in self.presentations if shown.is_drawn)

    @property
    def host_remains(self) -> bool:
        """Whether the person at the host is asked too, or can still be."""
        with self.lock:
            return self.presentation_on("host") is not None or ("host",) in self.stages

    def presentation_on(self, surface: Surface) -> Presentation | None:
        """Return its presentation on a surface, if there is one."""
        with self.lock:
            return next((shown for shown in self.presentations if shown.surface == surface), None)

    def time_left(self, at_client: float) -> float | None:
        """Return the seconds until it ends, as a client has `at_client`; None where it is nowhere.

        Below 0 its client has left it too long.
        """
        with self.lock:
            drawn = [it for it in self.presentations if it.is_drawn]
        only_client = self.surfaces == ("client",)
        ends = [min(it.limit, at_client if only_client else it.limit) - it.age for it in drawn]
        return max(ends, default=None)

    def begin_next_stage(self) -> list[Presentation] | None:
        """Begin the next stage: its presentations, [] after the last, None if it has ended."""
        with self.lock:
            if self.future.done():
                return None
            stage = self.stages.popleft() if self.stages else ()
            presentations = [Presentation(self, surface) for surface in stage]
            self.presentations.extend(presentations)
            return presentations

    def end_presentation(self, presentation: Presentation, reason: str) -> bool:
        """End a presentation, and return whether it was the last one of its stage."""
        with self.lock:
            if presentation not in self.presentations:
                return False
            self.presentations.remove(presentation)
            is_last = not self.presentations
        presentation.end(reason)
        return is_last

    def handle_visit(self, event: PresenterEvent) -> None:
        """End with what the person does on a page of this application."""
        surface: Surface = "client" if self.surfaces == ("client",) else "host"
        match event:
            case Reply(action="accept"):
                self.settle(ElicitationResponse(True, None, None, "accept", surface))
            case Reply(action="decline"):
                self.refuse(event, surface)
            case _:
                self.settle(ElicitationResponse(False, None, types.CANCELLED, "cancel", surface))

    def settle(
        self,
        response: ElicitationResponse,
        written: Mapping[str, object] = _NOTHING,
        recorded: Callable[[], None] = lambda: None,
    ) -> None:
        """End it; of several endings the first one counts.

        Args:
            response: How it ended.
            written: What is written down of the answer besides.
            recorded: Called if the answer is on record, before anybody hears of it.
        """
        with self.lock:
            if self._is_settled or not self.future.set_running_or_notify_cancel():
                return
            self._is_settled = True
        ending = cancelled_response(types.NOT_RECORDED)
        try:
            if self._write_end(response, written):
                recorded()
                ending = response
        finally:  # what is called then may wait for others: not locked
            self.future.set_result(ending)

    def cancel(self, message: str) -> None:
        """End it without an answer, for a reason of ours."""
        self.settle(cancelled_response(message))

    def refuse(self, reply: Reply, surface: Surface) -> None:
        """End it with what a person did instead of agreeing, and with the reason they gave."""
        reason = text.safe_line((reply.reason or "").strip(), MAX_REASON_CHARS) or None
        self._reply = replace(reply, reason=reason)
        message = types.DECLINED if reply.action == "decline" else types.CANCELLED
        self.settle(ElicitationResponse(False, None, message, reply.action, surface, reason))

    def notify_end(self) -> None:
        """Take it down everywhere, and notify its call and its page. Its future is done."""
        with self.lock:
            presentations, self.presentations = self.presentations, []
        taken_back = self.future.cancelled()
        answer = cancelled_response(types.CANCELLED) if taken_back else self.future.result()
        call_safely(self.question.call.question_closed, self.question.answered(answer))
        reason = answer.message or types.ANSWERED
        for presentation in presentations:
            presentation.end(reason)
        if self.question.visit is not None:
            self.question.visit.end(reason)
        if taken_back:  # last: if it fails, nobody else has to bear it
            self._write_end(answer)

    def _write_end(
        self, response: ElicitationResponse, written: Mapping[str, object] = _NOTHING
    ) -> bool:
        """Write down how it ended; returns False for a grant that could not be."""
        facts = answer_facts(self.question, response, self._reply)
        return self.record.end(replace(facts, besides=written))


class Presentation:
    """A question on one surface, and how it is taken down.

    It may be drawn anew, and then what the surface reports of the last drawing is ignored.
    """

    def __init__(self, open_question: OpenQuestion, surface: Surface) -> None:
        self.open_question = open_question  # what is drawn
        self.surface = surface  # where it is
        self.retried = False  # it was drawn anew after an invalid answer
        self.limit = 0.0  # seconds that it may take, since it was drawn
        self._lock = threading.Lock()
        self._drawing = 0
        self._drawn_at = time.monotonic()
        self._cleanups: list[TakeDown] | None = []
        self._last_cleanups: list[TakeDown] = []
        self._end_reason = ""

    @property
    def is_drawn(self) -> bool:
        """Whether it was drawn, and does not only wait for its turn."""
        with self._lock:
            return self._drawing > 0

    @property
    def age(self) -> float:
        """Seconds since it was drawn."""
        return time.monotonic() - self._drawn_at

    def draw(
        self, presenter: Presenter | None, question: Question, limit: float, handle: HandleEvent
    ) -> None:
        """Draw the question as it is there, perhaps anew; None is a surface that is gone.

        It is cancelled after `limit` seconds. `handle` is called with what the surface reports.
        """
        with self._lock:
            self._drawing = drawing = self._drawing + 1
            self.limit, self._drawn_at = limit, time.monotonic()
            if self._cleanups is None:  # it has ended
                return
        if not self.open_question.record.show(self.surface):
            self.open_question.cancel(types.NOT_RECORDED)
            return
        try:
            expire = partial(self.open_question.cancel, types.TIMED_OUT)
            self.add_timer(self.open_question.clock(limit, expire))
            if presenter is None:
                raise RuntimeError("the surface is gone")
            self.add_cleanup(presenter.show(question, lambda event: handle(self, drawing, event)))
        except Exception:  # a surface that fails must not take the question along
            log.exception("the question %s could not be shown", question.id)
            handle(self, drawing, Unable())

    def claim_event(self, drawing: int) -> bool:
        """Return whether an event is to be handled: the first one of the last drawing is."""
        with self._lock:
            if self._cleanups is None or drawing != self._drawing:
                return False
            self._drawing += 1
            return True

    def add_cleanup(self, take_down: TakeDown, *, lasting: bool = False) -> None:
        """Register what takes something down; it is called now if the presentation has ended.

        A lasting one outlasts the drawing, and goes with the presentation.
        """
        with self._lock:
            if self._cleanups is not None:
                (self._last_cleanups if lasting else self._cleanups).append(take_down)
                return
        take_down(self._end_reason)

    def add_timer(self, stop: Unsubscribe) -> None:
        """Register what stops a timer."""
        self.add_cleanup(lambda reason: stop())

    def take_down(self, reason: str) -> None:
        """Take down what is drawn; the presentation goes on."""
        with self._lock:
            cleanups = self._cleanups or []
            self._cleanups = None if self._cleanups is None else []
        for cleanup in cleanups:
            call_safely(cleanup, reason)

    def end(self, reason: str) -> None:
        """Take down what is drawn, and whatever may still come."""
        with self._lock:
            cleanups = [*(self._cleanups or []), *self._last_cleanups]
            self._cleanups, self._last_cleanups, self._end_reason = None, [], reason
        for cleanup in cleanups:
            call_safely(cleanup, reason)


# Handles what a surface reports of a presentation's drawing, which is given by its number.
HandleEvent = Callable[[Presentation, int, PresenterEvent], None]
