"""A small authorization server, and the ways in which one misbehaves. On a thread of its own."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from dcc_bridge.elicitation.sign_in import Provider

ACCESS = "canary-access-7c1d2e"
REFRESH = "canary-refresh-91ab"


class Site(ThreadingHTTPServer):
    """Signs everybody in who comes."""

    daemon_threads = True

    def __init__(self, how: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.how = how  # in which way it misbehaves, or ""
        self.asked: list[dict[str, str]] = []  # by each request for authorization
        self.changed: list[dict[str, str]] = []  # by each request for tokens
        self.codes: dict[str, dict[str, str]] = {}
        self.go_on = threading.Event()  # lets a slow answer go

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def provider(self, **more: Any) -> Provider:
        told: dict[str, Any] = {
            "authorize_url": f"{self.origin}/authorize?audience=studio",
            "token_url": f"{self.origin}/token",
            "client_id": "dcc",
            "scopes": ("tasks", "versions"),
            "issuer": self.origin,
            "name": "the tracker",
        }
        return Provider(**{**told, **more})

    def authorize(self, asked: dict[str, str]) -> str:
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.origin}
        if self.how == "wrong state":
            answer["state"] = secrets.token_urlsafe(32)
        elif self.how == "wrong issuer":
            answer["iss"] = "https://evil.example"
        elif self.how == "no issuer":
            del answer["iss"]
        elif self.how in ("access_denied", "server_error"):
            answer = {"error": self.how, "state": asked["state"], "iss": self.origin}
        elif self.how == "no code":
            del answer["code"]
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def change(self, sent: dict[str, str]) -> tuple[int, str]:
        self.changed.append(sent)
        if self.how == "slow":
            self.go_on.wait(10)
        if self.how == "used code":
            self.codes.clear()
        asked = self.codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        fits = asked is not None and (
            challenge == asked["code_challenge"]
            and asked["code_challenge_method"] == "S256"
            and sent["redirect_uri"] == asked["redirect_uri"]
            and sent["client_id"] == asked["client_id"]
        )
        if not fits:
            return 400, json.dumps({"error": "invalid_grant", "error_description": "<script>"})
        kind = "mac" if self.how == "other token" else "Bearer"
        told = {"access_token": ACCESS, "token_type": kind, "expires_in": 3600}
        told |= {"refresh_token": REFRESH, "scope": "tasks"}
        if self.how == "odd":
            return 200, json.dumps(told | {"expires_in": "soon", "scope": 5})
        if self.how == "list":
            return 200, "[1]"
        if self.how == "not json":
            return 200, "<html>" + ACCESS
        if self.how == "too long":
            return 200, json.dumps(told | {"more": "x" * (2 << 20)})
        return 200, json.dumps(told)


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        asked = {key: one[0] for key, one in parse_qs(urlsplit(self.path).query).items()}
        self.send_response(302)
        self.send_header("Location", self.server.authorize(asked))
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status, told = self.server.change({k: v[0] for k, v in parse_qs(body).items()})
        if self.server.how == "away":
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(told.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def provider(how: str = "") -> Iterator[Site]:
    site = Site(how)
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.go_on.set()
        site.shutdown()
        thread.join()
        site.server_close()
