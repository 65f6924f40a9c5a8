"""What a look at a task costs beside a read call, and what 64 open tasks cost a read call.

``python -m tests.bench.tasks [--quick]``. A bridge in a Qt process, raw clients with one connection
each. A task is made after three seconds, so the figures without any come first. Aims: a look takes
no longer than a call through the SDK's kernel; the p99 of a read call is the same with and without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Final

from tests.bench.agent import Agent, Server, result
from tests.bench.figures import options, over, show, timed
from tests.bench.hosted import bridge_in, process

OPEN: Final = 64
POLL: Final = 1.0
"""Seconds between two looks of a client at its task."""


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, quick={"rounds": 3, "calls": 100}, rounds=10, calls=1000)
    rows: list[tuple[object, ...]] = []
    with ExitStack() as stack:
        server = bridge_in(stack.enter_context(process("host")))
        reader = stack.enter_context(closing(Agent(server, tasks=True)))
        read = reader.calling("ping")

        def measure(what: str, fn: Callable[[], object]) -> None:
            timed(fn, chosen.calls // 4)  # it does not count
            rounds = [timed(fn, chosen.calls) for _ in range(chosen.rounds)]
            rows.append((what, *(over(rounds, percent) for percent in (50, 95, 99))))

        def call() -> None:
            reader.exchange(read)

        measure("read call, no task open", call)
        tasks = open_tasks(server)
        reader.reconnect()
        measure(f"read call, {OPEN} tasks open", call)
        with polled(server, tasks):
            measure(f"read call, {OPEN} tasks, each looked at once a second", call)
        look = reader.about(tasks[0])
        assert result(reader.exchange(look))["status"] == "working"
        measure("tasks/get", lambda: reader.exchange(look))
        listing = reader.listing()
        measure("tools/list, beside it", lambda: reader.exchange(listing))
        for task in tasks:
            reader.exchange(reader.about(task, "tasks/cancel"))
    columns = ("ms", "p50", "p95", "p99")
    show(f"{chosen.rounds} rounds of {chosen.calls}, medians over rounds", columns, rows)


def open_tasks(server: Server) -> list[str]:
    """Make calls that go on as tasks, and give their ids."""
    with ExitStack() as stack:
        agents = [stack.enter_context(closing(Agent(server, tasks=True))) for _ in range(OPEN)]
        for agent in agents:
            agent.send(agent.calling("linger"))
        ids = []
        for agent in agents:
            while not agent.receive():
                pass
            ids.append(str(result(agent.received)["taskId"]))
    return ids


@contextmanager
def polled(server: Server, tasks: list[str]) -> Iterator[None]:
    """Have each task looked at once in `POLL` seconds, one after another."""
    is_over = threading.Event()

    def poll() -> None:
        with closing(Agent(server, tasks=True)) as agent:
            while not is_over.is_set():
                for task in tasks:
                    agent.exchange(agent.about(task))
                    is_over.wait(POLL / len(tasks))

    polling = threading.Thread(target=poll)
    polling.start()
    try:
        yield
    finally:
        is_over.set()
        polling.join()


if __name__ == "__main__":
    main()
