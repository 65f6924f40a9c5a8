"""Which clients are there: what each one says of itself, and what it can do. Any thread.

The server's messages are looked at in `dcc_bridge.server.mcp`; this module imports nothing of the
SDK, so that a bridge can have it before its worker has imported that.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.elicitation.call import Client

MOST: Final = 32
"""Clients that are remembered; the one that was silent the longest is forgotten first."""


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
        self._watchers = Callbacks()

    @property
    def seen(self) -> list[Seen]:
        """The clients, the one that spoke last first."""
        with self._lock:
            return list(reversed(self._seen.values()))

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
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
