"""What a skill gives and asks goes over the wire whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import elicit_url, elicit_url_sync, skill
from tests.live import ERAS, accept, listed, live, say, text


class Vector:
    def __str__(self) -> str:
        return "(1, 2, 3)"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("value", "told", "structured"),
    [
        (None, "Done.", None),
        ("text", "text", None),
        (7, "7", None),
        (["a", "b"], '["a", "b"]', None),
        ({"at": Vector()}, '{"at": "(1, 2, 3)"}', {"at": "(1, 2, 3)"}),
    ],
)
def test_any_result_is_one_text_and_a_dict_is_structured_too(
    era: str, value: Any, told: str, structured: Any, tmp_path: Path
) -> None:
    @skill(risk="read")
    def give() -> Any:
        """Give it."""
        return value

    with live(tmp_path, give) as running:
        result = running.call("give", era=era)

    assert text(result) == told
    assert result.structured_content == structured


def test_a_skill_is_listed_with_what_it_may_do(tmp_path: Path) -> None:
    @skill(risk="read", title="Count")
    def count(under: str = "/") -> int:
        """Count what is there.

        Args:
            under: Where to look.
        """
        return 0

    async def agent() -> Any:
        async with running.client() as client:
            return await listed(client, "count")

    with live(tmp_path, count) as running:
        (tool,) = running.run(agent)

    assert (tool.name, tool.title, tool.description) == ("count", "Count", "Count what is there.")
    assert tool.input_schema["properties"]["under"]["description"] == "Where to look."
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.destructive_hint is False


@pytest.mark.parametrize("era", ERAS[1:])
def test_a_page_is_offered_to_a_client_that_can_open_one(era: str, tmp_path: Path) -> None:
    seen: list[Any] = []

    def person(params: Any) -> Any:
        seen.append(params)
        return accept()(params)

    @skill(risk="read")
    async def sign_in() -> Any:
        """Sign in."""
        answer = await elicit_url("Please sign in.", "https://example.org/in", description="Studio")
        return {"accepted": answer.accepted, "by": answer.answered_by}

    with live(tmp_path, sign_in) as running:
        result = running.call("sign_in", era=era, asked=person)

    assert json.loads(text(result)) == {"accepted": True, "by": "client"}
    assert (seen[0].url, seen[0].message) == ("https://example.org/in", "Please sign in.\n\nStudio")


@pytest.mark.parametrize(
    ("asked", "why"), [(say("decline"), "declined"), (None, "elicitation_not_supported")]
)
def test_a_page_that_nobody_opens_is_a_decline(asked: Any, why: str, tmp_path: Path) -> None:
    @skill(risk="read")
    def sign_in() -> Any:
        """Sign in."""
        answer = elicit_url_sync("Please sign in.", "https://example.org/in")
        return f"{answer.action} {answer.message}"

    with live(tmp_path, sign_in) as running:
        assert text(running.call("sign_in", asked=asked)) == f"decline {why}"
