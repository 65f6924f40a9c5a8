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
from mcp.server.transport_security import TransportSecuritySettings

from dcc_bridge.config import Settings
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.watchers import Watchers
from dcc_bridge.host import Host
from dcc_bridge.server import departures
from dcc_bridge.server.calls import Calls
from dcc_bridge.server.clients import Clients
from dcc_bridge.server.connections import RESTS, limited
from dcc_bridge.server.events import Events
from dcc_bridge.server.http import Door
from dcc_bridge.server.mcp import Server
from dcc_bridge.server.pages import PREFIX, SIGNED_IN, Pages
from dcc_bridge.server.pages.site import Site
from dcc_bridge.server.resources import Scene
from dcc_bridge.server.worker import Worker
from dcc_bridge.skills.files.library import Library
from dcc_bridge.skills.registry import Registry
from dcc_bridge.skills.runner import Runner
from dcc_bridge.threads import MainThread

PATH: Final = "/mcp"
_COME_BACK: Final = 1000
"""Milliseconds after which a legacy client that lost its stream is to come back for the rest; well
within ``session_grace``, after which its call is given up."""
_OPEN: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The SDK's own look at Host and Origin lets any port in; the door's is exact."""
_LAST_WORDS: Final = 0.5
"""Seconds in which calls that were ended by a stop may still send their result."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the service is made of; the bridge has them.

    Attributes:
        host: The application.
        main: The way to its main thread.
        changes: Tells that its scene or selection changed.
        settings: How the bridge behaves.
        registry: The skills.
        runner: What runs them.
        broker: What puts their questions.
        secret: The master secret.
        socket: Bound and listening.
        clients: Who speaks to it.
        pages: Questions that are answered in a browser.
        library: Imports the skills of files.
        extend: Adds to the SDK's own server object, or None.
    """

    host: Host
    main: MainThread
    changes: Watchers
    settings: Settings
    registry: Registry
    runner: Runner
    broker: Broker
    secret: str
    socket: socket.socket
    clients: Clients
    pages: Pages
    library: Library
    extend: Callable[[Server], None] | None = None


class McpService:
    """Serves MCP over HTTP until it is told to stop."""

    def __init__(self, parts: Parts, worker: Worker) -> None:
        """Build everything; nothing is served yet."""
        settings = parts.settings
        self._socket = parts.socket
        self._worker = worker
        self._grace = settings.session_grace
        self._changed = anyio.Event()
        self._calls = Calls(
            parts.broker.end,
            parts.broker.audience.note_patience,
            parts.runner.recent,
            keepalive=settings.keepalive,
            kept=settings.kept,
            most_kept=settings.most_kept,
        )
        self._scene = Scene(parts.host, parts.main, worker.spawn)
        self._unwatch = parts.changes.add(self._scene.changed)
        server = Server(
            parts.host.name,
            parts.host.version,
            parts.registry,
            parts.runner,
            self._calls,
            worker.soon,
            parts.clients,
            self._scene,
            parts.library,
        )
        self._unwatch_tools = parts.registry.watch(lambda: worker.soon(lambda: self._changed.set()))
        self._changes = server.changes
        if parts.extend is not None:
            parts.extend(server)
        events = Events()
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            event_store=events,
            retry_interval=_COME_BACK,
            max_request_body_size=settings.most_body,
            transport_security=_OPEN,
        )
        port = self._socket.getsockname()[1]
        site = Site(parts.pages, app)
        self._door = Door(
            site,
            port,
            parts.secret,
            events,
            self._left,
            public=(PREFIX, SIGNED_IN),
            most_body=settings.most_body,
        )
        self._stopping = anyio.Event()
        self._uvicorn = _Uvicorn(_config(self._door, settings))

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until `stop`."""
        self._uvicorn.ready = ready
        with closing(self._socket), departures.said_quietly():
            async with anyio.create_task_group() as serving:
                serving.start_soon(self._uvicorn.serve, [self._socket])
                async with anyio.create_task_group() as telling:
                    telling.start_soon(self._tell_changes)
                    await self._stopping.wait()
                    telling.cancel_scope.cancel()
                await self._wait_for_last_words()
                self._uvicorn.end()
                self._door.close()

    def stop(self) -> None:
        """End soon: the calls that are ending may still say so."""
        self._unwatch()
        self._unwatch_tools()
        self._scene.close()
        self._stopping.set()

    async def _tell_changes(self) -> None:
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await self._changes.tell()

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

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ended = anyio.Event()

    def end(self) -> None:
        self.should_exit = True
        self._ended.set()

    async def main_loop(self) -> None:
        """Wait for the end; uvicorn looks ten times a second, and for a date that is not sent."""
        await self.on_tick(0)  # makes the headers of every answer
        if not self.should_exit:
            await self._ended.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()


def _config(app: Door, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=limited(settings),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=int(RESTS),
        timeout_graceful_shutdown=1,
    )
