"""Where a host's questions are pages, one about another site says where that leads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp_types import CallToolResult

from dcc_bridge import ask_secret_sync, elicit_url_sync, skill
from dcc_bridge.testing import FakeHost
from tests.live import text
from tests.server.asked import Asked, Seen, asked

URL = "https://accounts.google.com.evil.example/sign-in?next=%2Fhome"


@skill(risk="read")
def approve() -> str:
    """Have something approved."""
    answer = elicit_url_sync("Approve it, please.", URL, description="It shows the invoice.")
    return f"{answer.accepted} {answer.message} {answer.answered_by}"


def waiting(stage: Asked, tool: str) -> Any:
    """Call a tool, and wait until its question has an address."""

    async def agent() -> CallToolResult:
        async with stage.running.client() as session:
            return await session.call_tool(tool, {})

    calling = stage.running.go(agent)
    stage.running.until(lambda: bool(stage.urls))
    return calling


@pytest.mark.parametrize(
    ("exit", "told"),
    [
        ("accept", "True completion_unverified host"),
        ("decline", "False declined host"),
        ("cancel", "False cancelled host"),
    ],
)
def test_the_page_leads_there_and_takes_the_answer(tmp_path: Path, exit: str, told: str) -> None:
    with asked(tmp_path, approve, host=FakeHost(has_ui=True)) as stage:
        calling = waiting(stage, "approve")
        person = stage.browser()
        seen = Seen(person.get(stage.urls[0]).text)
        person.post(stage.urls[0], data={"exit": exit})
        stage.running.until(calling.done)

    link = seen.one(href=URL)
    assert (link["rel"], link["target"]) == ("noopener noreferrer", "_blank")
    assert "It begins like accounts.google.com, but belongs to evil.example." in seen.text
    assert URL in seen.text
    assert "It shows the invoice." in seen.text
    assert text(calling.result()).startswith(told)


def test_a_page_of_ours_is_announced_itself(tmp_path: Path) -> None:
    @skill(risk="read")
    def sign_in() -> int:
        """Sign in."""
        return len(ask_secret_sync("It needs a key.", label="Key").reveal())

    with asked(tmp_path, sign_in, host=FakeHost(has_ui=True)) as stage:
        calling = waiting(stage, "sign_in")
        person: httpx2.Client = stage.browser()
        seen = Seen(person.get(stage.urls[0]).text)
        person.post(stage.urls[0], data={"exit": "accept", "secret": "abcdefgh"})
        stage.running.until(calling.done)

    assert seen.one(id="secret")["type"] == "password"
    assert text(calling.result()) == "8"
