"""Answers a plain `tools/call` of a skill without the SDK's kernel, half of its cost. Worker.

A request is taken only if nothing in it is unusual, header by header and key by key; others go the
SDK's way. So does one that is not answered soon, with its call as it stands: questions, progress,
streams and clients that leave are the SDK's alone. In a legacy session, which the SDK keeps, the
two events of an answer are stored when it is there: nobody comes back for them before.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import lru_cache
from typing import Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp_types.methods import validate_client_request
from pydantic import ValidationError
from pydantic_core import from_json, to_json
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.server import protocol
from dcc_bridge.server.legacy_requests import receive_again
from dcc_bridge.server.mcp_server import Server
from dcc_bridge.server.parked_calls import ParkedCall
from dcc_bridge.server.protocol import CALL, MODERN
from dcc_bridge.server.scope_keys import ALONE, GONE, LABEL, STARTED, TURN
from dcc_bridge.server.sessions import ReplayStore
from dcc_bridge.skills.registry import Entry
from dcc_bridge.threads.jobs import client

SOON: Final = 1.0  # seconds after which the SDK takes over: well before it would ping
_LEGACY: Final = 0.1  # its part in a legacy session, where the SDK alone takes a cancellation
_HELD: Final = 0.002  # seconds of requests in which it is kept: fewer cost calls, and gain nothing
_MOST_META: Final = 4096  # characters of what a client says of itself, which is remembered
_MOST_NESTED: Final = 100  # lists and objects; how deep is too deep depends on the way
_LARGEST: Final = 2**53  # of an id
_VERSION, _ABLE = types.PROTOCOL_VERSION_META_KEY, types.CLIENT_CAPABILITIES_META_KEY
_META: Final = {_VERSION, _ABLE, types.CLIENT_INFO_META_KEY}
_KINDS: Final = (b"accept", b"content-length", b"content-type")
_ACCEPTED: Final = ("application/json, text/event-stream", "text/event-stream, application/json")

_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode  # `dumps` makes one each time
PlainCall = tuple[int | str, str, dict[str, Any], dict[str, Any]]  # id, tool, arguments, meta


class FastPath:
    """ASGI application: answers plain calls, and passes every other request to the SDK."""

    def __init__(self, server: Server, sdk: ASGIApp, events: ReplayStore) -> None:
        self._server, self._sdk = server, sdk
        self._events = events  # of the legacy sessions
        self._gave_way = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if not scope.get(ALONE):
            self._give_way()
        _ = self._server.library.read  # whoever comes wants to know of changes, if only later
        route = _route(scope)
        if route is None:
            await self._sdk(scope, receive, send)
            return
        message = await receive()
        call = _read(message, json.loads if route[0] == MODERN else from_json)
        seen = self._caller(call, *route, scope[LABEL]) if call is not None else None
        skill = self._server.fetch_plain(call[1]) if call and seen else None
        body = await self._answer(call, skill, seen, scope) if call and seen and skill else None
        if call is None or seen is None or body is None:
            try:
                await self._sdk(scope, receive_again([message], receive), send)
            finally:
                if isinstance(unheard := scope.pop(STARTED, None), ParkedCall):
                    self._server.calls.abandon(unheard)  # the SDK refused it, or its client left
        elif seen.era == MODERN:
            headers = [(b"content-length", b"%d" % len(body)), (_KINDS[-1], b"application/json")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        else:
            await self._events.send_result(str(call[0]), body, route[2], seen.era, send)

    def _give_way(self) -> None:
        """Let a thread that waits for the interpreter's lock have it, if it was not just now."""
        # else CPython lets the host's main thread wait for 5 ms whenever it comes back to Python:
        # beside 32 clients a timer there was 19 ms late, and is 9 (p99, with 2 cores)
        if time.perf_counter() - self._gave_way > _HELD:
            time.sleep(0)
            self._gave_way = time.perf_counter()

    def _caller(
        self, call: PlainCall, era: str, name: str, session: str, label: str
    ) -> SeenClient | None:
        """Tell who calls; None where the SDK would refuse it, or might."""
        *_, tool, _, meta = call
        if session:
            is_odd = any("modelcontextprotocol" in key for key in meta)
            return None if is_odd else self._server.seen_in(session, era, label)
        text = json.dumps(meta)
        is_plain = tool == name and meta.keys() <= _META and len(text) < _MOST_META
        said = _client(text) if is_plain else None
        if said is None:
            return None
        caller = Client(label, said.client.name, said.client.version)
        return SeenClient(caller, MODERN, said.form, said.url, time.time())

    async def _answer(
        self, call: PlainCall, skill: Future[Entry], seen: SeenClient, scope: Scope
    ) -> bytes | None:
        """Run a skill; None where the SDK has to answer."""
        id_, name, arguments, _ = call
        if not scope[ALONE]:
            await asyncio.sleep(0)  # it is its client's turn, and others have theirs
        scope[TURN]()
        client.set(seen.client.label)
        self._server.clients.note(seen)
        session = protocol.session_of(Headers(scope=scope), seen.era)
        started = await self._server.begin(name, skill, arguments, seen, session)
        result = await self._wait(started, scope) if isinstance(started, ParkedCall) else started
        body = self._serialized(id_, result, seen.era) if result is not None else None
        if body is None:
            scope[STARTED] = started
        return body

    async def _wait(self, parked: ParkedCall, scope: Scope) -> types.CallToolResult | None:
        scope[GONE] = parked.stir
        clock = self._server.runner.environment.clock
        stop = clock(SOON if parked.modern else SOON * _LEGACY, parked.stir)
        try:
            return await self._server.calls.begin_plain(parked, scope)
        finally:
            stop()
            del scope[GONE]

    def _serialized(self, id_: int | str, result: types.CallToolResult, era: str) -> bytes | None:
        if (dumped := protocol.plain_dump(result, is_modern=era == MODERN)) is None:
            return None  # an image or a file, which is the SDK's to tell
        reply = {"jsonrpc": "2.0", "id": id_, "result": dumped}
        if era != MODERN:
            return to_json(reply)
        dumped["_meta"] = {**dumped["_meta"], types.SERVER_INFO_META_KEY: self._server.stamp}
        return _ENCODE(reply).encode()


def _route(scope: Scope) -> tuple[str, str, str] | None:
    """Give the era of a request, its tool or session by its headers; None where one is unusual."""
    kept = [it for it in scope["headers"] if it[0].startswith(b"mcp-") or it[0] in _KINDS]
    texts = [(str(name, "latin-1"), str(value, "latin-1")) for name, value in kept]
    match scope["method"], sorted(texts):
        case "POST", [("accept", accept), ("content-length", _), ("content-type", kind), *named]:
            is_plain = accept in _ACCEPTED and kind == "application/json"
        case _:
            return None
    match is_plain and named:
        case [("mcp-method", "tools/call"), ("mcp-name", name), ("mcp-protocol-version", era)]:
            return (era, name, "") if era == MODERN and name.isascii() else None
        case [("mcp-protocol-version", era), ("mcp-session-id", session)]:
            return era, "", session
    return None


def _read(message: Message, read: Callable[[bytes], Any]) -> PlainCall | None:
    """Read a request, as the SDK does in its era; None where a key of it is unusual."""
    body = message.get("body", b"")
    if message.get("more_body") or body.count(b"[") + body.count(b"{") > _MOST_NESTED:
        return None
    try:
        request = read(body)
    except ValueError:
        return None
    match request:
        case {
            "jsonrpc": "2.0",
            "id": id_,
            "method": "tools/call",
            "params": {"name": str(name), **params},
            **rest,
        } if not rest and params.keys() <= {"arguments", "_meta"}:
            arguments, meta = params.get("arguments", {}), params.get("_meta", {})
            if isinstance(arguments, dict) and isinstance(meta, dict):
                token, texts = meta.pop("progressToken", 0), [*arguments, *meta]
                if _is_id(id_) and _is_id(token) and all(map(str.isascii, texts)):
                    return id_, name, arguments, meta
    return None


def _is_id(value: object) -> bool:
    if type(value) is int:
        return -_LARGEST < value < _LARGEST
    return isinstance(value, str) and value.isascii()


@lru_cache(maxsize=64)
def _client(meta: str) -> SeenClient | None:
    """Read what a client says of itself; None where the SDK would refuse it."""
    said = json.loads(meta)
    try:
        validate_client_request(CALL, MODERN, {"name": "", "arguments": {}, "_meta": said})
    except ValidationError:
        return None
    if said[_VERSION] != MODERN:
        return None
    info = said.get(types.CLIENT_INFO_META_KEY)
    return protocol.seen_client(Connection.from_envelope(MODERN, info, said[_ABLE]), "")
