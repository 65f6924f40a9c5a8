"""Session grants: edits, never deletions, that a person agreed to in advance. Any thread.

A grant is for one skill as its file was, one client, and up to so many items; it ends after an
hour. A person can list and revoke them: `SessionGrants.live`, `SessionGrants.remaining`,
`SessionGrants.revoke`, and `SessionGrants.watch` for a list that is drawn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.elicitation.call import Call

LASTS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """A grant for the session.

    Attributes:
        skill: The skill's name.
        title: What a person reads for it.
        digest: What its file was.
        client: The client's label.
        most: Items it may be about at most.
        until: When it ends, as the clock has it.
    """

    skill: str
    title: str
    digest: str
    client: str
    most: int
    until: float


class SessionGrants:
    """The grants of the session."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with no grant.

        Args:
            now: The clock, in seconds.
        """
        self._now = now
        self._lock = threading.Lock()
        self._grants: list[SessionGrant] = []
        self._callbacks = Callbacks()

    def allow(self, call: Call, most: int) -> None:
        """Add a grant; it replaces the same one for fewer items.

        Does nothing for what may lose something.
        """
        if not may_remember(call):
            return
        assert call.client is not None  # `may_remember` says so; the type checker cannot see it
        until = self._now() + LASTS
        label = call.client.label
        grant = SessionGrant(call.skill, call.title, call.digest, label, most, until)
        with self._lock:
            self._grants = [older for older in self._grants if not _replaces(grant, older)]
            self._grants.append(grant)
        self._callbacks.call()

    def covers(self, call: Call, count: int) -> bool:
        """Return whether a grant covers a call on so many items."""
        return may_remember(call) and any(_fits(grant, call, count) for grant in self.live)

    def revoke(self, grant: SessionGrant) -> None:
        """Revoke a grant."""
        with self._lock:
            if grant not in self._grants:
                return
            self._grants.remove(grant)
        self._callbacks.call()

    def remaining(self, grant: SessionGrant) -> float:
        """Return the seconds until a grant ends by itself; 0 for one that ended."""
        return max(0.0, grant.until - self._now())

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function whenever a grant is added or revoked, on any thread.

        It is not called when a grant ends by itself: whoever shows `remaining` looks again anyway.
        """
        return self._callbacks.add(fn)

    @property
    def live(self) -> list[SessionGrant]:
        """The grants that have not ended, the oldest first."""
        with self._lock:
            self._grants = [grant for grant in self._grants if grant.until > self._now()]
            return list(self._grants)


def may_remember(call: Call) -> bool:
    """Return whether a call is of a kind that can be granted for the session."""
    return call.risk == "edit" and call.client is not None and bool(call.digest)


def _replaces(grant: SessionGrant, older: SessionGrant) -> bool:
    """Return whether a grant covers all that an older one did."""
    same = (grant.skill, grant.digest, grant.client) == (older.skill, older.digest, older.client)
    return same and grant.most >= older.most


def _fits(grant: SessionGrant, call: Call, count: int) -> bool:
    same = (grant.skill, grant.digest) == (call.skill, call.digest)
    return (
        same
        and call.client is not None
        and grant.client == call.client.label
        and count <= grant.most
    )
