"""Chooses the running host in which a client works. On the proxy's loop."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The kind of host that the client's settings ask for.

    Attributes:
        host: The application's name or a part of the name, in any case; None for any.
        scene: A glob that the scene's name matches, in any case; None for any.
        instance: The id of the host; None for any.
    """

    host: str | None = None
    scene: str | None = None
    instance: str | None = None

    def fits(self, host: Instance) -> bool:
        """Return whether a host is of this kind."""
        if self.host is not None and self.host.lower() not in host.host.lower():
            return False
        if self.scene is not None and not fnmatchcase(host.scene.lower(), self.scene.lower()):
            return False
        return self.instance is None or host.id == self.instance

    def __str__(self) -> str:
        """Return the kind in a few words, which begin with a space; "" for any host."""
        parts = (("name", self.host), ("scene", self.scene), ("id", self.instance))
        words = [f"{name} {value!r}" for name, value in parts if value is not None]
        if not words:
            return ""
        return f" with {', '.join(words)}"


class HostChoice:
    """The host in which the client works.

    At first that is the host of the wanted kind, if there is only one: among several, an agent or
    a person has to choose. A host that is gone is replaced only by its restart: the only host that
    began later, did not run at the same time, and is the same application with the same file open.
    So a call that was meant for one scene never reaches another scene.

    Args:
        wanted: The kind of host to begin with.

    Attributes:
        chosen: The host that was chosen last, which may have ended.
        running: The hosts that ran at the last look.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.chosen: Instance | None = None
        self.running: Sequence[Instance] = ()
        self._wanted = wanted
        # The ids of the hosts that ran when `chosen` was chosen: none of them is its restart.
        self._ids_at_choice: frozenset[str] = frozenset()
        # The host that `chosen` has replaced as its restart, until the agent is told.
        self._replaced: Instance | None = None
        # The ids of the hosts of whose other version the agent was told.
        self._told_versions: set[str] = set()

    def look(self, running: Sequence[Instance]) -> Instance | None:
        """Choose among the hosts that run now.

        Args:
            running: The hosts that run.

        Returns:
            The host in which the client works, if any.
        """
        self.running = running
        ready = [host for host in running if host.state == "ready"]
        if self.chosen is not None:
            chosen = self._find_again(self.chosen, ready)
        else:
            chosen = self._only_fitting(ready)
        if chosen is not None:
            self._choose(chosen)
        return chosen

    def _only_fitting(self, ready: Sequence[Instance]) -> Instance | None:
        fitting = [host for host in ready if self._wanted.fits(host)]
        if len(fitting) != 1:
            return None
        return fitting[0]

    def take_restart_notice(self, host: Instance) -> str | None:
        """Return the text that tells an agent once that a host is the restart of another one.

        None if the host is no restart, or the agent was told already.
        """
        ended = self._replaced
        if ended is None or self.chosen is None or self.chosen.id != host.id:
            return None
        self._replaced = None
        return (
            f"{describe(ended)} ended. You now work in another process, {host.id}, with the same "
            "file open. Unsaved changes, the selection and the undo steps are gone. Look at the "
            "scene before you go on."
        )

    def take_version_notice(self, host: Instance) -> str | None:
        """Return the text that tells an agent once that a host has another version of the bridge.

        None if the host has this version, or the agent was told already.
        """
        problem = host.version_problem()
        if problem is None or host.id in self._told_versions:
            return None
        self._told_versions.add(host.id)
        log.warning("%s", problem)  # to stderr, which clients keep as the log of this server
        return f"{problem} Tell the person. If a tool does not work, this may be the reason."

    def use(self, name: str) -> Instance:
        """Choose a host by its name.

        Args:
            name: The id of the host, or a part of the application's name that only one host has.

        Returns:
            The host.

        Raises:
            LookupError: No host or more than one has the name, or the host is not ready. The
                message says which hosts run.
        """
        matches = [host for host in self.running if host.id == name]
        if name and not matches:
            matches = [host for host in self.running if name.lower() in host.host.lower()]
        if not matches:
            raise LookupError(f"No running host is called {name!r}. {self.summary()}")
        if len(matches) > 1:
            raise LookupError(f"{len(matches)} running hosts are called {name!r}. {self.summary()}")
        host = matches[0]
        problem = host.start_problem()
        if problem is not None:
            raise LookupError(f"{host.id} cannot be used. {problem} Tell the person.")
        if host.state != "ready":
            raise LookupError(f"{host.id} is still starting. Try again in a few seconds.")
        self._choose(host)
        self._replaced = None  # the agent itself has chosen
        return host

    def summary(self) -> str:
        """Return a sentence for an agent that names the running hosts."""
        if not self.running:
            return "No host is running."
        hosts = "; ".join(describe(host) for host in self.running)
        sentences = [f"Running: {hosts}."]
        for host in self.running:
            problem = host.version_problem()
            if problem is not None:
                sentences.append(str(problem))
        return " ".join(sentences)

    def why_none(self) -> str:
        """Return sentences for an agent: why no host is connected, and what to do."""
        if self.chosen is not None:
            gone = f"{describe(self.chosen)}, in which you worked, is no longer running."
            return f"{gone} {self.summary()} {self._advice()}"
        return f"No host{self._wanted} is connected. {self.summary()} {self._advice()}"

    def _advice(self) -> str:
        if self.running:
            return (
                "Choose one with use_host. If it is not clear which one is meant, ask the person."
            )
        return (
            "Ask the person to start the application with dcc_bridge in it (or `dcc-bridge serve`),"
            " then call list_hosts."
        )

    def _choose(self, host: Instance) -> None:
        self.chosen = host
        self._ids_at_choice = frozenset(other.id for other in self.running)

    def _find_again(self, chosen: Instance, ready: Sequence[Instance]) -> Instance | None:
        """Return the host that was chosen, or its restart, if either is ready."""
        for host in ready:
            if host.id == chosen.id:
                return host
        restarts = [host for host in ready if self._is_restart(host, chosen)]
        if len(restarts) != 1:
            return None
        restart = restarts[0]
        if restart.pid != chosen.pid:  # else only the bridge in the application was restarted
            self._replaced = chosen
        return restart

    def _is_restart(self, host: Instance, ended: Instance) -> bool:
        is_alike = host.host == ended.host and host.file == ended.file
        if not is_alike or host.file is None:
            return False
        return host.started > ended.started and host.id not in self._ids_at_choice


def describe(host: Instance) -> str:
    """Return the names of a host and its scene, and the problem if no agent can connect."""
    name = f"{host.id} ({host.host}, {host.scene})"
    problem = host.start_problem()
    if problem is None:
        return name
    return f"{name}, to which no agent can connect: {problem}"
