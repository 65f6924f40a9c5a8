"""The broker: it puts a question to whoever may answer it, and ends it, always.

A question is *open* from `ask` until its future is done. It is put in *stages* (see `policy`), and
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
from dataclasses import dataclass, field, replace
from typing import Final

from dcc_bridge.config import Settings
from dcc_bridge.elicitation import unattended
from dcc_bridge.elicitation.audience import Audience, label, name
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.policy import Stage, Surface
from dcc_bridge.elicitation.question import (
    Expired,
    HandOver,
    Heard,
    HostPresenter,
    Presenter,
    Question,
    Reply,
    Unable,
)
from dcc_bridge.elicitation.schema import InvalidAnswer
from dcc_bridge.elicitation.showing import Showing
from dcc_bridge.elicitation.types import (
    BRIDGE_CLOSED,
    CANCELLED,
    DECLINED,
    INVALID_ANSWER,
    TIMED_OUT,
    ElicitationResponse,
)

log = logging.getLogger(__name__)
Undo = Callable[[], None]
Clock = Callable[[float, Callable[[], None]], Undo]

TOO_FAST: Final = 0.3
"""Seconds in which no person reads a question: a client that declines sooner did not show it."""
_MOVED: Final = "handed_over"
_REFUSED: Final = ElicitationResponse(False, None, DECLINED, "decline", "policy")


@dataclass(eq=False)
class _Open:
    """A question that waits for an answer."""

    question: Question
    stages: deque[Stage]
    future: Future[ElicitationResponse] = field(default_factory=Future)
    showings: list[Showing] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    settled: bool = False


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
    ) -> None:
        """Know the surfaces and the limits.

        Args:
            settings: What the studio allows; None for the defaults.
            host: Draws questions in the host, where a person sits there.
            clock: Calls back after some seconds, on any thread; gives what stops it.
            busy: Whether others wait for the one who asks, so that a client has less time.
        """
        self.settings = settings or Settings()
        self.audience = Audience(self.settings, host)
        self._clock = clock or timer
        self._busy = busy
        self._lock = threading.Lock()
        self._open: list[_Open] = []
        self._closed = False

    @property
    def open(self) -> list[Question]:
        """The questions that wait for an answer."""
        with self._lock:
            return [one.question for one in self._open]

    def ask(self, question: Question) -> Future[ElicitationResponse]:
        """Put a question to whoever may answer it.

        Returns:
            A future that always ends, with an answer that was validated. Cancelling it takes the
            question down.
        """
        one = _Open(question, deque(self.audience.stages(question)))
        one.future.add_done_callback(lambda _: self._clean_up(one))
        with self._lock:
            closed = self._closed
            if not closed:
                self._open.append(one)
        if closed:
            question.call.ended = BRIDGE_CLOSED
            _settle(one, _cancel(BRIDGE_CLOSED))
        elif question.call.ended is not None:
            _settle(one, _cancel(question.call.ended))
        elif self.audience.is_granted(question):
            _settle(one, _granted(question))
        else:
            self._next(one)
        return one.future

    def end(self, call: Call, message: str = CANCELLED) -> None:
        """End every open question of a call that nobody waits for any more."""
        call.ended = message
        with self._lock:
            ending = [one for one in self._open if one.question.call is call]
        for one in ending:
            _settle(one, _cancel(message))

    def close(self) -> None:
        """End every question; later ones end at once."""
        with self._lock:
            self._closed = True
            ending = list(self._open)
        for one in ending:
            _settle(one, _cancel(BRIDGE_CLOSED))

    # ---- showing

    def _next(self, one: _Open, unable: Unable | None = None) -> None:
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
            return
        if unable is not None and unable.ends:
            _settle(one, _cancel(unable.message))
        else:
            allow = self.settings.unattended == "allow"
            _settle(one, unattended.answer(one.question, allow=allow))

    def _show(self, one: _Open, showing: Showing) -> None:
        if showing.surface == "client":
            self._show_in_client(one, showing)
        else:
            self._book_host(one, showing)

    def _show_in_client(self, one: _Open, showing: Showing) -> None:
        limit = one.question.timeout or self.settings.client_deadline
        self._draw(one, showing, self.audience.channel(one.question), one.question, limit)
        self._hurry(one, showing)
        host = self.audience.host
        if host is not None and ("host",) in one.stages:
            showing.keep(
                host.chip(
                    one.question,
                    name(one.question.call),
                    lambda: self._leave(one, showing, _MOVED),
                    lambda: _settle(one, _closed_by_person()),
                )
            )

    def _hurry(self, one: _Open, showing: Showing) -> None:
        """Wait less long for a client while others wait for the one who asks."""

        def look() -> None:
            if self._busy():
                _settle(one, _cancel(TIMED_OUT))

        showing.keep_clock(self._clock(self.settings.busy_deadline, look))

    def _book_host(self, one: _Open, showing: Showing) -> None:
        """Show it in the host, in its turn: a client that asks too often has to wait."""
        who, limits = label(one.question.call), self.audience.limits
        delay = 0.0 if who is None else None if who in limits.muted else limits.book(who)
        if delay is None:
            _settle(one, _REFUSED)
        elif delay:
            asking = name(one.question.call)
            self._notify(f"{asking} asks too often: its next question has to wait.")
            showing.keep_clock(self._clock(delay, lambda: self._show_in_host(one, showing)))
        else:
            self._show_in_host(one, showing)

    def _show_in_host(self, one: _Open, showing: Showing) -> None:
        offers = self.audience.offers(one.question)
        question = replace(one.question, offers=offers)
        self._draw(one, showing, self.audience.host, question, offers.latest)

    def _draw(
        self,
        one: _Open,
        showing: Showing,
        presenter: Presenter | None,
        question: Question,
        limit: float,
    ) -> None:
        turn = showing.draw()
        if turn < 0:
            return
        showing.keep_clock(self._clock(limit, lambda: _settle(one, _cancel(TIMED_OUT))))
        try:
            if presenter is None:
                raise RuntimeError("the surface is gone")
            down = presenter.show(question, lambda heard: self._hear(one, showing, turn, heard))
            showing.keep(down)
        except Exception:  # a surface that fails must not take the question along
            log.exception("the question %s could not be shown", question.id)
            self._hear(one, showing, turn, Unable())

    # ---- hearing

    def _hear(self, one: _Open, showing: Showing, turn: int, heard: Heard) -> None:
        """Take what a surface says, unless the question moved on."""
        if one.future.done() or not showing.take(turn):
            return
        match heard:
            case Reply(action="accept"):
                self._accept(one, showing, heard)
            case Reply():
                self._refuse(one, showing, heard)
            case HandOver():
                self._hand_over(one, showing)
            case Expired():
                _settle(one, _cancel(TIMED_OUT))
            case Unable():
                self._give_up(one, showing, heard)

    def _accept(self, one: _Open, showing: Showing, reply: Reply) -> None:
        question = one.question
        try:
            data = question.form.check(reply.content) if question.form is not None else {}
        except InvalidAnswer as error:
            self._ask_again(one, showing, str(error))
            return
        offered = self.audience.offers(question).remember
        if reply.remember and showing.surface == "host" and offered is not None:
            self.audience.grants.allow(question.call, offered)
        _settle(one, ElicitationResponse(True, data, None, "accept", showing.surface))

    def _refuse(self, one: _Open, showing: Showing, reply: Reply) -> None:
        at_client, who = showing.surface == "client", label(one.question.call)
        too_fast = reply.action == "decline" and showing.age < TOO_FAST
        if at_client and too_fast and self._host_remains(one):
            self._give_up(one, showing, Unable())
            return
        if reply.mute and not at_client and who is not None:
            self.audience.limits.mute(who)
        message = DECLINED if reply.action == "decline" else CANCELLED
        _settle(one, ElicitationResponse(False, None, message, reply.action, showing.surface))

    @staticmethod
    def _host_remains(one: _Open) -> bool:
        """Whether the person at the host is asked too, or can still be."""
        with one.lock:
            now = any(showing.surface == "host" for showing in one.showings)
            return now or ("host",) in one.stages

    def _ask_again(self, one: _Open, showing: Showing, reason: str) -> None:
        if showing.retried:
            self._give_up(one, showing, Unable(INVALID_ANSWER, ends=True))
            return
        showing.retried = True
        one.question = replace(one.question, reason=f"That was not accepted: {reason}")
        showing.clear(INVALID_ANSWER)
        self._show(one, showing)

    def _give_up(self, one: _Open, showing: Showing, unable: Unable) -> None:
        if unable.lasting and showing.surface == "client":
            self.audience.silence(one.question.call)
        self._leave(one, showing, unable.message, unable)

    def _hand_over(self, one: _Open, showing: Showing) -> None:
        other: Surface = "host" if showing.surface == "client" else "client"
        with one.lock:
            if other not in [each.surface for each in one.showings]:
                one.stages.extendleft([(showing.surface,), (other,)])
        self._leave(one, showing, _MOVED)

    def _leave(self, one: _Open, showing: Showing, why: str, unable: Unable | None = None) -> None:
        """End one showing; after the last one of a stage comes the next stage."""
        with one.lock:
            if showing not in one.showings:
                return
            one.showings.remove(showing)
            last = not one.showings
        showing.end(why)
        if last:
            self._next(one, unable)

    def _notify(self, text: str) -> None:
        if self.audience.host is not None:
            self.audience.host.notice(text)

    def _clean_up(self, one: _Open) -> None:
        with self._lock:
            if one in self._open:
                self._open.remove(one)
        with one.lock:
            showings, one.showings = one.showings, []
        if not one.future.cancelled():
            _record(one.question, one.future.result())
        why = CANCELLED if one.future.cancelled() else one.future.result().message or "answered"
        for showing in showings:
            showing.end(why)


def _record(question: Question, answer: ElicitationResponse) -> None:
    """Write into the log what was asked and answered: forms hold no secrets."""
    call = question.call
    unverified = question.consent and answer.answered_by == "client"
    log.info(
        "call %s of %s for %s asked %r: %s by %s%s, %s, %r",
        call.id,
        call.skill,
        label(call) or "the host",
        question.message,
        answer.action,
        "unverified " if unverified else "",
        answer.answered_by,
        answer.message or "answered",
        answer.data,
    )


def timer(seconds: float, fn: Callable[[], None]) -> Undo:
    """Call back after some seconds on a thread of its own; gives what stops it."""
    clock = threading.Timer(seconds, fn)
    clock.daemon = True
    clock.start()
    return clock.cancel


def _cancel(message: str) -> ElicitationResponse:
    return ElicitationResponse(False, None, message, "cancel", "nobody")


def _closed_by_person() -> ElicitationResponse:
    return ElicitationResponse(False, None, CANCELLED, "cancel", "host")


def _granted(question: Question) -> ElicitationResponse:
    lone = question.form.lone_confirmation if question.form is not None else None
    return ElicitationResponse(True, {lone.name: True} if lone else {}, None, "accept", "grant")


def _settle(one: _Open, response: ElicitationResponse) -> None:
    """End a question; of several endings the first one counts."""
    with one.lock:
        if one.settled or not one.future.set_running_or_notify_cancel():
            return
        one.settled = True
    one.future.set_result(response)  # what is called then may wait for others: not under the lock
