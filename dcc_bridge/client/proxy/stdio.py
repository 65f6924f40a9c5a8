"""The client's end of the proxy: each line of stdin is a message. On the proxy's loop."""

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

_LOOK_INTERVAL_S: Final = 0.5  # between two looks for running hosts, which take 0.1 ms each
_CLOSE_TIMEOUT_S: Final = 1.5  # for telling the hosts that the client has left


async def run(
    choice: HostChoice,
    running: Callable[[], Sequence[Instance]],
    label: str,
    first_line: bytes,
    sent_answer: Mapping[str, Any] | None,
) -> None:
    """Serve a client on stdin and stdout until it closes stdin.

    Args:
        choice: The host in which the client works.
        running: Returns the hosts that run; called in a thread.
        label: The name under which the hosts know the client.
        first_line: The client's first message, which was read already.
        sent_answer: The answer to this message, if it was sent already; the lobby's own answer is
            then dropped.
    """
    group = anyio.create_task_group
    # Only the SDK's writer is used: its reader would silently change odd ids.
    no_input = anyio.wrap_file(io.StringIO())
    stdio = stdio_server(stdin=no_input)
    async with stdio as (unused, write), unused, write, group() as sends, group() as tasks:
        has_left = False

        async def say(message: types.JSONRPCMessage) -> None:
            nonlocal sent_answer
            if sent_answer is not None and _is_same_answer(message, sent_answer):
                sent_answer = None
            elif not has_left:  # a later message would find no client
                sends.start_soon(write.send, SessionMessage(message))  # in order, without waiting

        async with group() as connections:
            router = Router(choice, running, label, say, connections)
            own_lobby = lobby.Lobby(choice, router.look, router.use)
            router.publish = own_lobby.bus.publish
            router.say_lobby = lobby.LobbyLink(own_lobby, router.from_lobby, tasks).say
            await router.look()
            tasks.start_soon(router.watch, _LOOK_INTERVAL_S)
            async for line in _lines(first_line):
                try:
                    message = lobby.read_line(line)
                except lobby.UnreadableLine as error:
                    await say(error.answer)
                else:
                    await router.from_client(message)
            has_left = True
            router.close()
            connections.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT_S
        sends.cancel_scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT_S
        tasks.cancel_scope.cancel()


def _is_same_answer(message: types.JSONRPCMessage, sent_answer: Mapping[str, Any]) -> bool:
    """Return whether a message answers the same request as `sent_answer`.

    The id alone is not enough: a handshake may have the id of the probe before it.
    """
    if getattr(message, "id", None) != sent_answer["id"]:
        return False
    result = getattr(message, "result", {})
    return bool(result.keys() == sent_answer["result"].keys())


async def _lines(first: bytes) -> AsyncIterator[bytes]:
    """Yield the first line, unless it is empty, and then the lines of stdin until its end."""
    if first:
        yield first
    async with await anyio.open_file(0, "rb", closefd=False) as stdin:
        async for line in stdin:
            yield line
