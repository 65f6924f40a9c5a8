"""An open question, and its presentations on the surfaces. Any thread.

The broker has an `OpenQuestion` from `ask` until the answer. Its stages begin one after the other
(see `routing`); in a stage the question has a `Presentation` on each surface. A presentation may
draw the question several times, and only the last *drawing* may report an event.
"""

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
from dcc_bridge.elicitation.late_answers import ANSWER_LATER, Card
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


def _do_nothing() -> None:
    pass


class OpenQuestion:
    """A question that waits for an answer.

    Attributes:
        question: The question; a changed copy once it is asked again.
        stages: The stages that come after the present one.
        record: The question's record in the audit log.
        future: The answer.
        presentations: The presentations of the present stage.
        lock: Held while any of these changes.
        clock: Calls a function after some seconds.
        is_wanted: Whether the person asked to see the question in the host.
        stays_late: Whether the person can still answer at the host when the time is over.
        is_left: Whether the client stopped waiting for the answer before its time was over.
        is_late: Whether the person had the question, or answered it, before this call was made.
    """

    def __init__(
        self,
        question: Question,
        stages: tuple[Stage, ...],
        record: QuestionRecord,
        clock: CallLater,
    ) -> None:
        self.question = question
        self.stages = deque(stages)
        self.record = record
        self.future: Future[ElicitationResponse] = Future()
        self.presentations: list[Presentation] = []
        self.lock = threading.RLock()
        self.clock = clock
        self.is_wanted = False
        self.stays_late = False
        self.is_left = False
        self.is_late = False
        self._refusal: Reply | None = None  # with the reason, or with what the person typed
        self._is_settled = False

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """The surfaces that draw the question; none while it waits for the host's dialog."""
        with self.lock:
            drawn = [shown for shown in self.presentations if shown.is_drawn]
        return tuple(shown.surface for shown in drawn)

    @property
    def host_remains(self) -> bool:
        """Whether the person at the host is asked too, or can still be."""
        with self.lock:
            return self.presentation_on("host") is not None or ("host",) in self.stages

    def detach_card(self) -> Card | None:
        """Take out the host's presentation, so that its card stays when the question ends.

        Returns:
            The card; None where the host draws none.
        """
        with self.lock:
            presentation = self.presentation_on("host")
            if presentation is None or not presentation.waits:
                return None
            self.presentations.remove(presentation)
            presentation.card = Card(presentation.end)
        return presentation.card

    def presentation_on(self, surface: Surface) -> Presentation | None:
        """Return the question's presentation on a surface, if there is one."""
        with self.lock:
            for presentation in self.presentations:
                if presentation.surface == surface:
                    return presentation
        return None

    @property
    def client_time_left(self) -> float | None:
        """The seconds until the question ends if nobody answers; None where the host draws it.

        The host's time stands still while nobody can see the question, so its end is not known.
        """
        presentation = self.presentation_on("client")
        if presentation is None or self.surfaces != ("client",):
            return None
        return max(0.0, presentation.limit - presentation.age)

    def begin_next_stage(self) -> list[Presentation] | None:
        """Begin the next stage.

        Returns:
            The presentations of the stage; [] after the last one, None if the question has ended.
        """
        with self.lock:
            if self.future.done():
                return None
            if not self.stages:
                return []
            stage = self.stages.popleft()
            presentations = [Presentation(self, surface) for surface in stage]
            self.presentations.extend(presentations)
            return presentations

    def resume(self, id: str) -> list[Presentation] | None:
        """Begin a stage at the host, where an earlier call left the question.

        Args:
            id: The id of the question then, which its card in the host has.

        Returns:
            The presentation; None if the question has ended.
        """
        with self.lock:
            self.is_late = True
            self.question = replace(self.question, id=id)
            self.stages.appendleft(("host",))
            return self.begin_next_stage()

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
        """End the question with the person's act on its page, a page of this application."""
        surface: Surface = "host"
        if self.surfaces == ("client",):
            surface = "client"
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
        further_facts: Mapping[str, object] = _NOTHING,
        on_recorded: Callable[[], None] = _do_nothing,
    ) -> None:
        """End the question; of several endings the first one counts.

        Args:
            response: The response; a cancel replaces a response that cannot be recorded.
            further_facts: Further facts for the audit log.
            on_recorded: Called once the audit log has the answer, before the future is done.
        """
        with self.lock:
            if self._is_settled or not self.future.set_running_or_notify_cancel():
                return
            self._is_settled = True
        result = cancelled_response(types.NOT_RECORDED)
        try:
            if self._record_end(response, further_facts):
                on_recorded()
                result = response
        finally:
            # Not under the lock: the callbacks of the future may wait for other threads.
            self.future.set_result(result)

    def cancel(self, message: str) -> None:
        """End the question without an answer, for a reason of the bridge."""
        response = cancelled_response(message)
        if message == types.TIMED_OUT and self.stays_late:
            response = replace(response, reason=ANSWER_LATER)
        self.settle(response)

    def refuse(self, reply: Reply, surface: Surface) -> None:
        """End the question with a person's refusal, and with the reason they gave."""
        reason = text.safe_line((reply.reason or "").strip(), MAX_REASON_CHARS) or None
        self._refusal = replace(reply, reason=reason)
        message = types.CANCELLED
        if reply.action == "decline":
            message = types.DECLINED
        self.settle(ElicitationResponse(False, None, message, reply.action, surface, reason))

    def notify_end(self) -> None:
        """Take the question down everywhere, and notify its call and its page.

        The future must be done.
        """
        with self.lock:
            presentations = self.presentations
            self.presentations = []
        is_cancelled = self.future.cancelled()
        answer = cancelled_response(types.CANCELLED) if is_cancelled else self.future.result()
        call_safely(self.question.call.question_closed, self.question.answered(answer))
        reason = answer.message or types.ANSWERED
        for presentation in presentations:
            presentation.end(reason)
        if self.question.visit is not None:
            self.question.visit.end(reason)
        # Last: after an error here nobody is left to be notified.
        if is_cancelled:
            self._record_end(answer)

    def _record_end(
        self, response: ElicitationResponse, further_facts: Mapping[str, object] = _NOTHING
    ) -> bool:
        """Record how the question ended; return False for a grant that cannot be recorded."""
        facts = answer_facts(self.question, response, self._refusal)
        besides = dict(further_facts)
        if self.is_late:
            besides["late"] = True
        return self.record.end(replace(facts, besides=besides))


class Presentation:
    """A question on one surface, and the functions that take the question down there.

    Attributes:
        open_question: The question.
        surface: The surface that draws the question.
        retried: Whether the question was drawn anew after an invalid answer.
        limit: Seconds for an answer, from the last drawing on.
        card: The card in the host that outlives the question, or None.
    """

    def __init__(self, open_question: OpenQuestion, surface: Surface) -> None:
        self.open_question = open_question
        self.surface = surface
        self.retried = False
        self.limit = 0.0
        self.card: Card | None = None
        self._lock = threading.Lock()
        self._drawing = 0  # the number of the last drawing; 0 while the question was never drawn
        self._drawn_at = time.monotonic()
        self._is_claimed = False  # whether an event of the last drawing was claimed
        self._cleanups: list[TakeDown] | None = []  # of the last drawing; None after `end`
        self._end_cleanups: list[TakeDown] = []  # of the whole presentation
        self._end_reason = ""

    @property
    def is_drawn(self) -> bool:
        """Whether the question was drawn; else it still waits for its turn."""
        with self._lock:
            return self._drawing > 0

    @property
    def waits(self) -> bool:
        """Whether the question is drawn, and its surface has reported no event."""
        with self._lock:
            return self._drawing > 0 and not self._is_claimed

    @property
    def age(self) -> float:
        """Seconds since the last drawing."""
        return time.monotonic() - self._drawn_at

    def draw(
        self, presenter: Presenter | None, question: Question, limit: float, handle: HandleEvent
    ) -> None:
        """Draw the question, perhaps anew. Any thread.

        Args:
            presenter: Draws the question; None for a surface that is gone.
            question: The question with the offers of this surface.
            limit: Seconds after which the question is cancelled.
            handle: Called with each event that the surface reports.
        """
        with self._lock:
            self._drawing += 1
            self._is_claimed = False
            drawing = self._drawing
            self.limit = limit
            self._drawn_at = time.monotonic()
            has_ended = self._cleanups is None
        if has_ended:
            return
        if not self.open_question.record.show(self.surface):
            self.open_question.cancel(types.NOT_RECORDED)
            return

        def settle(event: PresenterEvent) -> None:
            handle(self, drawing, event)

        try:
            expire = partial(self.open_question.cancel, types.TIMED_OUT)
            self.add_timer(self.open_question.clock(limit, expire))
            if presenter is None:
                raise RuntimeError("the surface is gone")
            self.add_cleanup(presenter.show(question, settle))
        except Exception:  # a surface that fails must not take the question along
            log.exception("the question %s could not be shown", question.id)
            settle(Unable())

    def claim_event(self, drawing: int) -> bool:
        """Return whether to handle an event: only the first event of the last drawing counts.

        Args:
            drawing: The number of the drawing that reports the event.
        """
        with self._lock:
            if self._cleanups is None or drawing != self._drawing:
                return False
            self._drawing += 1
            self._is_claimed = True
            return True

    def add_cleanup(self, take_down: TakeDown, *, lasting: bool = False) -> None:
        """Register a function that takes something down.

        Args:
            take_down: Called with the reason; at once if the presentation has ended.
            lasting: Whether to call it only when the presentation ends, and not when the question
                is drawn anew.
        """
        with self._lock:
            if self._cleanups is not None:
                cleanups = self._cleanups
                if lasting:
                    cleanups = self._end_cleanups
                cleanups.append(take_down)
                return
        take_down(self._end_reason)

    def add_timer(self, stop: Unsubscribe) -> None:
        """Register the function that stops a timer."""
        self.add_cleanup(lambda reason: stop())

    def take_down(self, reason: str) -> None:
        """Take the last drawing down; the presentation goes on."""
        with self._lock:
            if self._cleanups is None:
                return
            cleanups = self._cleanups
            self._cleanups = []
        for cleanup in cleanups:
            call_safely(cleanup, reason)

    def end(self, reason: str) -> None:
        """End the presentation: take the last drawing down, and refuse every later one."""
        with self._lock:
            cleanups = [*(self._cleanups or []), *self._end_cleanups]
            self._cleanups = None
            self._end_cleanups = []
            self._end_reason = reason
        for cleanup in cleanups:
            call_safely(cleanup, reason)


# Handles an event of a presentation, with the number of the drawing that reports the event.
HandleEvent = Callable[[Presentation, int, PresenterEvent], None]
