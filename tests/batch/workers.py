"""Many processes that write the ledger of one plan at once: a farm of a hundred workers.

``python -m tests.batch.workers FOLDER WORKERS KILLS``.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import subprocess
import sys
import threading
from collections import Counter
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "plugins" / "batch"))

from dcc_bridge_batch import ledger, outcome  # noqa: E402
from dcc_bridge_batch.plan import Plan  # noqa: E402

_LIMIT: Final = 3000


def crowd(plan: Plan, kills: int = 0) -> int:
    """Write the ledger of a plan in a process for each task, and kill some of them in the middle.

    Returns:
        How many were killed.
    """
    module = [sys.executable, "-m", "tests.batch.workers"]
    words = [str(plan.folder), str(plan.tasks), str(kills)]
    done = subprocess.run(
        [*module, *words], check=True, stdout=subprocess.PIPE, cwd=_ROOT, timeout=_LIMIT
    )
    return int(done.stdout)


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


def _write_ledger(read: Plan, task: int, most: int) -> None:
    """Write of the first scenes of a task what a run writes, but for what is there already."""
    with ledger.TaskLedger(read, task) as book:
        for number in read.numbers(task)[:most]:
            last = book.last(number)
            if last is None or last["state"] not in ledger.FINAL_STATES:
                book.write(number, "editing", attempt=1, tries=1)
                book.write(number, "proved", sha256="0" * 64, changed=2, attempt=1)
                book.write(number, "done", sha256="0" * 64, changed=2)


def _write_at_once(folder: Path, workers: int, kills: int) -> int:
    """Start a process for each task, and kill some; return how many were killed.

    Whoever is killed waits for it half-way, so that none of them is over first. It forks, so it is
    for a process without threads.
    """
    read = Plan.read(folder)
    if sys.platform == "win32":
        raise NotImplementedError("Windows has no fork")
    context = multiprocessing.get_context("fork")
    everybody = context.Barrier(workers + 1)
    killed = random.Random(18).sample(range(workers), kills)
    running = [
        context.Process(target=_work, args=(folder, task, everybody, task in killed))
        for task in range(workers)
    ]
    for process in running:
        process.start()
    everybody.wait(_LIMIT)
    while kills and outcome.totals(read).states["done"] < workers:
        pass
    for task in killed:
        running[task].kill()
    for process in running:
        process.join(_LIMIT)
    return sum(process.exitcode == -9 for process in running)


def _work(folder: Path, task: int, everybody: Barrier, is_killed: bool) -> None:
    read = Plan.read(folder)
    everybody.wait(_LIMIT)
    chunk = read.request.chunk
    _write_ledger(read, task, chunk // 2 if is_killed else chunk)
    if is_killed:
        threading.Event().wait(_LIMIT)


if __name__ == "__main__":
    print(_write_at_once(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
