"""What ``import dcc_bridge`` takes, in new interpreters where no toolkit can be imported.

``python tests/bench/import_time.py [--quick]``. Beside it the bare interpreter, what a plug-in
imports on the host's main thread besides, and the standard library's part in both. Aim: under
50 ms over the bare interpreter.
"""

from __future__ import annotations

import operator
import subprocess
import sys
from time import perf_counter
from typing import Final

from tests.bench.figures import options, over, paired, show
from tests.bench.hosted import bytecode

BLOCKED: Final = ("PySide6", "mcp", "uvicorn", "pxr")
CODES: Final = {
    "the bare interpreter": "pass",
    "import dcc_bridge": "import dcc_bridge",
    "import dcc_bridge.bridge": "import dcc_bridge.bridge",
    "its standard library": "import dataclasses, inspect, json, logging, re, secrets, urllib.parse",
    "import pydantic": "from pydantic import BaseModel",
}
_BARE: Final = next(iter(CODES))
Rounds = list[list[float]]


def measure(rounds: int) -> dict[str, tuple[Rounds, Rounds]]:
    """Run each code in a new interpreter, in turn; the first round does not count.

    Returns:
        The wall time and the processor's time of each.
    """
    measured: dict[str, tuple[Rounds, Rounds]] = {name: ([], []) for name in CODES}
    for number in range(rounds + 1):
        for name, code in CODES.items():
            taken = run(code)
            for times, milliseconds in zip(measured[name], taken, strict=True):
                if number:
                    times.append([milliseconds])
    return measured


def run(code: str) -> tuple[float, float]:
    """Run code in a new interpreter, and give the milliseconds of the clock and the processor."""
    blocked = "".join(f"sys.modules[{name!r}] = None; " for name in BLOCKED)
    begin, used = perf_counter(), _used()
    subprocess.run([sys.executable, "-c", f"import sys; {blocked}{code}"], check=True, timeout=60)
    return (perf_counter() - begin) * 1000, (_used() - used) * 1000


def _used() -> float:
    """Give the seconds of processor time that ended children have taken, as POSIX counts it."""
    if sys.platform == "win32":
        return 0.0
    import resource  # not there on Windows

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, quick={"rounds": 3}, rounds=15)
    with bytecode():
        measured = measure(chosen.rounds)
    columns = ("ms", "median", "best", "over the bare one", "processor", "over the bare one")
    rows = [_row(name, times, measured[_BARE]) for name, times in measured.items()]
    show(f"{chosen.rounds} new interpreters each, in turn", columns, rows)


def _row(
    name: str, times: tuple[Rounds, Rounds], bare: tuple[Rounds, Rounds]
) -> tuple[object, ...]:
    more = [paired(ours, theirs, operator.sub) for ours, theirs in zip(times, bare, strict=True)]
    wall, processor = times
    return name, over(wall, 50), min(wall)[0], more[0], over(processor, 50), more[1]


if __name__ == "__main__":
    main()
