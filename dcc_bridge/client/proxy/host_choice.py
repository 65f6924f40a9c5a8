"""Which of the running hosts a client works in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance


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
