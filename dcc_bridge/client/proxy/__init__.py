"""Proxy: joins a client that speaks stdio to the running hosts, as if it spoke to them itself.

====================  =======================================================================
`serve`               the whole, on this process's stdin and stdout
``choice``            which of the running hosts is meant
``lobby``             an MCP server of our own: what is said while no host is there, and the
                      tools ``list_hosts`` and ``use_host``
``upstream``          a connection to one host, and what the next host has to know of the client
``router``            who is sent which message, and what of it has to be another one there
``messages``          messages that we make ourselves
====================  =======================================================================

Messages are passed on as they are, so that a host sees the client itself: its era, its name, what
it can draw. On the process's own anyio loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.client._transport import WriteStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage

from dcc_bridge.client.proxy.choice import HostChoice, Wanted
from dcc_bridge.client.proxy.lobby import Lobby
from dcc_bridge.client.proxy.router import Router

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

_EVERY: Final = 0.5  # seconds between two looks which hosts run: 0.1 ms of work each
_CLOSE_TIMEOUT: Final = 1.5  # seconds in which the hosts may be told that the client has left


async def serve(running: Callable[[], Sequence[Instance]], wanted: Wanted, label: str) -> None:
    """Serve a client on stdin and stdout until it closes stdin."""
    choice = HostChoice(wanted)
    to_lobby, lobby_inbox = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    lobby_outbox, from_lobby = anyio.create_memory_object_stream[SessionMessage](0)
    async with (
        stdio_server() as (read, write),
        to_lobby,
        lobby_inbox,
        lobby_outbox,
        from_lobby,
        read,
        write,
        anyio.create_task_group() as tasks,
    ):
        client = _Client(write)
        async with anyio.create_task_group() as links:
            router = Router(choice, running, label, client.say, links)
            lobby = Lobby(choice, router.look, router.use)
            router.publish = lobby.bus.publish
            router.say_lobby = lambda message: to_lobby.send_nowait(SessionMessage(message))
            await router.look()
            tasks.start_soon(lobby.server.run, lobby_inbox, lobby_outbox, lobby.options)
            tasks.start_soon(_pass_on, from_lobby, router)
            tasks.start_soon(router.watch, _EVERY)
            async for item in read:
                if isinstance(item, SessionMessage):
                    await router.from_client(item.message)
            client.has_left = True
            router.close()
            links.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT
        tasks.cancel_scope.cancel()


class _Client:
    """The client's end; what comes too late for it is dropped."""

    def __init__(self, write: WriteStream[SessionMessage]) -> None:
        self._write = write
        self.has_left = False

    async def say(self, message: JSONRPCMessage) -> None:
        if not self.has_left:
            await self._write.send(SessionMessage(message))


async def _pass_on(messages: MemoryObjectReceiveStream[SessionMessage], router: Router) -> None:
    async for item in messages:
        await router.from_lobby(item.message)
