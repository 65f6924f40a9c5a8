"""The port through which the panel reads and steers a bridge, and a snapshot of what it shows.

`dcc_bridge.bridge.Bridge` offers the port; a test may offer less than a server. Without Qt; read on
the main thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from dcc_bridge.callbacks import Unsubscribe
from dcc_bridge.consent.code_grants import CodeGrant
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

QUICK: Final = 0.4  # seconds after which a call is worth showing: shorter ones would only flicker
_AGES: Final = 10  # seconds after which what is told in minutes is told anew


class Port(Protocol):
    """A bridge, as a panel reads and steers it: a `Bridge` is one. Main thread.

    A panel outside of the core passes it to `PanelView.read` and `PanelView.press`, and calls the
    methods; the attributes are for those two.

    Attributes:
        main: The way to the main thread.
        broker: Puts the questions, and knows who is muted.
        grants: What was agreed to in advance.
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
        """Where agents reach it; "" as long as it starts, None once they cannot."""

    @property
    def problem(self) -> StartProblem | None:
        """Why agents cannot connect; None where they can, or can in a moment."""

    @property
    def is_paused(self) -> bool:
        """Whether no edit may begin for now."""

    def pause(self) -> None:
        """Let no edit begin until `resume`; reads go on. It raises nothing."""

    def resume(self) -> None:
        """Let edits begin again. It raises nothing."""

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
            label: The step's own, as `Host.undo_step` was given it.

        Returns:
            Whether the step was on top.
        """

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function whenever something changes that a panel shows. It raises nothing.

        Time passes, and the host's undo stack changes, without a call: a panel looks by itself now
        and then, say once a second.

        Args:
            fn: Called on any thread; it must be quick.

        Returns:
            What ends it; harmless the second time.
        """


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is open."""

    question: Question
    surfaces: tuple[Surface, ...]

    @property
    def is_here(self) -> bool:
        """Whether the person at the host can answer it now."""
        return "host" in self.surfaces


@dataclass(frozen=True, slots=True)
class State:
    """A snapshot of all that the panel shows."""

    at: float  # when this is, in seconds since the epoch
    host: str  # what the application is called
    address: str | None  # where agents reach it; "" as long as it starts, None once they cannot
    problem: str  # why agents cannot connect, and what to do; "" where they can
    is_paused: bool  # no edit may begin
    asked: tuple[Asked, ...]  # the open questions, oldest first
    live: tuple[Record, ...]  # the calls that run or wait, oldest first, without those that ask
    ended: tuple[Record, ...]  # the calls that ended, newest first
    grants: tuple[tuple[SessionGrant, float], ...]  # for the session, and the seconds left
    code_grants: tuple[CodeGrant, ...]  # who may run plain code for a while
    muted: Mapping[str, float]  # the labels that are muted, and for how many seconds
    clients: tuple[SeenClient, ...]  # who is connected, the one that spoke last first
    top: UndoMark  # what the host's own undo would undo
    local: LocalState  # the clients on this computer

    @property
    def undoable(self) -> Record | None:
        """The call whose step is on top of the host's undo stack."""
        top = self.top.label
        return next((it for it in self.ended if top and it.effect.label == top), None)


def _told(problem: StartProblem | None) -> str:
    return f"{problem.what}\n{problem.mend}" if problem is not None else ""


def looks_like(state: State, before: State) -> bool:
    """Whether the panel would show the same."""
    return _rests(before, state.at) and replace(state, at=before.at) == before


def is_due(port: Port, state: State) -> bool:
    """Whether something may be shown in another way that `watch` does not report."""
    now = tuple(port.clients.seen), port.address, port.host.undo_mark()
    is_same = now == (state.clients, state.address, state.top) and _rests(state, time.time())
    return not is_same or any(record.state in LIVE for record in port.recent.records())


def _rests(state: State, now: float) -> bool:
    """Whether time alone changes nothing: seconds count only while something goes on."""
    counts = (state.asked, state.live, state.grants, state.code_grants, state.muted)
    return not any(counts) and now // _AGES == state.at // _AGES


def read(port: Port) -> State:
    """Read how everything is. Main thread: the host is asked for its undo stack."""
    now = time.time()
    port.recent.follow_undo(port.host)
    records = port.recent.records()
    live = [record for record in reversed(records) if record.state in LIVE]
    asked = tuple(Asked(question, surfaces) for question, surfaces in port.broker.asked)
    asking = {item.question.call.id for item in asked}
    ended = (record for record in records if record.state not in LIVE)
    return State(
        at=now,
        host=port.host.name,
        address=port.address,
        problem=_told(port.problem),
        is_paused=port.is_paused,
        asked=asked,
        live=tuple(r for r in live if r.id not in asking and now - r.began >= QUICK),
        ended=tuple(sorted(ended, key=lambda it: it.ended or it.began, reverse=True)),
        grants=tuple((grant, port.grants.remaining(grant)) for grant in port.grants.live),
        code_grants=tuple(port.grants.code.live),
        muted=port.broker.audience.limits.muted,
        clients=tuple(port.clients.seen),
        top=port.host.undo_mark(),
        local=port.local_clients.now,
    )
