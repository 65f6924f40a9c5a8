"""What grows with the clients, with the questions that are open, and with the record.

``python -m tests.bench.growth [--quick] [--parked N] [--lines N]``. Each row has a figure for few
and for many: the ratio counts. The record is one file, and its readers are processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.audit.log import AuditLog
from tests.bench.agent import FORM, Agent, Server, result
from tests.bench.figures import options, percentile, show, timed
from tests.bench.hosted import process
from tests.live import live

MANY_CLIENTS, FEW_PARKED, FEW_LINES = 256, 10, 10_000
_CROWD, _PROCESSES = 32, MANY_CLIENTS // 32  # clients in a process, and how many of these
_LIMITS: Final = ("connections", "open_questions", "open_questions_of_a_client")
_ROOM: Final[dict[str, Any]] = dict.fromkeys((*_LIMITS, "waiting_questions"), 4096)
_READS: Final = 200
Row = tuple[object, ...]


@skill(risk="read")
def ping() -> str:
    """Say that the host is there."""
    return "pong"


@skill(risk="read")
def ask() -> None:
    """Ask the person."""
    elicit_form_sync("Sure?", FORM)


def host() -> None:
    """Serve until standard input ends; the first line says where, as some clients."""
    with TemporaryDirectory() as folder, live(Path(folder), ping, ask, **_ROOM) as running:
        tokens = [running.bridge.instance.token(f"client-{at}") for at in range(_PROCESSES)]
        print(json.dumps([Server(running.bridge.url, it).to_json() for it in tokens]), flush=True)
        threading.Thread(target=sys.stdin.read, name="input", daemon=True).start()
        running.until(lambda: all(it.name != "input" for it in threading.enumerate()), 3600)


def crowds(servers: list[Server]) -> Row:
    """Count the calls that few and many clients make in a second together."""
    rates = list[float]()
    for size, count in ((1, 1), (_CROWD, _PROCESSES)):
        with ExitStack() as stack:
            crowd = [stack.enter_context(process("crowd", str(size))) for _ in range(count)]
            for calling, server in zip(crowd, servers, strict=False):
                calling.tell(json.dumps(server.to_json()))
            time.sleep(3)
            counts = [json.loads(it.end()) for it in crowd]
        rates.append(sum(it["calls"] / it["seconds"] for it in counts))
    return (f"calls a second, 1 and {MANY_CLIENTS} clients", *_with_ratio(*rates))


def beside_parked(servers: list[Server], many: int) -> Row:
    """Time a read beside few and many questions that nobody has answered yet."""
    reader, agents, parked, times = Agent(servers[0]), list(map(Agent, servers)), 0, []
    timed(partial(reader.exchange, reader.calling("ping")), _READS)
    for count in (FEW_PARKED, many):
        for agent in agents:
            agent.reconnect()
        while parked < count:
            agent = agents[parked % len(agents)]
            asked = result(agent.exchange(agent.calling("ask")))
            assert asked.get("resultType") == "input_required", asked
            parked += 1
        reader.reconnect()
        read = reader.calling("ping")
        times.append(percentile(timed(partial(reader.exchange, read), _READS), 10))
        for agent in (reader, *agents):
            agent.close()
    return (f"ms of a read beside {FEW_PARKED} and {many:,} questions", *_with_ratio(*times))


def write(folder: Path, lines: int) -> float:
    """Write a record of calls; give the µs that each line of the last tenth took."""
    log = AuditLog(folder, {"host": "bench"})
    for number in range(lines // 4):
        if number == lines * 9 // 40:
            began = time.process_time()
        call = {"call": f"{number:016x}", "skill": "delete", "client": "bench"}
        full = {**call, "client_name": "bench", "arguments": {"pattern": "cam*"}}
        items = {"objects": 20, "names": [f"/World/cameras/camera_{at}" for at in range(20)]}
        log(("asked", {**full, "first": True, "message": "Delete them?", **items}))
        log(("granted", {**call, "by": "host", "ms_shown": 3000}))
        log(("begin", {**full, "scene": "shot.usda"}), ("end", {**call, "status": "done"}))
    took = time.process_time() - began
    log.close()
    return took / lines * 1e7


def _command(folder: Path, *words: str) -> tuple[float, float]:
    """Run an ``audit`` command; give its processor time in seconds, and its memory in MB."""
    if sys.platform == "win32":
        raise NotImplementedError("Windows has no wait4")
    command = [sys.executable, "-m", "dcc_bridge", "audit", *words, str(*folder.iterdir())]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL).pid
    _, status, used = os.wait4(running, 0)
    assert status == 0, command
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def records(many: int) -> Iterator[Row]:
    """Measure what is done with a short and a long record."""
    figures: list[dict[str, float]] = []
    with TemporaryDirectory() as place:
        for lines in (4, FEW_LINES, many):  # the first start imports what is imported
            folder = Path(place) / str(lines)
            figure = {"µs of CPU to append a line": write(folder / "audit", lines)}
            began = time.process_time()
            with live(folder):
                figure["ms of CPU to start"] = (time.process_time() - began) * 1000
            for words in (("show", "--last", "20"), ("verify",)):
                seconds, memory = _command(folder / "audit", *words)
                name = " ".join(words)
                figure |= {f"s of CPU, {name}": seconds, f"MB, {name}": memory}
            figures.append(figure)
    for name in figures[-1]:
        few_and_many = _with_ratio(figures[1][name], figures[2][name])
        yield (f"{name}, {FEW_LINES:,} and {many:,} lines", *few_and_many)


def _with_ratio(few: float, many: float) -> Row:
    return few, many, f"{many / few:.2f} x"


def main() -> None:
    """Measure and print; with an argument, be the host."""
    if sys.argv[1:2] == ["host"]:
        host()
        return
    chosen = options(__doc__, quick={"lines": 100_000}, parked=1_000, lines=1_000_000)
    with process("growth", "host") as serving:
        servers = [Server(**where) for where in serving.hear()]
        rows = [crowds(servers), beside_parked(servers, chosen.parked)]
    show("Growth", ("", "few", "many", "ratio"), [*rows, *records(chosen.lines)])


if __name__ == "__main__":
    main()
