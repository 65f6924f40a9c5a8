"""What a client has said once, and every host that it works in later has to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import mcp_types as types
from mcp.shared import subscriptions

from dcc_bridge.client.proxy.messages import CHANGED, LISTEN, Params, make_notice
from dcc_bridge.client.proxy.upstream import Hello, Upstream

SET_LEVEL: Final = "logging/setLevel"
UPDATED: Final = "notifications/resources/updated"
_SUBSCRIBE: Final = "resources/subscribe"
_UNSUBSCRIBE: Final = "resources/unsubscribe"


class ClientState:
    """Keeps what the client has said once, and says it again to the next host."""

    def __init__(self) -> None:
        # The handshake of a client of the legacy era, once it is agreed on.
        self.hello: Hello | None = None
        # What a client of the modern era listens to, by the request.
        self.listening: dict[types.RequestId, types.JSONRPCRequest] = {}
        self._level: Params | None = None
        self._watched: dict[str, Params] = {}

    def agree(self, handshake: types.JSONRPCRequest, response: types.JSONRPCResponse) -> None:
        """Keep a handshake with the version that was agreed on."""
        version = str(response.result.get("protocolVersion"))
        self.hello = Hello(version, {**(handshake.params or {}), "protocolVersion": version})

    def remember(self, request: types.JSONRPCRequest) -> None:
        """Keep a request that has to be repeated to the next host."""
        params = request.params or {}
        if request.method == SET_LEVEL:
            self._level = params
        elif request.method == LISTEN:
            self.listening[request.id] = request
        elif request.method == _SUBSCRIBE:
            self._watched[str(params.get("uri"))] = params
        elif request.method == _UNSUBSCRIBE:
            self._watched.pop(str(params.get("uri")), None)

    def repeat(self, upstream: Upstream) -> None:
        """Say it again, to a host that may know a part of it already."""
        if self.hello is None:
            for request in self.listening.values():
                upstream.send(request)
            return
        if self._level is not None:
            upstream.ask(SET_LEVEL, self._level)
        for params in self._watched.values():
            upstream.ask(_SUBSCRIBE, params)

    def change_notices(self) -> Iterator[types.JSONRPCNotification]:
        """Give what a client of the legacy era is told when it works in another host."""
        for method in CHANGED:
            yield make_notice(method)
        for uri in self._watched:
            yield make_notice(UPDATED, {"uri": uri})

    def change_events(self) -> Iterator[subscriptions.ServerEvent]:
        """Give the same for a client of the modern era."""
        yield from (
            subscriptions.ToolsListChanged(),
            subscriptions.ResourcesListChanged(),
            subscriptions.PromptsListChanged(),
        )
        for request in list(self.listening.values()):
            wanted = (request.params or {}).get("notifications", {})
            for uri in wanted.get("resourceSubscriptions", []):
                yield subscriptions.ResourceUpdated(str(uri))
