"""The scene as resources, subscriptions to its changes, and prompts about it. Worker.

``scene://summary``, ``scene://selection`` and, by a template with the host's word for an item,
``scene://prim/{path}``. Each is read on the main thread as a read job: beside an edit that waits
for its answer, and refused as busy in the middle of one.

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
MAX_SUBSCRIPTIONS: Final = 1000
"""Resources to whose changes one client may listen."""
_JSON: Final = "application/json"
_MAX_CANDIDATES: Final = 100_000
"""Items, the first of a scene, among which an argument is completed."""
_MAX_COMPLETIONS: Final = 100
"""Values of one completion: as many as the protocol allows."""
_NOTICE_DELAY_S: Final = 0.1
"""Seconds from a change to its notices, which so come ten times a second at most."""
_NOTICE_TIMEOUT_S: Final = 1.0
"""Seconds for a legacy client to take a notice, which is not sent again."""

Context = ServerRequestContext[Any, Any]
Spawn = Callable[[Coroutine[Any, Any, None]], "Future[None]"]
log = logging.getLogger(__name__)


class SceneResources:
    """The resources of one host, and their subscribers in both eras.

    Attributes:
        bus: Carries the notices to the modern clients that listen.
        known: The values that complete an argument, by its name; forgotten with each change.
        main: The host's main thread.
    """

    def __init__(self, host: Host, main: main_thread.MainThread, spawn: Spawn) -> None:
        """Prepare the resources.

        Args:
            host: The application whose scene it is.
            main: Its main thread.
            spawn: Starts a coroutine on the worker, from any thread.
        """
        self._host = host
        self.main = main
        self._spawn = spawn
        self.bus = InMemorySubscriptionBus()
        self._listen = _Listen(self.bus)
        # The legacy sessions, each with the resources to which it has subscribed.
        self._sessions: dict[str, tuple[ServerSession, set[str]]] = {}
        self._is_due = False
        self.known: dict[str, list[str]] = {}

    def serve(self, server: MCPServer[Any]) -> None:
        """Add the resources to a server, and the requests by which a client subscribes to them."""
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
            # A path with a slash before it or two dots in it is looked up in a scene, not on disk.
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
        """Notify the subscribers soon that the scene has changed. Any thread, at any rate."""
        self.known = {}
        is_subscribed = any(uris for _, uris in list(self._sessions.values()))
        if self._is_due or not (is_subscribed or self._listen.subscriptions):
            return
        self._is_due = True
        with suppress(errors.BridgeClosed):
            self._spawn(self._notify())

    def close(self) -> None:
        """End the streams of the clients that listen, in the protocol's own way."""
        self._listen.close()

    def _selected(self) -> dict[str, Any]:
        items = self._host.selection
        shown = items[:MOST_TOLD]
        described = []
        for item, kind in zip(shown, self._host.kinds(shown), strict=True):
            described.append({"item": item, "type": kind})
        return {"selected": len(items), "items": described}

    async def _read(self, look: Callable[[], dict[str, Any]], what: str) -> str:
        """Read a resource on the main thread, and return it as JSON.

        Args:
            look: Reads it.
            what: Its name, for messages.
        """
        job = self.main.submit(look, name=f"reading {what}", read=True)
        try:
            facts = await wrap_future(job)
        except LookupError as error:
            why = error.args[0] if error.args else error
            raise ResourceNotFoundError(safe_whole(str(why))) from error
        except errors.BridgeError as error:
            raise ResourceError(safe_whole(str(error))) from error
        values = json.loads(json.dumps(facts, default=str))
        return json.dumps(carried(values), ensure_ascii=False)

    async def _notify(self) -> None:
        """Notify each subscriber that its resources may have changed."""
        await anyio.sleep(_NOTICE_DELAY_S)
        self._is_due = False
        for uri in list(self._listen.subscriptions):
            await self.bus.publish(ResourceUpdated(uri))
        for name, (session, uris) in list(self._sessions.items()):
            try:
                with anyio.fail_after(_NOTICE_TIMEOUT_S):
                    for uri in _scene_uris(uris):
                        await session.send_resource_updated(uri)
            except (TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._sessions.pop(name, None)  # the client is gone, or does not read

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        name = _session(ctx)
        if name not in self._sessions:
            _keep(self._sessions, name, (ctx.session, set()), ctx)
        _, uris = self._sessions[name]
        if len(uris) >= MAX_SUBSCRIPTIONS:
            why = f"You already listen for {MAX_SUBSCRIPTIONS} resources."
            raise MCPError(types.INVALID_PARAMS, why)
        uris.add(str(params.uri))
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        subscriber = self._sessions.get(_session(ctx))
        if subscriber is not None:
            _, uris = subscriber
            uris.discard(str(params.uri))
        return types.EmptyResult()


class ToolListChanges:
    """Notifies clients that the list of tools has changed.

    A modern client listens on a stream of its own, which the SDK's bus serves. A legacy client is
    notified on its session's standing stream; the SDK keeps no list of sessions, so each session
    that sends a message is remembered here.

    Attributes:
        sessions: The legacy sessions, each with its client's label.
    """

    def __init__(
        self,
        bus: SubscriptionBus,
        soon: Callable[[Callable[[], None]], None],
        ended: Callable[[str], None] = lambda session: None,
    ) -> None:
        """Prepare for changes.

        Args:
            bus: Carries the notices to the modern clients that listen.
            soon: Calls a function on the worker's loop, from any thread.
            ended: Told of each legacy session that has ended.
        """
        self._bus = bus
        self._soon = soon
        self._ended = ended
        self._changed = anyio.Event()
        self.sessions: dict[str, tuple[ServerSession, str]] = {}

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
                # A client that is gone, or does not read, must not stop the others' notices.
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    with anyio.move_on_after(_NOTICE_TIMEOUT_S):
                        await session.send_tool_list_changed()


def _keep(sessions: dict[str, Any], name: str, value: object, ctx: Context) -> None:
    """Keep a value of a legacy session in a table for as long as the session lives."""
    sessions[name] = value
    # The SDK's own place for what ends with a session; nothing public leads there.
    ctx.session._connection.exit_stack.callback(sessions.pop, name, None)


class _Listen(ListenHandler):
    """The SDK's handler, which in addition knows the resources to which clients listen.

    Attributes:
        subscriptions: How many clients listen to each resource.
    """

    def __init__(self, bus: InMemorySubscriptionBus) -> None:
        super().__init__(bus)
        self.subscriptions: Counter[str] = Counter()

    async def __call__(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = set(_scene_uris(params.notifications.resource_subscriptions or ()))
        if len(uris) > MAX_SUBSCRIPTIONS:
            why = f"Listen for {MAX_SUBSCRIPTIONS} resources at most."
            raise MCPError(types.INVALID_PARAMS, why)
        self.subscriptions.update(uris)
        try:
            return await super().__call__(ctx, params)
        finally:
            self.subscriptions -= Counter(uris)


class ScenePrompts:
    """The prompts that a person may pick in their client, whose agent then uses the verbs."""

    def __init__(self, registry: Registry, scene: SceneResources) -> None:
        """Prepare the prompts.

        Args:
            registry: Has the verbs, where the host has operations.
            scene: The scene's resources, which keep the completions until a change.
        """
        self._registry = registry
        self._scene = scene

    def serve(self, server: MCPServer[Any]) -> None:
        """Add the prompts to a server, and the completion of their arguments."""
        server.prompt(title="Check this scene for publish")(self.check_scene)
        server.prompt(title="Explain this scene")(self.explain_scene)
        server.prompt(title="Tidy the names")(self.tidy_names)
        server.completion()(self.complete)  # type: ignore[no-untyped-call]  # the SDK's has no type

    async def check_scene(self, item: str = "") -> str:
        """Say what must be mended before this scene is published."""
        return _CHECK.format(item or "this scene", _item_list(item))

    async def explain_scene(self, item: str = "") -> str:
        """Explain this scene, or an item of it, to somebody who sees it for the first time."""
        return _EXPLAIN.format(item or "this scene", _item_list(item))

    async def tidy_names(self, type: str = "", item: str = "") -> str:
        """Find the names that do not follow the others, and propose better ones."""
        return _TIDY.format(type, item)

    async def complete(self, ref: object, argument: Any, context: object) -> types.Completion:
        """Complete an item or a type by those of the scene, which is walked once a change."""
        name = argument.name
        typed = taken(argument.value).lower()
        known = self._scene.known
        try:
            if name not in known:
                walk = partial(self._candidates, name)
                known[name] = await wrap_future(self._scene.main.submit(walk, name=name, read=True))
        except errors.BridgeError:  # the host is busy, or has no verbs
            return types.Completion(values=[])
        fits = (value for value in known[name] if _completes(value, typed))
        return types.Completion(values=carried(list(islice(fits, _MAX_COMPLETIONS))))

    def _candidates(self, name: str) -> list[str]:
        """Return the values of the scene that an argument may have. Main thread."""
        if name == "type":
            return list(self._registry.find("summary").skill.fn()["types"])
        return list(self._registry.find("list_items").skill.fn(limit=1).every[:_MAX_CANDIDATES])


PROMPTS: Final = {"check_scene", "explain_scene", "tidy_names"}
_CHECK: Final = """Check {0} for publish: call check with items={1}, and look at it once. Tell me by
rule what fails, what comes of it, and which tool would mend it. Change nothing before I agree."""
_EXPLAIN: Final = """Explain {0} to somebody who sees it for the first time: call summary,
list_items sorted by -size, inspect what matters, and look once with items={1}. Say what it shows,
how it is organised, and what is unusual. Change nothing."""
_TIDY: Final = """Tidy the names of this scene: call list_items with type={0!r}, under={1!r}, find
the rule that most names follow, and show me the old and new names of the others and what collides,
as rename with preview=True gives them. Rename them in one call once I agree."""


def _item_list(item: str) -> list[str]:
    """Return the items that a prompt names to a verb; none for the whole scene."""
    if not item:
        return []
    return [item]


def _completes(value: str, typed: str) -> bool:
    """Return whether a value contains the text that was typed, in lower case.

    A text without a slash is looked for in an item's own name, and not in those above it.
    """
    part = value
    if "/" not in typed:
        part = value.rpartition("/")[2]
    return typed in part.lower()


def _scene_uris(uris: Iterable[str]) -> list[str]:
    """Return the URIs of the scene; a plug-in notifies of its own resources by itself."""
    return [uri for uri in uris if uri.startswith("scene://")]


def _session(ctx: Context) -> str:
    """Return the id of a request's legacy session; "" for none."""
    if ctx.request is None:
        return ""
    return str(ctx.request.headers.get("mcp-session-id", ""))
