"""The scene as resources, subscriptions to its changes, and prompts about it. Worker.

``scene://summary``, ``scene://selection`` and, by a template that is named as the host names its
things, ``scene://prim/{path}``. Each is read on the main thread as a read job: beside an edit that
waits for its answer, and refused as busy in the middle of one.

The host says that something changed, not what. So each subscriber is notified that its resource may
have changed, at most ten times a second.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources.templates import ResourceSecurity
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    SubscriptionBus,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from dcc_bridge import errors
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.host import MOST_TOLD, Host
from dcc_bridge.server.protocol import carried, taken
from dcc_bridge.server.scope_keys import LABEL
from dcc_bridge.skills.registry import Registry
from dcc_bridge.threads import main_thread
from dcc_bridge.threads.flows import wrap_future

SUMMARY: Final = "scene://summary"
SELECTION: Final = "scene://selection"
MOST_WANTED: Final = 1000  # resources of which one client may hear
_JSON: Final = "application/json"
_MOST_KNOWN: Final = 100_000  # items, the first of a scene, among which one is completed
_MOST_PROPOSED: Final = 100  # that a completion may have
_PAUSE: Final = 0.1
_PATIENCE: Final = 1.0  # seconds for a legacy client to take a notice; it is not sent again

Context = ServerRequestContext[Any, Any]
Spawn = Callable[[Coroutine[Any, Any, None]], "Future[None]"]
log = logging.getLogger(__name__)


class SceneResources:
    """The resources of one host, and their subscribers in both eras."""

    def __init__(self, host: Host, main: main_thread.MainThread, spawn: Spawn) -> None:
        self._host = host  # whose scene it is
        self.main = main  # the way to its main thread
        self._spawn = spawn  # starts a coroutine on the worker, from any thread
        self.bus = InMemorySubscriptionBus()  # for whatever else the clients that listen hear
        self._listen = _Listen(self.bus)
        # The legacy sessions, each with the resources of which it wants to hear.
        self._sessions: dict[str, tuple[ServerSession, set[str]]] = {}
        self._is_due = False
        self.known: dict[str, list[str]] = {}  # what completes an argument, until a change

    def serve(self, server: MCPServer[Any]) -> None:
        """Add the resources, and the requests by which a client asks to hear of them."""
        server.resource(SUMMARY, title="The open scene", mime_type=_JSON)(self.summary)
        server.resource(SELECTION, title="What is selected", mime_type=_JSON)(self.selection)
        noun = self._host.item_noun
        server.resource(
            f"scene://{noun}/{{+path}}",
            name=noun,
            title=f"One {noun} of the scene",
            description=f"Its type and what the host knows about it. The path names the {noun}; "
            "characters that a URI cannot hold are percent-encoded.",
            mime_type=_JSON,
            # a path with a slash before it, or two dots in it, is looked up in a scene, not on disk
            security=ResourceSecurity(exempt_params={"path"}),
        )(self.item)
        add = server._lowlevel_server.add_request_handler  # MCPServer itself adds none of these
        add("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)
        add("subscriptions/listen", types.SubscriptionsListenRequestParams, self._listen)

    async def summary(self) -> str:
        """The scene as a whole: its file, whether it has unsaved changes, and what is in it."""
        return await self._read(self._host.summary, SUMMARY)

    async def selection(self) -> str:
        """What the person has selected, with the type of each."""
        return await self._read(self._selected, SELECTION)

    async def item(self, path: str) -> str:
        """One thing in the scene."""
        item = str(taken(path))
        return await self._read(lambda: self._host.describe(item), item)

    def changed(self) -> None:
        """Tell, soon, those who want to hear of it. Any thread, as often as need be."""
        self.known = {}
        subscribed = any(uris for _, uris in list(self._sessions.values()))
        if self._is_due or not (subscribed or self._listen.wanted):
            return
        self._is_due = True
        with suppress(errors.BridgeClosed):
            self._spawn(self._tell())

    def close(self) -> None:
        """End the streams of those who listen, in the protocol's own way."""
        self._listen.close()

    def _selected(self) -> dict[str, Any]:
        items = self._host.selection
        shown = items[:MOST_TOLD]
        pairs = zip(shown, self._host.kinds(shown), strict=True)
        return {"selected": len(items), "items": [{"item": it, "type": kind} for it, kind in pairs]}

    async def _read(self, look: Callable[[], dict[str, Any]], what: str) -> str:
        try:
            facts = await wrap_future(self.main.submit(look, name=f"reading {what}", read=True))
        except LookupError as error:
            why = error.args[0] if error.args else error
            raise ResourceNotFoundError(safe_whole(str(why))) from error
        except errors.BridgeError as error:
            raise ResourceError(safe_whole(str(error))) from error
        values = json.loads(json.dumps(facts, default=str))
        return json.dumps(carried(values), ensure_ascii=False)

    async def _tell(self) -> None:
        await anyio.sleep(_PAUSE)
        self._is_due = False
        for uri in list(self._listen.wanted):
            await self.bus.publish(ResourceUpdated(uri))
        for name, (session, uris) in list(self._sessions.items()):
            try:
                with anyio.fail_after(_PATIENCE):
                    for uri in _ours(uris):
                        await session.send_resource_updated(uri)
            except (TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._sessions.pop(name, None)  # it is gone, or does not listen

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        name = _session(ctx)
        if name not in self._sessions:
            _keep(self._sessions, name, (ctx.session, set()), ctx)
        _, uris = self._sessions[name]
        if len(uris) >= MOST_WANTED:
            raise MCPError(types.INVALID_PARAMS, f"You already listen for {MOST_WANTED} resources.")
        uris.add(str(params.uri))
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        if (subscriber := self._sessions.get(_session(ctx))) is not None:
            subscriber[1].discard(str(params.uri))
        return types.EmptyResult()


class ToolListChanges:
    """Notifies clients that the list of tools has changed.

    A modern client listens on a stream of its own, which the SDK's bus serves. A legacy one is
    told on its session's standing stream; the SDK keeps no list of sessions, so each one that
    sends a message is remembered here.
    """

    def __init__(
        self,
        bus: SubscriptionBus,  # the way to the modern clients that listen
        soon: Callable[[Callable[[], None]], None],  # the way to the worker's loop from any thread
        ended: Callable[[str], None] = lambda session: None,  # told of a session that has ended
    ) -> None:
        self._bus = bus
        self._soon = soon
        self._ended = ended
        self._changed = anyio.Event()
        self.sessions: dict[str, tuple[ServerSession, str]] = {}  # and their clients' labels

    async def remember_session(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Remember a legacy session. The SDK's middleware."""
        is_legacy = ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS
        if is_legacy and ctx.request is not None:
            name = ctx.request.headers.get("mcp-session-id")
            if name and name not in self.sessions:
                _keep(self.sessions, name, (ctx.session, str(ctx.request.scope[LABEL])), ctx)
                # the same place as `_keep` has
                ctx.session._connection.exit_stack.callback(self._ended, name)
        return await call_next(ctx)

    def note(self) -> None:
        """Have the clients notified soon. Any thread."""
        self._soon(lambda: self._changed.set())

    async def notify_clients(self) -> None:
        """Notify the clients of each change, until it is cancelled."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await self._bus.publish(ToolsListChanged())
            for session, _ in list(self.sessions.values()):
                # a client that is gone, or does not read, must not stop the rest
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    with anyio.move_on_after(_PATIENCE):
                        await session.send_tool_list_changed()


def _keep(sessions: dict[str, Any], name: str, what: object, ctx: Context) -> None:
    """Keep what belongs to a legacy session for as long as that lives."""
    sessions[name] = what
    # the SDK's own place for what ends with a session; nothing public leads there
    ctx.session._connection.exit_stack.callback(sessions.pop, name, None)


class _Listen(ListenHandler):
    """The SDK's handler, which knows in addition what is listened for."""

    def __init__(self, bus: InMemorySubscriptionBus) -> None:
        super().__init__(bus)
        self.wanted: Counter[str] = Counter()

    async def __call__(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = set(_ours(params.notifications.resource_subscriptions or ()))
        if len(uris) > MOST_WANTED:
            raise MCPError(types.INVALID_PARAMS, f"Listen for {MOST_WANTED} resources at most.")
        self.wanted.update(uris)
        try:
            return await super().__call__(ctx, params)
        finally:
            self.wanted -= Counter(uris)


class ScenePrompts:
    """What a person may pick in their client; its agent then works with the verbs."""

    def __init__(self, registry: Registry, scene: SceneResources) -> None:
        self._registry = registry  # has the verbs, where the host has operations
        self._scene = scene

    def serve(self, server: MCPServer[Any]) -> None:
        """Add the prompts, and what completes their arguments."""
        server.prompt(title="Check this scene for publish")(self.check_scene)
        server.prompt(title="Explain this scene")(self.explain_scene)
        server.prompt(title="Tidy the names")(self.tidy_names)
        server.completion()(self.complete)  # type: ignore[no-untyped-call]  # the SDK's has no type

    async def check_scene(self, item: str = "") -> str:
        """Say what must be mended before this scene is published."""
        return _CHECK.format(item or "this scene", [item] if item else [])

    async def explain_scene(self, item: str = "") -> str:
        """Explain this scene, or an item of it, to somebody who sees it for the first time."""
        return _EXPLAIN.format(item or "this scene", [item] if item else [])

    async def tidy_names(self, type: str = "", item: str = "") -> str:
        """Find the names that do not follow the others, and propose better ones."""
        return _TIDY.format(type, item)

    async def complete(self, ref: object, argument: Any, context: object) -> types.Completion:
        """Complete an item or a type by those of the scene, which is walked once a change."""
        name, begun, known = argument.name, taken(argument.value).lower(), self._scene.known
        try:
            if name not in known:
                look = self._scene.main.submit(partial(self._known, name), name=name, read=True)
                known[name] = await wrap_future(look)
        except errors.BridgeError:  # the host is busy, or has no verbs
            return types.Completion(values=[])
        parts = ((it, it if "/" in begun else it.rpartition("/")[2]) for it in known[name])
        fits = (it for it, part in parts if begun in part.lower())
        return types.Completion(values=carried(list(islice(fits, _MOST_PROPOSED))))

    def _known(self, name: str) -> list[str]:
        if name == "type":
            return list(self._registry.find("summary").skill.fn()["types"])
        return list(self._registry.find("list_items").skill.fn(limit=1).every[:_MOST_KNOWN])


PROMPTS: Final = {"check_scene", "explain_scene", "tidy_names"}
_CHECK: Final = """Check {0} for publish: call check with items={1}, and look at it once. Tell me by
rule what fails, what comes of it, and which tool would mend it. Change nothing before I agree."""
_EXPLAIN: Final = """Explain {0} to somebody who sees it for the first time: call summary,
list_items sorted by -size, inspect what matters, and look once with items={1}. Say what it shows,
how it is organised, and what is unusual. Change nothing."""
_TIDY: Final = """Tidy the names of this scene: call list_items with type={0!r}, under={1!r}, find
the rule that most names follow, and show me the old and new names of the others and what collides,
as rename with preview=True gives them. Rename them in one call once I agree."""


def _ours(uris: Iterable[str]) -> list[str]:
    """Keep what the host's changes can change; a plug-in tells of its own resources by itself."""
    return [uri for uri in uris if uri.startswith("scene://")]


def _session(ctx: Context) -> str:
    return str(ctx.request.headers.get("mcp-session-id", "")) if ctx.request is not None else ""
