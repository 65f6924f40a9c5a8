"""The gate: which questions stand before a skill's body, and what each answer does."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import pytest

from dcc_bridge import skill
from dcc_bridge.audit.redact import HIDDEN, Redacted
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller_view import argument_views
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.view import view_of
from dcc_bridge.errors import BadArguments, Cancelled, Declined
from dcc_bridge.server.protocol import elicit_request
from dcc_bridge.skills import gate
from dcc_bridge.skills.signature import Signature
from dcc_bridge.skills.skill import Skill, describe
from dcc_bridge.threads.flows import run_sync
from tests.elicitation.brokers import asking
from tests.stand_ins import FakeHost, Person

MISSING: dict[str, Any] = {"up_axis": {"1": 1, "2": 2}, "mode": {"soft": "soft"}}


class Axis(Enum):
    UP = 1
    DOWN = 2


def made(**words: Any) -> Skill:
    @skill(**words)
    def turn() -> None:
        """Turn it."""

    return describe(turn)


def said(action: Any, **data: Any) -> Reply:
    return Reply(action, data)


def ask_before(
    skill: Skill,
    arguments: dict[str, Any],
    *answers: Reply,
    missing: Any = None,
    call: Call | None = None,
    **settings: Any,
) -> list[Question]:
    """Ask what stands before a body; gives what was asked."""
    person = Person(*answers)
    with asking(person, call=call) as call:
        run_sync(gate.ask_missing(skill, arguments, missing or {}, call), "gate")
        run_sync(gate.ask_before(skill, arguments, call, Settings(**settings)), "gate")
    return person.shown


def asked_by(
    skill: Skill, arguments: dict[str, Any] | None = None, call: Call | None = None, **settings: Any
) -> Question | None:
    yes = said("accept", confirm=True)
    return next(iter(ask_before(skill, arguments or {}, yes, call=call, **settings)), None)


def table(arguments: dict[str, Any], call: Call | None = None) -> list[tuple[str, str]]:
    question = asked_by(made(risk="destructive"), arguments, call)
    assert question is not None
    assert question.message == "Turn?"
    return list(question.arguments)


@pytest.mark.parametrize(
    ("risk", "edit", "confirms", "grant", "question"),
    [
        ("destructive", "allow", False, True, True),
        ("destructive", "allow", True, True, False),
        ("edit", "ask", False, True, True),
        ("edit", "ask", True, True, False),
        ("edit", "allow", False, False, False),
        ("read", "ask", False, False, False),
    ],
)
def test_who_needs_a_grant_is_asked_unless_it_asks_by_itself(
    risk: Any, edit: Any, confirms: bool, grant: bool, question: bool
) -> None:
    which = made(risk=risk, confirms=confirms) if confirms else made(risk=risk)

    assert gate.needs_grant(which, Settings(edit=edit)) is grant
    assert (asked_by(which, edit=edit) is not None) is question


@pytest.mark.parametrize("undoable", [True, False])
def test_the_question_before_a_body_is_consent(undoable: bool) -> None:
    call = Call("turn", "Turn it", "destructive")

    question = asked_by(made(risk="destructive", undo=None if undoable else False), call=call)

    assert question is not None
    assert question.consent
    assert question.call is call
    assert (question.title, question.key) == ("Turn", "consent")
    assert question.consent.undoable is undoable
    assert question.form is not None
    assert [field.title for field in question.form.fields] == ["Turn"]


def test_it_names_each_argument_that_was_given() -> None:
    given = {"name": "box", "count": 2, "axis": None, "at": PurePosixPath("a"), "sides": [1, "b"]}

    assert table(given) == [
        ("name", "box"),
        ("count", "2"),
        ("at", '"a"'),
        ("sides", '[1, "b"]'),
    ]


def test_it_shows_an_argument_that_is_nothing_only_where_the_agent_said_so() -> None:
    call = Call("turn", "Turn it", "destructive", arguments=Redacted({"limit": None}))

    assert table({"limit": None, "axis": None}, call) == [("limit", "null")]


def test_a_value_with_line_breaks_is_no_further_argument_on_any_surface() -> None:
    given = {"path": "/World/Cube\npath: /World/Sky\n- axis: «x»", "code": "y" * 300}
    question = asked_by(made(risk="destructive"), given)
    assert question is not None

    seen, rows = view_of(question, FakeHost(has_ui=True)), argument_views(question.arguments)
    params: Any = elicit_request(question).params

    assert seen.message == "Turn?"
    assert [row.name for row in rows] == ["path", "code"]
    assert all("\n" not in row.value for row in rows)
    assert rows[0].whole == given["path"]
    assert (rows[1].value, rows[1].whole) == ("y" * 200 + "…", "y" * 300)
    assert params.message.splitlines() == [
        "Turn?",
        "",
        "- path: «/World/Cube‹U+000A›path: /World/Sky‹U+000A›- axis: «x‹U+00BB›»",  # noqa: RUF001 - ours
        f"- code: «{'y' * 200}…» (100 more characters are not shown)",
        "",
        "One undo takes all of it back.",
    ]


def test_it_shows_nothing_that_must_not_be_written_down() -> None:
    schema = {"properties": {"key": {"type": "string", "format": "password"}}}
    given = {"key": "tops3cret!", "note": "my tops3cret! key"}
    call = Call("turn", "Turn it", "destructive", arguments=Redacted(given, schema))

    key, note = table({**given, "key": "TOPS3CRET!"}, call)

    assert key == ("key", HIDDEN)
    assert "tops3cret!" not in note[1]
    assert note[1].startswith("my ")


def test_a_no_does_not_let_it_begin() -> None:
    with pytest.raises(Declined, match=r"Turn\?"):
        ask_before(made(risk="destructive"), {}, said("decline"))


def test_a_choice_that_is_missing_is_asked_for_and_is_no_consent() -> None:
    call = Call("turn", "Turn it")

    (question,) = ask_before(
        made(risk="read"), {}, said("accept", up_axis="1", mode="soft"), missing=MISSING, call=call
    )

    assert question.message == "Turn it: which up axis and mode?"
    assert (question.title, question.key, question.consent) == ("Turn it", "missing", None)
    assert question.call is call
    assert question.form is not None
    schema = question.form.schema
    assert schema["required"] == ["up_axis", "mode"]
    assert schema["properties"]["up_axis"] == {
        "type": "string",
        "title": "Up axis",
        "enum": ["1", "2"],
    }


def test_what_is_chosen_completes_the_arguments_and_is_named_in_the_consent() -> None:
    arguments: dict[str, Any] = {"name": "box"}
    answers = said("accept", up_axis="2", mode="soft"), said("accept", confirm=True)

    _, question = ask_before(made(risk="destructive"), arguments, *answers, missing=MISSING)

    assert arguments == {"name": "box", "up_axis": 2, "mode": "soft"}
    assert question.arguments == (("name", "box"), ("up_axis", "2"), ("mode", "soft"))


@pytest.mark.parametrize(("action", "error"), [("decline", Declined), ("cancel", Cancelled)])
def test_without_a_choice_it_does_not_begin(action: Any, error: Any) -> None:
    with pytest.raises(error, match="which up axis"):
        ask_before(made(risk="read"), {}, said(action), missing=MISSING)


def test_where_nobody_can_choose_the_agent_is_told_what_is_required() -> None:
    words = r"^up_axis, mode: required\. The person could not be asked"

    with asking(None) as call:
        flow = gate.ask_missing(made(risk="read"), {}, MISSING, call)
        with pytest.raises(BadArguments, match=words):
            run_sync(flow, "gate")


def test_a_choice_is_a_literal_or_an_enum_even_with_notes() -> None:
    def turn(
        axis: Annotated[Axis, "which"], mode: Literal["soft", 2], name: str, sides: list[int]
    ) -> None:
        """Turn it."""

    assert Signature.of(turn, "turn", ask_missing=True).missing({}) == {
        "axis": {"1": Axis.UP, "2": Axis.DOWN},
        "mode": {"soft": "soft", "2": 2},
    }
