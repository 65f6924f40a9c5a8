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

_LOOK_INTERVAL_S: Final = 0.5  # between two looks which hosts run, of 0.1 ms of work each
_CLOSE_TIMEOUT_S: Final = 1.5  # in which the hosts may be told that the client has left


async def run(
    choice: HostChoice,
    running: Callable[[], Sequence[Instance]],
    label: str,
    line: bytes,
    answered: Mapping[str, Any] | None,
) -> None:
    """Serve a client on stdin and stdout until it closes stdin, as `Router` describes.

    Args:
        choice: The host in which the client works.
        running: Returns the hosts that run; called in a thread.
        label: The name under which the hosts know the client.
        line: The client's first message, which was read already.
        answered: The answer that this message has had already; None where the lobby answers it.
    """
    group = anyio.create_task_group
    # The SDK writes to stdout only. Its own reader of lines would not show that an id is odd.
    no_input = anyio.wrap_file(io.StringIO())
    stdio = stdio_server(stdin=no_input)
    async with stdio as (unused, write), unused, write, group() as saying, group() as tasks:
        has_left = False

        async def say(message: types.JSONRPCMessage) -> None:
            nonlocal answered
            if answered is not None and _is_same_answer(message, answered):
                answered = None  # the lobby's own answer to the first message
            elif not has_left:  # a later message would find no client
                saying.start_soon(write.send, SessionMessage(message))  # in order, and none waits

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
            tasks.start_soon(router.watch, _LOOK_INTERVAL_S)
            async for next_line in _lines(line):
                await hear(next_line)
            has_left = True
            router.close()
            links.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT_S
        saying.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT_S
        tasks.cancel_scope.cancel()


def _is_same_answer(message: types.JSONRPCMessage, answered: Mapping[str, Any]) -> bool:
    """Return whether a message answers what was answered already.

    The id alone does not say so: a handshake may have the id of the probe before it.
    """
    if getattr(message, "id", None) != answered["id"]:
        return False
    result = getattr(message, "result", {})
    return bool(result.keys() == answered["result"].keys())


async def _lines(first: bytes) -> AsyncIterator[bytes]:
    """Yield a line that was read before, and then the lines of stdin until its end."""
    if first:
        yield first
    async with await anyio.open_file(0, "rb", closefd=False) as stdin:
        async for line in stdin:
            yield line
