"""Requests as an attacker sends them: over a plain socket, with whatever head and body."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # a process of clients alone needs nothing of it
    from tests.live import Live

LIMIT = 10.0
T = TypeVar("T")
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


@dataclass
class Said:
    """What the server said."""

    status: int
    head: str = ""
    body: bytes = b""

    @property
    def message(self) -> dict[str, Any]:
        """The one message in its body, be it of a stream."""
        lines = [one.removeprefix(b"data: ") for one in self.body.splitlines() if b"{" in one]
        found: dict[str, Any] = json.loads(lines[-1])
        return found


@dataclass
class Raw:
    """A way to a running bridge.

    Attributes:
        port: Where it is.
        token: Of one of its clients.
    """

    port: int
    token: str = ""
    name: str = field(default="127.0.0.1")

    @classmethod
    def to(cls, running: Live, label: str = "test") -> Raw:
        """Give the way to a bridge as a client with that label."""
        instance = running.bridge.instance
        return cls(int(instance.url.split(":")[2].split("/")[0]), instance.token(label))

    @property
    def own(self) -> dict[str, str]:
        """The headers of a request that is let in."""
        return {
            "Host": f"{self.name}:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    @contextmanager
    def open(self) -> Iterator[socket.socket]:
        """Connect."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as sock:
            yield sock

    def head(self, size: int, headers: dict[str, str | None], method: str = "POST") -> bytes:
        """Write a head: the headers of a request that is let in, and others in their place."""
        told = {**self.own, "Content-Length": str(size), **headers}
        lines = [f"{name}: {value}" for name, value in told.items() if value is not None]
        return "\r\n".join([f"{method} /mcp HTTP/1.1", *lines]).encode("latin-1") + b"\r\n\r\n"

    def send(self, body: bytes = b"", **headers: str | None) -> Said:
        """Send one request on a connection of its own, and hear all of the answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with self.open() as sock:
            sock.sendall(self.head(len(body), {"Connection": "close", **named}) + body)
            return heard(sock)

    def call(
        self, tool: str, arguments: dict[str, Any] | None = None, /, **params: Any
    ) -> dict[str, Any]:
        """Call a tool in the modern era, and give the answer's message."""
        told = {"name": tool, "arguments": arguments or {}, "_meta": META, **params}
        return self.say("tools/call", told, tool).message

    @contextmanager
    def line(self) -> Iterator[Line]:
        """Keep one connection for many requests."""
        with self.open() as sock:
            yield Line(self, sock)

    def say(self, method: str, params: dict[str, Any], name: str | None = None) -> Said:
        """Send a well-formed modern request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers: dict[str, str | None] = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
        return self.send(json.dumps(message).encode(), **headers, Mcp_Name=name)


class Line:
    """A connection on which requests follow each other."""

    def __init__(self, raw: Raw, sock: socket.socket) -> None:
        """Take a connection."""
        self._raw = raw
        self._sock = sock
        self.is_open = True

    def send(self, body: bytes, headers: dict[str, str | None]) -> Said:
        """Send a request, and hear its answer; `is_open` says whether another one may follow."""
        self._sock.sendall(self._raw.head(len(body), headers) + body)
        return self.hear()

    def hear(self) -> Said:
        """Read one answer."""
        got = b""
        while b"\r\n\r\n" not in got:
            part = self._sock.recv(65536)
            if not part:
                self.is_open = False
                return Said(0)
            got += part
        head, _, body = got.partition(b"\r\n\r\n")
        told = head.lower()
        self.is_open = b"connection: close" not in told
        if b"content-length: " in told:
            size = int(told.split(b"content-length: ")[1].split(b"\r\n")[0])
            while len(body) < size:
                body += self._sock.recv(65536)
        while b"chunked" in told and not body.endswith(b"0\r\n\r\n"):
            body += self._sock.recv(65536)
        return Said(int(head.split()[1]), head.decode("latin-1"), body)

    def call(
        self, tool: str, arguments: dict[str, Any] | None = None, /, **params: Any
    ) -> dict[str, Any]:
        """Call a tool in the modern era, and give the answer's message."""
        told = {"name": tool, "arguments": arguments or {}, "_meta": META, **params}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": told}
        headers: dict[str, str | None] = {
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        return self.send(json.dumps(message).encode(), headers).message


def heard(sock: socket.socket) -> Said:
    """Read an answer until its end; status 0 for a connection that was cut without one."""
    got = bytearray()
    try:
        while part := sock.recv(65536):
            got += part
    except ConnectionResetError:
        pass
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    return Said(int(head.split()[1]) if head else 0, head.decode("latin-1"), body)


def in_thread(work: Callable[[], T]) -> Callable[[], Awaitable[T]]:
    """Make an agent, which has a thread of its own, of work that blocks."""

    async def agent() -> T:
        return work()

    return agent
