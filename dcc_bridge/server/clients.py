"""The clients that spoke to this server, and what one may know of the bridge. Any thread.

Free of the SDK, so that a bridge can have it before its worker has imported that; the messages are
looked at in `dcc_bridge.server.mcp_server`.
"""

from __future__ import annotations

import platform
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final

from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.elicitation import routing
from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.host import Host
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.skills.registry import Registry

MOST: Final = 32  # clients that are remembered; the one silent the longest is forgotten first
PACKAGES: Final = ("mcp", "uvicorn", "anyio", "greenlet", "pydantic", "PySide6-Essentials")


class ClientRegistry:
    """The clients that spoke to this server. One label may be used by several programs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[Client, str], SeenClient] = OrderedDict()
        self._watchers = Callbacks()

    @property
    def seen(self) -> list[SeenClient]:
        """The clients, the one that spoke last first."""
        with self._lock:
            return list(reversed(self._seen.values()))

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function when a client comes or says something else of itself."""
        return self._watchers.add(fn)

    def note(self, seen: SeenClient) -> None:
        """Take in what a message shows of its client. Worker."""
        key = seen.client, seen.era
        with self._lock:
            before = self._seen.pop(key, None)
            self._seen[key] = seen
            if len(self._seen) > MOST:
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
    """Report the state of the host to the client of a label, or to the host itself (None)."""
    # a client learns nothing of others; the person's own commands do
    sees_all, silent = label in (None, CLI_LABEL), audience.silent
    seen = [known for known in registry.seen if sees_all or known.client.label == label]
    return {
        "host": host.name,
        "version": host.version,
        "draws_questions": audience.host is not None,
        "python": platform.python_version(),
        "packages": packages(),
        "clients": [{**_facts(it), "silent": it.client.label in silent} for it in seen],
        "replaced": skills.replaced,
        "folders": Counter(str(it.skill.file and it.skill.file.parent) for it in skills.entries()),
        "broken": {name: str(why) for name, why in sorted(skills.broken.items())},
    }


@cache
def packages() -> dict[str, str]:
    """Give the versions of the installed packages of which some versions are known to break."""
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
        "seconds_ago": round(time.time() - known.at),
    }
