"""The SDK's server and nothing else, on a thread: what a bridge is compared with.

The tools answer inline on the server's loop, no token is wanted, and uvicorn and its socket are set
as the bridge sets them. Importing this module imports mcp and uvicorn.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer

from tests.bench.agent import Server


class BareServer:
    """The SDK's server on a daemon thread.

    Attributes:
        started: Where it is, as soon as requests are taken.
    """

    def __init__(self, server: MCPServer[Any] | None = None) -> None:
        """Begin to serve.

        Args:
            server: What is served; None for one with a tool.
        """
        self.started: Future[Server] = Future()
        self._socket = _listen()
        self._uvicorn = _Uvicorn(_config(server or _server()), self._note_start)
        self._thread = Thread(target=self._uvicorn.run, args=([self._socket],), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._uvicorn.should_exit = True
        self._thread.join(5)

    def _note_start(self) -> None:
        port = self._socket.getsockname()[1]
        self.started.set_result(Server(f"http://127.0.0.1:{port}/mcp"))


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _listen() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.bind(("127.0.0.1", 0))
    sock.listen(128)
    return sock


def _config(server: MCPServer[Any]) -> uvicorn.Config:
    """Set uvicorn as `dcc_bridge.server.service` does."""
    return uvicorn.Config(
        server.streamable_http_app(),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=1,
    )


def _server() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("bare", log_level="WARNING")
    server.tool()(ping)
    return server


async def ping() -> str:
    """Say that the server is there."""
    return "pong"
