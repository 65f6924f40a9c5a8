"""A legacy client that lost its stream comes back for what it missed, and for nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextvars import Context, copy_context
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import anyio
import httpx2
import pytest
from mcp_types import JSONRPCRequest

from dcc_bridge.elicitation.question import Reply
from dcc_bridge.server import sessions
from tests.live import Live, live
from tests.server.skills import Skills
from tests.stand_ins import Person

T = TypeVar("T")
LARGE = JSONRPCRequest(jsonrpc="2.0", id=1, method="ping", params={"_": "x" * 1000})


class Raw:
    """A legacy client by hand."""

    def __init__(self, running: Live, http: httpx2.AsyncClient) -> None:
        self._running = running
        self._http = http
        self.headers = {
            "Authorization": f"Bearer {running.bridge.instance.token('raw')}",
            "Accept": "application/json, text/event-stream",
        }

    async def open(self) -> None:
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        response = await self._post({"method": "initialize", "id": 1, "params": params})
        self.headers["mcp-session-id"] = response.headers["mcp-session-id"]
        self.headers["mcp-protocol-version"] = "2025-11-25"
        await self._post({"method": "notifications/initialized"})

    async def first_event(self, tool: str) -> str:
        """Call a tool, hear the first event, and lose the stream."""
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool}}
        url = self._running.bridge.url
        async with self._http.stream("POST", url, json=body, headers=self.headers) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("id:"):
                    return line.removeprefix("id:").strip()
        raise AssertionError("no event came")

    async def resume(self, event: str) -> Any:
        headers = {**self.headers, "Last-Event-ID": event}
        url = self._running.bridge.url
        async with self._http.stream("GET", url, headers=headers) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: {"):
                    return json.loads(line.removeprefix("data: "))
        raise AssertionError("no result came")

    async def keep_resuming(self, event: str) -> Any:
        """Come back again and again: what arrives while a stream is reopened is on the next one."""
        for _ in range(10):
            with anyio.move_on_after(1):
                return await self.resume(event)
        raise AssertionError("no result came")

    async def _post(self, body: dict[str, Any]) -> httpx2.Response:
        message = {"jsonrpc": "2.0", **body}
        return await self._http.post(self._running.bridge.url, json=message, headers=self.headers)


def test_a_client_that_lost_its_stream_comes_back_for_the_result(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(None)

    async def agent() -> Any:
        async with httpx2.AsyncClient(timeout=20) as http:
            raw = Raw(running, http)
            await raw.open()
            event = await raw.first_event("delete")
            with anyio.fail_after(10):
                while not person.shown:
                    await anyio.sleep(0.005)
            person.settles[0](Reply("accept", {"confirm": True}))
            return await raw.keep_resuming(event)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        result = running.run(agent)

    assert result["result"]["structuredContent"] == {"deleted": 127, "by": "host"}
    assert skills.ran["delete"] == 1


@pytest.mark.anyio
async def test_an_unknown_event_brings_nothing() -> None:
    heard: list[Any] = []

    async def keep(message: Any) -> None:
        heard.append(message)

    store = sessions.ReplayStore(1000)
    store.opening("test", keep)
    await store.store_event("2", None)

    for event in ("", "7", "x.y"):
        assert await store.replay_events_after(event, keep) is None
    assert heard == []


def test_a_session_keeps_the_last_events_only() -> None:
    session = sessions.SessionEvents()

    ids = [session.add("2", b"") for _ in range(sessions.MAX_EVENTS + 10)]

    assert session.after(int(ids[0])) == (None, [])
    assert session.after(int(ids[-1])) == ("2", [])


@pytest.mark.anyio
async def test_all_sessions_keep_so_many_bytes_and_the_greediest_client_loses_first() -> None:
    store, kept = sessions.ReplayStore(max_bytes=10_000), dict[str, Context]()
    for number in range(30):
        name = ("greedy-1", "greedy-2", "other")[number % 3]
        if name == "other" and number > 4:
            continue
        if name not in kept:
            kept[name] = await opened(store, name)
        await inside(kept[name], store.store_event("1", LARGE))

    counts = {name: await inside(context, count(store)) for name, context in kept.items()}
    assert counts == {"greedy-1": 4, "greedy-2": 4, "other": 2}


@pytest.mark.anyio
async def test_an_event_is_kept_without_a_look_at_the_other_sessions() -> None:
    """Else each event of a crowd would cost what the crowd is large."""
    store = sessions.ReplayStore(max_bytes=100_000)
    contexts = [await opened(store, f"client-{number}") for number in range(50)]

    with mock.patch("weakref.WeakValueDictionary.values") as looks:
        await inside(contexts[0], store.store_event("1", LARGE))

    assert looks.call_count == 0


@pytest.mark.anyio
async def test_events_of_sessions_that_ended_take_no_room() -> None:
    store = sessions.ReplayStore(max_bytes=10_000)
    for number in range(20):
        context = await opened(store, f"client-{number}")
        for _ in range(5):
            await inside(context, store.store_event("1", LARGE))
        kept = await inside(context, count(store))
        store.forget(f"client-{number}")

    assert kept == 6


async def inside(context: Context, coroutine: Coroutine[Any, Any, T]) -> T:
    return await asyncio.get_running_loop().create_task(coroutine, context=context)


async def opened(store: sessions.ReplayStore, name: str) -> Context:
    """Open a session of a client, and give the context of its tasks."""
    context = copy_context()

    async def unheard(message: Any) -> None:
        pass

    note = context.run(store.opening, name.partition("-")[0], unheard)
    await note({"type": "http.response.start", "headers": [(b"mcp-session-id", name.encode())]})
    await inside(context, store.store_event("1", None))
    return context


async def count(store: sessions.ReplayStore) -> int:
    """Count the events that a session still has."""
    heard: list[Any] = []

    async def keep(message: Any) -> None:
        heard.append(message)

    oldest = 1
    while await store.replay_events_after(str(oldest), keep) is None:
        oldest += 1
    return 1 + len(heard)
