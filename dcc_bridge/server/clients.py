"""The clients that spoke to this server, and what one may know of the bridge. Any thread.

Free of the SDK, so that a bridge can have it before its worker has imported that; the messages are
looked at in `dcc_bridge.server.mcp_server`.
"""

from __future__ import annotations

import platform
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any, Final

from dcc_bridge.elicitation.audience import Audience
from dcc_bridge.elicitation.call import Client
from dcc_bridge.elicitation.watchers import Undo, Watchers
from dcc_bridge.host import Host
from dcc_bridge.server.discovery import CLI_LABEL
from dcc_bridge.skills.registry import Registry

MOST: Final = 32
"""Clients that are remembered; the one that was silent the longest is forgotten first."""
PACKAGES: Final = ("mcp", "uvicorn", "anyio", "greenlet", "pydantic", "PySide6-Essentials")


@dataclass(frozen=True, slots=True)
class Seen:
    """A client as its last message showed it.

    Attributes:
        client: Its label, and what it says of itself.
        era: The version of the protocol that it speaks.
        form: It says that it can draw a form.
        url: It says that it can open a page.
        at: When its last message came, in seconds since the epoch.
    """

    client: Client
    era: str
    form: bool
    url: bool
    at: float


class Clients:
    """The clients that spoke to this server. One label may be used by several programs."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[Client, str], Seen] = OrderedDict()
        self._watchers = Watchers()

    @property
    def seen(self) -> list[Seen]:
        """The clients, the one that spoke last first."""
        with self._lock:
            return list(reversed(self._seen.values()))

    def watch(self, fn: Callable[[], None]) -> Undo:
        """Call a function when a client comes or says something else of itself.

        Returns:
            What ends it.
        """
        return self._watchers.add(fn)

    def note(self, seen: Seen) -> None:
        """Take in what a message shows of its client. Worker."""
        key = seen.client, seen.era
        with self._lock:
            before = self._seen.pop(key, None)
            self._seen[key] = seen
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)
        if before is None or replace(before, at=seen.at) != seen:
            self._watchers.call()


class About:
    """Tells it."""

    def __init__(
        self, host: Host, clients: Clients, registry: Registry, audience: Audience
    ) -> None:
        """Take those who know."""
        self._host = host
        self._clients = clients
        self._registry = registry
        self._audience = audience

    def __call__(self, label: str | None) -> dict[str, Any]:
        """Tell what a client may know: of other clients only the person's own commands."""
        sees_all = label in (None, CLI_LABEL)
        seen = [one for one in self._clients.seen if sees_all or one.client.label == label]
        silent = self._audience.silent
        broken = sorted(self._registry.broken.items())
        return {
            "host": self._host.name,
            "version": self._host.version,
            "draws_questions": self._audience.host is not None,
            "python": platform.python_version(),
            "packages": packages(),
            "clients": [{**_told(one), "silent": one.client.label in silent} for one in seen],
            "broken": {name: str(why) for name, why in broken},
        }


@cache
def packages() -> dict[str, str]:
    """Give the versions of what is known to break in some of them, as far as it is installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _told(one: Seen) -> dict[str, Any]:
    return {
        "label": one.client.label,
        "name": one.client.name,
        "version": one.client.version,
        "protocol": one.era,
        "draws_forms": one.form,
        "opens_pages": one.url,
        "seconds_ago": round(time.time() - one.at),
    }
