"""The port through which a panel reads and steers a bridge, and a snapshot of the bridge.

A panel calls `read` for a `State`, draws it, and calls `is_due` now and then to see whether to read
again. `dcc_bridge.bridge.Bridge` is a `Port`. Without Qt; main thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from dcc_bridge.callbacks import Unsubscribe
from dcc_bridge.consent.grants import SessionGrant, SessionGrants
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.elicitation.question import Question, Surface
from dcc_bridge.host import Host, UndoMark
from dcc_bridge.local_clients import LocalClients, LocalState
from dcc_bridge.skills.call_history import LIVE, Recent, Record
from dcc_bridge.threads.main_thread import MainThread

if TYPE_CHECKING:
    from dcc_bridge.server.clients import ClientRegistry
    from dcc_bridge.server.start_problem import StartProblem

MIN_SHOWN_S: Final = 0.4  # a call is shown once it has run for so long: else it would only flicker
_AGE_INTERVAL_S: Final = 10  # after which the ages in minutes are drawn again


class Port(Protocol):
    """A bridge, as a panel reads and steers it: a `Bridge` is one. Main thread.

    A panel in a plug-in calls the methods, and passes the port to `PanelView.read` and
    `PanelView.press`, which use the attributes.

    Attributes:
        main: The way to the main thread.
        broker: Puts the questions, and knows who is muted.
        grants: The answers that were given in advance.
        recent: The history of the calls.
        clients: The clients that are connected.
        local_clients: The clients that are installed on this computer.
    """

    main: MainThread
    broker: Broker
    grants: SessionGrants
    recent: Recent
    clients: ClientRegistry
    local_clients: LocalClients

    @property
    def host(self) -> Host:
        """The application."""

    @property
    def address(self) -> str | None:
        """The address at which agents connect; "" while the bridge starts, None if they cannot."""

    @property
    def problem(self) -> StartProblem | None:
        """Why agents cannot connect; None where they can, or can in a moment."""

    @property
    def is_paused(self) -> bool:
        """Whether no edit may begin for now."""

    def pause(self) -> None:
        """Let no edit begin until `resume`; reads go on. It raises nothing."""

    def resume(self) -> None:
        """Allow edits again. It raises nothing."""

    def cancel(self, call: str) -> object:
        """End a call: a queued one never begins, what a running one changed is undone.

        It raises nothing.

        Args:
            call: The id of the call, as `CallView.id` and the key of its row have it.

        Returns:
            True if the call still went on.
        """

    def undo(self, label: str) -> bool:
        """Undo an agent's step if it is on top of the host's undo stack.

        It raises nothing: if the host cannot undo all of the step, the person is told.

        Args:
            label: The label of the step, as `Host.undo_step` was given it.

        Returns:
            Whether the step was on top.
        """

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function whenever something changes that a panel shows. It raises nothing.

        Time passes, and the host's undo stack changes, without a call: a panel looks by itself now
        and then, say once a second.

        Args:
            fn: The function; called on any thread, and it must be quick.

        Returns:
            A function that takes the callback out; harmless the second time.
        """


@dataclass(frozen=True, slots=True)
class PanelQuestion:
    """An open question, as the panel lists it.

    Attributes:
        question: The question.
        surfaces: The surfaces that draw the question; none while it waits for its turn.
    """

    question: Question
    surfaces: tuple[Surface, ...]

    @property
    def is_here(self) -> bool:
        """Whether the person at the host can answer the question now."""
        return "host" in self.surfaces


@dataclass(frozen=True, slots=True)
class State:
    """A snapshot of all that the panel shows.

    Attributes:
        at: When the snapshot was made, in seconds since the epoch.
        host: The name of the application.
        address: The address at which agents connect; "" while the bridge starts, None if they
            cannot.
        problem: Why agents cannot connect, and what to do; "" where they can.
        is_paused: Whether no edit may begin.
        asked: The open questions, the oldest first.
        live: The calls that run or are queued, the oldest first, without the calls that ask.
        ended: The calls that ended, the newest first.
        grants: The grants for the session, each with the seconds that are left.
        muted: The seconds for which clients are still muted, by their labels.
        clients: The connected clients, the one whose last message is newest first.
        top: The step on top of the host's undo stack.
        local: The clients on this computer.
        labels: The entries of the host's undo stack, the newest last; empty where the
            host lists none.
    """

    at: float
    host: str
    address: str | None
    problem: str
    is_paused: bool
    asked: tuple[PanelQuestion, ...]
    live: tuple[Record, ...]
    ended: tuple[Record, ...]
    grants: tuple[tuple[SessionGrant, float], ...]
    muted: Mapping[str, float]
    clients: tuple[SeenClient, ...]
    top: UndoMark
    local: LocalState
    labels: tuple[str, ...] = ()

    def label_at(self, depth: int) -> str | None:
        """Return the label of the entry at a depth of the undo stack; None where it is unknown."""
        if depth == self.top.depth:
            return self.top.label
        position = len(self.labels) - 1 - (self.top.depth - depth)
        if 0 <= position < len(self.labels):
            return self.labels[position]
        return None

    @property
    def undoable(self) -> Record | None:
        """The call whose step is on top of the host's undo stack."""
        label = self.top.label
        if not label:
            return None
        for record in self.ended:
            if record.effect.label == label:
                return record
        return None


def looks_like(state: State, before: State) -> bool:
    """Return whether the panel would show the same for both snapshots."""
    return _is_at_rest(before, state.at) and replace(state, at=before.at) == before


def is_due(port: Port, state: State) -> bool:
    """Return whether the panel may have to change for a reason that `Port.watch` does not report.

    Args:
        port: The bridge; its host is asked for the undo stack.
        state: The snapshot that the panel shows.
    """
    if tuple(port.clients.seen) != state.clients:
        return True
    if port.address != state.address or port.host.undo_mark() != state.top:
        return True
    if not _is_at_rest(state, time.time()):
        return True
    return any(record.state in LIVE for record in port.recent.records())


def _is_at_rest(state: State, now: float) -> bool:
    """Return whether no shown time has changed: no seconds are shown, and the ages are the same."""
    if state.asked or state.live or state.grants or state.muted:
        return False
    return now // _AGE_INTERVAL_S == state.at // _AGE_INTERVAL_S


def read(port: Port) -> State:
    """Return a snapshot of a bridge. Main thread: the host is asked for its undo stack."""
    now = time.time()
    port.recent.follow_undo(port.host)
    records = port.recent.records()
    asked = tuple(PanelQuestion(question, surfaces) for question, surfaces in port.broker.asked)
    problem = ""
    if port.problem is not None:
        problem = f"{port.problem.what}\n{port.problem.mend}"
    return State(
        at=now,
        host=port.host.name,
        address=port.address,
        problem=problem,
        is_paused=port.is_paused,
        asked=asked,
        live=_live(records, asked, now),
        ended=_ended(records),
        grants=tuple((grant, port.grants.remaining(grant)) for grant in port.grants.live),
        muted=port.broker.audience.limits.muted,
        clients=tuple(port.clients.seen),
        top=port.host.undo_mark(),
        local=port.local_clients.now,
        labels=tuple(port.host.undo_labels),
    )


def _live(
    records: Sequence[Record], asked: Sequence[PanelQuestion], now: float
) -> tuple[Record, ...]:
    """Return the calls for `State.live`, without those that began only now."""
    asking = {item.question.call.id for item in asked}
    live = []
    for record in reversed(records):
        is_shown = record.id not in asking and now - record.began >= MIN_SHOWN_S
        if record.state in LIVE and is_shown:
            live.append(record)
    return tuple(live)


def _ended(records: Sequence[Record]) -> tuple[Record, ...]:
    ended = [record for record in records if record.state not in LIVE]
    ended.sort(key=lambda record: record.ended or record.began, reverse=True)
    return tuple(ended)
