"""What the panel shows, as it is at one moment. Without Qt; read on the main thread."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from dcc_bridge.elicitation.grants import SessionGrant
from dcc_bridge.elicitation.question import Question, Surface
from dcc_bridge.qt.panel.port import Port, Seen
from dcc_bridge.skills.recent import LIVE, Record

QUICK: Final = 0.4
"""Seconds after which a call is worth showing: shorter ones would only flicker."""
_AGES: Final = 10
"""Seconds after which what is told in minutes is told anew."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is open.

    Attributes:
        question: Which one.
        surfaces: Where it is.
        record: The call that it belongs to, if that is known.
    """

    question: Question
    surfaces: tuple[Surface, ...]
    record: Record | None = None

    @property
    def is_here(self) -> bool:
        """Whether the person at the host can answer it now."""
        return "host" in self.surfaces


@dataclass(frozen=True, slots=True)
class State:
    """All that the panel shows.

    Attributes:
        at: When this is, in seconds since the epoch.
        host: What the application is called.
        address: Where agents reach it, or None while they cannot.
        is_paused: No edit may begin.
        asked: The open questions, oldest first.
        running: The calls that run, oldest first, without those that ask.
        queued: The calls that wait, oldest first.
        ended: The calls that ended, newest first.
        grants: What was agreed to for the session, and for how many seconds.
        muted: The labels that are muted, and for how many seconds.
        clients: Who is connected, the one that spoke last first.
        top: What the host's own undo would undo.
    """

    at: float
    host: str
    address: str | None
    is_paused: bool
    asked: tuple[Asked, ...]
    running: tuple[Record, ...]
    queued: tuple[Record, ...]
    ended: tuple[Record, ...]
    grants: tuple[tuple[SessionGrant, float], ...]
    muted: Mapping[str, float]
    clients: tuple[Seen, ...]
    top: str | None

    @property
    def undoable(self) -> Record | None:
        """The call whose step is on top of the host's undo stack."""
        return next((one for one in self.ended if one.undo_label and is_top(one, self)), None)


def is_top(record: Record, state: State) -> bool:
    """Whether a call's step is the one that the host would undo."""
    return record.undo_label is not None and record.undo_label == state.top


def looks_like(state: State, before: State) -> bool:
    """Whether the panel would show the same as before: seconds count only while something goes on.

    How long ago a client spoke is told in minutes.
    """
    counts = (state.asked, state.running, state.queued, state.grants, state.muted)
    is_near = state.at // _AGES == before.at // _AGES
    return is_near and not any(counts) and replace(state, at=before.at) == before


def read(port: Port) -> State:
    """See how everything is. Main thread: the host is asked for its undo stack."""
    now = time.time()
    records = port.recent.records()
    live = [one for one in reversed(records) if one.state in LIVE]
    by_id = {one.id: one for one in live}
    asked = tuple(
        Asked(question, surfaces, by_id.get(question.call.id))
        for question, surfaces in port.broker.asked
    )
    asking = {one.question.call.id for one in asked}
    shown = [one for one in live if one.id not in asking and now - one.began >= QUICK]
    ended = sorted(
        (one for one in records if one.state not in LIVE),
        key=lambda one: one.ended or one.began,
        reverse=True,
    )
    audience = port.broker.audience
    return State(
        at=now,
        host=port.host.name,
        address=port.address,
        is_paused=port.is_paused,
        asked=asked,
        running=tuple(one for one in shown if one.state != "queued"),
        queued=tuple(one for one in shown if one.state == "queued"),
        ended=tuple(ended),
        grants=tuple((one, audience.grants.remaining(one)) for one in audience.grants.live),
        muted=audience.limits.muted,
        clients=tuple(port.clients.seen),
        top=port.host.undo_label(),
    )
