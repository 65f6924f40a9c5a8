"""The client's end of the proxy: a line of stdin is a message. On the proxy's loop."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from dcc_bridge.client.proxy import lobby
from dcc_bridge.client.proxy.host_choice import HostChoice
from dcc_bridge.client.proxy.router import Router

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

_EVERY: Final = 0.5  # seconds between two looks which hosts run: 0.1 ms of work each
_CLOSE_TIMEOUT: Final = 1.5  # seconds in which the hosts may be told that the client has left


async def run(
    choice: HostChoice,
    running: Callable[[], Sequence[Instance]],
    label: str,
    line: bytes,  # what the client has said first
    answered: Mapping[str, Any] | None,  # what it was answered, or None
) -> None:
    """Serve a client on stdin and stdout until it closes stdin; `Router` tells of the rest."""
    group = anyio.create_task_group
    # The SDK writes to stdout only. What it reads of a line does not show an id that is odd.
    nothing = anyio.wrap_file(io.StringIO())
    stdio = stdio_server(stdin=nothing)
    async with stdio as (unused, write), unused, write, group() as saying, group() as tasks:
        has_left = False

        async def say(message: types.JSONRPCMessage) -> None:
            nonlocal answered
            id_, members = getattr(message, "id", None), getattr(message, "result", {}).keys()
            # that of a handshake may have the id of the probe before it
            if answered and (id_, members) == (answered["id"], answered["result"].keys()):
                answered = None  # the lobby's own answer to the first message
            elif not has_left:  # else it comes too late for the client
                saying.start_soon(write.send, SessionMessage(message))  # in order, none waits

        async def hear(line: bytes) -> None:
            try:
                message = lobby.read_line(line)
            except lobby.UnreadableLine as error:
                await say(error.answer)
            else:
                await router.from_client(message)

        async with group() as links:
            router = Router(choice, running, label, say, links)
            own_lobby = lobby.Lobby(choice, router.look, router.use)
            router.publish = own_lobby.bus.publish
            router.say_lobby = lobby.LobbyLink(own_lobby, router.from_lobby, tasks).say
            await router.look()
            tasks.start_soon(router.watch, _EVERY)
            async for next_line in _lines(line):
                await hear(next_line)
            has_left = True
            router.close()
            links.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT
        saying.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT
        tasks.cancel_scope.cancel()


async def _lines(first: bytes) -> AsyncIterator[bytes]:
    """Yield a line that was read before, and then those of stdin until its end."""
    if first:
        yield first
    async with await anyio.open_file(0, "rb", closefd=False) as stdin:
        async for line in stdin:
            yield line
