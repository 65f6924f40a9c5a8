"""A host's main loop as strict as a real one: it serves its queue only when somebody woke it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from heapq import heappop, heappush
from typing import Any

from dcc_bridge.threads.main_thread import MainThread


class StrictLoop:
    """Serves the queue after a wake, and calls what is due.

    Attributes:
        main: The queue to the main thread.
        tick: Called in each turn; gives the seconds that the loop may rest.
        paint: Called where a job has the host repaint its windows.
    """

    def __init__(self) -> None:
        self._woken = threading.Event()
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._lock = threading.Lock()
        self._count = 0
        self.tick: Callable[[], float] = lambda: 0.005
        self.paint: Callable[[], None] = lambda: None
        self.main = MainThread(self._wake, self._spin, repaint=self._repaint)

    def wake(self, delay: float) -> None:
        """Do nothing: whoever waits looks often enough, and must not serve anybody by that."""

    def later(self, seconds: float, fn: Callable[[], object]) -> None:
        """Call on the main thread after some seconds. Any thread."""
        with self._lock:
            self._count += 1
            heappush(self._due, (time.perf_counter() + seconds, self._count, fn))

    def run(self, until: Callable[[], bool]) -> None:
        """Serve until a condition holds."""
        while not until():
            if self._woken.wait(self.tick()):
                self._woken.clear()
                self.main.drain()
            while self._due and self._due[0][0] <= time.perf_counter():
                with self._lock:
                    fn = heappop(self._due)[2]
                fn()

    def _wake(self, delay: float) -> None:
        if delay:
            self.later(delay, self.main.drain)
        else:
            self._woken.set()

    def _repaint(self, serves_stop: bool) -> bool:
        self.paint()
        return False

    def _spin(self, future: Future[Any]) -> None:
        future.add_done_callback(lambda _: self._woken.set())
        self.run(future.done)
