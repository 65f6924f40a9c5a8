"""Rate limits: how many questions of a client are open and reach the host, and who is muted.

Each client has a *queue* for the questions that the host is to draw:

- at most ``pending`` of its questions have a *place*: the host draws them, one after the other;
- further questions wait in the order in which they came, and the person is notified. As soon as a
  question with a place has ended, the next one gets the place;
- if ``most_waiting`` questions wait already, one more is refused at once;
- at most ``per_minute`` dialogs of a client are shown in a minute: a question that gets its place
  sooner is shown later.

So a client that asks a thousand times has three dialogs and a queue behind them, and a question of
another client has three before it at most. A question that is asked again after a wrong answer
keeps its place, and counts as the same dialog. Questions that a client draws itself are not
limited, and neither are the host's own. Any thread; nothing is shown under the lock.
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

WINDOW_S: Final = 60.0  # in which dialogs are counted
MUTE_DURATION_S: Final = 600.0
Show = Callable[[float], None]  # shows a question that has got a place, after so many seconds


@dataclass(eq=False, slots=True)
class QueueEntry:
    """A question in its client's queue.

    Attributes:
        show: Shows the question.
        waits: Whether the question has no place yet.
        shown_at: When the dialog may be shown, by the limiter's clock; 0 while the question waits.
    """

    show: Show
    waits: bool = True
    shown_at: float = 0.0


@dataclass(slots=True)
class _ClientQueue:
    """The questions of one client.

    Attributes:
        placed: The questions with a place.
        waiting: The questions that wait for a place.
        dialogs: The times of the dialogs of the last minute, and of those that come next.
        notified: When the person was last notified that questions have to wait.
        is_served: Whether a thread is giving places to the waiting questions.
    """

    placed: set[QueueEntry] = field(default_factory=set)
    waiting: deque[QueueEntry] = field(default_factory=deque)
    dialogs: deque[float] = field(default_factory=deque)
    notified: float = -WINDOW_S
    is_served: bool = False


class RateLimiter:
    """The queues of all clients before the host's dialogs."""

    def __init__(
        self,
        per_minute: int,
        most_waiting: int,
        pending: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set the limits of each client.

        Args:
            per_minute: How many dialogs may be shown in a minute.
            most_waiting: How many questions may wait for a place.
            pending: How many questions may have a place at a time.
            now: The clock, in seconds.
        """
        self._per_minute = per_minute
        self._most_waiting = most_waiting
        self._pending = pending
        self._now = now
        self._lock = threading.Lock()
        self._queues: defaultdict[str, _ClientQueue] = defaultdict(_ClientQueue)
        self._muted: dict[str, float] = {}  # until when each label is muted

    def enter(self, label: str, show: Show) -> QueueEntry | None:
        """Put a question into its client's queue.

        Args:
            label: The label of the client.
            show: Called once, as soon as the question has a place, with the seconds after which
                the dialog may be shown. If a place is free, `show` is called before `enter`
                returns.

        Returns:
            The entry, for `leave`; None if the client is muted, or too many questions wait already.
        """
        entry = QueueEntry(show)
        with self._lock:
            queue = self._queues[label]
            is_full = len(queue.waiting) >= self._most_waiting
            now = self._now()
            is_muted = self._muted.get(label, now) > now
            if is_muted or (is_full and len(queue.placed) >= self._pending):
                return None
            queue.waiting.append(entry)
        self._serve(queue)
        return entry

    def leave(self, label: str, entry: QueueEntry) -> None:
        """Take a question out of its queue; the next question gets its place."""
        with self._lock:
            queue = self._queues[label]
            if entry in queue.waiting:
                queue.waiting.remove(entry)
            queue.placed.discard(entry)
            if entry.shown_at > self._now():  # the dialog was never shown, so it does not count
                queue.dialogs.remove(entry.shown_at)
                entry.shown_at = 0.0
        self._serve(queue)

    def may_notify(self, label: str) -> bool:
        """Return whether the person may be notified that a client's questions wait: once a minute.

        If so, the notice counts as given.
        """
        with self._lock:
            queue = self._queues[label]
            now = self._now()
            if queue.notified > now - WINDOW_S:
                return False
            queue.notified = now
            return True

    def mute(self, label: str) -> None:
        """Refuse a client's questions for ten minutes; its calls that ask nothing go on."""
        with self._lock:
            self._muted[label] = self._now() + MUTE_DURATION_S

    def unmute(self, label: str) -> None:
        """Let a client ask again."""
        with self._lock:
            self._muted.pop(label, None)

    @property
    def muted(self) -> dict[str, float]:
        """The seconds for which clients are still muted, by their labels."""
        with self._lock:
            now = self._now()
            return {label: end - now for label, end in self._muted.items() if end > now}

    def mute_notice(self, label: str | None) -> str | None:
        """Return the notice for a muted client, whose questions are refused; None for any other."""
        left = self.muted.get(label or "")
        if left is None:
            return None
        return f"the person muted {label} for {span(MUTE_DURATION_S)}; {span(left)} left"

    def _serve(self, queue: _ClientQueue) -> None:
        """Show the waiting questions for which a place is free."""
        with self._lock:
            if queue.is_served:
                return
            queue.is_served = True
        try:
            # A question may be answered while it is shown, and then its place is free again.
            while (entry := self._place_next(queue)) is not None:
                entry.show(max(0.0, entry.shown_at - self._now()))
        except BaseException:
            with self._lock:  # at a normal end `_place_next` has done this
                queue.is_served = False
            raise

    def _place_next(self, queue: _ClientQueue) -> QueueEntry | None:
        """Assign a free place to the next question, and return its entry.

        If no question waits or no place is free, return None and end the serving.
        """
        with self._lock:
            if not queue.waiting or len(queue.placed) >= self._pending:
                queue.is_served = False
                return None
            entry = queue.waiting.popleft()
            entry.waits = False
            entry.shown_at = self._book_dialog(queue)
            queue.placed.add(entry)
            return entry

    def _book_dialog(self, queue: _ClientQueue) -> float:
        """Return the time at which the next dialog may be shown, and count the dialog."""
        now = self._now()
        dialogs = queue.dialogs
        while dialogs and dialogs[0] <= now - WINDOW_S:
            dialogs.popleft()
        shown_at = now
        if len(dialogs) >= self._per_minute:
            shown_at = max(now, dialogs[-self._per_minute] + WINDOW_S)
        dialogs.append(shown_at)
        return shown_at


class Shares:
    """Limits how many questions, or calls, are open at a time: of one client, and of all together.

    Each open question takes a share. The host's own questions need none: a person opens them.
    """

    def __init__(self, noun: str, of_a_client: int, of_all: int | None = None) -> None:
        """Set the limits.

        Args:
            noun: The name of what is limited, in the plural, for messages.
            of_a_client: How many may be open of one client.
            of_all: How many may be open together; None for no limit.
        """
        self._noun = noun
        self._most_of_a_client = of_a_client
        self._most = of_all
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()

    def enter(self, label: str | None) -> None:
        """Take a share for a client, until `leave`.

        Args:
            label: The label of the client; None for the host itself.

        Raises:
            Busy: No share is free.
        """
        if label is None:
            return
        most = self._most_of_a_client
        if label == BACKGROUND.label:
            most = 1
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
        """Return a share of a client."""
        if label is None:
            return
        with self._lock:
            self._open[label] = max(0, self._open[label] - 1)
