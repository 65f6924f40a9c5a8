"""An MCP client of a bridge: lists the bridge's tools and calls them. On the client's loop.

In the modern era of the protocol (from 2026 on) a question ends the request, and the client calls
again with the answer: a *round* of the call. In the legacy era the request stays open meanwhile.
"""

from __future__ import annotations

import json
import mimetypes
import os
import tempfile
from base64 import b64decode
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast
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
from dcc_bridge.elicitation.types import DRY_RUN, LEFT, STATUS

_LEAVE_TIMEOUT_S: Final = 2.0  # for telling the host that nobody waits for a call any more


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a host offers.

    Attributes:
        name: The name by which the tool is called.
        risk: "read", "edit" or "destructive", as far as the server says.
        description: The server's text on what the tool does.
        arguments: The arguments of the tool, a few words for each.
    """

    name: str
    risk: str
    description: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call.

    Attributes:
        texts: The texts of the result; the path of a picture; the kind of any other data.
        structured: The same result as data; None if the server sent only texts.
        is_error: Whether the call failed.
        meta: The ``_meta`` object of the result.
    """

    texts: tuple[str, ...]
    structured: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None

    @property
    def data(self) -> Any:
        """The result as data. If the server sent only texts, they are read as JSON."""
        if self.structured is not None:
            return self.structured
        values = [parse_text(text) for text in self.texts]
        if len(values) == 1:
            return values[0]
        return values

    @property
    def value(self) -> Any:
        """The value that a skill returned, without the protocol's ``{"result": ...}`` around it."""
        if self.structured is None and self.texts == ("Done.",):
            return None  # "Done." is the server's word for a skill that returns nothing
        data = self.data
        is_wrapped = isinstance(data, dict) and list(data) == ["result"]
        if is_wrapped and self.words == self.texts:
            return data["result"]
        return data

    @property
    def words(self) -> tuple[str, ...]:
        """The texts that do not merely repeat the data."""
        return tuple(text for text in self.texts if parse_text(text) != self.structured)

    @property
    def status(self) -> str:
        """How the call ended, as the runner names it; "" if the server does not say."""
        meta = self.meta or {}
        return str(meta.get(STATUS, ""))


def parse_text(text: str) -> Any:
    """Return the value of a text in JSON; any other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class Agent:
    """A client that is connected to a host and calls one tool at a time.

    Args:
        client: The SDK's client, which is connected.
        tasks: The extension of `client` that follows tasks; None if nobody can be asked.

    Attributes:
        tasks: Follows the calls that outlast their request.
    """

    def __init__(self, client: Client, tasks: TaskFollower | None = None) -> None:
        self._client = client
        self.tasks = tasks or TaskFollower(None)
        self._send = client.session.call_tool
        # The question that ended the latest round of the current call, in the modern era.
        self._question: types.InputRequiredResult | None = None
        # The SDK's loop over the rounds of a call has no hook, so `_call_round` replaces its step.
        vars(client.session)["call_tool"] = self._call_round
        # The SDK would list the tools to check each result, which the server has checked already.
        vars(client.session)["validate_tool_result"] = _skip_check

    @property
    def protocol(self) -> str:
        """The revision of the protocol that is spoken."""
        return self._client.protocol_version

    async def tools(self) -> list[Tool]:
        """Return the tools that the host offers.

        Raises:
            MCPError: The host refuses, or cannot be reached.
        """
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
        self,
        tool: str,
        arguments: dict[str, Any],
        on_progress: ProgressFnT | None = None,
        *,
        dry_run: bool = False,
    ) -> Result:
        """Call a tool, and answer its questions.

        Args:
            tool: The name of the tool.
            arguments: The arguments by their names.
            on_progress: Receives the progress that the host reports.
            dry_run: Whether the tool is tried and taken back; the result says what it would change.

        Returns:
            The result. An error of the protocol is a result with `is_error`.

        Raises:
            MCPError: The connection was closed.
        """
        meta: types.RequestParamsMeta | None = None
        if dry_run:
            meta = cast("types.RequestParamsMeta", {DRY_RUN: True})
        call = self._client.call_tool(tool, arguments, progress_callback=on_progress, meta=meta)
        return await self._run(call, on_progress, tool, arguments)

    async def resume(self, task: str, on_progress: ProgressFnT | None = None) -> Result:
        """Continue a call that is a task, as the client that made the call would.

        Args:
            task: The id of the task.
            on_progress: Receives the progress that the host reports.

        Returns:
            The result. An error of the protocol is a result with `is_error`.

        Raises:
            MCPError: The connection was closed.
        """
        return await self._run(self.tasks.follow(self._client.session, task), on_progress)

    async def _run(
        self,
        call: Awaitable[types.CallToolResult],
        on_progress: ProgressFnT | None,
        tool: str = "",
        arguments: dict[str, Any] | None = None,
    ) -> Result:
        """Await `call`, and leave the call if this task is cancelled.

        `tool` and `arguments` repeat those of the call; a task is left without them.
        """
        self._question = None
        self.tasks.task = None
        self.tasks.on_progress = on_progress
        try:
            result = await call
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise
            return Result((error.message,), is_error=True)
        except InputRequiredRoundsExceededError as error:
            return Result((f"{tool} asked too many questions: {error}",), is_error=True)
        except anyio.get_cancelled_exc_class():
            await self._leave(tool, arguments)
            raise
        texts = tuple(_text(part) for part in result.content)
        return Result(texts, result.structured_content, bool(result.is_error), result.meta)

    async def _call_round(self, *args: Any, **options: Any) -> Any:
        """Send one round of a call, and store the question with which the round ends."""
        result = await self._send(*args, **options)
        self._question = None
        if isinstance(result, types.InputRequiredResult):
            self._question = result
            requests: dict[str, Any] = result.input_requests or {}
            for request in requests.values():
                if request.params is not None:
                    request.params.meta = result.meta  # where legacy questions have it
        return result

    async def _leave(self, tool: str, arguments: dict[str, Any] | None) -> None:
        """Cancel the open question or task of a call. The SDK has cancelled an open request."""
        # MCPError: the host is gone or the call has ended, so there is nothing to leave.
        with anyio.move_on_after(_LEAVE_TIMEOUT_S, shield=True), suppress(MCPError):
            question = self._question
            if question is None:
                await self.tasks.leave(self._client.session)
                return
            cancel = types.ElicitResult(action="cancel", _meta={LEFT: True})
            await self._call_round(
                tool,
                arguments,
                input_responses=dict.fromkeys(question.input_requests or (), cancel),
                request_state=question.request_state,
                allow_input_required=True,
            )


def _risk(tool: types.Tool) -> str:
    """Return the risk of a tool by its hints; without hints it counts as destructive."""
    hints = tool.annotations or types.ToolAnnotations()
    if hints.read_only_hint:
        return "read"
    if hints.destructive_hint is False:
        return "edit"
    return "destructive"


async def _skip_check(name: str, result: types.CallToolResult) -> None:
    """Accept a result without a check."""


def _text(part: types.ContentBlock) -> str:
    """Return a part of a result as a text; a picture is written to a file."""
    if isinstance(part, types.TextContent):
        return part.text
    if isinstance(part, types.ResourceLink):
        uri = str(part.uri)
        if uri.startswith("file:"):
            return url2pathname(urlsplit(uri).path)
        return uri
    if isinstance(part, types.ImageContent):
        return _picture_file(part)
    kind = getattr(part, "mime_type", None) or "not shown here"
    return f"[{part.type}: {kind}]"


def _picture_file(picture: types.ImageContent) -> str:
    """Write a picture to a new temporary file, and return the path."""
    suffix = mimetypes.guess_extension(picture.mime_type, strict=False) or ""
    descriptor, path = tempfile.mkstemp(suffix, "dcc_bridge-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(b64decode(picture.data))
    return path
