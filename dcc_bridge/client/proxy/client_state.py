"""The client's state that the proxy repeats to each new host. On the proxy's loop."""

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
    """Stores the messages that a client sends only once, and repeats them to the next host.

    Attributes:
        hello: The handshake of a client of the legacy era, once it was answered.
        listen_requests: The requests ``subscriptions/listen`` of a client of the modern era, by
            their ids.
    """

    def __init__(self) -> None:
        self.hello: Hello | None = None
        self.listen_requests: dict[types.RequestId, types.JSONRPCRequest] = {}
        self._level: Params | None = None
        self._subscriptions: dict[str, Params] = {}  # by the resource's URI

    def set_hello(self, handshake: types.JSONRPCRequest, response: types.JSONRPCResponse) -> None:
        """Store a handshake with the version in its answer.

        Args:
            handshake: The client's request.
            response: The lobby's answer.
        """
        version = str(response.result.get("protocolVersion"))
        params = handshake.params or {}
        self.hello = Hello(version, {**params, "protocolVersion": version})

    def store(self, request: types.JSONRPCRequest) -> None:
        """Store a request, if it has to be repeated to the next host."""
        params = request.params or {}
        if request.method == SET_LEVEL:
            self._level = params
        elif request.method == LISTEN:
            self.listen_requests[request.id] = request
        elif request.method == _SUBSCRIBE:
            self._subscriptions[str(params.get("uri"))] = params
        elif request.method == _UNSUBSCRIBE:
            self._subscriptions.pop(str(params.get("uri")), None)

    def repeat(self, upstream: Upstream) -> None:
        """Send all stored messages to a host, even those that the host may have already."""
        if self.hello is None:
            for request in self.listen_requests.values():
                upstream.send(request)
            return
        if self._level is not None:
            upstream.send_own(SET_LEVEL, self._level)
        for params in self._subscriptions.values():
            upstream.send_own(_SUBSCRIBE, params)

    def change_notices(self) -> Iterator[types.JSONRPCNotification]:
        """Yield the notices of a change of hosts, for a client of the legacy era."""
        for method in CHANGED:
            yield make_notice(method)
        for uri in self._subscriptions:
            yield make_notice(UPDATED, {"uri": uri})

    def change_events(self) -> Iterator[subscriptions.ServerEvent]:
        """Yield the events of a change of hosts, for a client of the modern era."""
        yield subscriptions.ToolsListChanged()
        yield subscriptions.ResourcesListChanged()
        yield subscriptions.PromptsListChanged()
        for request in list(self.listen_requests.values()):
            params = request.params or {}
            wanted = params.get("notifications", {})
            for uri in wanted.get("resourceSubscriptions", []):
                yield subscriptions.ResourceUpdated(str(uri))
