"""The broker ends every question, once, and by the right one."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dcc_bridge.audit.log import Event
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.question import Consent, PresenterEvent, Question, Reply, Unable
from dcc_bridge.elicitation.routing import FixedAnswers
from dcc_bridge.elicitation.types import NOT_RECORDED
from dcc_bridge.errors import NotRecorded
from tests.elicitation.brokers import FORM, NO, WRONG, YES, ask
from tests.stand_ins import Person


def full_disk(*events: Event, durable: bool = False) -> None:
    """Be an auditor that can write nothing."""
    raise NotRecorded("No space left on device.")


def test_a_valid_answer_ends_it_and_the_clock_stops() -> None:
    person = Person(YES)

    future, clock, broker = ask(host=person)

    assert future.result(0).data == {"confirm": True}
    assert future.result(0).answered_by == "host"
    assert clock.waiting == []
    assert broker.open == []
    assert person.taken_down == ["answered"]


def test_an_invalid_answer_is_asked_again_once_with_the_reason() -> None:
    person = Person(WRONG, YES)

    future, clock, _ = ask(host=person)

    assert future.result(0).accepted
    assert "confirm: expected yes or no" in (person.shown[1].reason or "")
    assert clock.waiting == []


def test_wrong_answers_everywhere_are_a_cancel_and_never_the_fallback() -> None:
    person = Person(WRONG, WRONG)

    future, _, _ = ask(host=person, fallback={"confirm": True})

    assert future.result(0).message == "invalid_answer"
    assert not future.result(0).accepted


@pytest.mark.parametrize("surface", ["host", "client"])
def test_nobody_is_asked_for_a_consent_that_could_not_be_recorded(surface: str) -> None:
    person: Any = Person(YES)

    future, clock, broker = ask(auditor=full_disk, consent=Consent(("cam1",)), **{surface: person})

    assert (future.result(0).message, future.result(0).accepted) == (NOT_RECORDED, False)
    assert person.shown == []
    assert (clock.waiting, broker.open) == ([], [])


@pytest.mark.parametrize("surface", ["host", "client"])
def test_what_is_no_consent_is_asked_without_a_record(surface: str) -> None:
    person: Any = Person(YES)

    future, _, _ = ask(auditor=full_disk, **{surface: person})

    assert future.result(0).accepted


@pytest.mark.parametrize("events", [[Unable()], [WRONG, WRONG]], ids=["unable", "wrong twice"])
def test_a_client_that_cannot_show_it_or_answers_wrongly_falls_through_to_the_host(
    events: list[PresenterEvent],
) -> None:
    future, _, _ = ask(client=Person(*events), host=Person(YES))

    assert future.result(0).answered_by == "host"


def test_a_surface_that_fails_does_not_take_the_question_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(question: Question) -> None:
        raise RuntimeError("no screen")

    future, _, _ = ask(client=Person(broken), host=Person(YES))

    assert future.result(0).accepted
    assert "no screen" in caplog.text


@pytest.mark.parametrize(("allow", "by"), [(False, "fallback"), (True, "policy")])
def test_a_fallback_is_labelled(allow: bool, by: str) -> None:
    settings = Settings(unattended="allow" if allow else "refuse")
    future, _, _ = ask(fallback={"confirm": True}, consent=Consent(), settings=settings)

    answer = future.result(0)

    assert (answer.accepted, answer.answered_by) == (True, by)
    assert answer.message == "fallback_values_used"


def test_the_deadline_is_a_cancel_and_never_the_fallback() -> None:
    person = Person(None)
    future, clock, _ = ask(host=person, fallback={"confirm": True})

    clock.strike()
    person.settles[0](YES)  # too late

    assert future.result(0).message == "timed_out"
    assert not future.result(0).accepted
    assert person.taken_down == ["timed_out"]


def test_an_answer_to_the_first_showing_does_not_count_for_the_second() -> None:
    person = Person(WRONG, None)
    future, _, _ = ask(host=person)

    person.settles[0](YES)

    assert not future.done()


def test_a_call_that_ended_takes_its_questions_along_and_asks_no_more() -> None:
    person = Person(None)
    future, _, broker = ask(host=person)
    call = person.shown[0].call

    broker.end(call)
    later = broker.ask(Question("Again?", call, FORM))

    assert future.result(0).message == "cancelled"
    assert later.result(0).message == "cancelled"
    assert len(person.shown) == 1


def test_closing_ends_every_question_and_later_ones_at_once() -> None:
    person = Person()
    future, _, broker = ask(host=person)

    broker.close()
    later = broker.ask(Question("Again?", Call("x", "X"), FORM))

    assert future.result(0).message == later.result(0).message == "bridge_closed"
    assert person.taken_down == ["bridge_closed"]


def test_a_caller_who_gives_up_takes_the_question_down() -> None:
    person = Person(None)
    future, clock, broker = ask(host=person)

    future.cancel()

    assert broker.open == []
    assert clock.waiting == []
    assert person.taken_down == ["cancelled"]


def test_of_many_answers_at_once_one_counts() -> None:
    for _ in range(50):
        person = Person(None)
        future, clock, _ = ask(host=person)
        rivals = [lambda: person.settles[0](YES), clock.strike, future.cancel]  # noqa: B023
        threads = [threading.Thread(target=rival) for rival in rivals]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)

        assert future.done()
        assert len(person.taken_down) == 1


def test_what_was_asked_and_answered_can_be_read_back_from_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "dcc_bridge")

    ask(host=Person(YES))
    ask(host=Person(Reply("cancel")))
    ask(client=Person(YES), consent=Consent())

    told = [message.partition(": ")[2] for message in caplog.messages]
    assert told == [
        *("asked ", "answered host"),
        *("asked ", "cancelled host"),
        *("asked ", "granted unverified client"),
    ]


def test_a_question_that_has_no_other_surface_stays_where_it_is() -> None:
    client = Person()
    _, _, broker = ask(client=client)

    broker.bring(broker.open[0])

    assert [at for _, at in broker.asked] == [("client",)]
    assert not client.taken_down


def test_a_question_can_be_dismissed_wherever_it_is() -> None:
    future, _, broker = ask(client=Person())
    (question,) = broker.open

    broker.dismiss(question)
    broker.dismiss(question)

    assert (future.result().action, future.result().answered_by) == ("cancel", "host")
    assert not broker.asked


@pytest.mark.parametrize("covered", [True, False])
def test_who_made_the_broker_may_say_what_is_agreed_to_before_anybody_is_asked(
    covered: bool,
) -> None:
    person, seen = Person(NO), list[Question]()

    def covers(question: Question) -> bool:
        seen.append(question)
        return covered

    future, _, _ = ask(host=person, consent=Consent(("cam1",)), grants=FixedAnswers(covers))

    assert [it.items for it in seen] == [("cam1",)]
    assert future.result(0).accepted is covered
    assert future.result(0).answered_by == ("grant" if covered else "host")
    assert len(person.shown) == (not covered)
