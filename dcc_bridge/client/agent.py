"""A real MCP client of a bridge: connects over HTTP with a token, lists tools and calls them.

On the client's own anyio loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client import InputRequiredRoundsExceededError
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from dcc_bridge.client.person import Person
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.errors import SchemaError, Unreachable

Era = Literal["auto", "legacy"]

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
"""Seconds; the server sends something every 15 s while a person decides."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a host offers.

    Attributes:
        name: Its name.
        risk: "read", "edit" or "destructive", as far as the server says.
        description: What it does.
    """

    name: str
    risk: str
    description: str


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
        return [Tool(tool.name, _risk(tool), tool.description or "") for tool in tools]

    async def call(
        self, tool: str, arguments: dict[str, Any], on_progress: ProgressFnT | None = None
    ) -> Result:
        """Call a tool, and answer what it asks. An error of the protocol is an error of the call.

        Raises:
            Unreachable: The host went away.
        """
        try:
            result = await self._client.call_tool(tool, arguments, progress_callback=on_progress)
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise
            return Result((error.message,), is_error=True)
        except InputRequiredRoundsExceededError as error:
            return Result((f"{tool} asked too many questions: {error}",), is_error=True)
        texts = tuple(_text(part) for part in result.content)
        return Result(texts, result.structured_content, bool(result.is_error), result.meta)


@asynccontextmanager
async def connect(
    url: str, token: str, *, era: Era = "auto", person: Person | None = None
) -> AsyncIterator[Agent]:
    """Connect to a bridge.

    Args:
        url: Where it is: on this computer, for the token travels in the clear.
        token: Proves who we are.
        era: "legacy" speaks 2025-11-25, in which the server asks in the middle of a request.
        person: Answers questions. With None the client declares that it cannot ask anybody.

    Raises:
        Unreachable: Nothing answers there, it is no bridge, it refuses the token, or it went away.
    """
    if urlsplit(url).hostname not in _LOOPBACK:
        raise Unreachable(url, "only a host on this computer is given the token")
    seen = _Seen()
    try:
        async with (
            _http(token, seen) as http,
            Client(
                streamable_http_client(url, http_client=http),
                mode=era,
                elicitation_callback=_callback(person) if person is not None else None,
                client_info=types.Implementation(name="dcc-bridge", version="1"),
            ) as client,
        ):
            seen.is_connected = True
            yield Agent(client)
    except BaseExceptionGroup as group:
        raise seen.explained(url, _lone(group)) from None


class _Seen:
    """What is known of a connection when it fails."""

    def __init__(self) -> None:
        self.is_connected = False
        self._status = 0

    async def note(self, response: httpx2.Response) -> None:
        self._status = response.status_code

    def explained(self, url: str, error: BaseException) -> BaseException:
        """Give the error that the caller should see."""
        if not isinstance(error, MCPError | httpx2.HTTPError | httpx2.InvalidURL):
            return error
        if self.is_connected:
            return Unreachable(url, "it went away")
        if not isinstance(error, MCPError):
            return Unreachable(url, "nothing answers there")
        refused = self._status in (401, 403, 421)
        return Unreachable(url, "it does not know us" if refused else "it is no MCP server")


def _http(token: str, seen: _Seen) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"},
        timeout=_TIMEOUT,
        trust_env=False,  # a proxy of the environment would be told the token
        event_hooks={"response": [seen.note]},
    )


def _callback(person: Person) -> ElicitationFnT:
    async def answer(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        if not isinstance(params, types.ElicitRequestFormParams):
            heard = await person.visit(params.message, params.url)
            return types.ElicitResult(action=heard.action)
        try:
            form = parse(params.requested_schema)
        except SchemaError:  # to what cannot be drawn nobody has agreed
            return types.ElicitResult(action="cancel")
        heard = await person.ask(params.message, form)
        content = dict(heard.content) if isinstance(heard.content, Mapping) else None
        return types.ElicitResult(action=heard.action, content=content)

    return answer


def _risk(tool: types.Tool) -> str:
    told = tool.annotations
    if told is not None and told.read_only_hint:
        return "read"
    return "edit" if told is not None and told.destructive_hint is False else "destructive"


def _text(part: types.ContentBlock) -> str:
    if isinstance(part, types.TextContent):
        return part.text
    return f"[{part.type}: {getattr(part, 'mime_type', None) or 'not shown here'}]"


def _lone(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Give the one error that task groups have wrapped, or the group where there are several."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
