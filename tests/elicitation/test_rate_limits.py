"""One client cannot wear a person out, nor keep another client's questions from them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import HandOver, Question, Reply
from dcc_bridge.elicitation.rate_limits import MUTE_DURATION_S, RateLimiter
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.panel import rows
from tests.elicitation.brokers import CLAUDE, FORM, WRONG, YES, Clock, Time
from tests.stand_ins import Person

CURSOR = Client("cursor")


def eager(number: int) -> Question:
    """Make a question of the client that asks a lot."""
    return Question(f"{number}?", Call("x", "X", client=CLAUDE), FORM)


def crowd(
    host: Person, count: int, most_waiting: int = 50, **settings: Any
) -> tuple[Broker, list[Any], Clock]:
    """Let one client ask many questions; gives the broker, their futures and the clock."""
    clock = Clock()
    fast = Settings(**{"dialogs_per_minute": 1000, **settings})
    asking = "dcc_bridge.elicitation"
    with (
        patch(f"{asking}.broker.MAX_OPEN_QUESTIONS", 2000),
        patch(f"{asking}.broker.MAX_OPEN_QUESTIONS_OF_A_CLIENT", 2000),
        patch(f"{asking}.routing.MAX_WAITING_QUESTIONS", most_waiting),
    ):
        broker = Broker(fast, host=host, clock=clock)
    return broker, [broker.ask(eager(n)) for n in range(count)], clock


def refused(futures: list[Future[ElicitationResponse]]) -> int:
    ended = [future.result(0) for future in futures if future.done()]
    return sum(answer.answered_by == "policy" for answer in ended)


def test_of_sixty_questions_three_are_open_fifty_wait_and_seven_are_refused() -> None:
    """The person is told so once, and another client is shown at once."""
    host = Person()

    broker, futures, _ = crowd(host, 60)

    assert [one.message for one in host.shown] == ["0?", "1?", "2?"]
    assert len(broker.open) == 53
    assert refused(futures) == 7
    assert all(future.done() for future in futures[53:])
    assert host.notices == ["claude asks too often. Its next questions must wait."]
    broker.ask(Question("Mine?", Call("x", "X", client=CURSOR), FORM))
    assert host.shown[-1].message == "Mine?"


def test_the_host_itself_does_not_stand_in_line() -> None:
    host = Person()
    broker = Broker(host=host, clock=Clock())

    for number in range(20):
        broker.ask(Question(f"{number}?", Call("host", "The application itself"), FORM))

    assert len(host.shown) == 20


@pytest.mark.parametrize("ending", ["answer", "hand over", "give up", "end", "deadline"])
def test_however_a_question_ends_the_next_in_line_gets_its_place(ending: str) -> None:
    host = Person()
    broker, futures, clock = crowd(host, 5)
    first = host.shown[0].call
    ways: dict[str, Callable[[], Any]] = {
        "answer": lambda: host.settles[0](YES),
        "hand over": lambda: host.settles[0](HandOver()),
        "give up": futures[0].cancel,
        "end": lambda: broker.end(first),
        "deadline": clock.strike,
    }

    ways[ending]()

    assert len(host.shown) == (5 if ending == "deadline" else 4)  # it strikes for all three


def test_a_line_that_is_answered_at_once_is_served_in_order_and_in_a_loop() -> None:
    host = Person(None, then=YES)
    _, futures, _ = crowd(host, 1000, pending_questions=1, most_waiting=999)

    host.settles[0](YES)

    assert all(future.result(0).accepted for future in futures)
    assert [one.message for one in host.shown] == [f"{n}?" for n in range(1000)]


def test_asking_again_after_a_wrong_answer_keeps_the_place() -> None:
    host = Person(None, None, None, None, None)
    crowd(host, 60, dialogs_per_minute=3)

    host.settles[0](WRONG)

    assert [one.message for one in host.shown] == ["0?", "1?", "2?", "0?"]
    assert host.shown[-1].reason is not None


def test_of_a_thousand_questions_that_are_answered_at_once_ten_are_shown_in_a_minute() -> None:
    host = Person(then=YES)

    _, futures, clock = crowd(host, 1000, dialogs_per_minute=10)

    assert len(host.shown) == 10
    assert sum(future.done() for future in futures) == 10 + 1000 - 63
    assert len(clock.waiting) == 3  # only those with a place wait for the minute to pass


def test_a_place_that_is_given_up_before_its_dialog_costs_no_dialog() -> None:
    limits, shown = RateLimiter(2, 50, 3, time := Time()), list[float]()
    first = limits.enter("claude", shown.append)
    limits.enter("claude", shown.append)
    third = limits.enter("claude", shown.append)
    assert first is not None
    assert third is not None

    limits.leave("claude", third)
    limits.enter("claude", shown.append)
    time.now = 61.0
    limits.leave("claude", first)
    limits.enter("claude", shown.append)

    assert shown == [0.0, 0.0, 60.0, 60.0, 0.0]


def test_muting_refuses_what_the_client_asks_already_and_what_waits_behind() -> None:
    host = Person()
    broker, futures, _ = crowd(host, 60)
    other = broker.ask(Question("Mine?", Call("x", "X", client=CURSOR), FORM))

    host.settles[0](Reply("decline", mute=True))
    later = broker.ask(eager(60))

    notice = "the person muted claude for 10 min; 10 min left"
    first, unasked = futures[0].result(0), later.result(0)
    assert (first.answered_by, first.message, first.reason) == ("host", "declined", None)
    assert refused(futures) == 59
    assert (unasked.answered_by, unasked.message, unasked.reason) == ("policy", "muted", notice)
    assert len(host.shown) == 4
    assert not other.done()
    assert broker.audience.limits.muted == {"claude": pytest.approx(600, abs=5)}
    broker.audience.limits.unmute("claude")
    assert broker.audience.limits.muted == {}


def test_muting_is_offered_from_the_first_question_on_and_so_after_two_declines() -> None:
    host = Person(*[Reply("decline")] * 2)

    crowd(host, 3)

    assert [one.offers.mute for one in host.shown] == ["claude"] * 3


@pytest.mark.parametrize("left", [600, 599, 569, 91, 89, 20])
def test_the_panel_and_the_agent_are_told_the_same_of_a_client_that_is_muted(left: int) -> None:
    now = [0.0]
    limits = RateLimiter(10, 10, 3, now=lambda: now[0])
    limits.mute("claude")

    now[0] = MUTE_DURATION_S - left
    notice = limits.mute_notice("claude") or ""
    state: Any = SimpleNamespace(muted=limits.muted)

    told = notice.partition("; ")[2].removesuffix(" left")
    assert rows.muted(state).startswith(f"Muted for {told}: claude.")
