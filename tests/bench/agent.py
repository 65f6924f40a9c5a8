"""A client that costs next to nothing: one keep-alive connection, spoken by hand, in both eras.

What it sends is made before the clock runs, and what it gets is read after it has stopped.
"""

from __future__ import annotations

import json
import re
import socket
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlsplit

LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
ERAS: Final = (MODERN, LEGACY)
LIMIT: Final = 20.0
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"sure": {"type": "boolean", "title": "Sure"}},
    "required": ["sure"],
}
_META: Final = "io.modelcontextprotocol/"
_CAPABILITIES: Final[dict[str, Any]] = {"elicitation": {"form": {}}}
_CLIENT: Final = {"name": "bench", "version": "1"}
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"
_DATA: Final = re.compile(rb"^data: (\{.*\})\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is, and what it wants to see.

    Attributes:
        url: The MCP endpoint.
        token: The bearer token, or "" where none is wanted.
    """

    url: str
    token: str = ""

    def to_json(self) -> dict[str, str]:
        """Give what `Server(**...)` reads again."""
        return asdict(self)


class Agent:
    """A client with one connection, that has one request open at a time.

    Attributes:
        socket: The connection, for a selector.
        session: The id of the legacy session, or "".
    """

    def __init__(self, server: Server, era: str = MODERN, *, session: str = "") -> None:
        """Connect, and shake hands where the era wants it.

        With a `session`, that of another agent, it is a further connection of that one.
        """
        self._server = server
        self._era = era
        self.session = session
        self._received = b""
        self.socket = _connect(server.url)
        if era == LEGACY and not session:
            self._shake_hands()

    def reconnect(self) -> None:
        """Go on over a new connection: uvicorn ends one after five seconds without a request."""
        self.close()
        self.socket = _connect(self._server.url)

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def calling(self, tool: str, **more: Any) -> bytes:
        """Make the request that calls a tool without arguments.

        Args:
            tool: Its name.
            **more: Further parameters of the request.
        """
        params = {"name": tool, "arguments": {}, **more}
        return self._request({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    def listing(self) -> bytes:
        """Make the request that lists the tools."""
        return self._request({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})

    def exchange(self, request: bytes) -> bytes:
        """Send a request, and wait for the whole response."""
        self.send(request)
        while not self.receive():
            pass
        return self._received

    @property
    def received(self) -> bytes:
        """The response so far."""
        return self._received

    def send(self, request: bytes) -> None:
        """Send a request."""
        self._received = b""
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Take what has arrived, and tell whether the response is whole."""
        part = self.socket.recv(65536)
        if not part:
            raise ConnectionError("The server hung up.")
        self._received += part
        return is_whole(self._received)

    def _request(self, message: dict[str, Any]) -> bytes:
        if self._era == MODERN:
            message["params"]["_meta"] = envelope()
        body = json.dumps(message).encode()
        headers = [f"{name}: {value}" for name, value in self._headers(message, len(body)).items()]
        path = urlsplit(self._server.url).path
        return "\r\n".join([f"POST {path} HTTP/1.1", *headers, "", ""]).encode() + body

    def _headers(self, message: dict[str, Any], length: int) -> dict[str, str]:
        headers = {
            "Host": urlsplit(self._server.url).netloc,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(length),
        }
        if self._server.token:
            headers["Authorization"] = f"Bearer {self._server.token}"
        return headers | self._routing(message)

    def _routing(self, message: dict[str, Any]) -> dict[str, str]:
        """Give the headers by which the era is told and the request is found."""
        headers = {"MCP-Protocol-Version": self._era}
        if self._era == MODERN:
            name = message["params"].get("name")
            named = {"Mcp-Name": name} if name else {}
            return {**headers, "Mcp-Method": message["method"], **named}
        return {**headers, "Mcp-Session-Id": self.session} if self.session else {}

    def _shake_hands(self) -> None:
        params = {"protocolVersion": LEGACY, "capabilities": _CAPABILITIES, "clientInfo": _CLIENT}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        head = self.exchange(self._request(hello)).partition(b"\r\n\r\n")[0]
        self.session = _header(head, "mcp-session-id") or ""
        self.exchange(self._request({"jsonrpc": "2.0", "method": "notifications/initialized"}))


def result(response: bytes) -> dict[str, Any]:
    """Read the result out of a response, whichever way it was sent.

    Raises:
        ValueError: It is an error.
    """
    head, _, body = response.partition(b"\r\n\r\n")
    texts = _DATA.findall(body) if b"text/event-stream" in head else [body]
    message = json.loads(texts[-1]) if texts and texts[-1] else {}
    if "result" not in message:
        raise ValueError(response.decode(errors="replace"))
    answer: dict[str, Any] = message["result"]
    return answer


def _connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), LIMIT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def envelope() -> dict[str, Any]:
    """Give what a modern request says of its client."""
    return {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientCapabilities": _CAPABILITIES,
        f"{_META}clientInfo": _CLIENT,
    }


def is_whole(received: bytes) -> bool:
    """Whether all of a response has arrived."""
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return False
    length = _header(head, "content-length")
    if length is not None:
        return len(body) >= int(length)
    return body.endswith(_LAST_CHUNK) or head.startswith((b"HTTP/1.1 202", b"HTTP/1.1 204"))


def _header(head: bytes, name: str) -> str | None:
    """Find a header of a response; uvicorn sends the names in lower case."""
    _, found, rest = head.partition(f"\r\n{name}: ".encode())
    return rest.partition(b"\r\n")[0].decode() if found else None
