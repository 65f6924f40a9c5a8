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

Hear = Callable[["Upstream", types.JSONRPCMessage], Awaitable[None]]  # takes what a host says
_CLOSE_TIMEOUT: Final = 1.0  # seconds for the requests with which a session is closed
_LISTENING: Final = (LISTEN, "resources/subscribe")
_HEARS_WITHIN: Final = 2.0  # seconds for a host to listen
_SESSION: Final = secrets.token_hex(16)  # of the client: a proxy serves one, for as long as it runs


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's handshake, with the version that was agreed on."""

    version: str  # a revision of the legacy era
    params: Params  # what the client said


class Upstream:
    """The connection; it may end by itself at any moment."""

    def __init__(self, host: Instance, hello: Hello | None) -> None:
        """Prepare; `run` opens it."""
        self.host = host  # where it leads
        self.in_flight: dict[types.RequestId, types.JSONRPCRequest] = {}  # the client waits for it
        self.left: set[types.RequestId] = set()  # of those, what ends a call whose client has left
        self.unsent: set[types.RequestId] = set()  # of those, what the host was not sent a byte of
        self._header_maps: dict[str, Mapping[tuple[str, ...], str]] = {}  # by the tool's name
        self._refused: dict[types.RequestId, types.JSONRPCRequest] = {}  # by what lists its tool
        self.is_lost = False  # out of reach: what was in flight is not known to be done
        self._hello = hello  # the client's handshake; None for a client of the modern era
        self._put, self._queue = anyio.create_memory_object_stream[types.JSONRPCMessage](math.inf)
        self._handshake: types.RequestId | None = None
        self._shaken = anyio.Event()
        self._over = anyio.Event()
        self._heard: tuple[types.RequestId, anyio.Event] | None = None  # a request to listen
        self._scope = anyio.CancelScope()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or is about to."""
        return self._over.is_set()

    def send(self, message: types.JSONRPCMessage) -> None:
        """Send a message in its turn; nothing happens on one that has ended."""
        if not self.is_over:
            self._put.send_nowait(message)

    def request(self, request: types.JSONRPCRequest) -> None:
        """Send a request of the client, whose answer is its own."""
        self.in_flight[request.id] = request
        self.unsent.add(request.id)
        self.send(request)

    def learn(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Learn of listed tools which arguments are sent as a header too."""
        self._header_maps |= {tool["name"]: header_map(tool) for tool in tools}

    def ask(self, method: str, params: Params | None) -> None:
        """Send a request of ours, whose answer nobody waits for."""
        self.send(own_request(method, params))

    def close(self) -> None:
        """Close it soon; the host is told."""
        self._over.set()

    def lose(self) -> None:
        """End it: nobody is there any more."""
        self.is_lost = True
        self._over.set()

    async def run(self, token: str, hear: Hear, is_running: Callable[[], Awaitable[bool]]) -> None:
        """Be connected until `close`, or until the host is gone."""
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
                    self._scope.deadline = anyio.current_time() + _CLOSE_TIMEOUT
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
        """Note of a request when its first byte goes out: there may be no host to connect to."""
        trace, number = request.extensions["trace"], None
        if request.method == "POST":
            number = json.loads(request.content).get("id")

        async def note(event: str, info: Mapping[str, Any]) -> None:
            await trace(event, info)
            if event.endswith("send_request_headers.started"):
                self.unsent.discard(number)

        request.extensions = {**request.extensions, "trace": note}

    async def _speak(self, write: WriteStream[SessionMessage]) -> None:
        if self._hello is not None:
            await self._shake_hands(write, self._hello)
        async for message in self._queue:
            metadata = ClientMessageMetadata(headers=self._headers(message))
            if isinstance(message, types.JSONRPCRequest) and message.method in _LISTENING:
                self._heard = message.id, anyio.Event()
            await write.send(SessionMessage(message, metadata))
            if self._heard is not None:  # what comes next may change what is listened to
                with anyio.move_on_after(_HEARS_WITHIN):
                    await self._heard[1].wait()
                self._heard = None

    async def _shake_hands(self, write: WriteStream[SessionMessage], hello: Hello) -> None:
        request = own_request("initialize", hello.params)
        self._handshake = request.id
        await write.send(SessionMessage(request))
        await self._shaken.wait()
        done = make_notice("notifications/initialized")
        await write.send(SessionMessage(done, ClientMessageMetadata(headers=self._headers(done))))

    def _headers(self, message: types.JSONRPCMessage) -> dict[str, str] | None:
        if self._hello is not None:
            return {MCP_PROTOCOL_VERSION_HEADER: self._hello.version}
        if isinstance(message, types.JSONRPCRequest) and (modern := version(message)) is not None:
            return headers(message, modern, self._header_maps)
        return None

    async def _listen(self, read: ReadStream[SessionMessage | Exception], hear: Hear) -> None:
        async for item in read:
            if isinstance(item, Exception):
                log.debug("%s sent what is no message: %r", self.host.url, item)
            elif not (self._is_ours(item.message) or self._lacks_header(item.message)):
                await hear(self, item.message)
        self.lose()

    def _lacks_header(self, message: types.JSONRPCMessage) -> bool:
        """Have a call sent again with the headers of its tool, which was not listed before."""
        if not isinstance(message, types.JSONRPCError) or message.id is None:
            return False
        request = self.in_flight.get(message.id)
        params: Params = (request.params or {}) if request is not None else {}
        is_refused = message.error.code == types.HEADER_MISMATCH and "arguments" in params
        if request is None or not is_refused or params.get("name") in self._header_maps:
            return False
        listing = own_request(LIST, {"_meta": params.get("_meta", {})})
        self._refused[listing.id] = request
        self.send(listing)
        return True

    def _is_ours(self, message: types.JSONRPCMessage) -> bool:
        """Take in the answer to a request of ours."""
        said = getattr(message, "method", None), getattr(message, "id", None)
        if self._heard is not None and (said[0] == ACKNOWLEDGED or said[1] == self._heard[0]):
            self._heard[1].set()
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return False
        if message.id == self._handshake and self._handshake is not None:
            if isinstance(message, types.JSONRPCError):
                self.lose()
            self._shaken.set()
        request = self._refused.pop(message.id, None) if message.id is not None else None
        if request is not None:
            listed = message.result if isinstance(message, types.JSONRPCResponse) else {}
            # also where it is not listed: it is refused for good then
            self.learn([{"name": (request.params or {})["name"]}, *listed.get("tools", [])])
            if self.in_flight.get(request.id) is request:  # else it was cancelled meanwhile
                self.send(request)
        return str(message.id).startswith(OWN_ID)
