"""Limits the number of connections, and the time for a request to arrive. Worker.

uvicorn waits for a request without a limit, and accepts any number of connections. Here the *head*
of a request (its request line and headers) has to arrive within `REQUEST_DEADLINE_S`, and its body
within as many seconds after its head. A response has no limit: it may stream for an hour.
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

KEEP_ALIVE_S: Final = 75.0
"""Seconds that a connection may be idle after a request.

Longer than clients keep a connection (5 s is common): if the server closed it first, a request that
was just sent would be lost.
"""
REQUEST_DEADLINE_S: Final = 5.0
"""Seconds for a request's head to arrive, and again for its body."""
Part = Literal["head", "body"]
_PARTS: Final[dict[Any, Part]] = {h11.IDLE: "head", h11.SEND_BODY: "body"}
"""The part of a request that comes next, by the state of h11's reader."""
_MAX_HEAD_BYTES: Final = 65_536
"""Bytes of a request without its body, as in h11."""
_UPGRADE: Final = re.compile(rb"(?i)\nupgrade[ \t]*:")
_MAX_PIPELINED: Final = 4
"""Requests that wait while another request of the connection is answered."""

if TYPE_CHECKING:
    _Protocol = H11Protocol  # for the members that both of uvicorn's protocols have
else:
    _Protocol = asyncio.Protocol


class _OneWrite:
    """A transport that sends everything written in one turn of the loop in one packet."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._parts: list[bytes] = []
        for name in ("get_extra_info", "is_closing", "abort", "set_protocol"):
            setattr(self, name, getattr(transport, name))
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes) -> None:
        if not self._parts:
            asyncio.get_running_loop().call_soon(self.flush)
        self._parts.append(data)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        parts = self._parts
        self._parts = []
        if parts:
            self._transport.write(b"".join(parts))


class LimitedConnection(_Protocol):
    """A client's connection, for both of uvicorn's parsers.

    Attributes:
        cycle: uvicorn's object for the latest request; None before the first.
        later: `Worker.later`.
        since: The time when the connection was opened or its last request ended, in monotonic
            seconds.
    """

    since = 0.0
    later: CallLater
    _stop: Callable[[], object] = bool
    _part: Part | None = None  # the part of a request for which a deadline is set
    _has_begun = False  # whether a byte of the head has arrived
    cycle: Any
    # The cycles without a whole response, in order. h11 takes one request at a time.
    _unanswered: Sequence[Any] = ()

    def _awaited(self) -> tuple[Part | None, bool]:
        """Return the part of a request that has to come next, if any, and whether it has begun."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Accept the connection, or refuse its requests if there are too many connections."""
        others = list(self.connections)
        super().connection_made(_OneWrite(transport))  # type: ignore[arg-type]  # what they use of it
        if not _make_room(others, admission.MAX_CONNECTIONS):
            self.app = _refuse_as_full  # if no request comes, the next connection drops this one
        self._update_deadline()

    def data_received(self, data: bytes) -> None:
        """Read data; the deadline of a further head counts from its first byte."""
        if self._part == "head" and not self._has_begun:
            self._has_begun = True
            self._wait_for("head")
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer, which holds the connection in memory, and end its requests."""
        self._wait_for(None)
        super().connection_lost(exc)
        for cycle in self._unanswered or [self.cycle]:
            if cycle is not None:
                cycle.disconnected = True  # uvicorn sets this only in the last cycle
                cycle.message_event.set()
                cycle.scope.get(GONE, bool)()
        self._unset_keepalive_if_required()

    def on_response_complete(self) -> None:
        """Call the request's `WRITTEN`, and wait for the next request."""
        cycle, *self._unanswered = self._unanswered or [self.cycle]
        if isinstance(self.transport, _OneWrite):
            self.transport.flush()  # the client need not wait for the end of this turn
        cycle.scope.pop(WRITTEN, bool)()  # not reached if the client left before
        super().on_response_complete()
        self._update_deadline()

    @property
    def label(self) -> str:
        """The label of the latest request's client; "" before the first request."""
        if self.cycle is None:
            return ""
        return str(self.cycle.scope.get(LABEL, ""))

    @property
    def is_open(self) -> bool:
        """Whether the connection is not being closed."""
        return not self.transport.is_closing()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        if not self.is_open:
            return False
        part, _ = self._awaited()
        return part is not None

    def _update_deadline(self) -> None:
        """Set the deadline of the part that comes next, if that has changed."""
        part = None
        has_begun = False
        if self.is_open:
            part, has_begun = self._awaited()
        if part == self._part:
            return
        seconds = REQUEST_DEADLINE_S
        if part == "head":
            self._has_begun = has_begun  # its first bytes came with the last request
            self.since = time.monotonic()
            if self.cycle is not None and not has_begun:
                seconds = KEEP_ALIVE_S
        self._wait_for(part, seconds)

    def _wait_for(self, part: Part | None, seconds: float | None = None) -> None:
        self._part = part
        self._stop()
        if part is not None:
            limit = REQUEST_DEADLINE_S if seconds is None else seconds
            self._stop = self.later(limit, self._give_up)

    def _give_up(self) -> None:
        """Close the connection; send a 408 if a request has begun and has no response."""
        cycle = self.cycle
        is_silent = cycle is None or cycle.response_complete or not cycle.response_started
        if is_silent and (self._has_begun or self._part == "body"):
            limit = REQUEST_DEADLINE_S
            why = f"The {self._part} of the request did not come within {limit:g} s.".encode()
            head = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain"
            self.transport.write(f"{head}\r\nContent-Length: {len(why)}\r\n\r\n".encode() + why)
        self.transport.close()


class H11Connection(LimitedConnection, H11Protocol):
    """A connection read in Python, for installations without a compiled parser."""

    def handle_events(self) -> None:
        """Handle the data, and set the next deadline."""
        super().handle_events()
        self._update_deadline()

    def _awaited(self) -> tuple[Part | None, bool]:
        return _PARTS.get(self.conn.their_state), bool(self.conn.trailing_data[0])


PARSERS: Final[list[type[LimitedConnection]]] = [H11Connection]
"""The classes of connections by their parsers; the last one is used."""

if find_spec("httptools") is not None:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class HttpToolsConnection(LimitedConnection, HttpToolsProtocol):  # type: ignore[misc]  # their cycles differ
        """A connection read in C, with a quarter less processor time for a plain call.

        The parser has no limits of its own, and continues to read while a request is answered.
        """

        _parsed: Part | None = None  # the part of a request that the parser is in the middle of
        _overhead = 0  # bytes of the current request without its body

        def data_received(self, data: bytes) -> None:
            """Read data; h11 reads an offer to upgrade, because httptools would skip its body."""
            if self._awaited() == ("head", False) and _UPGRADE.search(data):
                self._hand_over(data)
                return
            self._overhead += len(data)
            super().data_received(data)
            if self._overhead > _MAX_HEAD_BYTES and self.is_open:
                self.send_400_response("The head of the request is too long.")
            self._update_deadline()

        def on_message_begin(self) -> None:
            """Begin a request, or raise ValueError, which ends the connection, if too many wait."""
            if len(self.pipeline) >= _MAX_PIPELINED:
                raise ValueError("too many requests at once")  # the parser sends a 400
            self._parsed = "head"
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            """Take a header, but no trailer, which could change the headers."""
            if self._parsed == "head":
                super().on_header(name, value.strip(b" \t"))

        def on_headers_complete(self) -> None:
            """Start answering the request."""
            super().on_headers_complete()
            self._unanswered = [*self._unanswered, self.cycle]
            self._parsed = "body"

        def on_body(self, body: bytes) -> None:
            """Take a part of the body."""
            self._overhead -= len(body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            """End the request."""
            self._parsed = None
            self._overhead = 0
            super().on_message_complete()

        def _awaited(self) -> tuple[Part | None, bool]:
            is_answering = self.cycle is not None and not self.cycle.response_complete
            if self.pipeline or (self._parsed != "body" and is_answering):
                return None, False
            return self._parsed or "head", self._parsed == "head"

        def _hand_over(self, data: bytes) -> None:
            """Let h11 read this connection from now on."""
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
    """Return the class of a server's connections.

    Args:
        later: Calls a function after some seconds; a bound method, so the class does not bind it.
    """
    return type("LimitedConnection", (PARSERS[-1],), {"later": later})


def _make_room(others: Sequence[object], limit: int) -> bool:
    """Drop idle connections to make room for another one; return whether there is room."""
    if len(others) < limit:
        return True  # the common case, without a look at each connection
    connections = [peer for peer in others if isinstance(peer, LimitedConnection) and peer.is_open]
    count = Counter(connection.label for connection in connections)
    idle = []
    for connection in connections:
        # The only connection of a client stays. A connection without a label has sent no request.
        is_only_one = connection.label and count[connection.label] == 1
        if connection.is_idle and not is_only_one:
            idle.append(connection)
    # The oldest connection of the client with the most connections is dropped first.
    idle.sort(key=lambda connection: (-count[connection.label], connection.since))
    too_many = len(connections) + 1 - limit
    for connection in idle[: max(0, too_many)]:
        connection.transport.abort()
    return too_many <= len(idle)


async def _refuse_as_full(scope: Scope, receive: Receive, send: Send) -> None:
    why = "Too many connections are open: close some, or try again in a moment."
    await refusal_response(503, why)(scope, receive, send)
