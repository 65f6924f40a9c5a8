"""Requests and questions of hosts that the client has not answered yet. On the proxy's loop."""

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

_MOST_STATES: Final = 4096


class HostRequests:
    """Requests of hosts that the client has not answered; the legacy era."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._open: dict[types.RequestId, tuple[Upstream, types.RequestId]] = {}

    def number(self, upstream: Upstream, request: types.JSONRPCRequest) -> types.JSONRPCRequest:
        """Give a host's request the number under which the client sees it."""
        ours = next(self._ids)
        self._open[ours] = upstream, request.id
        return request.model_copy(update={"id": ours})

    def answer(self, response: types.JSONRPCResponse | types.JSONRPCError) -> None:
        """Send the client's answer to whoever asked; nobody waits for a late one."""
        request = self._open.pop(response.id, None) if response.id is not None else None
        if request is not None:
            upstream, number = request
            upstream.send(response.model_copy(update={"id": number}))

    def withdrawn(
        self, upstream: Upstream, notice: types.JSONRPCNotification
    ) -> types.JSONRPCNotification | None:
        """Give a host's notice that it needs no answer any more, as the client knows it."""
        params: dict[str, Any] = notice.params or {}
        meant = upstream, params.get("requestId")
        ours = next((number for number, request in self._open.items() if request == meant), None)
        if ours is None:
            return None
        del self._open[ours]
        return make_notice(notice.method, {**params, "requestId": ours})

    def abandon(self, upstream: Upstream, why: str) -> Iterator[types.JSONRPCNotification]:
        """Withdraw all that a host asked which is gone."""
        numbers = [number for number, (host, _) in self._open.items() if host is upstream]
        for number in numbers:
            del self._open[number]
            yield make_notice(CANCELLED, {"requestId": number, "reason": why})


class RetryStates:
    """Which host parked a call under which state; the modern era.

    The answer to a question belongs to the host that asked it, wherever the client works by then.
    """

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, Instance] = OrderedDict()
        self._open: dict[str, tuple[Params, list[str]]] = {}  # what was called, and what it asks

    def note(self, request: types.JSONRPCRequest, result: dict[str, Any], host: Instance) -> None:
        """Look whether a result parks its call."""
        state = result.get("requestState")
        if isinstance(state, str):
            self._hosts[state] = host
            self._open[state] = request.params or {}, list(result.get("inputRequests") or {})
            if len(self._hosts) > _MOST_STATES:
                self._open.pop(self._hosts.popitem(last=False)[0], None)

    def host(self, request: types.JSONRPCRequest) -> Instance | None:
        """Give the host that a retry belongs to; None for what is no retry, or of nobody's."""
        state = str((request.params or {}).get("requestState"))
        self._open.pop(state, None)
        return self._hosts.get(state)

    def leave(self) -> Iterator[tuple[Instance, types.JSONRPCRequest]]:
        """Give what ends each call whose question nobody answered: its client has left."""
        while self._open:
            state, (params, keys) = self._open.popitem()
            answers = {key: {"action": "cancel", "_meta": {LEFT: True}} for key in keys}
            again = {**params, "inputResponses": answers, "requestState": state}
            yield self._hosts[state], own_request("tools/call", again)
