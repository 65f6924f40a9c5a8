"""Other servers with the same tool on a Qt main thread; imported in the environment of each.

Each function begins to serve and gives where. A handler's work is a function that `hop` runs on the
main thread. Nothing here is imported but Python's own library until a server is asked for.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from tests.bench.agent import Server

Hop = Callable[[], "Future[str]"]
_POLLED: Final = 10  # milliseconds between two looks of a socket that is polled
_TIMER: Final = 5  # milliseconds between two looks of a queue that is polled


class EventHop(QObject):
    """Runs the tool on the main thread as soon as the event loop comes to it."""

    _kind = QEvent.Type(QEvent.registerEventType())

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Future[str]] = deque()

    def __call__(self) -> Future[str]:
        """Have the tool run. Any thread."""
        future: Future[str] = Future()
        self._waiting.append(future)
        QApplication.postEvent(self, QEvent(self._kind))
        return future

    def event(self, event: QEvent) -> bool:
        """Run it. Main thread."""
        if event.type() != self._kind:
            return super().event(event)
        _run(self._waiting.popleft())
        return True


class TimerHop(QObject):
    """Runs the tool when a timer looks, as adapters do whose host has no events."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Future[str]] = deque()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._drain)
        self._timer.start(_TIMER)

    def __call__(self) -> Future[str]:
        """Have the tool run. Any thread."""
        future: Future[str] = Future()
        self._waiting.append(future)
        return future

    def _drain(self) -> None:
        while self._waiting:
            _run(self._waiting.popleft())


def _run(call: Future[str]) -> None:
    """Run the tool, unless its client has left."""
    if call.set_running_or_notify_cancel():
        call.set_result("pong")


def serve(kind: str) -> Future[Server]:
    """Begin to serve. Main thread."""
    started: Future[Server] = Future()
    hop: Hop = TimerHop() if kind == "core_timer" else EventHop()
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    begin = _SERVERS[kind]
    if kind == "polled":
        _polled(listening, started)
    else:
        Thread(target=begin, args=(listening, hop, started), daemon=True).start()
    return started


def _inline(listening: socket.socket, hop: Hop, started: Future[Server], **more: Any) -> None:
    async def ping() -> str:
        """Say that the server is there."""
        return "pong"

    _sdk(listening, ping, started, **more)


def _inline_json(listening: socket.socket, hop: Hop, started: Future[Server]) -> None:
    _inline(listening, hop, started, json_response=True)


def _hopping(listening: socket.socket, hop: Hop, started: Future[Server]) -> None:
    async def ping() -> str:
        """Say that the server is there."""
        return await asyncio.wrap_future(hop())

    _sdk(listening, ping, started)


def _sdk(
    listening: socket.socket,
    ping: Callable[[], Awaitable[str]],
    started: Future[Server],
    **more: Any,
) -> None:
    """Serve by the SDK alone."""
    from mcp.server.mcpserver import MCPServer

    server: MCPServer[Any] = MCPServer("bare", log_level="WARNING")
    server.tool(name="ping")(ping)
    _uvicorn(server.streamable_http_app(**more), listening, started)


def _fastmcp(listening: socket.socket, hop: Hop, started: Future[Server]) -> None:
    from fastmcp import FastMCP

    server: Any = FastMCP("bare")

    @server.tool  # type: ignore[untyped-decorator]  # its package is in its own environment only
    async def ping() -> str:
        """Say that the server is there."""
        return await asyncio.wrap_future(hop())

    _uvicorn(server.http_app(path="/mcp"), listening, started)


def _uvicorn(app: Any, listening: socket.socket, started: Future[Server]) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", lifespan="on")
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    started.set_result(_where(listening))
    uvicorn.Server(config).run([listening])


def _core(listening: socket.socket, hop: Hop, started: Future[Server]) -> None:
    """Serve by dcc-mcp-core, whose handlers run on threads of its own."""
    from dcc_mcp_core import McpHttpConfig, McpHttpServer, ToolRegistry

    listening.close()  # it opens its own
    registry = ToolRegistry()
    registry.register("ping", description="Say that the server is there.")
    config = McpHttpConfig(port=0)
    config.bare_tool_names = True
    server = McpHttpServer(registry, config)
    server.register_handler("ping", lambda params: hop().result())
    handle = server.start()
    started.set_result(Server(handle.mcp_url()))
    _kept.append((server, handle))


def _floor(listening: socket.socket, hop: Hop, started: Future[Server]) -> None:
    """Answer without any protocol being looked at: the least that HTTP and the hop cost."""

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self._transport, self._received = transport, b""

        def data_received(self, data: bytes) -> None:
            self._received += data
            if self._received.endswith(b"}"):  # of its body: no header ends in one
                self._received = b""
                asyncio.wrap_future(hop()).add_done_callback(self._answer)

        def _answer(self, done: Any) -> None:
            content = [{"type": "text", "text": done.result()}]
            result = {"resultType": "complete", "content": content}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
            self._transport.write(f"{head}{len(body)}\r\n\r\n".encode() + body)

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Connection, sock=listening)
        started.set_result(_where(listening))
        await server.serve_forever()

    asyncio.run(run())


def _polled(listening: socket.socket, started: Future[Server]) -> None:
    """Look at a socket by a timer of the main thread, one line of JSON each: no MCP."""
    listening.setblocking(False)
    connections: list[socket.socket] = []

    def look() -> None:
        try:
            connections.append(listening.accept()[0])
            connections[-1].setblocking(False)
        except BlockingIOError:
            pass
        for connection in [*connections]:
            try:
                received = connection.recv(65536)
            except BlockingIOError:
                continue
            if not received:
                connections.remove(connection)
                continue
            body = b'{"result": {"content": [{"type": "text", "text": "pong"}]}}'
            head = b"HTTP/1.1 200 OK\r\ncontent-length: " + str(len(body)).encode()
            connection.sendall(head + b"\r\n\r\n" + body)

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(_POLLED)
    _kept.append((timer,))
    started.set_result(_where(listening))


def _where(listening: socket.socket) -> Server:
    return Server(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")


_kept: list[tuple[Any, ...]] = []  # what must live as long as the process
_SERVERS: Final[dict[str, Callable[[socket.socket, Hop, Future[Server]], None]]] = {
    "sdk_json": _inline_json,
    "sdk_sse": _inline,
    "sdk_hop": _hopping,
    "fastmcp": _fastmcp,
    "core": _core,
    "core_timer": _core,
    "floor": _floor,
    "polled": _floor,  # begun on the main thread
}
