"""The scene as resources, subscriptions to its changes, and prompts about it. Worker.

The resources are ``scene://summary``, ``scene://selection``, and one for each item of the scene:
``scene://<noun>/{path}``, where the noun is the host's word for an item, such as "prim" in USD.
A resource is read on the main thread. It can be read while an edit waits for a person's answer;
while an edit is running, the read is refused because the host is busy.

The host reports that the scene has changed, but not what. So a *notice* tells each subscriber that
its resource may have changed; notices go out at most ten times a second. There are two protocol
eras, with different ways to subscribe: a *legacy* client subscribes its session to one resource
after another; a *modern* client (2026-07-28) sends one ``subscriptions/listen`` request that names
all resources and stays open.

Texts on their way to a client pass through `protocol.show_hidden`, which makes hidden characters
visible; names that come from a client pass through `protocol.restore_hidden`, its inverse.
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
from typing import Annotated, Any, Final

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
from pydantic import Field

from dcc_bridge import errors
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.host import MOST_TOLD, Host
from dcc_bridge.server.protocol import restore_hidden, show_hidden
from dcc_bridge.server.scope_keys import LABEL
from dcc_bridge.skills.registry import Registry
from dcc_bridge.threads import main_thread
from dcc_bridge.threads.flows import wrap_future

SUMMARY: Final = "scene://summary"
SELECTION: Final = "scene://selection"
MAX_SUBSCRIPTIONS: Final = 1000
"""Resources that one legacy session may subscribe to, or one listen request may name."""
_JSON: Final = "application/json"
_MAX_CANDIDATES: Final = 100_000
"""How many items of a scene, from its first one, are offered as completions of an argument."""
_MAX_COMPLETIONS: Final = 100
"""Values of one completion: as many as the protocol allows."""
_NOTICE_DELAY_S: Final = 0.1
"""Seconds from the first change to the notices of it; later changes meanwhile add no notice."""
_NOTICE_TIMEOUT_S: Final = 1.0
"""Seconds in which a legacy client must take its notices; after that it is not waited for."""

Context = ServerRequestContext[Any, Any]
Spawn = Callable[[Coroutine[Any, Any, None]], "Future[None]"]
log = logging.getLogger(__name__)


class SceneResources:
    """The resources of one host, and their subscribers in both eras.

    Attributes:
        bus: Carries the notices to the modern clients that listen.
        known: The possible values of a prompt's argument, by the argument's name. `ScenePrompts`
            fills it, and each change of the scene empties it.
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
        # The legacy sessions by their ids, each with the URIs to which it has subscribed.
        self._sessions: dict[str, tuple[ServerSession, set[str]]] = {}
        self._is_notice_due = False  # a change was reported, and `_notify` has not sent it yet
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
        """The items that the person has selected, each with its type."""
        return await self._read(self._describe_selection, SELECTION)

    async def item(self, path: str) -> str:
        """One thing in the scene."""
        item = str(restore_hidden(path))
        return await self._read(lambda: self._host.describe(item), item)

    def changed(self) -> None:
        """Notify the subscribers soon that the scene has changed. Any thread, at any rate."""
        self.known = {}
        is_legacy_subscribed = any(uris for _, uris in list(self._sessions.values()))
        has_subscribers = is_legacy_subscribed or bool(self._listen.subscriptions)
        if self._is_notice_due or not has_subscribers:
            return
        self._is_notice_due = True
        with suppress(errors.BridgeClosed):
            self._spawn(self._notify())

    def close(self) -> None:
        """End the open ``subscriptions/listen`` requests of all modern clients."""
        self._listen.close()

    def _describe_selection(self) -> dict[str, Any]:
        """Return how many items are selected, and the type of the first ones. Main thread."""
        items = self._host.selection
        shown = items[:MOST_TOLD]
        described = []
        for item, kind in zip(shown, self._host.kinds(shown), strict=True):
            described.append({"item": item, "type": kind})
        return {"selected": len(items), "items": described}

    async def _read(self, read: Callable[[], dict[str, Any]], what: str) -> str:
        """Read a resource on the main thread, and return it as JSON.

        Args:
            read: Returns the content of the resource. Called on the main thread.
            what: The name of the resource, for messages.

        Raises:
            ResourceNotFoundError: The scene has no such item.
            ResourceError: The host is busy, or the bridge is closed.
        """
        job = self.main.submit(read, name=f"reading {what}", read=True)
        try:
            facts = await wrap_future(job)
        except LookupError as error:
            why = error.args[0] if error.args else error
            raise ResourceNotFoundError(safe_whole(str(why))) from error
        except errors.BridgeError as error:
            raise ResourceError(safe_whole(str(error))) from error
        # Values that JSON does not know become texts here, so that `show_hidden` sees them too.
        values = json.loads(json.dumps(facts, default=str))
        return json.dumps(show_hidden(values), ensure_ascii=False)

    async def _notify(self) -> None:
        """Wait a moment, then notify each subscriber that its resources may have changed.

        A legacy client that takes no notice in time loses its subscriptions.
        """
        await anyio.sleep(_NOTICE_DELAY_S)
        self._is_notice_due = False
        for uri in list(self._listen.subscriptions):
            await self.bus.publish(ResourceUpdated(uri))
        for session_id, (session, uris) in list(self._sessions.items()):
            try:
                with anyio.fail_after(_NOTICE_TIMEOUT_S):
                    for uri in _scene_uris(uris):
                        await session.send_resource_updated(uri)
            except (TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._sessions.pop(session_id, None)  # the client is gone, or does not read

    async def _subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Subscribe a legacy session to a resource.

        Raises:
            MCPError: The session has reached the limit. This is also raised for a resource to which
                it is subscribed already.
        """
        session_id = _session_id(ctx)
        if session_id not in self._sessions:
            _keep_for_session(self._sessions, session_id, (ctx.session, set()), ctx)
        _, uris = self._sessions[session_id]
        if len(uris) >= MAX_SUBSCRIPTIONS:
            why = f"You already listen for {MAX_SUBSCRIPTIONS} resources."
            raise MCPError(types.INVALID_PARAMS, why)
        uris.add(str(params.uri))
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """End a legacy session's subscription to a resource; nothing happens if there is none."""
        subscriber = self._sessions.get(_session_id(ctx))
        if subscriber is not None:
            _, uris = subscriber
            uris.discard(str(params.uri))
        return types.EmptyResult()


class ToolListChanges:
    """Notifies clients that the list of tools has changed.

    A modern client is notified by the SDK's bus, in its open listen request. A legacy client is
    notified in its session's standing stream; the SDK keeps no list of sessions, so each session
    that sends a message is remembered here.

    Attributes:
        sessions: The legacy sessions by their ids, each with its client's label.
    """

    def __init__(
        self,
        bus: SubscriptionBus,
        soon: Callable[[Callable[[], None]], None],
    ) -> None:
        """Prepare for changes.

        Args:
            bus: Carries the notices to the modern clients that listen.
            soon: Calls a function on the worker's loop, from any thread.
        """
        self._bus = bus
        self._soon = soon
        self._changed = anyio.Event()
        self.sessions: dict[str, tuple[ServerSession, str]] = {}

    async def remember_session(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Remember the legacy session of a request. The SDK calls this for each request."""
        is_legacy = ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS
        if is_legacy and ctx.request is not None:
            session_id = ctx.request.headers.get("mcp-session-id")
            if session_id and session_id not in self.sessions:
                label = str(ctx.request.scope[LABEL])
                _keep_for_session(self.sessions, session_id, (ctx.session, label), ctx)
        return await call_next(ctx)

    def note(self) -> None:
        """Note that the list has changed: `notify_clients` then tells the clients. Any thread."""
        self._soon(lambda: self._changed.set())

    async def notify_clients(self) -> None:
        """Notify the clients of each change, until this coroutine is cancelled.

        Changes that come while notices are sent are announced together in the next round.
        """
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await self._bus.publish(ToolsListChanged())
            for session, _ in list(self.sessions.values()):
                # A client that is gone, or does not read, must not stop the others' notices.
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    with anyio.move_on_after(_NOTICE_TIMEOUT_S):
                        await session.send_tool_list_changed()


def _keep_for_session(
    sessions: dict[str, Any], session_id: str, value: object, ctx: Context
) -> None:
    """Add a value to a table of sessions, and have it removed when the session ends."""
    sessions[session_id] = value
    # The SDK calls the functions in this stack when the session ends. It has no public name.
    ctx.session._connection.exit_stack.callback(sessions.pop, session_id, None)


class _Listen(ListenHandler):
    """The SDK's handler of listen requests, which also counts the resources that they name.

    Attributes:
        subscriptions: How many open listen requests name each resource.
    """

    def __init__(self, bus: InMemorySubscriptionBus) -> None:
        super().__init__(bus)
        self.subscriptions: Counter[str] = Counter()

    async def __call__(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve one listen request until it ends, and count its resources meanwhile.

        Raises:
            MCPError: The request names too many resources.
        """
        uris = set(_scene_uris(params.notifications.resource_subscriptions or ()))
        if len(uris) > MAX_SUBSCRIPTIONS:
            why = f"Listen for {MAX_SUBSCRIPTIONS} resources at most."
            raise MCPError(types.INVALID_PARAMS, why)
        self.subscriptions.update(uris)
        try:
            return await super().__call__(ctx, params)
        finally:
            self.subscriptions -= Counter(uris)


_Item = Annotated[str, Field(description="An item with all below it; empty for the whole scene.")]
_Type = Annotated[str, Field(description="A type of items, such as Mesh; empty for all.")]


class ScenePrompts:
    """The prompts that a person may pick in their client; each has the agent use certain verbs."""

    def __init__(self, registry: Registry, scene: SceneResources) -> None:
        """Prepare the prompts.

        Args:
            registry: Finds the verbs that list the scene. A host without operations has none.
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

    async def check_scene(self, item: _Item = "") -> str:
        """Say what must be mended before this scene is published."""
        return _CHECK.format(item or "this scene", _item_list(item))

    async def explain_scene(self, item: _Item = "") -> str:
        """Explain this scene, or an item of it, to somebody who sees it for the first time."""
        return _EXPLAIN.format(item or "this scene", _item_list(item))

    async def tidy_names(self, type: _Type = "", item: _Item = "") -> str:
        """Find the names that do not follow the others, and propose better ones."""
        return _TIDY.format(type, item)

    async def complete(self, ref: object, argument: Any, context: object) -> types.Completion:
        """Complete a prompt's argument with items or types of the scene.

        The scene is walked for the first completion after a change; later ones use its result.
        """
        name = argument.name
        typed = restore_hidden(argument.value).lower()
        known = self._scene.known
        try:
            if name not in known:
                walk = partial(self._candidates, name)
                known[name] = await wrap_future(self._scene.main.submit(walk, name=name, read=True))
        except errors.BridgeError:  # the host is busy, or has no verbs
            return types.Completion(values=[])
        fits = (value for value in known[name] if _completes(value, typed))
        return types.Completion(values=show_hidden(list(islice(fits, _MAX_COMPLETIONS))))

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
    """Return the value of a verb's `items` argument: one item, or none for the whole scene."""
    if not item:
        return []
    return [item]


def _completes(value: str, typed: str) -> bool:
    """Return whether a value is a completion of a typed text, which is in lower case.

    The text must be contained in the value, whatever the case. A text without a slash must be in an
    item's own name: the names of the items above it do not count.
    """
    part = value
    if "/" not in typed:
        part = value.rpartition("/")[2]
    return typed in part.lower()


def _scene_uris(uris: Iterable[str]) -> list[str]:
    """Return the URIs of the scene; a plug-in sends the notices of its own resources itself."""
    return [uri for uri in uris if uri.startswith("scene://")]


def _session_id(ctx: Context) -> str:
    """Return the id of the legacy session that a request belongs to; "" if it belongs to none."""
    if ctx.request is None:
        return ""
    return str(ctx.request.headers.get("mcp-session-id", ""))
