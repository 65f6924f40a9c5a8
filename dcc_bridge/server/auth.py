"""Authentication of requests, before any other part of the server sees them. Worker.

A request needs the exact Host and Origin, and a token. Without a token a client may only ask the
host to prove itself (`PROOF`), before the client sends its token. The SDK's own defaults do not
protect the server: they check no token and let any ``http://localhost:*`` in.
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

PROOF: Final = "/proof"
"""The path that answers ?label=...&nonce=... with `host_proof`, without a token."""
MAX_BODY_BYTES: Final = 2**20
"""Bytes of a request's body."""
_NAMES: Final = {LOOPBACK, "localhost"}
_SINGLE_HEADERS: Final = (b"host", b"origin", b"authorization")
"""The headers that a request must not have twice."""
_SIGN_IN: Final = ("/.well-known/oauth-", "/.well-known/openid-configuration", "/register")
"""Prefixes of the paths by which a client looks for OAuth (RFC 8414, 9728) or registers (7591)."""
_NO_SIGN_IN: Final = {
    "error": "invalid_request",
    "error_description": "This server has no sign-in: let `dcc-bridge client add` write the entry.",
}


class AuthMiddleware:
    """ASGI middleware: passes on requests with a token and for public paths; refuses others."""

    def __init__(
        self,
        app: ASGIApp,
        admission: Admission,
        port: int,
        secret: str,
        *,
        public: tuple[str, ...] = (),
    ) -> None:
        """Prepare for requests.

        Args:
            app: Serves requests that need no token.
            admission: Serves the requests of clients.
            port: The port of the server, which a request's Host must name.
            secret: The host's master secret.
            public: Prefixes of paths that need no token, because their last part is a credential.
        """
        self._app = app
        self._admission = admission
        self._secret = secret
        self._public = public
        self._proved: dict[bytes, AuthenticatedUser] = {}
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        if port == 80:  # clients leave out the default port
            self._hosts |= _NAMES
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Sent()
        for name, value in scope["headers"]:
            text = value.decode("latin-1")
            if name in headers and name in _SINGLE_HEADERS:
                headers[name] += f"\n{text}"  # equals no accepted value
            headers.setdefault(name, text)
        response = self._check(headers, scope)
        if response is not None:
            await response(scope, receive, send)
        elif LABEL not in scope:
            await self._app(scope, receive, send)  # a public path, which belongs to no session
        else:
            await self._admission.admit(headers, scope, receive, send)

    def _check(self, headers: Sent, scope: Scope) -> Response | None:
        """Return the response to a request that is not passed on; None for all other requests.

        The label that the token proves is stored in the scope.
        """
        if headers.get(b"host", "").lower() not in self._hosts:
            why = "This server only answers under its own address: check the host in the URL."
            return refusal_response(421, why)
        if scope["path"].startswith(self._public):
            return None  # the pages refuse requests themselves, with texts for a person
        if b"origin" in headers and headers[b"origin"] not in self._origins:
            return refusal_response(403, "A web page of another origin may not reach this server.")
        if scope["path"] == PROOF:
            query = parse_qs(scope["query_string"].decode("latin-1"))
            label = query.get("label", [""])[0]
            nonce = query.get("nonce", [""])[0]
            return PlainTextResponse(host_proof(issue_token(self._secret, label), nonce))
        if scope["path"].startswith(_SIGN_IN):
            status = 404 if scope["method"] == "GET" else 400
            return JSONResponse(_NO_SIGN_IN, status)
        user = self._user(headers.get(b"authorization", ""))
        if user is None:
            why = "This host requires its own token: connect with dcc-bridge, which sends it."
            return refusal_response(401, why)
        size = headers.get(b"content-length", "")  # without this header, the SDK counts the bytes
        if size.isdecimal() and int(size[:20]) > MAX_BODY_BYTES:
            return refusal_response(413, f"A request brings {MAX_BODY_BYTES} bytes at most.")
        scope[LABEL] = user.display_name
        scope["user"] = user
        return None

    def _user(self, authorization: str) -> AuthenticatedUser | None:
        """Return the client whose token a header has; None for any other header.

        A token that was checked once is remembered by its digest.
        """
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer":
            return None
        digest = sha256(token.encode("latin-1")).digest()
        if digest not in self._proved:
            label = token_label(self._secret, token)
            if label is None:
                return None
            access = AccessToken(token="", client_id=label, scopes=[])
            self._proved[digest] = AuthenticatedUser(access)
        return self._proved[digest]
