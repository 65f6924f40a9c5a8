"""The tools as they are listed, and the word that the list has changed, in both eras. Worker."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SubscriptionBus, ToolsListChanged
from mcp_types import Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from dcc_bridge.elicitation.context import wrap_future
from dcc_bridge.errors import BridgeError, SkillError
from dcc_bridge.server import wire
from dcc_bridge.skills.files.library import Library
from dcc_bridge.skills.registry import Entry, Registry

PATIENCE: Final = 5.0
"""Seconds that a list waits for files which must be imported first, on a busy main thread."""
_SLOW: Final = 1.0
_AT_ONCE: Final = 16


class Listing:
    """What an agent may call."""

    def __init__(self, registry: Registry, library: Library) -> None:
        """Take where the skills are.

        Args:
            registry: The skills.
            library: Imports what cannot be listed without.
        """
        self._registry = registry
        self._library = library

    async def tools(self) -> list[Tool]:
        """List the skills, and those that cannot be used."""
        await wrap_future(self._library.read)
        await self._complete()
        listed = []
        for number, entry in enumerate(self._registry.entries()):
            listed.append(_tool(entry))
            if number % _AT_ONCE == 0:  # a thousand schemas take half a second the first time
                await anyio.sleep(0)
        broken = sorted(self._registry.broken.items())
        return [*listed, *(wire.unavailable(name, str(why)) for name, why in broken)]

    async def _complete(self) -> None:
        imports = self._library.complete()
        if not imports:
            return
        with anyio.move_on_after(PATIENCE) as limit:
            for one in imports:
                try:
                    await wrap_future(one)
                except BridgeError:  # the main thread is held by an edit, or the bridge stops
                    self._library.note_incomplete()
        if limit.cancelled_caught:
            self._library.note_incomplete()


class Changes:
    """Tells clients that the list has changed.

    A modern client listens on a stream of its own, which the SDK's bus serves. A legacy one is
    told on its session's standing stream; the SDK keeps no list of sessions, so each one that
    sends a message is remembered here.
    """

    def __init__(self, bus: SubscriptionBus) -> None:
        """Know nobody yet.

        Args:
            bus: The way to the modern clients that listen.
        """
        self._bus = bus
        self._sessions: dict[str, ServerSession] = {}

    async def note(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Remember a legacy session. The SDK's middleware."""
        session = ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None
        is_legacy = ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS
        if session and is_legacy and session not in self._sessions:
            self._sessions[session] = ctx.session
            # the SDK's own place for what ends with a session; nothing public leads there
            ctx.session._connection.exit_stack.callback(self._sessions.pop, session, None)
        return await call_next(ctx)

    async def tell(self) -> None:
        """Tell everybody. A client that is gone is told nothing, and nothing is raised."""
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions.values()):
            # a client that does not read must not stop the rest
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                with anyio.move_on_after(_SLOW):
                    await session.send_tool_list_changed()


def _tool(entry: Entry) -> Tool:
    try:
        return wire.tool(entry)
    except SkillError as error:
        return wire.unavailable(entry.skill.name, str(error))
