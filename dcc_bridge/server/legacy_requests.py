"""Refuses legacy requests that the SDK would run without a proper answer. Worker.

The SDK has one stream for each request id of a legacy session. If several requests with one id are
open at once, the SDK runs them all and answers one. So a second request with an id is refused until
the first is answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import anyio
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge import json_rpc
from dcc_bridge.server.auth import MAX_BODY_BYTES

_VERSION: Final = b"mcp-protocol-version"
_SESSION: Final = b"mcp-session-id"


Key = tuple[str, str]


def _key(session: str, request_id: object) -> Key:
    """Return the key of a request. The SDK's streams do not distinguish the ids 1 and "1"."""
    return session, str(request_id)


class RunningRequests:
    """The ids of the requests of legacy sessions that the SDK has begun to handle."""

    def __init__(self) -> None:
        self._running: Counter[Key] = Counter()

    def has(self, key: Key) -> bool:
        """Return whether a request is being handled."""
        return key in self._running

    @contextmanager
    def note(self, session: str, request_id: object) -> Iterator[None]:
        """Count a request as running during a ``with`` block, even if its stream is lost."""
        key = _key(session, request_id)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]


class _Exchange:
    """A request that is being answered.

    Attributes:
        is_answered: Whether the last part of the response was sent.
        ended: Set once the SDK's transport is done with the request.
    """

    def __init__(self, send: Send) -> None:
        self.is_answered = False
        self.ended = anyio.Event()
        self._send = send

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.is_answered = True
        await self._send(message)


class LegacyRequests:
    """ASGI application: refuses the requests described above, and passes on all others.

    Args:
        app: Serves all other requests.
        running: The requests that the SDK handles, with or without a stream.
    """

    def __init__(self, app: ASGIApp, running: RunningRequests) -> None:
        self._app = app
        self._running = running
        self._exchanges: dict[Key, _Exchange] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        headers = dict(reversed(scope["headers"]))  # the first value of a repeated header
        version = headers.get(_VERSION)
        is_legacy = version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS
        if scope["method"] != "POST" or not is_legacy:
            await self._app(scope, receive, send)
            return
        received = await _receive_body(receive)
        again = receive_again(received, receive)
        try:
            message = from_json(b"".join(part.get("body", b"") for part in received))
        except ValueError:
            await self._app(scope, again, send)  # the SDK reports the error in the JSON
            return
        if not _is_valid(message):
            refusal = JSONResponse(json_rpc.invalid_request(message), 400)
            await refusal(scope, again, send)
            return
        session = headers.get(_SESSION, b"").decode("latin-1")
        if not session or "method" not in message or "id" not in message:
            await self._app(scope, again, send)
            return
        await self._serve(session, message["id"], scope, again, send)

    async def _serve(
        self, session: str, request_id: object, scope: Scope, receive: Receive, send: Send
    ) -> None:
        key = _key(session, request_id)
        if await self._is_under_way(key):
            why = json_rpc.id_in_use(request_id)
            refusal = JSONResponse(json_rpc.error_response(request_id, why), 400)
            await refusal(scope, receive, send)
            return
        exchange = _Exchange(send)
        self._exchanges[key] = exchange
        try:
            await self._app(scope, receive, exchange.send)
        finally:
            del self._exchanges[key]
            exchange.ended.set()

    async def _is_under_way(self, key: Key) -> bool:
        """Wait for the end of an answered request; return whether one is not answered yet."""
        exchange = self._exchanges.get(key)
        while exchange is not None:
            if not exchange.is_answered:
                return True
            await exchange.ended.wait()
            exchange = self._exchanges.get(key)
        return self._running.has(key)


def _is_valid(message: Any) -> bool:
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        return False
    return not json_rpc.has_odd_id(message)


async def _receive_body(receive: Receive) -> list[Message]:
    """Receive a request's body, until it is larger than the SDK accepts."""
    received: list[Message] = []
    size = 0
    while size <= MAX_BODY_BYTES:
        message = await receive()
        received.append(message)
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    return received


def receive_again(received: Sequence[Message], receive: Receive) -> Receive:
    """Return a function that first returns messages again, and then receives further ones.

    Args:
        received: The messages that were received already.
        receive: Receives the messages after them.
    """
    pending = [*received]

    async def next_message() -> Message:
        if pending:
            return pending.pop(0)
        return await receive()

    return next_message
