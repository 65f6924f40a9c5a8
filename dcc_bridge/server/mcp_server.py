"""The MCP server: skills as tools, in both eras of the protocol on one URL. Worker."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
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

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.elicitation.question import Route
from dcc_bridge.errors import BridgeError, SkillError, UnknownSkill, own_version
from dcc_bridge.host import Host
from dcc_bridge.known_clients import ICON, REVISIONS
from dcc_bridge.server import client_channel, protocol, resources
from dcc_bridge.server.client_channel import label_of
from dcc_bridge.server.clients import ClientRegistry
from dcc_bridge.server.legacy_requests import RunningRequests
from dcc_bridge.server.parked_calls import ParkedCall, ParkedCalls
from dcc_bridge.server.protocol import CALL, MODERN
from dcc_bridge.server.scope_keys import STARTED, TURN
from dcc_bridge.server.tasks import Tasks
from dcc_bridge.server.unfetched_results import same_call
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.loader import Library
from dcc_bridge.skills.registry import Entry, Registry
from dcc_bridge.skills.runner import Runner
from dcc_bridge.threads.flows import wrap_future
from dcc_bridge.threads.jobs import client

log = logging.getLogger(__name__)

_HANDSHAKE: Final = "initialize"
_LIST: Final = "tools/list"
_HOUR: Final = 3600.0
PATIENCE: Final = 5.0  # seconds that a list waits on a busy main thread for files to be imported
_WARM: Final = 0.3  # seconds by which a start may take longer, so that no first list does
_AT_ONCE: Final = 16
_CACHED: Final[dict[Any, CacheHint]] = {  # milliseconds; a change of the tools is told besides
    "server/discover": CacheHint(3_600_000),
    _LIST: CacheHint(60_000),
    "resources/list": CacheHint(600_000),
    "resources/templates/list": CacheHint(600_000),
}
_INSTRUCTIONS: Final = (
    "You work in {host}, in the scene that a person has open. Tools that delete or overwrite "
    "something ask that person first, and may take minutes to return. When they say no, nothing "
    "was changed: do not try to reach the same result another way, ask them what they would like. "
    "Everything a tool changes is an undo step in the host."
)


class Server(MCPServer[Any]):
    """The SDK's server, to which plug-ins may add, with the skills of a registry as tools."""

    def __init__(
        self,
        host: Host,
        registry: Registry,
        runner: Runner,
        calls: ParkedCalls,
        tasks: Tasks,  # what of them outlasts its request
        soon: client_channel.Soon,  # the way to the worker's loop from any thread
        clients: ClientRegistry,  # takes in who speaks to it
        scene: resources.SceneResources,
        library: Library,  # imports the skills of files
        ended: Callable[[str], None],  # told of each legacy session that has ended
    ) -> None:
        self.calls, self.scene, self.clients = calls, scene, clients
        self.changes = changes = resources.ToolListChanges(scene.bus, soon, ended)
        registry.watch(self._forget_lists)  # first: who is notified may list at once
        registry.watch(changes.note)
        with _root_logger_untouched():
            super().__init__(
                name=f"dcc_bridge in {host.name}",
                title=host.name,
                description=f"The scene that is open in {host.name} {host.version}".strip(),
                version=own_version(),
                icons=[types.Icon.model_validate(ICON)],
                cache_hints=_CACHED,
                instructions=_INSTRUCTIONS.format(host=host.name),
                request_state_security=RequestStateSecurity.ephemeral(ttl=_HOUR),
                log_level="WARNING",
                subscriptions=scene.bus,
                extensions=[tasks],
                middleware=[self._note_client, changes.remember_session, protocol.mark_malformed],
            )
        # the span of each message, which nobody collects; the SDK has no public name for it
        self.middleware[:] = [it for it in self.middleware if "otel" not in type(it).__module__]
        # the legacy handshake is to say that lists change; the SDK has no argument for it
        lowlevel, options = self._lowlevel_server, NotificationOptions(tools_changed=True)
        make = partial(lowlevel.create_initialization_options, options)
        lowlevel.create_initialization_options = make  # type: ignore[method-assign]  # its only way in
        lowlevel.get_capabilities = partial(self._able, lowlevel.get_capabilities)  # type: ignore[method-assign]  # the same
        lowlevel.add_request_handler("server/discover", types.RequestParams, self._discover)
        self.middleware.append(self._fill_in)
        self._plain = [*self.middleware], self._lowlevel_server.get_request_handler(CALL)
        self.stamp = self._lowlevel_server.server_info_stamp
        self._listing = anyio.Lock()
        self._forget_lists()
        self.library = library
        self.open_requests: Callable[[], int] = int  # how many there are, streams too
        self.running = RunningRequests()  # those of legacy sessions, by their ids
        self._registry, self.runner, self._soon, self._host = registry, runner, soon, host
        scene.serve(self)
        resources.ScenePrompts(registry, scene).serve(self)

    def add_instructions(self, text: str) -> None:
        """Tell agents more when they connect from now on. Any thread."""
        self._lowlevel_server.instructions = f"{self.instructions} {text}"

    def name_scene(self, scene: str) -> None:
        """Tell clients from now on which scene is open. Any thread."""
        lowlevel, title = self._lowlevel_server, protocol.carried(f"{self._host.name}, {scene}")
        if lowlevel.title != title:
            lowlevel.title = title
            lowlevel.__dict__.pop("_server_info_stamp_source", None)  # which the SDK makes once
            self.stamp = lowlevel.server_info_stamp

    async def _discover(self, ctx: Any, params: Any) -> types.DiscoverResult:
        """Name the revisions of both eras: the SDK names those that have this request."""
        lowlevel = self._lowlevel_server
        return types.DiscoverResult(
            supported_versions=list(REVISIONS),
            capabilities=lowlevel.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=lowlevel.instructions,
        )

    def _able(self, make: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Say what there is to ask for: prompts only where there are some."""
        able = make(*args, **more)
        return able if self._prompts() else able.model_copy(update={"prompts": None})

    def _prompts(self) -> set[str]:
        """Name the prompts, without those that need the verbs where there are none."""
        names = {prompt.name for prompt in self._prompt_manager.list_prompts()}
        return names if "list_items" in self._registry else names - resources.PROMPTS

    async def _note_client(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Look at each message for who sent it, and is worked for. The SDK's middleware."""
        client.set(label_of(ctx))
        if ctx.request is not None:
            ctx.request.scope[TURN]()
        if ctx.method != _HANDSHAKE:  # until it ends, nothing is known of who shakes hands
            self.clients.note(protocol.seen_client(ctx.session, label_of(ctx)))
        session = ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None
        if session is None or ctx.request_id is None:
            return await call_next(ctx)
        with self.running.note(session, ctx.request_id):
            return await call_next(ctx)

    async def list_tools(self) -> list[Tool]:
        """List the skills, those that cannot be loaded, and what was added through the SDK."""
        listed = []
        for number, entry in enumerate(self._registry.entries()):
            try:
                listed.append(protocol.tool(entry))
            except SkillError as error:
                listed.append(protocol.unavailable(entry.skill.name, str(error)))
            if number % _AT_ONCE == 0:  # a thousand schemas take half a second the first time
                await anyio.sleep(0)
        broken = sorted(self._registry.broken.items())
        listed += [protocol.unavailable(name, str(why)) for name, why in broken]
        return [*listed, *await super().list_tools()]

    async def list_prompts(self) -> list[Any]:
        """List the prompts that there are."""
        names = self._prompts()
        return [it for it in await super().list_prompts() if it.name in names]

    async def _handle_list_tools(self, ctx: Any, params: Any) -> ListToolsResult:
        await self._complete()
        return ListToolsResult(tools=[] if self._fills_in() else await self.list_tools())

    def _fills_in(self) -> bool:  # no middleware of a plug-in is to see the list before that
        return self.middleware[-1] == self._fill_in

    async def _fill_in(self, ctx: Any, call_next: CallNext) -> HandlerResult:
        """Put the tools, as they were serialized before, into the SDK's answer. Its middleware."""
        answer = await call_next(ctx)
        if ctx.method == _LIST and self._fills_in() and isinstance(answer, dict):
            async with self._listing:
                listed = await self._serialized(ctx.protocol_version)
            answer["tools"] = [tool.copy() for tool in listed]  # a plug-in may edit its own
        return answer

    async def _serialized(self, version: str) -> list[Any]:
        if self._added != (added := await super().list_tools()):
            self._forget_lists(added)
        lists = self._lists  # another one is there once something has changed
        if version not in lists:
            tools, listed = await self.list_tools(), []
            for at in range(0, len(tools), _AT_ONCE):
                part = ListToolsResult(tools=tools[at : at + _AT_ONCE])
                data = part.model_dump(mode="json", by_alias=True, exclude_none=True)
                listed += serialize_server_result(_LIST, version, data)["tools"]
                await anyio.sleep(0)
            lists[version] = listed
        return lists[version]

    async def warm_up(self) -> None:
        """Do once, for a moment at most, what a first list and a first call would wait for."""
        with anyio.move_on_after(_WARM):
            for era in REVISIONS[:2]:
                await self._serialized(era)
                done = protocol.failure("").model_dump(mode="json", by_alias=True)
                serialize_server_result(CALL, era, done)

    def _forget_lists(self, added: Sequence[Tool] = ()) -> None:
        self._added = list(added)  # through the SDK, which does not say so
        self._lists: dict[str, list[Any]] = {}

    async def _complete(self) -> None:
        await wrap_future(self.library.read)
        imports = self.library.complete()
        if not imports:
            return
        self._forget_lists()
        with anyio.move_on_after(PATIENCE) as limit:
            for imported in imports:
                try:
                    await wrap_future(imported)
                except BridgeError:  # the main thread is held by an edit, or the bridge stops
                    self.library.note_incomplete()
        if limit.cancelled_caught:
            self.library.note_incomplete()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext[Any, Any] | None = None
    ) -> Any:  # also a task's handle, which the SDK's own type does not know
        """Run a skill, or go on with one that waits for an answer."""
        await wrap_future(self.library.read)
        if context is None or not self._is_ours(name, context):
            return await super().call_tool(name, arguments, context)
        answers: Mapping[str, Any] = context.input_responses or {}
        request = context.request_context
        # before anything else is looked at: a skill that was reloaded must not lose its answer
        if context.request_state is not None:
            return await self.calls.resume(
                context.request_state, label_of(request), answers, request
            )
        if answers:
            why = "An answer came to a question that was not asked. Nothing was changed."
            raise MCPError(INVALID_PARAMS, why)
        http: Any = request.request
        started = http.scope.pop(STARTED, None)
        if started is None:
            seen = protocol.seen_client(request.session, label_of(request))
            session = protocol.session_of(http.headers, seen.era)
            started = await self.begin(name, self.library.fetch(name), arguments, seen, session)
        if isinstance(started, CallToolResult):
            return started
        if not started.modern:
            started.session = http.headers.get("mcp-session-id")
        return await self.calls.begin(started, request)

    def seen_in(self, session: str, era: str, label: str) -> SeenClient | None:
        """Tell who calls in a legacy session, which lives on; None where the SDK has to look."""
        known, owner = self.changes.sessions.get(session, (None, ""))
        # the SDK's own place for sessions; nothing public leads there
        transport = self.session_manager._server_instances.get(session)
        if not known or not known.client_params or not transport or transport.is_terminated:
            return None
        seen, idle = protocol.seen_client(known, owner), transport.idle_scope
        if (owner, seen.era) != (label, era) or idle is None or idle.cancel_called:
            return None
        if idle.deadline != inf:  # no request that the SDK knows is open
            idle.deadline = anyio.current_time() + (self.session_manager.session_idle_timeout or 0)
        return seen

    def fetch_plain(self, name: str) -> Future[Entry] | None:
        """Give a skill that may run at once, where no plug-in looks at its calls; None else."""
        handler = self._lowlevel_server.get_request_handler(CALL)
        if self._plain != (self.middleware, handler) or not self.library.read.done():
            return None
        fetched = self.library.fetch(name) if name in self._registry else None
        return fetched if fetched is not None and fetched.done() else None

    async def begin(
        self,
        name: str,
        fetched: Future[Entry],
        arguments: dict[str, Any],
        seen: SeenClient,
        session: str,
    ) -> ParkedCall | CallToolResult:
        """Start a skill for a client in its session, or say why it cannot begin."""
        arguments = protocol.taken(arguments)
        call = Call(name, name, client=replace(seen.client, session=session))
        try:
            return self._start(await wrap_future(fetched), call, arguments, seen)
        except Exception as error:  # a type of the skill's own may do anything with an argument
            if not isinstance(error, BridgeError):
                log.exception("call %s of %s could not begin", call.id, name)
            if call.arguments.value is None:  # its schema is not known
                call.arguments = Redacted(arguments, call=call.id)
            self.runner.reject(call, str(error))
            return protocol.failure(str(error))

    def _is_ours(self, name: str, context: ToolContext[Any, Any]) -> bool:
        state = context.request_state
        is_ours = name in self._registry or (state is not None and self.calls.knows(state))
        return is_ours or self._tool_manager.get_tool(name) is None

    def _start(
        self, entry: Entry, call: Call, arguments: dict[str, Any], seen: SeenClient
    ) -> ParkedCall:
        signature = entry.signature
        if signature is None:
            raise UnknownSkill(entry.skill.name)
        schema = signature.schema
        call.arguments = Redacted(arguments, schema if arguments else None, call.id)
        bound = signature.bind(arguments)
        skill = entry.skill
        call.title, call.risk, call.digest = skill.title, skill.metadata.risk, skill.digest
        same = same_call(seen.client.label, call.skill, bound)
        parked = ParkedCall(call, seen.client.label, same, modern=seen.era >= MODERN)
        call.dialogue.repeats = known = self.calls.notice_for(parked.same)
        beside = self.calls.alike(parked.same)
        call.route = self._route(parked, seen)
        run = self.runner.start(
            skill,
            bound,
            call,
            signature.missing(bound),
            lambda progress: self._soon(lambda: parked.note_progress(progress)),
        )
        parked.cancel, parked.asks_as_task = run.cancel, skill.metadata.task == "ask"
        returns = signature.returns

        def finish(outcome: Future[Outcome]) -> None:
            ended, late = outcome.result(), self.calls.late_notice_for(parked.same, beside)
            repeats = call.dialogue.repeats if known else late
            if repeats and call.risk != "read" and not ended.error:  # nobody was asked about it
                ended = replace(ended, note=f"{ended.note} {repeats}".strip())
            self.calls.finish(parked, protocol.result(ended, returns), ended.status)

        run.outcome.add_done_callback(lambda done: self._soon(partial(finish, done)))
        return parked

    def _route(self, parked: ParkedCall, seen: SeenClient) -> Route:
        """Say how the call can ask its client."""
        offer = partial(ParkedCall.offer, weakref.proxy(parked))  # the call holds the channel
        channel = client_channel.ClientChannel(offer, self._soon)
        form, url = channel if seen.form else None, channel if seen.url else None
        return Route(form, url, not parked.modern)


@contextmanager
def _root_logger_untouched() -> Iterator[None]:
    """Keep the SDK from giving the host's root logger a handler and a level."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
