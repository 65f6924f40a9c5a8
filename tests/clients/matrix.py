"""Every client in each of its eras through every case; ``python -m tests.clients`` prints it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from tests.clients.cases import CASES, Case
from tests.clients.kinds import ROWS
from tests.clients.runs import Results, at_bare_server, through_bridge

Fault = tuple[str, str]
"""A row, and a case in it that is not met."""
AT_ONCE: Final = 4
"""Runs at a time, each in a process of its own: most of a run is waiting."""


class Matrix:
    """The runs, begun at once and looked at one by one."""

    def __init__(self, rows: Iterable[str] = tuple(ROWS), faults: Iterable[Fault] = ()) -> None:
        """Begin.

        Args:
            rows: Names of `ROWS`.
            faults: What is looked at with a bare server.
        """
        self._pool = ProcessPoolExecutor(AT_ONCE, get_context("spawn"))
        self._runs: dict[str, Future[Results]] = {
            row: self._pool.submit(through_bridge, row) for row in rows
        }
        self._bare = {
            fault: self._pool.submit(at_bare_server, fault[0], [_case(fault[1])])
            for fault in faults
        }

    def __getitem__(self, row: str) -> Results:
        """Wait for a run, and give what is to be said of each case."""
        return self._runs[row].result()

    def at_bare_server(self, fault: Fault) -> str:
        """Wait for a run with a bare server, and give what is to be said of its case."""
        (why,) = self._bare[fault].result().values()
        return why

    def close(self) -> None:
        """Begin no more, and wait for those that run."""
        self._pool.shutdown(cancel_futures=True)

    def table(self) -> str:
        """Draw it: a line for each run, with what was not met, and the count."""
        lines, met, not_met = [], 0, 0
        for row in self._runs:
            missed = {case: why for case, why in self[row].items() if why}
            met += len(CASES) - len(missed)
            not_met += len(missed)
            lines.append(f"{row:<50} {len(CASES) - len(missed):>2} of {len(CASES)} met")
            lines += [f"    not met: {case}: {why}" for case, why in missed.items()]
        return "\n".join([*lines, f"runs {met + not_met}, met {met}, not met {not_met}"])


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def not_met() -> dict[str, dict[str, Any]]:
    """Read the closed list of what clients do not do."""
    file = Path(__file__).with_name("not_met.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
