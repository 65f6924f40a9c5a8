"""A call's round trip in each host beside the standalone one, and what the bridge costs it idle.

``python -m tests.bench.hosts [NAME ...] [--quick]``. The same read skill on the main thread of each
host, called by one client in turns with the standalone host; then what the process computes while
nobody does anything, with the bridge loaded and in another process without it. Aims: a Qt host
within 1.3 x, Blender within its busy timer of 5 ms, and under 0.5 % of a core more. A host that is
not installed is named and passed over.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.agent import Agent, Server, result
from tests.bench.figures import more, options, over, show, timed
from tests.bench.places import PLACES, STANDALONE, Place
from tests.hosts.application import Application

COLUMNS: Final = (
    "host",
    "p50 (ms)",
    "p90",
    "more than standalone",
    "ratio",
    "idle with (%)",
    "idle without",
    "more",
)
_QUIET: Final = 0.02
"""Parts of a core; two looks that differ by less see a process that has come to rest."""


@dataclass
class Measured:
    """What was measured of one host.

    Attributes:
        calls: Milliseconds of each call, by round.
        beside: The same of the standalone host, in turn with them.
        idle: Percent of a core, with the bridge and without.
    """

    calls: list[list[float]] = field(default_factory=list)
    beside: list[list[float]] = field(default_factory=list)
    idle: tuple[float, float] = (0.0, 0.0)

    @property
    def row(self) -> list[object]:
        """Its line of the table, without the name."""
        times = [over(self.calls, percent) for percent in (50, 90)]
        with_, without = self.idle
        idle = [f"{value:.2f}" for value in (with_, without)]
        return [*times, *more(self.calls, self.beside), *idle, f"{with_ - without:+.2f}"]


class Caller:
    """One client of one host."""

    def __init__(self, running: Application) -> None:
        """Wait for the bridge, and for its skill."""
        instance = running.instance
        self._agent = Agent(Server(instance.url, instance.token("bench")))
        self._request = self._agent.calling("ping")
        end = time.monotonic() + 60
        while not self._is_there():
            assert time.monotonic() < end, f"the skill did not come: {self._why}"

    def calls(self, times: int) -> list[float]:
        """Call so many times; some calls before them do not count."""
        self._agent.reconnect()
        timed(self._call, times // 10)
        return timed(self._call, times)

    def close(self) -> None:
        """Hang up."""
        self._agent.close()

    def _call(self) -> bytes:
        return self._agent.exchange(self._request)

    def _is_there(self) -> bool:
        try:
            self._why = str(result(self._call())["content"])
        except (ValueError, OSError) as error:
            self._why = str(error)
        is_there = "pong" in self._why
        if not is_there:
            time.sleep(0.2)
            self._agent.reconnect()
        return is_there


@contextmanager
def opened(place: Place, *, bridged: bool = True) -> Iterator[Application]:
    """Run a host in a folder of its own as long as the block lasts."""
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        place.start(Path(folder), bridged) as running,
    ):
        yield running


def measure(place: Place, beside: Caller, chosen: argparse.Namespace) -> Measured:
    """Measure one host."""
    measured = Measured()
    with opened(place) as running:
        caller = Caller(running)
        for _ in range(chosen.rounds):
            measured.calls.append(caller.calls(chosen.calls))
            measured.beside.append(beside.calls(chosen.calls))
        caller.close()
        loaded = idle(running, chosen.seconds)
    with opened(place, bridged=False) as running:
        measured.idle = loaded, idle(running, chosen.seconds)
    return measured


def idle(running: Application, seconds: float) -> float:
    """Give what a process computes when it is at rest, in percent of a core."""
    end = time.monotonic() + 90
    before = computed(running, 3.0)
    while abs((now := computed(running, 3.0)) - before) > _QUIET and time.monotonic() < end:
        before = now
    assert running.is_alive, running.output
    return computed(running, seconds) * 100


def computed(running: Application, seconds: float) -> float:
    """Watch a process and all its threads; give the parts of a core that it took."""
    begun, before = time.monotonic(), _on_a_core(running.pid)
    time.sleep(seconds)
    return (_on_a_core(running.pid) - before) / (time.monotonic() - begun)


def _on_a_core(pid: int) -> float:
    """Add up the seconds of each thread; the kernel counts them in nanoseconds."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def main() -> None:
    """Measure, and print the table."""
    chosen = options(
        __doc__,
        ("names", {"nargs": "*", "metavar": "NAME", "help": "only hosts whose name has this"}),
        quick={"rounds": 3, "calls": 50, "seconds": 5.0},
        rounds=5,
        calls=200,
        seconds=20.0,
    )
    rows: list[list[object]] = []
    with opened(STANDALONE) as running:
        beside = Caller(running)
        for place in PLACES:
            if chosen.names and not any(name in place.name for name in chosen.names):
                continue
            why = place.missing()
            if why is None:
                print(place.name, file=sys.stderr, flush=True)
                rows.append([place.name, *measure(place, beside, chosen).row])
            else:
                print(f"{place.name}: {why}")
        beside.close()
    show(
        f"{chosen.rounds} rounds of {chosen.calls} calls, {chosen.seconds:g} s idle", COLUMNS, rows
    )


if __name__ == "__main__":
    main()
