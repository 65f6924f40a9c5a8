"""Limits of connections: the time for a head and a body, and how many there may be. Worker.

uvicorn waits for a request as long as its sender likes, and takes any number of senders. Here a
head has to come within some seconds of the connection or of its own first byte, and a body within
as many after its head. What comes after that, an answer that streams for an hour, has no limit.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Literal

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dcc_bridge.config import Limits
from dcc_bridge.server.auth import LABEL, refusal_response
from dcc_bridge.server.fast_path import GONE

# Longer than clients keep a connection (5 s is common): if both ends closed it at once, the request
# that is on its way would be lost.
RESTS: Final = 75.0  # seconds that a connection may rest after a request
Part = Literal["head", "body"]
# What is still to come, by the state of the one who sends it.
_PARTS: Final[dict[Any, Part]] = {h11.IDLE: "head", h11.SEND_BODY: "body"}


class LimitedConnection(H11Protocol):
    """One client's connection."""

    limits: Limits
    """Of the server; in a class of its own, because uvicorn makes the connections itself."""

    since = 0.0  # when it was opened or its last request ended; monotonic seconds
    _timer: asyncio.TimerHandle | None = None
    _part: Part | None = None
    _has_begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take it, and see that there is room."""
        others = list(self.connections)
        super().connection_made(transport)
        if not _make_room(others, self.limits.connections):
            self.app = _say_full  # the next one drops it, should it say nothing
        self._look()

    def data_received(self, data: bytes) -> None:
        """Read on; the time of a further head counts from its first byte."""
        if self._part == "head" and not self._has_begun:
            self._has_begun = True
            self._wait_for("head")
        super().data_received(data)

    def handle_events(self) -> None:
        """Do what came, and see what is still to come."""
        super().handle_events()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more: a clock that goes on holds all that the connection had."""
        self._wait_for(None)
        super().connection_lost(exc)
        scope: Any = self.cycle.scope if self.cycle is not None else {}
        scope.get(GONE, bool)()
        self._unset_keepalive_if_required()

    @property
    def label(self) -> str:
        """The label of the client whose request came last; "" before the first."""
        return str(self.cycle.scope.get(LABEL, "")) if self.cycle is not None else ""

    @property
    def is_open(self) -> bool:
        """Whether it is not being closed."""
        return not self.transport.is_closing()

    @property
    def is_idle(self) -> bool:
        """Whether no whole request came that is being answered."""
        return self.is_open and self.conn.their_state in _PARTS

    def _look(self) -> None:
        part = _PARTS.get(self.conn.their_state) if self.is_open else None
        if part == self._part:
            return
        if part == "head":
            self._has_begun = bool(self.conn.trailing_data[0])  # came with the last one
            self.since = time.monotonic()
        rests = part == "head" and self.cycle is not None and not self._has_begun
        self._wait_for(part, RESTS if rests else self.limits.request_deadline)

    def _wait_for(self, part: Part | None, seconds: float | None = None) -> None:
        self._part = part
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if part is not None:
            limit = self.limits.request_deadline if seconds is None else seconds
            self._timer = self.loop.call_later(limit, self._give_up)

    def _give_up(self) -> None:
        """Say why, where something came and nothing was said yet, and close."""
        cycle = self.cycle
        is_silent = cycle is None or cycle.response_complete or not cycle.response_started
        if is_silent and (self._has_begun or self._part == "body"):
            limit = self.limits.request_deadline
            why = f"The {self._part} of the request did not come within {limit:g} s.".encode()
            head = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain"
            self.transport.write(f"{head}\r\nContent-Length: {len(why)}\r\n\r\n".encode() + why)
        self.transport.close()


def connection_class(limits: Limits) -> type[LimitedConnection]:
    """Give the class of a server's connections."""
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})


def _make_room(others: Sequence[object], most: int) -> bool:
    """Drop idle ones until another one fits; False if it does not.

    The first are those of the client that has the most, and of its own the oldest. The only one
    of a client stays.
    """
    if len(others) < most:
        return True  # to look at each of them takes longer than to refuse a request
    connections = [peer for peer in others if isinstance(peer, LimitedConnection) and peer.is_open]
    of_client = Counter(peer.label for peer in connections)
    # a sender that dawdles is lost before one that is served
    idle = [it for it in connections if it.is_idle and (not it.label or of_client[it.label] > 1)]
    idle.sort(key=lambda peer: (-of_client[peer.label], peer.since))
    too_many = len(connections) + 1 - most
    for connection in idle[: max(0, too_many)]:
        connection.transport.abort()
    return too_many <= len(idle)


async def _say_full(scope: Scope, receive: Receive, send: Send) -> None:
    answer = refusal_response(
        503, "Too many connections are open: close some, or try again in a moment."
    )
    await answer(scope, receive, send)
