"""What hosts have asked of the client, and what they wait for from it. On the proxy's loop.

Every host counts its requests from one; to the client each needs a number of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from dcc_bridge.client.proxy import messages
from dcc_bridge.client.proxy.choice import Host
from dcc_bridge.client.proxy.upstream import Upstream

_MOST_STATES: Final = 4096


class Requests:
    """Requests of hosts that the client has not answered; the legacy era."""

    def __init__(self) -> None:
        """Begin with none."""
        self._ids = count(1)
        self._open: dict[RequestId, tuple[Upstream, RequestId]] = {}

    def number(self, upstream: Upstream, request: JSONRPCRequest) -> JSONRPCRequest:
        """Give a host's request the number under which the client sees it."""
        ours = next(self._ids)
        self._open[ours] = upstream, request.id
        return request.model_copy(update={"id": ours})

    def answer(self, response: JSONRPCResponse | JSONRPCError) -> None:
        """Send the client's answer to whoever asked; nobody waits for a late one."""
        asked = self._open.pop(response.id, None) if response.id is not None else None
        if asked is not None:
            upstream, theirs = asked
            upstream.send(response.model_copy(update={"id": theirs}))

    def withdrawn(
        self, upstream: Upstream, notice: JSONRPCNotification
    ) -> JSONRPCNotification | None:
        """Give a host's notice that it needs no answer any more, as the client knows it."""
        params: dict[str, Any] = notice.params or {}
        meant = upstream, params.get("requestId")
        ours = next((number for number, asked in self._open.items() if asked == meant), None)
        if ours is None:
            return None
        del self._open[ours]
        return messages.notice(notice.method, {**params, "requestId": ours})

    def abandon(self, upstream: Upstream, why: str) -> Iterator[JSONRPCNotification]:
        """Withdraw all that a host asked which is gone."""
        theirs = [number for number, asked in self._open.items() if asked[0] is upstream]
        for number in theirs:
            del self._open[number]
            yield messages.notice(messages.CANCELLED, {"requestId": number, "reason": why})


class States:
    """Which host parked a call under which state; the modern era.

    The answer to a question belongs to the host that asked it, wherever the client works by then.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._hosts: OrderedDict[str, Host] = OrderedDict()

    def note(self, result: dict[str, Any], host: Host) -> None:
        """Look whether a result parks its call."""
        state = result.get("requestState")
        if isinstance(state, str):
            self._hosts[state] = host
            if len(self._hosts) > _MOST_STATES:
                self._hosts.popitem(last=False)

    def host(self, request: JSONRPCRequest) -> Host | None:
        """Give the host that a retry belongs to; None for what is no retry, or of nobody's."""
        return self._hosts.get(str((request.params or {}).get("requestState")))
