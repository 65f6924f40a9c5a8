"""What calls back after a while. Any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dcc_bridge.elicitation.watchers import Undo

Clock = Callable[[float, Callable[[], None]], Undo]
"""Calls back after some seconds, on any thread; gives what stops it."""


def timer(seconds: float, fn: Callable[[], None]) -> Undo:
    """Call back after some seconds on a thread of its own; gives what stops it."""
    clock = threading.Timer(seconds, fn)
    clock.daemon = True
    clock.start()
    return clock.cancel
