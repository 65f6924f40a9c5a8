"""What grows with the scenes of a plan, and what a farm of a hundred workers does to its ledger.

``python -m tests.bench.batch_growth [--quick] [--most N] [--workers N]``. Each step is a process of
its own, so that its memory is its own; "base" is what such a process has before it does anything.
The seconds are the machine's: what counts is how they grow.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

_ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "plugins" / "batch"))

from dcc_batch import ledger, outcome, plan, report  # noqa: E402
from dcc_batch.plan import HostFacts, Plan, Request  # noqa: E402
from tests.bench.figures import options, show  # noqa: E402
from tests.server import browser  # noqa: E402

_SIZES: Final = (100, 1_000, 10_000, 100_000)
_ITEMS: Final = 5  # a scene
_CHUNK: Final = 50  # scenes a task
_STEPS: Final = ("base", "plan", "report", "ledger", "totals", "task")
_LINES: Final = 3  # of the ledger, for a scene
_LIMIT: Final = 3000
_FIND: Final = """
const field = document.getElementById("find");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
"""


def scenes(count: int) -> Iterator[dict[str, Any]]:
    """Give the lines of many scenes that ask for five items each."""
    for number in range(count):
        items = [f"/World/cameras/cam_{number}_{item}" for item in range(_ITEMS)]
        question = {
            **{"message": f"Delete {_ITEMS} cameras?", "title": "Delete", "items": items},
            **{"kinds": ["Camera"] * _ITEMS, "arguments": [], "details": None},
        }
        path = f"sq_{number // 100:04}/shot_{number:06}.usda"
        facts = {"n": number, "path": path, "size": 1000, "sha256": f"{number:064x}"}
        line = {**facts, "state": "asks", "why": "", "question": question}
        yield {**line, "question_sha256": plan.question_digest(question)}


def write_plan(folder: Path, count: int) -> Plan:
    """Write a plan of so many scenes, none of which is there."""
    facts = HostFacts("host 1", "0.1.0", "0" * 64, None)
    request = Request("standalone", "tidy", {}, chunk=_CHUNK)
    return plan.write(folder, request, facts, folder, scenes(count))


def write_ledger(read: Plan, task: int, most: int = _CHUNK) -> None:
    """Write of each scene of a task what a run writes, but for what is there already.

    Goes no further than the `most` first scenes.
    """
    with ledger.TaskLedger(read, task) as book:
        for number in read.numbers(task)[:most]:
            last = book.last(number)
            if last is None or last["state"] not in ledger.FINAL:
                book.write(number, "editing", attempt=1, tries=1)
                book.write(number, "proved", sha256="0" * 64, changed=_ITEMS, attempt=1)
                book.write(number, "done", sha256="0" * 64, changed=_ITEMS)


def _whole_ledger(folder: Path, _: int) -> None:
    setattr(os, "fsync", lambda _: None)  # noqa: B010 - how fast the disk is is another matter
    read = Plan.read(folder)
    for task in range(read.tasks):
        write_ledger(read, task)


def _first_scene(folder: Path, _: int) -> None:
    """Do what a task does before its first scene."""
    read = Plan.read(folder)
    with ledger.TaskLedger(read, read.tasks - 1):
        ledger.is_over(read, "run")
        read.scene(read.count - 1)


_ACTIONS: Final[dict[str, Callable[[Path, int], object]]] = {
    "base": lambda *_: None,
    "plan": write_plan,
    "report": lambda folder, _: report.write(Plan.read(folder)),
    "ledger": _whole_ledger,
    "totals": lambda folder, _: outcome.totals(Plan.read(folder)),
    "task": _first_scene,
}


def step(name: str, folder: str, count: int) -> None:
    """Do a step; print its seconds and the most memory that its process had, in MB."""
    begin = time.perf_counter()
    _ACTIONS[name](Path(folder), count)
    seconds = time.perf_counter() - begin
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (peak,) = (int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    print(json.dumps([seconds, peak]))


def rows(place: Path, count: int) -> Iterator[tuple[object, ...]]:
    """Measure all steps with so many scenes."""
    folder = place / str(count)
    for name in _STEPS:
        seconds, peak = _own_process("step", name, folder, count)
        yield (f"{count:,}: {name}", seconds, 1000 * seconds / count, peak, _size(folder, name))
    if browser.THERE:
        for name, seconds in opened(folder / report.FILE, count):
            yield (
                f"{count:,}: report in Chromium, {name}",
                seconds,
                1000 * seconds / count,
                "",
                "",
            )


def _own_process(*words: object) -> Any:
    command = [sys.executable, "-m", "tests.bench.batch_growth", *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=_ROOT, timeout=_LIMIT)
    return json.loads(done.stdout)


def _size(folder: Path, name: str) -> str:
    files = {
        "plan": [folder / plan.SCENES],
        "report": [folder / report.FILE],
        "ledger": list((folder / "ledger").glob("*.jsonl")),
    }.get(name, [])
    size = sum(file.stat().st_size for file in files) / 1e6
    return f"{size:.2f} MB, {len(files):,} files" if files else ""


def opened(page: Path, count: int) -> Iterator[tuple[str, float]]:
    """Open a report, then find one scene in it; give the seconds of each."""
    with TemporaryDirectory() as profile, browser.browser(Path(profile)) as chrome:
        chrome.get("about:blank")
        begin = time.perf_counter()
        chrome.get(page.as_uri())
        yield "opened", time.perf_counter() - begin
        begin = time.perf_counter()
        chrome.execute_script(_FIND, f"shot_{count - 1:06}")
        yield "searched", time.perf_counter() - begin
        assert chrome.find_element("id", "count").text == f"1 of {count:,} scenes"


def write_at_once(folder: Path, workers: int, kills: int) -> tuple[float, int]:
    """Write the ledger of a plan, a process for each task, and kill some of them in the middle.

    Gives the seconds from the first line to the last, and how many were killed. Whoever is killed
    waits for it half-way, so that none of them is over first. It forks, so it is for a process
    without threads.
    """
    is_new = not (folder / plan.HEADER).exists()
    read = write_plan(folder, workers * _CHUNK) if is_new else Plan.read(folder)
    if sys.platform == "win32":
        raise NotImplementedError("Windows has no fork")
    context = multiprocessing.get_context("fork")
    everybody = context.Barrier(workers + 1)
    killed = random.Random(18).sample(range(workers), kills)
    running = [
        context.Process(target=_worker, args=(folder, task, everybody, task in killed))
        for task in range(workers)
    ]
    for process in running:
        process.start()
    everybody.wait(_LIMIT)
    begin = time.perf_counter()
    while kills and outcome.totals(read).states["done"] < workers:
        pass
    for task in killed:
        running[task].kill()
    for process in running:
        process.join(_LIMIT)
    seconds = time.perf_counter() - begin
    return seconds, sum(process.exitcode == -9 for process in running)


def _worker(folder: Path, task: int, everybody: Barrier, is_killed: bool) -> None:
    read = Plan.read(folder)
    everybody.wait(_LIMIT)
    write_ledger(read, task, _CHUNK // 2 if is_killed else _CHUNK)
    if is_killed:
        threading.Event().wait(_LIMIT)


def inexact(read: Plan) -> list[str]:
    """List what is not as it should be where each scene was done once."""
    wrong = []
    for task in range(read.tasks):
        content = ledger.file_of(read, task).read_bytes()
        lines = Counter[tuple[int, str]]()
        for line in content.splitlines():
            entry = json.loads(line)
            lines[entry["n"], entry["state"]] += 1
        for number in read.numbers(task):
            if lines.pop((number, "done"), 0) != 1:
                wrong.append(f"scene {number} is not done once")
            lines.pop((number, "editing"), None)
            lines.pop((number, "proved"), None)
        wrong += [f"task {task} has {entry}" for entry in lines]
        wrong += [f"task {task} ends in a part of a line"] * (content[-1:] != b"\n")
    return wrong


def crowd(folder: Path, workers: int, kills: int = 0) -> tuple[float, int]:
    """Do what `write_at_once` does in a process of its own."""
    seconds, killed = _own_process("crowd", folder, workers, kills)
    return seconds, killed


def _crowd_row(folder: Path, workers: int) -> tuple[object, ...]:
    seconds, _ = crowd(folder, workers)
    count = workers * _CHUNK
    state = "WRONG" if inexact(Plan.read(folder)) else "exact"
    rate = count * _LINES / seconds
    return (f"{workers} at once", seconds, 1000 * seconds * workers / count, rate, state)


def main() -> None:
    """Measure and print; with an argument, do one step."""
    if sys.argv[1:2] == ["step"]:
        step(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    if sys.argv[1:2] == ["crowd"]:
        print(json.dumps(write_at_once(Path(sys.argv[2]), *map(int, sys.argv[3:]))))
        return
    chosen = options(__doc__, quick={"most": 1_000, "workers": 10}, most=_SIZES[-1], workers=100)
    with TemporaryDirectory(prefix="batch-") as place:
        listed = [row for size in _SIZES if size <= chosen.most for row in rows(Path(place), size)]
        columns = ("scenes, and what is done", "s", "ms a scene", "MB at most", "on disk")
        show("What grows with the scenes", columns, listed)
        crowds = [
            _crowd_row(Path(place, f"crowd {count}"), count)
            for count in sorted({1, 10, chosen.workers})
        ]
        columns = ("processes", "s", "ms a scene of each", "lines a second", "ledger")
        show("What workers do to the ledger", columns, crowds)


if __name__ == "__main__":
    main()
