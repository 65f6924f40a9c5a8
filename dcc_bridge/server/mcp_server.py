"""The MCP server: skills as tools, in both eras of the protocol on one URL. Worker."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from math import inf
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import Context as ToolContext
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ListToolsResult, Tool
from mcp_types.methods import serialize_server_result

from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.elicitation.types import DRY_RUN
from dcc_bridge.errors import BridgeError, SkillError, own_version
from dcc_bridge.host import Host
from dcc_bridge.instructions.reader import is_instruction_uri
from dcc_bridge.known_clients import ICON, REVISIONS
from dcc_bridge.server import chat_page, client_channel, protocol, resources
from dcc_bridge.server.call_starter import CallStarter
from dcc_bridge.server.client_channel import label_of
from dcc_bridge.server.clients import ClientRegistry
from dcc_bridge.server.legacy_requests import RunningRequests
from dcc_bridge.server.parked_calls import ParkedCalls
from dcc_bridge.server.protocol import CALL
from dcc_bridge.server.scope_keys import STARTED, TURN
from dcc_bridge.server.served_instructions import ServedInstructions
from dcc_bridge.server.state_seal import StateSeal
from dcc_bridge.server.tasks import Tasks
from dcc_bridge.skills.loader import Library
from dcc_bridge.skills.registry import Entry, Registry
from dcc_bridge.skills.runner import Runner
from dcc_bridge.threads.flows import wrap_future
from dcc_bridge.threads.jobs import client

_HANDSHAKE: Final = "initialize"
_LIST: Final = "tools/list"
_REQUEST_STATE_TTL_S: Final = 3600.0
IMPORT_WAIT_S: Final = 5.0
"""Seconds that a list of the tools waits for a busy main thread to import skill files."""
_WARM_UP_S: Final = 0.3
"""Seconds for `warm_up`, by which a start may take longer."""
_CHUNK_SIZE: Final = 16
"""Tools that are described or serialized in one turn of the event loop."""
_CACHE_HINTS: Final[dict[Any, CacheHint]] = {
    # In milliseconds. Clients are notified besides when the tools change.
    "server/discover": CacheHint(3_600_000),
    _LIST: CacheHint(60_000),
    "resources/list": CacheHint(600_000),
    "resources/templates/list": CacheHint(600_000),
}
_INSTRUCTIONS: Final = (
    "You work in {host}, in the scene that a person has open. Tools that delete or overwrite "
    "something ask that person first, and may take minutes: as a task, if your client has tasks. "
    "If a call times out, make it again with the same arguments: their answer is kept for it. When "
    "they say no, nothing was changed: do not try another way, ask them what they would like. "
    "Everything a tool changes is an undo step in the host."
)


class Server(MCPServer[Any]):
    """The SDK's server with the skills of a registry as tools. Plug-ins may add to it.

    Attributes:
        calls: The calls that outlive their requests.
        changes: Notifies clients of changes of the list of tools.
        clients: Stores each client that sends a message.
        library: Imports the skills of files.
        open_requests: Returns the number of open requests and streams.
        runner: Runs the skills.
        running: The ids of the requests that are handled now, of legacy sessions.
        scene: The scene's resources.
        starter: Starts skills for clients.
        stamp: The server's description of itself in each result of the modern era.
    """

    def __init__(
        self,
        host: Host,
        registry: Registry,
        runner: Runner,
        calls: ParkedCalls,
        tasks: Tasks,
        soon: client_channel.Soon,
        clients: ClientRegistry,
        scene: resources.SceneResources,
        library: Library,
        instructions: ServedInstructions,
    ) -> None:
        """Build the server, with the scene's resources and prompts.

        Args:
            host: The application.
            registry: The skills.
            runner: Runs the skills.
            calls: The calls that outlive their requests.
            tasks: The calls that clients follow by an id, after their requests have ended.
            soon: Calls a function on the worker's loop, from any thread.
            clients: Stores each client that sends a message.
            scene: The scene's resources.
            library: Imports the skills of files.
            instructions: Serves the texts that agents read.
        """
        self.calls = calls
        self.scene = scene
        self.clients = clients
        self.changes = resources.ToolListChanges(scene.bus, soon)
        registry.watch(self._forget_lists)  # first: a client that is notified may list at once
        registry.watch(self.changes.note)
        with _root_logger_untouched():
            super().__init__(
                name=f"dcc_bridge in {host.name}",
                title=host.name,
                description=f"The scene that is open in {host.name} {host.version}".strip(),
                version=own_version(),
                icons=[types.Icon.model_validate(ICON)],
                cache_hints=_CACHE_HINTS,
                instructions=_INSTRUCTIONS.format(host=host.name),
                request_state_security=RequestStateSecurity(
                    codec=StateSeal(), ttl=_REQUEST_STATE_TTL_S
                ),
                log_level="WARNING",
                subscriptions=scene.bus,
                extensions=[tasks, instructions, chat_page.ChatPage()],
                middleware=[
                    self._note_client,
                    self.changes.remember_session,
                    protocol.mark_malformed,
                    chat_page.tell_client,
                ],
            )
        self._adjust_sdk()
        self._plain_middleware = list(self.middleware)
        self._plain_handler = self._lowlevel_server.get_request_handler(CALL)
        self.stamp = self._lowlevel_server.server_info_stamp
        self._listing = anyio.Lock()
        self._forget_lists()
        self.library = library
        self._served_instructions = instructions
        self.open_requests: Callable[[], int] = int
        self.running = RunningRequests()
        self._registry = registry
        self.runner = runner
        self.starter = CallStarter(runner, calls, soon)
        self._host = host
        scene.serve(self)
        resources.ScenePrompts(registry, scene).serve(self)

    def _adjust_sdk(self) -> None:
        """Make the changes for which the SDK has no argument."""
        # Remove the SDK's middleware for tracing, which has no public name.
        self.middleware[:] = [
            middleware
            for middleware in self.middleware
            if "otel" not in type(middleware).__module__
        ]
        lowlevel = self._lowlevel_server
        # The legacy handshake has to declare that the list of tools may change.
        options = NotificationOptions(tools_changed=True)
        make = partial(lowlevel.create_initialization_options, options)
        lowlevel.create_initialization_options = make  # type: ignore[method-assign]  # its only way in
        lowlevel.get_capabilities = partial(self._capabilities, lowlevel.get_capabilities)  # type: ignore[method-assign]  # the same
        lowlevel.add_request_handler("server/discover", types.RequestParams, self._discover)
        self.middleware.append(self._fill_in)

    def add_instructions(self, text: str) -> None:
        """Add to the instructions of the agents that connect from now on. Any thread."""
        self._lowlevel_server.instructions = f"{self.instructions} {text}"

    def name_scene(self, scene: str) -> None:
        """Name the open scene in the server's title from now on. Any thread."""
        lowlevel = self._lowlevel_server
        title = protocol.show_hidden(f"{self._host.name}, {scene}")
        if lowlevel.title == title:
            return
        lowlevel.title = title
        lowlevel.__dict__.pop("_server_info_stamp_source", None)  # the SDK computes it only once
        self.stamp = lowlevel.server_info_stamp

    async def _discover(self, ctx: Any, params: Any) -> types.DiscoverResult:
        """Answer ``server/discover`` with the revisions of both eras; the SDK omits older ones."""
        lowlevel = self._lowlevel_server
        return types.DiscoverResult(
            supported_versions=list(REVISIONS),
            capabilities=lowlevel.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=lowlevel.instructions,
        )

    def _capabilities(self, make: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Return the server's capabilities, without prompts if there are none."""
        capabilities = make(*args, **more)
        if self._prompt_names():
            return capabilities
        return capabilities.model_copy(update={"prompts": None})

    def _prompt_names(self) -> set[str]:
        """Return the names of the prompts; a host without verbs lacks the prompts about verbs."""
        names = {prompt.name for prompt in self._prompt_manager.list_prompts()}
        if "list_items" in self._registry:
            return names
        return names - resources.PROMPTS

    async def _note_client(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Store which client sends a message, and handle the message. SDK middleware."""
        label = label_of(ctx)
        client.set(label)
        session = None
        if ctx.request is not None:
            ctx.request.scope[TURN]()
            session = ctx.request.headers.get("mcp-session-id")
        if ctx.method != _HANDSHAKE:  # nothing is known of a client until its handshake ends
            self.clients.note(protocol.seen_client(ctx.session, label))
        if session is None or ctx.request_id is None:
            return await call_next(ctx)
        with self.running.note(session, ctx.request_id):
            return await call_next(ctx)

    async def list_tools(self) -> list[Tool]:
        """List the skills, those that cannot be loaded, and tools added through the SDK."""
        tools = []
        for number, entry in enumerate(self._registry.entries()):
            try:
                tools.append(protocol.tool(entry))
            except SkillError as error:
                tools.append(protocol.unavailable(entry.skill.name, str(error)))
            if number % _CHUNK_SIZE == 0:  # a thousand schemas take half a second the first time
                await anyio.sleep(0)
        for name, why in sorted(self._registry.broken.items()):
            tools.append(protocol.unavailable(name, str(why)))
        return [*tools, *await super().list_tools()]

    async def list_prompts(self) -> list[Any]:
        """List the prompts."""
        names = self._prompt_names()
        prompts = await super().list_prompts()
        return [prompt for prompt in prompts if prompt.name in names]

    async def read_resource(self, uri: Any, context: Any = None) -> Any:
        """Read a resource, or one that no list names: a file of an instruction, the chat's page."""
        if is_instruction_uri(str(uri)):
            return [await self._served_instructions.read_file(str(uri))]
        if str(uri) == chat_page.URI:
            return [chat_page.content()]
        return await super().read_resource(uri, context)

    async def _handle_list_tools(self, ctx: Any, params: Any) -> ListToolsResult:
        await self._import_missing()
        if self._fills_in():
            return ListToolsResult(tools=[])
        return ListToolsResult(tools=await self.list_tools())

    def _fills_in(self) -> bool:
        """Return whether `_fill_in` is the innermost middleware, so that plug-ins see its list."""
        return self.middleware[-1] == self._fill_in

    async def _fill_in(self, ctx: Any, call_next: CallNext) -> HandlerResult:
        """Put the cached, serialized tools into the SDK's answer. SDK middleware."""
        answer = await call_next(ctx)
        if ctx.method == _LIST and self._fills_in() and isinstance(answer, dict):
            async with self._listing:
                tools = await self._serialized_tools(ctx.protocol_version)
            answer["tools"] = [tool.copy() for tool in tools]  # a plug-in may edit its own
        return answer

    async def _serialized_tools(self, version: str) -> list[Any]:
        """Return the tools, serialized for a revision of the protocol, from a cache."""
        added = await super().list_tools()
        if self._added != added:
            self._forget_lists(added)
        lists = self._lists  # `_forget_lists` replaces this dictionary after a change
        if version not in lists:
            tools = await self.list_tools()
            serialized: list[Any] = []
            for at in range(0, len(tools), _CHUNK_SIZE):
                part = ListToolsResult(tools=tools[at : at + _CHUNK_SIZE])
                data = part.model_dump(mode="json", by_alias=True, exclude_none=True)
                serialized += serialize_server_result(_LIST, version, data)["tools"]
                await anyio.sleep(0)
            lists[version] = serialized
        return lists[version]

    async def warm_up(self) -> None:
        """Prepare the first list and the first call, for at most `_WARM_UP_S` seconds."""
        with anyio.move_on_after(_WARM_UP_S):
            for era in REVISIONS[:2]:
                if not self.library.missing:  # else the first list is another one
                    await self._serialized_tools(era)
                result = protocol.failure("").model_dump(mode="json", by_alias=True)
                serialize_server_result(CALL, era, result)

    def _forget_lists(self, added: Sequence[Tool] = ()) -> None:
        """Drop the serialized lists of tools.

        Args:
            added: The tools added through the SDK, which does not report new ones.
        """
        self._added = list(added)
        self._lists: dict[str, list[Any]] = {}

    async def _import_missing(self) -> None:
        """Import the skill files without which the tools cannot be listed."""
        await wrap_future(self.library.read)
        imports = self.library.complete()
        if not imports:
            return
        self._forget_lists()
        with anyio.move_on_after(IMPORT_WAIT_S) as limit:
            for imported in imports:
                try:
                    await wrap_future(imported)
                except BridgeError:  # the main thread is busy, or the bridge stops
                    self.library.note_incomplete()
        if limit.cancelled_caught:
            self.library.note_incomplete()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext[Any, Any] | None = None
    ) -> Any:
        """Run a skill, or continue a call that waits for an answer.

        Returns:
            The result, a question, or the handle of a task, which is missing in the SDK's type.

        Raises:
            MCPError: The request has an answer, but no call waits for it.
        """
        await wrap_future(self.library.read)
        if context is None or not self._is_ours(name, context):
            return await super().call_tool(name, arguments, context)
        answers: Mapping[str, Any] = context.input_responses or {}
        request = context.request_context
        # First, because a call of a skill that was reloaded must still get its answer.
        state = context.request_state
        if state is not None:
            return await self.calls.resume(state, label_of(request), answers, request)
        if answers:
            why = "This answer belongs to no open question. Nothing was changed."
            raise MCPError(INVALID_PARAMS, why)
        http: Any = request.request
        started = http.scope.pop(STARTED, None)
        if started is None:
            caller = protocol.seen_client(request.session, label_of(request))
            fetched = self.library.fetch(name)
            is_dry_run = bool((request.meta or {}).get(DRY_RUN))
            started = await self.starter.begin(
                name, fetched, arguments, caller, is_dry_run=is_dry_run
            )
        if isinstance(started, CallToolResult):
            return started
        if not started.modern:
            started.session = http.headers.get("mcp-session-id")
        return await self.calls.begin(started, request)

    def seen_in(self, session: str, era: str, label: str) -> SeenClient | None:
        """Return the client of a legacy session, and keep the session alive.

        Args:
            session: The session's id.
            era: The revision of the protocol that a request names.
            label: The label that the request's token proved.

        Returns:
            The client; None if the SDK has to check the request.
        """
        known, owner = self.changes.sessions.get(session, (None, ""))
        # The SDK has no public access to its sessions.
        transport = self.session_manager._server_instances.get(session)
        if not known or not known.client_params or not transport or transport.is_terminated:
            return None
        caller = protocol.seen_client(known, owner)
        if owner != label or caller.era != era:
            return None
        idle = transport.idle_scope
        if idle is None or idle.cancel_called:
            return None
        if idle.deadline != inf:  # no request that the SDK knows is open
            timeout = self.session_manager.session_idle_timeout
            if timeout is None:
                timeout = 0
            idle.deadline = anyio.current_time() + timeout
        return caller

    def fetch_plain(self, name: str) -> Future[Entry] | None:
        """Return a skill that can run at once without a plug-in's handlers; else None."""
        handler = self._lowlevel_server.get_request_handler(CALL)
        if self.middleware != self._plain_middleware or handler != self._plain_handler:
            return None
        if not self.library.read.done() or name not in self._registry:
            return None
        fetched = self.library.fetch(name)
        if not fetched.done():
            return None
        return fetched

    def _is_ours(self, name: str, context: ToolContext[Any, Any]) -> bool:
        """Return whether a call is for a skill, and not for a tool added through the SDK."""
        if name in self._registry:
            return True
        state = context.request_state
        if state is not None and self.calls.knows(state):
            return True
        return self._tool_manager.get_tool(name) is None


@contextmanager
def _root_logger_untouched() -> Iterator[None]:
    """Keep the SDK from giving the host's root logger a handler and a level."""
    root = logging.getLogger()
    handlers = list(root.handlers)
    level = root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
