"""Values that come faster than anybody reads them. Any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from dcc_bridge.callbacks import CallLater

T = TypeVar("T")

EVERY: Final = 0.1


class Paced(Generic[T]):
    """Hands on the newest of many values, at most ten a second, and the last one always."""

    def __init__(self, give: Callable[[T], None], clock: CallLater) -> None:
        """Take where they go.

        Args:
            give: Gets a value, on the clock's thread or on that of `flush`; never two at once.
            clock: Calls back after some seconds; gives what stops it.
        """
        self._give = give
        self._clock = clock
        self._lock = threading.Lock()
        self._giving = threading.Lock()
        self._newest: list[T] = []
        self._waits = False
        self._given = 0.0

    def __call__(self, value: T) -> None:
        """Take a value, and return at once."""
        with self._lock:
            self._newest = [value]
            if self._waits:
                return
            self._waits = True
            delay = max(0.0, self._given + EVERY - time.monotonic())
        self._clock(delay, self.flush)

    def flush(self) -> None:
        """Hand on now what has not been yet."""
        with self._giving:
            with self._lock:
                values, self._newest = self._newest, []
                self._waits = False
                self._given = time.monotonic()
            for value in values:
                self._give(value)
