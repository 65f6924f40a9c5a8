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
from urllib.parse import parse_qsl, urlencode, urlsplit

ACCESS = "canary-access-7c1d2e"


class Site(ThreadingHTTPServer):
    """Signs everybody in who comes."""

    daemon_threads = True

    def __init__(self, how: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.how = how  # in which way it misbehaves, or ""
        self.asked: list[dict[str, str]] = []  # by each request for authorization
        self.changed: list[dict[str, str]] = []  # by each request for tokens
        self._codes: dict[str, dict[str, str]] = {}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def authorize(self, asked: dict[str, str]) -> str:
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        answer = {"code": code, "state": asked["state"]}
        if self.how == "wrong state":
            answer["state"] = secrets.token_urlsafe(32)
        elif self.how == "access_denied":
            answer = {"error": self.how, "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def change(self, sent: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.changed.append(sent)
        asked = self._codes.pop(sent["code"], {})
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        proved = {"code_challenge": challenge, "code_challenge_method": "S256"}
        wanted = {**proved, **{name: sent[name] for name in ("client_id", "redirect_uri")}}
        if not wanted.items() <= asked.items() or sent["grant_type"] != "authorization_code":
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": ACCESS, "token_type": "Bearer", "expires_in": 3600}


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        asked = dict(parse_qsl(urlsplit(self.path).query))
        self.send_response(302)
        self.send_header("Location", self.server.authorize(asked))
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status, answer = self.server.change(dict(parse_qsl(body)))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

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
        site.shutdown()
        thread.join()
        site.server_close()
