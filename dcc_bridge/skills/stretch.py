"""How long a coroutine holds its loop at a stretch. On the loop that runs it."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, TypeVar

T = TypeVar("T")

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
