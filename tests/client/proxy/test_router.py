"""The order of messages that a real client's timing shows seldom or never."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, cast

import anyio
import pytest
from anyio.abc import TaskGroup
from mcp.shared.message import SessionMessage
from mcp_types import (
    HEADER_MISMATCH,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import Field

from dcc_bridge.client.proxy import HostChoice, Wanted
from dcc_bridge.client.proxy.lobby import Lobby, LobbyLink
from dcc_bridge.client.proxy.router import Router, Say
from dcc_bridge.client.proxy.upstream import Upstream
from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance
from tests.bench.agent import envelope
from tests.client.impostor import impostor_server
from tests.live import LIMIT, live

OTHER = Instance("http://127.0.0.1:9/mcp", "Other", "1", "other.ma", state="ready")


def test_what_is_sent_before_the_handshake_is_answered_waits_for_that() -> None:
    """To whom it goes, and how, is not known before."""
    said: list[JSONRPCMessage] = []
    to_lobby: list[JSONRPCMessage] = []

    async def say(message: JSONRPCMessage) -> None:
        said.append(message)

    hello = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params={})
    listing = JSONRPCRequest(jsonrpc="2.0", id=2, method="tools/list")
    welcome = JSONRPCResponse(jsonrpc="2.0", id=1, result={"protocolVersion": "2025-11-25"})

    async def talk() -> list[JSONRPCMessage]:
        async with anyio.create_task_group() as tasks:
            router = Router(HostChoice(Wanted()), list, "test", say, tasks)
            router.say_lobby = to_lobby.append
            await router.from_client(hello)
            await router.from_client(listing)
            before = list(to_lobby)
            await router.from_lobby(welcome)
        return before

    assert anyio.run(talk) == [hello]
    assert to_lobby == [hello, listing]
    assert said == [welcome]


PROBE = JSONRPCRequest(jsonrpc="2.0", id=1, method="server/discover")
HELLO = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params={})
FOUND = JSONRPCResponse(jsonrpc="2.0", id=1, result={"supportedVersions": []})
WELCOME = JSONRPCResponse(jsonrpc="2.0", id=1, result={"protocolVersion": "2025-11-25"})


def test_the_answer_of_a_probe_that_was_given_up_is_not_the_handshakes_of_the_same_id() -> None:
    """The client waited for a while, and began again with its first id."""
    heard: list[JSONRPCMessage] = []

    async def hear(message: JSONRPCMessage) -> None:
        heard.append(message)

    async def talk() -> None:
        may_answer = anyio.Event()

        class Slow:
            async def run(self, inbox: Any, outbox: Any, options: Any) -> None:
                async with inbox, outbox:
                    async for item in inbox:
                        await may_answer.wait()
                        is_hello = item.message.method == "initialize"
                        await outbox.send(SessionMessage(WELCOME if is_hello else FOUND))

        async with anyio.create_task_group() as tasks:
            link = LobbyLink(cast("Lobby", SimpleNamespace(server=Slow(), options={})), hear, tasks)
            with link._put:
                link.say(PROBE)
                link.say(HELLO)
                may_answer.set()
                await anyio.wait_all_tasks_blocked()
            link._put.close()

    anyio.run(talk)

    assert heard == [WELCOME]


def test_what_is_said_while_a_probes_answer_goes_out_waits_for_the_handshake_of_its_id() -> None:
    to_lobby: list[JSONRPCMessage] = []
    listing = JSONRPCRequest(jsonrpc="2.0", id=2, method="tools/list")

    async def talk() -> list[JSONRPCMessage]:
        is_read = anyio.Event()
        async with anyio.create_task_group() as tasks:
            router = Router(
                HostChoice(Wanted()), list, "test", lambda message: is_read.wait(), tasks
            )
            router.say_lobby = to_lobby.append
            tasks.start_soon(router.from_lobby, FOUND)
            await anyio.wait_all_tasks_blocked()
            await router.from_client(HELLO)
            await router.from_client(listing)
            is_read.set()
            await anyio.wait_all_tasks_blocked()
            before = list(to_lobby)
            await router.from_lobby(WELCOME)
        return before

    assert anyio.run(talk) == [HELLO]
    assert to_lobby == [HELLO, listing]


def test_a_look_that_comes_after_the_client_has_left_connects_to_nothing() -> None:
    """A host starts in the moment in which the client leaves."""
    hello = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params={})
    welcome = JSONRPCResponse(jsonrpc="2.0", id=1, result={"protocolVersion": "2025-11-25"})
    hosts: list[Instance] = []

    async def talk() -> Router:
        async with anyio.create_task_group() as tasks:
            router = Router(HostChoice(Wanted()), lambda: hosts, "test", ignore, tasks)
            router.say_lobby = to_lobby.append
            await router.from_client(hello)
            await router.from_lobby(welcome)
            router.close()
        hosts.append(OTHER)
        await router.look()
        return router

    to_lobby: list[JSONRPCMessage] = []
    assert anyio.run(talk)._upstreams == {}


async def calling_router(runtime: Path, say: Say, tasks: TaskGroup) -> Router:
    """Give a router that has sent a call to the host that runs; it is answered later."""
    choice = HostChoice(Wanted())
    router = Router(choice, lambda: discovery.running(runtime), "test", say, tasks)
    router.publish = ignore
    await router.look()
    await router.from_client(call("recent_calls"))
    return router


def test_an_answer_on_its_way_to_the_client_survives_a_change_of_hosts(tmp_path: Path) -> None:
    """The client is slow to take it, and what asked for the other host is faster."""
    said: list[JSONRPCMessage] = []

    async def talk() -> None:
        async def say(message: JSONRPCMessage) -> None:
            await router.use(OTHER)
            await anyio.wait_all_tasks_blocked()
            said.append(message)
            answered.set()

        answered = anyio.Event()
        async with anyio.create_task_group() as tasks:
            router = await calling_router(tmp_path, say, tasks)
            with anyio.move_on_after(LIMIT / 10):
                await answered.wait()
            tasks.cancel_scope.cancel()

    with live(tmp_path) as running:
        running.run(talk)

    assert [getattr(message, "id", None) for message in said] == [1]


def test_an_answer_that_is_said_as_its_host_goes_is_said_once(tmp_path: Path) -> None:
    """The client has it, and who said it does not know that yet."""
    said: list[JSONRPCMessage] = []

    async def talk() -> None:
        async def say(message: JSONRPCMessage) -> None:
            said.append(message)
            for upstream in router._upstreams.values():
                upstream.lose()
            await anyio.wait_all_tasks_blocked()

        async with anyio.create_task_group() as tasks:
            router = await calling_router(tmp_path, say, tasks)
            with anyio.fail_after(LIMIT):
                while not said or router._upstreams:
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    with live(tmp_path) as running:
        running.run(talk)

    assert [getattr(message, "id", None) for message in said] == [1]


def test_a_tool_whose_argument_is_a_header_too_can_be_called_before_it_was_listed(
    tmp_path: Path,
) -> None:
    """The host refuses a call without the header, which only a list tells of; the body ran once."""
    said: list[JSONRPCMessage] = []
    regions: list[str] = []

    def extend(server: Any) -> None:
        async def render(
            region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        ) -> str:
            regions.append(region)
            return f"rendered in {region}"

        server.add_tool(render, description="Render somewhere.")

    async def talk() -> None:
        async def say(message: JSONRPCMessage) -> None:
            said.append(message)
            answered.set()

        answered = anyio.Event()
        async with anyio.create_task_group() as tasks:
            router = Router(
                HostChoice(Wanted()), lambda: discovery.running(tmp_path), "test", say, tasks
            )
            router.publish = ignore
            await router.look()
            await router.from_client(call("render", region="eu"))
            with anyio.move_on_after(LIMIT / 2):
                await answered.wait()
            tasks.cancel_scope.cancel()

    with live(tmp_path, extend=extend) as running:
        running.run(talk)

    assert "rendered in eu" in str(said)
    assert (len(said), regions) == (1, ["eu"])


@pytest.mark.parametrize("method", ["tools/call", "tasks/get"])
@pytest.mark.parametrize("is_listed", [True, False])
def test_whoever_took_the_port_of_a_host_hears_nothing_of_a_call(
    is_listed: bool, method: str
) -> None:
    """Where the host's lock is free already, nobody even connects."""
    said: list[JSONRPCMessage] = []
    hosts: list[Instance] = []

    async def talk() -> None:
        async def say(message: JSONRPCMessage) -> None:
            said.append(message)
            answered.set()

        answered = anyio.Event()
        async with anyio.create_task_group() as tasks:
            router = Router(HostChoice(Wanted()), lambda: hosts, "test", say, tasks)
            router.publish = ignore
            await router.look()
            if not is_listed:
                hosts.clear()
            request = call("recent_calls")
            task = {**(request.params or {}), "taskId": f"{OTHER.id}.{32 * '0'}"}
            is_call = method == "tools/call"
            params = request.params if is_call else task
            await router.from_client(
                request.model_copy(update={"method": method, "params": params})
            )
            with anyio.fail_after(LIMIT):
                await answered.wait()

    with impostor_server("guesses") as (url, heard):
        hosts.append(replace(OTHER, url=url))
        anyio.run(talk)

    not_sent = "other.ma) went away before recent_calls was sent: nothing was done."
    begun = "other.ma) went away in the middle of the task."  # its call began before
    assert (not_sent if method == "tools/call" else begun) in str(said)
    assert bool(heard) is is_listed
    assert b"authorization" not in heard.lower()


async def ignore(event: object) -> None:
    """Tell nobody of a change."""


def call(tool: str, **arguments: Any) -> JSONRPCRequest:
    """Make a call of the modern era."""
    params = {"name": tool, "arguments": arguments, "_meta": envelope()}
    return JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params=params)


@contextmanager
def unopened() -> Iterator[Upstream]:
    """A connection that is never opened, and keeps what is to be sent."""
    upstream = Upstream(OTHER, None)
    with upstream._put, upstream._queue:
        yield upstream


def test_a_call_that_is_cancelled_while_its_tool_is_listed_is_never_sent() -> None:
    wanted = call("render", region="eu")
    refused = ErrorData(code=HEADER_MISMATCH, message="")

    async def talk() -> Any:
        with unopened() as upstream:
            upstream.request(wanted)
            upstream._lacks_header(JSONRPCError(jsonrpc="2.0", id=wanted.id, error=refused))
            first, listing = (upstream._queue.receive_nowait() for _ in range(2))
            upstream.in_flight.pop(wanted.id)
            number = getattr(listing, "id", "")
            tools = JSONRPCResponse(jsonrpc="2.0", id=number, result={"tools": []})
            is_ours = upstream._is_ours(tools)
            return first, is_ours, upstream._queue.statistics().current_buffer_used

    assert anyio.run(talk) == (wanted, True, 0)


@pytest.mark.parametrize(("method", "kept"), [("tools/list", 0), ("tasks/get", 600)])
def test_only_what_another_host_might_say_otherwise_loses_its_time(method: str, kept: int) -> None:
    async def talk() -> Any:
        async with anyio.create_task_group() as tasks:
            router = Router(HostChoice(Wanted()), list, "test", ignore, tasks)
            more: dict[str, Any] = {"taskId": "x.1"} if method == "tasks/get" else {"tools": []}
            request = JSONRPCRequest(jsonrpc="2.0", id=1, method=method)
            response = JSONRPCResponse(jsonrpc="2.0", id=1, result={"ttlMs": 600, **more})
            with unopened() as upstream:
                return router._answered(upstream, request, response)

    assert anyio.run(talk).result["ttlMs"] == kept
