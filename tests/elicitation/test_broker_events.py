"""What surfaces report to the broker, and what follows from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call, RunControl
from dcc_bridge.consent.grants import SessionGrants
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import (
    Consent,
    HandOver,
    Question,
    Reply,
    Route,
    Unable,
    Unreadable,
)
from dcc_bridge.errors import Busy
from dcc_bridge.known_clients import CLI_LABEL
from tests.elicitation.brokers import CLAUDE, FORM, WRONG, YES, Clock, ask, ask_both
from tests.stand_ins import Person


def question(call: Call | None = None, **more: Any) -> Question:
    return Question("Sure?", call or Call("x", "X"), FORM, **more)


def seconds(clock: Clock) -> list[float]:
    return sorted(seconds for seconds, _ in clock.waiting)


@pytest.mark.parametrize(("age", "by"), [(0.29, "host"), (0.31, "client")])
def test_a_decline_counts_once_a_person_can_have_read_the_question(
    age: float, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [time.monotonic()]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    client = Person(None)
    future, _, _ = ask(client=client, host=Person(YES))

    now[0] += age
    client.settles[0](Reply("decline"))

    assert future.result(0).answered_by == by


def test_a_decline_of_the_persons_own_command_counts_at_once() -> None:
    """`dcc-bridge call` draws each question, or was told the answer before."""
    host, call = Person(YES), Call("delete", "Delete", client=Client(CLI_LABEL))

    future, _, _ = ask(client=Person(Reply("decline")), host=host, call=call)

    assert (future.result(0).answered_by, future.result(0).action) == ("client", "decline")
    assert host.shown == []


def test_a_question_that_a_client_closed_at_once_is_closed() -> None:
    host = Person(YES)

    future, _, _ = ask(client=Person(Reply("cancel")), host=host)

    assert (future.result(0).answered_by, future.result(0).action) == ("client", "cancel")
    assert host.shown == []


def test_an_answer_of_no_known_type_is_asked_for_again_with_the_reason() -> None:
    person = Person()
    future, _, _ = ask(client=person)

    person.settles[0](Unreadable())
    person.settles[1](YES)

    assert future.result(0).accepted
    assert person.shown[1].reason == (
        "This answer was not accepted: "
        "each value must be a text, a number, yes or no, or a list of texts."
    )
    assert person.taken_down == ["invalid_answer", "answered"]


@pytest.mark.parametrize(
    ("surface", "timeout", "deadlines"),
    [
        ("client", None, [300]),
        ("client", 7.0, [7]),
        ("host", None, [3600]),  # the dialog itself ends sooner, by the time it could be seen
        ("host", 7.0, [7]),
    ],
)
def test_the_deadlines_are_those_of_the_surface_or_of_the_question(
    surface: str, timeout: float | None, deadlines: list[float]
) -> None:
    surfaces: dict[str, Any] = {surface: Person(None)}

    _, clock, _ = ask(**surfaces, timeout=timeout)

    assert seconds(clock) == deadlines


def test_a_clock_that_fails_ends_the_question(caplog: pytest.LogCaptureFixture) -> None:
    def broken(after: float, fn: Callable[[], None]) -> Callable[[], None]:
        raise RuntimeError("no timers left")

    broker = Broker(clock=broken)
    client = Person(None)

    future = broker.ask(question(Call("x", "X", client=CLAUDE, route=Route(client))))

    assert (future.result(0).accepted, future.result(0).answered_by) == (False, "nobody")
    assert "no timers left" in caplog.text
    assert client.shown == []


def test_an_answer_that_cannot_be_looked_at_ends_the_question(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(dict[str, Any]):
        def __contains__(self, key: object) -> bool:
            raise RuntimeError("no fields")

    future, _, broker = ask(host=Person(Reply("accept", Broken(confirm=True))))

    assert future.result(0).message == "surface_lost"
    assert broker.open == []
    assert "no fields" in caplog.text


def test_a_call_is_told_when_its_question_opens_and_who_answered() -> None:
    class Run(RunControl):
        told: list[Any] = []  # noqa: RUF012 - one run

        def question_opened(self) -> None:
            self.told.append("opened")

        def question_closed(self, answered: Any) -> None:
            self.told.append(answered.by)

    broker = Broker(host=Person(YES), clock=Clock())

    future = broker.ask(question(Call("x", "X", control=Run())))

    assert Run.told == ["opened", "host"]
    assert future.result(0).action == "accept"


def test_that_a_call_is_made_again_is_said_in_its_first_question_only() -> None:
    person = Person(YES, YES, YES)
    broker, call = Broker(host=person, clock=Clock()), Call("x", "X")

    call.dialogue.repeats = "The same call was made."
    broker.ask(question(call))
    broker.ask(question(call))
    call.dialogue.repeats = "The same call was made."
    broker.ask(question(call, reason="It changed."))

    assert [shown.reason for shown in person.shown] == [
        "The same call was made.",
        None,
        "It changed.",
    ]


def test_whoever_watches_hears_of_each_question_that_is_put_moves_or_ends() -> None:
    host, client, heard = Person(None), Person(), list[Any]()
    broker = Broker(host=host, clock=Clock())
    stop = broker.watch(lambda: heard.append([at for _, at in broker.asked]))

    future = broker.ask(question(Call("x", "X", client=CLAUDE, route=Route(client))))
    broker.bring(broker.open[0])
    host.settles[0](YES)
    stop()
    broker.ask(question())

    assert heard == [[("client",)], [("host",)], []]
    assert future.result(0).answered_by == "host"
    assert client.taken_down


def test_a_question_that_is_over_can_be_neither_brought_nor_dismissed() -> None:
    host = Person(YES, None)
    future, _, broker = ask(host=host)
    other = broker.ask(question())

    broker.bring(host.shown[0])
    broker.dismiss(host.shown[0])

    assert future.result(0).accepted
    assert not other.done()


def test_ending_a_call_leaves_the_questions_of_others() -> None:
    person = Person()
    future, _, broker = ask(host=person)
    other = broker.ask(question())

    broker.end(person.shown[0].call, "timed_out")

    assert future.result(0).message == "timed_out"
    assert not other.done()


def test_each_client_has_so_many_open_questions_and_a_place_again_when_one_ends() -> None:
    person = Person()
    broker, futures = Broker(host=person, clock=Clock()), list[Any]()

    def ask_on() -> None:
        while True:
            futures.append(broker.ask(question(Call("x", "X", client=CLAUDE))))

    with pytest.raises(Busy):
        ask_on()
    before = len(futures)
    futures[0].cancel()
    with pytest.raises(Busy):
        ask_on()

    assert before > 1
    assert len(futures) == before + 1
    assert not broker.ask(question()).done()


def test_a_person_who_is_asked_too_has_no_notice_of_it() -> None:
    host = Person(None)

    ask_both(host, Person(None))

    assert host.chips == []


def test_a_client_cannot_mute_itself() -> None:
    _, _, broker = ask(client=Person(Reply("decline", mute=True)))

    assert broker.audience.limits.muted == {}


def test_muting_a_client_leaves_what_it_asks_in_its_own_window() -> None:
    host, client = Person(), Person(None)
    at_client, _, broker = ask(host=host, client=client)
    for _ in range(2):
        broker.ask(question(Call("x", "X", client=CLAUDE)))

    host.settles[0](Reply("decline", mute=True))

    assert [where for _, where in broker.asked] == [("client",)]
    assert not at_client.done()


def test_a_host_that_cannot_draw_silences_no_client() -> None:
    host = Person(Unable(lasting=True))

    _, _, broker = ask(host=host, call=Call("x", "X", client=CLAUDE))

    assert "claude" not in broker.audience.silent


def test_where_both_are_asked_handing_over_leaves_the_other_one() -> None:
    host, client = Person(HandOver()), Person(None)
    future, _, _ = ask_both(host, client)

    waits = not future.done()
    client.settles[0](Unable())

    assert waits
    assert (len(host.shown), len(client.shown)) == (1, 1)
    assert future.result(0).answered_by == "nobody"


def test_wrong_answers_of_one_of_two_leave_the_other_one() -> None:
    host, client = Person(None), Person(WRONG, WRONG)

    future, _, _ = ask_both(host, client)
    host.settles[0](YES)

    assert future.result(0).answered_by == "host"


@pytest.mark.parametrize("surface", ["host", "client"])
def test_a_yes_counts_for_the_session_only_if_it_was_given_at_the_host(surface: str) -> None:
    def renaming() -> Call:
        return Call("rename", "Rename", "edit", CLAUDE, digest="abc")

    person = Person(Reply("accept", {"confirm": True}, remember=True))
    surfaces: dict[str, Any] = {surface: person}

    grants = SessionGrants()
    ask(**surfaces, call=renaming(), consent=Consent(), grants=grants)

    assert bool(grants.live) is (surface == "host")


def test_a_clock_that_fails_while_a_question_waits_its_turn_ends_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(after: float, fn: Callable[[], None]) -> Callable[[], None]:
        if after != 3600:
            raise RuntimeError("no timers left")
        return lambda: None

    broker = Broker(Settings(dialogs_per_minute=1), host=Person(YES, YES), clock=broken)

    answers = [broker.ask(question(Call("x", "X", client=CLAUDE))).result(0) for _ in range(2)]

    assert [answer.message for answer in answers] == [None, "surface_lost"]
    assert "no timers left" in caplog.text
