"""A choice that the agent left out is asked of the person, before the body."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest

from dcc_bridge import skill
from tests.live import accept, live, text
from tests.tiers import every_era


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


def test_nobody_is_asked_where_nothing_is_missing(tmp_path: Path) -> None:
    with live(tmp_path, turn(*FNS[0])) as running:
        result = running.call("turn", {"mode": "hard", "axis": 1})

    assert text(result) == "UP hard"


def test_the_schema_says_that_it_may_be_left_out(tmp_path: Path) -> None:
    with live(tmp_path, turn(*FNS[0])) as running:
        tool = running.described("turn")

    assert "required" not in tool.input_schema
    axis = tool.input_schema["properties"]["axis"]
    assert "default" not in axis
    assert (
        axis["description"]
        == "The one that points up afterwards. If it is left out, the person is asked."
    )
