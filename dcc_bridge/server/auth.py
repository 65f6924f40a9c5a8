"""Authentication: exact Host and Origin, and a token, before anything else sees a request. Worker.

Whoever has no token may ask for one thing: that the host prove itself, before it is sent one. The
SDK's own defaults are no boundary: they know no token and let any ``http://localhost:*`` in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge import config, errors
from dcc_bridge.elicitation.rate_limits import Shares
from dcc_bridge.server.discovery import host_proof, issue_token, token_label
from dcc_bridge.server.replay import ReplayStore
from dcc_bridge.server.worker import LOOPBACK

LABEL: Final = "dcc_bridge.label"  # where a request's scope holds the label that its token proved
PROOF: Final = "/proof"  # where ?label=...&nonce=... is answered with `host_proof`, to anybody
TURN: Final = "dcc_bridge.turn"  # where it holds what ends the request's turn
MOST_BODY: Final = 2**20  # bytes that a request may bring
_NAMES: Final = {LOOPBACK, "localhost"}
_LISTEN: Final = "subscriptions/listen"
_OPENING: Final = {None, *HANDSHAKE_PROTOCOL_VERSIONS}  # the protocols of a legacy session
_HEADERS: Final = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Connection": "close"}}


class AuthMiddleware:
    """ASGI middleware: authenticates requests, and counts the open streams of each session."""

    def __init__(
        self,
        app: ASGIApp,
        port: int,
        secret: str,
        events: ReplayStore,
        on_left: Callable[[str], None],
        limits: config.Limits,
        *,
        public: tuple[str, ...] = (),
    ) -> None:
        """Guard an application.

        Args:
            app: What serves requests that are let in.
            port: Where the server listens; a request's Host names it.
            secret: The host's master secret.
            events: What was sent to each legacy session.
            on_left: Told the id of a legacy session whose last open stream has ended.
            limits: How many requests and sessions a client may have.
            public: What a path starts with that needs no token: its last part is one.
        """
        self._app = app
        self._public = public
        self._secret = secret
        self._events = events
        self._on_left = on_left
        self._most_sessions = limits.sessions_of_a_client
        self._requests = Shares("requests", limits.connections // 2)
        self._streams = Shares("streams", limits.sessions_of_a_client)
        self._turns: WeakValueDictionary[str, anyio.Semaphore] = WeakValueDictionary()
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
        headers = Headers(scope=scope)
        response = self._check(headers, scope)
        if response is not None:
            await response(scope, receive, send)
        elif self._is_public(scope):
            await self._app(scope, receive, send)  # of no session, whatever it says
        else:
            await self._serve_client(headers, scope, receive, send)

    def close(self) -> None:
        """End the streams that are still open, so that the server can end."""
        for scope in list(self._open):
            scope.cancel()

    async def _serve_client(
        self, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a request, unless its client has more of them open than its share."""
        label = scope[LABEL]
        # refused here, where it costs least; the SDK sees that the header is true
        share = self._streams if headers.get("mcp-method") == _LISTEN else self._requests
        try:
            share.enter(label)
        except errors.Busy as error:
            await refusal_response(429, str(error))(scope, receive, send)
            return
        try:
            await self._in_turn(headers, scope, receive, send)
        finally:
            share.leave(label)

    async def _in_turn(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request in its client's turn, so that many of one client delay no other.

        The turn begins when all of the body has come. It ends when the message is known, which may
        have to wait for anything then, or when the response begins.
        """
        turns = self._turns.setdefault(scope[LABEL], anyio.Semaphore(1, fast_acquire=True))

        async def receive_in_turn() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                await turns.acquire()
                turn.callback(turns.release)
            return message

        async def send_after_turn(message: Message) -> None:
            turn.close()
            await send(message)

        with ExitStack() as turn:
            scope[TURN] = turn.close
            await self._serve(headers, scope, receive_in_turn, send_after_turn)

    async def _serve(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        session = headers.get("mcp-session-id", "")
        if session:
            self._events.enter(session)
        elif headers.get("mcp-protocol-version") in _OPENING:
            if not await self._make_room(scope):
                most = f"{scope[LABEL]} has {self._most_sessions} sessions"
                why = f"{most}, and all of them are in use: end one of them first."
                await refusal_response(503, why)(scope, receive, send)
                return
            send = self._events.opening(scope[LABEL], send)
        self.streams[session] += 1
        self.answering += scope["method"] == "POST"
        try:
            with anyio.CancelScope() as open_:
                self._open.add(open_)
                await self._app(scope, receive, send)
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
        too_many = len(sessions) + 1 - self._most_sessions
        for session in idle[: max(0, too_many)]:
            await self._end(session, scope)
        return too_many <= len(idle)

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session as its client itself would."""

        async def nothing() -> Message:
            return {"type": "http.request"}

        async def unheard(message: Message) -> None:
            """Nobody waits for the answer."""

        self._events.forget(session)
        headers = [(b"mcp-session-id", session.encode())]
        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, unheard)

    def _check(self, headers: Headers, scope: Scope) -> Response | None:
        """Answer a request that is refused, or that asks for a proof; None for any other."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return refusal_response(
                421, "This server only answers under its own address: check the host in the URL."
            )
        if self._is_public(scope):
            return None  # its pages say themselves, in words for a person, whom they refuse
        if len(origins) > 1 or any(origin not in self._origins for origin in origins):
            return refusal_response(403, "A web page of another origin may not reach this server.")
        if scope["path"] == PROOF:
            return self._prove(scope)
        label = self._label(headers.getlist("authorization"))
        if label is None:
            return refusal_response(
                401, "This host requires its own token: connect with dcc-bridge, which sends it."
            )
        size = headers.get("content-length", "")  # without one, the SDK counts what comes
        if size.isdecimal() and int(size[:20]) > MOST_BODY:
            return refusal_response(413, f"A request brings {MOST_BODY} bytes at most.")
        scope[LABEL] = label
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=label, scopes=[]))
        return None

    def _prove(self, scope: Scope) -> Response:
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        label, nonce = (asked.get(name, [""])[0] for name in ("label", "nonce"))
        return PlainTextResponse(host_proof(issue_token(self._secret, label), nonce))

    def _is_public(self, scope: Scope) -> bool:
        return bool(scope["path"].startswith(self._public))

    def _label(self, given: list[str]) -> str | None:
        kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if kind.lower() != "bearer":
            return None
        return token_label(self._secret, token)


def refusal_response(status: int, why: str) -> JSONResponse:
    """Build the response to a request that is refused.

    Args:
        status: The status code of HTTP.
        why: A sentence for whoever reads the client's log.
    """
    error: dict[str, Any] = {"code": -32600, "message": why}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(body, status, _HEADERS.get(status))
