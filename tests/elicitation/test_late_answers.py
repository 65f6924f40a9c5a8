"""A person can still answer when the call has ended: for the same call made again, and no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.audit.log import Event
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.late_answers import ANSWER_TTL_S, CARD_TTL_S, MAX_LATE_QUESTIONS
from dcc_bridge.elicitation.question import (
    Caller,
    Consent,
    Expired,
    Question,
    Reply,
    Route,
    Settle,
    TakeDown,
)
from dcc_bridge.elicitation.routing import FixedAnswers
from tests.elicitation.brokers import CLAUDE, FORM, YES, Clock
from tests.stand_ins import Person

CONSENT = Consent(("cam1",), scene="shot_010, as it is")


def asked(
    consent: Consent | None = CONSENT, message: str = "Delete cam1?", **call: Any
) -> Question:
    """Make the question of a call that its client can make again."""
    facts: dict[str, Any] = {"skill": "delete", "client": CLAUDE, "repeat_key": "cam1", **call}
    return Question(message, Call(title="Delete", **facts), FORM, consent=consent)


class Room:
    """A person at a host, and a broker whose clock stands still."""

    def __init__(self, **broker: Any) -> None:
        self.person = Person()
        self.clock = Clock()
        self.broker = Broker(host=self.person, clock=self.clock, **broker)

    def expire(self, question: Question) -> Any:
        """Ask a question, and let its time in the dialog pass."""
        future = self.broker.ask(question)
        self.person.settles[-1](Expired())
        assert future.result(0).message == "timed_out"
        return self.person.chips[-1]

    def leave(self, question: Question) -> Any:
        """Ask a question, and let its client stop waiting."""
        future = self.broker.ask(question)
        self.broker.end(question.call, is_left=True)
        assert future.result(0).message == "cancelled"
        return self.person.settles[-1]

    def strike(self, seconds: float) -> None:
        """Let all timers of so many seconds run out."""
        for after, fn in list(self.clock.waiting):
            if after == seconds:
                fn()

    @property
    def states(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(question.late, surfaces) for question, surfaces in self.broker.asked]


@pytest.fixture
def room() -> Room:
    return Room()


def test_a_question_whose_time_is_over_can_be_opened_and_its_answer_waits_for_the_call(
    room: Room,
) -> None:
    chip = room.expire(asked())
    expired = room.states
    chip.answer_here()
    opened = room.states
    room.person.settles[-1](YES)
    answered = room.states
    answer = room.broker.ask(asked()).result(0)

    assert expired == [("expired", ())]
    assert opened == [("drawn", ("host",))]
    assert answered == [("answered", ())]
    assert (answer.accepted, answer.answered_by, answer.data) == (True, "host", {"confirm": True})
    assert room.states == []
    assert len(room.person.shown) == 2
    assert room.clock.waiting == []


def test_an_opened_card_says_that_nobody_waits_and_comes_before_all_others(room: Room) -> None:
    room.expire(asked()).answer_here()

    opened = room.person.shown[-1]
    assert "does not wait for this any more" in (opened.reason or "")
    assert opened.offers.is_wanted
    assert (opened.offers.soon, opened.offers.latest, opened.offers.mute) == (300, 3600, "claude")


def test_an_answer_is_given_once(room: Room) -> None:
    room.expire(asked()).answer_here()
    room.person.settles[-1](YES)
    room.broker.ask(asked())

    again = room.broker.ask(asked())

    assert not again.done()


def test_a_refusal_waits_for_the_call_with_its_reason(room: Room) -> None:
    room.expire(asked()).answer_here()
    room.person.settles[-1](Reply("decline", reason="not today"))

    answer = room.broker.ask(asked()).result(0)

    assert (answer.action, answer.reason, answer.answered_by) == ("decline", "not today", "host")


def test_the_notice_of_a_kept_answer_goes_as_the_call_fetches_the_answer(room: Room) -> None:
    room.expire(asked()).answer_here()
    room.person.settles[-1](YES)
    notices, gone = list(room.person.notices), list(room.person.gone_notices)

    room.broker.ask(asked()).result(0)

    assert ["Your answer is kept" in notice for notice in notices] == [True]
    assert gone == []
    assert room.person.gone_notices == notices


OTHERS = {
    "client": asked(client=Client("cursor")),
    "skill": asked(skill="delete_all"),
    "file of the skill": asked(digest="changed"),
    "arguments": asked(repeat_key="cam2"),
    "message": asked(message="Delete cam1 and cam2?"),
    "items": asked(replace(CONSENT, items=("cam2",))),
    "scene": asked(replace(CONSENT, scene="shot_010, as somebody changed it")),
    "files": asked(replace(CONSENT, undoable=False, files=(Path("/shots/a.usda"),))),
    "what undo brings back": asked(replace(CONSENT, undoable=False)),
    "kind of question": asked(None),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_yes_holds_for_no_other_question(other: Question, room: Room) -> None:
    room.expire(asked()).answer_here()
    room.person.settles[-1](YES)

    answer = room.broker.ask(other)

    assert not answer.done()
    assert room.person.shown[-1].id == other.id


@pytest.mark.parametrize(
    "question",
    [
        asked(repeat_key=""),
        asked(replace(CONSENT, scene="")),
        asked(replace(CONSENT, undoable=False, files=(Path("/shots/a.usda"),))),
        asked(replace(CONSENT, undoable=False, items=())),
    ],
    ids=[
        "a call that cannot be made again",
        "an unknown scene",
        "files, which may have other contents by then",
        "a scene as a whole, which may have other contents by then",
    ],
)
def test_what_could_not_be_known_again_ends_with_its_time(question: Question, room: Room) -> None:
    future = room.broker.ask(question)
    room.person.settles[-1](Expired())

    assert future.result(0).message == "timed_out"
    assert (room.states, room.person.chips) == ([], [])


def test_an_input_can_be_answered_late_too(room: Room) -> None:
    room.expire(asked(None)).answer_here()
    room.person.settles[-1](YES)

    assert room.broker.ask(asked(None)).result(0).data == {"confirm": True}


def test_a_question_that_expires_in_its_client_is_offered_at_the_host(room: Room) -> None:
    client = Person()
    question = asked(None, route=Route(client))
    room.broker.ask(question)
    room.strike(300.0)

    assert room.states == [("expired", ())]
    assert client.taken_down == ["timed_out"]
    assert len(room.person.chips) == 2  # it waited in the client, and now for the person


def test_a_card_stays_when_its_client_stops_waiting_and_its_answer_waits_for_the_call(
    room: Room,
) -> None:
    settle = room.leave(asked())
    stays = (room.states, list(room.person.taken_down))
    settle(YES)
    answer = room.broker.ask(asked()).result(0)

    assert stays == ([("drawn", ("host",))], [])
    assert room.person.notices[0] == (
        "claude no longer waits. It gets your answer when it makes the same call again."
    )
    assert (answer.accepted, answer.answered_by) == (True, "host")
    assert len(room.person.shown) == 1


def test_a_call_made_again_goes_on_with_the_card_that_is_still_there(room: Room) -> None:
    settle = room.leave(asked())

    second = room.broker.ask(asked())
    waiting = room.states
    settle(YES)

    assert waiting == [("", ("host",))]
    assert second.result(0).accepted
    assert len(room.person.shown) == 1
    assert room.person.taken_down == ["answered"]


def test_a_card_outlives_as_many_clients_as_stop_waiting(room: Room) -> None:
    settle = room.leave(asked())
    for _ in range(3):
        call = asked()
        room.broker.ask(call)
        room.broker.end(call.call, is_left=True)

    last = room.broker.ask(asked())
    settle(YES)

    assert last.result(0).accepted
    assert len(room.person.shown) == 1


def test_a_card_that_stayed_expires_by_its_own_time(room: Room) -> None:
    room.leave(asked())(Expired())

    assert room.states == [("expired", ())]
    assert room.person.taken_down == ["timed_out"]


def test_a_call_that_its_client_cancels_takes_the_card_along(room: Room) -> None:
    question = asked()
    room.broker.ask(question)

    room.broker.end(question.call)

    assert room.states == []
    assert room.person.taken_down == ["cancelled"]


@pytest.mark.parametrize("seconds", [CARD_TTL_S, ANSWER_TTL_S])
def test_neither_a_card_nor_an_answer_is_kept_for_ever(seconds: float, room: Room) -> None:
    chip = room.expire(asked())
    if seconds == ANSWER_TTL_S:
        chip.answer_here()
        room.person.settles[-1](YES)

    room.strike(seconds)

    assert room.states == []
    assert not room.broker.ask(asked()).done()


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_person_can_put_it_away_for_good(is_answered: bool, room: Room) -> None:
    """Also an answer that still waits: a yes can be taken back."""
    chip = room.expire(asked())
    if is_answered:
        chip.answer_here()
        room.person.settles[-1](YES)
    ((question, _),) = room.broker.asked

    room.broker.dismiss(question)

    assert room.states == []
    assert chip.taken_down
    assert not room.broker.ask(asked()).done()


def test_a_card_that_is_closed_without_an_answer_is_gone(room: Room) -> None:
    room.expire(asked()).answer_here()

    room.person.settles[-1](Reply("cancel"))

    assert room.states == []


def test_a_late_answer_that_does_not_fit_is_asked_for_again(room: Room) -> None:
    room.expire(asked(None)).answer_here()
    room.person.settles[-1](Reply("accept", {"confirm": "perhaps"}))

    again = room.broker.ask(asked(None))

    assert not again.done()
    assert "expected yes or no" in (room.person.shown[-1].reason or "")


def test_a_client_can_be_muted_from_a_late_card(room: Room) -> None:
    room.expire(asked()).answer_here()

    room.person.settles[-1](Reply("decline", mute=True))

    assert "claude" in room.broker.audience.limits.muted
    assert room.broker.ask(asked()).result(0).action == "decline"


def test_a_client_leaves_a_few_cards_at_most(room: Room) -> None:
    for number in range(MAX_LATE_QUESTIONS + 2):
        room.expire(asked(message=f"Delete cam{number}?"))

    messages = [question.message for question, _ in room.broker.asked]
    assert len(messages) == MAX_LATE_QUESTIONS
    assert messages[0] == "Delete cam2?"


def test_an_answer_is_there_for_a_call_that_is_made_again_while_its_card_goes(
    room: Room,
) -> None:
    again = []

    def show(question: Question, settle: Settle) -> TakeDown:
        room.person.settles.append(settle)
        return lambda reason: again.append(room.broker.ask(asked()))

    room.expire(asked())
    room.person.show = show  # type: ignore[method-assign]
    room.person.chips[-1].answer_here()
    room.person.settles[-1](YES)

    (future,) = again
    assert future.result(0).accepted
    assert room.states == []
    assert room.clock.waiting == []
    assert room.person.notices == []


def test_a_call_made_again_while_its_card_expires_leaves_no_notice(room: Room) -> None:
    again = []

    def show(question: Question, settle: Settle) -> TakeDown:
        room.person.settles.append(settle)
        return lambda reason: again.append(room.broker.ask(asked()))

    chip = room.expire(asked())
    room.person.show = show  # type: ignore[method-assign]
    chip.answer_here()
    room.person.settles[-1](Expired())

    (future,) = again
    assert not future.done()
    assert room.states == [("", ("host",))]
    assert room.person.chips == [chip]


def test_a_call_made_again_as_soon_as_its_card_is_late_gets_the_answer(room: Room) -> None:
    again = []

    def ask_again() -> None:
        if room.states == [("drawn", ("host",))]:
            again.append(room.broker.ask(asked()))

    room.broker.watch(ask_again)
    settle = room.leave(asked())
    settle(YES)

    (future,) = again
    assert future.result(0).accepted
    assert room.person.notices == []


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_call_that_ended_before_it_asks_again_leaves_the_question_as_it_is(
    is_answered: bool, room: Room
) -> None:
    settle = room.leave(asked())
    if is_answered:
        settle(YES)
    before = room.states
    ended = asked()
    ended.call.ending.reason = "cancelled"

    room.broker.ask(ended)
    after = room.states
    if not is_answered:
        settle(YES)

    assert after == before
    assert room.broker.ask(asked()).result(0).accepted


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_call_that_ends_as_it_asks_again_leaves_the_question_as_it_is(
    is_answered: bool, room: Room
) -> None:
    ending = asked()

    def end(question: Question) -> bool:
        if question.call is ending.call:
            room.broker.end(question.call)
        return False

    room.broker.audience.grants = FixedAnswers(end)
    settle = room.leave(asked())
    if is_answered:
        settle(YES)
    before = room.states

    room.broker.ask(ending)
    after = room.states
    if not is_answered:
        settle(YES)

    assert after == before
    assert room.broker.ask(asked()).result(0).accepted


@pytest.mark.parametrize("is_answered", [True, False])
def test_an_answer_for_the_session_takes_the_card_down(is_answered: bool) -> None:
    covered: list[Caller] = []
    room = Room(grants=FixedAnswers(lambda question: question.call in covered))
    settle = room.leave(asked())
    if is_answered:
        settle(YES)
    again = asked()
    covered.append(again.call)

    answer = room.broker.ask(again).result(0)

    assert answer.answered_by == "grant"
    assert room.states == []
    assert room.person.taken_down == ["answered"]
    assert room.clock.waiting == []


def test_a_card_goes_if_the_call_made_again_cannot_be_recorded() -> None:
    is_full = False

    def write(*written: Event, durable: bool = False) -> None:
        if is_full:
            raise OSError("the disk is full")

    room = Room(auditor=write)
    room.leave(asked())
    is_full = True

    answer = room.broker.ask(asked()).result(0)

    assert answer.message == "not_recorded"
    assert room.states == []
    assert room.person.taken_down == ["not_recorded"]


def test_closing_takes_every_late_card_and_notice_down(room: Room) -> None:
    chip = room.expire(asked())
    room.leave(asked(message="Another?"))

    room.broker.close()

    assert room.states == []
    assert chip.taken_down
    assert room.person.taken_down[-1] == "cancelled"


def test_a_late_yes_is_on_record_as_the_persons_before_the_call_hears_of_it() -> None:
    events: list[Event] = []

    def write(*written: Event, durable: bool = False) -> None:
        events.extend(written)

    room = Room(auditor=write)
    room.expire(asked()).answer_here()
    room.person.settles[-1](YES)
    room.broker.ask(asked())

    names = [name for name, _ in events]
    _, last = events[-1]
    assert names == ["asked", "timed_out", "granted"]
    assert (last["by"], last["late"], last["names"]) == ("host", True, ["cam1"])
