"""Callbacks of observers, timers, time limits and a throttle. Any thread."""

from __future__ import annotations

import logging
import threading
import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, Generic, TypeVar, cast

log = logging.getLogger(__name__)

Unsubscribe = Callable[[], None]  # takes a callback out, or stops a timer; harmless the second time
# Calls a function after some seconds, on any thread; returns what stops the timer.
CallLater = Callable[[float, Callable[[], None]], Unsubscribe]
_CLOCK_TOLERANCE_S: Final = 0.005  # by which a timer may be early
MAX_BLOCKING_S: Final = 0.2  # for which a coroutine may run without waiting; others wait meanwhile
T = TypeVar("T")
THROTTLE_INTERVAL_S: Final = 0.1  # between two values that a throttle passes on


class Callbacks:
    """The callbacks of one event, called in the order in which they were added.

    They must be quick: usually they only wake another thread. The error of a callback goes to the
    log, so that it cannot keep a question or a call from its end.
    """

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[..., None]] = {}

    def add(self, callback: Callable[..., None]) -> Unsubscribe:
        """Register a callback. Any thread. It raises nothing.

        Args:
            callback: The callback; if it is added twice, it is called twice.

        Returns:
            A function that takes the callback out; harmless the second time.
        """
        key = object()
        self._callbacks[key] = callback

        def remove() -> None:
            self._callbacks.pop(key, None)

        return remove

    def call(self, *args: Any) -> None:
        """Call all callbacks on this thread, except those that are taken out meanwhile.

        Must not be called under a lock. It raises nothing: errors go to the log.

        Args:
            *args: The arguments of each call.
        """
        for key in list(self._callbacks):  # atomic, as the list is made in C
            callback = self._callbacks.get(key)
            if callback is not None:
                call_safely(callback, *args)


def call_safely(fn: Callable[..., None], *args: Any) -> None:
    """Call a function; its error goes to the log."""
    try:
        fn(*args)
    except Exception:  # of code that we do not know: a window may be gone
        log.exception("a callback failed")


def call_later(seconds: float, fn: Callable[[], None]) -> Unsubscribe:
    """Call a function after some seconds, on a thread of its own.

    Returns:
        A function that stops the timer.
    """
    timer = threading.Timer(seconds, fn)
    timer.daemon = True
    timer.start()
    return timer.cancel


def _do_nothing() -> None:
    pass


class TimeLimit:
    """A timeout that can be paused, and calls back once. May be used on any thread.

    Attributes:
        seconds: The limit; None for none.
    """

    def __init__(
        self, seconds: float | None, call_later: CallLater, over: Callable[[], None]
    ) -> None:
        """Prepare; the time begins with `start`.

        Args:
            seconds: The limit; None for none.
            call_later: Starts a timer that calls a function after some seconds.
            over: Called once, on any thread, when the limit is reached.
        """
        self.seconds = seconds
        self._left = seconds
        self._call_later = call_later
        self._over = over
        self._lock = threading.Lock()
        self._since: float | None = None  # when the time began to run; None during a pause
        self._stop_clock: Callable[[], None] = _do_nothing

    def start(self) -> None:
        """Start the time, or go on after a pause."""
        with self._lock:
            if self._left is None or self._since is not None:
                return
            self._since = time.monotonic()
            self._stop_clock = self._call_later(self._left, self._check)

    def restart(self, seconds: float | None) -> None:
        """Begin again with another limit; None for none."""
        with self._lock:
            self._stop_clock()
            self.seconds = seconds
            self._left = seconds
            self._since = None
        self.start()

    def pause(self) -> None:
        """Stop the time until `start`, as while a person is asked."""
        with self._lock:
            if self._left is None or self._since is None:
                return
            self._left = max(0.0, self._left - (time.monotonic() - self._since))
            self._since = None
            self._stop_clock()

    def cancel(self) -> None:
        """Never call back any more, and let go of the callback."""
        with self._lock:
            self._left = None
            self._over = _do_nothing
            self._stop_clock()

    def _check(self) -> None:
        with self._lock:
            if self._left is None or self._since is None:
                return
            if time.monotonic() - self._since < self._left - _CLOCK_TOLERANCE_S:
                return  # the limit was paused meanwhile, and a later timer runs
            self._left = None
        self._over()


class Throttle(Generic[T]):
    """Passes on at most ten values a second, and always the last value. Any thread."""

    def __init__(self, callback: Callable[[T], object], call_later: CallLater) -> None:
        """Prepare.

        Args:
            callback: Called with a value, on the timer's thread or on that of `flush`, and on one
                thread at a time.
            call_later: Starts a timer that calls a function after some seconds.
        """
        self._callback = callback
        self._call_later = call_later
        self._lock = threading.Lock()
        self._calling = threading.Lock()
        self._newest: list[T] = []  # the value that waits, if there is one
        self._is_waiting = False
        self._last_call = 0.0

    def __call__(self, value: T) -> None:
        """Take a value, and return at once."""
        with self._lock:
            self._newest = [value]
            if self._is_waiting:
                return
            self._is_waiting = True
            delay = max(0.0, self._last_call + THROTTLE_INTERVAL_S - time.monotonic())
        self._call_later(delay, self.flush)

    def flush(self) -> None:
        """Pass on the waiting value now."""
        with self._calling:
            with self._lock:
                values = self._newest
                self._newest = []
                self._is_waiting = False
                self._last_call = time.monotonic()
            for value in values:
                self._callback(value)


@types.coroutine
def report_blocking(
    coroutine: Coroutine[Any, Any, T], blocked: Callable[[float], None]
) -> Generator[Any, Any, T]:
    """Run a coroutine, and report each time that it runs too long without waiting.

    asyncio reports this in its debug mode only, which is slow and cannot name the skill.

    Args:
        coroutine: The coroutine.
        blocked: Called with the seconds of each run that is longer than `MAX_BLOCKING_S`.

    Returns:
        The coroutine's result.
    """
    error: BaseException | None = None
    while True:
        begin = time.perf_counter()
        try:
            awaited = coroutine.send(None) if error is None else coroutine.throw(error)
        except StopIteration as end:
            return cast("T", end.value)
        finally:
            seconds = time.perf_counter() - begin
            if seconds > MAX_BLOCKING_S:
                blocked(seconds)
        try:
            error = None
            yield awaited
        except BaseException as thrown:  # noqa: BLE001 - thrown into the coroutine: a cancellation
            error = thrown
