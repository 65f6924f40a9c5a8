"""Authentication. Worker.

A request needs the exact Host and Origin, and a token, before anything else sees it.

Whoever has no token may ask for one thing: that the host prove itself, before it is sent one. The
SDK's own defaults are no boundary: they know no token and let any ``http://localhost:*`` in.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final
from urllib.parse import parse_qs

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dcc_bridge.server.admission import Admission, Sent
from dcc_bridge.server.discovery import host_proof, issue_token, token_label
from dcc_bridge.server.refusal import refusal_response
from dcc_bridge.server.scope_keys import LABEL
from dcc_bridge.server.worker import LOOPBACK

PROOF: Final = "/proof"  # where ?label=...&nonce=... is answered with `host_proof`, to anybody
MOST_BODY: Final = 2**20  # bytes that a request may bring
_NAMES: Final = {LOOPBACK, "localhost"}
# Where a client looks for OAuth (RFC 8414, 9728) and registers (RFC 7591), and what it is told.
_SIGN_IN: Final = ("/.well-known/oauth-", "/.well-known/openid-configuration", "/register")
_NO_SIGN_IN: Final = {
    "error": "invalid_request",
    "error_description": "This server has no sign-in: let `dcc-bridge client add` write the entry.",
}


class AuthMiddleware:
    """ASGI middleware: passes on requests with a token, and refuses others but for a few."""

    def __init__(
        self,
        app: ASGIApp,  # serves requests that need no token
        admission: Admission,  # serves those of clients
        port: int,  # where the server listens; a request's Host names it
        secret: str,  # the host's master secret
        *,
        public: tuple[str, ...] = (),  # how paths start that need no token: their last part is one
    ) -> None:
        self._app = app
        self._admission = admission
        self._secret = secret
        self._public = public
        self._proved: dict[bytes, AuthenticatedUser] = {}
        self._hosts = {f"{name}:{port}" for name in _NAMES} | (_NAMES if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}

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
            await self._admission.admit(headers, scope, receive, send)

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
