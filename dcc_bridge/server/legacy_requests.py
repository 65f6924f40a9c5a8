"""Refuses legacy messages that the SDK would not answer, or answer unreadably. Worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcc_bridge.elicitation import json_rpc
from dcc_bridge.server.auth import MOST_BODY

_VERSION: Final = b"mcp-protocol-version"


class LegacyRequests:
    """ASGI application: refuses what is said above, and passes every other request on.

    Args:
        app: Where other requests go.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        headers = dict(reversed(scope["headers"]))  # of one that came twice the first value
        version = headers.get(_VERSION)
        is_legacy = version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS
        if scope["method"] != "POST" or not is_legacy:
            await self._app(scope, receive, send)
            return
        received = await _receive_body(receive)
        again = receive_again(received, receive)
        try:
            message = from_json(b"".join(it.get("body", b"") for it in received))
        except ValueError:
            await self._app(scope, again, send)  # which says where it is no JSON
            return
        if not _is_valid(message):
            refusal = JSONResponse(json_rpc.invalid_request(message), 400)
            await refusal(scope, again, send)
            return
        await self._app(scope, again, send)


def _is_valid(message: Any) -> bool:
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        return False
    return not json_rpc.has_odd_id(message)


async def _receive_body(receive: Receive) -> list[Message]:
    """Receive what a request brings, up to the size at which the SDK refuses it."""
    received: list[Message] = []
    size = 0
    while size <= MOST_BODY:
        message = await receive()
        received.append(message)
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    return received


def receive_again(received: Sequence[Message], receive: Receive) -> Receive:
    """Return a function that gives messages of a request once more, and then those after them."""
    pending = [*received]

    async def next_message() -> Message:
        if pending:
            return pending.pop(0)
        return await receive()

    return next_message
