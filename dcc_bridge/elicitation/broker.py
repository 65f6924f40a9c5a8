"""The broker: it puts a question to whoever may answer it, and ends it, always.

A question is *open* from `ask` until its future is done, and one presenter at a time shows it.
Whatever happens is one of these, and the first one wins:

====================================  =========================================================
a valid answer                        the question ends with it
an invalid answer                     the same presenter asks once more, saying what was wrong;
                                      then the next surface is asked; then it is a cancel
the presenter cannot show it          the next surface is asked; after the last, unattended
the deadline                          a cancel, never an accept and never the fallback
its call ended, or the bridge closed  a cancel that says so
====================================  =========================================================

Every end runs the same clean-up, as a callback of the future: the presenter takes the question
down and the clock is stopped. Any thread; the state is under one lock, no callback is called
while it is held.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any, Protocol

from dcc_bridge.elicitation import policy, unattended
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.schema import Form, InvalidAnswer
from dcc_bridge.elicitation.types import (
    BRIDGE_CLOSED,
    CANCELLED,
    DECLINED,
    INVALID_ANSWER,
    NOT_SUPPORTED,
    TIMED_OUT,
    Action,
    AnsweredBy,
    ElicitationResponse,
)

log = logging.getLogger(__name__)
Undo = Callable[[], None]
Clock = Callable[[float, Callable[[], None]], Undo]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and all that a presenter needs to draw it.

    Attributes:
        message: A sentence; plain text.
        call: Whose question it is.
        form: What to fill in; None for a page.
        title: A heading, or None.
        url: A page to visit, or None.
        description: What happens on that page, or None.
        consent: The answer decides whether something is lost.
        key: Its name on the wire.
        fallback: The answer where nobody can be asked, or None.
        timeout: Seconds for an answer; None for the surface's own limit.
        reason: Why it is asked again, or None.
        items: What it is about: paths or names in the scene.
        kinds: The type of each item, as the host calls it; empty where nobody said.
        undoable: The host can undo what is agreed to, as one step.
        id: Its own.
    """

    message: str
    call: Call
    form: Form | None = None
    title: str | None = None
    url: str | None = None
    description: str | None = None
    consent: bool = False
    key: str = "answer"
    fallback: Mapping[str, Any] | None = None
    timeout: float | None = None
    reason: str | None = None
    items: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    undoable: bool = True
    id: str = field(default_factory=lambda: token_hex(4))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a presenter heard. Not trusted yet.

    Attributes:
        action: What the person did.
        content: The form's fields, where they accepted.
    """

    action: Action
    content: object = None


@dataclass(frozen=True, slots=True)
class Unable:
    """A presenter cannot show a question.

    Attributes:
        message: Why.
        ends: If no other surface can be asked, it is a cancel rather than unattended.
    """

    message: str = NOT_SUPPORTED
    ends: bool = False


Settle = Callable[["Reply | Unable"], None]


class Presenter(Protocol):
    """A surface on which questions are drawn."""

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        """Draw a question, and return at once.

        Args:
            question: What to draw.
            settle: To be called once with what came of it, on any thread.

        Returns:
            What takes the question down, given the reason. It may be called at any time and on
            any thread, also after an answer.
        """
        ...


@dataclass(eq=False)
class _Open:
    question: Question
    surfaces: deque[policy.Surface]
    future: Future[ElicitationResponse] = field(default_factory=Future)
    surface: policy.Surface | None = None
    showing: int = 0
    retried: bool = False
    take_down: Callable[[str], None] | None = None
    stop_clock: Undo | None = None
    settling: threading.RLock = field(default_factory=threading.RLock)


class Broker:
    """Puts questions to people and sees that each one ends."""

    def __init__(
        self,
        *,
        host: Presenter | None = None,
        clock: Clock | None = None,
        host_deadline: float = 45.0,
        client_deadline: float = 300.0,
        allow_unattended: bool = False,
    ) -> None:
        """Know the surfaces and the limits.

        Args:
            host: Draws questions in the host, where a person sits there.
            clock: Calls back after some seconds, on any thread; gives what stops it.
            host_deadline: Seconds for an answer in the host.
            client_deadline: Seconds for an answer in the client.
            allow_unattended: A declared fallback stands for consent where nobody can be asked.
        """
        self._host = host
        self._clock = clock or timer
        self._deadlines = {"host": host_deadline, "client": client_deadline}
        self._allow = allow_unattended
        self._lock = threading.Lock()
        self._open: list[_Open] = []
        self._closed = False

    @property
    def open(self) -> list[Question]:
        """The questions that wait for an answer."""
        with self._lock:
            return [one.question for one in self._open]

    def can_ask(self, call: Call, *, consent: bool, url: bool = False) -> bool:
        """Whether anybody could be asked on behalf of a call."""
        return bool(self._surfaces(call, consent=consent, url=url))

    def ask(self, question: Question) -> Future[ElicitationResponse]:
        """Put a question to whoever may answer it.

        Returns:
            A future that always ends, with an answer that was validated. Cancelling it takes the
            question down.
        """
        call = question.call
        found = self._surfaces(call, consent=question.consent, url=question.url is not None)
        one = _Open(question, deque(found))
        one.future.add_done_callback(lambda _: self._clean_up(one))
        with self._lock:
            if not self._closed:
                self._open.append(one)
        if self._closed:
            _settle(one, _cancel(BRIDGE_CLOSED))
        elif call.ended is not None:
            _settle(one, _cancel(call.ended))
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

    def _surfaces(self, call: Call, *, consent: bool, url: bool) -> tuple[policy.Surface, ...]:
        channel = call.url_channel if url else call.channel
        return policy.surfaces(
            consent=consent,
            host_ui=self._host is not None and not url,
            client=channel is not None,
        )

    def _presenter(self, one: _Open) -> Presenter | None:
        if one.surface == "host":
            return self._host
        call = one.question.call
        return call.channel if one.question.url is None else call.url_channel

    def _next(self, one: _Open, unable: Unable | None = None) -> None:
        """Ask the next surface; after the last one nobody is left."""
        if one.surfaces:
            one.surface = one.surfaces.popleft()
            self._show(one)
        elif unable is not None and unable.ends:
            _settle(one, _cancel(unable.message))
        else:
            _settle(one, unattended.answer(one.question, allow=self._allow))

    def _show(self, one: _Open) -> None:
        presenter = self._presenter(one)
        assert presenter is not None
        assert one.surface is not None
        one.showing += 1
        turn = one.showing
        limit = one.question.timeout or self._deadlines[one.surface]
        stop = self._clock(limit, lambda: _settle(one, _cancel(TIMED_OUT)))
        try:
            take_down = presenter.show(one.question, lambda heard: self._hear(one, turn, heard))
        except Exception:
            log.exception("the question %s could not be shown", one.question.id)
            stop()
            self._hear(one, turn, Unable())
            return
        with self._lock:
            still = not one.future.done() and one.showing == turn
            previous, one.stop_clock = one.stop_clock, stop if still else None
            if still:
                one.take_down = take_down
        if previous is not None:
            previous()
        if not still:
            stop()
            take_down(_why(one.future) if one.future.done() else INVALID_ANSWER)

    def _hear(self, one: _Open, turn: int, heard: Reply | Unable) -> None:
        """Take what a presenter says, unless the question moved on."""
        with self._lock:
            if one.future.done() or one.showing != turn:
                return
            one.showing += 1
        if isinstance(heard, Unable):
            self._next(one, heard)
        elif heard.action == "accept":
            self._accept(one, heard.content)
        else:
            message = DECLINED if heard.action == "decline" else CANCELLED
            _settle(one, ElicitationResponse(False, None, message, heard.action, _by(one)))

    def _accept(self, one: _Open, content: object) -> None:
        form = one.question.form
        try:
            data = form.check(content) if form is not None else {}
        except InvalidAnswer as error:
            self._ask_again(one, str(error))
        else:
            _settle(one, ElicitationResponse(True, data, None, "accept", _by(one)))

    def _ask_again(self, one: _Open, reason: str) -> None:
        one.question = replace(one.question, reason=reason)
        if not one.retried:
            one.retried = True
            self._show(one)
        else:
            self._next(one, Unable(INVALID_ANSWER, ends=True))

    def _clean_up(self, one: _Open) -> None:
        with self._lock:
            if one in self._open:
                self._open.remove(one)
            stop, take_down = one.stop_clock, one.take_down
            one.stop_clock = one.take_down = None
        if stop is not None:
            stop()
        if take_down is not None:
            take_down(_why(one.future))


def timer(seconds: float, fn: Callable[[], None]) -> Undo:
    """Call back after some seconds on a thread of its own; gives what stops it."""
    clock = threading.Timer(seconds, fn)
    clock.daemon = True
    clock.start()
    return clock.cancel


def _by(one: _Open) -> AnsweredBy:
    return "host" if one.surface == "host" else "client"


def _why(future: Future[ElicitationResponse]) -> str:
    return CANCELLED if future.cancelled() else future.result().message or "answered"


def _cancel(message: str) -> ElicitationResponse:
    return ElicitationResponse(False, None, message, "cancel", "nobody")


def _settle(one: _Open, response: ElicitationResponse) -> None:
    """End a question; of several endings the first one counts."""
    with one.settling:
        if one.future.done() or not one.future.set_running_or_notify_cancel():
            return
        one.future.set_result(response)
