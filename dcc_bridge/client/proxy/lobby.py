"""The proxy's own MCP server, for as long as no host is there, and to choose one. Its loop.

It is the SDK's low-level server, so handshakes, versions and subscriptions are the SDK's in both
eras. It declares whatever a host may have, because a client asks for that only once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError

from dcc_bridge.elicitation.types import TASKS
from dcc_bridge.errors import DISTRIBUTION

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

Context = ServerRequestContext[Any]

_INSTRUCTIONS: Final = (
    "You work in applications for 3D work (Maya, Houdini, Blender, FreeCAD and others), in the "
    "scene that a person has open there. list_hosts lists them, use_host changes to another "
    "one; the other tools are those of the host in which you work, and change with it. Tools that "
    "delete or overwrite something ask that person first, and may take minutes to return. When "
    "they say no, nothing was changed: do not try to reach the same result another way, ask them "
    "what they would like. Everything a tool changes is an undo step in the host."
)
_LIST: Final = types.Tool(
    name="list_hosts",
    title="List hosts",
    description="List the applications that are running on this computer, the scene that is open "
    "in each, and in which of them you work. Use it if there are no tools for a scene.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
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
    annotations=types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
TOOLS: Final = (_LIST, _USE)
OWN: Final = frozenset(tool.name for tool in TOOLS)


class Lobby:
    """Handles requests that no host answers."""

    def __init__(
        self,
        choice: HostChoice,  # which hosts run, and which is meant
        look: Callable[[], Awaitable[None]],  # looks which hosts run, now
        use: Callable[[Instance], Awaitable[None]],  # changes to a host
    ) -> None:
        self._choice = choice
        self._look = look
        self._use = use
        self.bus = InMemorySubscriptionBus()
        self.server = self._make()

    @property
    def options(self) -> InitializationOptions:
        """What it says in a handshake."""
        changes = NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return self.server.create_initialization_options(changes)

    def _make(self) -> Server[Any]:
        server: Server[Any] = Server(
            "dcc_bridge",
            version=metadata.version(DISTRIBUTION),
            instructions=_INSTRUCTIONS,
            on_list_tools=_answer_with(types.ListToolsResult(tools=list(TOOLS))),
            on_call_tool=self._call,
            on_list_resources=_answer_with(types.ListResourcesResult(resources=[])),
            on_list_resource_templates=_answer_with(
                types.ListResourceTemplatesResult(resource_templates=[])
            ),
            on_read_resource=self._refuse,
            on_subscribe_resource=_answer_with(types.EmptyResult()),
            on_unsubscribe_resource=_answer_with(types.EmptyResult()),
            on_subscriptions_listen=ListenHandler(self.bus),
            on_list_prompts=_answer_with(types.ListPromptsResult(prompts=[])),
            on_get_prompt=self._refuse,
            on_completion=_answer_with(
                types.CompleteResult(completion=types.Completion(values=[]))
            ),
        )
        server.extensions[TASKS] = {}
        # As an argument it warns that the modern era has no such thing; the legacy era has.
        server.add_request_handler(
            "logging/setLevel", types.SetLevelRequestParams, _answer_with(types.EmptyResult())
        )
        return server

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await self._look()
        if params.name == _LIST.name:
            return self._list_hosts()
        if params.name == _USE.name:
            return await self._use_host(str((params.arguments or {}).get("host", "")))
        return _result(f"{params.name} was not called. {self._choice.why_none()}", is_error=True)

    def _list_hosts(self) -> types.CallToolResult:
        chosen, running = self._choice.chosen, self._choice.running
        is_there = chosen is not None and chosen.id in [host.id for host in running]
        in_use = chosen.id if chosen is not None and is_there else None
        text = self._choice.why_none()
        if in_use is not None:
            text = f"{self._choice.summary()} You work in {in_use}."
        hosts = [host.told() | {"in_use": host.id == in_use} for host in running]
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


def _answer_with(result: Any) -> Callable[[Context, Any], Awaitable[Any]]:
    """Make a handler that always gives the same result: a host has nothing of the kind."""

    async def answer(context: Context, params: Any) -> Any:
        return result

    return answer


def _result(
    text: str, *, structured: dict[str, Any] | None = None, is_error: bool = False
) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=structured, is_error=is_error
    )


# ---- which host is meant


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person who set the client up asked for; None for "any"."""

    host: str | None = None  # the application's name or a part of it, in any case
    scene: str | None = None  # a glob that the scene's name matches
    instance: str | None = None  # a host's id

    def fits(self, host: Instance) -> bool:
        """Tell whether a host is what was asked for."""
        return (
            (self.host is None or self.host.lower() in host.host.lower())
            and (self.scene is None or fnmatchcase(host.scene.lower(), self.scene.lower()))
            and (self.instance is None or host.id == self.instance)
        )

    def __str__(self) -> str:
        """Say it in a few words, beginning with a space; nothing where any host will do."""
        parts = ("name", self.host), ("scene", self.scene), ("id", self.instance)
        words = ", ".join(f"{name} {value!r}" for name, value in parts if value is not None)
        return f" with {words}" if words else ""


class HostChoice:
    """The host in which the client works.

    One that fits, if it is the only one: among several, an agent or a person has to say. A host
    that is gone is followed by its restart and by no other: the only one that began later, did not
    run beside it, and is the same application with the same file open. A call that was meant for
    one scene never reaches another one.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.chosen: Instance | None = None  # the host that was chosen last, be it there or gone
        self.running: Sequence[Instance] = ()  # the hosts that ran a moment ago
        self._wanted = wanted
        self._beside: frozenset[str] = frozenset()
        self._ended: Instance | None = None

    def look(self, running: Sequence[Instance]) -> Instance | None:
        """Take in which hosts run, and give the one that is meant."""
        self.running = running
        ready = [host for host in running if host.state == "ready"]
        if self.chosen is not None:
            chosen = self._same(self.chosen, ready)
        else:
            fitting = [host for host in ready if self._wanted.fits(host)]
            chosen = fitting[0] if len(fitting) == 1 else None
        if chosen is not None:
            self._choose(chosen)
        return chosen

    def take_news(self, host: Instance) -> str | None:
        """Say that a host is the restart of another one, if the agent was not told yet."""
        ended = self._ended
        if ended is None or self.chosen is None or self.chosen.id != host.id:
            return None
        self._ended = None
        return (
            f"{describe(ended)} ended. You now work in another process, {host.id}, with the same "
            "file open. What was not saved is gone, and so are the selection and the undo steps: "
            "look at the scene before you go on."
        )

    def use(self, name: str) -> Instance:
        """Choose a host by its id, or by a part of a name that one alone has.

        LookupError says that there is none, more than one, or it is not ready; and which there are.
        """
        exact = [host for host in self.running if host.id == name]
        alike = [host for host in self.running if name and name.lower() in host.host.lower()]
        meant = exact or alike
        if len(meant) != 1:
            which = "No running host is" if not meant else f"{len(meant)} running hosts are"
            raise LookupError(f"{which} called {name!r}. {self.summary()}")
        if meant[0].state != "ready":
            raise LookupError(f"{meant[0].id} is only starting. Try again in a few seconds.")
        self._choose(meant[0])
        self._ended = None  # it is the agent's own choice
        return meant[0]

    def summary(self) -> str:
        """Say which hosts run, for an agent."""
        if not self.running:
            return "No host is running."
        return f"Running: {'; '.join(map(describe, self.running))}."

    def why_none(self) -> str:
        """Say why no host is connected, and what to do."""
        if self.chosen is not None:
            gone = f"{describe(self.chosen)}, in which you worked, is no longer running."
            return f"{gone} {self.summary()} {self._advice()}"
        return f"No host{self._wanted} is connected. {self.summary()} {self._advice()}"

    def _advice(self) -> str:
        if self.running:
            return "Choose one with use_host; ask the person if it is not clear which is meant."
        return (
            "Ask the person to start the application with dcc_bridge in it (or `dcc-bridge serve`),"
            " and call list_hosts then."
        )

    def _choose(self, host: Instance) -> None:
        self.chosen = host
        self._beside = frozenset(other.id for other in self.running)

    def _same(self, chosen: Instance, ready: Sequence[Instance]) -> Instance | None:
        itself = next((host for host in ready if host.id == chosen.id), None)
        restarts = [host for host in ready if self._is_restart(host, chosen)]
        if itself is not None or len(restarts) != 1:
            return itself
        if restarts[0].pid != chosen.pid:  # else only the bridge in it began anew
            self._ended = chosen
        return restarts[0]

    def _is_restart(self, host: Instance, ended: Instance) -> bool:
        is_alike = (host.host, host.file) == (ended.host, ended.file) and host.file is not None
        return is_alike and host.started > ended.started and host.id not in self._beside


def describe(host: Instance) -> str:
    """Name a host and its scene."""
    return f"{host.id} ({host.host}, {host.scene})"
