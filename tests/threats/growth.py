"""What a process holds, minute by minute, and whether that grows. Needs glibc and /proc.

Python's own blocks and malloc's bytes together are what a program holds. The resident size is not:
it rises for a while without any leak, since the allocators keep what was freed.

Pydantic's reader of JSON, by which the SDK reads requests, keeps one cache for the process: 16,384
strings of at most 63 bytes. It fills within hours where each call brings another word, one block a
string, and hides what else grows. So it is filled beforehand, and a string only replaces another.
"""

from __future__ import annotations

import ctypes
import gc
import linecache
import os
import sys
import threading
from array import array
from statistics import fmean, linear_regression
from typing import Final

from pydantic_core import from_json

from tests.bench.figures import memory

WARM: Final = 10
"""Minutes in which caches fill: what is kept of calls and of questions is kept for ten at most."""
TOLERATED: Final = 0.01
"""Of what is held, an hour: a host open for a 40-hour week would be half larger at its end."""
_HOUR: Final = 60.0
_MOST: Final = 24 * 60
_STRINGS: Final = 10**5  # the cache is full by then, but for a place or two
_FACTS: Final = ("blocks", "malloc", "mapped", "rss", "threads", "files")
_JUDGED: Final = ("blocks", "malloc")


class _MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def held() -> dict[str, int]:
    """Give what this process holds once garbage is collected."""
    linecache.clearcache()  # the source of whatever was in a traceback; there is only so much of it
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _MallInfo
    blocks, info = sys.getallocatedblocks(), mallinfo2()
    return {
        "blocks": blocks,
        "malloc": info.uordblks + info.hblkhd,
        "mapped": info.hblkhd,
        "rss": memory(),
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),
    }


def fill_string_cache() -> None:
    """Fill the cache of strings that were read from JSON, so that it grows no more."""
    for number in range(_STRINGS):
        from_json(b'"%d"' % number)


class Growth:
    """What was held at each minute, in arrays that do not grow themselves."""

    def __init__(self) -> None:
        """Begin with no minute."""
        fill_string_cache()
        self._series = {name: array("d", bytes(8 * _MOST)) for name in (*_FACTS, "calls")}
        self._count = 0

    def note(self, calls: int) -> str:
        """Note what is held now.

        Args:
            calls: How many there have been.

        Returns:
            A line that says so.
        """
        facts = {**held(), "calls": calls}
        for name, value in facts.items():
            self._series[name][self._count] = value
        self._count += 1
        listed = "  ".join(f"{name} {value:,}" for name, value in facts.items())
        return f"minute {self._count - 1:3}  {listed}"

    def verdict(self) -> list[str]:
        """Say of blocks and bytes how fast they grew after the first minutes, and if that counts.

        The spread is twice the standard error of the line's slope.
        """
        return [self._judge(name) for name in _JUDGED]

    def _judge(self, name: str) -> str:
        minutes = range(WARM, self._count)
        if len(minutes) < 3:
            return f"{name}: too short to say"
        values = self._series[name][WARM : self._count]
        calls = self._series["calls"]
        line = linear_regression(minutes, values)
        residuals = [
            value - line.slope * minute - line.intercept
            for minute, value in zip(minutes, values, strict=True)
        ]
        middle = fmean(minutes)
        variance = sum(it * it for it in residuals) / (len(values) - 2)
        error = (variance / sum((it - middle) ** 2 for it in minutes)) ** 0.5
        a_call = line.slope * len(minutes) / max(1.0, calls[self._count - 1] - calls[WARM])
        slope, spread, level = line.slope * _HOUR, 2 * error * _HOUR, fmean(values)
        grows = "GROWS" if slope > max(spread, TOLERATED * level) else "does not grow"
        rate = f"{slope:+,.0f} +- {spread:,.0f} an hour ({slope / level:+.2%} of {level:,.0f})"
        return f"{name}: {rate}, {a_call:+.3f} a call: {grows}"
