"""Messages that the proxy makes or changes itself, and what HTTP says beside them. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import mcp_types as types
from mcp.shared import inbound
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER

from dcc_bridge.elicitation.types import TASK_METHODS

CHANGED: Final = tuple(  # what a client is told when it works in another host
    f"notifications/{what}/list_changed" for what in ("tools", "resources", "prompts")
)
CANCELLED: Final = "notifications/cancelled"
LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
LIST: Final = "tools/list"
Params = dict[str, Any]
# Which arguments of a tool are sent as a header too, by the tool's name.
HeaderMaps = Mapping[str, Mapping[tuple[str, ...], str]]
OWN_ID: Final = "dcc_bridge-"
_ids = count(1)


def own_request(method: str, params: Params | None) -> types.JSONRPCRequest:
    """Return a request of the proxy's own, with an id that no client uses."""
    number = f"{OWN_ID}{next(_ids)}"
    return types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)


def make_notice(method: str, params: Params | None = None) -> types.JSONRPCNotification:
    """Make a notification."""
    return types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)


def failure(request: types.JSONRPCRequest, why: str) -> types.JSONRPCResponse | types.JSONRPCError:
    """Answer a request that cannot be served; what an agent called tells it in a result."""
    if request.method != "tools/call":
        error = types.ErrorData(code=types.CONNECTION_CLOSED, message=why)
        return types.JSONRPCError(jsonrpc="2.0", id=request.id, error=error)
    result = types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)
    payload = result.model_dump(by_alias=True, exclude_none=True, mode="json")
    if version(request) is None:
        payload.pop("resultType", None)  # the legacy era has no such word
    return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=payload)


def preceded(response: types.JSONRPCResponse, text: str) -> types.JSONRPCResponse:
    """Put a sentence of ours before what a tool says."""
    content = [{"type": "text", "text": text}, *response.result["content"]]
    return response.model_copy(update={"result": {**response.result, "content": content}})


def version(request: types.JSONRPCRequest) -> str | None:
    """Give the version that a request of the modern era names; None for one of the legacy era."""
    meta = (request.params or {}).get("_meta")
    named = meta.get(types.PROTOCOL_VERSION_META_KEY) if isinstance(meta, Mapping) else None
    return named if isinstance(named, str) else None


def headers(request: types.JSONRPCRequest, modern: str, maps: HeaderMaps) -> dict[str, str]:
    """Give what HTTP says beside a request of the modern era, whose params are there.

    Of a tool that was never listed no argument is sent as a header.
    """
    params: Params = request.params or {}
    fields = {MCP_PROTOCOL_VERSION_HEADER: modern, inbound.MCP_METHOD_HEADER: request.method}
    key = "taskId" if request.method in TASK_METHODS else None
    key = inbound.NAME_BEARING_METHODS.get(request.method, key)
    name = params.get(key) if key is not None else None
    if isinstance(name, str):
        fields[inbound.MCP_NAME_HEADER] = inbound.encode_header_value(name)
        arguments = params.get("arguments")
        if name in maps and isinstance(arguments, Mapping):
            fields |= inbound.mcp_param_headers(maps[name], arguments)
    return fields


def header_map(tool: Mapping[str, Any]) -> Mapping[tuple[str, ...], str]:
    """Give which arguments of a listed tool are sent as a header too."""
    schema = tool.get("inputSchema")
    if inbound.find_invalid_x_mcp_header(schema) is not None:
        return {}
    return inbound.x_mcp_header_map(schema)
