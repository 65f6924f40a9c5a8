"""A beat of 16 ms on a main loop, and by how much each was late.

``python -m tests.threats.beats`` beats in a bare loop beside a busy one until a line comes, and
prints its figures: that is how late the machine itself makes it.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from array import array
from typing import Final

from tests.bench.figures import percentile

BEAT: Final = 0.016


class Beats:
    """By how much a 16 ms beat was late, each time."""

    def __init__(self, seconds: float) -> None:
        self._late = array("d", bytes(8 * int(2 * seconds / BEAT + 1000)))  # so it does not grow
        self._count = 0
        self._next = time.perf_counter() + BEAT

    def look(self) -> float:
        """Note a beat if it is time; gives the seconds until the next one."""
        now = time.perf_counter()
        if now >= self._next:
            self._late[self._count] = 1000 * (now - self._next)
            self._count += 1
            self._next = now + BEAT
        return max(0.0, self._next - now)

    @property
    def figures(self) -> dict[str, float]:
        """How many there were, and how late, in milliseconds."""
        late = self._late[: self._count]
        p50, p99 = percentile(late, 50), percentile(late, 99)
        return {"beats": self._count, "p50": p50, "p99": p99, "max": max(late, default=0.0)}


def main() -> None:
    """Beat until a line comes."""
    beats, over = Beats(7200), threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    while not over.wait(beats.look()):
        pass
    print(json.dumps(beats.figures))


if __name__ == "__main__":
    main()
