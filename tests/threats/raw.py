"""Requests as an attacker sends them: over a plain socket, with whatever head and body."""

from __future__ import annotations

import json
import socket
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.bench.agent import LIMIT, MODERN, envelope, is_whole

if TYPE_CHECKING:  # a process of clients alone needs nothing of it
    from tests.live import Live

Headers = Mapping[str, str | None]
"""Headers that are sent; None leaves out one that is usual."""
META = envelope()
NEWS: Mapping[str, Any] = {"notifications": {"toolsListChanged": True}}


def request(
    method: str, params: Mapping[str, Any] | None = None, name: str | None = None
) -> tuple[Headers, bytes]:
    """Make the headers and the body of a well-formed modern request."""
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": name}
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    return headers, json.dumps({**message, "params": {"_meta": META, **(params or {})}}).encode()


@dataclass
class Response:
    """What the server answered; status 0 where it hung up without a word."""

    status: int
    head: str
    body: bytes

    @classmethod
    def parse(cls, received: bytes) -> Response:
        """Read the bytes of a response."""
        head, _, body = received.partition(b"\r\n\r\n")
        return cls(int(head.split()[1]) if head else 0, head.decode("latin-1"), body)

    @property
    def message(self) -> dict[str, Any]:
        """The one message in its body, be it of a stream."""
        lines = [line.removeprefix(b"data: ") for line in self.body.splitlines() if b"{" in line]
        message: dict[str, Any] = json.loads(lines[-1])
        return message


class Sender(ABC):
    """Sends modern requests."""

    @abstractmethod
    def send(self, body: bytes = b"", headers: Headers | None = None) -> Response:
        """Send a request with these headers beside, or in place of, the usual ones."""

    def say(self, method: str, params: Mapping[str, Any], name: str | None = None) -> Response:
        """Send a well-formed request."""
        headers, body = request(method, params, name)
        return self.send(body, headers)

    def call(
        self, tool: str, arguments: dict[str, Any] | None = None, /, **params: Any
    ) -> dict[str, Any]:
        """Call a tool, and give the message of the response."""
        arguments = arguments or {}
        return self.say(
            "tools/call", {"name": tool, "arguments": arguments, **params}, tool
        ).message


@dataclass
class Raw(Sender):
    """A way to a running bridge; each request has a connection of its own.

    Attributes:
        port: Where the bridge is.
        token: Of one of its clients.
    """

    port: int
    token: str = ""

    @classmethod
    def to(cls, running: Live, label: str = "test") -> Raw:
        """Give the way to a bridge as a client with that label."""
        instance = running.bridge.instance
        return cls(int(instance.url.split(":")[2].split("/")[0]), instance.token(label))

    @property
    def own(self) -> dict[str, str]:
        """The headers of a request that is let in."""
        return {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    def head(self, size: int, headers: Headers | None = None, start: str = "POST /mcp") -> bytes:
        """Write a head: the headers of a request that is let in, and others in their place."""
        sent = {**self.own, "Content-Length": str(size), **(headers or {})}
        lines = [f"{name}: {value}" for name, value in sent.items() if value is not None]
        return "\r\n".join([f"{start} HTTP/1.1", *lines]).encode("latin-1") + b"\r\n\r\n"

    def listen(self, stack: ExitStack) -> str:
        """Open a stream of news for as long as the stack lasts; gives why it was refused, or ""."""
        headers, body = request("subscriptions/listen", NEWS)
        sock = stack.enter_context(self.open())
        sock.sendall(self.head(len(body), headers) + body)
        received = b""
        while b"acknowledged" not in received:
            received += sock.recv(65536)
            if b"error" in received:
                return str(Response.parse(received).message["error"]["message"])
        return ""

    @contextmanager
    def open(self) -> Iterator[socket.socket]:
        """Connect."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as sock:
            yield sock

    @contextmanager
    def line(self) -> Iterator[Line]:
        """Keep one connection for many requests."""
        with self.open() as sock:
            yield Line(self, sock)

    def send(self, body: bytes = b"", headers: Headers | None = None) -> Response:
        """Send a request, and read its response to the end of the connection."""
        return self.write(self.head(len(body), {"Connection": "close", **(headers or {})}) + body)

    def write(self, data: bytes) -> Response:
        """Send bytes, and read until the server hangs up."""
        with self.open() as sock:
            sock.sendall(data)
            return heard(sock)


class Line(Sender):
    """A connection on which requests follow each other.

    Attributes:
        is_open: Whether another request may follow.
    """

    def __init__(self, raw: Raw, sock: socket.socket) -> None:
        self._raw, self._sock = raw, sock
        self.is_open = True

    def send(self, body: bytes = b"", headers: Headers | None = None) -> Response:
        """Send a request, and read its response."""
        self.post(headers or {}, body)
        return self.read()

    def post(self, headers: Headers, body: bytes) -> None:
        """Send a request, and wait for nothing."""
        self._sock.sendall(self._raw.head(len(body), headers) + body)

    def read(self) -> Response:
        """Read the response to the request that was sent last."""
        received = b""
        while not is_whole(received) and (part := self._sock.recv(65536)):
            received += part
        response = Response.parse(received)
        self.is_open = bool(received) and "connection: close" not in response.head.lower()
        return response


def heard(sock: socket.socket) -> Response:
    """Read a response until the server hangs up."""
    received = bytearray()
    try:
        while part := sock.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return Response.parse(bytes(received))
