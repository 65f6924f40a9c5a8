"""Proxy: joins a client that speaks stdio to the running hosts, as if it spoke to them itself.

====================  =======================================================================
`serve`               the whole, on this process's stdin and stdout; with it is what must be there
                      before the SDK is: the first answer, and which host is meant
``lobby``             an MCP server of our own: what is said while no host is there, and the tools
                      ``list_hosts`` and ``use_host``; and what a client has said once
``upstream``          a connection to one host, and the messages that we make ourselves
``router``            who is sent which message, and what of it has to be another one there
====================  =======================================================================

Messages are passed on as they are, so that a host sees the client itself: its era, its name, what
it can draw. On the process's own anyio loop, once that runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge.elicitation.types import TASKS
from dcc_bridge.errors import own_version
from dcc_bridge.known_clients import ICON, REVISIONS

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

INSTRUCTIONS: Final = (
    "You work in applications for 3D work (Maya, Houdini, Blender, FreeCAD and others), in the "
    "scene that a person has open there. list_hosts lists them, use_host changes to another "
    "one; the other tools are those of the host in which you work, and change with it. Tools that "
    "delete or overwrite something ask that person first, and may take minutes to return. When "
    "they say no, nothing was changed: do not try to reach the same result another way, ask them "
    "what they would like. Everything a tool changes is an undo step in the host."
)
_META: Final = "io.modelcontextprotocol/"  # how the names begin of what stands in each request
_SPOKEN: Final = {"initialize": REVISIONS[1:], "server/discover": REVISIONS[:1]}
_CHANGES: Final = {"listChanged": True}
SERVER_INFO: Final = {
    "name": "dcc_bridge",
    "title": "Applications for 3D work",
    "version": own_version(),
    "icons": [ICON],
}
_CAPABILITIES: Final[dict[str, Any]] = {  # of both eras
    "completions": {},
    "prompts": _CHANGES,
    "resources": {**_CHANGES, "subscribe": True},
    "tools": _CHANGES,
}
GREETING: Final[dict[str, Any]] = {  # what a handshake is told
    "capabilities": {**_CAPABILITIES, "logging": {}},
    "instructions": INSTRUCTIONS,
}
DISCOVERED: Final[dict[str, Any]] = {  # what a probe is told
    "capabilities": {**_CAPABILITIES, "extensions": {TASKS: {}}},
    "instructions": INSTRUCTIONS,
    "supportedVersions": list(REVISIONS),
    "ttlMs": 3_600_000,
    "cacheScope": "private",
    "resultType": "complete",
}


def serve(running: Callable[[], Sequence[Instance]], wanted: Wanted, label: str) -> None:
    """Serve a client on stdin and stdout until it closes stdin. Main thread."""
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # what comes after the line stays
        line = stdin.readline()
    answer = first_answer(line)
    if answer is not None:
        sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
    import anyio  # 0.6 s with the SDK, and some clients wait 1 s for the first answer

    from dcc_bridge.client.proxy.router import run

    anyio.run(run, HostChoice(wanted), running, label, line, answer)


def first_answer(line: bytes) -> dict[str, Any] | None:
    """Answer a handshake or a probe as the lobby does; None for what the lobby has to look at."""
    try:
        request = json.loads(line)
        id_, method, params = request["id"], request["method"], request["params"]
        meta = params.get("_meta") or {}
        if method == "initialize" and params["clientInfo"]:
            able, version = params["capabilities"], params["protocolVersion"]
            result = {**GREETING, "protocolVersion": version, "serverInfo": SERVER_INFO}
        else:
            able, version = meta[f"{_META}clientCapabilities"], meta[f"{_META}protocolVersion"]
            result = {**DISCOVERED, "_meta": {f"{_META}serverInfo": SERVER_INFO}}
        is_plain = type(id_) in (int, str) and all(isinstance(it, dict) for it in able.values())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # it is no such message, or not as it has to be
    if not is_plain or version not in _SPOKEN.get(method, ()):
        return None
    return {"jsonrpc": "2.0", "id": id_, "result": result}


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
        problem = meant[0].start_problem()
        if problem is not None:
            raise LookupError(f"{meant[0].id} cannot be used. {problem} Tell the person so.")
        if meant[0].state != "ready":
            raise LookupError(f"{meant[0].id} is still starting. Try again in a few seconds.")
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
    """Name a host and its scene, and why no agent can connect to it."""
    name = f"{host.id} ({host.host}, {host.scene})"
    problem = host.start_problem()
    return f"{name}, to which no agent can connect: {problem}" if problem is not None else name
