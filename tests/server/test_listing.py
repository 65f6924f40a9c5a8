"""The list of tools, short or long, is serialized once, and anew when something has changed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import Tool, methods

from dcc_bridge import skill
from dcc_bridge.server import mcp_server, resources
from dcc_bridge.skills.loader import Library
from dcc_bridge.skills.skill import describe
from tests.live import ERAS, Live, live, text
from tests.skills.shelf import save
from tests.tiers import every_era, repeated

READ = '''
from dcc_bridge import skill

@skill(risk="read")
def {name}() -> int:
    """Count to {number}."""
    return 1
'''

MADE = '''
from dcc_bridge import skill

if True:

    @skill(risk="read")
    def made() -> int:
        """Count to one."""
        return 1
'''
LIMIT = 60.0


@skill(risk="read")
def look() -> str:
    """Look."""
    return "seen"


@skill(risk="read")
def count() -> int:
    """Count."""
    return 1


@pytest.fixture
def serialized(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tools that were serialized, in their order."""
    names: list[str] = []
    serialize = methods.serialize_server_result

    def noting(method: str, version: str, data: Any, **more: Any) -> dict[str, Any]:
        if method == "tools/list" and not more:  # a client validates with a surface
            names.extend(tool["name"] for tool in data["tools"])
        return serialize(method, version, data, **more)

    monkeypatch.setattr(methods, "serialize_server_result", noting)
    monkeypatch.setattr(mcp_server, "serialize_server_result", noting)
    monkeypatch.setattr(mcp_server, "_WARM_UP_S", LIMIT)  # a start serializes all that it would
    return names


async def tools(client: Client) -> dict[str, Tool]:
    listed = (await client.list_tools()).tools
    by_name = {tool.name: tool for tool in listed}
    assert len(by_name) == len(listed)
    return by_name


async def lists_at_once(running: Live, clients: int) -> list[dict[str, Tool]]:
    every: list[dict[str, Tool]] = []

    async def agent() -> None:
        async with running.client(ERAS[-1]) as client:
            every.append(await tools(client))

    async with anyio.create_task_group() as listing:
        for _ in range(clients):
            listing.start_soon(agent)
    return every


def lists(running: Live, era: str, times: int = 1) -> list[dict[str, Tool]]:
    """List the tools some times, each time as a client of its own."""

    async def agent() -> list[dict[str, Tool]]:
        every = []
        for _ in range(times):
            async with running.client(era) as client:
                every.append(await tools(client))
        return every

    return running.run(agent)


@every_era
def test_a_list_in_which_nothing_changed_is_not_serialized_again(
    era: str, tmp_path: Path, serialized: list[str]
) -> None:
    with live(tmp_path, look, count) as running:
        (first,) = lists(running, era)
        before = list(serialized)
        again = lists(running, era, times=3)

    assert before.count("look") == before.count("count") == len({*ERAS[1:], era})  # and the start's
    assert again == [first] * 3
    assert serialized == before


@every_era
def test_what_was_added_taken_out_or_saved_is_in_the_next_list(era: str, tmp_path: Path) -> None:
    file = save(tmp_path / "skills" / "counting.py", READ.format(name="one", number=1))

    with live(tmp_path, look, skills=[file.parent]) as running:
        (first,) = lists(running, era)
        take_out = running.bridge.registry.add(describe(count))
        (added,) = lists(running, era)
        take_out()
        (taken,) = lists(running, era)
        save(file, READ.format(name="two", number=2))
        running.until(lambda: "two" in running.bridge.registry)
        running.until(lambda: "two" in lists(running, era)[0])
        (saved,) = lists(running, era)

    assert "count" not in first
    assert "count" in added
    assert taken == first
    assert saved.keys() == first.keys() - {"one"} | {"two"}


def test_a_tool_that_was_added_through_the_sdk_is_in_the_next_list(tmp_path: Path) -> None:
    servers: list[Any] = []

    with live(tmp_path, look, extend=servers.append) as running:
        (first,) = lists(running, ERAS[-1])
        servers[0].add_tool(lambda: 1, "late")
        (second,) = lists(running, ERAS[-1])

    assert second.keys() - first.keys() == {"late"}


def test_a_plug_in_may_still_hide_a_tool_from_a_client(tmp_path: Path) -> None:
    async def hide(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            result["tools"] = [it for it in result["tools"] if it["name"] != "look"]
        return result

    async def keep(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        return await call_next(replace(ctx))

    for position, middleware in ((len, hide), (lambda _: 0, hide), (len, keep)):

        def extend(server: Any, position: Any = position, middleware: Any = middleware) -> None:
            server.middleware.insert(position(server.middleware), middleware)

        with live(tmp_path, look, count, extend=extend) as running:
            first, second = lists(running, ERAS[-1], times=2)

        assert first == second
        assert ("look" in first) == (middleware is keep)
        assert "count" in first


def test_clients_that_list_at_the_same_time_have_it_serialized_once(
    tmp_path: Path, serialized: list[str]
) -> None:
    with live(tmp_path, look) as running:
        running.bridge.registry.add(describe(count))
        serialized.clear()
        every = running.run(lists_at_once, running, 8)

    assert every == [every[0]] * 8
    assert serialized.count("look") == 1


def test_what_a_plug_in_edits_in_a_listed_tool_is_edited_in_that_list_alone(tmp_path: Path) -> None:
    async def edit(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            for tool in result["tools"]:
                tool["description"] += " Edited."
        return result

    with live(tmp_path, look, extend=lambda server: server.middleware.insert(0, edit)) as running:
        first, second = lists(running, ERAS[-1], times=2)

    assert str(first["look"].description).count("Edited.") == 1
    assert second == first


def test_a_client_that_lists_at_once_when_it_is_notified_gets_the_new_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: Any = None
    listed: list[dict[str, Tool]] = []

    def note(_: object) -> None:
        if running is not None:
            listed.extend(lists(running, ERAS[-1]))

    monkeypatch.setattr(resources.ToolListChanges, "note", note)
    with live(tmp_path, look) as started:
        lists(started, ERAS[-1])
        running = started
        started.bridge.registry.add(describe(count))

    assert "count" in listed[0]


def test_a_busy_host_holds_up_each_client_that_lists_by_itself_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "IMPORT_WAIT_S", 6 * LIMIT)
    file = save(tmp_path / "skills" / "making.py", MADE)
    looks: list[int] = []
    entered = threading.Semaphore(0)
    complete = Library.complete

    def noting(library: Library) -> list[Future[None]]:
        imports = complete(library)
        looks.append(len(imports))
        entered.release()
        return imports

    with live(tmp_path, skills=[file.parent]) as running:
        monkeypatch.setattr(Library, "complete", noting)
        listing = running.go(lists_at_once, running, 3)
        are_waiting = all(entered.acquire(timeout=LIMIT) for _ in range(3))  # nothing is served
        running.until(listing.done)

    assert are_waiting
    assert looks == [1, 1, 1]
    assert all("made" in listed for listed in listing.result())


SKILL = '''
from dcc_bridge import skill

@skill(risk="read")
def skill_{n}(pattern: str = "*") -> dict[str, int]:
    """Count what matches."""
    return {{"count": {n}}}
'''
RAISES = SKILL.format(n="raises") + '\nraise RuntimeError("no licence")\n'


def imported() -> int:
    return sum(name.startswith("dcc_bridge_skill_skill_") for name in sys.modules)


@pytest.mark.parametrize("count", repeated(150, 1000))
def test_a_thousand_are_listed_without_an_import_and_three_bad_ones_harm_none(
    count: int, tmp_path: Path
) -> None:
    own, mine = tmp_path / "own", tmp_path / "mine"
    for n in range(count):
        save(own / f"skill_{n}.py", SKILL.format(n=n))
    save(own / "broken.py", "def broken(:\n")
    save(own / "raises.py", RAISES)
    shadow = save(mine / "aaa.py", SKILL.format(n=7).replace('"count": 7', '"count": 666'))
    before = imported()

    async def agent() -> tuple[Any, ...]:
        async with running.client() as client:
            first = await tools(client)
            unimported = imported()
            raised = await client.call_tool("skill_raises", {})
            called = await client.call_tool("skill_7", {})
        async with running.client() as another:  # the first one may keep its list for a minute
            return first, unimported, raised, called, await tools(another)

    with live(tmp_path, skills=[own], user_skills=mine) as running:
        first, unimported, raised, called, after = running.run(agent)
        (refusal,) = map(str, running.bridge.registry.refused.values())

    assert {f"skill_{n}" for n in range(count)} <= first.keys()
    assert unimported == before
    assert first["broken"].description.startswith("Unavailable: broken.py could not be loaded: ")
    assert "broken.py could not be loaded: line 1: SyntaxError" in first["broken"].description
    assert first["skill_raises"].description == "Count what matches."
    assert raised.is_error
    assert "raises.py could not be loaded: line 9: RuntimeError: no licence" in text(raised)
    assert "no licence" in after["skill_raises"].description
    assert called.structured_content == {"count": 7}
    assert str(shadow) in refusal
    assert str(own / "skill_7.py") in refusal
