"""A bridge on a real server and real MCP clients over HTTP, for tests.

The test's own thread is the host's main thread; agents run on threads of their own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar, cast
from unittest.mock import patch

import anyio
import httpx2
from mcp import Client
from mcp.client.extension import ClientExtension
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    RequestParamsMeta,
    Tool,
)

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import broker, routing
from dcc_bridge.elicitation.question import HostPresenter
from dcc_bridge.elicitation.types import DRY_RUN, STATUS
from dcc_bridge.headless import Pump
from dcc_bridge.host import Host
from dcc_bridge.server import admission, connections, parked_calls, service
from dcc_bridge.server.mcp_server import Server
from dcc_bridge.skills import importer, run, runner
from dcc_bridge.skills.skill import describe
from dcc_bridge.skills.source import Source
from dcc_bridge.verbs.operations import HostOperations
from tests.stand_ins import FakeHost

T = TypeVar("T")
if os.environ.get("BRIDGE_WAY") == "sdk":  # no call is answered without the SDK's kernel
    Server.fetch_plain = lambda self, name: None  # type: ignore[method-assign]
ERAS = ("2025-06-18", "2025-11-25", "2026-07-28")
LIMIT = 60.0
LIMITS: Final[dict[str, tuple[ModuleType, str]]] = {  # no settings: only tests have other values
    "connections": (admission, "MAX_CONNECTIONS"),
    "sessions_of_a_client": (admission, "MAX_SESSIONS"),
    "request_deadline": (connections, "REQUEST_DEADLINE_S"),
    "session_idle": (service, "SESSION_IDLE_S"),
    "session_grace": (service, "SESSION_GRACE_S"),
    "keepalive": (parked_calls, "KEEPALIVE_S"),
    "waiting_questions": (routing, "MAX_WAITING_QUESTIONS"),
    "open_questions": (broker, "MAX_OPEN_QUESTIONS"),
    "open_questions_of_a_client": (broker, "MAX_OPEN_QUESTIONS_OF_A_CLIENT"),
    "threads": (runner, "MAX_THREADS"),
    "queued_calls": (runner, "MAX_QUEUED_CALLS"),
    "call_grace": (run, "OVERRUN_GRACE_S"),
}
AskedFn = Callable[[ElicitRequestParams], Awaitable[ElicitResult] | ElicitResult]


class Tap(httpx2.AsyncHTTPTransport):
    """A transport that keeps what the server sent."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = bytearray()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        response.stream = _Copied(response.stream, self.heard)
        return response


class _Copied(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, into: bytearray) -> None:
        self._stream = stream
        self._into = into

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._into += part
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def until(
    condition: Callable[[], object],
    otherwise: str = "the condition did not come true in time",
    limit: float = LIMIT,
) -> None:
    """Wait for a condition outside of this process; a test fails where it never comes true."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.005)


class Live:
    """A running bridge, headless unless a presenter is given."""

    def __init__(
        self,
        runtime: Path,
        *fns: Callable[..., Any],
        host: Host | None = None,
        presenter: HostPresenter | None = None,
        pump: Any = None,
        extend: Callable[[Any], None] | None = None,
        skills: Sequence[Path] = (),
        operations: Callable[[Host], HostOperations] | None = None,
        **settings: Any,
    ) -> None:
        lowered = {LIMITS[name]: settings.pop(name) for name in LIMITS.keys() & settings.keys()}
        self.host: Any = host or FakeHost(f"cam{number}" for number in range(127))
        self.pump = pump or Pump()
        with ExitStack() as limits:  # put back what is lowered, also where it does not start
            for (module, constant), value in lowered.items():
                limits.enter_context(patch.object(module, constant, value))
            self.bridge = Bridge(
                self.host,
                self.pump.main,
                presenter=presenter,
                extend=extend,
                settings=replace(
                    Settings(
                        runtime=runtime, audit=runtime / "audit", user_skills=runtime / "none"
                    ),
                    **settings,
                ),
                skills=skills,
                operations=operations,
            )
            added = {fn.__name__: self.bridge.registry.add(describe(fn)) for fn in fns}
            self.forget: Callable[[str], None] = lambda name: added[name]()
            started = self.bridge.start()
            self.until(started.done)
            started.result()
            self._limits = limits.pop_all()

    def load(self, file: Path) -> None:
        """Take the skills of a file in at once, as if they were made in code."""
        for skill in importer.skills(Source.of(file, file.read_bytes())):
            self.bridge.registry.add(skill)

    def until(self, condition: Callable[[], bool], limit: float = LIMIT) -> None:
        end = time.monotonic() + limit
        while not condition():
            assert time.monotonic() < end, "the condition did not come true in time"
            self.pump.wake(0.005)
            self.pump.run(_once())

    def go(self, agent: Callable[..., Awaitable[T]], *args: Any) -> Future[T]:
        """Let an agent work on a thread of its own."""
        return self._apart(lambda: anyio.run(agent, *args))

    def _apart(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
                future.set_exception(error)
            finally:
                self.pump.wake(0.0)

        threading.Thread(target=run, daemon=True).start()
        return future

    def beside(self, work: Callable[[], T], limit: float = LIMIT) -> T:
        """Do what blocks on a thread of its own, and serve the main thread meanwhile."""
        future = self._apart(work)
        self.until(future.done, limit)
        return future.result()

    def run(self, agent: Callable[..., Awaitable[T]], *args: Any, limit: float = LIMIT) -> T:
        """Let an agent work, serve the main thread meanwhile, and give what it returned."""
        future = self.go(agent, *args)
        self.until(future.done, limit)
        return future.result()

    def call(
        self, tool: str, arguments: dict[str, Any] | None = None, **client: Any
    ) -> CallToolResult:
        """Call a tool once, from a client of its own."""
        future = self.start(tool, arguments, **client)
        self.until(future.done)
        return future.result()

    def start(
        self, tool: str, arguments: dict[str, Any] | None = None, **client: Any
    ) -> Future[CallToolResult]:
        """Call a tool once, from a client of its own, and wait for nothing."""

        async def agent() -> CallToolResult:
            async with self.client(**client) as session:
                return await session.call_tool(tool, arguments or {})

        return self.go(agent)

    def dry_run(self, tool: str, **client: Any) -> CallToolResult:
        """Have a tool tried and taken back, from a client of its own."""

        async def agent() -> CallToolResult:
            async with self.client(**client) as session:
                meta = cast("RequestParamsMeta", {DRY_RUN: True})
                return await session.call_tool(tool, {}, meta=meta)

        future = self.go(agent)
        self.until(future.done)
        return future.result()

    def leave(self, tool: str, when: Callable[[], bool], **client: Any) -> None:
        """Call a tool, and give the call up as soon as something holds."""

        async def agent() -> None:
            async with self.client(**client) as session, anyio.create_task_group() as calling:
                calling.start_soon(session.call_tool, tool, {})
                while not when():
                    await anyio.sleep(0.005)
                calling.cancel_scope.cancel()

        self.run(agent)

    def described(self, tool: str) -> Tool:
        """Give a tool as it is listed."""

        async def agent() -> Tool:
            async with self.client() as session:
                (one,) = await listed(session, tool)
                return one

        return self.run(agent)

    @asynccontextmanager
    async def client(
        self,
        era: str = ERAS[-1],
        asked: AskedFn | None = None,
        *,
        label: str = "test",
        tap: Tap | None = None,
        heard: Callable[[Any], None] | None = None,
        extensions: Sequence[ClientExtension] = (),
    ) -> AsyncIterator[Client]:
        """Connect a real MCP client; without ``asked`` it declares no elicitation.

        Notices of the server go to ``heard``.
        """
        url, token = self.bridge.url, self.bridge.instance.token(label)
        more: Any = {"tap": tap, "heard": heard, "extensions": extensions}
        connecting = connected(url, token, era, asked, **more)
        async with connecting as client:
            yield client

    def stop(self) -> None:
        self.bridge.stop()
        self.until(self.bridge.stopped.done)
        self._limits.close()


@asynccontextmanager
async def connected(
    url: str,
    token: str,
    era: str = ERAS[-1],
    asked: AskedFn | None = None,
    *,
    tap: Tap | None = None,
    heard: Callable[[Any], None] | None = None,
    extensions: Sequence[ClientExtension] = (),
    limit: float = LIMIT,
) -> AsyncIterator[Client]:
    """Connect a real MCP client to a bridge, wherever it runs."""
    headers = {"Authorization": f"Bearer {token}"}
    callback = _callback(asked) if asked is not None else None
    mode = era if era == ERAS[-1] else "legacy"
    async with httpx2.AsyncClient(headers=headers, transport=tap, timeout=limit) as http:
        transport = streamable_http_client(url, http_client=http)
        with patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", era):
            client = Client(
                transport,
                mode=mode,
                elicitation_callback=callback,
                message_handler=_handler(heard) if heard is not None else None,
                extensions=extensions,
            )
            async with client:
                assert client.session.protocol_version == era
                yield client


@contextmanager
def live(runtime: Path, *fns: Callable[..., Any], **more: Any) -> Iterator[Live]:
    """Run a bridge for as long as the block lasts."""
    running = Live(runtime, *fns, **more)
    try:
        yield running
    finally:
        running.stop()


async def listed(client: Client, *names: str) -> list[Tool]:
    """List the tools of those names: the bridge has some of its own besides."""
    return [tool for tool in (await client.list_tools()).tools if tool.name in names]


def status(result: CallToolResult) -> str:
    """Give how a call ended, in the runner's words."""
    return str((result.meta or {})[STATUS])


def text(result: CallToolResult) -> str:
    return " ".join(getattr(part, "text", "") for part in result.content)


def accept(**content: Any) -> AskedFn:
    return lambda params: ElicitResult(action="accept", content=content)


def say(action: Any) -> AskedFn:
    return lambda params: ElicitResult(action=action)


def _handler(heard: Callable[[Any], None]) -> Any:
    async def handle(message: Any) -> None:
        heard(message)

    return handle


def _callback(asked: AskedFn) -> Any:
    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        answer = asked(params)
        return answer if isinstance(answer, ElicitResult) else await answer

    return answer


def _once() -> Callable[[], bool]:
    turns = iter([False])
    return lambda: next(turns, True)
