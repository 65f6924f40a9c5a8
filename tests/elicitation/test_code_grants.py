"""A yes for a while to plain code: what it covers, and what ends it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.code_grants import Moment
from dcc_bridge.consent.grants import SessionGrants
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client, CodeScope
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Consent, Question, Reply, Route
from dcc_bridge.elicitation.types import ElicitationResponse
from tests.elicitation.brokers import FORM, Clock
from tests.stand_ins import Person

FOR_A_WHILE = Reply("accept", {"confirm": True}, remember=True)
YES = Reply("accept", {"confirm": True})
SCOPE = CodeScope("claude", "session 1", "scene 1")


class Clocks:
    """Both clocks, as a test sets them."""

    def __init__(self) -> None:
        self.moment = Moment(1_000.0, 1_800_000_000.0)

    def __call__(self) -> Moment:
        return self.moment

    def go_on(self, monotonic: float, wall: float | None = None) -> None:
        on_wall = monotonic if wall is None else wall
        self.moment = Moment(self.moment.monotonic + monotonic, self.moment.wall + on_wall)


class Sitting:
    """A person at the host, and a broker with grants on clocks of the test's own."""

    def __init__(self, *answers: Any, minutes: int = 30, auditor: Any = None) -> None:
        self.clocks = Clocks()
        self.person = Person(*answers)
        self.grants = SessionGrants(minutes=minutes, moment=self.clocks)
        more = {} if auditor is None else {"auditor": auditor}
        self.broker = Broker(
            Settings(grant_minutes=minutes),
            host=self.person,
            clock=Clock(),
            grants=self.grants,
            **more,
        )

    def ask(self, question: Question) -> ElicitationResponse | None:
        """Ask, and return the answer; None where it waits for a person."""
        asked = self.broker.ask(question)
        return asked.result(0) if asked.done() else None

    def is_asked(self, question: Question) -> bool:
        """Whether a person is asked, and not answered for."""
        before = len(self.person.shown)
        self.ask(question)
        return len(self.person.shown) > before


def code(scope: CodeScope | None = SCOPE, text: str = "1 + 1", **more: Any) -> Question:
    """Make the question about a text; without a scope the text is not plain."""
    call = Call("run_python", "Run code", "destructive", Client("claude"), digest="abc")
    call.dialogue.plain_code = scope
    about: Any = {"consent": Consent(), "details": Details(text), **more}
    return Question("Run 1 line of code?", call, FORM, **about)


def test_another_plain_text_is_not_asked_about_until_the_time_is_over() -> None:
    sitting = Sitting(FOR_A_WHILE)
    first = code()
    sitting.ask(first)

    sitting.clocks.go_on(1799)
    other = sitting.ask(code(text="2 + 2"))
    sitting.clocks.go_on(1)

    assert other is not None
    assert (other.answered_by, other.data) == ("grant", {"confirm": True})
    assert sitting.person.shown[0].offers.minutes == 30
    assert sitting.is_asked(code(text="3 + 3"))
    assert sitting.grants.code.live == []


def test_a_yes_alone_is_for_the_very_text() -> None:
    sitting = Sitting(YES)
    sitting.ask(code())

    assert sitting.is_asked(code())


@pytest.mark.parametrize(
    ("monotonic", "wall"),
    [
        (1800.0, 0.0),  # the wall clock stands still
        (0.0, 1800.0),  # the computer slept, or the wall clock was set on
        (60.0, -3600.0),  # it was set back
        (60.0, 0.0),
    ],
)
def test_what_either_clock_says_ends_it(monotonic: float, wall: float) -> None:
    sitting = Sitting(FOR_A_WHILE)
    sitting.ask(code())

    sitting.clocks.go_on(monotonic, wall)

    assert sitting.is_asked(code())


def test_a_wall_clock_that_is_corrected_by_a_little_ends_nothing() -> None:
    sitting = Sitting(FOR_A_WHILE)
    sitting.ask(code())

    sitting.clocks.go_on(60.0, 58.0)

    assert not sitting.is_asked(code())


def test_it_is_never_prolonged() -> None:
    """Neither by what it covers nor by another tick while it is valid."""
    sitting = Sitting(None, None)
    sitting.ask(code())
    sitting.ask(code())  # both wait for the person
    sitting.person.settles[0](FOR_A_WHILE)
    sitting.clocks.go_on(600)
    sitting.person.settles[1](FOR_A_WHILE)
    (grant,) = sitting.grants.code.live
    sitting.clocks.go_on(1199)
    sitting.ask(code())
    sitting.clocks.go_on(1)

    assert grant.question == sitting.person.shown[0].id
    assert sitting.is_asked(code())


@pytest.mark.parametrize(
    "scope",
    [
        replace(SCOPE, client="cursor"),
        replace(SCOPE, session="session 2"),
        replace(SCOPE, scene="scene 2"),
        None,
    ],
)
def test_it_covers_nothing_else(scope: CodeScope | None) -> None:
    sitting = Sitting(FOR_A_WHILE)
    sitting.ask(code())

    assert sitting.is_asked(code(scope))


def test_another_scene_ends_it_for_good() -> None:
    sitting = Sitting(FOR_A_WHILE)
    sitting.ask(code())
    sitting.ask(code(replace(SCOPE, scene="scene 2")))

    assert sitting.is_asked(code())


def test_another_client_and_another_session_leave_it_as_it_is() -> None:
    sitting = Sitting(FOR_A_WHILE)
    sitting.ask(code())
    sitting.ask(code(replace(SCOPE, session="session 2")))
    sitting.grants.code.end_of_session("session 2")
    sitting.grants.code.end_of_client("cursor")

    assert not sitting.is_asked(code())


@pytest.mark.parametrize(
    "consent", [Consent(("cam1",)), Consent(undoable=False), Consent(("cam1",), undoable=False)]
)
def test_what_is_lost_is_asked_about(consent: Consent) -> None:
    sitting = Sitting(FOR_A_WHILE)
    sitting.ask(code())

    assert sitting.is_asked(code(consent=consent))
    assert sitting.person.shown[-1].offers.minutes == 0


def test_a_studio_may_do_without() -> None:
    sitting = Sitting(FOR_A_WHILE, minutes=0)
    sitting.ask(code())

    assert not sitting.person.shown[0].offers.may_remember
    assert sitting.is_asked(code())


def test_edits_for_the_session_may_be_off_where_code_is_not() -> None:
    person = Person()
    grants = SessionGrants(minutes=30)
    settings = Settings(session_grants=False, grant_minutes=30)
    Broker(settings, host=person, clock=Clock(), grants=grants).ask(code())

    (offers,) = [question.offers for question in person.shown]
    assert (offers.minutes, offers.remember) == (30, None)


def test_a_client_that_answers_its_own_form_never_gets_it() -> None:
    client, host = Person(FOR_A_WHILE, FOR_A_WHILE), Person()
    grants = SessionGrants(minutes=30)
    broker = Broker(Settings(consent="either"), host=host, clock=Clock(), grants=grants)
    for _ in range(2):
        question = code()
        question.call.route = Route(client)
        broker.ask(question).result(0)

    assert [question.offers.may_remember for question in client.shown] == [False, False]
    assert grants.code.live == []


def test_a_yes_in_a_field_that_says_no_is_none_for_what_comes() -> None:
    sitting = Sitting(Reply("accept", {"confirm": False}, remember=True))
    sitting.ask(code())

    assert sitting.grants.code.live == []


def test_a_yes_that_cannot_be_recorded_is_none_for_what_comes_either() -> None:
    def audit(*events: Any, durable: bool = False) -> None:
        if durable:
            raise OSError

    sitting = Sitting(FOR_A_WHILE, auditor=audit)
    sitting.ask(code())

    assert sitting.grants.code.live == []


def test_the_record_says_for_how_long_and_which_question_covers_the_next() -> None:
    lines: list[tuple[str, Any]] = []

    def audit(*events: Any, durable: bool = False) -> None:
        lines.extend(events)

    sitting = Sitting(FOR_A_WHILE, auditor=audit)
    first, second = code(), code(text="2 + 2")
    sitting.ask(first)
    sitting.ask(second)

    agreed, covered = (fields for event, fields in lines if event == "granted")
    assert (agreed["by"], agreed["question"], agreed["minutes"]) == ("host", first.id, 30)
    assert (covered["by"], covered["question"], covered["grant"]) == ("grant", second.id, first.id)
    assert second.details is not None
    assert covered["details_sha256"] == second.details.sha256


def test_a_panel_is_told_of_each_that_is_added_and_ended() -> None:
    sitting = Sitting(FOR_A_WHILE)
    told: list[int] = []
    sitting.grants.watch(lambda: told.append(len(sitting.grants.code.live)))

    sitting.ask(code())
    (grant,) = sitting.grants.code.live
    sitting.grants.code.end(grant)
    sitting.grants.code.end(grant)

    assert told == [1, 0]
    assert sitting.is_asked(code())
