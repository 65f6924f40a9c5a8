"""The MCP server: skills as tools, in both eras of the protocol on one URL. Worker.

It is the SDK's own server object, so a plug-in may add to it whatever the SDK offers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from mcp.server.mcpserver import Context as ToolContext
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, InputRequiredResult, Tool

from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.errors import BridgeError, SkillError
from dcc_bridge.server import wire
from dcc_bridge.server.calls import Calls, Channel, Parked, Soon
from dcc_bridge.server.http import LABEL
from dcc_bridge.skills.registry import Entry, Registry
from dcc_bridge.skills.runner import Outcome, Runner

log = logging.getLogger(__name__)

MODERN: Final = "2026-07-28"
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
        self, name: str, version: str, registry: Registry, runner: Runner, calls: Calls, soon: Soon
    ) -> None:
        """Take what calls need.

        Args:
            name: The host's name.
            version: The host's version.
            registry: The skills.
            runner: What runs them.
            calls: Where they are parked.
            soon: The way to the worker's loop from any thread.
        """
        with _root_logger_untouched():
            super().__init__(
                name=f"dcc_bridge in {name}",
                version=version,
                instructions=_INSTRUCTIONS.format(host=name),
                request_state_security=RequestStateSecurity.ephemeral(ttl=_HOUR),
                log_level="WARNING",
            )
        self._registry = registry
        self._runner = runner
        self._calls = calls
        self._soon = soon

    async def list_tools(self) -> list[Tool]:
        """List the skills, those that cannot be loaded, and what was added through the SDK."""
        skills = [wire.tool(entry) for entry in self._registry.entries()]
        broken = [wire.unavailable(n, str(why)) for n, why in sorted(self._registry.broken.items())]
        return [*skills, *broken, *await super().list_tools()]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: ToolContext[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Run a skill, or go on with one that waits for an answer.

        A retry reaches its parked call before anything else is looked at: a skill that was
        reloaded in the meantime must not lose the answer.
        """
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
        try:
            parked = self._start(self._registry.find(name), arguments, context)
        except SkillError as error:
            return wire.failure(str(error))
        return await self._calls.begin(parked, request)

    def _is_ours(self, name: str, context: ToolContext[Any, Any]) -> bool:
        if name in self._registry:
            return True
        state = context.request_state
        if state is not None and self._calls.knows(state):
            return True
        return self._tool_manager.get_tool(name) is None

    def _start(
        self, entry: Entry, arguments: dict[str, Any], context: ToolContext[Any, Any]
    ) -> Parked:
        bound = entry.signature.bind(arguments)
        skill = entry.skill
        call = Call(skill.name, skill.title, skill.metadata.risk, _client(context))
        call.digest = skill.digest
        parked = _park(call, context)
        call.withdrawable = not parked.modern
        form, url = wire.modes(context.client_capabilities)
        channel = Channel(parked, self._soon)
        call.channel = channel if form else None
        call.url_channel = channel if url else None
        parked.outcome = self._runner.start(skill, bound, call)
        parked.outcome.add_done_callback(lambda _: self._soon(lambda: _finish(parked)))
        return parked


def _park(call: Call, context: ToolContext[Any, Any]) -> Parked:
    modern = context.request_context.protocol_version >= MODERN
    session = _http(context).headers.get("mcp-session-id")
    return Parked(call, _label(context), None if modern else session, modern=modern)


def _finish(parked: Parked) -> None:
    """Store the result of a call as its last event."""
    future = parked.outcome
    if future is None or future.cancelled():
        parked.put(wire.failure("The call was cancelled. Nothing was changed."))
        return
    error = future.exception()
    if error is None:
        parked.put(_told(future.result()))
    else:
        told = str(error) if isinstance(error, BridgeError) else "The skill could not be run."
        parked.put(wire.failure(told))


def _told(outcome: Outcome) -> CallToolResult:
    try:
        return wire.result(outcome)
    except (TypeError, ValueError, RecursionError) as error:
        log.warning("a result cannot be told", exc_info=error)
        return wire.failure(f"The skill ran, but JSON cannot carry what it returned: {error}")


def _http(context: ToolContext[Any, Any]) -> Any:
    return context.request_context.request


def _label(context: ToolContext[Any, Any]) -> str:
    return str(_http(context).scope[LABEL])


def _client(context: ToolContext[Any, Any]) -> Client:
    params = context.session.client_params
    info = params.client_info if params is not None else None
    return Client(_label(context), info.name if info else "", info.version if info else "")


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
