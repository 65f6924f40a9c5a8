"""Answers a plain `tools/call` of a skill without the SDK, at half the cost. Worker.

A request is *plain* if each of its headers and keys is expected here. All other requests go to the
SDK. So does a plain request that is not answered soon, together with its running call: only the SDK
handles questions, progress, streams and clients that leave. In a legacy session the two events of
an answer are stored with the answer, because no client asks for them before.
"""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import Future
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

import mcp_types as types
from mcp.server.connection import Connection
from mcp_types.methods import validate_client_request
from pydantic import ValidationError
from pydantic_core import from_json, to_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.elicitation.types import DRY_RUN
from dcc_bridge.server import protocol
from dcc_bridge.server.legacy_requests import receive_again
from dcc_bridge.server.mcp_server import Server
from dcc_bridge.server.parked_calls import ParkedCall
from dcc_bridge.server.protocol import CALL, MODERN
from dcc_bridge.server.scope_keys import ALONE, GONE, LABEL, STARTED, TURN
from dcc_bridge.server.sessions import ReplayStore
from dcc_bridge.skills.registry import Entry
from dcc_bridge.threads.jobs import client

FAST_PATH_S: Final = 1.0
"""Seconds after which the SDK takes over a call: well before the SDK would ping the client."""
_LEGACY_SHARE: Final = 0.1
"""The part of `FAST_PATH_S` in a legacy session, where only the SDK accepts a cancellation."""
_TURN_S: Final = 0.002
"""Seconds for which the interpreter's lock is kept while requests are served.

A shorter time costs calls, and gains nothing.
"""
_MAX_META_CHARS: Final = 4096
"""Characters of a client's description of itself that is cached."""
_MAX_BRACKETS: Final = 100
"""Lists and objects in a body: the parsers refuse different depths."""
_MAX_ID: Final = 2**53
_VERSION: Final = types.PROTOCOL_VERSION_META_KEY
_CAPABILITIES: Final = types.CLIENT_CAPABILITIES_META_KEY
_META_KEYS: Final = {_VERSION, _CAPABILITIES, types.CLIENT_INFO_META_KEY}
_CONTENT_TYPE: Final = b"content-type"
_PLAIN_HEADERS: Final = (b"accept", b"content-length", _CONTENT_TYPE)
_ACCEPTED: Final = ("application/json, text/event-stream", "text/event-stream, application/json")

# `json.dumps` makes an encoder each time.
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode


class Route(NamedTuple):
    """The route of a plain request, read from its headers.

    Attributes:
        era: The revision of the protocol that the request is written in.
        tool: The tool that the headers name, in the modern era; else "".
        session: The id of the legacy session; "" in the modern era.
    """

    era: str
    tool: str
    session: str


class PlainCall(NamedTuple):
    """A `tools/call` that the fast path may answer.

    Attributes:
        id: The JSON-RPC id of the request.
        tool: The name of the tool.
        arguments: What the tool is called with.
        meta: The request's `_meta`, without its progress token.
    """

    id: int | str
    tool: str
    arguments: dict[str, Any]
    meta: dict[str, Any]


class FastPath:
    """ASGI application: answers plain calls, and passes every other request to the SDK.

    Args:
        server: The server whose skills are called.
        sdk: The SDK's application, which serves every other request.
        events: The events of the legacy sessions.
    """

    def __init__(self, server: Server, sdk: ASGIApp, events: ReplayStore) -> None:
        self._server = server
        self._sdk = sdk
        self._events = events
        self._yielded_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the SDK."""
        if not scope.get(ALONE):
            self._yield_lock()
        # Reading this property looks for changed skill files, as in every request.
        _ = self._server.library.read
        route = _route(scope)
        if route is None:
            await self._sdk(scope, receive, send)
            return
        message = await receive()
        if await self._answer(message, route, scope, send):
            return
        try:
            await self._sdk(scope, receive_again([message], receive), send)
        finally:
            started = scope.pop(STARTED, None)
            if isinstance(started, ParkedCall):  # the SDK refused it, or its client left
                self._server.calls.cut_off(started)

    def _yield_lock(self) -> None:
        """Release the interpreter's lock for a moment, at most every `_TURN_S` seconds.

        Else CPython makes the host's main thread wait 5 ms whenever it returns to Python: with 32
        clients a timer there was 19 ms late, and is 9 ms late with this (p99, 2 cores).
        """
        if time.perf_counter() - self._yielded_at > _TURN_S:
            time.sleep(0)
            self._yielded_at = time.perf_counter()

    async def _answer(self, message: Message, route: Route, scope: Scope, send: Send) -> bool:
        """Answer a request; return False, with nothing sent, if the SDK has to answer."""
        call = _read_call(message, route.era)
        if call is None:
            return False
        caller = self._caller(call, route, scope[LABEL])
        if caller is None:
            return False
        skill = self._server.fetch_plain(call.tool)
        if skill is None:
            return False
        body = await self._run(call, skill, caller, scope)
        if body is None:
            return False
        if caller.era != MODERN:
            await self._events.send_result(str(call.id), body, route.session, caller.era, send)
            return True
        headers = [(b"content-length", b"%d" % len(body)), (_CONTENT_TYPE, b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return True

    def _caller(self, call: PlainCall, route: Route, label: str) -> SeenClient | None:
        """Return the client that calls; None if the SDK would or might refuse the call."""
        if route.session:
            if any("modelcontextprotocol" in key for key in call.meta) or DRY_RUN in call.meta:
                return None
            return self._server.seen_in(route.session, route.era, label)
        if call.tool != route.tool or not call.meta.keys() <= _META_KEYS:
            return None
        meta_text = json.dumps(call.meta)
        if len(meta_text) >= _MAX_META_CHARS:
            return None
        described = _described_client(meta_text)
        if described is None:
            return None
        caller = Client(label, described.client.name, described.client.version)
        return replace(described, client=caller, at=time.time())

    async def _run(
        self, call: PlainCall, skill: Future[Entry], caller: SeenClient, scope: Scope
    ) -> bytes | None:
        """Run a skill and return the response's body; None if the SDK has to answer."""
        if not scope[ALONE]:
            await asyncio.sleep(0)  # requests of other clients get their turn
        scope[TURN]()
        client.set(caller.client.label)
        self._server.clients.note(caller)
        starter = self._server.starter
        started = await starter.begin(call.tool, skill, call.arguments, caller)
        result: types.CallToolResult | None
        if isinstance(started, ParkedCall):
            result = await self._wait(started, scope)
        else:
            result = started
        body = None
        if result is not None:
            body = self._serialized(call.id, result, caller.era)
        if body is None:
            scope[STARTED] = started
        return body

    async def _wait(self, parked: ParkedCall, scope: Scope) -> types.CallToolResult | None:
        """Wait for a call's result; None if it asks, reports progress or takes too long."""
        scope[GONE] = parked.stir
        seconds = FAST_PATH_S
        if not parked.modern:
            seconds *= _LEGACY_SHARE
        stop_clock = self._server.runner.environment.clock(seconds, parked.stir)
        try:
            return await self._server.calls.begin_plain(parked, scope)
        finally:
            stop_clock()
            del scope[GONE]

    def _serialized(
        self, request_id: int | str, result: types.CallToolResult, era: str
    ) -> bytes | None:
        """Return the response's body; None for an image or a file, which the SDK serializes."""
        is_modern = era == MODERN
        dumped = protocol.plain_dump(result, is_modern=is_modern)
        if dumped is None:
            return None
        reply = {"jsonrpc": "2.0", "id": request_id, "result": dumped}
        if not is_modern:
            return to_json(reply)
        dumped["_meta"] = {**dumped["_meta"], types.SERVER_INFO_META_KEY: self._server.stamp}
        return _ENCODE(reply).encode()


def _route(scope: Scope) -> Route | None:
    """Return the route of a plain request; None if one of its headers is not expected here."""
    headers = []
    for name, value in scope["headers"]:
        if name.startswith(b"mcp-") or name in _PLAIN_HEADERS:
            headers.append((str(name, "latin-1"), str(value, "latin-1")))
    headers.sort()
    match scope["method"], headers:
        case "POST", [("accept", accept), ("content-length", _), ("content-type", kind), *named]:
            if accept not in _ACCEPTED or kind != "application/json":
                return None
        case _:
            return None
    match named:
        case [("mcp-method", "tools/call"), ("mcp-name", tool), ("mcp-protocol-version", era)]:
            if era != MODERN or not tool.isascii():
                return None
            return Route(era, tool, "")
        case [("mcp-protocol-version", era), ("mcp-session-id", session)]:
            return Route(era, "", session)
    return None


def _read_call(message: Message, era: str) -> PlainCall | None:
    """Read a call from a request's only message; None if a key of the body is not expected here."""
    body = message.get("body", b"")
    if message.get("more_body") or body.count(b"[") + body.count(b"{") > _MAX_BRACKETS:
        return None
    try:
        # The SDK has a different parser for each era.
        request = json.loads(body) if era == MODERN else from_json(body)
    except ValueError:
        return None
    match request:
        case {
            "jsonrpc": "2.0",
            "id": request_id,
            "method": "tools/call",
            "params": {"name": str(tool), **params},
            **rest,
        } if not rest and params.keys() <= {"arguments", "_meta"}:
            arguments = params.get("arguments", {})
            meta = params.get("_meta", {})
            if not isinstance(arguments, dict) or not isinstance(meta, dict):
                return None
            progress_token = meta.pop("progressToken", 0)
            if not _is_plain_id(request_id) or not _is_plain_id(progress_token):
                return None
            if not all(name.isascii() for name in (*arguments, *meta)):
                return None
            return PlainCall(request_id, tool, arguments, meta)
    return None


def _is_plain_id(value: object) -> bool:
    if type(value) is int:
        return -_MAX_ID < value < _MAX_ID
    return isinstance(value, str) and value.isascii()


@lru_cache(maxsize=64)
def _described_client(meta_text: str) -> SeenClient | None:
    """Read a client's description of itself; None if the SDK would refuse it."""
    meta = json.loads(meta_text)
    try:
        validate_client_request(CALL, MODERN, {"name": "", "arguments": {}, "_meta": meta})
    except ValidationError:
        return None
    if meta[_VERSION] != MODERN:
        return None
    info = meta.get(types.CLIENT_INFO_META_KEY)
    connection = Connection.from_envelope(MODERN, info, meta[_CAPABILITIES])
    return protocol.seen_client(connection, "")
