"""The broker: it puts a question to whoever may answer it, and ends it, always.

A question is *open* from `ask` until its future is done. It is put in *stages* (see `routing`), and
a stage is one *showing* or two at once. Whatever happens is one of these, and the first one wins:

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
and the clocks are stopped. Any thread; the state is under locks, and nothing that may wait for
another thread is called while one is held.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from dcc_bridge.audit.port import Auditor, nowhere
from dcc_bridge.callbacks import Clock, Undo, Watchers, timer
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import unattended
from dcc_bridge.elicitation import unattended as allowance
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.line import Line
from dcc_bridge.elicitation.open_question import (
    CLOSED_BY_PERSON,
    REFUSED,
    Opened,
    Showing,
    cancel,
    granted,
)
from dcc_bridge.elicitation.question import (
    Expired,
    HandOver,
    Heard,
    HostPresenter,
    Presenter,
    Question,
    Reply,
    Surface,
    Unable,
    Unreadable,
)
from dcc_bridge.elicitation.rate_limits import Room
from dcc_bridge.elicitation.record import QuestionRecord
from dcc_bridge.elicitation.routing import Audience, label, name
from dcc_bridge.elicitation.types import (
    BRIDGE_CLOSED,
    CANCELLED,
    COMPLETION_UNVERIFIED,
    INVALID_ANSWER,
    TIMED_OUT,
    ElicitationResponse,
)
from dcc_bridge.elicitation.validation import InvalidAnswer

log = logging.getLogger(__name__)

TOO_FAST: Final = 0.3
"""Seconds in which no person reads a question: a client that declines sooner did not show it."""
_MOVED: Final = "handed_over"
_SHAPE: Final = "each value is a text, a number, yes or no, or a list of texts."


class Broker:
    """Puts questions to people and sees that each one ends.

    Attributes:
        audience: Who is there to be asked.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        host: HostPresenter | None = None,
        clock: Clock | None = None,
        busy: Callable[[], bool] = lambda: False,
        auditor: Auditor = nowhere,
    ) -> None:
        """Know the surfaces and the limits.

        Args:
            settings: What the studio allows; None for the defaults.
            host: Draws questions in the host, where a person sits there.
            clock: Calls back after some seconds, on any thread; gives what stops it.
            busy: Whether others wait for the one who asks, so that a client has less time.
            auditor: Told what is asked and answered.

        Raises:
            ValueError: The list of what goes on unasked cannot be read.
        """
        self.settings = settings or Settings()
        file = self.settings.allow_list
        self._allowed = allowance.read(file) if file is not None else None
        self.audience = Audience(self.settings, host)
        self._clock = clock or timer
        self._busy = busy
        self._auditor = auditor
        self._lock = threading.Lock()
        self._room = Room(self.settings.most_open, self.settings.most_open_of_one)
        self._open: list[Opened] = []
        self._watchers = Watchers()
        self._line = Line(self.audience, self._clock, lambda: self._closed, self._show_in_host)
        self._closed = False

    @property
    def open(self) -> list[Question]:
        """The questions that wait for an answer."""
        with self._lock:
            return [one.question for one in self._open]

    @property
    def asked(self) -> list[tuple[Question, tuple[Surface, ...]]]:
        """The same, each with the surfaces that it is on."""
        with self._lock:
            ones = list(self._open)
        return [(one.question, one.surfaces) for one in ones]

    def watch(self, fn: Callable[[], None]) -> Undo:
        """Call a function whenever a question is put, moves or ends; gives what stops that.

        It is called on any thread, and must be quick.
        """
        return self._watchers.add(fn)

    def bring(self, question: Question) -> None:
        """Bring a question that waits in its client to the host, if it still does."""
        one = self._find(question)
        showing = one.at("client") if one is not None and one.host_remains else None
        if one is not None and showing is not None:
            self._leave(one, showing, _MOVED)

    def dismiss(self, question: Question) -> None:
        """End a question as the person at the host: it gets no answer."""
        one = self._find(question)
        if one is not None:
            one.settle(CLOSED_BY_PERSON)

    def ask(self, question: Question) -> Future[ElicitationResponse]:
        """Put a question to whoever may answer it.

        Returns:
            A future that always ends, with an answer that was validated. Cancelling it takes the
            question down.

        Raises:
            Busy: Too many are open already.
        """
        self._room.enter(label(question.call))
        again, question.call.again = question.call.again, None
        question = replace(question, reason=question.reason or again)
        record = QuestionRecord(self._auditor, question, self.settings.allow_list)
        one = Opened(question, deque(self.audience.stages(question)), record)
        question.call.asking()
        one.future.add_done_callback(lambda _: self._clean_up(one))
        with self._lock:
            closed = self._closed
            if not closed:
                self._open.append(one)
        if closed:
            question.call.ended = BRIDGE_CLOSED
            one.settle(cancel(BRIDGE_CLOSED))
        elif question.call.ended is not None:
            one.settle(cancel(question.call.ended))
        elif self.audience.is_granted(question):
            one.settle(granted(question))
        else:
            self._next(one)
            one.follow()
        return one.future

    def end(self, call: Call, message: str = CANCELLED) -> None:
        """End every open question of a call that nobody waits for any more."""
        call.ended = message
        with self._lock:
            ending = [one for one in self._open if one.question.call is call]
        for one in ending:
            one.settle(cancel(message))

    def close(self) -> None:
        """End every question; later ones end at once."""
        with self._lock:
            self._closed = True
            ending = list(self._open)
        for one in ending:
            one.settle(cancel(BRIDGE_CLOSED))

    def _find(self, question: Question) -> Opened | None:
        with self._lock:
            return next((one for one in self._open if one.question.id == question.id), None)

    # ---- showing

    def _next(self, one: Opened, unable: Unable | None = None) -> None:
        """Go to the next stage; after the last one nobody is left."""
        with one.lock:
            if one.future.done():
                return
            stage = one.stages.popleft() if one.stages else ()
            showings = [Showing(surface) for surface in stage]
            one.showings.extend(showings)
        for showing in showings:
            self._show(one, showing)
        if stage:
            self._watchers.call()
            return
        if unable is not None and unable.ends:
            one.settle(cancel(unable.message))
        else:
            rule = self.settings.unattended
            one.settle(unattended.answer(one.question, rule, self._allowed))

    def _show(self, one: Opened, showing: Showing) -> None:
        try:
            if showing.surface == "client":
                self._show_in_client(one, showing)
            else:
                self._line.enter(one, showing)
        except Exception:  # a clock that cannot be set, say: nobody would end it
            log.exception("the question %s was not put", one.question.id)
            one.settle(cancel(CANCELLED))

    def _show_in_client(self, one: Opened, showing: Showing) -> None:
        limit = one.question.timeout or self.settings.client_deadline
        self._draw(one, showing, self.audience.channel(one.question), one.question, limit)
        self._hurry(one, showing)
        host = self.audience.host
        if host is not None and ("host",) in one.stages:
            self._show_chip(one, showing, host)

    def _show_chip(self, one: Opened, showing: Showing, host: HostPresenter) -> None:
        try:
            chip = host.chip(
                one.question,
                name(one.question.call),
                lambda: self._leave(one, showing, _MOVED),
                lambda: one.settle(CLOSED_BY_PERSON),
            )
        except Exception:  # the client shows the question already; a notice that fails stops none
            log.exception("no chip could be shown for the question %s", one.question.id)
        else:
            showing.keep(chip)

    def _hurry(self, one: Opened, showing: Showing) -> None:
        """Wait less long for a client while others wait for the one who asks."""

        def look() -> None:
            if self._busy():
                one.settle(cancel(TIMED_OUT))

        showing.keep_clock(self._clock(self.settings.busy_deadline, look))

    def _refuse_open(self, who: str) -> None:
        """Refuse what a client that was muted just now asks at the host already."""
        with self._lock:
            of_it = [one for one in self._open if label(one.question.call) == who]
        for one in of_it:
            if one.at("host") is not None:
                one.settle(REFUSED)

    def _show_in_host(self, one: Opened, showing: Showing) -> None:
        offers = self.audience.offers(one.question)
        question = replace(one.question, offers=offers)
        self._draw(one, showing, self.audience.host, question, offers.latest)

    def _draw(
        self,
        one: Opened,
        showing: Showing,
        presenter: Presenter | None,
        question: Question,
        limit: float,
    ) -> None:
        turn = one.draw(showing)
        if turn < 0:
            return
        try:
            showing.keep_clock(self._clock(limit, lambda: one.settle(cancel(TIMED_OUT))))
            if presenter is None:
                raise RuntimeError("the surface is gone")
            down = presenter.show(question, lambda heard: self._hear(one, showing, turn, heard))
            showing.keep(down)
        except Exception:  # a surface that fails must not take the question along
            log.exception("the question %s could not be shown", question.id)
            self._hear(one, showing, turn, Unable())

    # ---- hearing

    def _hear(self, one: Opened, showing: Showing, turn: int, heard: Heard) -> None:
        """Take what a surface says, unless the question moved on."""
        if one.future.done() or not showing.take(turn):
            return
        try:
            self._take_in(one, showing, heard)
        except Exception:  # the answer is lost, and nobody gives it twice
            log.exception("the answer to the question %s was not taken", one.question.id)
            one.settle(cancel(CANCELLED))

    def _take_in(self, one: Opened, showing: Showing, heard: Heard) -> None:
        match heard:
            case Reply(action="accept"):
                self._accept(one, showing, heard)
            case Reply():
                self._refuse(one, showing, heard)
            case HandOver():
                self._hand_over(one, showing)
            case Expired():
                one.settle(cancel(TIMED_OUT))
            case Unable():
                self._give_up(one, showing, heard)
            case Unreadable():
                self._ask_again(one, showing, InvalidAnswer(_SHAPE))

    def _accept(self, one: Opened, showing: Showing, reply: Reply) -> None:
        question = one.question
        if question.visit is not None:
            return  # they went to the page, which says itself when it is done
        try:
            data = question.form.check(reply.content) if question.form is not None else {}
        except InvalidAnswer as error:
            self._ask_again(one, showing, error)
            return
        offered = self.audience.offers(question).remember
        if reply.remember and showing.surface == "host" and offered is not None:
            self.audience.grants.allow(question.call, offered)
        unverified = COMPLETION_UNVERIFIED if question.url is not None else None
        one.settle(ElicitationResponse(True, data, unverified, "accept", showing.surface))

    def _refuse(self, one: Opened, showing: Showing, reply: Reply) -> None:
        at_client, who = showing.surface == "client", label(one.question.call)
        too_fast = reply.action == "decline" and showing.age < TOO_FAST
        if at_client and too_fast and one.host_remains:
            self._give_up(one, showing, Unable())
            return
        muted = who if reply.mute and not at_client else None
        if muted is not None:  # first: its end makes room for the next one
            self.audience.limits.mute(muted)
        one.refuse(reply, showing.surface)
        if muted is not None:
            self._refuse_open(muted)

    def _ask_again(self, one: Opened, showing: Showing, error: InvalidAnswer) -> None:
        if showing.retried:
            self._give_up(one, showing, Unable(INVALID_ANSWER, ends=True))
            return
        showing.retried = True
        reason = f"That was not accepted: {error}"
        one.question = replace(one.question, reason=reason)
        showing.clear(INVALID_ANSWER)
        self._show(one, showing)

    def _give_up(self, one: Opened, showing: Showing, unable: Unable) -> None:
        if unable.lasting and showing.surface == "client":
            self.audience.silence(one.question.call)
        self._leave(one, showing, unable.message, unable)

    def _hand_over(self, one: Opened, showing: Showing) -> None:
        other: Surface = "host" if showing.surface == "client" else "client"
        with one.lock:
            if other not in [each.surface for each in one.showings]:
                one.stages.extendleft([(showing.surface,), (other,)])
        self._leave(one, showing, _MOVED)

    def _leave(self, one: Opened, showing: Showing, why: str, unable: Unable | None = None) -> None:
        """End one showing; after the last one of a stage comes the next stage."""
        with one.lock:
            if showing not in one.showings:
                return
            one.showings.remove(showing)
            last = not one.showings
        showing.end(why)
        if last:
            self._next(one, unable)

    def _clean_up(self, one: Opened) -> None:
        self._room.leave(label(one.question.call))
        with self._lock:
            if one in self._open:
                self._open.remove(one)
        with one.lock:
            showings, one.showings = one.showings, []
        one.tell_end(showings)
        self._watchers.call()
