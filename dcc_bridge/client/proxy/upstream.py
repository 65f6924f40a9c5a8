"""A connection to one host, on which the client speaks as itself. On the proxy's loop.

In the legacy era a connection has its own session, opened with the client's handshake. No method
but `run` waits for the host: messages are queued, and requests are stored until they are answered.
"""

from __future__ import annotations

import json
import logging
import math
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

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

log = logging.getLogger(__name__)

Hear = Callable[["Upstream", types.JSONRPCMessage], Awaitable[None]]  # receives a host's messages
_CLOSE_TIMEOUT_S: Final = 1.0  # for the requests with which a session is closed
_LISTENING: Final = (LISTEN, "resources/subscribe")
_LISTEN_TIMEOUT_S: Final = 2.0  # for a host to acknowledge a subscription


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's handshake.

    Attributes:
        version: The version in the answer, a revision of the legacy era.
        params: The params of the client's request, with that version.
    """

    version: str
    params: Params


@dataclass(frozen=True, slots=True)
class _ListenRequest:
    """A request to subscribe, and the event that the host has acknowledged it."""

    id: types.RequestId
    acknowledged: anyio.Event


class Upstream:
    """The connection to a host, which `run` opens, and which may be lost at any moment.

    Args:
        host: The host.
        hello: The client's handshake; None for a client of the modern era.

    Attributes:
        host: The host, as its record was read last.
        in_flight: The requests that are not answered yet, by their ids.
        cancelling: The ids of requests that cancel a call whose client has left.
        unsent: The ids of requests of which no byte was sent yet.
        is_lost: Whether the host became unreachable: requests in flight may be done or not.
    """

    def __init__(self, host: Instance, hello: Hello | None) -> None:
        self.host = host
        self.in_flight: dict[types.RequestId, types.JSONRPCRequest] = {}
        self.cancelling: set[types.RequestId] = set()
        self.unsent: set[types.RequestId] = set()
        self.is_lost = False
        self._header_maps: dict[str, Mapping[tuple[str, ...], str]] = {}  # by the tool's name
        # The calls that were refused without headers, by the id of our request to list the tools.
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
        """Queue a message for the host, or drop it if the connection has ended."""
        if not self.is_over:
            self._put.send_nowait(message)

    def request(self, request: types.JSONRPCRequest) -> None:
        """Queue a request of the client, and add it to `in_flight`."""
        self.in_flight[request.id] = request
        self.unsent.add(request.id)
        self.send(request)

    def store_headers(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Store which arguments of listed tools are repeated in a header."""
        for tool in tools:
            self._header_maps[tool["name"]] = header_map(tool)

    def send_own(self, method: str, params: Params | None) -> None:
        """Queue a request of the proxy's own, whose answer is dropped."""
        self.send(own_request(method, params))

    def close(self) -> None:
        """Begin to close the connection, and tell the host."""
        self._over.set()

    def lose(self) -> None:
        """End the connection, because the host is gone."""
        self.is_lost = True
        self._over.set()

    async def run(self, token: str, hear: Hear, is_running: Callable[[], Awaitable[bool]]) -> None:
        """Stay connected until `close`, or until the host is gone. This raises nothing.

        Args:
            token: The client's token.
            hear: Receives each message of the host, except answers to the proxy's own requests.
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
                    tasks.start_soon(self._speak, write)
                    tasks.start_soon(self._listen, read, hear)
                    await self._over.wait()
                    self._scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT_S
                    tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - any error here means that the host is lost
            log.debug("the connection to %s ended: %r", self.host.url, error)
            self.lose()
        finally:
            self._put.close()
            self._queue.close()

    async def _note(self, response: httpx2.Response) -> None:
        """End the connection if the host refuses the token, or has forgotten the session."""
        is_forgotten = response.status_code == 404 and self._hello is not None
        if is_forgotten or response.status_code == 401:
            self.lose()

    async def _note_sending(self, request: httpx2.Request) -> None:
        """Remove a request from `unsent` once its first byte goes out."""
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
                # The client must hear of the changes that its next message makes.
                with anyio.move_on_after(_LISTEN_TIMEOUT_S):
                    await self._listen_request.acknowledged.wait()
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
            elif not (self._take_own_answer(item.message) or self._retry_refused(item.message)):
                await hear(self, item.message)
        self.lose()

    def _retry_refused(self, message: types.JSONRPCMessage) -> bool:
        """Retry a call that was refused without headers, because its tool was not listed before.

        The tools are listed first.

        Returns:
            Whether the message was such a refusal.
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

    def _take_own_answer(self, message: types.JSONRPCMessage) -> bool:
        """Handle a message if it answers a request of the proxy's own; return whether it does."""
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
        """Set the event of the open request to subscribe, if a message acknowledges it."""
        request = self._listen_request
        if request is None:
            return
        is_acknowledged = getattr(message, "method", None) == ACKNOWLEDGED
        if is_acknowledged or getattr(message, "id", None) == request.id:
            request.acknowledged.set()

    def _send_again(
        self, request: types.JSONRPCRequest, listing: types.JSONRPCResponse | types.JSONRPCError
    ) -> None:
        """Send a refused call again, with the headers of its tool."""
        params: Params = request.params or {}
        # Without an entry for its tool, the call would be retried for ever.
        self.store_headers([{"name": params["name"]}])
        if isinstance(listing, types.JSONRPCResponse):
            self.store_headers(listing.result.get("tools", []))
        if self.in_flight.get(request.id) is request:  # else the call was cancelled meanwhile
            self.send(request)
