"""An MCP client of a bridge: lists its tools and calls them. On the client's own loop."""

from __future__ import annotations

import json
import mimetypes
import os
import tempfile
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp import Client
from mcp.client import InputRequiredRoundsExceededError
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from dcc_bridge.elicitation.types import LEFT

_PATIENCE: Final = 2.0  # seconds for a host to take in that a call was left
_NOUNS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
_MOST: Final = 8  # values of a choice that are named
Schema = Mapping[str, Any]


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


def parse_text(text: str) -> Any:
    """Read a text as JSON; one that is none is given as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class Agent:
    """A connected client."""

    def __init__(self, client: Client) -> None:
        self._client = client
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
            Tool(tool.name, _risk(tool), tool.description or "", _arguments(tool.input_schema))
            for tool in tools
        ]

    async def call(
        self, tool: str, arguments: dict[str, Any], on_progress: ProgressFnT | None = None
    ) -> Result:
        """Call a tool, and answer what it asks. An error of the protocol is one of the call."""
        self._asked = None
        try:
            result = await self._client.call_tool(tool, arguments, progress_callback=on_progress)
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

    async def _call(self, *args: Any, **options: Any) -> Any:
        result = await self._send(*args, **options)
        self._asked = result if isinstance(result, types.InputRequiredResult) else None
        for request in ((self._asked and self._asked.input_requests) or {}).values():
            if request.params is not None:
                request.params.meta = result.meta  # where the older era has it
        return result

    async def _leave(self, tool: str, arguments: dict[str, Any]) -> None:
        """End a call at its question; where only a request is open, the SDK has cancelled that."""
        if self._asked is None:
            return
        left = types.ElicitResult(action="cancel", _meta={LEFT: True})
        answers = dict.fromkeys(self._asked.input_requests or (), left)
        again = {"input_responses": answers, "request_state": self._asked.request_state}
        # where the host is gone, or the call has ended, there is nothing to leave
        with anyio.move_on_after(_PATIENCE, shield=True), suppress(MCPError):
            await self._call(tool, arguments, **again, allow_input_required=True)


def _risk(tool: types.Tool) -> str:
    hints = tool.annotations
    if hints is not None and hints.read_only_hint:
        return "read"
    return "edit" if hints is not None and hints.destructive_hint is False else "destructive"


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


# ---- the arguments of a tool, as a person reads them


def _arguments(schema: Schema) -> tuple[str, ...]:
    """Say of each argument of a tool what it is called, what it takes, and if it is required."""
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    return tuple(_argument(name, field, name in required, schema) for name, field in fields.items())


def _argument(name: str, field: Any, required: bool, schema: Schema) -> str:
    if required:
        return f"{name}: {_noun(field, schema)}, required"
    default = field.get("default") if isinstance(field, Mapping) else None
    return f"{name}: {_noun(field, schema)}, optional" + (
        "" if default in (None, "", [], {}) else f" [{json.dumps(default, ensure_ascii=False)}]"
    )


def _noun(field: Any, schema: Schema, depth: int = 0) -> str:
    """Say what a field is; a schema that says nothing of it, or goes round in circles, is any."""
    if not isinstance(field, Mapping) or depth > _MOST:
        return "anything"
    if "$ref" in field:
        kind = str(field["$ref"]).rpartition("/")[2]
        return _noun(schema.get("$defs", {}).get(kind), schema, depth + 1)
    values = field.get("enum") or ([field["const"]] if "const" in field else [])
    if values:
        more = ["..."] if len(values) > _MOST else []
        return " | ".join([*map(json.dumps, values[:_MOST]), *more])
    for several in ("anyOf", "oneOf"):
        if several in field:
            kinds = [_noun(option, schema, depth + 1) for option in field[several]]
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null"))
    if field.get("properties"):
        return f"({', '.join(field['properties'])})"
    noun = _NOUNS.get(str(field.get("type")), "anything")
    inner = field.get("items")
    return f"list of {_noun(inner, schema, depth + 1)}" if noun == "list" and inner else noun
