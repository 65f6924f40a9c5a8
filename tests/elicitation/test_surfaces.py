"""Two surfaces, one question: who is asked, who hands over, who is heard no more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.question import (
    Consent,
    HandOver,
    PresenterEvent,
    Question,
    Route,
    Unable,
)
from tests.elicitation.brokers import CLAUDE, FORM, NO, YES, Time, ask, ask_both
from tests.stand_ins import Person


def test_a_question_at_the_client_leaves_a_chip_at_the_host() -> None:
    host, client = Person(YES), Person(None)
    future, _, _ = ask(host=host, client=client)

    (chip,) = host.chips
    chip.answer_here()

    assert chip.where == "claude"
    assert future.result(0).answered_by == "host"
    assert client.taken_down == ["handed_over"]
    assert chip.taken_down == ["handed_over"]


def test_with_either_a_client_that_cannot_take_its_question_back_is_asked_first() -> None:
    host, client = Person(None), Person(None)

    ask(host=host, client=client, settings=Settings(input="either"))

    assert (len(client.shown), len(host.shown), len(host.chips)) == (1, 0, 1)


def test_a_chip_that_cannot_be_shown_leaves_the_question_with_the_client() -> None:
    class Broken(Person):
        def chip(self, *_: Any) -> Any:
            raise RuntimeError("no window")

    future, _, _ = ask(host=Broken(), client=Person(YES))

    assert future.result(0).answered_by == "client"


def test_the_chip_goes_when_the_client_answers() -> None:
    host = Person()

    ask(host=host, client=Person(YES))

    assert host.chips[0].taken_down == ["answered"]


def test_a_person_may_cancel_from_the_chip() -> None:
    host = Person()
    future, _, _ = ask(host=host, client=Person(None))

    host.chips[0].cancel()

    assert future.result(0).message == "cancelled"
    assert future.result(0).answered_by == "host"


@pytest.mark.long
def test_answer_here_and_the_clients_answer_in_the_same_moment_give_one_outcome() -> None:
    for _ in range(1000):
        host, client = Person(YES), Person(None)
        future, clock, broker = ask(host=host, client=client)

        race(host.chips[0].answer_here, lambda: client.settles[0](YES))  # noqa: B023

        assert future.result(5).accepted
        assert broker.open == []
        assert clock.waiting == []


@pytest.mark.parametrize(("event", "by"), [(YES, "client"), (Unable(), "host")])
def test_a_dialog_hands_over_to_the_client_and_gets_back_what_that_cannot_show(
    event: PresenterEvent, by: str
) -> None:
    host, client = Person(HandOver(), YES), Person(event)

    future, _, _ = ask(host=host, client=client, settings=Settings(input="host"))

    assert host.shown[0].offers.hand_over == "claude"
    assert future.result(0).answered_by == by
    assert len(client.shown) == 1
    assert host.taken_down == (["handed_over", "answered"] if by == "host" else ["handed_over"])


def test_consent_is_not_handed_over() -> None:
    host = Person(None)

    ask(host=host, client=Person(), consent=Consent())

    assert host.shown[0].offers.hand_over is None


@pytest.mark.parametrize("winner", ["host", "client"])
def test_with_either_a_legacy_client_and_the_host_are_asked_at_once(winner: str) -> None:
    host, client = Person(None), Person(None)
    future, clock, _ = ask_both(host, client)

    (host if winner == "host" else client).settles[0](YES)
    (client if winner == "host" else host).settles[0](NO)

    assert future.result(0).answered_by == winner
    assert host.taken_down == client.taken_down == ["answered"]
    assert clock.waiting == []


@pytest.mark.long
def test_of_two_answers_in_the_same_moment_one_counts() -> None:
    for _ in range(1000):
        host, client = Person(None), Person(None)
        future, _, broker = ask_both(host, client)

        race(lambda: host.settles[0](YES), lambda: client.settles[0](YES))  # noqa: B023

        assert future.result(0).accepted
        assert host.taken_down == client.taken_down == ["answered"]
        assert broker.open == []


def race(one: Callable[[], None], other: Callable[[], None]) -> None:
    """Call both in the same moment, on two threads."""
    together = threading.Barrier(2)

    def run() -> None:
        together.wait(5)
        other()

    thread = threading.Thread(target=run)
    thread.start()
    together.wait(5)
    one()
    thread.join(5)


def test_a_fast_decline_does_not_take_the_dialog_from_the_person_who_is_asked_too() -> None:
    host, client = Person(None), Person(None)
    future, _, _ = ask_both(host, client)

    client.settles[0](NO)
    waits = not future.done()
    host.settles[0](YES)

    assert waits
    assert future.result(0).answered_by == "host"


def test_a_client_that_never_can_is_not_asked_again() -> None:
    host, client = Person(YES, YES), Person(Unable(lasting=True))
    _, _, broker = ask(host=host, client=client)

    broker.ask(Question("Again?", Call("x", "X", client=CLAUDE, route=Route(client)), FORM))

    assert len(client.shown) == 1
    assert len(host.shown) == 2


@pytest.mark.parametrize("surface", ["host", "client"])
@pytest.mark.parametrize(
    ("timeout", "seconds"), [(None, 300.0), (7.0, 7.0)], ids=["the settings'", "the skill's own"]
)
def test_a_question_waits_five_minutes_on_every_surface(
    surface: str, timeout: float | None, seconds: float
) -> None:
    person: Any = Person(None)

    ask(timeout=timeout, **{surface: person})

    assert [question.offers.soon for question in person.shown] == [seconds]


def test_a_question_at_the_host_that_nobody_can_see_ends_after_an_hour() -> None:
    """The time of the dialog stands still, but no call is kept for ever."""
    person = Person(None)

    future, clock, _ = ask(host=person)

    assert [seconds for seconds, _ in clock.waiting] == [3600.0]
    clock.strike()
    assert future.result(0).message == "timed_out"


@pytest.mark.parametrize(
    ("surface", "until"),
    [("client", ", until {at} at the latest"), ("host", "")],
)
def test_others_who_wait_for_an_answer_are_told_for_whose_and_until_when_if_that_is_known(
    surface: str, until: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of a dialog in the host stands still while nobody can see it."""
    now = Time()
    monkeypatch.setattr("time.monotonic", now)
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0 + now.now)
    person: Any = Person(None)
    future, _, broker = ask(**{surface: person})
    (question,) = broker.open

    now.now = 290.0
    told = broker.held_up(question.call)

    at = time.strftime("%H:%M:%S", time.localtime(1_800_000_300.0))
    assert told == "the answer to a question of claude" + until.format(at=at)
    assert not future.done()
