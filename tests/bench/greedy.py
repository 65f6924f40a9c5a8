"""What a greedy client costs the others: fifteen that call, beside one that wants everything.

``python -m tests.bench.greedy [--quick]``. Every second the greedy one makes 110 calls for threads,
40 for the main thread, 200 for streams of news and four for a megabyte; and it opens sessions
without end and never closes one. What is printed is how long the others' calls take with it and
without it, round by round, and the memory of the host before and after.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dcc_bridge import skill
from tests.bench.agent import ERAS, LEGACY, Agent, Server, result
from tests.bench.figures import memory, options, over, show
from tests.bench.hosted import Process, process

OTHERS: Final = 15
THREADS, JOBS, STREAMS, RESULTS = 110, 40, 200, 4
WAVE: Final = 1.0
_REFUSED: Final = (OSError, AssertionError, KeyError, ValueError)


@skill(risk="read")
def ping() -> str:
    """Say that the host is there."""
    return "pong"


@skill(risk="read")
def work() -> str:
    """Work for a millisecond on the main thread."""
    time.sleep(0.001)
    return "done"


@skill(risk="read", thread="any")
def rest() -> str:
    """Keep a thread for a second."""
    time.sleep(WAVE)
    return "rested"


@skill(risk="read", thread="any")
def large() -> str:
    """Return a megabyte."""
    return "x" * 2**20


def host() -> None:
    """Serve; each line of standard input is answered with the bytes in memory."""
    from tests.live import live

    with TemporaryDirectory() as folder, live(Path(folder), ping, work, rest, large) as running:
        labels = ["greedy", *(f"client-{number}" for number in range(OTHERS))]
        tokens = [running.bridge.instance.token(label) for label in labels]
        print(json.dumps([Server(running.bridge.url, it).to_json() for it in tokens]), flush=True)
        over = threading.Event()

        def listen() -> None:
            for _ in sys.stdin:
                print(memory(), flush=True)
            over.set()

        threading.Thread(target=listen, daemon=True).start()
        running.until(over.is_set, 3600)


def greed() -> None:
    """Want everything until standard input ends; say how many sessions were opened.

    The first line says where, and how many sessions there are to be at least.
    """
    order = json.loads(sys.stdin.readline())
    server, over = Server(**order["server"]), threading.Event()
    print(json.dumps("greedy"), flush=True)
    pool = ThreadPoolExecutor(1 + THREADS + JOBS + STREAMS + RESULTS)
    pool.submit(sys.stdin.read).add_done_callback(lambda _: over.set())
    with pool:
        ways: list[tuple[int, Callable[[], object]]] = [
            (THREADS, lambda: _call(server, "rest")),
            (JOBS, lambda: _call(server, "work")),
            (STREAMS, lambda: _listen(server, over)),
            (RESULTS, lambda: _call(server, "large", LEGACY)),
        ]
        for many, way in ways:
            for _ in range(many):
                pool.submit(_wave, way, over)
        opened = 0
        while not over.is_set() or opened < order["sessions"]:
            opened += _open(server)
    print(json.dumps(opened))


def _wave(way: Callable[[], object], over: threading.Event) -> None:
    """Do something again, every second."""
    while not over.is_set():
        began = time.monotonic()
        with suppress(*_REFUSED):
            way()
        over.wait(max(0.0, began + WAVE - time.monotonic()))


def _call(server: Server, tool: str, era: str = ERAS[0]) -> None:
    agent = Agent(server, era)
    try:
        agent.exchange(agent.calling(tool))
    finally:
        agent.close()


def _open(server: Server) -> bool:
    try:
        Agent(server, LEGACY).close()
    except _REFUSED:
        return False  # it was refused
    return True


def _listen(server: Server, over: threading.Event) -> None:
    agent = Agent(server)
    try:
        agent.send(agent.listening())
        while not over.is_set() and not agent.receive():
            pass
    finally:
        agent.close()


class Others:
    """Fifteen clients of both eras that call, each on a thread and a connection of its own.

    Attributes:
        failed: How many calls were not answered as they should be.
    """

    def __init__(self, servers: list[Server]) -> None:
        """Connect."""
        self._servers = servers
        self._agents = list(map(self._connect, range(len(servers))))
        self.failed = 0

    def call(self, seconds: float) -> list[float]:
        """Call for so long; gives the milliseconds of each call."""
        with ThreadPoolExecutor(len(self._agents)) as pool:
            times = pool.map(lambda number: self._call(number, seconds), range(len(self._agents)))
            return [taken for of_one in times for taken in of_one]

    def _connect(self, number: int) -> Agent:
        return Agent(self._servers[number], ERAS[number % 2])

    def _call(self, number: int, seconds: float) -> list[float]:
        end, times = time.monotonic() + seconds, []
        while time.monotonic() < end:
            agent, began = self._agents[number], time.perf_counter()
            try:
                answer = result(agent.exchange(agent.calling("ping")))
                assert answer["content"][0]["text"] == "pong"
                times.append((time.perf_counter() - began) * 1000)
            except _REFUSED:
                self.failed += 1
                with suppress(*_REFUSED):
                    self._agents[number] = self._connect(number)
            time.sleep(0.02)
        return times


def measure(serving: Process, rounds: int, seconds: float, sessions: int) -> None:
    """Go round and round, and print."""
    servers = [Server(**where) for where in serving.hear()]
    others = Others(servers[1:])
    others.call(1.0)
    before, opened, alone, beside = serving.tell("memory"), 0, [], []
    for number in range(rounds):
        alone.append(others.call(seconds))
        greedy = Process("greedy", "greed")
        missing = sessions - opened if number == rounds - 1 else 0
        greedy.tell(json.dumps({"server": servers[0].to_json(), "sessions": missing}))
        time.sleep(WAVE)
        beside.append(others.call(seconds))
        opened += int(greedy.end(limit=1200))
    time.sleep(2 * WAVE)  # what the last wave began is over
    after = serving.tell("memory")
    _print(alone, beside, {"failed": others.failed, "opened": opened, "memory": (before, after)})


def _print(alone: list[list[float]], beside: list[list[float]], facts: dict[str, Any]) -> None:
    rows = [
        (f"p{percent}", a := over(alone, percent), b := over(beside, percent), f"{b / a:.2f} x")
        for percent in (50, 99)
    ]
    rows.append(("calls", sum(map(len, alone)), sum(map(len, beside)), ""))
    show("Calls of fifteen clients, ms", ("", "alone", "beside a greedy one", "ratio"), rows)
    before, after = facts["memory"]
    print(f"\n{facts['failed']} calls of the fifteen failed. The greedy one opened")
    print(f"{facts['opened']:,} sessions; the host has {before / 2**20:.0f} MB before and")
    print(f"{after / 2**20:.0f} MB after ({(after - before) / 2**20:+.0f} MB).")


def main() -> None:
    """Measure and print; with an argument, be the host or the greedy client."""
    modes = {"host": host, "greed": greed}
    if sys.argv[1:2] and sys.argv[1] in modes:
        modes[sys.argv[1]]()
        return
    quick = {"rounds": 1, "seconds": 3.0, "sessions": 500}
    chosen = options(__doc__, quick=quick, rounds=3, seconds=8.0, sessions=10_000)
    with process("greedy", "host") as serving:
        measure(serving, chosen.rounds, chosen.seconds, chosen.sessions)


if __name__ == "__main__":
    main()
