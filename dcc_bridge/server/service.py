"""The service that a worker runs: uvicorn with the SDK's app behind the door. Worker.

Importing this module imports mcp and uvicorn, so it is imported on the worker.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import anyio
import uvicorn

from dcc_bridge.config import Settings
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.server.calls import Calls
from dcc_bridge.server.events import Events
from dcc_bridge.server.http import Door
from dcc_bridge.server.mcp import Server
from dcc_bridge.server.pages import PREFIX, PagePresenter
from dcc_bridge.server.pages.site import Site
from dcc_bridge.server.worker import Worker
from dcc_bridge.skills.registry import Registry
from dcc_bridge.skills.runner import Runner

PATH: Final = "/mcp"
_LAST_WORDS: Final = 0.5
"""Seconds in which calls that were ended by a stop may still send their result."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the service is made of; the bridge has them.

    Attributes:
        name: The host's name.
        version: The host's version.
        settings: How the bridge behaves.
        registry: The skills.
        runner: What runs them.
        broker: What puts their questions.
        secret: The master secret.
        socket: Bound and listening.
        extend: Adds to the SDK's own server object, or None.
        pages: Questions that are answered in a browser, or None.
    """

    name: str
    version: str
    settings: Settings
    registry: Registry
    runner: Runner
    broker: Broker
    secret: str
    socket: socket.socket
    extend: Callable[[Server], None] | None = None
    pages: PagePresenter | None = None


class McpService:
    """Serves MCP over HTTP until it is told to stop."""

    def __init__(self, parts: Parts, worker: Worker) -> None:
        """Build everything; nothing is served yet."""
        settings = parts.settings
        self._socket = parts.socket
        self._worker = worker
        self._grace = settings.session_grace
        self._calls = Calls(
            parts.broker.end,
            parts.broker.audience.note_patience,
            keepalive=settings.keepalive,
            kept=settings.kept,
            most_kept=settings.most_kept,
        )
        server = Server(
            parts.name, parts.version, parts.registry, parts.runner, self._calls, worker.soon
        )
        if parts.extend is not None:
            parts.extend(server)
        events = Events()
        app = server.streamable_http_app(streamable_http_path=PATH, event_store=events)
        port = self._socket.getsockname()[1]
        pages = parts.pages
        guarded = app if pages is None else Site(pages, app)
        public = None if pages is None else PREFIX
        self._door = Door(guarded, port, parts.secret, events, self._left, public=public)
        self._stopping = anyio.Event()
        self._uvicorn = _Uvicorn(_config(self._door))

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until `stop`."""
        self._uvicorn.ready = ready
        with closing(self._socket):
            async with anyio.create_task_group() as serving:
                serving.start_soon(self._uvicorn.serve, [self._socket])
                await self._stopping.wait()
                await self._wait_for_last_words()
                self._uvicorn.should_exit = True
                self._door.close()

    def stop(self) -> None:
        """End soon: the calls that are ending may still say so."""
        self._stopping.set()

    async def _wait_for_last_words(self) -> None:
        with anyio.move_on_after(_LAST_WORDS):
            while self._calls.open or self._door.answering:
                await anyio.sleep(0.01)

    def _left(self, session: str) -> None:
        """Give a legacy client that lost its stream a moment to come back."""

        def check() -> None:
            if not self._door.streams[session]:
                self._calls.left(session)

        self._worker.later(self._grace, check)


class _Uvicorn(uvicorn.Server):
    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()


def _config(app: Door) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
