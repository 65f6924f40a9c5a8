"""Answers a plain `tools/call` of a skill without the SDK's kernel, half of its cost. Worker.

A request is taken only if it is a modern one in which nothing is unusual, header by header and key
by key; every other one goes the SDK's way. So does one that is not answered soon, with its call as
it stands: questions, progress, streams and clients that leave are the SDK's alone.
"""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import Future
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp_types.methods import serialize_server_result, validate_client_request
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge.elicitation.call import Client
from dcc_bridge.jobs import client
from dcc_bridge.server import auth, protocol
from dcc_bridge.server.clients import SeenClient
from dcc_bridge.server.parked_calls import ParkedCall
from dcc_bridge.skills.registry import Entry

if TYPE_CHECKING:
    from dcc_bridge.server.mcp_server import Server

MODERN: Final = "2026-07-28"
STARTED: Final = "dcc_bridge.started"  # where a scope holds a call that began before the SDK's part
GONE: Final = "dcc_bridge.gone"  # and what is called when its connection is lost
SOON: Final = 1.0  # seconds after which the SDK takes over: well before it would ping
CALL: Final = "tools/call"
_MOST_META: Final = 4096  # characters of what a client says of itself, which is remembered
_MOST_NESTED: Final = 100  # lists and objects; how deep is too deep depends on the way
_LARGEST: Final = 2**53  # of an id
_VERSION, _ABLE = types.PROTOCOL_VERSION_META_KEY, types.CLIENT_CAPABILITIES_META_KEY
_META: Final = {_VERSION, _ABLE, types.CLIENT_INFO_META_KEY}
_KINDS: Final = (b"accept", b"content-length", b"content-type")
_ACCEPTED: Final = (b"application/json, text/event-stream", b"text/event-stream, application/json")

PlainCall = tuple[int | str, dict[str, Any], SeenClient]  # id, arguments, who says it calls


class FastPath:
    """ASGI application: answers plain calls, and passes every other request to the SDK."""

    def __init__(self, server: Server, sdk: ASGIApp) -> None:
        self._server = server
        self._sdk = sdk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        name = _tool(scope)
        skill = self._server.fetch_plain(name) if name is not None else None
        if name is None or skill is None:
            await self._sdk(scope, receive, send)
            return
        message = await receive()
        call = _read(message, name)
        body = await self._answer(name, skill, call, scope) if call is not None else None
        if body is None:
            await self._sdk(scope, _again(message, receive), send)
            return
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(
        self, name: str, skill: Future[Entry], call: PlainCall, scope: Scope
    ) -> bytes | None:
        """Run a skill; None where the SDK has to answer."""
        id_, arguments, said = call
        await asyncio.sleep(0)  # it is its client's turn, and others have theirs
        scope[auth.TURN]()
        caller = Client(scope[auth.LABEL], said.client.name, said.client.version)
        seen = SeenClient(caller, MODERN, said.form, said.url, time.time())
        client.set(seen.client.label)
        self._server.clients.note(seen)
        started = scope[STARTED] = await self._server.begin(name, skill, arguments, seen)
        result = await self._wait(started, scope) if isinstance(started, ParkedCall) else started
        return self._serialized(id_, result) if result is not None else None

    async def _wait(self, parked: ParkedCall, scope: Scope) -> types.CallToolResult | None:
        scope[GONE] = parked.stir
        timer = asyncio.get_running_loop().call_later(SOON, parked.stir)
        try:
            return await self._server.calls.begin_plain(parked)
        finally:
            timer.cancel()

    def _serialized(self, id_: int | str, result: types.CallToolResult) -> bytes | None:
        dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            dumped = serialize_server_result(CALL, MODERN, dumped)
        except ValidationError:
            return None
        dumped["_meta"][types.SERVER_INFO_META_KEY] = self._server.stamp
        reply = {"jsonrpc": "2.0", "id": id_, "result": dumped}
        return json.dumps(reply, separators=(",", ":")).encode()


def _tool(scope: Scope) -> str | None:
    """Give the tool that the headers of a request name; None where one of them is unusual."""
    headers = [it for it in scope["headers"] if it[0].startswith(b"mcp-") or it[0] in _KINDS]
    match scope["method"], sorted(headers):
        case (
            "POST",
            [
                (b"accept", accept),
                (b"content-length", _),
                (b"content-type", b"application/json"),
                (b"mcp-method", b"tools/call"),
                (b"mcp-name", name),
                (b"mcp-protocol-version", b"2026-07-28"),
            ],
        ) if accept in _ACCEPTED and name.isascii():
            return str(name, "ascii")
    return None


def _read(message: Message, name: str) -> PlainCall | None:
    """Read a request; None where a key of it is unusual."""
    body = message.get("body", b"")
    if message.get("more_body") or body.count(b"[") + body.count(b"{") > _MOST_NESTED:
        return None
    try:
        request = json.loads(body)
    except ValueError:
        return None
    match request:
        case {
            "jsonrpc": "2.0",
            "id": id_,
            "method": "tools/call",
            "params": {"name": str(named), "_meta": {**meta}, **params},
            **rest,
        } if named == name and not rest and params.keys() <= {"arguments"}:
            arguments, token = params.get("arguments", {}), meta.pop("progressToken", 0)
            is_plain = _is_id(id_) and _is_id(token) and meta.keys() <= _META
            if is_plain and isinstance(arguments, dict) and all(map(str.isascii, arguments)):
                text = json.dumps(meta)
                said = _client(text) if len(text) < _MOST_META else None
                return (id_, arguments, said) if said is not None else None
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


def _again(message: Message, receive: Receive) -> Receive:
    """Give a request's body once more, and then what comes after it."""
    pending = [message]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again
