"""The part of a client's state that each of its hosts has to know. On the proxy's loop."""

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
    """Keeps what the client has said once, and repeats it to the next host.

    Attributes:
        hello: The handshake of a client of the legacy era, once its version is agreed on.
        listening: The requests to listen of a client of the modern era, by their ids.
    """

    def __init__(self) -> None:
        self.hello: Hello | None = None
        self.listening: dict[types.RequestId, types.JSONRPCRequest] = {}
        self._level: Params | None = None
        self._watched: dict[str, Params] = {}  # by the resource's URI

    def agree(self, handshake: types.JSONRPCRequest, response: types.JSONRPCResponse) -> None:
        """Keep a handshake with the version that was agreed on.

        Args:
            handshake: The client's request.
            response: The lobby's answer.
        """
        version = str(response.result.get("protocolVersion"))
        params = handshake.params or {}
        self.hello = Hello(version, {**params, "protocolVersion": version})

    def remember(self, request: types.JSONRPCRequest) -> None:
        """Keep a request, if it has to be repeated to the next host."""
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
        """Send everything that was kept to a host, which may know a part of it already."""
        if self.hello is None:
            for request in self.listening.values():
                upstream.send(request)
            return
        if self._level is not None:
            upstream.ask(SET_LEVEL, self._level)
        for params in self._watched.values():
            upstream.ask(_SUBSCRIBE, params)

    def change_notices(self) -> Iterator[types.JSONRPCNotification]:
        """Yield the notices that a client of the legacy era gets for a change of hosts."""
        for method in CHANGED:
            yield make_notice(method)
        for uri in self._watched:
            yield make_notice(UPDATED, {"uri": uri})

    def change_events(self) -> Iterator[subscriptions.ServerEvent]:
        """Yield the events that a client of the modern era gets for a change of hosts."""
        yield subscriptions.ToolsListChanged()
        yield subscriptions.ResourcesListChanged()
        yield subscriptions.PromptsListChanged()
        for request in list(self.listening.values()):
            params = request.params or {}
            wanted = params.get("notifications", {})
            for uri in wanted.get("resourceSubscriptions", []):
                yield subscriptions.ResourceUpdated(str(uri))
