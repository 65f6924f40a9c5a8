"""The broker puts each question to the people who may answer, and always ends the question.

A question is *open* from `ask` until its future is done. It is put in *stages* (see `routing`), and
a stage is one *presentation* or two at once. Each event is one of these, and the first one that
ends the question wins:

====================================  =========================================================
a valid answer                        the question ends with it, everywhere
an invalid answer                     the same surface asks once more, saying what was wrong; after
                                      the second one it counts as unable to show the question
the surface cannot show the question  when none of the stage is left, the next stage; after the
                                      last one unattended
the person hands the question over    the other surface
the deadline                          a cancel, never an accept and never the fallback
the call ended, or the bridge closed  a cancel that says so
====================================  =========================================================

Every end runs the same clean-up, as a callback of the future: the surfaces take the question down
and the timers are stopped. Any thread; the state is under locks, and nothing that may wait for
another thread is called while a lock is held.
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
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.caller import BACKGROUND
from dcc_bridge.elicitation.late_answers import Card, LateQuestion, LateQuestions, can_be_late
from dcc_bridge.elicitation.open_question import OpenQuestion, Presentation
from dcc_bridge.elicitation.question import (
    Caller,
    Expired,
    HandOver,
    HostPresenter,
    Offers,
    Presenter,
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
from dcc_bridge.elicitation.unattended import AllowList, read_allow_list, unattended_answer
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.threads.watchdog import Standstill

log = logging.getLogger(__name__)

MAX_OPEN_QUESTIONS: Final = 64  # at a time, on all surfaces together; one more is refused
MAX_OPEN_QUESTIONS_OF_A_CLIENT: Final = 8
# Nobody reads a question in less, so a client that declines sooner has not shown the question.
MIN_READING_TIME_S: Final = 0.3
_WRONG_TYPE: Final = "each value must be a text, a number, yes or no, or a list of texts."


def _no_holder() -> Caller | None:
    return None


class Broker:
    """Puts questions to people, and ends each question. Any thread.

    Attributes:
        settings: The settings of the bridge.
        audience: Decides which surfaces a question goes to; knows the limits and the grants.
    """

    def __init__(
        self,
        settings: config.Settings | None = None,
        *,
        host: HostPresenter | None = None,
        clock: callbacks.CallLater | None = None,
        holder: Callable[[], Caller | None] = _no_holder,
        auditor: Auditor = nowhere,
        grants: SessionAnswers | None = None,
    ) -> None:
        """Prepare a broker without questions.

        Args:
            settings: What the studio allows; None for the defaults.
            host: Draws questions in the host; None where no person sits there.
            clock: Calls a function after some seconds; None for a timer thread.
            holder: Returns the call for which other calls wait, or None.
            auditor: Records the questions and answers.
            grants: The answers that a person gave in advance; None for no such answers.

        Raises:
            ValueError: The allow list cannot be read.
        """
        self.settings = settings or config.Settings()
        allow_list_file = self.settings.allow_list
        self._allow_list: AllowList | None = None
        if allow_list_file is not None:
            self._allow_list = read_allow_list(allow_list_file)
        self.audience = Audience(self.settings, host, grants or FixedAnswers())
        self._clock = clock or callbacks.call_later
        self._holder = holder
        self._auditor = auditor
        self._lock = threading.Lock()
        self._shares = Shares("questions", MAX_OPEN_QUESTIONS_OF_A_CLIENT, MAX_OPEN_QUESTIONS)
        self._open: list[OpenQuestion] = []
        self._callbacks = callbacks.Callbacks()
        self._late = LateQuestions(self.audience, self._clock, self._callbacks.call)
        self._is_closed = False

    @property
    def open(self) -> list[Question]:
        """The questions that wait for an answer, the oldest first."""
        return [pending.question for pending in self._pending()]

    @property
    def asked(self) -> list[tuple[Question, tuple[Surface, ...]]]:
        """The questions that wait for an answer, each with the surfaces that draw it.

        Those whose call has ended come last.
        """
        waiting = [(pending.question, pending.surfaces) for pending in self._pending()]
        return [*waiting, *self._late.asked]

    def watch(self, fn: Callable[[], None]) -> callbacks.Unsubscribe:
        """Call a function whenever a question is put, moves to another surface or ends.

        Args:
            fn: The function; called on any thread, and it must be quick.

        Returns:
            A function that takes the callback out.
        """
        return self._callbacks.add(fn)

    def bring(self, question: Question) -> None:
        """Draw a question in the host that its client shows, or whose time is over."""
        pending = self._find(question)
        if pending is None:
            self._late.open(question.id)
            return
        presentation = pending.presentation_on("client")
        if presentation is not None and pending.host_remains:
            self._answer_here(presentation)

    def dismiss(
        self,
        question: Question,
        response: types.ElicitationResponse = types.CLOSED_BY_PERSON,
    ) -> None:
        """End a question without an answer.

        Args:
            question: The question; nothing happens if it has ended.
            response: How it ends: by default the person at the host closed it.
        """
        pending = self._find(question)
        if pending is None:
            self._late.drop(question.id)
        else:
            pending.settle(response)

    def ask(self, question: Question) -> Future[types.ElicitationResponse]:
        """Put a question to the people who may answer it. Any thread.

        Args:
            question: The question.

        Returns:
            A future that always ends, with a validated answer or with the reason why there is none.
            Cancelling the future takes the question down.

        Raises:
            Busy: Too many questions are open already.
        """
        call = question.call
        self._shares.enter(client_label(call))
        question = replace(question, reason=question.reason or call.dialogue.repeats)
        call.dialogue.repeats = None
        facts = question_facts(question)
        record = QuestionRecord(self._auditor, call, facts, self.settings.allow_list)
        pending = OpenQuestion(question, self.audience.stages(question), record, self._clock)
        pending.stays_late = self.audience.host is not None and can_be_late(question)
        call.question_opened()
        pending.future.add_done_callback(lambda _: self._clean_up(pending))
        with self._lock:
            if self._is_closed:
                call.ending.reason = types.BRIDGE_CLOSED
            else:
                self._open.append(pending)
        if call.ending.reason is not None:
            pending.cancel(call.ending.reason)
            return pending.future
        covering = self.audience.grants.covered_by(question)
        if covering is not None:
            self._late.drop_same(question)
            self._settle_by_grant(pending, covering)
        else:
            self._begin(pending)
        if question.visit is not None:
            question.visit.follow(pending.handle_visit)
        return pending.future

    def _settle_by_grant(self, pending: OpenQuestion, covering: str) -> None:
        """Agree to a question for which an earlier answer holds.

        `covering` is the id of the earlier question, or "", as `SessionAnswers.covered_by` has it.
        """
        confirmation = pending.question.confirmation
        data = {}
        if confirmation is not None:
            data[confirmation.name] = True
        further_facts = {}
        if covering:
            further_facts["grant"] = covering
        response = types.ElicitationResponse(True, data, None, "accept", "grant")
        pending.settle(response, further_facts)

    def _begin(self, pending: OpenQuestion) -> None:
        """Begin the first stage, or go on where an earlier call left the same question."""
        late = self._late.claim(pending.question)
        if late is None:
            self._begin_stage(pending)
        else:
            self._resume(pending, late)

    def _resume(self, pending: OpenQuestion, late: LateQuestion) -> None:
        """Go on with a question where its earlier call left it: with its answer, or its card."""
        presentations = pending.resume(late.question.id)
        if presentations is None:
            self._late.put_back(late)
            return
        for presentation in presentations:
            with _cancelling_on_error(pending):
                if late.reply is not None:
                    self._dispatch(presentation, late.reply)
                elif late.card is not None:
                    presentation.add_cleanup(late.card.take_down)
                    self._show_in_host(presentation, late.card)
        self._callbacks.call()

    def end(self, call: Caller, message: str = types.CANCELLED, *, is_left: bool = False) -> None:
        """End every open question of a call that nobody waits for any more.

        Args:
            call: The call.
            message: Why, as a message of `ElicitationResponse`.
            is_left: Whether the client stopped waiting before its time was over. Then the cards in
                the host stay, and their answers wait for the same call made again.
        """
        call.ending.reason = message
        for pending in self._pending():
            if pending.question.call is call:
                pending.is_left = is_left
                pending.cancel(message)

    def held_up(self, call: Caller | None = None) -> str:
        """Return a phrase about the answer for which other calls wait.

        Args:
            call: The call for which the others wait; None to ask `holder` for that call.

        Returns:
            A phrase for a person, with the time at which the wait ends if that is known; "" where
            the others wait for no answer.
        """
        if call is None:
            call = self._holder()
        for pending in self._pending():
            if pending.question.call is call and pending.surfaces:
                return _wait_of_others(pending)
        return ""

    def unblock(self, standstill: Standstill) -> None:
        """End the questions for which the main thread may stand still. `Watchdog` calls this."""
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
                    call.id,
                    call.skill,
                    standstill.seconds,
                    standstill.wait,
                    standstill.stack,
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
        self._late.close()

    def _pending(self) -> list[OpenQuestion]:
        with self._lock:
            return list(self._open)

    def _find(self, question: Question) -> OpenQuestion | None:
        for pending in self._pending():
            if pending.question.id == question.id:
                return pending
        return None

    def _clean_up(self, pending: OpenQuestion) -> None:
        self._shares.leave(client_label(pending.question.call))
        with self._lock:
            if pending in self._open:
                self._open.remove(pending)
        self._keep_late(pending)
        pending.notify_end()
        self._callbacks.call()

    def _keep_late(self, pending: OpenQuestion) -> None:
        """Keep a question that nobody answered in time, or before its client left."""
        if pending.future.cancelled() or not pending.stays_late:
            return
        has_timed_out = pending.future.result().message == types.TIMED_OUT
        card = None
        if pending.is_left:
            card = pending.detach_card()
        if has_timed_out or card is not None:
            self._late.keep(pending.question, card)

    def _begin_stage(self, pending: OpenQuestion, unable: Unable | None = None) -> None:
        """Go to the next stage; after the last stage nobody is left to ask.

        `unable` is the event for which the last surface gave up, if one did.
        """
        presentations = pending.begin_next_stage()
        if presentations is None:
            return
        for presentation in presentations:
            self._show(presentation)
        if presentations:
            self._callbacks.call()
        elif unable is not None and unable.cancels:
            pending.cancel(unable.message)
        else:
            rule = self.settings.unattended
            answer = unattended_answer(pending.question, rule, self._allow_list)
            pending.settle(answer)

    def _show(self, presentation: Presentation) -> None:
        with _cancelling_on_error(presentation.open_question):
            if presentation.surface == "client":
                self._show_in_client(presentation)
            else:
                self._queue_for_host(presentation)

    def _show_in_client(self, presentation: Presentation) -> None:
        pending = presentation.open_question
        host = self.audience.host
        limit = pending.question.timeout or self.settings.deadline
        question = replace(pending.question, offers=Offers(limit, limit))
        channel = self.audience.channel(question)
        presentation.draw(channel, question, limit, self._handle_event)
        if host is not None and ("host",) in pending.stages:
            self._show_chip(presentation, host)

    def _show_chip(self, presentation: Presentation, host: HostPresenter) -> None:
        """Show in the host that a question waits in the client."""
        pending = presentation.open_question
        name = client_name(pending.question.call)

        def answer_here() -> None:
            self._answer_here(presentation)

        def cancel() -> None:
            pending.settle(types.CLOSED_BY_PERSON)

        try:
            chip = host.chip(pending.question, name, answer_here, cancel)
        except Exception:  # the client shows the question already; a notice that fails stops none
            log.exception("no chip could be shown for the question %s", pending.question.id)
        else:
            presentation.add_cleanup(chip)

    def _answer_here(self, presentation: Presentation) -> None:
        """Move a question from its client to the host, before all other questions there."""
        presentation.open_question.is_wanted = True
        self._end_presentation(presentation, "handed_over")

    def _queue_for_host(self, presentation: Presentation) -> None:
        """Show a question at the host once its client's earlier questions have had their turns."""
        pending = presentation.open_question
        limits = self.audience.limits
        label = client_label(pending.question.call)
        # A question that is asked again after an invalid answer still has its place, and one that
        # the person asked to see comes first.
        if label is None or presentation.retried or pending.is_wanted:
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
        """Show a question that has got its place, after `delay` seconds."""
        pending = presentation.open_question
        with _cancelling_on_error(pending):
            if client_label(pending.question.call) in self.audience.limits.muted:
                self._refuse_unasked(pending)
            elif delay and not self._is_closed:
                presentation.add_timer(self._clock(delay, lambda: self._show_in_host(presentation)))
                self.audience.notify_waiting(pending.question.call)
            elif not self._is_closed:
                self._show_in_host(presentation)

    def _show_in_host(self, presentation: Presentation, card: Card | None = None) -> None:
        """Show a question in the host, by a card that is drawn there already if there is one."""
        pending = presentation.open_question
        offers = self.audience.offers(pending.question)
        offers = replace(offers, is_wanted=pending.is_wanted)
        question = replace(pending.question, offers=offers)
        presenter: Presenter | None = card or self.audience.host
        presentation.draw(presenter, question, offers.latest, self._handle_event)

    def _handle_event(
        self, presentation: Presentation, drawing: int, event: PresenterEvent
    ) -> None:
        """Handle an event that a surface reports, unless the question has ended or moved on."""
        pending = presentation.open_question
        if not presentation.claim_event(drawing):
            return
        if presentation.card is not None:
            presentation.card.report(event)
            return
        if pending.future.done():
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
        pending = presentation.open_question
        surface = presentation.surface
        question = pending.question
        if question.visit is not None:
            return  # the person went to the page, which itself reports when they are done
        data: dict[str, object] = {}
        if question.form is not None:
            try:
                data = question.form.check(reply.content)
            except InvalidAnswer as error:
                self._ask_again(presentation, error)
                return
        message = None
        if question.page is not None:
            message = types.COMPLETION_UNVERIFIED
        left_out = reply.left_out
        response = types.ElicitationResponse(
            True, data, message, "accept", surface, left_out=left_out
        )
        offers = self.audience.offers(question)
        is_in_advance = reply.remember and surface == "host" and offers.may_remember
        if not is_in_advance or left_out or not question.agrees(response):
            pending.settle(response)
            return
        pending.settle(response, on_recorded=partial(self.audience.grants.allow, question))

    def _refuse(self, presentation: Presentation, reply: Reply) -> None:
        pending = presentation.open_question
        at_client = presentation.surface == "client"
        label = client_label(pending.question.call)
        is_too_fast = presentation.age < MIN_READING_TIME_S and label != CLI_LABEL
        if at_client and is_too_fast and reply.action == "decline" and pending.host_remains:
            self._give_up(presentation, Unable())
            return
        if at_client or not reply.mute or label is None:
            pending.refuse(reply, presentation.surface)
            return
        # Muted first: the end of this question makes room for the client's next one.
        self.audience.limits.mute(label)
        pending.refuse(reply, presentation.surface)
        self._refuse_in_host(label)

    def _refuse_unasked(self, pending: OpenQuestion) -> None:
        """Refuse a question of a client that is muted, or has too many that wait."""
        notice = self.audience.limits.mute_notice(client_label(pending.question.call))
        message = types.TOO_MANY_QUESTIONS
        if notice:
            message = types.MUTED
        response = types.ElicitationResponse(False, None, message, "decline", "policy", notice)
        pending.settle(response)

    def _refuse_in_host(self, label: str) -> None:
        """Refuse the questions at the host of a client that was muted just now."""
        for pending in self._pending():
            is_of_client = client_label(pending.question.call) == label
            if is_of_client and pending.presentation_on("host") is not None:
                self._refuse_unasked(pending)

    def _ask_again(self, presentation: Presentation, error: InvalidAnswer) -> None:
        if presentation.retried:
            self._give_up(presentation, Unable(types.INVALID_ANSWER, cancels=True))
            return
        presentation.retried = True
        pending = presentation.open_question
        pending.question = replace(
            pending.question, reason=f"This answer was not accepted: {error}"
        )
        presentation.take_down(types.INVALID_ANSWER)
        self._show(presentation)

    def _give_up(self, presentation: Presentation, unable: Unable) -> None:
        if unable.lasting and presentation.surface == "client":
            label = client_label(presentation.open_question.question.call)
            self.audience.silent.add(label)
        self._end_presentation(presentation, unable.message, unable)

    def _hand_over(self, presentation: Presentation) -> None:
        pending = presentation.open_question
        other: Surface = "client"
        if presentation.surface == "client":
            other = "host"
        with pending.lock:
            # `extendleft` reverses: the other surface comes next, and this one after it.
            if pending.presentation_on(other) is None:
                pending.stages.extendleft([(presentation.surface,), (other,)])
        self._end_presentation(presentation, "handed_over")

    def _end_presentation(
        self, presentation: Presentation, reason: str, unable: Unable | None = None
    ) -> None:
        """End one presentation, and begin the next stage after the last presentation of a stage."""
        pending = presentation.open_question
        if pending.end_presentation(presentation, reason):
            self._begin_stage(pending, unable)


def _wait_of_others(pending: OpenQuestion) -> str:
    """Return a phrase about the question for which other calls wait."""
    asker = client_label(pending.question.call) or "the host"
    phrase = f"the answer to a question of {asker}"
    left = pending.client_time_left
    if left is None:
        return phrase
    until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
    return f"{phrase}, until {until} at the latest"


@contextmanager
def _cancelling_on_error(pending: OpenQuestion) -> Iterator[None]:
    """Cancel a question if showing it or handling its answer fails in the body."""
    try:
        yield
    except Exception:  # a timer that cannot be set, say: nobody else would end the question
        log.exception("the question %s was cancelled", pending.question.id)
        pending.cancel(types.SURFACE_LOST)
