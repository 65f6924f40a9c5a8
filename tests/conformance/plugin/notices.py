"""Tools that send while they run, need a capability, or drop their own stream. Worker."""

from __future__ import annotations

from typing import Any, Final

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    EmptyResult,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
)

Told = Context[Any, Any]
_PAUSE: Final = 0.05


def add(server: MCPServer[Any]) -> None:
    """Add the tools, and the request that sets a level of logging."""
    server.tool()(test_tool_with_logging)
    server.tool()(test_logging_tool)
    server.tool()(test_sampling)
    server.tool()(test_missing_capability)
    server.tool()(test_reconnection)
    # A bridge sends no log messages of its own, and MCPServer has no public way to this request.
    server._lowlevel_server.add_request_handler(
        "logging/setLevel", SetLevelRequestParams, _set_level
    )


async def test_tool_with_logging(context: Told) -> str:
    """Send three messages, a moment apart."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(message)
        await anyio.sleep(_PAUSE)
    return "Logged."


async def test_logging_tool(context: Told) -> str:
    """Send a message, which goes nowhere unless the request said from which level on."""
    await context.info("A message.")
    return "Logged, if it was wanted."


async def test_sampling(prompt: str, context: Told) -> str:
    """Have the client's model say something.

    Args:
        prompt: What it is told.
    """
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    params = CreateMessageRequestParams(messages=[message], max_tokens=100)
    said = await context.session.send_request(
        CreateMessageRequest(params=params),
        CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=context.request_id),
    )
    return f"LLM response: {getattr(said.content, 'text', '')}"


async def test_missing_capability(context: Told) -> str:
    """Refuse a client that did not say that it has a model."""
    can = context.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs a client with a model.",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "There is a model."


async def test_reconnection(context: Told) -> str:
    """Drop the stream in the middle of the call; the client comes back for the result."""
    await context.close_sse_stream()
    await anyio.sleep(2 * _PAUSE)
    return "The client came back."


async def _set_level(
    ctx: ServerRequestContext[Any, Any], params: SetLevelRequestParams
) -> EmptyResult:
    return EmptyResult()
