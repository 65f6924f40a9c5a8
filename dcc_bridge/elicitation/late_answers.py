"""Late answers: a person answers a question when the call that asked it has ended. Any thread.

A call gets no answer if nobody gave one in time, or if its client no longer waits. The person may
still answer then. The answer changes nothing by itself: it stands for the same call made again, if
that asks the same about the same scene. Until then the question is *late*, in one of three states:

========  =========================================================================================
drawn     its card is in the host: the client left while the person had it before them, or the
          person opened it
expired   the time of the card is over; the host shows a notice, and the person may open the card
answered  the answer waits for the call
========  =========================================================================================
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from dcc_bridge.callbacks import CallLater, call_safely
from dcc_bridge.elicitation.question import (
    Expired,
    LateState,
    PresenterEvent,
    Question,
    Reply,
    Settle,
    Surface,
    TakeDown,
)
from dcc_bridge.elicitation.routing import Audience
from dcc_bridge.elicitation.text import span
from dcc_bridge.elicitation.types import CLOSED_BY_PERSON

log = logging.getLogger(__name__)

CARD_TTL_S: Final = 3600.0  # for which a question that expired can be opened
ANSWER_TTL_S: Final = 600.0  # for which an answer waits for its call
MAX_LATE_QUESTIONS: Final = 8  # of a client; the oldest one goes first
ANSWER_LATER: Final = (  # for the agent
    "The question stays open in the application. Once the person has answered it there, the same "
    "call with the same arguments gets the answer."
)
_REASON: Final = "The agent does not wait for this any more."
_PICKS_UP: Final = "It gets your answer when it makes the same call again."


def can_be_late(question: Question) -> bool:
    """Return whether an answer can stand for the same call made again. It raises nothing.

    That call must be known again, and the items too if something may be lost. A yes to what undo
    does not bring back is never late: it may be about files or the scene as a whole, and nothing
    tells whether they are still the same.
    """
    is_form = question.form is not None and question.page is None
    is_bound = question.consent is None or bool(question.consent.scene)
    is_known_again = is_bound and bool(question.call.repeat_key)
    return is_form and is_known_again and question.undoable


class Card:
    """A card in the host that outlives its call. A `Presenter` of the same question asked again.

    Attributes:
        take_down: Takes the card down.
    """

    def __init__(self, take_down: TakeDown = lambda reason: None) -> None:
        self.take_down = take_down
        self._lock = threading.Lock()
        self._settle: Settle | None = None
        self._event: PresenterEvent | None = None

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Let the card be the card of another question, which has the same content.

        Returns:
            A function that does nothing, as `take_down` takes the card down.
        """
        self.connect(settle)
        self.deliver()
        return lambda reason: None

    def connect(self, settle: Settle) -> None:
        """Let the event that ends the card go to another function. It calls nothing."""
        with self._lock:
            self._settle = settle

    def report(self, event: PresenterEvent) -> None:
        """Pass on the event that ends the card."""
        with self._lock:
            self._event = event
        self.deliver()

    def deliver(self) -> None:
        """Pass on the event that ended the card, if one did."""
        with self._lock:
            settle = self._settle
            event = self._event
        if settle is not None and event is not None:
            settle(event)


class LateQuestion:
    """A question whose call has ended. It changes under the lock of `LateQuestions`.

    Attributes:
        question: The question.
        card: The card that is drawn; None where none is.
        reply: The answer that waits for the call, or None.
        take_downs: Take the notice down, and stop the timer, at the end of its state.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.card: Card | None = None
        self.reply: Reply | None = None
        self.take_downs: list[TakeDown] = []

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """The surfaces that draw the question."""
        if self.card is None:
            return ()
        return ("host",)


class LateQuestions:
    """The late questions of a bridge."""

    def __init__(self, audience: Audience, clock: CallLater, changed: Callable[[], None]) -> None:
        """Begin without a question.

        Args:
            audience: Knows the host, and what a person may do with a question there.
            clock: Calls a function after some seconds.
            changed: Called after each change of `asked`.
        """
        self._audience = audience
        self._host = audience.host
        self._clock = clock
        self._changed = changed
        self._lock = threading.Lock()
        self._late: list[LateQuestion] = []

    @property
    def asked(self) -> list[tuple[Question, tuple[Surface, ...]]]:
        """The late questions, the oldest first, each with the surfaces that draw it."""
        with self._lock:
            return [(late.question, late.surfaces) for late in self._late]

    def keep(self, question: Question, card: Card | None) -> None:
        """Keep a question whose call has ended.

        Args:
            question: The question; `can_be_late` holds for it.
            card: The card of a client that no longer waits, drawn as it is; None for an expired
                question.
        """
        if self._host is None:
            return
        late = LateQuestion(question)
        late.card = card
        for earlier in self._add(late):
            self._end(earlier, "asked again")
        if card is None:
            self._put_away(late)
            return
        is_kept = self._set_state(late, "drawn")
        card.deliver()
        if is_kept:
            notice = self._host.notice(f"{_asker(question)} no longer waits. {_PICKS_UP}")
            self._attach(late, notice)

    def claim(self, question: Question) -> LateQuestion | None:
        """Take out the late question that is the same as one that is asked now.

        A question that expired has neither an answer nor a card, and ends here.

        Returns:
            The late question, with its answer or its card; None if there is none.
        """
        if not can_be_late(question):
            return None
        late = self._take_out(question)
        if late is None:
            return None
        self._clear(late, "asked again")
        self._changed()
        if late.card is None and late.reply is None:
            return None
        return late

    def put_back(self, late: LateQuestion) -> None:
        """Keep a late question that was claimed, and that nobody could go on with."""
        for earlier in self._add(late):
            self._end(earlier, "asked again")
        state: LateState = "drawn"
        if late.reply is not None:
            state = "answered"
        self._set_state(late, state)
        if late.card is not None:
            late.card.deliver()

    def drop_same(self, question: Question) -> None:
        """End the late question that is the same as one that needs no answer any more."""
        late = self._take_out(question)
        if late is not None:
            self._end(late, "answered")

    def open(self, id: str) -> None:
        """Draw the card of a question that expired; nothing happens if there is none."""
        late = self._find(id)
        if late is None or self._host is None:
            return
        card = Card()
        with self._lock:
            if late not in self._late or late.question.late != "expired":
                return
            late.card = card
            card.connect(partial(self._handle, late))
        self._set_state(late, "drawn")
        offers = self._audience.offers(late.question)
        offers = replace(offers, hand_over=None, remember=None, is_wanted=True)
        question = replace(late.question, reason=f"{_REASON} {_PICKS_UP}", offers=offers)
        card.take_down = self._host.show(question, card.report)

    def drop(self, id: str) -> None:
        """End a late question, as the person wants; nothing happens if there is none."""
        late = self._find(id)
        if late is not None:
            self._put_off(late)

    def close(self) -> None:
        """End every late question."""
        with self._lock:
            late_questions = list(self._late)
        for late in late_questions:
            self._drop(late)

    def _find(self, id: str) -> LateQuestion | None:
        with self._lock:
            for late in self._late:
                if late.question.id == id:
                    return late
        return None

    def _take_out(self, question: Question) -> LateQuestion | None:
        """Take out the late question that is the same as another question, if there is one."""
        with self._lock:
            for late in self._late:
                if _content(late.question) == _content(question):
                    self._late.remove(late)
                    return late
        return None

    def _add(self, late: LateQuestion) -> list[LateQuestion]:
        """Add a question, and return those that make room for it."""
        with self._lock:
            same = [it for it in self._late if _content(it.question) == _content(late.question)]
            own = [it for it in self._late if _asker(it.question) == _asker(late.question)]
            surplus = own[: max(0, len(own) + 1 - MAX_LATE_QUESTIONS)]
            gone = list(dict.fromkeys([*same, *surplus]))
            self._late = [it for it in self._late if it not in gone]
            self._late.append(late)
            if late.card is not None:
                late.card.connect(partial(self._handle, late))
        return gone

    def _handle(self, late: LateQuestion, event: PresenterEvent) -> None:
        """Handle the event that ends the card of a late question, unless a call has claimed it."""
        match event:
            case Expired():
                self._put_away(late)
            case Reply(action="accept" | "decline"):
                self._keep_answer(late, event)
            case Reply():
                self._put_off(late)
            case _:
                self._drop(late)

    def _keep_answer(self, late: LateQuestion, reply: Reply) -> None:
        """Let an answer wait for the call."""
        question = late.question
        with self._lock:
            if late not in self._late:
                return
            card = late.card
            late.card = None
            late.reply = replace(reply, mute=False)
        if reply.mute and question.call.client is not None:
            self._audience.limits.mute(question.call.client.label)
        _take_down(card, "answered")
        is_kept = self._set_state(late, "answered")
        if is_kept and self._host is not None:
            kept = f"Your answer is kept for {span(ANSWER_TTL_S)}"
            until = f"until {_asker(question)} makes the same call again."
            self._attach(late, self._host.notice(f"{kept}, {until}"))

    def _put_away(self, late: LateQuestion) -> None:
        """Show a notice in place of the card."""
        with self._lock:
            if late not in self._late:
                return
            card = late.card
            late.card = None
        _take_down(card, "timed_out")
        is_kept = self._set_state(late, "expired")
        if not is_kept or self._host is None:
            return
        id = late.question.id
        try:
            chip = self._host.chip(
                late.question,
                _asker(late.question),
                lambda: call_safely(self.open, id),
                lambda: self.drop(id),
            )
        except Exception:  # the panel lists the question all the same
            log.exception("no notice could be shown for the question %s", id)
        else:
            self._attach(late, chip)

    def _set_state(self, late: LateQuestion, state: LateState) -> bool:
        """Change the state of a late question, which ends after some seconds.

        Returns:
            Whether the question is still late; False where a call has claimed it by now.
        """
        with self._lock:
            if late not in self._late:
                return False
            late.question = replace(late.question, late=state)
        self._clear(late, state)
        seconds = ANSWER_TTL_S if state == "answered" else CARD_TTL_S
        stop = self._clock(seconds, partial(self._drop, late))
        self._attach(late, lambda reason: stop())
        self._changed()
        return self._find(late.question.id) is late

    def _attach(self, late: LateQuestion, take_down: TakeDown) -> None:
        """Register a function that ends with the state of a late question; at once if it ended."""
        with self._lock:
            if late in self._late:
                late.take_downs.append(take_down)
                return
        call_safely(take_down, "asked again")

    def _clear(self, late: LateQuestion, reason: str) -> None:
        """End the state of a late question: take its notice down, and stop its timer."""
        with self._lock:
            take_downs = late.take_downs
            late.take_downs = []
        for take_down in take_downs:
            call_safely(take_down, reason)

    def _put_off(self, late: LateQuestion) -> None:
        """End a late question that the person does not want to answer, and note that."""
        with self._lock:
            if late not in self._late:
                return
        call_safely(late.question.call.note_late, late.question.answered(CLOSED_BY_PERSON))
        self._drop(late)

    def _drop(self, late: LateQuestion) -> None:
        with self._lock:
            if late not in self._late:
                return
            self._late.remove(late)
        self._end(late, "cancelled")

    def _end(self, late: LateQuestion, reason: str) -> None:
        self._clear(late, reason)
        _take_down(late.card, reason)
        self._changed()


def _take_down(card: Card | None, reason: str) -> None:
    if card is not None:
        call_safely(card.take_down, reason)


def _asker(question: Question) -> str:
    """Return the name under which a person knows the client that asked."""
    if question.call.client is None:
        return "the agent"
    return question.call.client.label


def _content(question: Question) -> object:
    """Return all by which a question of the same call made again is known."""
    call = question.call
    schema = None
    if question.form is not None:
        schema = question.form.schema
    text = None
    if question.details is not None:
        text = question.details.sha256
    scene = ""
    if question.consent is not None:
        # Consents that tell a person the same are equal, whatever the state of the scene.
        scene = question.consent.scene
    asking = (_asker(question), call.skill, call.digest, call.repeat_key)
    return (asking, question.message, schema, text, question.consent, scene)
