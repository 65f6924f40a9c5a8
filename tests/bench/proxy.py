"""What the proxy adds to a call: the same client, straight to a host and through the proxy.

``python -m tests.bench.proxy`` takes turns between the two, so that they share what else the
machine does, and compares the medians of each turn. Then how long a client waits for the first
answer of a proxy that it starts, beside a process that only imports the command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

import anyio
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from dcc_bridge.client.connection import http_client
from dcc_bridge.server import discovery
from tests.bench.figures import against, options, show
from tests.client.proxy.stage import command, small
from tests.client.proxy.test_first_words import HELLO, PROBE

MODES: Final = {"modern": "2026-07-28", "legacy": "legacy"}
WAYS: Final = ("direct", "proxy")
Rounds = dict[tuple[str, str], list[list[float]]]


@asynccontextmanager
async def direct(runtime: Path, mode: Any) -> AsyncIterator[Client]:
    """Connect a client straight to the host."""
    (host,) = discovery.running(runtime)
    async with (
        http_client(host.token("bench")) as http,
        Client(streamable_http_client(host.url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def proxied(runtime: Path, mode: Any) -> AsyncIterator[Client]:
    """Connect a client through the proxy."""
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(command(runtime), errlog=nowhere), mode=mode) as client:
            yield client


async def measure(runtime: Path, rounds: int, calls: int) -> Rounds:
    """Measure both ways in both eras, in milliseconds a call."""
    times: Rounds = defaultdict(list)
    async with AsyncExitStack() as stack:
        clients = {}
        for era, mode in MODES.items():
            for way, connect in zip(WAYS, (direct, proxied), strict=True):
                clients[era, way] = await stack.enter_async_context(connect(runtime, mode))
        for _ in range(rounds):
            for key, client in clients.items():
                times[key].append([await _timed(client) for _ in range(calls)])
    return times


async def _timed(client: Client) -> float:
    begin = perf_counter()
    result = await client.call_tool("where", {})
    assert not result.is_error
    return (perf_counter() - begin) * 1000


def first_answers(runtime: Path, rounds: int) -> dict[str, list[float]]:
    """Start a process in turn for each, and give the milliseconds until it says its first line."""
    parameters = command(runtime)
    connect = [parameters.command, *parameters.args]
    bare = [sys.executable, "-c", "import dcc_bridge.cli.hosts; print()"]
    ways: dict[str, tuple[list[str], Any]] = {
        "a probe, modern": (connect, PROBE),
        "a handshake, legacy": (connect, HELLO),
        "the command's import alone": (bare, {}),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    pipe = subprocess.PIPE
    for number in range(rounds + 1):  # the first round does not count
        for name, (words, message) in ways.items():
            begin = perf_counter()
            with subprocess.Popen(words, env=parameters.env, stdin=pipe, stdout=pipe) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
                assert process.stdout.readline()
                if number:
                    taken[name].append((perf_counter() - begin) * 1000)
                process.kill()
    return taken


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, rounds=20, calls=50)
    with tempfile.TemporaryDirectory() as folder, small(Path(folder)):
        times = anyio.run(partial(measure, Path(folder), chosen.rounds, chosen.calls))
        first = first_answers(Path(folder), chosen.rounds)
    columns = ("ms", "direct p50", "direct p95", "proxy p50", "proxy p95", "difference", "ratio")
    show(
        f"{chosen.rounds} rounds of {chosen.calls}, medians over rounds",
        columns,
        [
            (f"read call, {era}", *against(times[era, "proxy"], times[era, "direct"]))
            for era in MODES
        ],
    )
    show(
        f"until the first answer of a proxy, {chosen.rounds} starts",
        ("ms", "median", "fastest", "slowest"),
        [(name, median(ms), min(ms), max(ms)) for name, ms in first.items()],
    )


if __name__ == "__main__":
    main()
