"""How often a client may ask at the host, and which ones are muted. Any thread."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Final

WINDOW: Final = 60.0
MUTED_FOR: Final = 600.0


class Limits:
    """Counts the dialogs that each client causes."""

    def __init__(
        self,
        per_minute: int,
        most_waiting: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set the limits.

        Args:
            per_minute: Dialogs a client may cause in a minute; the next ones wait.
            most_waiting: Questions that may wait; one more is refused.
            now: The clock, in seconds.
        """
        self._per_minute = per_minute
        self._most_waiting = most_waiting
        self._now = now
        self._lock = threading.Lock()
        self._shown: defaultdict[str, deque[float]] = defaultdict(deque)
        self._muted: dict[str, float] = {}

    def book(self, label: str) -> float | None:
        """Take a place for a dialog.

        Returns:
            Seconds until it may be shown, or None if there are too many already.
        """
        with self._lock:
            now, shown = self._now(), self._shown[label]
            while shown and shown[0] <= now - WINDOW:
                shown.popleft()
            if len(shown) >= self._per_minute + self._most_waiting:
                return None
            free = shown[-self._per_minute] + WINDOW if len(shown) >= self._per_minute else now
            at = max(now, free)
            shown.append(at)
            return at - now

    def mute(self, label: str, seconds: float = MUTED_FOR) -> None:
        """Refuse a client's questions for a while."""
        with self._lock:
            self._muted[label] = self._now() + seconds

    def unmute(self, label: str) -> None:
        """Hear a client again."""
        with self._lock:
            self._muted.pop(label, None)

    @property
    def muted(self) -> dict[str, float]:
        """The muted clients, and for how many seconds they still are."""
        with self._lock:
            now = self._now()
            return {label: end - now for label, end in self._muted.items() if end > now}
