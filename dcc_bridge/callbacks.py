"""Callbacks that observers register, timers, time limits and a throttle. Any thread."""

from __future__ import annotations

import logging
import threading
import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, Generic, TypeVar, cast

log = logging.getLogger(__name__)

Unsubscribe = Callable[[], None]  # takes a callback out, or stops a timer; harmless the second time
CallLater = Callable[[float, Callable[[], None]], Unsubscribe]  # after seconds, on any thread
_EARLY: Final = 0.005  # seconds by which a clock may be early
LONGEST: Final = 0.2  # seconds that a coroutine may run without waiting: then other clients notice
T = TypeVar("T")
EVERY: Final = 0.1  # seconds between two values that a throttle passes on


class Callbacks:
    """Functions that are called in the order in which they came, on the thread that calls.

    They must be quick: usually they only wake somebody. What one raises goes to the log, for it
    must not keep a question or a call from its end.
    """

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[..., None]] = {}

    def add(self, callback: Callable[..., None]) -> Unsubscribe:
        """Register a function; twice if it is given twice. Any thread. It raises nothing.

        Args:
            callback: What is called.

        Returns:
            What takes it out; harmless the second time.
        """
        key = object()
        self._callbacks[key] = callback

        def remove() -> None:
            self._callbacks.pop(key, None)

        return remove

    def call(self, *args: Any) -> None:
        """Call them all, but for those that are taken out meanwhile. Not under a lock.

        It raises nothing: an error of a callback goes to the log.

        Args:
            *args: What they are called with.
        """
        for key in list(self._callbacks):  # made in C: no other thread comes in between
            if (callback := self._callbacks.get(key)) is not None:
                call_safely(callback, *args)


def call_safely(fn: Callable[..., None], *args: Any) -> None:
    """Call a function that belongs to somebody else; an error of it is logged."""
    try:
        fn(*args)
    except Exception:  # theirs: a window that is gone, say
        log.exception("a callback failed")


def call_later(seconds: float, fn: Callable[[], None]) -> Unsubscribe:
    """Call a function after some seconds, on a thread of its own."""
    timer = threading.Timer(seconds, fn)
    timer.daemon = True
    timer.start()
    return timer.cancel


class TimeLimit:
    """A timeout that can be paused, and calls back once."""

    def __init__(self, seconds: float | None, clock: CallLater, over: Callable[[], None]) -> None:
        """Prepare; it begins with `start`."""
        self.seconds = self._left = seconds  # the limit; None for none
        self._clock = clock  # calls back after some seconds; returns what cancels that
        self._over = over  # the callback, called once, on any thread, when the limit is reached
        self._lock = threading.Lock()
        self._since: float | None = None
        self._stop: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Start, or go on after a pause."""
        with self._lock:
            if self._left is None or self._since is not None:
                return
            self._since = time.monotonic()
            self._stop = self._clock(self._left, self._check)

    def restart(self, seconds: float | None) -> None:
        """Begin anew with another limit; None for none."""
        with self._lock:
            self._stop()
            self.seconds, self._left, self._since = seconds, seconds, None
        self.start()

    def pause(self) -> None:
        """Let the time stand still, as long as a person is asked."""
        with self._lock:
            if self._left is None or self._since is None:
                return
            self._left = max(0.0, self._left - (time.monotonic() - self._since))
            self._since = None
            self._stop()

    def cancel(self) -> None:
        """Never call back any more, nor hold what would be called."""
        with self._lock:
            self._left, self._over = None, lambda: None
            self._stop()

    def _check(self) -> None:
        with self._lock:
            if self._left is None or self._since is None:
                return
            if time.monotonic() - self._since < self._left - _EARLY:
                return  # it was paused meanwhile, and a later clock runs
            self._left = None
        self._over()


class Throttle(Generic[T]):
    """Passes on at most ten values a second: the newest ones, and always the last."""

    def __init__(self, callback: Callable[[T], object], clock: CallLater) -> None:
        # Gets a value, on the clock's thread or on that of `flush`; never two at once.
        self._callback = callback
        self._clock = clock  # calls back after some seconds; returns what cancels that
        self._lock = threading.Lock()
        self._calling = threading.Lock()
        self._newest: list[T] = []
        self._waits = False
        self._called = 0.0

    def __call__(self, value: T) -> None:
        """Take a value, and return at once."""
        with self._lock:
            self._newest = [value]
            if self._waits:
                return
            self._waits = True
            delay = max(0.0, self._called + EVERY - time.monotonic())
        self._clock(delay, self.flush)

    def flush(self) -> None:
        """Pass on now the value that still waits."""
        with self._calling:
            with self._lock:
                values, self._newest = self._newest, []
                self._waits = False
                self._called = time.monotonic()
            for value in values:
                self._callback(value)


@types.coroutine
def report_blocking(
    coroutine: Coroutine[Any, Any, T], blocked: Callable[[float], None]
) -> Generator[Any, Any, T]:
    """Run a coroutine, and report the seconds each time that it ran for longer than `LONGEST`.

    asyncio does so in its debug mode only, which slows everything down, and cannot name the skill.
    """
    error: BaseException | None = None
    while True:
        begin = time.perf_counter()
        try:
            awaited = coroutine.send(None) if error is None else coroutine.throw(error)
        except StopIteration as end:
            return cast("T", end.value)
        finally:
            took = time.perf_counter() - begin
            if took > LONGEST:
                blocked(took)
        try:
            error = None
            yield awaited
        except BaseException as thrown:  # noqa: BLE001 - a cancellation is the coroutine's own
            error = thrown
