"""An MCP client of a bridge: lists its tools and calls them. On the client's own loop."""

from __future__ import annotations

import json
import math
import mimetypes
import os
import tempfile
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp import Client
from mcp.client import ClientSession, InputRequiredRoundsExceededError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ElicitationFnT
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import Field

from dcc_bridge.elicitation.types import LEFT, LIMIT, STATUS, TASK_METHODS, TASKS

ASKING: Final = "asking"  # in place of how a call ended: it goes on, and asks
_DAY: Final = 86_400.0
_PATIENCE: Final = 2.0  # seconds for a host to take in that a call was left
_GET, _UPDATE, _CANCEL = TASK_METHODS
_AWAY: Final = 10.0  # seconds for which a host may be out of reach, until its task is given up
_SOON: Final = 0.1  # seconds until a task is looked at again that was just answered
_POLL: Final = 1000  # milliseconds until it is otherwise, where its host does not say
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
T = TypeVar("T", bound=types.Result)


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


class _Handle(types.Result):
    result_type: Literal["task"]
    task_id: str


class _TaskParams(types.RequestParams):
    task_id: str
    input_responses: dict[str, types.ElicitResult] | None = None


class _TaskRequest(types.Request[_TaskParams, str]):
    name_param = "taskId"


class _Look(types.Result):
    status: str
    status_message: str = ""
    poll_interval_ms: int = _POLL
    input_requests: dict[str, types.ElicitRequest] = Field(default_factory=dict)
    result: types.CallToolResult | None = None
    error: types.ErrorData | None = None


class TaskFollower(ClientExtension):
    """Follows a call that goes on as a task: answers its questions, and gives its result."""

    identifier = TASKS

    def __init__(self, answer: ElicitationFnT | None) -> None:
        self._answer = answer  # gives a person's answer; None where nobody can be asked
        self.task: str | None = None  # the id of the one that is followed; one at a time
        self.on_task: Callable[[str], None] = lambda task: None  # told the id of a new one
        self.on_progress: ProgressFnT | None = None  # told what it waits for

    def claims(self) -> list[ResultClaim[Any]]:
        """Say which result means a task."""
        return [ResultClaim(result_type="task", model=_Handle, resolve=self._resolve)]

    async def _resolve(self, handle: _Handle, context: ClaimContext) -> types.CallToolResult:
        self.on_task(handle.task_id)
        return await self.follow(context.session, handle.task_id)

    async def follow(self, session: ClientSession, task: str) -> types.CallToolResult:
        """Wait for the result of a task; MCPError: there is none, or nobody to ask for it."""
        self.task, replies = task, dict[str, Any]()
        while (look := await self._look(session, task)).status in ("working", "input_required"):
            if self.on_progress is not None:
                await self.on_progress(0.0, None, look.status_message)
            new = [key for key in look.input_requests if key not in replies][:1]
            if new and self._answer is None:
                self.task = None
                return _left_open(task, look.input_requests[new[0]].params)
            for key in new:
                if (reply := await self._ask(session, task, key, look)) is not None:
                    replies[key] = reply
            open_ = {key: it for key, it in replies.items() if key in look.input_requests}
            if open_:  # also what was sent before: it may be lost
                with suppress(MCPError):  # the next look shows whether it was taken
                    params = {"task_id": task, "input_responses": open_}
                    await _send(session, _UPDATE, types.EmptyResult, **params)
            await anyio.sleep(_SOON if new else look.poll_interval_ms / 1000)
        self.task = None
        if look.error is not None:
            raise MCPError.from_error_data(look.error)
        text = types.TextContent(text=look.status_message or "The call was cancelled.")
        return look.result or types.CallToolResult(content=[text], is_error=True)

    async def leave(self, session: ClientSession) -> None:
        """Give up the task that is followed."""
        if self.task is not None:
            await _send(session, _CANCEL, types.EmptyResult, task_id=self.task)

    async def _ask(self, session: ClientSession, task: str, key: str, look: _Look) -> Any:
        """Put a question to the person; None where it ended elsewhere before they answered."""
        params, replies = look.input_requests[key].params, list[Any]()
        context: Any = None  # of a request of the host's own, which this is not

        async def ask() -> None:
            replies.append(self._answer and await self._answer(context, params))
            prompt.cancel_scope.cancel()

        async with anyio.create_task_group() as prompt:
            prompt.start_soon(ask)
            with suppress(MCPError):
                while key in look.input_requests:
                    await anyio.sleep(look.poll_interval_ms / 1000)
                    look = await self._look(session, task)
            prompt.cancel_scope.cancel()
        return replies[0] if replies else None

    async def _look(self, session: ClientSession, task: str) -> _Look:
        """Look at a task; a connection that breaks loses nothing."""
        give_up_at = anyio.current_time() + _AWAY
        while True:
            try:
                return await _send(session, _GET, _Look, task_id=task)
            except MCPError as error:
                if error.code != types.CONNECTION_CLOSED or anyio.current_time() > give_up_at:
                    raise
            await anyio.sleep(_SOON)


async def _send(session: ClientSession, method: str, result: type[T], **params: Any) -> T:
    request = _TaskRequest(method=method, params=_TaskParams(**params))
    return await session.send_request(request, result)


def time_left(params: types.ElicitRequestParams) -> tuple[float, str]:
    """Tell how many seconds a question stays open, and until when that is, in words."""
    limit = dict[str, Any](params.meta or {}).get(LIMIT, math.inf)  # an older bridge's has none
    ends = time.localtime(time.time() + min(limit, _DAY))
    return limit, time.strftime("by %H:%M:%S", ends) if limit < _DAY else "soon"


def _left_open(task: str, params: types.ElicitRequestParams) -> types.CallToolResult:
    """Say that a call goes on and asks, where nobody can be asked."""
    text = types.TextContent(
        text=f"The call goes on, and waits for an answer: {params.message}\nNobody can be asked "
        "here, so the question stays open. Answer it in the application, or "
        f"{time_left(params)[1]} with: dcc-bridge call --resume {task}"
    )
    return types.CallToolResult(content=[text], is_error=True, _meta={STATUS: ASKING})


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
            Tool(tool.name, _risk(tool), tool.description or "", _arguments(tool.input_schema))
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


def _arguments(schema: Schema) -> tuple[str, ...]:
    """Say of each argument of a tool what it is called, what it takes, and if it is required."""
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    return tuple(_argument(name, field, name in required, schema) for name, field in fields.items())


def _argument(name: str, field: Any, required: bool, schema: Schema) -> str:
    if required:
        return f"{name}: {_noun(field, schema)}, required"
    default = field.get("default") if isinstance(field, Mapping) else None
    text = "" if default in (None, "", [], {}) else json.dumps(default, ensure_ascii=False)
    return f"{name}: {_noun(field, schema)}, optional" + (f" [{text}]" if text else "")


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
