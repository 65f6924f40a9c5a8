"""Messages that the proxy makes or changes itself, and what HTTP says beside them. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import mcp_types as types
from mcp.shared import inbound
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER

from dcc_bridge.elicitation.types import TASK_METHODS

CHANGED: Final = (
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
)
"""The notices that a client gets when it works in another host."""
CANCELLED: Final = "notifications/cancelled"
LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
LIST: Final = "tools/list"
Params = dict[str, Any]
# The arguments of a tool that are sent as a header too, by the tool's name.
HeaderMaps = Mapping[str, Mapping[tuple[str, ...], str]]
OWN_ID: Final = "dcc_bridge-"
"""The beginning of the ids of the proxy's own requests."""
_ids = count(1)


def own_request(method: str, params: Params | None) -> types.JSONRPCRequest:
    """Return a request of the proxy's own, with an id that no client uses."""
    request_id = f"{OWN_ID}{next(_ids)}"
    return types.JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params)


def make_notice(method: str, params: Params | None = None) -> types.JSONRPCNotification:
    """Return a notification."""
    return types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)


def failure(request: types.JSONRPCRequest, why: str) -> types.JSONRPCResponse | types.JSONRPCError:
    """Return the answer to a request that cannot be served.

    Args:
        request: The request.
        why: The reason, in a sentence.

    Returns:
        For a call of a tool a result, which the agent can read; else an error of the protocol.
    """
    if request.method != "tools/call":
        error = types.ErrorData(code=types.CONNECTION_CLOSED, message=why)
        return types.JSONRPCError(jsonrpc="2.0", id=request.id, error=error)
    result = types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)
    payload = result.model_dump(by_alias=True, exclude_none=True, mode="json")
    if version(request) is None:
        payload.pop("resultType", None)  # the legacy era has no such member
    return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=payload)


def preceded(response: types.JSONRPCResponse, text: str) -> types.JSONRPCResponse:
    """Return the response to a call with a sentence of ours before the texts of the tool."""
    content = [{"type": "text", "text": text}, *response.result["content"]]
    return response.model_copy(update={"result": {**response.result, "content": content}})


def version(request: types.JSONRPCRequest) -> str | None:
    """Return the version that a request of the modern era names; None for the legacy era."""
    params = request.params or {}
    meta = params.get("_meta")
    if not isinstance(meta, Mapping):
        return None
    name = meta.get(types.PROTOCOL_VERSION_META_KEY)
    if not isinstance(name, str):
        return None
    return name


def headers(request: types.JSONRPCRequest, modern: str, maps: HeaderMaps) -> dict[str, str]:
    """Return the headers of HTTP for a request of the modern era.

    Args:
        request: The request.
        modern: The version that the request names.
        maps: The arguments that are sent as a header, for each tool that was listed. Of another
            tool no argument is.
    """
    params: Params = request.params or {}
    fields = {MCP_PROTOCOL_VERSION_HEADER: modern, inbound.MCP_METHOD_HEADER: request.method}
    name = _name_header(request.method, params)
    if name is None:
        return fields
    fields[inbound.MCP_NAME_HEADER] = inbound.encode_header_value(name)
    arguments = params.get("arguments")
    if name in maps and isinstance(arguments, Mapping):
        fields |= inbound.mcp_param_headers(maps[name], arguments)
    return fields


def _name_header(method: str, params: Params) -> str | None:
    """Return the name of the tool, prompt, resource or task that a request is for."""
    key = inbound.NAME_BEARING_METHODS.get(method)
    if key is None and method in TASK_METHODS:
        key = "taskId"
    if key is None:
        return None
    name = params.get(key)
    if not isinstance(name, str):
        return None
    return name


def header_map(tool: Mapping[str, Any]) -> Mapping[tuple[str, ...], str]:
    """Return the arguments of a listed tool that are sent as a header too."""
    schema = tool.get("inputSchema")
    if inbound.find_invalid_x_mcp_header(schema) is not None:
        return {}
    return inbound.x_mcp_header_map(schema)
