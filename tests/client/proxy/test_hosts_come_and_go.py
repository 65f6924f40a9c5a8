"""Hosts start late, crash, restart and are changed, and the client's session goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitResult

from tests.cli.commands import COMMAND, environment, serve
from tests.client.proxy.stage import (
    OWN,
    Small,
    are_whole,
    client,
    names,
    said,
    small,
    stdio,
    told,
    until,
)
from tests.live import ERAS, text
from tests.tiers import every_era

TIMES = [3, pytest.param(20, marks=pytest.mark.long)]
INITIALIZE = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}'
)
pytestmark = pytest.mark.anyio
CHANGED = {ERAS[1]: "ToolListChangedNotification", ERAS[2]: "ToolsListChanged"}


@pytest.mark.core
@pytest.mark.parametrize("era", ERAS[1:])
async def test_without_a_host_it_says_so_and_goes_on_once_one_is_started(
    era: str, tmp_path: Path
) -> None:
    """The host is the product's own, started by its own command."""
    heard: list[str] = []

    def note(message: Any) -> None:
        heard.append(type(message).__name__)

    async with client(tmp_path, era, heard=note) as session:
        assert await names(session) == OWN
        assert (await told(session, "list_hosts"))["hosts"] == []
        refused = await session.call_tool("list_items", {})
        assert refused.is_error
        assert "list_items was not called. No host is connected." in text(refused)
        async with _news(session, era, heard):
            with serve(tmp_path, "--headless"):
                await until(lambda: CHANGED[era] in heard)
                assert "list_items" in await names(session)
                assert "found" in await said(session, "list_items")


@asynccontextmanager
async def _news(session: Client, era: str, heard: list[str]) -> AsyncIterator[None]:
    """Listen, in the era in which a client must; in the other one it always does."""
    if era != ERAS[-1]:
        yield
        return
    async with session.listen(tools_list_changed=True) as news, anyio.create_task_group() as tasks:

        async def note() -> None:
            async for event in news:
                heard.append(type(event).__name__)

        tasks.start_soon(note)
        yield
        tasks.cancel_scope.cancel()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_host_may_be_killed_and_restarted_many_times(
    era: str, times: int, tmp_path: Path
) -> None:
    """Each call ends before there is a host again, and not in silence; the session stays."""
    ended: list[str] = []
    host = Small(tmp_path, "shot.ma")
    async with client(tmp_path, era) as session:
        await until(lambda: _works(session))
        for _ in range(times):
            async with anyio.create_task_group() as calls:
                calls.start_soon(_call, session, ended)
                await until(lambda: _waits(session))
                await anyio.to_thread.run_sync(host.kill)
            host = await anyio.to_thread.run_sync(Small, tmp_path, "shot.ma")
            await until(lambda: _works(session))
        assert are_whole(await names(session))
    host.kill()

    assert len(ended) == times
    assert all("ended during wait. It is not known whether wait was done" in one for one in ended)


@pytest.mark.parametrize("scenes", [("one/shot.ma", "two/shot.ma"), ("untitled", "untitled")])
async def test_a_call_never_reaches_another_scene_of_the_same_name(
    scenes: tuple[str, str], tmp_path: Path
) -> None:
    with small(tmp_path, scenes[0]) as one, small(tmp_path, scenes[1]):
        async with client(tmp_path) as session:
            await told(session, "use_host", host=one.id)
            one.kill()
            await until(lambda: _are(session, 1))
            result = await session.call_tool("choose", {"item": "cam1"})

    assert result.is_error
    assert "choose was not called." in text(result)


async def _are(session: Client, count: int) -> bool:
    return len((await told(session, "list_hosts"))["hosts"]) == count


@pytest.mark.parametrize("era", ERAS[1:])
async def test_the_first_result_of_a_restarted_host_says_that_it_is_another_process(
    era: str, tmp_path: Path
) -> None:
    async with client(tmp_path, era) as session:
        with small(tmp_path, "one/shot.ma") as first:
            await until(lambda: _works(session))
        with small(tmp_path, "one/shot.ma") as second:
            await until(lambda: _is_in(session, second.id))
            news, after = await said(session, "where"), await said(session, "where")

    assert f"{first.id} (Small, shot.ma) ended" in news
    assert second.id in news
    assert news.endswith(" shot.ma")
    assert after == "shot.ma"


async def _is_in(session: Client, name: str) -> bool:
    return bool((await told(session, "list_hosts"))["in_use"] == name)


async def _call(session: Client, ended: list[str]) -> None:
    result = await session.call_tool("wait", {})
    assert result.is_error
    ended.append(text(result))


async def _waits(session: Client) -> bool:
    return '"wait", "state": "running"' in await said(session, "recent_calls")


async def _works(session: Client) -> bool:
    return not (await session.call_tool("where", {})).is_error


@every_era
async def test_three_hosts_at_once_and_a_change_between_them_in_mid_session(
    era: str, tmp_path: Path
) -> None:
    scenes = ["one.ma", "two.ma", "three.ma"]

    with ExitStack() as stack:
        ids = [stack.enter_context(small(tmp_path, scene)).id for scene in scenes]
        async with client(tmp_path, era) as session:
            listed = await told(session, "list_hosts")
            assert sorted(one["id"] for one in listed["hosts"]) == sorted(ids)
            assert listed["in_use"] is None
            assert (await session.call_tool("where", {})).is_error
            for place, scene in [*zip(ids, scenes, strict=True), (ids[0], scenes[0])]:
                await told(session, "use_host", host=place)
                assert await said(session, "where") == scene
                assert (await told(session, "list_hosts"))["in_use"] == place


@every_era
async def test_an_answer_goes_to_the_host_that_asked_although_the_client_changed_meanwhile(
    era: str, tmp_path: Path
) -> None:
    async def asked(params: Any) -> ElicitResult:
        await told(session, "use_host", host=two.id)
        assert await said(session, "where") == "two.ma"
        return ElicitResult(action="accept", content={"name": "Ada"})

    with small(tmp_path, "one.ma") as one, small(tmp_path, "two.ma") as two:
        async with client(tmp_path, era, asked) as session:
            await told(session, "use_host", host=one.id)
            answered = await told(session, "ask", times=2)
            assert answered["scene"] == "one.ma"
            assert answered["names"] == ["Ada", "Ada"]
            assert await said(session, "where") == "two.ma"


@every_era
async def test_a_host_that_dies_with_its_question_open_ends_the_call_with_a_sentence(
    era: str, tmp_path: Path
) -> None:
    async def asked(params: Any) -> ElicitResult:
        await anyio.to_thread.run_sync(host.kill)
        await until(lambda: _are(session, 0))
        return ElicitResult(action="accept", content={"name": "Ada"})

    with small(tmp_path) as host:
        async with client(tmp_path, era, asked) as session:
            result = await session.call_tool("ask", {})

    assert result.is_error
    assert "Look at the scene before you try again" in text(result)


@pytest.mark.parametrize("words", [("--scene", "t*.ma"), ("--instance", "{id}")])
async def test_what_was_asked_for_at_the_set_up_is_used(
    words: tuple[str, str], tmp_path: Path
) -> None:
    with small(tmp_path, "one.ma"), small(tmp_path, "two.ma") as two:
        told = [word.format(id=two.id) for word in words]
        async with client(tmp_path, ERAS[-1], None, *told) as session:
            assert await said(session, "where") == "two.ma"


@pytest.mark.skipif(sys.platform == "win32", reason="no process sends another one a signal there")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_although_the_client_is_there(how: signal.Signals, tmp_path: Path) -> None:
    """Whoever tries it in a terminal gets out with Ctrl+C."""
    with stdio(tmp_path) as client:
        client.write(INITIALIZE)
        assert client.read()["id"] == 1
        client.process.send_signal(how)

        assert client.process.wait(5) == -how


@pytest.mark.usefixtures("new_interpreter")
def test_stdout_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    """Garbage, an unknown method and a late answer are no reason to end, and the end is clean."""
    sent = [
        "this is no JSON",
        '{"jsonrpc": "2.0", "id": 7, "result": {}}',
        INITIALIZE,
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":2,"method":"no/such"}',
        '{"jsonrpc":"2.0","id":3,"method":"tools/list"}',
    ]
    with small(tmp_path):
        done = subprocess.run(
            [*COMMAND, "connect"],
            env=environment(tmp_path),
            input="".join(line + "\n" for line in sent),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    heard = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert {one["jsonrpc"] for one in heard} == {"2.0"}
    assert heard[0]["error"]["code"] == -32700
    assert heard[1]["result"]["protocolVersion"] == "2025-11-25"
