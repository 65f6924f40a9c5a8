"""What a bridge tells of itself and of those who speak to it. Any thread."""

from __future__ import annotations

import platform
import time
from functools import cache
from importlib import metadata
from typing import Any, Final

from dcc_bridge.elicitation.routing import Audience
from dcc_bridge.host import Host
from dcc_bridge.server import tokens
from dcc_bridge.server.clients import Clients, Seen
from dcc_bridge.skills.registry import Registry

PACKAGES: Final = ("mcp", "uvicorn", "anyio", "greenlet", "pydantic", "PySide6-Essentials")


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
        sees_all = label in (None, tokens.COMMANDS)
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
