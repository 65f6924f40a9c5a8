"""How much work something is, without a clock: the lines of Python that are run for it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(fn: Callable[[], object]) -> int:
    """Count the lines that this thread runs in a function, and in all that it calls.

    The collector is off meanwhile: the finalizers that it runs, for the garbage of other tests
    too, would be counted.
    """
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        fn()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return count
