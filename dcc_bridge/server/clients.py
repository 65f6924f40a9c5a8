"""The clients that connected to this server, and the report for a client. Any thread.

This module does not import the SDK, so that a bridge can use it before its worker has imported the
SDK. `dcc_bridge.server.mcp_server` handles the clients' messages.
"""

from __future__ import annotations

import platform
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, Final

from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.elicitation import routing
from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.host import Host
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.skills.registry import Registry

MAX_CLIENTS: Final = 32
"""Clients that are remembered. The client that was silent the longest is dropped first."""
PACKAGES: Final = ("mcp", "uvicorn", "anyio", "greenlet", "pydantic", "PySide6-Essentials")


class ClientRegistry:
    """The clients that sent messages to this server. Several programs may use one label."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[Client, str], SeenClient] = OrderedDict()
        self._watchers = Callbacks()

    @property
    def seen(self) -> list[SeenClient]:
        """The clients, the one with the latest message first."""
        with self._lock:
            return list(reversed(self._seen.values()))

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function when a client is new, or can draw other questions than before.

        Returns:
            A function that ends this.
        """
        return self._watchers.add(fn)

    def note(self, seen: SeenClient) -> None:
        """Store a client as its latest message describes it. Worker."""
        key = (seen.client, seen.era)
        with self._lock:
            before = self._seen.pop(key, None)
            if before is not None and before.tasks:
                seen = replace(seen, tasks=True)
            self._seen[key] = seen
            if len(self._seen) > MAX_CLIENTS:
                self._seen.popitem(last=False)
        if before is None or (before.form, before.url) != (seen.form, seen.url):
            self._watchers.call()


def connection_report(
    host: Host,
    registry: ClientRegistry,
    skills: Registry,
    audience: routing.Audience,
    label: str | None,
) -> dict[str, Any]:
    """Return the state of the host, for a client.

    Args:
        host: The application.
        registry: The clients of the server.
        skills: The skills.
        audience: Who can be asked.
        label: The label of the client that reads the report, or None for the host itself. Only the
            host and the person's own commands see all clients; a client sees only itself.
    """
    sees_all = label in (None, CLI_LABEL)
    silent = audience.silent
    clients = []
    for known in registry.seen:
        if sees_all or known.client.label == label:
            clients.append({**_facts(known), "silent": known.client.label in silent})
    folders: Counter[str] = Counter()
    for entry in skills.entries():
        file = entry.skill.file
        folder = file.parent if file is not None else None
        folders[str(folder)] += 1
    return {
        "host": host.name,
        "version": host.version,
        "draws_questions": audience.host is not None,
        "python": platform.python_version(),
        "packages": packages(),
        "clients": clients,
        "replaced": skills.replaced,
        "folders": folders,
        "broken": {name: str(why) for name, why in sorted(skills.broken.items())},
    }


@cache
def packages() -> dict[str, str]:
    """Return the installed versions of packages of which some versions are known to fail."""
    from importlib import metadata  # 10 ms, which a host that starts need not wait for

    versions = {}
    for name in (DISTRIBUTION, *PACKAGES):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _facts(known: SeenClient) -> dict[str, Any]:
    return {
        "label": known.client.label,
        "name": known.client.name,
        "version": known.client.version,
        "protocol": known.era,
        "draws_forms": known.form,
        "opens_pages": known.url,
        "tasks": known.tasks,
        "seconds_ago": round(time.time() - known.at),
    }
