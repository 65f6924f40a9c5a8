"""Authentication, and each client's share of what is open. Worker.

A request needs the exact Host and Origin, and a token, before anything else sees it.

Whoever has no token may ask for one thing: that the host prove itself, before it is sent one. The
SDK's own defaults are no boundary: they know no token and let any ``http://localhost:*`` in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qs

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge import errors
from dcc_bridge.elicitation.rate_limits import Shares
from dcc_bridge.server.discovery import host_proof, issue_token, token_label
from dcc_bridge.server.scope_keys import ALONE, LABEL, TURN
from dcc_bridge.server.sessions import ReplayStore
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
