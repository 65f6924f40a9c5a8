"""A parked call: its body runs once, whatever a modern client sends, and however often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult

from tests.live import Live, accept, live, status
from tests.server.skills import Skills

YES = ElicitResult(action="accept", content={"confirm": True})
NO = ElicitResult(action="decline")
Agent = Callable[[Client], Awaitable[Any]]


def converse(running: Live, agent: Agent) -> Any:
    """Let an agent drive the rounds by hand."""

    async def connected() -> Any:
        async with running.client(asked=accept()) as client:
            return await agent(client)

    return running.run(connected)


async def send(client: Client, tool: str = "delete", **more: Any) -> Any:
    """Send one request of a call, and give what came back."""
    return await client.session.call_tool(tool, {}, allow_input_required=True, **more)


async def begin(client: Client, tool: str = "delete") -> InputRequiredResult:
    """Start a call, which asks."""
    first = await send(client, tool)
    assert isinstance(first, InputRequiredResult)
    return first


def answer(asked: InputRequiredResult, said: ElicitResult = YES) -> dict[str, Any]:
    """Make what a retry carries."""
    return {
        "input_responses": dict.fromkeys(asked.input_requests or {}, said),
        "request_state": asked.request_state,
    }


def test_a_changed_answer_comes_too_late(tmp_path: Path) -> None:
    skills = Skills()

    async def agent(client: Client) -> tuple[CallToolResult, CallToolResult]:
        asked = await begin(client)
        return await send(client, **answer(asked, NO)), await send(client, **answer(asked, YES))

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        first, second = converse(running, agent)

    assert first.structured_content == second.structured_content
    assert status(second) == "refused"
    assert len(skills.host.items) == 127


def test_an_answer_after_the_deadline_gets_the_cancel(tmp_path: Path) -> None:
    skills = Skills()

    async def agent(client: Client) -> CallToolResult:
        asked = await begin(client)
        while running.bridge.broker.open:
            await anyio.sleep(0.005)
        result: CallToolResult = await send(client, **answer(asked))
        return result

    with live(tmp_path, skills.delete(), host=skills.host, client_deadline=0.05) as running:
        result = converse(running, agent)

    assert result.structured_content == {"deleted": 0, "why": "timed_out", "by": "nobody"}
    assert len(skills.host.items) == 127


def test_a_reload_in_mid_question_does_not_lose_the_answer(tmp_path: Path) -> None:
    skills = Skills()

    async def agent(client: Client) -> CallToolResult:
        asked = await begin(client)
        running.forget("delete")
        result: CallToolResult = await send(client, **answer(asked))
        return result

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        result = converse(running, agent)

    assert result.structured_content == {"deleted": 127, "by": "client"}
    assert skills.ran["delete"] == 1


def test_a_client_that_would_give_up_is_not_asked_a_ninth_time(tmp_path: Path) -> None:
    from dcc_bridge import elicit_form_sync, skill
    from tests.server.skills import CONFIRM

    @skill(risk="read")
    def endless() -> list[str | None]:
        """Ask until somebody says no."""
        heard: list[str | None] = []
        while True:
            answered = elicit_form_sync(f"Question {len(heard)}?", CONFIRM)
            if not answered.accepted:
                return [*heard, answered.message]
            heard.append(answered.message)

    with live(tmp_path, endless) as running:
        result = running.call("endless", asked=accept(confirm=True))

    assert result.content[0].text.endswith('"too_many_questions"]')  # type: ignore[union-attr]  # it is text
    assert result.content[0].text.count("null") == 8  # type: ignore[union-attr]  # it is text
