"""How long a skill may run. Any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from dcc_bridge.callbacks import CallLater

_EARLY: Final = 0.005
"""Seconds by which a clock may be early."""


class Limit:
    """A clock that stands still while a person is asked, and calls back once."""

    def __init__(self, seconds: float | None, clock: CallLater, over: Callable[[], None]) -> None:
        """Stand still at first.

        Args:
            seconds: How long may be run; None for any time.
            clock: Calls back after some seconds; gives what stops it.
            over: Called once, on any thread, when it has run for so long.
        """
        self._left = seconds
        self._clock = clock
        self._over = over
        self._lock = threading.Lock()
        self._since: float | None = None
        self._stop: Callable[[], None] = lambda: None

    def go(self) -> None:
        """Run, or go on running."""
        with self._lock:
            if self._left is None or self._since is not None:
                return
            self._since = time.monotonic()
            self._stop = self._clock(self._left, self._look)

    def rest(self) -> None:
        """Stand still."""
        with self._lock:
            if self._left is None or self._since is None:
                return
            self._left = max(0.0, self._left - (time.monotonic() - self._since))
            self._since = None
            self._stop()

    def end(self) -> None:
        """Never call back any more."""
        with self._lock:
            self._left = None
            self._stop()

    def _look(self) -> None:
        with self._lock:
            if self._left is None or self._since is None:
                return
            if time.monotonic() - self._since < self._left - _EARLY:
                return  # it rested meanwhile, and a later clock runs
            self._left = None
        self._over()
