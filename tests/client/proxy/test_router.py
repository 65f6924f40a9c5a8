"""The order of messages that a real client's timing shows seldom or never."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, cast
from unittest.mock import AsyncMock, patch

import anyio
import pytest
from anyio.abc import TaskGroup
from mcp.shared.message import SessionMessage
from mcp_types import (
    HEADER_MISMATCH,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import Field

from dcc_bridge.client.proxy import upstream as module
from dcc_bridge.client.proxy.host_choice import HostChoice, Wanted
from dcc_bridge.client.proxy.lobby import Lobby, LobbyLink
from dcc_bridge.client.proxy.messages import ACKNOWLEDGED, LISTEN
from dcc_bridge.client.proxy.router import Router, Say
from dcc_bridge.client.proxy.upstream import Upstream
from dcc_bridge.errors import own_version
from dcc_bridge.server.discovery import Instance
from tests.bench.agent import envelope
from tests.client.impostor import impostor_server
from tests.live import LIMIT, Live, live

URL = "http://127.0.0.1:9/mcp"
OTHER = Instance(URL, "Other", "1", "other.ma", state="ready", bridge=own_version())
PROBE = JSONRPCRequest(jsonrpc="2.0", id=1, method="server/discover")
HELLO = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params={})
LISTING = JSONRPCRequest(jsonrpc="2.0", id=2, method="tools/list")
FOUND = JSONRPCResponse(jsonrpc="2.0", id=1, result={"supportedVersions": []})
WELCOME = JSONRPCResponse(jsonrpc="2.0", id=1, result={"protocolVersion": "2025-11-25"})
pytestmark = pytest.mark.anyio


class Said:
    """What a router says to its client, and what it does meanwhile."""

    def __init__(self, meanwhile: Callable[[], Awaitable[object]] | None = None) -> None:
        self.messages: list[JSONRPCMessage] = []
        self.answered = anyio.Event()
        self._meanwhile = meanwhile

    async def __call__(self, message: JSONRPCMessage) -> None:
        self.messages.append(message)
        if self._meanwhile is not None:
            await self._meanwhile()
            await anyio.wait_all_tasks_blocked()
        self.answered.set()


def routing(
    tasks: TaskGroup, say: Say, hosts: Callable[[], list[Instance]] = list
) -> tuple[Router, list[JSONRPCMessage]]:
    """Give a router, and what it says to its lobby."""
    to_lobby: list[JSONRPCMessage] = []
    router = Router(HostChoice(Wanted()), hosts, "test", say, tasks)
    router.say_lobby, router.publish = to_lobby.append, ignore
    return router, to_lobby


async def test_what_is_sent_before_the_handshake_is_answered_waits_for_that() -> None:
    """To whom it goes, and how, is not known before."""
    said = Said()
    async with anyio.create_task_group() as tasks:
        router, to_lobby = routing(tasks, said)
        await router.from_client(HELLO)
        await router.from_client(LISTING)
        before = list(to_lobby)
        await router.from_lobby(WELCOME)

    assert before == [HELLO]
    assert to_lobby == [HELLO, LISTING]
    assert said.messages == [WELCOME]


async def test_the_answer_of_a_probe_that_was_given_up_is_not_the_handshakes_of_the_same_id() -> (
    None
):
    """The client waited for a while, and began again with its first id."""
    heard, may_answer = Said(), anyio.Event()

    class Slow:
        async def run(self, inbox: Any, outbox: Any, options: Any) -> None:
            async with inbox, outbox:
                async for item in inbox:
                    await may_answer.wait()
                    is_hello = item.message.method == "initialize"
                    await outbox.send(SessionMessage(WELCOME if is_hello else FOUND))

    async with anyio.create_task_group() as tasks:
        link = LobbyLink(cast("Lobby", SimpleNamespace(server=Slow(), options={})), heard, tasks)
        with link._put:
            link.say(PROBE)
            link.say(HELLO)
            may_answer.set()
            await anyio.wait_all_tasks_blocked()
        link._put.close()

    assert heard.messages == [WELCOME]


async def test_what_is_said_while_a_probes_answer_goes_out_waits_for_the_handshake_of_its_id() -> (
    None
):
    is_read = anyio.Event()
    async with anyio.create_task_group() as tasks:
        router, to_lobby = routing(tasks, Said(is_read.wait))
        tasks.start_soon(router.from_lobby, FOUND)
        await anyio.wait_all_tasks_blocked()
        await router.from_client(HELLO)
        await router.from_client(LISTING)
        is_read.set()
        await anyio.wait_all_tasks_blocked()
        before = list(to_lobby)
        await router.from_lobby(WELCOME)

    assert before == [HELLO]
    assert to_lobby == [HELLO, LISTING]


@pytest.mark.parametrize(
    ("method", "heard"),
    [
        (LISTEN, JSONRPCNotification(jsonrpc="2.0", method=ACKNOWLEDGED)),
        (LISTEN, JSONRPCError(jsonrpc="2.0", id=3, error=ErrorData(code=-1, message="no"))),
        ("resources/subscribe", JSONRPCResponse(jsonrpc="2.0", id=3, result={})),
    ],
)
async def test_what_follows_a_request_to_listen_is_sent_once_the_host_listens(
    method: str, heard: JSONRPCMessage
) -> None:
    """Else what it changes is not heard of."""
    upstream = Upstream(OTHER, None)
    write, sent = anyio.create_memory_object_stream[SessionMessage](9)
    host, read = anyio.create_memory_object_stream[SessionMessage | Exception](9)
    with write, sent, host, read, patch.object(module, "_LISTEN_TIMEOUT_S", LIMIT):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(upstream._speak, write)
            tasks.start_soon(upstream._listen, read, AsyncMock())
            upstream.send(JSONRPCRequest(jsonrpc="2.0", id=3, method=method))
            upstream.send(LISTING)
            await anyio.wait_all_tasks_blocked()
            before = sent.statistics().current_buffer_used
            await host.send(SessionMessage(heard))
            await anyio.wait_all_tasks_blocked()
            after = sent.statistics().current_buffer_used
            tasks.cancel_scope.cancel()
    upstream._put.close()
    upstream._queue.close()

    assert (before, after) == (1, 2)


async def test_a_look_that_comes_after_the_client_has_left_connects_to_nothing() -> None:
    """A host starts in the moment in which the client leaves."""
    hosts: list[Instance] = []
    async with anyio.create_task_group() as tasks:
        router, _ = routing(tasks, ignore, lambda: hosts)
        await router.from_client(HELLO)
        await router.from_lobby(WELCOME)
        router.close()
    hosts.append(OTHER)
    await router.look()

    assert router._upstreams == {}


def called(
    running: Live,
    request: JSONRPCRequest,
    meanwhile: Callable[[Router], Awaitable[object]],
    is_over: Callable[[Router], bool] = bool,
) -> list[JSONRPCMessage]:
    """Send a call to the host that runs; give what is said of it until that is over."""

    async def talk() -> list[JSONRPCMessage]:
        said = Said(lambda: meanwhile(router))
        async with anyio.create_task_group() as tasks:
            router, _ = routing(tasks, said, lambda: [running.bridge.instance])
            await router.look()
            await router.from_client(request)
            with anyio.fail_after(LIMIT):
                await said.answered.wait()
                while not is_over(router):
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        return said.messages

    return running.run(talk)


async def change(router: Router) -> None:
    """Use another host: the client is slow to take an answer, and what asked for this is faster."""
    await router.use(OTHER)


async def lose(router: Router) -> None:
    """Lose the host: the client has its answer, and who said it does not know that yet."""
    for upstream in router._upstreams.values():
        upstream.lose()


@pytest.mark.parametrize(
    ("meanwhile", "is_over"), [(change, bool), (lose, lambda router: not router._upstreams)]
)
def test_an_answer_on_its_way_to_the_client_is_said_once_whatever_becomes_of_its_host(
    meanwhile: Callable[[Router], Awaitable[object]],
    is_over: Callable[[Router], bool],
    tmp_path: Path,
) -> None:
    with live(tmp_path) as running:
        said = called(running, call("recent_calls"), meanwhile, is_over)

    assert [getattr(message, "id", None) for message in said] == [1]


def test_a_tool_whose_argument_is_a_header_too_can_be_called_before_it_was_listed(
    tmp_path: Path,
) -> None:
    """The host refuses a call without the header, which only a list tells of; the body ran once."""
    regions: list[str] = []

    def extend(server: Any) -> None:
        async def render(
            region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        ) -> str:
            regions.append(region)
            return f"rendered in {region}"

        server.add_tool(render, description="Render somewhere.")

    with live(tmp_path, extend=extend) as running:
        said = called(running, call("render", region="eu"), ignore)

    assert "rendered in eu" in str(said)
    assert (len(said), regions) == (1, ["eu"])


@pytest.mark.parametrize("method", ["tools/call", "tasks/get"])
@pytest.mark.parametrize("is_listed", [True, False])
async def test_whoever_took_the_port_of_a_host_hears_nothing_of_a_call(
    is_listed: bool, method: str
) -> None:
    """Where the host's lock is free already, nobody even connects."""
    said, request = Said(), call("recent_calls")
    task = {**(request.params or {}), "taskId": f"{OTHER.id}.{32 * '0'}"}
    params = request.params if method == "tools/call" else task
    with impostor_server("guesses") as (url, heard):
        hosts = [replace(OTHER, url=url)]
        async with anyio.create_task_group() as tasks:
            router, _ = routing(tasks, said, lambda: hosts)
            await router.look()
            if not is_listed:
                hosts.clear()
            await router.from_client(
                request.model_copy(update={"method": method, "params": params})
            )
            with anyio.fail_after(LIMIT):
                await said.answered.wait()

    not_sent = "other.ma) ended before recent_calls was sent. Nothing was done."
    begun = "other.ma) ended during the task."  # its call began before
    assert (not_sent if method == "tools/call" else begun) in str(said.messages)
    assert bool(heard) is is_listed
    assert b"authorization" not in heard.lower()


async def ignore(event: object) -> None:
    """Tell nobody of a change."""


def call(tool: str, **arguments: Any) -> JSONRPCRequest:
    params = {"name": tool, "arguments": arguments, "_meta": envelope()}
    return JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params=params)


@contextmanager
def unopened() -> Iterator[Upstream]:
    """A connection that is never opened, and keeps what is to be sent."""
    upstream = Upstream(OTHER, None)
    with upstream._put, upstream._queue:
        yield upstream


async def test_a_call_that_is_cancelled_while_its_tool_is_listed_is_never_sent() -> None:
    wanted = call("render", region="eu")
    refused = ErrorData(code=HEADER_MISMATCH, message="")
    with unopened() as upstream:
        upstream.request(wanted)
        upstream._retry_refused(JSONRPCError(jsonrpc="2.0", id=wanted.id, error=refused))
        first, listing = (upstream._queue.receive_nowait() for _ in range(2))
        upstream.in_flight.pop(wanted.id)
        number = getattr(listing, "id", "")
        tools = JSONRPCResponse(jsonrpc="2.0", id=number, result={"tools": []})
        is_ours = upstream._take_own_answer(tools)
        waiting = upstream._queue.statistics().current_buffer_used

    assert (first, is_ours, waiting) == (wanted, True, 0)


@pytest.mark.parametrize(("method", "kept"), [("tools/list", 0), ("tasks/get", 600)])
async def test_only_what_another_host_might_say_otherwise_loses_its_time(
    method: str, kept: int
) -> None:
    more: dict[str, Any] = {"taskId": "x.1"} if method == "tasks/get" else {"tools": []}
    request = JSONRPCRequest(jsonrpc="2.0", id=1, method=method)
    response = JSONRPCResponse(jsonrpc="2.0", id=1, result={"ttlMs": 600, **more})
    async with anyio.create_task_group() as tasks:
        router, _ = routing(tasks, ignore)
        with unopened() as upstream:
            answered: Any = router._answer_for_client(upstream, request, response)

    assert answered.result["ttlMs"] == kept
