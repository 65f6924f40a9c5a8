"""The MCP server: skills as tools, in both eras of the protocol on one URL. Worker.

It is the SDK's own server object, so a plug-in may add to it whatever the SDK offers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.lowlevel import Server as LowLevelServer
from mcp.server.mcpserver import Context as ToolContext
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, InputRequiredResult, Tool

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.elicitation.context import wrap_future
from dcc_bridge.errors import BridgeError, UnknownSkill
from dcc_bridge.server import malformed, results, unfetched, wire
from dcc_bridge.server.calls import Calls, Channel, Parked, Soon
from dcc_bridge.server.clients import Clients, Seen
from dcc_bridge.server.http import LABEL
from dcc_bridge.server.listing import Changes, Listing
from dcc_bridge.server.resources import Scene
from dcc_bridge.skills.files.library import Library
from dcc_bridge.skills.registry import Entry, Registry
from dcc_bridge.skills.runner import Runner

log = logging.getLogger(__name__)

MODERN: Final = "2026-07-28"
_HANDSHAKE: Final = "initialize"
_HOUR: Final = 3600.0
_INSTRUCTIONS: Final = (
    "You work in {host}, in the scene that a person has open. Tools that lose something ask that "
    "person first, and may take minutes to return while they decide. When they say no, nothing was "
    "changed: do not try to reach the same result another way, ask them what they would like. "
    "Everything a tool changes is an undo step in the host."
)


class Server(MCPServer[Any]):
    """The SDK's server, with the skills of a registry as further tools."""

    def __init__(
        self,
        name: str,
        version: str,
        registry: Registry,
        runner: Runner,
        calls: Calls,
        soon: Soon,
        clients: Clients,
        scene: Scene,
        library: Library,
    ) -> None:
        """Take what calls need.

        Args:
            name: The host's name.
            version: The host's version.
            registry: The skills.
            runner: What runs them.
            calls: Where they are parked.
            soon: The way to the worker's loop from any thread.
            clients: Takes in who speaks to it.
            scene: The host's scene as resources.
            library: Imports the skills of files.
        """
        changes = Changes(scene.bus)
        with _root_logger_untouched():
            super().__init__(
                name=f"dcc_bridge in {name}",
                version=version,
                instructions=_INSTRUCTIONS.format(host=name),
                request_state_security=RequestStateSecurity.ephemeral(ttl=_HOUR),
                log_level="WARNING",
                subscriptions=scene.bus,
                middleware=[_noting(clients), changes.note, malformed.mark],
            )
        _say_that_lists_change(self._lowlevel_server)
        self._library = library
        self._listing = Listing(registry, library)
        self.changes = changes
        self._registry = registry
        self._runner = runner
        self._calls = calls
        self._soon = soon
        scene.serve(self)

    async def list_tools(self) -> list[Tool]:
        """List the skills, those that cannot be loaded, and what was added through the SDK."""
        return [*await self._listing.tools(), *await super().list_tools()]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Run a skill, or go on with one that waits for an answer.

        A retry reaches its parked call before anything else is looked at: a skill that was
        reloaded in the meantime must not lose the answer.
        """
        await wrap_future(self._library.read)
        if context is None or not self._is_ours(name, context):
            return await super().call_tool(name, arguments, context)
        answers: Mapping[str, Any] = context.input_responses or {}
        request = context.request_context
        if context.request_state is not None:
            label = _label(context)
            return await self._calls.resume(context.request_state, label, answers, request)
        if answers:
            raise MCPError(
                code=INVALID_PARAMS,
                message="An answer came to a question that was not asked. Nothing was changed.",
            )
        call = Call(name, name, client=_client(request))
        call.arguments = Redacted(arguments)
        try:
            entry = await wrap_future(self._library.fetch(name))
            parked = self._start(entry, call, arguments, context)
        except BridgeError as error:
            self._runner.reject(call, str(error))
            return results.failure(str(error))
        return await self._calls.begin(parked, request)

    def _is_ours(self, name: str, context: ToolContext[Any, Any]) -> bool:
        if name in self._registry:
            return True
        state = context.request_state
        if state is not None and self._calls.knows(state):
            return True
        return self._tool_manager.get_tool(name) is None

    def _start(
        self,
        entry: Entry,
        call: Call,
        arguments: dict[str, Any],
        context: ToolContext[Any, Any],
    ) -> Parked:
        signature = entry.signature
        if signature is None:
            raise UnknownSkill(entry.skill.name)
        call.arguments = Redacted(arguments, signature.schema)
        bound = signature.bind(arguments)
        skill = entry.skill
        call.title, call.risk, call.digest = skill.title, skill.metadata.risk, skill.digest
        parked = _park(call, bound, context)
        call.again = self._calls.unfetched.again(parked.same)
        call.progress = lambda progress: self._soon(lambda: parked.tell(progress))
        call.withdrawable = not parked.modern
        form, url = wire.modes(context.client_capabilities)
        channel = Channel(parked, self._soon)
        call.channel = channel if form else None
        call.url_channel = channel if url else None
        run = self._runner.start(skill, bound, call, signature.missing(bound))
        parked.cancel = run.cancel
        outcome, returns = run.outcome, signature.returns

        def finish() -> None:
            ended = outcome.result()
            self._calls.finish(parked, results.result(ended, returns), ended.status)

        outcome.add_done_callback(lambda _: self._soon(finish))
        return parked


def _park(call: Call, arguments: Mapping[str, Any], context: ToolContext[Any, Any]) -> Parked:
    modern = context.request_context.protocol_version >= MODERN
    session = _http(context).headers.get("mcp-session-id")
    label = _label(context)
    same = unfetched.same(label, call.skill, arguments)
    return Parked(call, label, None if modern else session, same, modern=modern)


def _http(context: ToolContext[Any, Any]) -> Any:
    return context.request_context.request


def _label(context: ToolContext[Any, Any]) -> str:
    return str(_http(context).scope[LABEL])


def _client(context: ServerRequestContext[Any, Any]) -> Client:
    params = context.session.client_params
    info = params.client_info if params is not None else None
    label = str(context.request.scope[LABEL]) if context.request is not None else ""
    return Client(label, info.name if info else "", info.version if info else "")


def _noting(clients: Clients) -> ServerMiddleware[Any]:
    """Look at each message on its way to the server, for who sent it."""

    async def note(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != _HANDSHAKE:  # until it ends, nothing is known of who shakes hands
            form, url = wire.modes(ctx.session.client_capabilities)
            era = ctx.protocol_version
            clients.note(Seen(_client(ctx), era, form, url, time.time()))
        return await call_next(ctx)

    return note


def _say_that_lists_change(server: LowLevelServer[Any]) -> None:
    """Let the legacy handshake say that lists change; the SDK has no argument for it."""
    options = NotificationOptions(tools_changed=True)
    make = partial(server.create_initialization_options, options)
    server.create_initialization_options = make  # type: ignore[method-assign]  # its only way in


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
