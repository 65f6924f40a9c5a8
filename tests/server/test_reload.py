"""A skill file is edited while its call is open and while others list the tools: all are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from dcc_bridge.elicitation.question import Reply
from tests.client.proxy.stage import until
from tests.live import ERAS, Live, accept, listed, live, status, text
from tests.server.skills import Skills
from tests.server.task_wire import Wire
from tests.skills.shelf import save
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era, sampled

DELETE = '''
from dcc_bridge import elicit_form_sync, skill
from tests.stand_ins import FakeHost

CONFIRM = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Delete"}},
    "required": ["confirm"],
}

@skill(risk="destructive", confirms=True)
def delete(pattern: str = "cam") -> dict:
    """Delete what matches."""
    answer = elicit_form_sync("Delete?", CONFIRM)
    return {"version": 1, "agreed": answer.accepted}
'''
NEWER = DELETE.replace("pattern: str", "glob: str").replace('"version": 1', '"version": 2')
READ = '''
from dcc_bridge import skill

@skill(risk="read")
def count() -> int:
    """Count to one."""
    return 1
'''


async def watched(running: Live, era: str, then: Callable[[Client], Any], heard: list[Any]) -> Any:
    """Do something with a client that hears of changed lists into ``heard``."""
    if era != ERAS[-1]:
        async with running.client(era, heard=heard.append) as client:
            await client.list_tools()
            return await then(client)
    async with running.client(era) as client, client.listen(tools_list_changed=True) as news:

        async def listen() -> None:
            async for event in news:
                heard.append(event)

        async with anyio.create_task_group() as listening:
            listening.start_soon(listen)
            result = await then(client)
            listening.cancel_scope.cancel()
        return result


async def names(client: Client) -> dict[str, list[str]]:
    tools = await listed(client, "delete", "count")
    return {tool.name: list(tool.input_schema.get("properties", {})) for tool in tools}


@every_era
def test_a_parked_call_keeps_its_function_and_the_list_is_the_new_one(
    era: str, tmp_path: Path
) -> None:
    file = save(tmp_path / "skills" / "delete.py", DELETE)
    asked, edited = anyio.Event(), anyio.Event()
    heard: list[Any] = []

    async def person(params: Any) -> Any:
        asked.set()
        await edited.wait()
        return accept(confirm=True)(params)

    async def caller() -> tuple[CallToolResult, CallToolResult]:
        async with running.client(era, asked=person) as client:
            first = await client.call_tool("delete", {"pattern": "cam"})
            return first, await client.call_tool("delete", {"glob": "cam"})

    async def lister(client: Client) -> tuple[Any, Any]:
        before = await names(client)
        save(file, NEWER)
        await until(lambda: bool(heard))
        return before, await names(client)

    async def both() -> tuple[Any, Any]:
        results: list[Any] = []

        async def call() -> None:
            results.append(await caller())

        async with anyio.create_task_group() as calling:
            calling.start_soon(call)
            await asked.wait()
            lists = await watched(running, era, lister, heard)
            edited.set()
        return results[0], lists

    with live(tmp_path, skills=[file.parent]) as running:
        (first, second), (before, after) = running.run(both)

    assert before == {"delete": ["pattern"]}
    assert after == {"delete": ["glob"]}
    assert first.structured_content == {"version": 1, "agreed": True}
    assert second.structured_content == {"version": 2, "agreed": True}


def test_a_skill_that_is_taken_away_in_mid_question_does_not_lose_the_answer(
    tmp_path: Path,
) -> None:
    skills, yes = Skills(), {"action": "accept", "content": {"confirm": True}}

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        wire = Wire.beside(running)
        asked = wire.call("delete")
        running.forget("delete")
        answers = dict.fromkeys(asked["inputRequests"], yes)
        result = wire.call("delete", inputResponses=answers, requestState=asked["requestState"])

    assert result["structuredContent"] == {"deleted": 127, "by": "client"}
    assert skills.ran["delete"] == 1


@pytest.mark.parametrize("era", sampled(ERAS[2:], ERAS))
def test_clients_hear_of_files_that_come_break_and_go(era: str, tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    folder.mkdir()
    heard: list[Any] = []
    file = folder / "count.py"

    async def agent(client: Client) -> list[Any]:
        told: list[Any] = []
        for change in (
            lambda: save(file, READ),
            lambda: save(file, "def count(:\n"),
            file.unlink,
        ):
            heard.clear()
            change()
            await until(lambda: bool(heard))
            told.append(await names(client))
            told.append(text(await client.call_tool("count", {})))
        return told

    with live(tmp_path, skills=[folder]) as running:
        came, one, broke, why, gone, nothing = running.run(
            lambda: watched(running, era, agent, heard)
        )

    assert (came, one) == ({"count": []}, "1")
    assert broke == {"count": []}
    assert "count.py could not be loaded: line 1: SyntaxError" in why
    assert (gone, "no tool named 'count'" in nothing) == ({}, True)


def test_the_server_says_that_its_list_changes(tmp_path: Path) -> None:
    async def agent(era: str) -> bool | None:
        async with running.client(era) as client:
            tools = client.server_capabilities.tools
            return tools.list_changed if tools else None

    with live(tmp_path) as running:
        assert [running.run(agent, era) for era in ERAS[:2]] == [True, True]


def test_a_session_grant_does_not_outlive_an_edit_of_its_file(tmp_path: Path) -> None:
    text_ = DELETE.replace('risk="destructive", confirms=True', 'risk="edit", tried=False')
    text_ = text_.replace('answer = elicit_form_sync("Delete?", CONFIRM)', "")
    text_ = text_.replace('"agreed": answer.accepted', '"agreed": True')
    file = save(tmp_path / "skills" / "delete.py", text_)
    session = Reply("accept", {"confirm": True}, remember=True)
    person = Person(session, session, session)
    heard: list[Any] = []

    async def agent(client: Client) -> list[int]:
        counts = []
        for number in range(3):
            if number == 2:
                save(file, text_.replace("pattern: str", "glob: str"))
                await until(lambda: bool(heard))
            assert status(await client.call_tool("delete", {})) == "done"
            counts.append(len(person.shown))
        return counts

    with live(
        tmp_path, host=FakeHost(has_ui=True), presenter=person, skills=[file.parent], edit="ask"
    ) as running:
        counts = running.run(lambda: watched(running, ERAS[-1], agent, heard))

    assert counts == [1, 1, 2]
