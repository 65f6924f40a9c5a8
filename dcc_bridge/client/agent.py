"""An MCP client of a bridge: lists its tools and calls them. On the client's own loop."""

from __future__ import annotations

import json
import mimetypes
import os
import tempfile
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp import Client
from mcp.client import InputRequiredRoundsExceededError
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from dcc_bridge.client.argument_texts import argument_texts
from dcc_bridge.client.tasks import TaskFollower
from dcc_bridge.elicitation.types import LEFT, STATUS

_PATIENCE: Final = 2.0  # seconds for a host to take in that a call was left


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a host offers."""

    name: str
    risk: str  # "read", "edit" or "destructive", as far as the server says
    description: str
    arguments: tuple[str, ...] = ()  # what it takes, a few words for each argument


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call."""

    texts: tuple[str, ...]  # what it says; a picture by its path, other data by its kind
    structured: Any = None  # the same as data, where it has it
    is_error: bool = False  # it did not do what was asked
    meta: Mapping[str, Any] | None = None  # what the server adds

    @property
    def data(self) -> Any:
        """The same as data: where it has none, what its texts hold as JSON."""
        if self.structured is not None:
            return self.structured
        values = [parse_text(text) for text in self.texts]
        return values[0] if len(values) == 1 else values

    @property
    def value(self) -> Any:
        """What a skill returned, without the object that the protocol puts around it."""
        if self.structured is None and self.texts == ("Done.",):
            return None  # the server's word for it
        is_wrapped = isinstance(self.data, dict) and list(self.data) == ["result"]
        return self.data["result"] if is_wrapped and self.words == self.texts else self.data

    @property
    def words(self) -> tuple[str, ...]:
        """The texts that are not the data once more."""
        return tuple(text for text in self.texts if parse_text(text) != self.structured)

    @property
    def status(self) -> str:
        """How the call ended, as the runner names it; "" where the server does not say."""
        return str((self.meta or {}).get(STATUS, ""))


def parse_text(text: str) -> Any:
    """Read a text as JSON; one that is none is given as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class Agent:
    """A connected client."""

    def __init__(self, client: Client, tasks: TaskFollower | None = None) -> None:
        self._client = client
        self.tasks = tasks or TaskFollower(None)  # follows calls that outlast their request
        self._send = client.session.call_tool
        self._asked: types.InputRequiredResult | None = None  # last, by the call of now
        vars(client.session)["call_tool"] = self._call  # each round of a call goes through it
        # What is called is not always listed, and what a result is, is checked where it is made.
        vars(client.session)["validate_tool_result"] = _trust

    @property
    def protocol(self) -> str:
        """The revision of the protocol that is spoken."""
        return self._client.protocol_version

    async def tools(self) -> list[Tool]:
        """List what the host offers."""
        page = await self._client.list_tools()
        tools = list(page.tools)
        while page.next_cursor is not None:
            page = await self._client.list_tools(cursor=page.next_cursor)
            tools += page.tools
        return [
            Tool(tool.name, _risk(tool), tool.description or "", argument_texts(tool.input_schema))
            for tool in tools
        ]

    async def call(
        self, tool: str, arguments: dict[str, Any], on_progress: ProgressFnT | None = None
    ) -> Result:
        """Call a tool, and answer what it asks. An error of the protocol is one of the call."""
        call = partial(self._client.call_tool, tool, arguments, progress_callback=on_progress)
        return await self._run(call, on_progress, tool, arguments)

    async def resume(self, task: str, on_progress: ProgressFnT | None = None) -> Result:
        """Go on with a call that is a task, by its id, as the one who made it would."""
        return await self._run(partial(self.tasks.follow, self._client.session, task), on_progress)

    async def _run(
        self,
        call: Callable[[], Awaitable[types.CallToolResult]],
        on_progress: ProgressFnT | None,
        *what: Any,  # the tool and its arguments, where it is called
    ) -> Result:
        self._asked, self.tasks.task, self.tasks.on_progress = None, None, on_progress
        try:
            result = await call()
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise
            return Result((error.message,), is_error=True)
        except InputRequiredRoundsExceededError as error:
            return Result((f"{what[0]} asked too many questions: {error}",), is_error=True)
        except anyio.get_cancelled_exc_class():
            await self._leave(*what)
            raise
        texts = tuple(_text(part) for part in result.content)
        return Result(texts, result.structured_content, bool(result.is_error), result.meta)

    async def _call(self, *args: Any, **options: Any) -> Any:
        result = await self._send(*args, **options)
        self._asked = result if isinstance(result, types.InputRequiredResult) else None
        for request in ((self._asked and self._asked.input_requests) or {}).values():
            if request.params is not None:
                request.params.meta = result.meta  # where the older era has it
        return result

    async def _leave(self, *what: Any) -> None:
        """End a call at its question; where only a request is open, the SDK has cancelled that."""
        # where the host is gone, or the call has ended, there is nothing to leave
        with anyio.move_on_after(_PATIENCE, shield=True), suppress(MCPError):
            if self._asked is None:
                await self.tasks.leave(self._client.session)
                return
            left = types.ElicitResult(action="cancel", _meta={LEFT: True})
            answers = dict.fromkeys(self._asked.input_requests or (), left)
            again = {"input_responses": answers, "request_state": self._asked.request_state}
            await self._call(*what, **again, allow_input_required=True)


def _risk(tool: types.Tool) -> str:
    hints = tool.annotations or types.ToolAnnotations()
    edits = "edit" if hints.destructive_hint is False else "destructive"
    return "read" if hints.read_only_hint else edits


async def _trust(name: str, result: types.CallToolResult) -> None:
    """Take a result as it is."""


def _text(part: types.ContentBlock) -> str:
    if isinstance(part, types.TextContent):
        return part.text
    if isinstance(part, types.ResourceLink):
        uri = str(part.uri)
        return url2pathname(urlsplit(uri).path) if uri.startswith("file:") else uri
    if isinstance(part, types.ImageContent):
        return _picture_file(part)
    return f"[{part.type}: {getattr(part, 'mime_type', None) or 'not shown here'}]"


def _picture_file(picture: types.ImageContent) -> str:
    """Write a picture to a new temporary file; gives its path."""
    ending = mimetypes.guess_extension(picture.mime_type, strict=False) or ""
    descriptor, path = tempfile.mkstemp(ending, "dcc_bridge-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(b64decode(picture.data))
    return path
