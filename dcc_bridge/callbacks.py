"""Functions to be called when something changed, or after a while. Any thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

log = logging.getLogger(__name__)

Undo = Callable[[], None]
Clock = Callable[[float, Callable[[], None]], Undo]
"""Calls back after some seconds, on any thread; gives what stops it."""


class Watchers:
    """The functions, called in the order in which they came, on the thread that changed something.

    They must be quick: usually they only wake somebody. What one raises goes to the log, for it
    must not keep a question or a call from its end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fns: dict[object, Callable[[], None]] = {}

    def add(self, fn: Callable[[], None]) -> Undo:
        """Register a function; twice if it is given twice.

        Returns:
            What takes it out again; harmless the second time.
        """
        key = object()
        with self._lock:
            self._fns[key] = fn

        def remove() -> None:
            with self._lock:
                self._fns.pop(key, None)

        return remove

    def call(self) -> None:
        """Call them all. Not to be called under a lock."""
        with self._lock:
            fns = list(self._fns.values())
        for fn in fns:
            tell(fn)


def tell(fn: Callable[..., None], *news: Any) -> None:
    """Call a function that belongs to somebody else."""
    try:
        fn(*news)
    except Exception:  # theirs: a window that is gone, say
        log.exception("somebody who shows or watches could not be told")


def timer(seconds: float, fn: Callable[[], None]) -> Undo:
    """Call back after some seconds on a thread of its own; gives what stops it."""
    clock = threading.Timer(seconds, fn)
    clock.daemon = True
    clock.start()
    return clock.cancel
