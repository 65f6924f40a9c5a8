"""Figures out of measurements, and tables of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter


def percentile(values: Iterable[float], percent: float) -> float:
    """Give the value that so many percent of the values do not exceed; 0 for none at all."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[min(last, int(len(ordered) * percent / 100))] if ordered else 0.0


def memory() -> int:
    """Give the bytes that this process has in memory. Needs /proc."""
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
        compare(median(one), median(other)) for one, other in zip(ours, theirs, strict=True)
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
