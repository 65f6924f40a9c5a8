"""A main loop for a process that has none. `run` and `spin` on the main thread, `wake` on any."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from dcc_bridge.main_thread import MainThread


class Pump:
    """A main loop for a process that has none: headless hosts and tests. Pure Python."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._delay: float | None = None
        self.main = MainThread(self.wake, self.spin)

    def wake(self, delay: float) -> None:
        """Have `drain` called after that many seconds. With 0 from any thread."""
        if delay:
            self._delay = delay
        else:
            self._event.set()

    def spin(self, future: Future[Any]) -> None:
        """Serve the queue until the future is done. Main thread."""
        future.add_done_callback(lambda _: self._event.set())
        self.run(future.done)

    def run(self, until: Callable[[], bool]) -> None:
        """Serve the queue until a condition holds; it is looked at after each wake."""
        while not until():
            self._event.wait(self._delay)
            self._event.clear()
            self._delay = None
            self.main.drain()
