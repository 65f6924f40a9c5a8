"""A question that carries a text: what is shown of it, who can be asked, what is written down."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from dcc_bridge import confirm_sync, elicit_form_sync
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.grants import SessionGrants
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.client_details import client_details
from dcc_bridge.elicitation.details import Details, details_view
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.errors import LeakedSecret, SchemaError
from tests.elicitation.brokers import CLAUDE, FORM, YES, Clock, asking
from tests.stand_ins import Person

CODE = "import bpy\nfor it in bpy.data.objects:\n\tbpy.data.objects.remove(it)\n"
LONG = "\n".join(f"value_{number} = {number}" for number in range(400))


def question(details: Details | None, **more: Any) -> Question:
    call = Call("run", "Run", client=CLAUDE)
    return Question("Run it?", call, FORM, consent=Consent(), details=details, **more)


def test_a_text_is_shown_whole_with_numbers_and_what_is_marked() -> None:
    view = details_view(Details(CODE, ((3, "removes objects"), (3, "in a loop"))))

    assert [row.number for row in view.rows] == [1, 2, 3]
    assert view.rows[2].text == "    bpy.data.objects.remove(it)"
    assert view.marks == ("line 3: removes objects; in a loop",)
    assert (view.title, view.difference, view.changes) == ("3 lines", "", ())


def test_what_is_hidden_in_a_line_is_seen_and_a_line_ends_where_python_ends_it() -> None:
    view = details_view(Details("a = 1 # \u202eok\u200b\x1b[2J\r\nb\rc\u2028d\n"))

    assert [row.text for row in view.rows] == [
        "a = 1 # ‹U+202E›ok‹U+200B›‹U+001B›[2J",  # noqa: RUF001 - ours
        "b",
        "c‹U+2028›d",  # noqa: RUF001 - ours
    ]


def test_what_differs_from_the_text_agreed_to_last_comes_with_the_lines_around_it() -> None:
    before = [f"line {number}" for number in range(40)]
    after = [*before[:10], "new", *before[11:30], *before[32:]]

    view = details_view(Details("\n".join(after), ((11, "removes"),), "\n".join(before)))

    assert view.difference == "3 lines differ from the text approved last"
    signed = [(row.sign, row.number, row.text) for row in view.changes if row.sign != " "]
    assert signed == [
        ("-", 0, "line 10"),
        ("+", 11, "new"),
        ("-", 0, "line 30"),
        ("-", 0, "line 31"),
    ]
    gaps = [row.text for row in view.changes if not row.number and row.sign == " "]
    assert gaps == [f"… unchanged lines: {n}" for n in (7, 13, 5)]
    assert [row.number for row in view.rows if row.sign == "+"] == [11]
    assert "   11 +! new" in map(str, view.changes)


def test_the_same_text_once_more_differs_in_nothing_and_an_empty_one_in_all() -> None:
    same, first = details_view(Details(CODE, (), CODE)), details_view(Details("a", (), ""))

    assert (same.difference, same.changes) == ("0 lines differ from the text approved last", ())
    assert (first.difference, first.changes) == ("a completely new text", ())
    assert details_view(Details("")).title == "0 lines"


@pytest.mark.parametrize(
    ("details", "why"),
    [
        ({"text": "é" * 32_001}, "64,002 bytes"),
        ({"text": "\n" * 2_001}, "2,001 lines"),
        ({"text": "a", "previous": "b" * 64_001}, "64,001 bytes"),
        ({"text": "a\n", "marks": ((2, "why"),)}, "Line 2 is marked"),
        ({"text": "a", "marks": ((0, "why"),)}, "Line 0 is marked"),
    ],
)
def test_more_than_a_person_reads_is_refused(details: dict[str, Any], why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        Details(**details)


def test_the_functions_that_ask_take_a_text_or_its_details() -> None:
    person = Person(YES, YES, YES)
    details = Details(CODE, ((3, "removes"),))

    with asking(person):
        confirm_sync("Run it?", details=CODE)
        confirm_sync("Run it?", details=details)
        elicit_form_sync("Run it?", FORM.schema, details=CODE)

    assert [shown.details for shown in person.shown] == [Details(CODE), details, Details(CODE)]


def test_a_secret_in_a_text_is_not_asked_about() -> None:
    secret = Secret("hunter2-hunter2")

    with asking(Person(YES)), pytest.raises(LeakedSecret):
        confirm_sync("Run it?", details=f"key = {secret.reveal()!r}")


def test_the_record_has_the_digest_of_the_text_and_never_the_text() -> None:
    events: list[Any] = []

    def audit(*written: Any, durable: bool = False) -> None:
        events.extend(written)

    with asking(Person(YES), auditor=audit):
        confirm_sync("Run it?", details=CODE)

    asked = next(facts for event, facts in events if event == "asked")
    assert asked["details_sha256"] == hashlib.sha256(CODE.encode()).hexdigest()
    assert "bpy" not in repr(events)


@pytest.mark.parametrize("items", [(), ("cam1",)])
def test_a_grant_for_the_session_is_for_the_very_text(items: tuple[str, ...]) -> None:
    call = Call("run", "Run", "edit", CLAUDE, digest="abc")
    agreed = Question("Run?", call, FORM, consent=Consent(items), details=Details(CODE))
    grants = SessionGrants()

    grants.allow(agreed)

    assert grants.covered_by(agreed) == agreed.id
    assert grants.covered_by(replace(agreed, details=Details(CODE + " "))) is None
    assert grants.covered_by(replace(agreed, details=None)) is None


def test_a_client_is_sent_the_lines_in_a_block_that_no_line_can_close() -> None:
    text = client_details(question(Details("a\n```\nb\n", ((3, "loses b"),), "a\n")))

    assert text == (
        "2 lines differ from the text approved last:\n```\n"
        "    1    a\n    2 +  ```\n    3 +! b\n```\n\n"
        "3 lines:\nline 3: loses b\n```\n    1    a\n    2 +  ```\n    3 +! b\n```"
    )


def test_a_client_whose_form_has_no_room_is_not_asked_but_our_own_command_is() -> None:
    whole = "\n".join(LONG.split("\n")[:200])
    without_difference = client_details(question(Details(whole, (), "x")))
    asked = question(Details(LONG))
    command = replace(asked, call=Call("run", "Run", client=Client("cli")))

    assert without_difference is not None
    assert without_difference.startswith("200 lines, a completely new text:")
    assert client_details(asked) is None
    assert "value_399" in (client_details(command) or "")


@pytest.mark.parametrize(("text", "surface"), [(CODE, "client"), (LONG, None)])
def test_what_a_client_has_no_room_for_is_asked_in_the_host_or_refused(
    text: str, surface: str | None
) -> None:
    client, person = Person(YES), Person(YES)
    answers = []
    for host in (person, None):
        asked = question(Details(text))
        asked.call.route = replace(asked.call.route, form=client)
        answers.append(Broker(Settings(), host=host, clock=Clock()).ask(asked).result(0))

    assert [answer.answered_by for answer in answers] == ["host", surface or "nobody"]
    assert len(client.shown) == (1 if surface else 0)
