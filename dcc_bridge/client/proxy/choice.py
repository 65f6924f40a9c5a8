"""Which of the running hosts is meant. On the proxy's loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Protocol


class Host(Protocol):
    """A running host, as it wrote itself down."""

    @property
    def id(self) -> str:
        """Its name among the hosts of this computer."""
        ...

    @property
    def url(self) -> str:
        """Where its server is."""
        ...

    @property
    def host(self) -> str:
        """The application's name."""
        ...

    @property
    def scene(self) -> str:
        """The scene that is open in it."""
        ...

    @property
    def state(self) -> str:
        """Whether it is "ready"."""
        ...

    def token(self, label: str) -> str:
        """Make the token for a client with that label."""
        ...

    def told(self) -> dict[str, Any]:
        """Give what anybody may see of it."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person who set the client up asked for; None for "any".

    Attributes:
        host: The application's name or a part of it, in any case.
        scene: A glob that the scene's name matches.
        instance: A host's id.
    """

    host: str | None = None
    scene: str | None = None
    instance: str | None = None

    def fits(self, host: Host) -> bool:
        """Tell whether a host is what was asked for."""
        return (
            (self.host is None or self.host.lower() in host.host.lower())
            and (self.scene is None or fnmatchcase(host.scene.lower(), self.scene.lower()))
            and (self.instance is None or host.id == self.instance)
        )

    def __str__(self) -> str:
        """Say it in a few words, beginning with a space; nothing where any host will do."""
        told = ("host", self.host), ("scene", self.scene), ("id", self.instance)
        words = ", ".join(f"{name} {value!r}" for name, value in told if value is not None)
        return f" with {words}" if words else ""


class Choice:
    """The host in which the client works.

    One that fits, if it is the only one: among several, an agent or a person has to say. A host
    that is gone is followed by the one with the same application and the same scene, and by no
    other: a call that was meant for one scene never reaches another one.
    """

    def __init__(self, wanted: Wanted) -> None:
        """Begin with none."""
        self._wanted = wanted
        self._held: Host | None = None
        self._found: Sequence[Host] = ()

    @property
    def found(self) -> Sequence[Host]:
        """The hosts that ran a moment ago."""
        return self._found

    @property
    def held(self) -> Host | None:
        """The host that was chosen last, be it there or gone."""
        return self._held

    def look(self, found: Sequence[Host]) -> Host | None:
        """Take in which hosts run, and give the one that is meant."""
        self._found = found
        ready = [one for one in found if one.state == "ready"]
        chosen = _same(self._held, ready) if self._held is not None else self._only(ready)
        self._held = chosen or self._held
        return chosen

    def use(self, name: str) -> Host:
        """Choose a host.

        Args:
            name: Its id, or a part of the application's name where only one of that name runs.

        Raises:
            LookupError: There is none, more than one, or it is not ready; says which there are.
        """
        exact = [one for one in self._found if one.id == name]
        meant = exact or [one for one in self._found if name and name.lower() in one.host.lower()]
        if len(meant) != 1:
            which = "No running host is" if not meant else f"{len(meant)} running hosts are"
            raise LookupError(f"{which} called {name!r}. {self.told()}")
        if meant[0].state != "ready":
            raise LookupError(f"{meant[0].id} is only starting. Try again in a few seconds.")
        self._held = meant[0]
        return meant[0]

    def told(self) -> str:
        """Say which hosts run, for an agent."""
        if not self._found:
            return "No host is running."
        return f"Running: {'; '.join(map(named, self._found))}."

    def why_none(self) -> str:
        """Say why no host is connected, and what to do."""
        if self._held is not None:
            gone = f"{named(self._held)}, in which you worked, is not running any more."
            return f"{gone} {self.told()} {self._advice()}"
        return f"No host{self._wanted} is connected. {self.told()} {self._advice()}"

    def _advice(self) -> str:
        if self._found:
            return "Choose one with use_host; ask the person if it is not clear which is meant."
        return (
            "Ask the person to start the application with dcc_bridge in it (or `dcc-bridge serve`),"
            " and call list_hosts then."
        )

    def _only(self, ready: Iterable[Host]) -> Host | None:
        fitting = [one for one in ready if self._wanted.fits(one)]
        return fitting[0] if len(fitting) == 1 else None


def named(host: Host) -> str:
    """Name a host and its scene."""
    return f"{host.id} ({host.host}, {host.scene})"


def _same(held: Host, ready: Sequence[Host]) -> Host | None:
    """Give the host itself, or the one that followed it."""
    alike = [one for one in ready if (one.host, one.scene) == (held.host, held.scene)]
    return next((one for one in ready if one.id == held.id), next(iter(alike), None))
