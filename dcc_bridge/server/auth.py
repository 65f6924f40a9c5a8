"""Authentication, and the sessions of legacy clients. Worker.

A request needs the exact Host and Origin, and a token, before anything else sees it.

Whoever has no token may ask for one thing: that the host prove itself, before it is sent one. The
SDK's own defaults are no boundary: they know no token and let any ``http://localhost:*`` in.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge import errors
from dcc_bridge.elicitation.rate_limits import Shares
from dcc_bridge.server.discovery import host_proof, issue_token, token_label
from dcc_bridge.server.scope_keys import ALONE, LABEL, TURN
from dcc_bridge.server.worker import LOOPBACK

PROOF: Final = "/proof"  # where ?label=...&nonce=... is answered with `host_proof`, to anybody
Sent = dict[bytes, str]  # of one that came twice the first value, as the SDK takes it
MAX_CONNECTIONS: Final = 192  # open at a time; then idle ones make room
MAX_SESSIONS: Final = 16  # legacy ones of a client, and as many streams of news; then idle ones go
MOST_BODY: Final = 2**20  # bytes that a request may bring
_one_turn: Final = partial(anyio.Semaphore, 1, fast_acquire=True)
_NAMES: Final = {LOOPBACK, "localhost"}
# Where a client looks for OAuth (RFC 8414, 9728) and registers (RFC 7591), and what it is told.
_SIGN_IN: Final = ("/.well-known/oauth-", "/.well-known/openid-configuration", "/register")
_NO_SIGN_IN: Final = {
    "error": "invalid_request",
    "error_description": "This server has no sign-in: let `dcc-bridge client add` write the entry.",
}
_STOPPED: Final = "The host stopped in the middle of this request. Look at the scene first."
_GOES_ON: Final = "dcc_bridge.goes_on"  # whether more of a response that has begun is to come
_LISTEN: Final = "subscriptions/listen"
_OPENING: Final = {None, *HANDSHAKE_PROTOCOL_VERSIONS}  # the protocols of a legacy session
_HEADERS: Final = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Connection": "close"}}
# Milliseconds until a legacy client that lost its stream comes back; `service.SESSION_GRACE_S` is
# longer.
COME_BACK: Final = 1000
_PRIMED: Final = "2025-11-25"  # the first revision in which a stream begins with an empty event
_STREAM: Final = [
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"content-type", b"text/event-stream"),
]
MOST_EVENTS: Final = 256  # of a session, for a client that comes back
MOST_BYTES: Final = 8 * 2**20  # of them
MOST_OF_ALL: Final = 64 * 2**20  # of all sessions


class AuthMiddleware:
    """ASGI middleware: authenticates requests, and counts the open streams of each session."""

    def __init__(
        self,
        app: ASGIApp,  # serves requests that are let in
        port: int,  # where the server listens; a request's Host names it
        secret: str,  # the host's master secret
        events: ReplayStore,  # what was sent to each legacy session
        on_left: Callable[[str], None],  # told the id of one whose last open stream has ended
        *,
        public: tuple[str, ...] = (),  # how paths start that need no token: their last part is one
    ) -> None:
        self._app, self._public, self._secret = app, public, secret
        self._events, self._on_left = events, on_left
        self._requests = Shares("requests", MAX_CONNECTIONS // 2)  # of one client
        self._streams = Shares("streams", MAX_SESSIONS)
        self._turns = defaultdict[str, anyio.Semaphore](_one_turn)
        self._proved: dict[bytes, AuthenticatedUser] = {}
        self._hosts = {f"{name}:{port}" for name in _NAMES} | (_NAMES if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}
        self.answering = 0  # calls, streams that only listen aside
        self._open: set[anyio.CancelScope] = set()
        self.streams: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Sent()
        for name, value in scope["headers"]:
            text = value.decode("latin-1")
            if name in headers and name in (b"host", b"origin", b"authorization"):  # fits nothing
                headers[name] += f"\n{text}"
            headers.setdefault(name, text)
        if (response := self._check(headers, scope)) is not None:
            await response(scope, receive, send)
        elif LABEL not in scope:
            await self._app(scope, receive, send)  # of no session, whatever it says
        else:
            await self._admit(headers, scope, receive, send)

    def close(self) -> None:
        """End the streams that are still open, so that the server can end."""
        for scope in list(self._open):
            scope.cancel()

    async def _admit(self, headers: Sent, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, unless its client has more of them open than its share."""
        label = scope[LABEL]
        # refused here, where it costs least; the SDK sees that the header is true
        share = self._streams if headers.get(b"mcp-method") == _LISTEN else self._requests
        try:
            share.enter(label)
        except errors.Busy as error:
            await refusal_response(429, str(error))(scope, receive, send)
            return
        try:
            await self._in_turn(headers, scope, receive, send)
        finally:
            share.leave(label)

    async def _in_turn(self, headers: Sent, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request in its client's turn, so that many of one client delay no other.

        The turn begins when all of the body has come. It ends when the message is known, which may
        have to wait for anything then, or when the response begins.
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
        session = headers.get(b"mcp-session-id", "")
        if session:
            self._events.enter(session)
        elif headers.get(b"mcp-protocol-version") in _OPENING:
            if not await self._make_room(scope):
                most = f"{scope[LABEL]} has {MAX_SESSIONS} sessions"
                why = f"{most}, and all of them are in use: end one of them first."
                await refusal_response(503, why)(scope, receive, send)
                return
            send = self._events.opening(scope[LABEL], send)
        self.streams[session] += 1
        self.answering += scope["method"] == "POST"
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
            self.answering -= scope["method"] == "POST"
            self.streams[session] -= 1
            if not self.streams[session]:
                del self.streams[session]
                if session:
                    self._events.note_use(session)
                    self._on_left(session)

    async def _make_room(self, scope: Scope) -> bool:
        """End the idle sessions of a client until it may open another; False if it may not."""
        sessions = self._events.sessions(scope[LABEL])
        idle = [session for session in sessions if not self.streams[session]]
        too_many = len(sessions) + 1 - MAX_SESSIONS
        for session in idle[: max(0, too_many)]:
            await self._end(session, scope)
        return too_many <= len(idle)

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session as its client itself would."""

        async def nothing(*sent: Message) -> Any:  # it has no body, and nobody waits for the answer
            return {"type": "http.request"}

        self._events.forget(session)
        headers = [(b"mcp-session-id", session.encode())]
        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, nothing)

    def _check(self, headers: Sent, scope: Scope) -> Response | None:
        """Answer a request that is refused, or that asks for a proof; None for any other."""
        if headers.get(b"host", "").lower() not in self._hosts:
            why = "This server only answers under its own address: check the host in the URL."
            return refusal_response(421, why)
        if scope["path"].startswith(self._public):
            return None  # its pages say themselves, in words for a person, whom they refuse
        if b"origin" in headers and headers[b"origin"] not in self._origins:
            return refusal_response(403, "A web page of another origin may not reach this server.")
        if scope["path"] == PROOF:
            asked = parse_qs(scope["query_string"].decode("latin-1"))
            who, nonce = (asked.get(name, [""])[0] for name in ("label", "nonce"))
            return PlainTextResponse(host_proof(issue_token(self._secret, who), nonce))
        if scope["path"].startswith(_SIGN_IN):
            return JSONResponse(_NO_SIGN_IN, 404 if scope["method"] == "GET" else 400)
        if (user := self._user(headers.get(b"authorization", ""))) is None:
            why = "This host requires its own token: connect with dcc-bridge, which sends it."
            return refusal_response(401, why)
        size = headers.get(b"content-length", "")  # without one, the SDK counts what comes
        if size.isdecimal() and int(size[:20]) > MOST_BODY:
            return refusal_response(413, f"A request brings {MOST_BODY} bytes at most.")
        scope[LABEL], scope["user"] = user.display_name, user
        return None

    def _user(self, given: str) -> AuthenticatedUser | None:
        """Give whose token a header has; what it proved once is remembered by its digest."""
        kind, _, token = given.partition(" ")
        digest = sha256(token.encode("latin-1")).digest()
        if digest not in self._proved and (label := token_label(self._secret, token)) is not None:
            access = AccessToken(token="", client_id=label, scopes=[])
            self._proved[digest] = AuthenticatedUser(access)
        return self._proved.get(digest) if kind.lower() == "bearer" else None


def refusal_response(status: int, why: str) -> JSONResponse:
    """Build the response to a refused request; `why` is for whoever reads the client's log."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": why}}
    return JSONResponse(body, status, _HEADERS.get(status))


# ---- what was sent to legacy sessions


class SessionEvents:
    """The last events of one session."""

    def __init__(self, label: str = "") -> None:
        self.label = label  # its client's
        self.size = 0  # the bytes of all of them
        self.used = time.monotonic()  # when its client was last heard of; monotonic seconds
        self._count = 0
        self._events: deque[tuple[int, str, bytes]] = deque()

    def add(self, stream: str, sent: bytes) -> str:
        """Keep an event, dropping the oldest where there are too many; gives its id."""
        self._count += 1
        self.size += len(sent)
        self._events.append((self._count, stream, sent))
        while len(self._events) > MOST_EVENTS or self.size > MOST_BYTES:
            self.drop_oldest()
        return str(self._count)

    def drop_oldest(self) -> None:
        """Forget the oldest event."""
        self.size -= len(self._events.popleft()[2])

    def after(self, number: int) -> tuple[str | None, list[EventMessage]]:
        """Give the stream that an event was on, and what was sent there since."""
        stream = next((on for count, on, *_ in self._events if count == number), None)
        return stream, [
            EventMessage(jsonrpc_message_adapter.validate_json(sent), str(count))
            for count, on, sent in self._events
            if on == stream and count > number and sent
        ]


_current: ContextVar[SessionEvents | None] = ContextVar("dcc_bridge_session_events", default=None)


class ReplayStore(EventStore):
    """What was sent to legacy sessions, for a client that lost its stream and comes back.

    The SDK has one store for all sessions, and its stream ids are the requests' own numbers, which
    are the same in every session. So each session has `SessionEvents` of its own, in the context of
    each of its requests: `opening` creates them for the request that opens a session, whose tasks
    inherit them, and `enter` finds them again. They live as long as the session's tasks.

    What was sent is kept as the text that it is on the wire: so its bytes are counted.
    """

    def __init__(self, most_bytes: int = MOST_OF_ALL) -> None:
        self._most_bytes = most_bytes  # of all; then the client with the most loses its oldest
        self._total = 0  # theirs, or more: a session that has ended is still counted
        self._sessions: WeakValueDictionary[str, SessionEvents] = WeakValueDictionary()

    def opening(self, label: str, send: Send) -> Send:
        """Create the events of a session that a request may open; the response has its id."""
        events = SessionEvents(label)
        _current.set(events)

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = Headers(raw=message["headers"]).get("mcp-session-id")
                if session is not None:
                    self._sessions[session] = events
            await send(message)

        return noting

    def enter(self, session: str) -> None:
        """Find the events of the session that a request belongs to."""
        _current.set(self._sessions.get(session))
        self.note_use(session)

    def note_use(self, session: str) -> None:
        """Note that a session's client was heard of just now."""
        if (events := self._sessions.get(session)) is not None:
            events.used = time.monotonic()

    def sessions(self, label: str) -> list[str]:
        """List the sessions of a client, the one that was silent the longest first."""
        own = [(it.used, name) for name, it in self._sessions.items() if it.label == label]
        return [name for _, name in sorted(own)]

    def forget(self, session: str) -> None:
        """Forget a session that was ended, and its events: some timer may hold them still."""
        events = self._sessions.pop(session, None)
        while events is not None and events.size:
            events.drop_oldest()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep what is sent on a stream of the current session."""
        text = message.model_dump_json(by_alias=True, exclude_unset=True) if message else ""
        return self.keep(stream_id, text.encode())

    def keep(self, stream_id: str, sent: bytes = b"") -> str:
        """Keep the same as it is on the wire, nothing where a number is all that is sent."""
        events = _current.get()
        if events is None:
            return ""
        before = events.size
        event = events.add(stream_id, sent)
        self._total += events.size - before
        while self._total > self._most_bytes:
            self._total = sum(it.size for it in self._sessions.values())
            if self._total > self._most_bytes:
                self._greediest().drop_oldest()
        return event

    async def send_result(self, id_: str, sent: bytes, session: str, era: str, send: Send) -> None:
        """Send a result as the SDK does, in a stream of its own, and keep it."""
        headers = [*_STREAM, (b"mcp-session-id", session.encode()), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        first = f"id: {self.keep(id_)}\r\ndata: \r\nretry: {COME_BACK}" if era >= _PRIMED else ""
        event = f"id: {self.keep(id_, sent)}\r\nevent: message\r\ndata: {sent.decode()}"
        for part in filter(None, (first, event)):
            body = f"{part}\r\n\r\n".encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body"})

    def _greediest(self) -> SessionEvents:
        """Find the largest session of the client whose sessions are the largest together."""
        of_client: Counter[str] = Counter()
        for events in self._sessions.values():
            of_client[events.label] += events.size
        return max(self._sessions.values(), key=lambda it: (of_client[it.label], it.size))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send again what followed an event on its stream."""
        events = _current.get()
        if events is None or not last_event_id.isdecimal():
            return None
        stream, since = events.after(int(last_event_id))
        for message in since:
            await send_callback(message)
        return stream
