"""Proxy: joins a client that speaks stdio to the running hosts, as if it spoke to them itself.

====================  =======================================================================
`serve`               the whole, on this process's stdin and stdout
``lobby``             which of the running hosts is meant, and an MCP server of our own: what is
                      said while no host is there, and the tools ``list_hosts`` and ``use_host``
``upstream``          a connection to one host, what the next host has to know of the client, and
                      the messages that we make ourselves
``router``            who is sent which message, and what of it has to be another one there
====================  =======================================================================

Messages are passed on as they are, so that a host sees the client itself: its era, its name, what
it can draw. On the process's own anyio loop.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest
from pydantic import ValidationError

from dcc_bridge.client.proxy.lobby import HostChoice, Lobby, Wanted
from dcc_bridge.client.proxy.router import Router

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

_EVERY: Final = 0.5  # seconds between two looks which hosts run: 0.1 ms of work each
# Where it stands first; further on it may be an argument's.
_ID: Final = re.compile(
    r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]*")\s*[,}]'
)
_CLOSE_TIMEOUT: Final = 1.5  # seconds in which the hosts may be told that the client has left


async def serve(running: Callable[[], Sequence[Instance]], wanted: Wanted, label: str) -> None:
    """Serve a client on stdin and stdout until it closes stdin."""
    choice = HostChoice(wanted)
    async with stdio_server() as (read, write), read, write, anyio.create_task_group() as tasks:
        has_left = False

        async def say(message: JSONRPCMessage) -> None:
            if not has_left:  # else it comes too late for the client
                await write.send(SessionMessage(message))

        async with anyio.create_task_group() as links:
            router = Router(choice, running, label, say, links)
            lobby = Lobby(choice, router.look, router.use)
            router.publish = lobby.bus.publish
            router.say_lobby = _LobbyLink(lobby, router, tasks).say
            await router.look()
            tasks.start_soon(router.watch, _EVERY)
            async for item in read:
                if isinstance(item, SessionMessage):
                    await router.from_client(item.message)
                else:
                    await say(_unreadable(item))
            has_left = True
            router.close()
            links.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT
        tasks.cancel_scope.cancel()


class _LobbyLink:
    """The way to the lobby, whose first request decides on the era for good.

    But for a probe: the specification lets a client fall back to the handshake if ``discover``
    was not answered in time, on the same connection.
    """

    def __init__(self, lobby: Lobby, router: Router, tasks: TaskGroup) -> None:
        self._lobby = lobby
        self._router = router
        self._tasks = tasks
        self._is_probed = False
        self._put = self._begin()

    def say(self, message: JSONRPCMessage) -> None:
        """Say something to the lobby."""
        if isinstance(message, JSONRPCRequest):
            if self._is_probed and message.method == "initialize":
                self._put = self._begin()
            self._is_probed = message.method == "server/discover"
        self._put.send_nowait(SessionMessage(message))

    def _begin(self) -> MemoryObjectSendStream[SessionMessage | Exception]:
        put, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        outbox, answers = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks.start_soon(self._lobby.server.run, inbox, outbox, self._lobby.options)
        self._tasks.start_soon(_pass_on, answers, self._router)
        return put


def _unreadable(error: Exception) -> JSONRPCError:
    """Answer a line that is no message, with its id where one can be read."""
    lines = [it["input"] for it in error.errors()[:1]] if isinstance(error, ValidationError) else []
    match = _ID.match(lines[0]) if lines and isinstance(lines[0], str) else None
    why = "This line is no JSON that can be read as a message; it was left out."
    data = ErrorData(code=PARSE_ERROR, message=why)
    return JSONRPCError(jsonrpc="2.0", id=json.loads(match[1]) if match else None, error=data)


async def _pass_on(messages: MemoryObjectReceiveStream[SessionMessage], router: Router) -> None:
    async for item in messages:
        await router.from_lobby(item.message)
