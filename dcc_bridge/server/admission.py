"""Limits the open requests, streams and sessions of each client. Worker.

Requests of one client also take turns, so that a client with many requests delays no other client.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge import errors
from dcc_bridge.elicitation.rate_limits import Shares
from dcc_bridge.server.refusal import refusal_response
from dcc_bridge.server.scope_keys import ALONE, LABEL, TURN
from dcc_bridge.server.sessions import ReplayStore

Sent = dict[bytes, str]
"""The headers of a request; the first value of a repeated header, as in the SDK."""
MAX_CONNECTIONS: Final = 192
"""Open connections. Above this number, idle connections are closed."""
MAX_SESSIONS: Final = 16
"""Legacy sessions of a client; also its listening streams. Above it, idle sessions are ended."""
_one_turn: Final = partial(anyio.Semaphore, 1, fast_acquire=True)
_STOPPED: Final = "The host stopped during this request. Look at the scene first."
_GOES_ON: Final = "dcc_bridge.goes_on"
"""The scope's key for whether more parts of the response follow; missing before it begins."""
_LISTEN: Final = "subscriptions/listen"
_LEGACY_VERSIONS: Final = {None, *HANDSHAKE_PROTOCOL_VERSIONS}
"""The values of the version header in a request that opens a legacy session."""


class Admission:
    """Serves the requests of clients, and counts the open streams of each session.

    Attributes:
        answering: The number of POST requests that are being answered.
        streams: The number of open requests of each session; "" for requests without a session.
    """

    def __init__(self, app: ASGIApp, events: ReplayStore, on_left: Callable[[str], None]) -> None:
        """Prepare for requests.

        Args:
            app: Serves the admitted requests.
            events: The events sent to each legacy session.
            on_left: Called with the id of a legacy session whose last open request has ended.
        """
        self._app = app
        self._events = events
        self._on_left = on_left
        self._request_share = Shares("requests", MAX_CONNECTIONS // 2)
        self._listen_share = Shares("streams", MAX_SESSIONS)
        self._turns = defaultdict[str, anyio.Semaphore](_one_turn)
        self._open: set[anyio.CancelScope] = set()
        self.answering = 0
        self.streams: Counter[str] = Counter()

    async def admit(self, headers: Sent, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it (429) if its client has too many open requests."""
        label = scope[LABEL]
        # By the header, which costs least; the SDK checks that the header fits the body.
        share = self._listen_share if headers.get(b"mcp-method") == _LISTEN else self._request_share
        try:
            share.enter(label)
        except errors.Busy as error:
            await refusal_response(429, str(error))(scope, receive, send)
            return
        try:
            await self._in_turn(headers, scope, receive, send)
        finally:
            share.leave(label)

    def close(self) -> None:
        """End the streams that are still open, so that the server can end."""
        for scope in list(self._open):
            scope.cancel()

    async def _in_turn(self, headers: Sent, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request in its client's turn.

        The turn begins when the whole body has come. It ends when the response begins, or before,
        when a part of the server calls the function in the scope's `TURN` because it may wait.
        """
        turns = self._turns[scope[LABEL]]

        async def receive_in_turn() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                await turns.acquire()
                turn.callback(turns.release)
            return message

        async def send_after_turn(message: Message) -> None:
            turn.close()
            scope[_GOES_ON] = message.get("more_body", message["type"] == "http.response.start")
            await send(message)

        with ExitStack() as turn:
            scope[TURN] = turn.close
            await self._serve(headers, scope, receive_in_turn, send_after_turn)

    async def _serve(self, headers: Sent, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request in its session, or in a new one if there is room for it."""
        session = headers.get(b"mcp-session-id", "")
        if session:
            self._events.enter(session)
        elif headers.get(b"mcp-protocol-version") in _LEGACY_VERSIONS:
            if not await self._make_room(scope):
                why = (
                    f"{scope[LABEL]} has {MAX_SESSIONS} sessions, and all of them are in use: end "
                    "one of them first."
                )
                await refusal_response(503, why)(scope, receive, send)
                return
            send = self._events.opening(scope[LABEL], send)
        is_call = scope["method"] == "POST"
        self.streams[session] += 1
        self.answering += is_call
        scope[ALONE] = self.answering == 1
        try:
            with anyio.CancelScope() as open_:
                self._open.add(open_)
                await self._app(scope, receive, send)
            if open_.cancelled_caught and _GOES_ON not in scope:
                await refusal_response(503, _STOPPED)(scope, receive, send)
            elif open_.cancelled_caught and scope[_GOES_ON]:
                await send({"type": "http.response.body"})
        finally:
            self._open.discard(open_)
            self.answering -= is_call
            self.streams[session] -= 1
            if not self.streams[session]:
                del self.streams[session]
                if session:
                    self._events.note_use(session)
                    self._on_left(session)

    async def _make_room(self, scope: Scope) -> bool:
        """End idle sessions of a client for a new one; return whether there is room."""
        sessions = self._events.sessions(scope[LABEL])
        idle = [session for session in sessions if not self.streams[session]]
        too_many = len(sessions) + 1 - MAX_SESSIONS
        for session in idle[: max(0, too_many)]:
            await self._end(session, scope)
        return too_many <= len(idle)

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session by a DELETE request, as its client would."""

        # The request has no body, and the response is dropped.
        async def nothing(*sent: Message) -> Any:
            return {"type": "http.request"}

        self._events.forget(session)
        headers = [(b"mcp-session-id", session.encode())]
        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, nothing)
