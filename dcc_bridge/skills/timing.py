"""Time limits, throttled values, and a watch on coroutines that block the loop. Any thread."""

from __future__ import annotations

import threading
import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, Generic, TypeVar

from dcc_bridge.elicitation.clock import Clock

_EARLY: Final = 0.005
"""Seconds by which a clock may be early."""


class Limit:
    """A clock that stands still while a person is asked, and calls back once."""

    def __init__(self, seconds: float | None, clock: Clock, over: Callable[[], None]) -> None:
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


T = TypeVar("T")

EVERY: Final = 0.1


class Paced(Generic[T]):
    """Hands on the newest of many values, at most ten a second, and the last one always."""

    def __init__(self, give: Callable[[T], None], clock: Clock) -> None:
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


LONGEST: Final = 0.2
"""Seconds after which other clients notice."""


@types.coroutine
def watched(
    coroutine: Coroutine[Any, Any, T], held: Callable[[float], None]
) -> Generator[Any, Any, T]:
    """Run a coroutine, and tell where it went on for too long without waiting.

    asyncio does so in its debug mode only, where it also slows everything down, and cannot name
    the skill.

    Args:
        coroutine: What is run.
        held: Told the seconds, once for each stretch over `LONGEST`.
    """
    error: BaseException | None = None
    while True:
        begin = time.perf_counter()
        try:
            waits_for = coroutine.send(None) if error is None else coroutine.throw(error)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            took = time.perf_counter() - begin
            if took > LONGEST:
                held(took)
        try:
            error = None
            yield waits_for
        except BaseException as thrown:  # noqa: BLE001 - a cancellation is the coroutine's own
            error = thrown
