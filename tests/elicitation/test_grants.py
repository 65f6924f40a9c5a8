"""What a person agrees to for the session, and for what it holds."""

from __future__ import annotations

from typing import Any

import pytest

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.grants import SESSION_GRANT_TTL_S, SessionGrants
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Consent, Question, Reply
from dcc_bridge.skills.skill import describe
from tests.elicitation.brokers import FORM, Clock, Time
from tests.stand_ins import Person

SECRET = {"properties": {"key": {"type": "string", "format": "password"}}}
FOR_THE_SESSION = Reply("accept", {"confirm": True}, remember=True)


def rename(digest: str = "abc", label: str = "claude", risk: Any = "edit") -> Call:
    return Call("rename_all", "Rename all", risk, Client(label), digest=digest)


def about(count: int, call: Call | None = None) -> Question:
    return Question("Rename?", call or rename(), FORM, consent=Consent(("x",) * count))


def before_its_body(given: dict[str, Any], schema: Any = None, **more: Any) -> Question:
    """Make a question that names no items, of a call with these arguments."""
    call = rename()
    call.arguments = Redacted(given, schema, call.id)
    shown = tuple((name, str(value)) for name, value in given.items())
    defaults: Any = {"form": FORM, "consent": Consent(arguments=shown)}
    return Question(**{"message": "Rename all?", "call": call, **defaults, **more})


def test_a_list_has_for_each_what_for_whom_how_much_and_how_long() -> None:
    time = Time()
    grants = SessionGrants(time)

    grants.allow(about(12))
    time.now += 600

    (one,) = grants.live
    assert (one.title, one.client, one.most) == ("Rename all", "claude", 12)
    assert grants.remaining(one) == SESSION_GRANT_TTL_S - 600


def test_one_ends_by_itself() -> None:
    time = Time()
    grants = SessionGrants(time)
    grants.allow(about(12))
    (one,) = grants.live

    time.now += SESSION_GRANT_TTL_S

    assert grants.live == []
    assert grants.remaining(one) == 0.0
    assert grants.covered_by(about(1)) is None


def test_a_list_is_told_of_what_is_given_and_revoked_until_it_looks_no_more() -> None:
    grants, told = SessionGrants(), list[int]()
    stop = grants.watch(lambda: told.append(len(grants.live)))

    grants.allow(about(1))
    grants.allow(about(1, rename(label="cursor")))
    (first, second) = grants.live
    grants.revoke(first)
    grants.revoke(first)
    stop()
    grants.revoke(second)

    assert told == [1, 2, 1]
    assert grants.live == []
    assert grants.covered_by(about(1)) is None


@pytest.mark.parametrize(("second", "most"), [(20, [20]), (12, [12]), (3, [12, 3])])
def test_the_same_for_more_items_takes_the_place_of_the_first(second: int, most: list[int]) -> None:
    grants = SessionGrants()

    grants.allow(about(12))
    grants.allow(about(second))

    assert [one.most for one in grants.live] == most


def remembering() -> tuple[Broker, Person]:
    """Have a person who agrees for the session."""
    host = Person(FOR_THE_SESSION)
    return Broker(host=host, clock=Clock(), grants=SessionGrants()), host


def agreed(*items: str) -> tuple[Broker, Person]:
    broker, host = remembering()
    broker.ask(Question("Rename?", rename(), FORM, consent=Consent(items)))
    return broker, host


def test_an_edit_may_be_agreed_to_for_the_session_up_to_so_many_items() -> None:
    broker, host = agreed("a", "b")

    same = broker.ask(Question("Rename?", rename(), FORM, consent=Consent(("c", "d"))))
    more = broker.ask(Question("Rename?", rename(), FORM, consent=Consent(("c", "d", "e"))))

    assert host.shown[0].offers.remember == 2
    assert same.result(0).answered_by == "grant"
    assert same.result(0).data == {"confirm": True}
    assert not more.done()


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (rename(digest="changed"), 1),
        (rename(label="cursor"), 1),
        (rename(risk="destructive"), 1),
        (rename(), 2),
        (Call("other", "Other", "edit", Client("claude"), digest="abc"), 1),
    ],
)
def test_what_was_agreed_to_for_the_session_is_for_nothing_else(call: Call, count: int) -> None:
    broker, _ = agreed("a")

    asked = broker.ask(Question("Other?", call, FORM, consent=Consent(("x",) * count)))

    assert not asked.done()


def test_what_names_no_items_is_agreed_to_for_the_same_arguments_alone() -> None:
    broker, host = remembering()
    given, chosen = {"path": "/World/Cube"}, (("path", "/World/Cube"), ("axis", "x"))
    broker.ask(before_its_body(given))

    same = broker.ask(before_its_body(given))
    others = [
        before_its_body({"path": "/World"}),
        before_its_body(given, consent=Consent(arguments=chosen)),
        before_its_body(given, message="Rename all the others as well?"),
        before_its_body(given, consent=Consent(("/World/Cube",))),
    ]

    assert host.shown[0].offers.remember == 0
    assert same.result(0).answered_by == "grant"
    assert [broker.ask(question).done() for question in others] == [False] * 4


def test_what_names_items_does_not_cover_what_names_none() -> None:
    broker, _ = agreed("a", "b")

    assert not broker.ask(before_its_body({})).done()


@pytest.mark.parametrize("secret", ["tops3cret!", "", "abc"])
def test_a_call_with_hidden_arguments_is_not_agreed_to_for_the_session(secret: str) -> None:
    """Nobody could tell them from others, since they are nowhere to be seen."""
    assert_not_remembered(before_its_body({"key": secret}, SECRET))


def test_a_deletion_is_never_agreed_to_for_the_session() -> None:
    assert_not_remembered(Question("Delete?", rename(risk="destructive"), FORM, consent=Consent()))


def assert_not_remembered(question: Question) -> None:
    host, grants = Person(FOR_THE_SESSION), SessionGrants()

    Broker(host=host, clock=Clock(), grants=grants).ask(question)

    assert host.shown[0].offers.remember is None
    assert grants.live == []


def test_a_skill_made_in_code_is_another_one_once_a_value_in_it_is() -> None:
    def first() -> str:
        return "cam"

    def second() -> list[str]:
        return [f"cam{n}" for n in range(3)]

    def third() -> list[str]:
        return [f"light{n}" for n in range(3)]

    digests = {describe(fn).digest for fn in (first, second, third)}

    assert len(digests) == 3
