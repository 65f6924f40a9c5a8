"""A client that comes while the bridge is still starting, and what no request passes through."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.headless import Pump
from dcc_bridge.server import discovery
from tests.hosts.application import until
from tests.live import connected, live, text
from tests.skills.shelf import save
from tests.stand_ins import FakeHost
from tests.tiers import every_era

COUNT = '''
from dcc_bridge import skill

@skill(risk="read")
def count() -> int:
    """Count to one."""
    return 1
'''


@every_era
def test_a_call_before_the_skills_are_read_waits_for_them(tmp_path: Path, era: str) -> None:
    """It is not told that there is no such tool."""
    save(tmp_path / "skills" / "count.py", COUNT)
    pump = Pump()
    settings, folders = Settings(runtime=tmp_path), [tmp_path / "skills"]
    bridge = Bridge(FakeHost(), pump.main, settings=settings, skills=folders)
    bridge.start()

    async def agent() -> tuple[list[str], CallToolResult]:
        token = bridge.instance.token("test")
        async with connected(bridge.url, token, era) as client:
            result = await client.call_tool("count", {})
            return [tool.name for tool in (await client.list_tools()).tools], result

    with ThreadPoolExecutor(1) as apart:
        told = apart.submit(anyio.run, agent)
        told.add_done_callback(lambda _: pump.wake(0))
        until(lambda: bool(bridge.clients.seen))
        pump.run(told.done)
    names, result = told.result()
    bridge.stop()

    assert "count" in names
    assert text(result) == "1"


def test_a_bridge_that_starts_is_told_from_one_that_agents_cannot_reach(tmp_path: Path) -> None:
    pump = Pump()
    bridge = Bridge(FakeHost(), pump.main, settings=Settings(runtime=tmp_path))

    ready = bridge.start()
    addresses = [bridge.address]
    pump.run(ready.done)
    addresses.append(bridge.address)
    bridge.stop()

    assert [*addresses, bridge.address] == ["", bridge.url, None]


def test_a_scene_that_changes_while_the_bridge_starts_is_followed_without_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An application tells of changes as soon as it is asked to, some while it still starts."""
    pump, host = Pump(), FakeHost()
    bridge = Bridge(host, pump.main, settings=Settings(runtime=tmp_path))
    ready = bridge.start()

    host.select(["a"])
    ready.add_done_callback(lambda _: pump.wake(0))
    pump.run(ready.done)
    bridge.stop()

    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize(("setting", "freezes"), [(None, 1), ("1", 1), ("0", 0)])
def test_a_host_whose_collector_is_not_to_be_touched_says_so_at_its_start(
    setting: str | None, freezes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []

    def note(*given: object) -> Callable[[], None]:
        begun.append(given)
        return lambda: None

    monkeypatch.setattr("dcc_bridge.threads.main_thread.freeze", note)
    monkeypatch.delenv("DCC_BRIDGE_FREEZE")
    if setting is not None:
        monkeypatch.setenv("DCC_BRIDGE_FREEZE", setting)

    with live(tmp_path):
        pass

    assert len(begun) == freezes


def test_no_span_is_made_of_a_message(tmp_path: Path) -> None:
    modules: list[str] = []

    def look(server: MCPServer[Any]) -> None:
        modules.extend(type(middleware).__module__ for middleware in server.middleware)

    with live(tmp_path, extend=look):
        pass

    assert modules
    assert not [module for module in modules if "otel" in module]


def test_mcp_requests_pass_by_the_router_and_a_page_of_a_plug_in_does_not(tmp_path: Path) -> None:
    scopes: list[MutableMapping[str, Any]] = []

    async def note(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        assert ctx.request is not None
        scopes.append(ctx.request.scope)
        return await call_next(ctx)

    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("a page")

    def add(server: MCPServer[Any]) -> None:
        server.middleware.append(note)
        server.custom_route("/page", ["GET"])(page)

    with live(tmp_path, extend=add) as running:
        running.call("current_scene")
        bearer = {"Authorization": f"Bearer {running.bridge.instance.token('test')}"}
        url = running.bridge.url.replace("/mcp", "/page")
        answer = running.beside(lambda: httpx2.get(url, headers=bearer))

    assert scopes
    assert all("router" not in scope for scope in scopes)
    assert answer.text == "a page"


def test_nothing_wakes_the_worker_once_a_stream_is_over(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.call("current_scene", era="2025-11-25")
        looking = running.bridge._worker.spawn(_tasks())
        running.until(looking.done)
        names = looking.result()

    assert not [name for name in names if "watcher" in name]


async def _tasks() -> list[str]:
    return [str(task.get_coro()) for task in asyncio.all_tasks()]


def test_a_server_that_cannot_be_imported_is_told_at_once_and_no_client_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """To the panel, in the log and to whoever lists the hosts."""

    def fail(*_: object) -> None:
        raise ImportError("_ssl.so: undefined symbol")

    monkeypatch.setattr("dcc_bridge.server.service.McpService", fail)
    pump = Pump()
    bridge = Bridge(FakeHost(), pump.main, settings=Settings(runtime=tmp_path))

    ready = bridge.start()
    until(lambda: discovery.running(tmp_path)[0].state == "failed")

    (listed,) = discovery.running(tmp_path)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(bridge.url).port or 0))
    assert bridge.address is None
    assert isinstance(ready.exception(), ImportError)
    assert bridge.problem == listed.start_problem()
    assert "_ssl.so: undefined symbol" in listed.why
    assert "restart it" in listed.mend
    assert "_ssl.so: undefined symbol" in caplog.text
    bridge.stop()
    assert discovery.running(tmp_path) == []


def test_a_start_that_takes_too_long_says_what_it_waits_for_and_may_still_become_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dialog of the host, say, keeps its main thread."""
    pump = Pump()
    monkeypatch.setattr("dcc_bridge.bridge.START_LIMIT_S", 0.01)
    bridge = Bridge(FakeHost(), pump.main, settings=Settings(runtime=tmp_path))

    ready = bridge.start()
    until(lambda: discovery.running(tmp_path)[0].state == "failed")
    (late,) = discovery.running(tmp_path)
    addresses = [bridge.address]
    pump.run(ready.done)
    addresses.append(bridge.address)

    (listed,) = discovery.running(tmp_path)
    assert "has been starting for" in late.why
    assert late.mend
    assert addresses == [None, bridge.url]
    assert (listed.state, listed.start_problem(), bridge.problem) == ("ready", None, None)
    bridge.stop()
