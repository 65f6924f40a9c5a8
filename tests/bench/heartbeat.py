"""What the artist feels: by how much a 5 ms beat on the Qt main thread is late.

``python tests/bench/heartbeat.py [--quick]``. Without a bridge, while one starts, while it idles,
and while clients in another process call a read skill without a pause; beside it the SDK's bare
server, whose calls never come near the main thread. Aim: p99 under 10 ms.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from statistics import median
from time import sleep
from typing import Final

from tests.bench.agent import Server
from tests.bench.figures import options, percentile, show
from tests.bench.hosted import Process, bytecode, process, served

_CROWDS: Final = (1, 32)
_KINDS: Final = ("bare", "bridge")
_COLUMNS: Final = ("late by, ms", "p50", "p99", "max", "max of a round", "s a round", "calls/s")
Gaps = list[float]


class Record:
    """Gaps and rates, by what was going on."""

    def __init__(self) -> None:
        self._gaps: dict[str, list[Gaps]] = defaultdict(list)
        self._rates: dict[str, list[float]] = defaultdict(list)

    def add(self, name: str, gaps: Gaps, rate: float | None = None) -> None:
        """Take a round of something."""
        self._gaps[name].append(gaps)
        if rate is not None:
            self._rates[name].append(rate)

    def show(self, title: str) -> None:
        """Print a table: all gaps together, and the median over rounds of the longest."""
        show(title, _COLUMNS, [self._row(name, rounds) for name, rounds in self._gaps.items()])

    def _row(self, name: str, rounds: Sequence[Gaps]) -> tuple[object, ...]:
        every = [gap for gaps in rounds for gap in gaps]
        longest = median(max(gaps) for gaps in rounds)
        length = median(sum(gap + 5 for gap in gaps) / 1000 for gaps in rounds)
        rates = self._rates.get(name)
        rate = round(median(rates)) if rates else ""
        return name, percentile(every, 50), percentile(every, 99), max(every), longest, length, rate


def starting(rounds: int) -> Record:
    """Measure what a start costs, each time in new processes; the first round does not count."""
    record = Record()
    for number in range(rounds + 1):
        if number == 1:
            record = Record()
        with process("host") as host:
            record.add("nothing, 1 s", _beating(host, lambda: sleep(1)))
        with process("host") as host:
            record.add("import mcp, uvicorn", _beating(host, lambda: host.tell("import")))
        with process("host") as host:
            record.add("bare server", _beating(host, lambda: host.tell("bare")))
        with process("host") as host:
            record.add("import dcc_bridge.bridge", _beating(host, lambda: host.tell("load")))
            record.add("start of the bridge", _beating(host, lambda: host.tell("bridge")))
    return record


def standing(rounds: int, seconds: float) -> Record:
    """Measure what a running server costs, idle and with clients, all in turn."""
    record = Record()
    with ExitStack() as stack:
        alone, *hosts = (stack.enter_context(process("host")) for _ in range(3))
        servers = [served(host, kind) for host, kind in zip(hosts, _KINDS, strict=True)]
        for _ in range(rounds):
            record.add("no server", _beating(alone, lambda: sleep(seconds)))
            for kind, host in zip(_KINDS, hosts, strict=True):
                record.add(f"{kind}, idle", _beating(host, lambda: sleep(seconds)))
            for size in _CROWDS:
                for kind, host, server in zip(_KINDS, hosts, servers, strict=True):
                    name = f"{kind}, {size} client{'s' * (size > 1)}"
                    record.add(name, *_called(host, server, size, seconds))
    return record


def _beating(host: Process, meanwhile: Callable[[], object]) -> Gaps:
    host.tell("beat")
    meanwhile()
    gaps: Gaps = host.tell("gaps")
    return gaps


def _called(host: Process, server: Server, size: int, seconds: float) -> tuple[Gaps, float]:
    """Give the gaps while a crowd calls, and how many calls a second it made."""
    with process("crowd", str(size)) as crowd:
        crowd.tell(json.dumps(server.to_json()))
        gaps = _beating(host, lambda: sleep(seconds))
        counted = json.loads(crowd.end())
    return gaps, counted["calls"] / counted["seconds"]


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, quick={"rounds": 2, "seconds": 1.0}, rounds=5, seconds=3.0)
    with bytecode():
        started = starting(chosen.rounds)
    started.show(f"While it starts, {chosen.rounds} rounds in new processes")
    running = standing(chosen.rounds, chosen.seconds)
    running.show(f"While it runs, {chosen.rounds} rounds of {chosen.seconds:g} s")


if __name__ == "__main__":
    main()
