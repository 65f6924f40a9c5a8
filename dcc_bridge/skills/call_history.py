"""The calls that run, wait or ended lately, as they stand: for the panel and for the agents.

A `Record` is one call at one moment and never changes; `Recent` gives the newest ones, and tells
of each change. Any thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from dcc_bridge import callbacks, errors
from dcc_bridge.elicitation import secret, types
from dcc_bridge.elicitation.call import Call, Progress

log = logging.getLogger(__name__)

Status = Literal[
    "done",
    "refused",
    "failed",
    "no_consent",
    "partly_applied",
    "cancelled",
    "timed_out",
    "not_started",
    "unknown_outcome",
]
"""How a call ended.

"not_started" never began and never will; "timed_out" ran for longer than it may, saw it, and was
undone; "unknown_outcome" did not see it and may still change the scene.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call.

    Attributes:
        status: "done", or what kept it from being done.
        value: What the skill returned.
        error: A sentence for the agent where it is not done; None where the value says it.
    """

    status: Status
    value: Any = None
    error: str | None = None


def refusal(call: Call) -> Status:
    """Say what a refusal is: nobody said no where the call was cancelled."""
    return "cancelled" if call.ending.reason == types.CANCELLED else "refused"


def outcome_of_failure(call: Call, error: BaseException) -> Outcome:
    """Say what came of a call whose body raised, and log what the agent is not told.

    Args:
        call: Which one; its changes were undone.
        error: What it raised.
    """
    match error:
        case errors.Stopped():
            overdue = call.ending.is_overdue
            return Outcome("timed_out" if overdue else "cancelled", None, str(error))
        case errors.NotConfirmed():
            return Outcome(refusal(call), None, str(error))
        case errors.NoConsent():
            return Outcome("no_consent", None, str(error))
        case errors.BridgeError():
            return Outcome("failed", None, f"{call.skill}: {error}")
    trace = call.arguments.scrub(secret.format_error(error))
    log.warning("call %s: %s failed\n%s", call.id, call.skill, trace)
    reason, kind = str(error), type(error).__name__
    if not (reason and isinstance(error, ValueError)):
        reason = f"{kind}: {reason}" if reason else kind
    if not reason.endswith((".", "!", "?")):
        reason += "."
    return Outcome("failed", None, f"{call.skill} failed: {reason} Its changes were undone.")


State = Literal["queued", "running", "asking"] | Status
Watcher = Callable[["Record"], None]

LIVE: Final = ("queued", "running", "asking")  # the states of a call that has not ended


@dataclass(frozen=True, slots=True)
class Record:
    """One call, as it stands.

    Attributes:
        id: The call's own.
        skill: The skill's name.
        title: What a person reads.
        client: The label of the client that called, or None for the host itself.
        risk: "read", "edit" or "destructive".
        state: What it does, or how it ended.
        began: When it was made, in seconds since the epoch.
        ended: When it ended, or None.
        answered_by: Who answered its last question: "host", "client", "grant", "policy",
            "fallback", or "nobody" where its time was over; None before any answer.
        undo_label: The label of the one undo step that it left, or None.
        error: A sentence where it is not done, or None.
        progress: How much is done, of how much if that is known, and a word about it; or None.
    """

    id: str
    skill: str
    title: str
    client: str | None
    risk: str
    state: State
    began: float
    ended: float | None = None
    answered_by: str | None = None
    undo_label: str | None = None
    error: str | None = None
    progress: Progress | None = None

    @property
    def only_read(self) -> bool:
        """Whether it asked nobody and was to change nothing: there is little to know of it."""
        return self.risk == "read" and self.answered_by is None


class Recent:
    """All calls that have not ended, and the last ones that have."""

    def __init__(self, most: int = 100) -> None:
        """Begin with none.

        Args:
            most: How many ended calls are kept, of those that only read and of the others each.
        """
        self._lock = threading.Lock()
        self._live: OrderedDict[str, Record] = OrderedDict()
        self._ended: deque[Record] = deque(maxlen=most)
        self._reads: deque[Record] = deque(maxlen=most)
        self._watchers = callbacks.Callbacks()

    def records(self) -> list[Record]:
        """Give the calls, the newest first."""
        with self._lock:
            every = [*self._live.values(), *self._ended, *self._reads]
        return sorted(every, key=lambda record: record.began, reverse=True)

    def find(self, call: str) -> Record | None:
        """Give a call that has not ended, by its id."""
        with self._lock:
            return self._live.get(call)

    def watch(self, fn: Watcher) -> callbacks.Unsubscribe:
        """Be told of each change.

        Args:
            fn: Gets the record as it is now, on whatever thread changed it; it must be quick. Two
                changes on two threads may be told in either order: `records` has the last word.

        Returns:
            What ends it.
        """
        return self._watchers.add(fn)

    def follow(self, call: Call) -> Trail:
        """Take in a call that is queued.

        Returns:
            What writes its record from now on.
        """
        client = call.client.label if call.client is not None else None
        record = Record(
            call.id, call.skill, call.title, client, call.risk, "queued", began=time.time()
        )
        with self._lock:
            self._live[call.id] = record
        self._watchers.call(record)
        return Trail(self, call.id)

    def change(self, call: str, **changes: Any) -> None:
        """Write down what changed of a call; nothing can change of one that has ended.

        Args:
            call: Its id.
            **changes: Fields of `Record`.
        """
        with self._lock:
            before = self._live.get(call)
            if before is None:
                return
            record = replace(before, **changes)
            if record.state in LIVE:
                self._live[call] = record
            else:
                del self._live[call]
                record = replace(record, ended=time.time())
                (self._reads if record.only_read else self._ended).append(record)
        self._watchers.call(record)


class Trail:
    """The record of one call, as its run writes it."""

    def __init__(self, recent: Recent, call: str) -> None:
        self._recent = recent
        self._call = call
        self._lock = threading.Lock()
        self._questions = 0
        self.has_begun = False  # whether its body, or the question before it, was reached

    @property
    def asks(self) -> bool:
        """Whether a question of it is open."""
        return self._questions > 0

    def begin(self) -> None:
        """Note that it runs."""
        self.has_begun = True
        self._recent.change(self._call, state="running")

    def question_opened(self) -> None:
        """Note that a question of it is open."""
        with self._lock:
            self._questions += 1
        self._recent.change(self._call, state="asking")

    def question_closed(self, answered_by: str | None) -> None:
        """Note that a question of it was answered or ended; others may still be open.

        Args:
            answered_by: By whom, or None where the question was taken back.
        """
        with self._lock:
            self._questions -= 1
            state: State = "asking" if self._questions else "running"
        changes = {} if answered_by is None else {"answered_by": answered_by}
        self._recent.change(self._call, state=state, **changes)

    def report(self, progress: Progress) -> None:
        """Note how far it is."""
        self._recent.change(self._call, progress=progress)

    def end(self, state: Status, error: str | None = None, undo_label: str | None = None) -> None:
        """Note how it ended; only the first time counts."""
        self._recent.change(self._call, state=state, error=error, undo_label=undo_label)
