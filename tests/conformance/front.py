"""An HTTP front for ``dcc-bridge connect``: the suite speaks HTTP alone, the proxy stdio alone.

A legacy session is a proxy of its own behind the SDK's transport, as a session on stdio has one
handshake. All modern requests share one proxy, under numbers of the front's. What HTTP itself asks
of a server, headers and statuses, is the front's and proves nothing of the proxy. Runs on an anyio
loop of the caller's.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectSendStream
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

_CLOSED: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)
Params = dict[str, Any]
_META: Final = "io.modelcontextprotocol"
_SUBSCRIPTION: Final = f"{_META}/subscriptionId"
DISCOVER: Final[Params] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            f"{_META}/protocolVersion": "2026-07-28",
            f"{_META}/clientInfo": {"name": "test", "version": "1"},
            f"{_META}/clientCapabilities": {},
        }
    },
}


@dataclass(slots=True)
class _Open:
    """A modern request that is being answered."""

    request: JSONRPCRequest
    said: MemoryObjectSendStream[JSONRPCMessage]


@dataclass(slots=True)
class _Asked:
    """The requests of a legacy session that are being answered, by their ids."""

    tokens: dict[RequestId, Any] = field(default_factory=dict)

    def about(self, message: JSONRPCMessage) -> RequestId | None:
        """Tell on whose stream a message belongs: stdio has one for all."""
        if isinstance(message, JSONRPCNotification) and message.method.endswith("list_changed"):
            return None
        token = (getattr(message, "params", None) or {}).get("progressToken")
        named = (id_ for id_, one in self.tokens.items() if one == token and token is not None)
        return next(named, None) or next(reversed(self.tokens), None)


class Front:
    """An ASGI application, each of whose clients has a proxy."""

    def __init__(self, command: StdioServerParameters, tasks: TaskGroup) -> None:
        """Begin with no proxy.

        Args:
            command: Starts one.
            tasks: Where they are kept.
        """
        self._command = command
        self._tasks = tasks
        self._sessions: dict[str, StreamableHTTPServerTransport] = {}
        self._open: dict[int, _Open] = {}
        self._numbers = count(1)

    async def start(self) -> None:
        """Start the proxy of the modern era."""
        self._say = await self._tasks.start(self._modern)
        # a connection on stdio is of the era of its first message
        await self._respond(DISCOVER)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in its era's way."""
        session = Headers(scope=scope).get("mcp-session-id")
        body = await Request(scope, receive).body() if scope["method"] == "POST" else b""
        said = json.loads(body or b"{}")
        if session is None and said.get("method") != "initialize":
            response = await self._respond(said)
            await response(scope, receive, send)
            return
        transport = self._sessions.get(session or "")
        if session is None:
            transport = await self._tasks.start(self._legacy, uuid4().hex)
        if transport is None:
            await Response(status_code=404)(scope, receive, send)
            return
        await transport.handle_request(scope, _again(body, receive), send)

    async def _legacy(
        self, name: str, *, task_status: TaskStatus[StreamableHTTPServerTransport]
    ) -> None:
        transport, asked = StreamableHTTPServerTransport(mcp_session_id=name), _Asked()
        async with (
            transport.connect() as (reads, writes),
            stdio_client(self._command) as (heard, say),
            anyio.create_task_group() as ways,
        ):
            self._sessions[name] = transport
            task_status.started(transport)
            ways.start_soon(self._down, heard, writes, asked)
            with suppress(*_CLOSED):
                async for message in reads:
                    if isinstance(message, SessionMessage):
                        if isinstance(message.message, JSONRPCRequest):
                            asked.tokens[message.message.id] = _token(message.message)
                        await say.send(SessionMessage(message.message))
            del self._sessions[name]
            ways.cancel_scope.cancel()

    async def _down(self, heard: Any, writes: Any, asked: _Asked) -> None:
        with suppress(*_CLOSED):
            async for item in heard:
                message = item.message
                about = asked.about(message)
                if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                    asked.tokens.pop(message.id, None)
                metadata = ServerMessageMetadata(related_request_id=about)
                await writes.send(SessionMessage(message, metadata))

    async def _modern(self, *, task_status: TaskStatus[Any]) -> None:
        async with stdio_client(self._command) as (heard, say):
            task_status.started(say)
            async for item in heard:
                if isinstance(item, Exception):
                    raise item
                message = item.message
                number = self._number(message)
                if number in self._open:
                    open_ = self._open[number]
                    with suppress(*_CLOSED):
                        await open_.said.send(_renamed(message, open_.request.id))

    def _number(self, message: JSONRPCMessage) -> Any:
        """Tell whose a message is."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            return message.id
        params = message.params or {}
        if _SUBSCRIPTION in params.get("_meta", {}):
            return params["_meta"][_SUBSCRIPTION]
        token = params.get("progressToken")
        named = (n for n, one in self._open.items() if _token(one.request) == token is not None)
        return next(named, None) or next(reversed(self._open), None)

    async def _respond(self, said: Params) -> Response:
        message = jsonrpc_message_adapter.validate_python(said)
        if not isinstance(message, JSONRPCRequest):
            await self._say.send(SessionMessage(message))
            return Response(status_code=202)
        number = next(self._numbers)
        put, taken = anyio.create_memory_object_stream[JSONRPCMessage](math.inf)
        self._open[number] = _Open(message, put)
        await self._say.send(SessionMessage(message.model_copy(update={"id": number})))
        first = await taken.receive()
        if isinstance(first, JSONRPCResponse | JSONRPCError):
            del self._open[number]
            return JSONResponse(_plain(first), _status(first))
        return StreamingResponse(self._stream(number, first, taken), media_type="text/event-stream")

    async def _stream(self, number: int, first: JSONRPCMessage, taken: Any) -> AsyncIterator[str]:
        message = first
        try:
            while True:
                yield f"event: message\ndata: {json.dumps(_plain(message))}\n\n"
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    return
                message = await taken.receive()
        finally:
            del self._open[number]
            if not isinstance(message, JSONRPCResponse | JSONRPCError):
                params = {"requestId": number}
                left = JSONRPCNotification(
                    jsonrpc="2.0", method="notifications/cancelled", params=params
                )
                with anyio.CancelScope(shield=True):
                    await self._say.send(SessionMessage(left))


def _again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read already, and then what comes."""
    parts = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Message:
        return next(parts, None) or await receive()

    return again


def _renamed(message: JSONRPCMessage, id_: RequestId) -> JSONRPCMessage:
    """Give a message the id that its client knows."""
    if isinstance(message, JSONRPCResponse | JSONRPCError):
        message = message.model_copy(update={"id": id_})
    plain = _plain(message)
    for part in (plain.get("params"), plain.get("result")):
        if part and _SUBSCRIPTION in part.get("_meta", {}):
            part["_meta"][_SUBSCRIPTION] = id_
    return jsonrpc_message_adapter.validate_python(plain)


def _plain(message: JSONRPCMessage) -> Params:
    return message.model_dump(by_alias=True, exclude_none=True, mode="json")


def _token(request: JSONRPCRequest) -> Any:
    return (request.params or {}).get("_meta", {}).get("progressToken")


def _status(message: JSONRPCResponse | JSONRPCError) -> int:
    code = message.error.code if isinstance(message, JSONRPCError) else 0
    return ERROR_CODE_HTTP_STATUS.get(code, 200)
