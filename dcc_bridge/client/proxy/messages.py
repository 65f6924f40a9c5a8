"""Messages that the proxy makes or changes itself, and HTTP headers of messages. Any thread."""

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
"""The notices that a client gets when it changes to another host."""
CANCELLED: Final = "notifications/cancelled"
LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
LIST: Final = "tools/list"
Params = dict[str, Any]
# For each tool, by its name: the header that repeats an argument, by the argument's path.
HeaderMaps = Mapping[str, Mapping[tuple[str, ...], str]]
OWN_ID: Final = "dcc_bridge-"
"""The prefix of the ids of the proxy's own requests."""
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
        For a call of a tool an error result, which the agent can read; else a protocol error.
    """
    if request.method != "tools/call":
        error = types.ErrorData(code=types.CONNECTION_CLOSED, message=why)
        return types.JSONRPCError(jsonrpc="2.0", id=request.id, error=error)
    result = types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)
    payload = result.model_dump(by_alias=True, exclude_none=True, mode="json")
    if version(request) is None:
        payload.pop("resultType", None)  # the legacy era has no such member
    return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=payload)


def with_text_before(response: types.JSONRPCResponse, text: str) -> types.JSONRPCResponse:
    """Return the response to a call with a text added before those of the tool."""
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
    """Return the HTTP headers for a request of the modern era.

    Args:
        request: The request.
        modern: The version that the request names.
        maps: The headers that repeat arguments, for each tool that was listed.
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
    """Return the name of the request's tool, prompt, resource or task, if it has one."""
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
    """Return the headers that repeat arguments of a listed tool, by the arguments' paths."""
    schema = tool.get("inputSchema")
    if inbound.find_invalid_x_mcp_header(schema) is not None:
        return {}
    return inbound.x_mcp_header_map(schema)
