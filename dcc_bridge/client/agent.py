"""A real MCP client of a bridge: lists its tools and calls them. On the client's own loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client import InputRequiredRoundsExceededError
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from dcc_bridge.client import arguments


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a host offers.

    Attributes:
        name: Its name.
        risk: "read", "edit" or "destructive", as far as the server says.
        description: What it does.
        arguments: What it takes, a few words for each argument.
    """

    name: str
    risk: str
    description: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call.

    Attributes:
        texts: What it says, in its own order; what is no text is named in brackets.
        structured: The same as data, where it has it.
        is_error: It did not do what was asked.
        meta: What the server adds.
    """

    texts: tuple[str, ...]
    structured: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None


class Agent:
    """A connected client."""

    def __init__(self, client: Client) -> None:
        """Take a client that is connected."""
        self._client = client

    @property
    def protocol(self) -> str:
        """The revision of the protocol that is spoken."""
        return self._client.protocol_version

    async def tools(self) -> list[Tool]:
        """List what the host offers."""
        found = await self._client.list_tools()
        tools = list(found.tools)
        while found.next_cursor is not None:
            found = await self._client.list_tools(cursor=found.next_cursor)
            tools += found.tools
        return [
            Tool(
                tool.name,
                _risk(tool),
                tool.description or "",
                tuple(arguments.told(tool.input_schema)),
            )
            for tool in tools
        ]

    async def call(
        self, tool: str, given: dict[str, Any], on_progress: ProgressFnT | None = None
    ) -> Result:
        """Call a tool, and answer what it asks. An error of the protocol is an error of the call.

        Raises:
            Unreachable: The host went away.
        """
        try:
            result = await self._client.call_tool(tool, given, progress_callback=on_progress)
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise
            return Result((error.message,), is_error=True)
        except InputRequiredRoundsExceededError as error:
            return Result((f"{tool} asked too many questions: {error}",), is_error=True)
        texts = tuple(_text(part) for part in result.content)
        return Result(texts, result.structured_content, bool(result.is_error), result.meta)


def _risk(tool: types.Tool) -> str:
    told = tool.annotations
    if told is not None and told.read_only_hint:
        return "read"
    return "edit" if told is not None and told.destructive_hint is False else "destructive"


def _text(part: types.ContentBlock) -> str:
    if isinstance(part, types.TextContent):
        return part.text
    return f"[{part.type}: {getattr(part, 'mime_type', None) or 'not shown here'}]"
