"""Where the time of a plain read call goes, layer by layer: ``python -m tests.bench.layers``.

A mark is set where a call passes from one layer to the next, and the time between two marks is the
layer's. Client and bridge share a process here, so its own wake-up is in the first and last row.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections import defaultdict
from concurrent.futures import Future
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any, Final

from PySide6.QtWidgets import QApplication

from dcc_bridge.main_thread import MainThread
from dcc_bridge.server.auth import AuthMiddleware
from dcc_bridge.server.connections import LimitedConnection
from dcc_bridge.server.fast_path import FastPath
from dcc_bridge.server.mcp_server import Server as McpServer
from dcc_bridge.server.parked_calls import ParkedCalls
from dcc_bridge.skills.run import Run
from dcc_bridge.skills.runner import Runner
from tests.bench.agent import Agent, Server
from tests.bench.bridged import BridgedServer
from tests.bench.figures import options, percentile, show

BORDERS: Final[tuple[tuple[type[Any], str, str], ...]] = (
    (LimitedConnection, "data_received", "the loop wakes for what the client sent"),
    (AuthMiddleware, "__call__", "HTTP is parsed"),
    (FastPath, "__call__", "host, origin and token; its client's turn"),
    (McpServer, "begin", "headers and body are read key by key"),
    (Runner, "start", "arguments are bound, the call is parked"),
    (MainThread, "submit", "the run is made"),
    (MainThread, "drain", "the hop to the main thread"),
    (Run, "on_main_thread", "the job's turn, on a greenlet"),
    (Run, "_end", "the body, between its begin and its outcome"),
    (ParkedCalls, "finish", "the end is noted; the way back to the loop"),
    (FastPath, "_serialized", "the waiting request wakes"),
)
LAST: Final = "the result is serialized and written; the client wakes"
marks: list[tuple[str, float]] = []


def mark(owner: type[Any], name: str, title: str) -> None:
    """Note the time whenever a method is entered."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def marked(*args: Any, **kwargs: Any) -> Any:
        marks.append((title, perf_counter()))
        return method(*args, **kwargs)

    @functools.wraps(method)
    async def marked_coroutine(self: Any, first: Any, *args: Any) -> Any:
        marks.append((title, perf_counter()))
        return await method(self, first, *args)

    setattr(owner, name, marked_coroutine if inspect.iscoroutinefunction(method) else marked)


def measure(server: Server, calls: int) -> dict[str, list[float]]:
    """Give the microseconds of each layer, call by call."""
    agent, layers = Agent(server), defaultdict[str, list[float]](list)
    request = agent.calling("ping")
    for number in range(calls + calls // 10):
        marks.clear()
        begin = perf_counter()
        agent.exchange(request)
        end = perf_counter()
        if number < calls // 10:
            continue
        first: dict[str, float] = {}
        for title, at in marks:
            first.setdefault(title, at)
        times = [begin, *(first[title] for _, _, title in BORDERS), end]
        titles = [*(title for _, _, title in BORDERS), LAST]
        for title, before, after in zip(titles, times, times[1:], strict=False):
            layers[title].append((after - before) * 1e6)
        layers["all"].append((end - begin) * 1e6)
    agent.close()
    return layers


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, calls=2000)
    for border in BORDERS:
        mark(*border)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    app, bridged, layers = QApplication([]), BridgedServer(), dict[str, list[float]]()

    def run(started: Future[Server]) -> None:
        def work() -> None:
            layers.update(measure(started.result(), chosen.calls))
            bridged.main.post(app.quit)

        Thread(target=work, daemon=True).start()

    bridged.started.add_done_callback(run)
    app.exec()
    bridged.stop()
    rows = [
        (title, percentile(times, 50), percentile(times, 95), 100 * median(times) / total)
        for title, times in layers.items()
        if (total := median(layers["all"]))
    ]
    show(f"{chosen.calls} plain read calls", ("microseconds", "p50", "p95", "% of all"), rows)


if __name__ == "__main__":
    main()
