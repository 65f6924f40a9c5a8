"""One confirmed destructive edit, and a choice that was left out: whoever is there is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest

from dcc_bridge import confirm_sync, skill
from dcc_bridge.elicitation.view import view_of
from tests.live import Tap, accept, live, say, status, text
from tests.server.skills import YES, Skills
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era


@pytest.mark.parametrize("fallback", [None, {"confirm": False}, {"confirm": True}])
@every_era
def test_nothing_is_deleted_or_sent_where_nobody_can_be_asked(
    era: str, fallback: dict[str, Any] | None, tmp_path: Path
) -> None:
    skills, tap = Skills(), Tap()

    with live(tmp_path, skills.delete(fallback), host=skills.host) as running:
        result = running.call("delete", era=era, tap=tap)

    assert len(skills.host.items) == 127
    assert status(result) in ("refused", "no_consent")
    assert skills.ran["delete"] == 1
    assert skills.host.labels == []
    assert b"elicitation/create" not in tap.heard


@every_era
def test_an_accept_that_says_no_deletes_nothing(era: str, tmp_path: Path) -> None:
    skills = Skills()

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        result = running.call("delete", era=era, asked=accept(confirm=False))

    assert len(skills.host.items) == 127
    assert status(result) == "refused"
    assert "Do not try" in text(result)


@every_era
def test_a_refusal_at_the_third_question_undoes_what_the_first_allowed(
    era: str, tmp_path: Path
) -> None:
    skills, answers = Skills(), iter([accept(confirm=True), accept(confirm=True), say("decline")])

    with live(tmp_path, skills.thrice(), host=skills.host) as running:
        result = running.call("thrice", era=era, asked=lambda params: next(answers)(params))

    assert len(skills.host.items) == 127
    assert skills.host.labels == []
    assert skills.ran["thrice"] == 1
    assert status(result) == "refused"


CLEAR = '''
from typing import Annotated

from pydantic import Field

from dcc_bridge import confirm_sync, skill
from dcc_bridge.elicitation.view import view_of

@skill(risk="destructive", confirms=True)
def clear(
    group: str,
    sides: list[int] = [],
    key: Annotated[str, Field(json_schema_extra={"redact": True})] = "",
) -> None:
    """Clear a group."""
    confirm_sync("Clear?", items=["cam0", "cam1"])
'''


def test_the_card_of_a_studios_skill_tells_its_arguments_but_no_hidden_ones(
    tmp_path: Path,
) -> None:
    (tmp_path / "studio").mkdir()
    (tmp_path / "studio" / "clearing.py").write_text(CLEAR)
    host = FakeHost(has_ui=True)
    person = Person(YES)

    with live(tmp_path, host=host, presenter=person, skills=[tmp_path / "studio"]) as running:
        running.call("clear", {"group": "/Set", "sides": [1, 2], "key": "open sesame"})

    (question,) = person.shown
    rows = [(row.name, row.value) for row in view_of(question, host).arguments]
    assert rows == [("group", "/Set"), ("sides", "[1, 2]"), ("key", "(hidden)")]


def test_a_skill_that_deletes_what_the_person_unticked_changes_nothing(tmp_path: Path) -> None:
    skills = Skills(3, has_ui=True)
    person = Person(replace(YES, left_out=("cam1",)))

    @skill(risk="destructive", confirms=True)
    def clear() -> None:
        confirm_sync("Clear?", items=list(skills.host.items), may_take_fewer=True)
        skills.host.items.clear()

    with live(tmp_path, clear, host=skills.host, presenter=person) as running:
        result = running.call("clear")

    assert status(result) == "no_consent"
    assert skills.host.items == ["cam0", "cam1", "cam2"]
    assert "cam1" in text(result)


@every_era
def test_a_client_gets_the_numbered_lines_of_a_text_in_its_message(
    era: str, tmp_path: Path
) -> None:
    messages: list[str] = []

    @skill(risk="destructive", confirms=True)
    def agree() -> None:
        confirm_sync("Run it?", details="one\ntwo")

    def asked(params: Any) -> Any:
        messages.append(params.message)
        return accept(confirm=True)(params)

    with live(tmp_path, agree, host=Skills().host) as running:
        result = running.call("agree", era=era, asked=asked)

    assert status(result) == "done"
    assert messages == ["Run it?\n\n2 lines:\n```\n    1    one\n    2    two\n```"]


class Axis(Enum):
    UP = 1
    DOWN = 2


def _on_main(axis: Axis, mode: Literal["soft", "hard"]) -> str:
    """Turn it.

    Args:
        axis: The one that points up afterwards.
        mode: How.
    """
    return f"{axis.name} {mode}"


async def _on_loop(axis: Axis, mode: Literal["soft", "hard"]) -> str:
    return f"{axis.name} {mode}"


_on_loop.__doc__ = _on_main.__doc__
FNS: list[tuple[Callable[..., Any], str]] = [
    (_on_main, "main"),
    (_on_main, "any"),
    (_on_loop, "main"),
]


def turn(fn: Callable[..., Any], thread: Any) -> Callable[..., Any]:
    return skill(name="turn", risk="read", ask_missing=True, thread=thread)(fn)


@every_era
@pytest.mark.parametrize(("fn", "thread"), FNS)
def test_the_person_is_asked_for_what_is_missing_only(
    fn: Callable[..., Any], thread: str, era: str, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def person(params: Any) -> Any:
        seen.append(params)
        return accept(axis="2")(params)

    with live(tmp_path, turn(fn, thread)) as running:
        result = running.call("turn", {"mode": "hard"}, era=era, asked=person)

    assert text(result) == "DOWN hard"
    assert seen[0].message == "Turn: which axis?"
    asked = seen[0].requested_schema["properties"]["axis"]
    assert asked["enum"] == ["1", "2"]
    assert asked["description"] == "The one that points up afterwards."


def test_the_schema_says_what_may_be_left_out_and_nobody_is_asked_where_nothing_was(
    tmp_path: Path,
) -> None:
    with live(tmp_path, turn(*FNS[0])) as running:
        tool = running.described("turn")
        result = running.call("turn", {"mode": "hard", "axis": 1})

    assert text(result) == "UP hard"
    assert "required" not in tool.input_schema
    axis = tool.input_schema["properties"]["axis"]
    assert "default" not in axis
    assert (
        axis["description"]
        == "The one that points up afterwards. If it is left out, the person is asked."
    )
