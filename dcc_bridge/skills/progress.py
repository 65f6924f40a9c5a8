"""How far a skill is, and whether anybody still waits for it: for the authors of skills.

A skill says how far it is, and looks whether it was cancelled; it cannot be stopped in any other
way. Outside of a skill all of this does nothing, so that a function can be run by itself. Any
thread, and in coroutines too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Final, TypeVar

from dcc_bridge.elicitation.call import current
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.errors import Stopped

T = TypeVar("T")

TURN: Final = 0.05  # seconds between two turns of the host: half of the 0.1 s that a person sees


def report_progress(done: float, total: float | None = None, message: str = "") -> None:
    """Say how far the skill is. It may be said as often as one likes: few of them are sent.

    Args:
        done: How much is done, in any unit.
        total: How much there is in all, in the same unit; None if that is not known.
        message: A few words about it; plain text.

    Raises:
        ValueError: A number is not finite.
    """
    if not (math.isfinite(done) and (total is None or math.isfinite(total))):
        raise ValueError(f"report_progress takes finite numbers, not {done!r} of {total!r}.")
    call = current.get()
    if call is not None:
        call.control.report((done, total, message))


def check_cancelled() -> None:
    """End the skill here if nobody waits for it any more, or if it ran for longer than it may.

    Raises:
        Stopped: It is to end; what it has changed is undone once it has let this pass.
    """
    call = current.get()
    if call is not None and (call.ending.is_overdue or call.ending.reason is not None):
        call.ending.is_known = True
        raise Stopped(call.title, overdue=call.ending.reason is None)


def track(items: Iterable[T], *, message: str = "", total: float | None = None) -> Iterator[T]:
    """Go through items, saying how far it is, and ending where the call was cancelled.

    On the host's main thread the host paints its windows meanwhile, about every 50 ms; it takes no
    input, and no other skill begins.

    Args:
        items: Anything that can be gone through once.
        message: A few words about what is done with them.
        total: How many there are, for items that have no length.

    Raises:
        Stopped: As `check_cancelled` does.
    """
    length = float(len(items)) if total is None and isinstance(items, Sized) else total
    done, next_turn = 0, 0.0
    for item in items:
        check_cancelled()
        begin = time.perf_counter()
        if begin >= next_turn:
            report_progress(done, length, message)
            _repaint()
            end = time.perf_counter()
            next_turn = end + max(TURN, end - begin)  # a slow window gets half of the time at most
        yield item
        done += 1
    report_progress(done, length, message)


def _repaint() -> None:
    installed = current_context()
    if installed is not None:
        installed.main.repaint()
