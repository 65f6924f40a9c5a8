"""The server of the worker: uvicorn with the SDK's application behind authentication. Worker."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette import sse
from starlette.requests import ClientDisconnect

from dcc_bridge.audit import redact
from dcc_bridge.callbacks import CallLater
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.server.admission import Admission
from dcc_bridge.server.auth import MAX_BODY_BYTES, AuthMiddleware
from dcc_bridge.server.connections import KEEP_ALIVE_S, connection_class
from dcc_bridge.server.fast_path import FastPath
from dcc_bridge.server.legacy_requests import LegacyRequests
from dcc_bridge.server.mcp_server import Server
from dcc_bridge.server.page_site import PREFIX, PageDesk, PageSite
from dcc_bridge.server.sessions import RETRY_MS, ReplayStore
from dcc_bridge.server.worker import Worker

PATH: Final = "/mcp"
SESSION_IDLE_S: Final = 300.0
"""Seconds after which a legacy session without an open request ends."""
SESSION_GRACE_S: Final = 5.0
"""Seconds for which a legacy session may have no stream before its calls are ended."""
# The SDK's own check of Host and Origin lets any port in; that of `AuthMiddleware` is exact.
_NO_SDK_CHECK: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
# asyncio uses its "backlog" for both: the connections that wait in the kernel, and those that are
# accepted in one turn of the loop, before any other work.
_MAX_WAITING: Final = 2048
_MAX_ACCEPTED: Final = 4
_LAST_TURNS: Final = 25
"""Turns of the loop in which calls can end by themselves after `stop`."""
_REQUEST_LOGGERS: Final = (
    # They log what happens to requests and their streams.
    "mcp.server.connection",
    "mcp.server.runner",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.shared.jsonrpc_dispatcher",
    "uvicorn.error",
)
_DISCONNECTS: Final = (
    ClientDisconnect,
    ConnectionError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)


class McpService:
    """Serves MCP over HTTP until it is told to stop."""

    def __init__(
        self,
        server: Server,
        worker: Worker,
        listening: socket.socket,
        secret: str,
        desk: PageDesk,
    ) -> None:
        """Build the application; nothing is served yet.

        Args:
            server: The MCP server.
            worker: The thread on which the service runs.
            listening: A socket that is bound and listens.
            secret: The host's master secret.
            desk: The pages for secrets.
        """
        redact.install_log_filter(safe_whole)  # for the loggers of the modules just imported
        self._server = server
        self._worker = worker
        self._socket = listening
        # Functions that stop the timers of sessions without a stream, by the sessions' ids.
        self._stop_grace: dict[str, Callable[[], None]] = {}
        self._stopping = anyio.Event()
        events = ReplayStore()
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            event_store=events,
            retry_interval=RETRY_MS,
            session_idle_timeout=SESSION_IDLE_S,
            max_request_body_size=MAX_BODY_BYTES,
            transport_security=_NO_SDK_CHECK,
        )
        fast_path = FastPath(server, server.session_manager.handle_request, events)
        site = PageSite(desk, app, {PATH: LegacyRequests(fast_path, server.running)})
        self._admission = Admission(site, events, self._stream_ended)
        server.open_requests = self._admission.streams.__len__
        port = listening.getsockname()[1]
        auth = AuthMiddleware(site, self._admission, port, secret, public=(PREFIX,))
        self._uvicorn = _Uvicorn(_config(auth, worker.later))

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until `stop`."""
        # sse_starlette would poll for the end of the server twice a second. Here `stop` ends the
        # streams.
        sse._get_shutdown_state().watcher_started = True
        self._uvicorn.ready = ready
        with closing(self._socket), _quiet_disconnects():
            async with anyio.create_task_group() as serving:
                serving.start_soon(self._uvicorn.serve, [self._socket])
                async with anyio.create_task_group() as notifying:
                    notifying.start_soon(self._server.changes.notify_clients)
                    await self._stopping.wait()
                    notifying.cancel_scope.cancel()
                await self._finish_calls()
                self._uvicorn.end()
                self._admission.close()

    def stop(self) -> None:
        """Make `run` return soon; calls that are ending may still send their results."""
        self._server.scene.close()
        self._stopping.set()

    async def _finish_calls(self) -> None:
        """Wait for the end of all calls, and cancel those that do not end by themselves."""
        for turn in range(2 * _LAST_TURNS):  # a limit in seconds would give a slow loop fewer turns
            runs = self._server.runner.coroutines
            if not (runs or self._server.calls.open or self._admission.answering):
                break
            if turn >= _LAST_TURNS:
                for run in runs:
                    run.cancel()  # this run waits for something that does not end with the bridge
            await anyio.sleep(0.01)

    def _stream_ended(self, session: str) -> None:
        """End a legacy session's calls unless its client opens another stream soon."""

        def end_if_gone() -> None:
            del self._stop_grace[session]
            if not self._admission.streams[session]:
                self._server.calls.end_session(session)

        stop_earlier = self._stop_grace.pop(session, None)  # the timer of an earlier stream
        if stop_earlier is not None:
            stop_earlier()
        self._stop_grace[session] = self._worker.later(SESSION_GRACE_S, end_if_gone)


class _Uvicorn(uvicorn.Server):
    """uvicorn, with `end` to end it and a call of `ready` once it serves."""

    ready: Callable[[], None]

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ended = anyio.Event()

    def end(self) -> None:
        self.should_exit = True
        self._ended.set()

    async def main_loop(self) -> None:
        """Wait for `end`; uvicorn's own loop would poll ten times a second."""
        await self.on_tick(0)  # makes the headers of all responses, which have no date here
        if not self.should_exit:
            await self._ended.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_MAX_WAITING)
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, then close: asyncio would lose one that it just accepted."""
        with suppress(NotImplementedError):  # the loop of Windows has no readers
            for listening in sockets or ():
                asyncio.get_running_loop().remove_reader(listening)
        await anyio.sleep(0)  # uvicorn sets up the last connection in the next two turns
        await anyio.sleep(0)
        await super().shutdown(sockets)


def _config(app: AuthMiddleware, later: CallLater) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=connection_class(later),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        backlog=_MAX_ACCEPTED,
        timeout_keep_alive=int(KEEP_ALIVE_S),
        timeout_graceful_shutdown=1,
    )


@contextmanager
def _quiet_disconnects() -> Iterator[None]:
    """Log client disconnects at DEBUG: a host's script editor would show each traceback."""
    loggers = [logging.getLogger(name) for name in _REQUEST_LOGGERS]
    for logger in loggers:
        logger.addFilter(_quieten)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_quieten)


def _quieten(record: logging.LogRecord) -> bool:
    """Lower the record of a disconnect to DEBUG; return whether to log the record."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None or not _is_disconnect(error):
        return True
    record.levelno = logging.DEBUG
    record.levelname = "DEBUG"
    record.msg = f"{record.getMessage()}: the client is gone ({type(error).__name__})"
    record.args = ()
    record.exc_info = None
    return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)


def _is_disconnect(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_disconnect(part) for part in error.exceptions)
    return isinstance(error, _DISCONNECTS)
