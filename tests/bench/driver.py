"""The bridge beside other servers: what a call costs, and what the artist feels of many.

``python -m tests.bench.driver [--quick] [--only KIND ...] [--json FILE] [--svg FILE]``. Each server
has a Qt application and an environment of its own (``--environments DIR``), made from the package
index on first use; ``--only sdk_json sdk_sse`` needs none. Rounds are interleaved and shuffled, and
a ratio is the median of the ratios within each round, with the smallest and the largest. Beside the
time that a call takes stands the processor's time of the server, which says nearly the same on a
busy machine. ``--svg`` needs the extra "bench".
"""

from __future__ import annotations

import json
import operator
import os
import random
import subprocess
import sys
import venv
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import sleep
from typing import Any, Final

import platformdirs

from tests.bench.agent import ERAS, MODERN, Agent, Server
from tests.bench.figures import options, over, paired, percentile, show, timed
from tests.bench.hosted import Process, process

Rounds = dict[str, list[list[float]]]  # milliseconds, by round, of each server
_QT: Final = "PySide6-Essentials>=6.5,<6.12"
_CROWDS: Final = (0, 1, 32)  # clients that call without a pause
_CROWD: Final = _CROWDS[-1]
_GREY: Final = "#848484"
_POINTS: Final = 150  # of a curve in the picture


@dataclass(frozen=True, slots=True)
class Peer:
    """A server that is measured."""

    kind: str  # what its process is told to serve
    title: str  # what stands in the table
    packages: tuple[str, ...] = ()  # of its own environment; none for ours
    eras: tuple[str, ...] = ERAS  # what it speaks


PEERS: Final = (
    Peer("bridge", "the bridge, on the main thread"),
    Peer("sdk_json", "SDK, JSON, not on the main thread"),
    Peer("sdk_sse", "SDK, SSE, not on the main thread"),
    Peer("sdk_hop", "SDK, SSE, with a Qt event"),
    Peer("fastmcp", "fastmcp, with a Qt event", ("fastmcp==4.1.2", _QT)),
    Peer("core", "dcc-mcp-core, with a Qt event", ("dcc-mcp-core==0.20.49", _QT)),
    Peer("core_timer", "dcc-mcp-core, 5 ms timer", ("dcc-mcp-core==0.20.49", _QT)),
    Peer("polled", "a socket polled each 10 ms, no MCP", (), (MODERN,)),
    Peer("floor", "floor: a hand-written answer and a Qt event", (), (MODERN,)),
)
OURS: Final = PEERS[0].kind


class Bench:
    """All servers, each in its process, and an agent of each era for each."""

    def __init__(self, stack: ExitStack, peers: Sequence[Peer], environments: Path) -> None:
        """Start everything; the stack ends it."""
        self._peers = peers
        self._hosts: dict[str, Process] = {}
        self._servers: dict[str, Server] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        for peer in peers:
            python = _environment(environments, peer.packages)
            host = Process("host", python=python)
            stack.callback(host.kill)  # others leave threads behind that no exit waits for
            command = peer.kind if peer.kind == OURS else f"peer {peer.kind}"
            self._hosts[peer.kind] = host
            self._servers[peer.kind] = server = Server(**host.tell(command))
            for era in peer.eras:
                self._agents[peer.kind, era] = agent = Agent(server, era)
                stack.callback(agent.close)
        self._hosts[OURS].tell("settle")  # else chance decides which rounds have its collection

    def calls(self, era: str, rounds: int, calls: int) -> tuple[Rounds, Rounds]:
        """Time read calls, one after the other, and the server's processor in each round."""
        kinds = [it.kind for it in self._peers if era in it.eras]
        used: Rounds = defaultdict(list)

        def measure(kind: str) -> list[float]:
            agent = self._agents[kind, era]
            agent.reconnect()
            request = agent.calling("ping")
            assert b"pong" in agent.exchange(request)
            before = self._hosts[kind].used()
            times = timed(lambda: agent.exchange(request), calls)
            used[kind].append([(self._hosts[kind].used() - before) * 1000 / calls])
            return times

        times = _shuffled(kinds, rounds + 1, measure)  # the first round does not count
        return times, {kind: its[1:] for kind, its in used.items()}

    def gaps(self, size: int, rounds: int, seconds: float) -> tuple[Rounds, Rounds]:
        """Give how late a 5 ms beat is while a crowd calls, and how often it was answered."""
        rates: Rounds = defaultdict(list)

        def measure(kind: str) -> list[float]:
            with process("crowd", str(size)) as crowd:
                crowd.tell(json.dumps(self._servers[kind].to_json()))
                self._hosts[kind].tell("beat")
                sleep(seconds)
                late: list[float] = self._hosts[kind].tell("gaps")
                counted = json.loads(crowd.end())
            rates[kind].append([counted["calls"] / counted["seconds"]])
            return late

        kinds = [peer.kind for peer in self._peers if peer.kind != "polled"]
        return _shuffled(kinds, rounds, measure), rates


def _shuffled(kinds: list[str], rounds: int, measure: Callable[[str], list[float]]) -> Rounds:
    times: Rounds = defaultdict(list)
    for _ in range(rounds):
        for kind in random.sample(kinds, len(kinds)):
            times[kind].append(measure(kind))
    return {kind: its[1:] if len(its) > 1 else its for kind, its in times.items()}


def _environment(folder: Path, packages: tuple[str, ...]) -> str:
    """Give the interpreter of an environment with these packages; make it if it is not there."""
    if not packages:
        return sys.executable
    own = folder / "+".join(name.partition(">")[0].replace("==", "-") for name in packages)
    python = own / "bin" / "python"
    if not (own / "whole").exists():
        print(f"Installing {', '.join(packages)} in {own}", file=sys.stderr)
        venv.create(own, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        (own / "whole").touch()
    return str(python)


@contextmanager
def _silent_peers() -> Iterator[None]:
    """Have dcc-mcp-core say nothing of each call, which would cost it time."""
    before = dict(os.environ)
    os.environ.update(RUST_LOG="error", DCC_MCP_LOG_LEVEL="ERROR")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def call_rows(times: Rounds, used: Rounds) -> list[tuple[object, ...]]:
    """Give the rows of a table of calls: percentiles in ms, and the bridge beside each."""
    rows: list[tuple[object, ...]] = []
    for kind, rounds in _in_order(times):
        three = (over(rounds, percent) for percent in (50, 95, 99))
        more = paired(times[OURS], rounds, operator.sub)
        spent = over(used[kind], 50)
        rows.append((_title(kind), *three, f"{more:+.3f}", ratio(times, kind), spent,
                     ratio(used, kind)))  # fmt: skip
    return rows


def gap_rows(late: Rounds, rates: Rounds) -> list[tuple[object, ...]]:
    """Give the rows of a table of gaps: percentiles and the longest, in ms, and calls a second."""
    rows: list[tuple[object, ...]] = []
    for kind, rounds in _in_order(late):
        every = [gap for gaps in rounds for gap in gaps]
        three = (percentile(every, 50), percentile(every, 99), percentile(every, 99.9))
        rows.append((_title(kind), *three, max(every), round(median(it for (it,) in rates[kind]))))
    return rows


def ratio(times: Rounds, kind: str) -> str:
    """Say how long the bridge takes beside a server: the median over rounds, and the spread."""
    ratios = [
        median(ours) / median(its) for ours, its in zip(times[OURS], times[kind], strict=True)
    ]
    return f"{median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f})"


def _in_order(rounds: Rounds) -> list[tuple[str, list[list[float]]]]:
    return [(peer.kind, rounds[peer.kind]) for peer in PEERS if peer.kind in rounds]


def _title(kind: str) -> str:
    return next(peer.title for peer in PEERS if peer.kind == kind)


def draw(calls: Rounds, late: Rounds, file: Path) -> None:
    """Draw as an SVG what share of the calls, and of the beats, is later than so many ms."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dcc_bridge", "svg.fonttype": "none"})
    # on nothing, and in a grey that can be read on white and on black
    for part in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"):
        matplotlib.rcParams.update({part: _GREY})
    matplotlib.rcParams.update({"legend.frameon": False, "savefig.transparent": True})
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
    parts = (
        (calls, "One client: a read call takes longer than so many ms", 0.0),
        (
            late,
            f"{_CROWD} clients: a 5 ms timer of the window is late by more than so many ms",
            0.5,
        ),
    )
    for axis, (times, title, least) in zip(axes, parts, strict=True):
        for number, peer in enumerate(PEERS):
            every = sorted(it for values in times.get(peer.kind, []) for it in values)
            if every:
                later = _thinned(len(every))
                shares = [100 * count / len(every) for count in later if every[-count] > least]
                every = [every[-count] for count in later if every[-count] > least]
                width, front = (2.5, 3) if peer.kind == OURS else (1.0, 2)
                style = {"color": f"C{number}", "linewidth": width, "zorder": front}
                axis.plot(every, shares, label=peer.title, **style)
        axis.set(
            xscale="log", yscale="log", xlabel=title, xlim=(least or None, None), ylim=(0.1, 100)
        )
        axis.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        axis.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g %%"))
        axis.grid(alpha=0.3)
    axes[1].axvline(16.7, color=_GREY, linestyle=":")
    axes[1].text(16.7, 60, " a frame at 60 Hz", fontsize="small")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
    figure.savefig(file, metadata={"Date": None})


def _thinned(count: int) -> list[int]:
    """Give numbers up to `count` that are even on a logarithmic axis, the largest first."""
    powers = (round(count ** (at / _POINTS)) for at in range(_POINTS, -1, -1))
    return list(dict.fromkeys(powers))


def main() -> None:
    """Measure, print, and write what is asked for."""
    place: dict[str, Any] = {"type": Path, "default": None}
    cache = {"type": Path, "default": platformdirs.user_cache_path("dcc_bridge") / "bench"}
    kinds = [it.kind for it in PEERS]
    only = {"nargs": "+", "choices": kinds, "default": kinds}
    more = ("--only", only), ("--json", place), ("--svg", place), ("--environments", cache)
    quick = {"rounds": 2, "calls": 50, "seconds": 1.0}
    chosen = options(__doc__, *more, quick=quick, rounds=12, calls=200, seconds=3.0)
    peers = [it for it in PEERS if it.kind in (OURS, *chosen.only)]
    with ExitStack() as stack:
        stack.enter_context(_silent_peers())
        bench = Bench(stack, peers, chosen.environments)
        calls = {era: bench.calls(era, chosen.rounds, chosen.calls) for era in ERAS}
        gaps = {size: bench.gaps(size, chosen.rounds, chosen.seconds) for size in _CROWDS}
    columns = ("read call, ms", "p50", "p95", "p99", "bridge more", "bridge is", "processor",
               "bridge is")  # fmt: skip
    for era, (times, used) in calls.items():
        show(f"One client, {era}, {chosen.rounds} rounds", columns, call_rows(times, used))
    headings = ("late by, ms", "p50", "p99", "p99.9", "max", "calls/s")
    for size, (late, rates) in gaps.items():
        title = f"Beside {size} clients, {chosen.rounds} rounds of {chosen.seconds:g} s"
        show(title, headings, gap_rows(late, rates))
    if chosen.json:
        chosen.json.write_text(json.dumps({"calls": calls, "gaps": gaps}))
    if chosen.svg:
        draw(calls[MODERN][0], gaps[_CROWD][0], chosen.svg)


if __name__ == "__main__":
    main()
