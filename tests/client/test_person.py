"""A scripted person answers what they were told, and nothing else."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dcc_bridge.client import Script
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.schema import parse

FORM = parse(
    {
        "properties": {
            "confirm": {"type": "boolean", "default": False},
            "lens": {"type": "integer", "default": 35},
            "keep": {"type": "boolean", "default": False},
            "notes": {"type": "string"},
        },
        "required": ["confirm", "lens"],
    }
)
OPEN = parse({"properties": {"name": {"type": "string"}}, "required": ["name"]})


def ask(answer: Any, form: Any = FORM) -> tuple[Reply, list[str]]:
    told: list[str] = []
    reply = anyio.run(Script(answer, told.append).ask, "Sure?", form)
    return reply, told


def test_accept_says_yes_to_what_is_required_and_takes_the_other_defaults() -> None:
    reply, told = ask("accept")

    assert reply == Reply("accept", {"confirm": True, "lens": 35, "keep": False})
    assert told == []


def test_accept_closes_a_question_that_has_no_default_and_names_the_field() -> None:
    reply, told = ask("accept", OPEN)

    assert reply.action == "cancel"
    assert "name is required and has no default" in told[0]


@pytest.mark.parametrize("answer", ["decline", "cancel"])
def test_decline_and_cancel_send_nothing(answer: str) -> None:
    assert ask(answer)[0] == Reply(answer)  # type: ignore[arg-type]  # each is an action


def test_given_fields_are_checked_and_what_the_form_does_not_know_is_dropped() -> None:
    assert ask({"name": "a", "other": 1}, OPEN)[0] == Reply("accept", {"name": "a"})


def test_given_fields_that_do_not_fit_close_the_question_and_say_why() -> None:
    reply, told = ask({"name": 3}, OPEN)

    assert reply.action == "cancel"
    assert "name: expected a text, not 3" in told[0]


def test_fields_of_another_form_close_the_question_and_name_its_own() -> None:
    optional = parse({"properties": {"name": {"type": "string"}, "lens": {"type": "integer"}}})
    reply, told = ask({"nmae": "a"}, optional)

    assert reply.action == "cancel"
    assert "the form asks for name, lens." in told[0]


@pytest.mark.parametrize(
    ("answer", "action"), [("accept", "accept"), ("decline", "decline"), ({"a": 1}, "accept")]
)
def test_a_page_is_agreed_to_or_not(answer: Any, action: str) -> None:
    assert anyio.run(Script(answer).visit, "Go?", "https://example.org").action == action
