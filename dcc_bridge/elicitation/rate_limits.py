"""Rate limits: how many questions of a client are open and reach the host, and who is muted.

A question of a client that the host is to draw stands in that client's *queue*:

- at most ``pending`` of them have a place: they are drawn, or wait for the dialog before them;
- the next ones wait in the order in which they came, and the person is notified once. A place that
  gets free is the next one's, whatever became of the question that had it;
- once ``most_waiting`` wait, one more is refused at once;
- a place is worth at most ``per_minute`` dialogs in a minute: whoever gets it sooner waits on it.

So a client that asks a thousand times has three dialogs and a queue behind them, and a question of
another client has three before it at most. Asking again after a wrong answer keeps the place, and
counts as the same dialog. Questions that a client draws itself are its own business, and so is the
host's own asking. Any thread; nothing is shown under the lock.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from dcc_bridge.elicitation.caller import BACKGROUND
from dcc_bridge.elicitation.text import span
from dcc_bridge.errors import Busy

WINDOW: Final = 60.0
MUTED_FOR: Final = 600.0
Show = Callable[[float], None]  # shows a question after some seconds; it has a place by then


@dataclass(eq=False, slots=True)
class QueueEntry:
    """One question's standing in its client's queue."""

    show: Show
    waits: bool = True  # another one of the same client has to go first
    at: float = 0.0


@dataclass(slots=True)
class _ClientQueue:
    """The questions of one client."""

    placed: set[QueueEntry] = field(default_factory=set)  # those with a place
    waiting: deque[QueueEntry] = field(default_factory=deque)  # those behind them
    dialogs: deque[float] = field(default_factory=deque)  # when those of the last minute come
    notified: float = -WINDOW  # when the person was last notified that some have to wait
    is_served: bool = False  # some thread is showing what has got a place


class RateLimiter:
    """The queues of all clients before the host's dialogs."""

    def __init__(
        self,
        per_minute: int,
        most_waiting: int,
        pending: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_minute = per_minute  # dialogs a client may cause in a minute; the next ones wait
        self._most_waiting = most_waiting  # questions that may wait for a place; more are refused
        self._pending = pending  # questions of a client that have a place at a time
        self._now = now  # the clock, in seconds
        self._lock = threading.Lock()
        self._queues: defaultdict[str, _ClientQueue] = defaultdict(_ClientQueue)
        self._muted: dict[str, float] = {}

    def enter(self, label: str, show: Show) -> QueueEntry | None:
        """Put a question into its client's queue.

        `show` is called once with the seconds after which it may be shown, as soon as it has a
        place; in here already, if there is one. Return what to leave with, or None if the client is
        muted, or too many wait already.
        """
        entry = QueueEntry(show)
        with self._lock:
            queue = self._queues[label]
            is_full = len(queue.waiting) >= self._most_waiting
            is_muted = self._muted.get(label, self._now()) > self._now()
            if is_muted or (is_full and len(queue.placed) >= self._pending):
                return None
            queue.waiting.append(entry)
        self._serve(queue)
        return entry

    def leave(self, label: str, entry: QueueEntry) -> None:
        """Give a place up, or the wait for one; the next one gets it."""
        with self._lock:
            queue = self._queues[label]
            if entry in queue.waiting:
                queue.waiting.remove(entry)
            queue.placed.discard(entry)
            if entry.at > self._now():  # it was never shown
                queue.dialogs.remove(entry.at)
                entry.at = 0.0
        self._serve(queue)

    def may_notify(self, label: str) -> bool:
        """Return whether it is time to notify the person again that a client's questions wait."""
        with self._lock:
            queue, now = self._queues[label], self._now()
            if queue.notified > now - WINDOW:
                return False
            queue.notified = now
            return True

    def mute(self, label: str) -> None:
        """Refuse a client's questions for a while; its calls that ask nothing go on."""
        with self._lock:
            self._muted[label] = self._now() + MUTED_FOR

    def unmute(self, label: str) -> None:
        """Let a client ask again."""
        with self._lock:
            self._muted.pop(label, None)

    @property
    def muted(self) -> dict[str, float]:
        """The muted clients, and for how many seconds they still are."""
        with self._lock:
            now = self._now()
            return {label: end - now for label, end in self._muted.items() if end > now}

    def mute_notice(self, label: str | None) -> str | None:
        """Return what a muted client is told instead of being asked about; None for another one."""
        if (left := self.muted.get(label or "")) is None:
            return None
        return f"the person muted {label} for {span(MUTED_FOR)}; {span(left)} left"

    def _serve(self, queue: _ClientQueue) -> None:
        """Show what can have a place. A loop, for what is shown may be answered at once."""
        with self._lock:
            if queue.is_served:
                return
            queue.is_served = True
        try:
            while (entry := self._next(queue)) is not None:
                entry.show(max(0.0, entry.at - self._now()))
        except BaseException:  # else `_next` did so, and another thread may serve it by now
            with self._lock:
                queue.is_served = False
            raise

    def _next(self, queue: _ClientQueue) -> QueueEntry | None:
        with self._lock:
            if not queue.waiting or len(queue.placed) >= self._pending:
                queue.is_served = False
                return None
            entry = queue.waiting.popleft()
            entry.waits = False
            entry.at = self._book(queue)
            queue.placed.add(entry)
            return entry

    def _book(self, queue: _ClientQueue) -> float:
        """Return the time at which the next dialog may be shown, and count it."""
        now, dialogs = self._now(), queue.dialogs
        while dialogs and dialogs[0] <= now - WINDOW:
            dialogs.popleft()
        free = dialogs[-self._per_minute] + WINDOW if len(dialogs) >= self._per_minute else now
        dialogs.append(max(now, free))
        return dialogs[-1]


class Shares:
    """Limits how many of something are open at a time: of one client, and of all together.

    What the host itself opens needs no share: the person asked for it.
    """

    def __init__(self, noun: str, of_a_client: int, of_all: int | None = None) -> None:
        self._noun = noun  # what they are, in the plural, for messages
        self._most_of_a_client = of_a_client  # how many of one client may be open
        self._most = of_all  # how many may be open together; None for as many as there are
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()

    def enter(self, label: str | None) -> None:
        """Take a place for one of a client, until `leave`; Busy where there is none."""
        if label is None:
            return
        most = 1 if label == BACKGROUND.label else self._most_of_a_client
        with self._lock:
            if self._open[label] >= most:
                raise Busy(
                    f"{most} {self._noun} of {label} are open already; try again once one of them "
                    "has ended."
                )
            if self._most is not None and self._open.total() >= self._most:
                raise Busy(
                    f"{self._most} {self._noun} are open in this host already; try again once some "
                    "of them have ended."
                )
            self._open[label] += 1

    def leave(self, label: str | None) -> None:
        """Give the place up."""
        if label is None:
            return
        with self._lock:
            self._open[label] = max(0, self._open[label] - 1)
