"""A folder of a thousand skills: start, list and first call, beside a bare SDK server.

``python -m tests.bench.skills_1000 [--quick] [--count N]``. The bare server has the same tools: it
imports the same files and adds each function by hand, as one would without a bridge, and the first
list is asked for as soon as each is ready, or after `--after` seconds. Each round is
a process of its own for each of the two, in turn; the SDK is imported before the clock runs. One in
ten skills has a type of its own, so that its file must be imported to be listed. The gap is the
longest time for which the main thread, which looks every millisecond, was kept from it.
"""

from __future__ import annotations

import argparse
import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter, sleep
from typing import Final

from mcp.server.mcpserver import MCPServer

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.headless import Pump
from dcc_bridge.skills.loader import Library
from dcc_bridge.skills.registry import Registry
from tests.bench.agent import Agent, Server, result
from tests.bench.bare import BareServer
from tests.bench.figures import options, show, timed
from tests.stand_ins import FakeHost

ROWS: Final = ("start", "first list", "next list", "first call", "next call")
GAPS: Final = ("its gap", "gap")  # while the next list is made; in all
_TEXT: Final = '''\
"""Skill {n}."""

from __future__ import annotations

from typing import Literal

from dcc_bridge import skill
{model}

@skill(risk="read", title="Skill {n}")
def skill_{n}(
    pattern: str = "*", kind: Literal["any", "mesh", "light"] = "any", keep: list[str] = [],
    most: int = {n}, own: {own} = None,
) -> dict[str, int]:
    """Count what matches in part {n} of the scene.

    Args:
        pattern: A glob on the name.
        kind: What sort of thing.
        keep: Names that are passed over.
        most: Where to stop.
        own: Further wishes.
    """
    return {{"count": most}}
'''
_MODEL: Final = """
from pydantic import BaseModel

class Wish(BaseModel):
    name: str
    weight: float = 1.0
"""
_SERVED = Callable[[], Future[Server]]


def write(folder: Path, count: int) -> None:
    """Write the skills, one in ten with a type of its own."""
    for n in range(count):
        has_model = n % 10 == 0
        text = _TEXT.format(n=n, model=_MODEL if has_model else "",
                            own="Wish | None" if has_model else "str | None")  # fmt: skip
        (folder / f"skill_{n}.py").write_text(text)


def bare(folder: Path, count: int, after: float) -> dict[str, float]:
    """Measure the SDK's own server."""

    def serve() -> Future[Server]:
        server: MCPServer[object] = MCPServer("bare", log_level="WARNING")
        for n in range(count):
            name = f"skill_{n}"
            server.add_tool(runpy.run_path(str(folder / f"{name}.py"))[name])
        return BareServer(server).started

    return _measured(serve, lambda: sleep(0.001), count, after)


def bridged(folder: Path, count: int, after: float) -> dict[str, float]:
    """Measure a bridge."""
    pump = Pump()
    with TemporaryDirectory() as runtime:
        place = Path(runtime)
        settings = Settings(runtime=place, audit=place / "audit", user_skills=place / "none")
        bridge = Bridge(FakeHost(), pump.main, settings=settings, skills=[folder])

        def serve() -> Future[Server]:
            served: Future[Server] = Future()
            bridge.start().add_done_callback(
                lambda _: served.set_result(Server(bridge.url, bridge.instance.token("bench")))
            )
            return served

        def turn() -> None:
            pump.main.drain()
            sleep(0.001)

        try:
            return _measured(serve, turn, count, after)
        finally:
            bridge.stop()


def _measured(
    serve: _SERVED, turn: Callable[[], None], count: int, after: float
) -> dict[str, float]:
    figures: dict[str, float] = {}
    begin = perf_counter()
    served = serve()
    gap = _turn(turn, served.done)
    figures["start"] = (perf_counter() - begin) * 1000
    later = perf_counter() + after
    gap = max(gap, _turn(turn, lambda: perf_counter() > later))
    agent = Agent(served.result())
    call = f"skill_{count - 1}"
    for row, request in zip(
        ROWS[1:],
        (agent.listing(), agent.listing(), agent.calling(call), agent.calling(call)),
        strict=True,
    ):
        exchanged = _exchange(agent, request)
        own_gap = _turn(turn, exchanged.done)
        gap = max(gap, own_gap)
        if row == "next list":
            figures["its gap"] = own_gap * 1000
        figures[row], response = exchanged.result()
        answer = result(response)
        assert len(answer.get("tools", [0] * count)) >= count
        assert not answer.get("isError")
    agent.close()
    return {**figures, "gap": gap * 1000}


def _exchange(agent: Agent, request: bytes) -> Future[tuple[float, bytes]]:
    """Send a request from a thread of its own; gives the milliseconds and the response."""
    exchanged: Future[tuple[float, bytes]] = Future()

    def work() -> None:
        begin = perf_counter()
        response = agent.exchange(request)
        exchanged.set_result(((perf_counter() - begin) * 1000, response))

    Thread(target=work, daemon=True).start()
    return exchanged


def _turn(turn: Callable[[], None], until: Callable[[], bool]) -> float:
    """Run the main thread's loop; give the longest turn, in seconds."""
    longest, before = 0.0, perf_counter()
    while not until():
        turn()
        now = perf_counter()
        longest, before = max(longest, now - before), now
    return longest


def look(folder: Path) -> float:
    """Measure a look at the folder in which nothing was saved, in milliseconds."""
    library = Library([folder], Registry(), Pump().main, FakeHost())
    library.look()
    return median(timed(library.look, 20))


def _apart(kind: str, folder: Path, count: int, after: float) -> dict[str, float]:
    command = [sys.executable, "-m", __spec__.name, "--one", kind]
    command += ["--folder", str(folder), "--count", str(count), "--after", str(after)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Measure, and print the table."""
    chosen = options(
        __doc__,
        ("--one", {"choices": ("bare", "bridged"), "help": argparse.SUPPRESS}),
        ("--folder", {"type": Path, "help": argparse.SUPPRESS}),
        quick={"rounds": 1},
        rounds=5,
        count=1000,
        after=0.0,
    )
    if chosen.one:
        measure = bare if chosen.one == "bare" else bridged
        print(json.dumps(measure(chosen.folder, chosen.count, chosen.after)))
        return
    with TemporaryDirectory() as folder:
        write(Path(folder), chosen.count)
        pairs = [
            [_apart(kind, Path(folder), chosen.count, chosen.after) for kind in ("bare", "bridged")]
            for _ in range(chosen.rounds)
        ]
        looked = look(Path(folder))
    rows = []
    for row in (*ROWS, *GAPS):
        theirs, ours = ([pair[side][row] for pair in pairs] for side in (0, 1))
        ratio = median(our / their for our, their in zip(ours, theirs, strict=True))
        rows.append((row, median(theirs), median(ours), ratio))
    title = f"{chosen.count} skills, milliseconds (medians of {chosen.rounds})"
    show(title, ("", "bare SDK", "bridge", "ratio"), rows)
    print(f"\nA look at the folder when nothing was saved: {looked:.1f} ms, once a second.")


if __name__ == "__main__":
    main()
