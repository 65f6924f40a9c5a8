"""Which running host a command means. Any thread."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from dcc_bridge.cli.exits import UNREACHABLE, Failure
from dcc_bridge.config import Settings
from dcc_bridge.server import instances, tokens
from dcc_bridge.server.instances import Instance

if TYPE_CHECKING:
    from dcc_bridge.client.agent import Agent
    from dcc_bridge.client.connection import Era
    from dcc_bridge.client.person import Person

LABEL: Final = tokens.COMMANDS
"""Under which hosts know this command."""
TOKEN: Final = "DCC_BRIDGE_TOKEN"
START: Final = (
    "Start an application that has the plug-in (see: dcc-bridge status), or: dcc-bridge serve"
)


@dataclass(frozen=True, slots=True)
class Target:
    """A host that can be called.

    Attributes:
        url: Where it is.
        token: Proves who we are.
        host: Its name, as far as it is known.
    """

    url: str
    token: str = field(repr=False)
    host: str = "the host"

    def connect(
        self, *, era: Era = "auto", person: Person | None = None
    ) -> AbstractAsyncContextManager[Agent]:
        """Connect to it; see `connection.connect`."""
        from dcc_bridge.client import connection  # 0.5 s, and `list` needs neither

        return connection.connect(self.url, self.token, era=era, person=person)


def find(url: str | None) -> Target:
    """Give the host at a URL, or the one that is running.

    Raises:
        Failure: There is none, or it is not clear which one is meant.
    """
    running = instances.running(settings().runtime)
    return _known(_only(running)) if url is None else _at(url, running)


def instance(url: str | None) -> Instance:
    """Give the host of this user that runs at a URL, or the only one.

    Raises:
        Failure: There is none, or it is not clear which one is meant.
    """
    running = instances.running(settings().runtime)
    if url is None:
        return _only(running)
    found = [one for one in running if _address(one.url) == _address(url)]
    if not found:
        raise Failure(f"No host of yours runs at {url}. {START}", UNREACHABLE)
    return found[0]


def settings(**arguments: object) -> Settings:
    """Read the settings.

    Raises:
        Failure: The environment, or the studio's file, has one that cannot be read.
    """
    try:
        return Settings.load(**arguments).under()
    except ValueError as error:
        raise Failure(str(error)) from None


def _only(running: list[Instance]) -> Instance:
    if not running:
        raise Failure(f"No host is running. {START}", UNREACHABLE)
    if len(running) > 1:
        known = "\n".join(f"  {one.url}  {one.host}, {one.scene}" for one in running)
        raise Failure(f"{len(running)} hosts are running; say which one by its URL:\n{known}")
    return running[0]


def _at(url: str, running: list[Instance]) -> Target:
    address = _address(url)
    for instance in running:
        if _address(instance.url) == address:
            return _known(instance)
    token = os.environ.get(TOKEN)
    if token:
        return Target(url, token)
    raise Failure(f"No host of yours runs at {url}, and {TOKEN} is not set. {START}", UNREACHABLE)


def _known(instance: Instance) -> Target:
    return Target(instance.url, instance.token(LABEL), instance.host)


def _address(url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
        return host, parts.port
    except ValueError:
        raise Failure(f"{url} is not a URL.") from None
