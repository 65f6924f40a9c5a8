"""Questions of hosts that the client has not answered yet. On the proxy's loop.

In the legacy era a question is a request of the host (`HostRequests`). In the modern era a call
returns with a question and a state; the client retries the call with both (`RetryStates`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types

from dcc_bridge.client.proxy.messages import CANCELLED, Params, make_notice, own_request
from dcc_bridge.client.proxy.upstream import Upstream
from dcc_bridge.elicitation.types import LEFT

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

_MAX_STATES: Final = 4096


class HostRequests:
    """The requests of hosts that the client has not answered, in the legacy era."""

    def __init__(self) -> None:
        self._ids = count(1)
        # The host and its own id of the request, by the id that the client sees.
        self._open: dict[types.RequestId, tuple[Upstream, types.RequestId]] = {}

    def number(self, upstream: Upstream, request: types.JSONRPCRequest) -> types.JSONRPCRequest:
        """Return a host's request with a new id for the client: ids of two hosts may be equal."""
        client_id = next(self._ids)
        self._open[client_id] = (upstream, request.id)
        return request.model_copy(update={"id": client_id})

    def answer(self, response: types.JSONRPCResponse | types.JSONRPCError) -> None:
        """Send the client's answer to the host that asked; a late answer is dropped."""
        if response.id is None or response.id not in self._open:
            return
        upstream, host_id = self._open.pop(response.id)
        upstream.send(response.model_copy(update={"id": host_id}))

    def withdraw(
        self, upstream: Upstream, notice: types.JSONRPCNotification
    ) -> types.JSONRPCNotification | None:
        """Remove a request that its host has cancelled.

        Args:
            upstream: The connection to the host.
            notice: The host's notice that it needs no answer any more.

        Returns:
            The notice with the id that the client knows; None if the request is not open.
        """
        params: dict[str, Any] = notice.params or {}
        cancelled = (upstream, params.get("requestId"))
        for client_id, request in self._open.items():
            if request == cancelled:
                del self._open[client_id]
                return make_notice(notice.method, {**params, "requestId": client_id})
        return None

    def abandon(self, upstream: Upstream, why: str) -> Iterator[types.JSONRPCNotification]:
        """Remove all requests of a host that is gone, and yield a notice for each."""
        for client_id, (host, _) in list(self._open.items()):
            if host is upstream:
                del self._open[client_id]
                yield make_notice(CANCELLED, {"requestId": client_id, "reason": why})


class RetryStates:
    """The host that issued each state, in the modern era.

    A retry goes to the host that asked, even if the client works in another host by then.
    """

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, Instance] = OrderedDict()
        # The params of each call that waits for a retry, and the keys of its questions, by state.
        self._open: dict[str, tuple[Params, list[str]]] = {}

    def store(self, request: types.JSONRPCRequest, result: dict[str, Any], host: Instance) -> None:
        """Store the state of a call, if its result has one."""
        state = result.get("requestState")
        if not isinstance(state, str):
            return
        questions = result.get("inputRequests") or {}
        self._hosts[state] = host
        self._open[state] = (request.params or {}, list(questions))
        if len(self._hosts) > _MAX_STATES:
            oldest, _ = self._hosts.popitem(last=False)
            self._open.pop(oldest, None)

    def host(self, request: types.JSONRPCRequest) -> Instance | None:
        """Return the host for a retry; None for other requests and unknown states."""
        params = request.params or {}
        state = str(params.get("requestState"))
        self._open.pop(state, None)
        return self._hosts.get(state)

    def cancel_all(self) -> Iterator[tuple[Instance, types.JSONRPCRequest]]:
        """Yield a host and a retry that cancels, for each open question of a client that left."""
        while self._open:
            state, (params, keys) = self._open.popitem()
            cancel = {"action": "cancel", "_meta": {LEFT: True}}
            retry = {
                **params,
                "inputResponses": dict.fromkeys(keys, cancel),
                "requestState": state,
            }
            yield self._hosts[state], own_request("tools/call", retry)
