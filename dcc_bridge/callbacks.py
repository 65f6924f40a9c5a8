"""Callbacks that observers register, and a timer. Any thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

log = logging.getLogger(__name__)

Unsubscribe = Callable[[], None]  # takes a callback out, or stops a timer; harmless the second time
CallLater = Callable[[float, Callable[[], None]], Unsubscribe]  # after seconds, on any thread


class Callbacks:
    """Functions that are called in the order in which they came, on the thread that calls.

    They must be quick: usually they only wake somebody. What one raises goes to the log, for it
    must not keep a question or a call from its end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: dict[object, Callable[..., None]] = {}

    def add(self, callback: Callable[..., None]) -> Unsubscribe:
        """Register a function; twice if it is given twice."""
        key = object()
        with self._lock:
            self._callbacks[key] = callback

        def remove() -> None:
            with self._lock:
                self._callbacks.pop(key, None)

        return remove

    def call(self, *args: Any) -> None:
        """Call them all, but for those that are taken out meanwhile. Not under a lock."""
        with self._lock:
            keys = list(self._callbacks)
        for key in keys:
            with self._lock:
                callback = self._callbacks.get(key)
            if callback is not None:
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
