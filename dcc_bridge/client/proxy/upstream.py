"""A connection to one host, on which the client speaks as itself. On the proxy's loop.

On the legacy era it has a session of its own, opened with the client's own handshake. Nothing here
waits for a host: what is sent is queued, and what was sent is known until it is answered.
"""

from __future__ import annotations

import json
import logging
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp.client._transport import ReadStream, WriteStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage

from dcc_bridge.client.connection import http_client
from dcc_bridge.client.proxy.messages import (
    ACKNOWLEDGED,
    LIST,
    LISTEN,
    OWN_ID,
    Params,
    header_map,
    headers,
    make_notice,
    own_request,
    version,
)
from dcc_bridge.elicitation.types import SESSION_HEADER

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

log = logging.getLogger(__name__)

Hear = Callable[["Upstream", types.JSONRPCMessage], Awaitable[None]]  # receives a host's messages
_CLOSE_TIMEOUT_S: Final = 1.0  # for the requests with which a session is closed
_LISTENING: Final = (LISTEN, "resources/subscribe")
_LISTEN_TIMEOUT_S: Final = 2.0  # for a host to listen
_SESSION: Final = secrets.token_hex(16)  # of the client: a proxy serves one, for as long as it runs


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's handshake, with the version that was agreed on.

    Attributes:
        version: A revision of the legacy era.
        params: The params of the client's request.
    """

    version: str
    params: Params


@dataclass(frozen=True, slots=True)
class _ListenRequest:
    """A request to listen, and the event that the host listens."""

    id: types.RequestId
    is_heard: anyio.Event


class Upstream:
    """The connection to a host, which may end by itself at any moment. `run` opens it.

    Args:
        host: The host.
        hello: The client's handshake; None for a client of the modern era.

    Attributes:
        host: The host, as it was found last.
        in_flight: The requests for whose answer the client waits, by their ids.
        left: The ids of those requests that end a call whose client has left.
        unsent: The ids of those requests of which the host was not sent a byte.
        is_lost: The host is out of reach, so the requests in flight are not known to be done.
    """

    def __init__(self, host: Instance, hello: Hello | None) -> None:
        self.host = host
        self.in_flight: dict[types.RequestId, types.JSONRPCRequest] = {}
        self.left: set[types.RequestId] = set()
        self.unsent: set[types.RequestId] = set()
        self.is_lost = False
        self._header_maps: dict[str, Mapping[tuple[str, ...], str]] = {}  # by the tool's name
        # The calls that were refused without headers, by the id of the request to list their tool.
        self._refused: dict[types.RequestId, types.JSONRPCRequest] = {}
        self._hello = hello
        self._put, self._queue = anyio.create_memory_object_stream[types.JSONRPCMessage](math.inf)
        self._handshake: types.RequestId | None = None
        self._is_handshake_over = anyio.Event()
        self._over = anyio.Event()
        self._listen_request: _ListenRequest | None = None
        self._scope = anyio.CancelScope()

    @property
    def is_over(self) -> bool:
        """Return whether the connection has ended, or is about to."""
        return self._over.is_set()

    def send(self, message: types.JSONRPCMessage) -> None:
        """Send a message after those before it; a connection that has ended drops the message."""
        if not self.is_over:
            self._put.send_nowait(message)

    def request(self, request: types.JSONRPCRequest) -> None:
        """Send a request of the client, which waits for the answer."""
        self.in_flight[request.id] = request
        self.unsent.add(request.id)
        self.send(request)

    def learn(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Note which arguments of listed tools are sent as a header too."""
        for tool in tools:
            self._header_maps[tool["name"]] = header_map(tool)

    def ask(self, method: str, params: Params | None) -> None:
        """Send a request of ours, whose answer nobody waits for."""
        self.send(own_request(method, params))

    def close(self) -> None:
        """Close the connection soon; the host is told."""
        self._over.set()

    def lose(self) -> None:
        """End the connection, because the host is gone."""
        self.is_lost = True
        self._over.set()

    async def run(self, token: str, hear: Hear, is_running: Callable[[], Awaitable[bool]]) -> None:
        """Connect to the host until `close`, or until the host is gone. It raises nothing.

        Args:
            token: The proof of who the client is.
            hear: Receives each message of the host, but for the answers to requests of ours.
            is_running: Returns whether the host runs; called before each connection.
        """
        try:
            with self._scope:
                async with (
                    http_client(token, self._note, is_running=is_running) as http,
                    streamable_http_client(
                        self.host.url, http_client=http, max_sse_event_size=None
                    ) as (read, write),
                    anyio.create_task_group() as tasks,
                ):
                    http.event_hooks["request"].append(self._note_sending)
                    if self._hello is None:
                        http.headers[SESSION_HEADER] = _SESSION
                    tasks.start_soon(self._speak, write)
                    tasks.start_soon(self._listen, read, hear)
                    await self._over.wait()
                    self._scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT_S
                    tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - whatever broke it, the host is out of reach
            log.debug("the connection to %s ended: %r", self.host.url, error)
            self.lose()
        finally:
            self._put.close()
            self._queue.close()

    async def _note(self, response: httpx2.Response) -> None:
        """End the connection where the token is refused, or the session is forgotten."""
        is_forgotten = response.status_code == 404 and self._hello is not None
        if is_forgotten or response.status_code == 401:
            self.lose()

    async def _note_sending(self, request: httpx2.Request) -> None:
        """Note when the first byte of a request goes out: there may be no host to connect to."""
        trace = request.extensions["trace"]
        request_id = None
        if request.method == "POST":
            request_id = json.loads(request.content).get("id")

        async def note(event: str, info: Mapping[str, Any]) -> None:
            await trace(event, info)
            if event.endswith("send_request_headers.started"):
                self.unsent.discard(request_id)

        request.extensions = {**request.extensions, "trace": note}

    async def _speak(self, write: WriteStream[SessionMessage]) -> None:
        """Send the messages of the queue, after the handshake in the legacy era."""
        if self._hello is not None:
            await self._shake_hands(write, self._hello)
        async for message in self._queue:
            metadata = ClientMessageMetadata(headers=self._headers(message))
            if isinstance(message, types.JSONRPCRequest) and message.method in _LISTENING:
                self._listen_request = _ListenRequest(message.id, anyio.Event())
            await write.send(SessionMessage(message, metadata))
            if self._listen_request is not None:
                # The next message may change something, and the client is to hear of the change.
                with anyio.move_on_after(_LISTEN_TIMEOUT_S):
                    await self._listen_request.is_heard.wait()
                self._listen_request = None

    async def _shake_hands(self, write: WriteStream[SessionMessage], hello: Hello) -> None:
        request = own_request("initialize", hello.params)
        self._handshake = request.id
        await write.send(SessionMessage(request))
        await self._is_handshake_over.wait()
        notice = make_notice("notifications/initialized")
        metadata = ClientMessageMetadata(headers=self._headers(notice))
        await write.send(SessionMessage(notice, metadata))

    def _headers(self, message: types.JSONRPCMessage) -> dict[str, str] | None:
        if self._hello is not None:
            return {MCP_PROTOCOL_VERSION_HEADER: self._hello.version}
        if not isinstance(message, types.JSONRPCRequest):
            return None
        modern = version(message)
        if modern is None:
            return None
        return headers(message, modern, self._header_maps)

    async def _listen(self, read: ReadStream[SessionMessage | Exception], hear: Hear) -> None:
        async for item in read:
            if isinstance(item, Exception):
                log.debug("%s sent what is no message: %r", self.host.url, item)
            elif not (self._is_ours(item.message) or self._lacks_header(item.message)):
                await hear(self, item.message)
        self.lose()

    def _lacks_header(self, message: types.JSONRPCMessage) -> bool:
        """Return whether a call was refused because its tool was not listed before.

        Such a call is sent again with the headers of the tool, once the tool is listed.
        """
        if not isinstance(message, types.JSONRPCError) or message.id is None:
            return False
        request = self.in_flight.get(message.id)
        if request is None or message.error.code != types.HEADER_MISMATCH:
            return False
        params: Params = request.params or {}
        if "arguments" not in params or params.get("name") in self._header_maps:
            return False
        listing = own_request(LIST, {"_meta": params.get("_meta", {})})
        self._refused[listing.id] = request
        self.send(listing)
        return True

    def _is_ours(self, message: types.JSONRPCMessage) -> bool:
        """Return whether a message answers a request of ours, and handle the answer."""
        self._note_listening(message)
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return False
        if message.id == self._handshake and self._handshake is not None:
            if isinstance(message, types.JSONRPCError):
                self.lose()
            self._is_handshake_over.set()
        if message.id is not None and message.id in self._refused:
            self._send_again(self._refused.pop(message.id), message)
        return str(message.id).startswith(OWN_ID)

    def _note_listening(self, message: types.JSONRPCMessage) -> None:
        """Set the event that the host listens, if a message says so."""
        request = self._listen_request
        if request is None:
            return
        is_acknowledged = getattr(message, "method", None) == ACKNOWLEDGED
        if is_acknowledged or getattr(message, "id", None) == request.id:
            request.is_heard.set()

    def _send_again(
        self, request: types.JSONRPCRequest, listing: types.JSONRPCResponse | types.JSONRPCError
    ) -> None:
        """Send a refused call again, with the headers of its tool."""
        params: Params = request.params or {}
        # A tool that is not listed counts as learnt too: its call is refused for good then.
        self.learn([{"name": params["name"]}])
        if isinstance(listing, types.JSONRPCResponse):
            self.learn(listing.result.get("tools", []))
        if self.in_flight.get(request.id) is request:  # else the call was cancelled meanwhile
            self.send(request)
