"""The proxy's own MCP server, by which a client chooses a host. On the proxy's loop.

While no host is there, the lobby answers every request. It is the SDK's low-level server, which
handles handshakes, versions and subscriptions in both eras. It declares all capabilities that a
host may have, because a client asks for them only once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import from_json

from dcc_bridge import json_rpc
from dcc_bridge.client.proxy.client_state import SET_LEVEL
from dcc_bridge.client.proxy.first_words import DISCOVERED, GREETING, SERVER_INFO
from dcc_bridge.client.proxy.host_choice import HostChoice, describe
from dcc_bridge.elicitation.types import SKILL_METHODS
from dcc_bridge.known_clients import handshake_capabilities

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

Context = ServerRequestContext[Any]
Hear = Callable[[types.JSONRPCMessage], Awaitable[None]]

_HOST_FIELDS: Final = {
    "id": {"type": "string"},
    "host": {"type": "string"},
    "version": {"type": "string"},
    "scene": {"type": "string"},
    "state": {"type": "string"},
}
_HOST: Final = {  # as `Instance.told` returns it
    "type": "object",
    "properties": _HOST_FIELDS,
    "required": list(_HOST_FIELDS),
}
_IN_USE: Final = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "description": "The id of the host you work in.",
}
_LIST: Final = types.Tool(
    name="list_hosts",
    title="List hosts",
    description="List the applications that are running on this computer, the scene that is open "
    "in each, and in which of them you work. Use it if there are no tools for a scene.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    output_schema={
        "type": "object",
        "properties": {"hosts": {"type": "array", "items": _HOST}, "in_use": _IN_USE},
        "required": ["hosts", "in_use"],
    },
    annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
)
_USE: Final = types.Tool(
    name="use_host",
    title="Use host",
    description="Work in another running application. Your tools and resources are those of that "
    "application afterwards. Nothing in any scene is changed.",
    input_schema={
        "type": "object",
        "properties": {
            "host": {
                "type": "string",
                "description": "The id that list_hosts gives, such as maya-4f2a.",
            }
        },
        "required": ["host"],
        "additionalProperties": False,
    },
    output_schema={"type": "object", "properties": {"in_use": _IN_USE}, "required": ["in_use"]},
    annotations=types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
TOOLS: Final = (_LIST, _USE)
OWN: Final = frozenset(tool.name for tool in TOOLS)  # the names of the lobby's own tools
# The id of a message at its beginning; an "id" further on may be that of an argument.
_ID: Final = re.compile(
    r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]*")\s*[,}]'
)


class LobbyLink:
    """The connection to the lobby, which keeps the era of its first request.

    The exception is a probe ("server/discover"): if it is not answered in time, the specification
    lets a client send the handshake on the same connection. The lobby is then started anew.

    Args:
        lobby: The lobby.
        hear: Receives each message of the lobby.
        tasks: The group of tasks in which the lobby runs.
    """

    def __init__(self, lobby: Lobby, hear: Hear, tasks: TaskGroup) -> None:
        self._lobby = lobby
        self._hear = hear
        self._tasks = tasks
        self._is_probed = False
        # The requests of which the lobby's answers are dropped.
        self._ignored_ids: set[types.RequestId] = set()
        self._put = self._begin()

    def say(self, message: types.JSONRPCMessage) -> None:
        """Send a message to the lobby."""
        if isinstance(message, types.JSONRPCRequest):
            if self._is_probed and message.method == "initialize":
                # The probe may have the handshake's id, so the old lobby's answer is dropped.
                self._ignored_ids.add(message.id)
                self._ignored_ids = set()
                self._put = self._begin()
            self._is_probed = message.method == "server/discover"
        self._put.send_nowait(SessionMessage(message))

    def _begin(self) -> MemoryObjectSendStream[SessionMessage | Exception]:
        put, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        outbox, answers = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks.start_soon(self._lobby.server.run, inbox, outbox, self._lobby.options)
        self._tasks.start_soon(_pass_on, answers, self._ignored_ids, self._hear)
        return put


class UnreadableLine(Exception):
    """A line of the client is no message.

    Attributes:
        answer: The error to send to the client, with the line's id if it can be read.
    """

    def __init__(self, answer: types.JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


def read_line(line: bytes) -> types.JSONRPCMessage:
    """Read a message of the client, as the SDK does.

    Args:
        line: The line, with or without its end.

    Returns:
        The message.

    Raises:
        UnreadableLine: The line is no message, or a request whose id the SDK would change.
    """
    text = line.decode("utf-8", "replace")
    try:
        payload = from_json(text)
    except ValueError:
        raise UnreadableLine(_parse_error(text)) from None
    with suppress(ValidationError):
        message = types.jsonrpc_message_adapter.validate_python(payload, by_name=False)
        if not json_rpc.has_odd_id(payload):
            return message
    answer = types.JSONRPCError.model_validate(json_rpc.invalid_request(payload))
    raise UnreadableLine(answer)


def _parse_error(text: str) -> types.JSONRPCError:
    request_id = None
    match = _ID.match(text)
    if match is not None:
        request_id = json.loads(match[1])
    why = "This line is no JSON that can be read as a message; it was left out."
    error = types.ErrorData(code=types.PARSE_ERROR, message=why)
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


async def _pass_on(
    messages: MemoryObjectReceiveStream[SessionMessage],
    ignored_ids: set[types.RequestId],
    hear: Hear,
) -> None:
    """Pass on the messages of the lobby, except answers to requests with an ignored id."""
    async with messages:
        async for item in messages:
            if getattr(item.message, "id", None) not in ignored_ids:
                await hear(item.message)


class Lobby:
    """The server that answers the requests which no host answers.

    Args:
        choice: The host in which the client works, and the hosts that run.
        look: Updates `choice`.
        use: Changes to a host.

    Attributes:
        bus: Publishes events to a client of the modern era.
        server: The SDK's server.
    """

    def __init__(
        self,
        choice: HostChoice,
        look: Callable[[], Awaitable[None]],
        use: Callable[[Instance], Awaitable[None]],
    ) -> None:
        self._choice = choice
        self._look = look
        self._use = use
        self.bus = InMemorySubscriptionBus()
        self.server = self._make()

    @property
    def options(self) -> InitializationOptions:
        """The lobby's part of a handshake."""
        options = {
            **SERVER_INFO,
            "server_name": SERVER_INFO["name"],
            "server_version": SERVER_INFO["version"],
            **GREETING,
        }
        return InitializationOptions.model_validate(options)

    def _make(self) -> Server[Any]:
        nothing = _answer_with(types.EmptyResult())
        server: Server[Any] = Server(
            **types.Implementation.model_validate(SERVER_INFO).model_dump(),
            on_list_tools=_answer_with(types.ListToolsResult(tools=list(TOOLS))),
            on_call_tool=self._call,
            on_list_resources=_answer_with(types.ListResourcesResult(resources=[])),
            on_list_resource_templates=_answer_with(
                types.ListResourceTemplatesResult(resource_templates=[])
            ),
            on_read_resource=self._refuse,
            on_subscribe_resource=nothing,
            on_unsubscribe_resource=nothing,
            on_subscriptions_listen=ListenHandler(self.bus),
            on_list_prompts=_answer_with(types.ListPromptsResult(prompts=[])),
            on_get_prompt=self._refuse,
            on_completion=_answer_with(
                types.CompleteResult(completion=types.Completion(values=[]))
            ),
        )
        discovered = _answer_with(types.DiscoverResult.model_validate(DISCOVERED))
        server.add_request_handler("server/discover", types.RequestParams, discovered)
        list_method, get_method = SKILL_METHODS
        no_skills = {"resultType": "complete", "skills": [], "ttlMs": 0, "cacheScope": "private"}
        server.add_request_handler(
            list_method, types.PaginatedRequestParams, _answer_with(no_skills)
        )
        server.add_request_handler(get_method, types.RequestParams, self._refuse)
        server.middleware.append(_declare_pages)
        # As an argument, this handler would give a warning that the modern era has no levels.
        server.add_request_handler(SET_LEVEL, types.SetLevelRequestParams, nothing)
        return server

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await self._look()
        arguments = params.arguments or {}
        if params.name == _LIST.name:
            return self._list_hosts()
        if params.name == _USE.name:
            return await self._use_host(str(arguments.get("host", "")))
        return _result(f"{params.name} was not called. {self._choice.why_none()}", is_error=True)

    def _list_hosts(self) -> types.CallToolResult:
        chosen = self._choice.chosen
        running = self._choice.running
        in_use = None
        if chosen is not None and chosen.id in [host.id for host in running]:
            in_use = chosen.id
        text = self._choice.why_none()
        if in_use is not None:
            text = f"{self._choice.summary()} You work in {in_use}."
        hosts = [{**host.told(), "in_use": host.id == in_use} for host in running]
        return _result(text, structured={"hosts": hosts, "in_use": in_use})

    async def _use_host(self, name: str) -> types.CallToolResult:
        try:
            host = self._choice.use(name)
        except LookupError as error:
            return _result(error.args[0], is_error=True)
        await self._use(host)
        text = f"You work in {describe(host)} now. Your tools are those of {host.host}: list them."
        return _result(text, structured={"in_use": host.id})

    async def _refuse(self, context: Context, params: Any) -> Any:
        raise MCPError(code=types.INVALID_REQUEST, message=self._choice.why_none())


async def _declare_pages(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Declare the extension of pages in a handshake, to a client that draws them."""
    answer = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(answer, dict):
        client = (ctx.params or {}).get("capabilities", {})
        answer["capabilities"] = handshake_capabilities(answer["capabilities"], client)
    return answer


def _answer_with(result: Any) -> Callable[[Context, Any], Awaitable[Any]]:
    """Return a handler that always returns the same result, such as an empty list."""

    async def answer(context: Context, params: Any) -> Any:
        return result

    return answer


def _result(
    text: str, *, structured: dict[str, Any] | None = None, is_error: bool = False
) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=structured, is_error=is_error
    )
