"""The order of a client's first messages, which a real client's timing cannot show."""

from __future__ import annotations

import anyio
from mcp_types import JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from dcc_bridge.client.proxy.choice import HostChoice, Wanted
from dcc_bridge.client.proxy.router import Router


def test_what_is_sent_before_the_handshake_is_answered_waits_for_that() -> None:
    """To whom it goes, and how, is not known before."""
    said: list[JSONRPCMessage] = []
    to_lobby: list[JSONRPCMessage] = []

    async def say(message: JSONRPCMessage) -> None:
        said.append(message)

    hello = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params={})
    listing = JSONRPCRequest(jsonrpc="2.0", id=2, method="tools/list")
    welcome = JSONRPCResponse(jsonrpc="2.0", id=1, result={"protocolVersion": "2025-11-25"})

    async def talk() -> list[JSONRPCMessage]:
        async with anyio.create_task_group() as tasks:
            router = Router(HostChoice(Wanted()), list, "test", say, tasks)
            router.say_lobby = to_lobby.append
            await router.from_client(hello)
            await router.from_client(listing)
            before = list(to_lobby)
            await router.from_lobby(welcome)
        return before

    assert anyio.run(talk) == [hello]
    assert to_lobby == [hello, listing]
    assert said == [welcome]
