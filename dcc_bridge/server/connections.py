"""Limits of connections: the time for a head and a body, and how many there may be. Worker.

uvicorn waits for a request as long as its sender likes, and takes any number of senders. Here a
head has to come within some seconds of the connection or of its own first byte, and a body within
as many after its head. What comes after that, an answer that streams for an hour, has no limit.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dcc_bridge.callbacks import CallLater
from dcc_bridge.server import admission
from dcc_bridge.server.refusal import refusal_response
from dcc_bridge.server.scope_keys import GONE, LABEL, WRITTEN

# Longer than clients keep a connection (5 s is common): if both ends closed it at once, the request
# that is on its way would be lost.
RESTS: Final = 75.0  # seconds that a connection may rest after a request
REQUEST_DEADLINE_S: Final = 5.0  # for a request's head to come, and again for its body
Part = Literal["head", "body"]
_PARTS: Final[dict[Any, Part]] = {h11.IDLE: "head", h11.SEND_BODY: "body"}  # by their state
_MOST_HEAD: Final = 65_536  # bytes of a head, and of what else is no body: as many as h11 takes
_UPGRADE: Final = re.compile(rb"(?i)\nupgrade[ \t]*:")
_MOST_AHEAD: Final = 4  # requests that wait behind the one that is answered

if TYPE_CHECKING:
    _Protocol = H11Protocol  # what both of uvicorn's have
else:
    _Protocol = asyncio.Protocol


class _OneWrite:
    """A transport that sends what is written in a turn of the loop in one packet."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._parts: list[bytes] = []
        for name in ("get_extra_info", "is_closing", "abort", "set_protocol"):
            setattr(self, name, getattr(transport, name))
        self.pause_reading, self.resume_reading = transport.pause_reading, transport.resume_reading

    def write(self, data: bytes) -> None:
        if not self._parts:
            asyncio.get_running_loop().call_soon(self.flush)
        self._parts.append(data)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


class LimitedConnection(_Protocol):
    """One client's connection, whichever parser reads it."""

    since = 0.0  # when it was opened or its last request ended; monotonic seconds
    later: CallLater  # as the worker's, whose deadlines share one timer: hardly any is reached
    _stop: Callable[[], object] = bool
    _part: Part | None = None
    _has_begun = False
    cycle: Any  # the request that came last
    _taken: Sequence[Any] = ()  # those without a whole response, in turn; h11 takes one at a time

    def _awaited(self) -> tuple[Part | None, bool]:
        """Tell what is still to come before an answer, if anything, and whether it has begun."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take it, and see that there is room."""
        others = list(self.connections)
        super().connection_made(_OneWrite(transport))  # type: ignore[arg-type]  # what they use of it
        if not _make_room(others, admission.MAX_CONNECTIONS):
            self.app = _say_full  # the next one drops it, should it say nothing
        self._look()

    def data_received(self, data: bytes) -> None:
        """Read on; the time of a further head counts from its first byte."""
        if self._part == "head" and not self._has_begun:
            self._has_begun = True
            self._wait_for("head")
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more: a clock that goes on holds all that the connection had."""
        self._wait_for(None)
        super().connection_lost(exc)
        for cycle in filter(None, self._taken or [self.cycle]):
            cycle.disconnected = True  # uvicorn says so to the last one alone
            cycle.message_event.set()
            cycle.scope.get(GONE, bool)()
        self._unset_keepalive_if_required()

    def on_response_complete(self) -> None:
        """Tell who answered that it was written, and wait for the next request."""
        cycle, *self._taken = self._taken or [self.cycle]
        if isinstance(self.transport, _OneWrite):
            self.transport.flush()  # the client need not wait for what is left of this turn
        cycle.scope.pop(WRITTEN, bool)()  # not reached if the client left before
        super().on_response_complete()
        self._look()

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
        return self.is_open and self._awaited()[0] is not None

    def _look(self) -> None:
        part, has_begun = self._awaited() if self.is_open else (None, False)
        if part == self._part:
            return
        if part == "head":
            self._has_begun = has_begun  # it came with the last one
            self.since = time.monotonic()
        rests = part == "head" and self.cycle is not None and not self._has_begun
        self._wait_for(part, RESTS if rests else REQUEST_DEADLINE_S)

    def _wait_for(self, part: Part | None, seconds: float | None = None) -> None:
        self._part = part
        self._stop()
        if part is not None:
            limit = REQUEST_DEADLINE_S if seconds is None else seconds
            self._stop = self.later(limit, self._give_up)

    def _give_up(self) -> None:
        """Say why, where something came and nothing was said yet, and close."""
        cycle = self.cycle
        is_silent = cycle is None or cycle.response_complete or not cycle.response_started
        if is_silent and (self._has_begun or self._part == "body"):
            limit = REQUEST_DEADLINE_S
            why = f"The {self._part} of the request did not come within {limit:g} s.".encode()
            head = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain"
            self.transport.write(f"{head}\r\nContent-Length: {len(why)}\r\n\r\n".encode() + why)
        self.transport.close()


class H11Connection(LimitedConnection, H11Protocol):
    """It is read in Python; where no compiled parser is."""

    def handle_events(self) -> None:
        """Do what came, and see what is still to come."""
        super().handle_events()
        self._look()

    def _awaited(self) -> tuple[Part | None, bool]:
        return _PARTS.get(self.conn.their_state), bool(self.conn.trailing_data[0])


PARSERS: Final[list[type[LimitedConnection]]] = [H11Connection]  # the last one is taken

if find_spec("httptools") is not None:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class HttpToolsConnection(LimitedConnection, HttpToolsProtocol):  # type: ignore[misc]  # their cycles differ
        """It is read in C, which takes a quarter off a plain call's processor time.

        The parser has no limits of its own, and reads on while a request is answered.
        """

        _parsed: Part | None = None  # what it is in the middle of
        _overhead = 0  # bytes since a request began that are no body

        def data_received(self, data: bytes) -> None:
            """Read on; who offers another protocol is read by h11, as this one skips the body."""
            if self._awaited() == ("head", False) and _UPGRADE.search(data):
                self._hand_over(data)
                return
            self._overhead += len(data)
            super().data_received(data)
            if self._overhead > _MOST_HEAD and self.is_open:
                self.send_400_response("The head of the request is too long.")
            self._look()

        def on_message_begin(self) -> None:
            """Begin a request; that too many wait ends the connection."""
            if len(self.pipeline) >= _MOST_AHEAD:
                raise ValueError("too many requests at once")  # the parser makes a 400 of it
            self._parsed = "head"
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            """Take a header, without its blanks; one behind the body could change what was read."""
            if self._parsed == "head":
                super().on_header(name, value.strip(b" \t"))

        def on_headers_complete(self) -> None:
            """Answer the request."""
            super().on_headers_complete()
            self._taken, self._parsed = [*self._taken, self.cycle], "body"

        def on_body(self, body: bytes) -> None:
            """Take a part of the body."""
            self._overhead -= len(body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            """End the request."""
            self._parsed, self._overhead = None, 0
            super().on_message_complete()

        def _awaited(self) -> tuple[Part | None, bool]:
            is_answering = self.cycle is not None and not self.cycle.response_complete
            if self.pipeline or (self._parsed != "body" and is_answering):
                return None, False
            return self._parsed or "head", self._parsed == "head"

        def _hand_over(self, data: bytes) -> None:
            self._wait_for(None)
            self._unset_keepalive_if_required()
            self.connections.discard(self)
            connection = H11Connection(self.config, self.server_state, self.app_state)
            connection.later = self.later
            transport: Any = self.transport
            transport.set_protocol(connection)
            connection.connection_made(transport)
            connection.data_received(data)

    PARSERS.append(HttpToolsConnection)


def connection_class(later: CallLater) -> type[LimitedConnection]:
    """Give the class of a server's connections; `later` is a method, as a class would bind it."""
    return type("LimitedConnection", (PARSERS[-1],), {"later": later})


def _make_room(others: Sequence[object], most: int) -> bool:
    """Drop idle ones until another one fits; False if it does not."""
    if len(others) < most:
        return True  # to look at each of them takes longer than to refuse a request
    connections = [peer for peer in others if isinstance(peer, LimitedConnection) and peer.is_open]
    of_client = Counter(peer.label for peer in connections)
    # a sender that dawdles is lost before one that is served; the only one of a client stays
    idle = [it for it in connections if it.is_idle and (not it.label or of_client[it.label] > 1)]
    idle.sort(key=lambda peer: (-of_client[peer.label], peer.since))  # of the largest, the oldest
    too_many = len(connections) + 1 - most
    for connection in idle[: max(0, too_many)]:
        connection.transport.abort()
    return too_many <= len(idle)


async def _say_full(scope: Scope, receive: Receive, send: Send) -> None:
    why = "Too many connections are open: close some, or try again in a moment."
    await refusal_response(503, why)(scope, receive, send)
