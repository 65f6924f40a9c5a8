"""A thread that looks at the skill files again and again. Made and stopped on any thread.

It polls: `os.scandir` and a look at each file's times take a few milliseconds for a thousand
files, the same on every system and on a network drive, where a watcher of the system's own is
told nothing of what another machine saves; and no native library comes into the host.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

log = logging.getLogger(__name__)

EVERY: Final = 1.0
"""Seconds between two looks."""
_SHARE: Final = 50
"""A look may take no more than one part in so many of the time; a slow drive is left in peace."""

Look = Callable[[Callable[[float], bool]], None]


class Watch:
    """One daemon thread."""

    def __init__(self, look: Look, after: Look = lambda pause: None, every: float = EVERY) -> None:
        """Prepare; nothing runs yet.

        Args:
            look: Looks once. It is given what waits some seconds, unless the watch ends: then it
                gives True at once.
            after: Called after each look, with the same.
            every: Seconds between two looks.
        """
        self._look = look
        self._after = after
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dcc_bridge skills", daemon=True)
        self.first: Future[None] = Future()
        """Done after the first look."""

    def start(self) -> None:
        """Start, and return at once."""
        self._thread.start()

    def stop(self, limit: float = 2.0) -> None:
        """End, and join the thread.

        Args:
            limit: Seconds to wait; one that is stuck in a slow drive is left to the interpreter.
        """
        self._ended.set()
        if self._thread.ident is not None and threading.current_thread() is not self._thread:
            self._thread.join(limit)

    def _run(self) -> None:
        while True:
            began = time.perf_counter()
            try:
                self._look(self._ended.wait)
            except Exception:  # the top of a thread: the next look may go better
                log.exception("the skill files could not be looked at")
            if not self.first.done():
                self.first.set_result(None)
            took = time.perf_counter() - began
            try:
                self._after(self._ended.wait)
            except Exception:  # the same: the list says what cannot be described
                log.exception("the skills could not be described")
            if self._ended.wait(max(self._every, took * _SHARE)):
                return
