"""Figures out of measurements, and tables of them."""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

_LIMIT: Final = 3600


def options(
    doc: str | None,
    *more: tuple[str, dict[str, Any]],
    quick: Mapping[str, float] | None = None,
    **numbers: float,
) -> argparse.Namespace:
    """Read the command line of a benchmark. The process is ended after an hour, whatever it does.

    Args:
        doc: Of its module; the first line is the help's.
        *more: Further arguments, as ``argparse`` takes them.
        quick: The numbers with ``--quick``; None where there is no such option.
        **numbers: Options and their defaults, such as ``rounds=20``.
    """
    faulthandler.dump_traceback_later(_LIMIT, exit=True)
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    for name, how in more:
        parser.add_argument(name, **how)
    if quick is not None:
        parser.add_argument("--quick", action="store_true", help="short, and less exact")
    chosen = parser.parse_args()
    if quick is not None and chosen.quick:
        vars(chosen).update(quick)
    return chosen


def percentile(values: Iterable[float], percent: float) -> float:
    """Give the value that so many percent of the values do not exceed; 0 for none at all."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[min(last, int(len(ordered) * percent / 100))] if ordered else 0.0


def memory() -> int:
    """Give the bytes that this process has in memory. Needs /proc."""
    if sys.platform != "linux":
        raise NotImplementedError
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def timed(fn: Callable[[], object], times: int) -> list[float]:
    """Call a function again and again, and give the milliseconds of each call."""
    taken = []
    for _ in range(times):
        begin = perf_counter()
        fn()
        taken.append((perf_counter() - begin) * 1000)
    return taken


def over(rounds: Sequence[Sequence[float]], percent: float) -> float:
    """Give the median over rounds of a percentile within each."""
    return median(percentile(values, percent) for values in rounds)


def paired(
    ours: Sequence[Sequence[float]],
    theirs: Sequence[Sequence[float]],
    compare: Callable[[float, float], float],
) -> float:
    """Compare the medians of each round with one another, and give the median of that.

    Two rounds at the same time share what else the machine does; two at different times do not.
    """
    return median(
        compare(median(our), median(their)) for our, their in zip(ours, theirs, strict=True)
    )


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown, the first column to the left and the others to the right."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    print(f"\n{title}\n")
    for row in [cells[0], rule, *cells[1:]]:
        aligned = [row[0].ljust(widths[0])]
        aligned += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print(f"| {' | '.join(aligned)} |")


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
