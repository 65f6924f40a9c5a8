"""The broker: it puts a question to whoever may answer it, and ends it, always.

A question is *open* from `ask` until its future is done. It is put in *stages* (see `routing`), and
a stage is one *presentation* or two at once. Whatever happens is one of these, and the first one
wins:

====================================  =========================================================
a valid answer                        the question ends with it, everywhere
an invalid answer                     the same surface asks once more, saying what was wrong; the
                                      second time it is treated as one that cannot show it
the surface cannot show it            when none of the stage is left, the next stage; after the
                                      last one unattended
the person hands it over              the other surface
the deadline                          a cancel, never an accept and never the fallback
its call ended, or the bridge closed  a cancel that says so
====================================  =========================================================

Every end runs the same clean-up, as a callback of the future: the surfaces take the question down
and the timers are stopped. Any thread; the state is under locks, and nothing that may wait for
another thread is called while one is held.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

from dcc_bridge import callbacks, config
from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.audit.trail import QuestionRecord
from dcc_bridge.elicitation import open_question, routing, types
from dcc_bridge.elicitation.caller import BACKGROUND
from dcc_bridge.elicitation.open_question import OpenQuestion, Presentation
from dcc_bridge.elicitation.question import (
    Caller,
    Expired,
    HandOver,
    HostPresenter,
    Offers,
    PresenterEvent,
    Question,
    Reply,
    Surface,
    Unable,
    Unreadable,
)
from dcc_bridge.elicitation.question_facts import question_facts
from dcc_bridge.elicitation.rate_limits import Shares
from dcc_bridge.elicitation.routing import (
    Audience,
    FixedAnswers,
    SessionAnswers,
    client_label,
    client_name,
)
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.threads.watchdog import Standstill

log = logging.getLogger(__name__)

MAX_OPEN_QUESTIONS: Final = 64  # at a time, wherever they are shown; one more is refused
MAX_OPEN_QUESTIONS_OF_A_CLIENT: Final = 8
TOO_FAST: Final = 0.3  # seconds: nobody reads so fast, so the client that declined did not show it
BUSY: Final = 0.15  # of the client's time to answer, while others wait for the call that asks
_WRONG_TYPE: Final = "each value is a text, a number, yes or no, or a list of texts."


class Broker:
    """Puts questions to people, and ends each one."""

    def __init__(
        self,
        settings: config.Settings | None = None,  # what the studio allows; None for the defaults
        *,
        host: HostPresenter | None = None,  # draws questions in the host, where a person sits there
        clock: callbacks.CallLater | None = None,  # calls a function after some seconds
        # The call for which others wait, if there is one: its client has less time.
        holder: Callable[[], Caller | None] = lambda: None,
        auditor: Auditor = nowhere,  # writes down what is asked and answered
        grants: SessionAnswers | None = None,  # what was agreed to for the session; None: nothing
    ) -> None:
        """ValueError: the list of what goes on unasked cannot be read."""
        self.settings = settings or config.Settings()
        file = self.settings.allow_list
        self._allow_list = routing.read_allow_list(file) if file is not None else None
        self.audience = Audience(self.settings, host, grants or FixedAnswers())
        self._clock = clock or callbacks.call_later
        self._holder = holder
        self._auditor = auditor
        self._lock = threading.Lock()
        self._shares = Shares("questions", MAX_OPEN_QUESTIONS_OF_A_CLIENT, MAX_OPEN_QUESTIONS)
        self._open: list[OpenQuestion] = []
        self._callbacks = callbacks.Callbacks()
        self._is_closed = False

    @property
    def open(self) -> list[Question]:
        """The questions that wait for an answer."""
        return [pending.question for pending in self._pending()]

    @property
    def asked(self) -> list[tuple[Question, tuple[Surface, ...]]]:
        """The same, each with the surfaces that it is on."""
        return [(pending.question, pending.surfaces) for pending in self._pending()]

    def watch(self, fn: Callable[[], None]) -> callbacks.Unsubscribe:
        """Call a quick function, on any thread, whenever a question is put, moves or ends."""
        return self._callbacks.add(fn)

    def bring(self, question: Question) -> None:
        """Bring a question that waits in its client to the host, if it still does."""
        pending = self._find(question)
        shown = pending.presentation_on("client") if pending and pending.host_remains else None
        if shown is not None:
            self._end_presentation(shown, "handed_over")

    def dismiss(
        self, question: Question, how: types.ElicitationResponse = open_question.CLOSED_BY_PERSON
    ) -> None:
        """End a question without an answer, as the person at the host unless said otherwise."""
        if (pending := self._find(question)) is not None:
            pending.settle(how)

    def ask(self, question: Question) -> Future[types.ElicitationResponse]:
        """Put a question to whoever may answer it; Busy: too many are open already.

        The future always ends, with a validated answer. Cancelling it takes the question down.
        """
        call = question.call
        self._shares.enter(client_label(call))
        question = replace(question, reason=question.reason or call.dialogue.repeats)
        call.dialogue.repeats = None
        facts = question_facts(question)
        record = QuestionRecord(self._auditor, call, facts, self.settings.allow_list)
        pending = OpenQuestion(question, self.audience.stages(question), record, self._clock)
        call.question_opened()
        pending.future.add_done_callback(lambda _: self._clean_up(pending))
        with self._lock:
            if self._is_closed:
                call.ending.reason = types.BRIDGE_CLOSED
            else:
                self._open.append(pending)
        if call.ending.reason is not None:
            pending.cancel(call.ending.reason)
        elif (covering := self.audience.grants.covered_by(question)) is not None:
            data = {question.confirmation.name: True} if question.confirmation else {}
            response = types.ElicitationResponse(True, data, None, "accept", "grant")
            pending.settle(response, {"grant": covering} if covering else {})
        else:
            self._begin_stage(pending)
            if question.visit is not None:
                question.visit.follow(pending.handle_visit)
        return pending.future

    def end(self, call: Caller, message: str = types.CANCELLED) -> None:
        """End every open question of a call that nobody waits for any more."""
        call.ending.reason = message
        for pending in self._pending():
            if pending.question.call is call:
                pending.cancel(message)

    def held_up(self, call: Caller | None = None) -> str:
        """Say for which answer others wait, and end a question that its client left too long.

        `call` is the one for which they wait, where that is known. Return "" where they wait for no
        answer.
        """
        call = call or self._holder()
        pending = next((it for it in self._pending() if it.question.call is call), None)
        left = pending.time_left(BUSY * self.settings.client_deadline) if pending else None
        if pending is None or left is None:
            return ""
        if left <= 0:
            pending.cancel(types.TIMED_OUT)
            return ""
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        whose = client_label(pending.question.call) or "the host"
        return f"the answer to a question of {whose}, until {until} at the latest"

    def unblock(self, standstill: Standstill) -> None:
        """End the questions for which the main thread may stand still; `Watchdog` calls it."""
        running = standstill.running
        for question in self.open:
            call = question.call
            is_running = isinstance(running, Caller) and running is call
            is_of_host = call.client in (None, BACKGROUND)
            if standstill.wait == "lock" or is_running or is_of_host:
                log.error(
                    "call %s: the question of %s was ended, because the main thread of the host "
                    "waited %g s for a %s. Ask before a lock is taken, and do not wait on the main "
                    "thread for a thread that asks. The main thread:\n%s",
                    *(call.id, call.skill, standstill.seconds, standstill.wait, standstill.stack),
                )
                blocked = types.cancelled_response(types.HOST_BLOCKED)
                callbacks.call_safely(self.dismiss, question, blocked)

    def close(self) -> None:
        """End every question; later ones end at once."""
        with self._lock:
            self._is_closed = True
        for pending in self._pending():
            pending.question.call.ending.reason = types.BRIDGE_CLOSED
            pending.cancel(types.BRIDGE_CLOSED)

    def _pending(self) -> list[OpenQuestion]:
        with self._lock:
            return list(self._open)

    def _find(self, question: Question) -> OpenQuestion | None:
        return next((open_ for open_ in self._pending() if open_.question.id == question.id), None)

    def _clean_up(self, pending: OpenQuestion) -> None:
        self._shares.leave(client_label(pending.question.call))
        with self._lock:
            if pending in self._open:
                self._open.remove(pending)
        pending.notify_end()
        self._callbacks.call()

    def _begin_stage(self, pending: OpenQuestion, unable: Unable | None = None) -> None:
        """Go to the next stage; after the last one nobody is left."""
        if (presentations := pending.begin_next_stage()) is None:
            return
        for presentation in presentations:
            self._show(presentation)
        if presentations:
            self._callbacks.call()
        elif unable is not None and unable.ends:
            pending.cancel(unable.message)
        else:
            rule = self.settings.unattended
            pending.settle(routing.unattended_answer(pending.question, rule, self._allow_list))

    def _show(self, presentation: Presentation) -> None:
        with _cancelling_on_error(presentation.open_question):
            if presentation.surface == "client":
                self._show_in_client(presentation)
            else:
                self._queue_for_host(presentation)

    def _show_in_client(self, presentation: Presentation) -> None:
        pending, host = presentation.open_question, self.audience.host
        limit = pending.question.timeout or self.settings.client_deadline
        question = replace(pending.question, offers=Offers(limit, limit))
        presentation.draw(self.audience.channel(question), question, limit, self._handle_event)

        def end_if_held_up() -> None:
            self.held_up()

        presentation.add_timer(self._clock(BUSY * self.settings.client_deadline, end_if_held_up))
        if host is not None and ("host",) in pending.stages:
            self._show_chip(presentation, host)

    def _show_chip(self, presentation: Presentation, host: HostPresenter) -> None:
        pending = presentation.open_question
        try:
            chip = host.chip(
                pending.question,
                client_name(pending.question.call),
                lambda: self._end_presentation(presentation, "handed_over"),
                lambda: pending.settle(open_question.CLOSED_BY_PERSON),
            )
        except Exception:  # the client shows the question already; a notice that fails stops none
            log.exception("no chip could be shown for the question %s", pending.question.id)
        else:
            presentation.add_cleanup(chip)

    def _queue_for_host(self, presentation: Presentation) -> None:
        """Show a question in its turn: a client that asks too often has to wait."""
        pending, limits = presentation.open_question, self.audience.limits
        label = client_label(pending.question.call)
        if label is None or presentation.retried:  # asked again, it has its place still
            self._show_in_host(presentation)
            return
        entry = limits.enter(label, lambda delay: self._leave_queue(presentation, delay))
        if entry is None:
            self._refuse_unasked(pending)
            return
        presentation.add_cleanup(lambda reason: limits.leave(label, entry), lasting=True)
        if entry.waits:
            self.audience.notify_waiting(pending.question.call)

    def _leave_queue(self, presentation: Presentation, delay: float) -> None:
        """Show a question that has got its place, perhaps after a while."""
        pending = presentation.open_question
        with _cancelling_on_error(pending):
            if client_label(pending.question.call) in self.audience.limits.muted:
                self._refuse_unasked(pending)
            elif delay and not self._is_closed:
                presentation.add_timer(self._clock(delay, lambda: self._show_in_host(presentation)))
                self.audience.notify_waiting(pending.question.call)
            elif not self._is_closed:
                self._show_in_host(presentation)

    def _show_in_host(self, presentation: Presentation) -> None:
        question = presentation.open_question.question
        offers = self.audience.offers(question)
        question = replace(question, offers=offers)
        presentation.draw(self.audience.host, question, offers.latest, self._handle_event)

    def _handle_event(
        self, presentation: Presentation, drawing: int, event: PresenterEvent
    ) -> None:
        """Handle what a surface reports, unless the question moved on."""
        pending = presentation.open_question
        if pending.future.done() or not presentation.claim_event(drawing):
            return
        with _cancelling_on_error(pending):
            self._dispatch(presentation, event)

    def _dispatch(self, presentation: Presentation, event: PresenterEvent) -> None:
        match event:
            case Reply(action="accept"):
                self._accept(presentation, event)
            case Reply():
                self._refuse(presentation, event)
            case HandOver():
                self._hand_over(presentation)
            case Expired():
                presentation.open_question.cancel(event.message)
            case Unable():
                self._give_up(presentation, event)
            case Unreadable():
                self._ask_again(presentation, InvalidAnswer(_WRONG_TYPE))

    def _accept(self, presentation: Presentation, reply: Reply) -> None:
        pending, surface = presentation.open_question, presentation.surface
        question = pending.question
        if question.visit is not None:
            return  # they went to the page, which says itself when it is done
        try:
            data = question.form.check(reply.content) if question.form is not None else {}
        except InvalidAnswer as error:
            self._ask_again(presentation, error)
            return
        unverified = types.COMPLETION_UNVERIFIED if question.page is not None else None
        response = types.ElicitationResponse(True, data, unverified, "accept", surface)
        offers = self.audience.offers(question)
        is_in_advance = reply.remember and surface == "host" and offers.may_remember
        if not is_in_advance or not question.agrees(response):
            pending.settle(response)
            return
        written = {"minutes": offers.minutes} if offers.minutes else {}
        pending.settle(response, written, partial(self.audience.grants.allow, question))

    def _refuse(self, presentation: Presentation, reply: Reply) -> None:
        pending, at_client = presentation.open_question, presentation.surface == "client"
        label = client_label(pending.question.call)
        too_fast = presentation.age < TOO_FAST and label != CLI_LABEL
        if at_client and too_fast and reply.action == "decline" and pending.host_remains:
            self._give_up(presentation, Unable())
            return
        muted = label if reply.mute and not at_client else None
        if muted is not None:  # first: its end makes room for the next one
            self.audience.limits.mute(muted)
        pending.refuse(reply, presentation.surface)
        if muted is not None:
            self._refuse_in_host(muted)

    def _refuse_unasked(self, pending: OpenQuestion) -> None:
        """Refuse a question of a client that is muted, or has too many that wait."""
        why = self.audience.limits.mute_notice(client_label(pending.question.call))
        message = types.MUTED if why else types.TOO_MANY_QUESTIONS
        pending.settle(types.ElicitationResponse(False, None, message, "decline", "policy", why))

    def _refuse_in_host(self, label: str) -> None:
        """Refuse what a client that was muted just now asks at the host already."""
        for pending in self._pending():
            is_of_client = client_label(pending.question.call) == label
            if is_of_client and pending.presentation_on("host") is not None:
                self._refuse_unasked(pending)

    def _ask_again(self, presentation: Presentation, error: InvalidAnswer) -> None:
        if presentation.retried:
            self._give_up(presentation, Unable(types.INVALID_ANSWER, ends=True))
            return
        pending, presentation.retried = presentation.open_question, True
        pending.question = replace(pending.question, reason=f"That was not accepted: {error}")
        presentation.take_down(types.INVALID_ANSWER)
        self._show(presentation)

    def _give_up(self, presentation: Presentation, unable: Unable) -> None:
        if unable.lasting and presentation.surface == "client":
            self.audience.silent.add(client_label(presentation.open_question.question.call))
        self._end_presentation(presentation, unable.message, unable)

    def _hand_over(self, presentation: Presentation) -> None:
        pending = presentation.open_question
        other: Surface = "host" if presentation.surface == "client" else "client"
        with pending.lock:
            if pending.presentation_on(other) is None:
                pending.stages.extendleft([(presentation.surface,), (other,)])
        self._end_presentation(presentation, "handed_over")

    def _end_presentation(
        self, presentation: Presentation, reason: str, unable: Unable | None = None
    ) -> None:
        """End one presentation; after the last one of a stage comes the next stage."""
        pending = presentation.open_question
        if pending.end_presentation(presentation, reason):
            self._begin_stage(pending, unable)


@contextmanager
def _cancelling_on_error(pending: OpenQuestion) -> Iterator[None]:
    """Cancel a question that could not be shown, or whose answer could not be handled."""
    try:
        yield
    except Exception:  # a timer that cannot be set, say: nobody else would end the question
        log.exception("the question %s was cancelled", pending.question.id)
        pending.cancel(types.SURFACE_LOST)
