"""Plays the acceptance set, and prints what each task took, beside the run before.

``python -m tests.tasks [TASK ...]`` plays the tasks that are named, or all; ``--list`` says which
there are. It exits with 1 if anything was not as it should be. The rows are kept as JSON for the
next run, in the folder of the tests' cache or in ``--table FILE``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import platformdirs

from tests.blender import bpy_module
from tests.tasks import blender, freecad, table, usd
from tests.tasks.playing import is_here, play
from tests.tasks.task import Row, Task

TASKS = (*blender.TASKS, *freecad.TASKS, *usd.TASKS)
_FILE = platformdirs.user_cache_path("dcc_bridge_tests") / "tasks.json"


def main() -> int:
    """Play the tasks, and print the table.

    Returns:
        The exit code: 0 if every task held.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.tasks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TASK", help="a task, or a host; all without")
    parser.add_argument("--list", action="store_true", help="say which tasks there are")
    parser.add_argument(
        "--blender", default="", choices=list(bpy_module.VERSIONS), help="as a module of a Python"
    )
    parser.add_argument("--table", type=Path, default=_FILE, help="where the rows are kept")
    parser.add_argument(
        "--pictures", type=Path, metavar="DIR", help="draw each scene before, after and undone"
    )
    chosen = parser.parse_args()
    known = {task.name for task in TASKS} | {task.host for task in TASKS}
    unknown = set(chosen.names) - known
    if unknown:
        parser.error(f"there is no task {', '.join(sorted(unknown))}: --list says which there are")
    if chosen.list:
        for task in TASKS:
            print(f"{task.host:8} {task.name:24} {(task.play.__doc__ or '').strip()}")
        return 0
    if chosen.pictures is not None:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    before = table.read(chosen.table)
    rows = []
    for task in TASKS:
        if chosen.names and not {task.name, task.host} & set(chosen.names):
            continue
        if not is_here(task, chosen.blender):
            print(f"{task.name}: {task.host} is not installed", flush=True)
            continue
        row = play(task, chosen.blender, chosen.pictures)
        _print(task, row)
        rows.append(row)
    print()
    print("\n".join(table.lines(TASKS, rows, before)))
    table.write(chosen.table, rows)
    wrong = sum(not row.held for row in rows)
    print(f"{len(rows) - wrong} passed, {wrong} failed")
    return 1 if wrong or not rows else 0


def _print(task: Task, row: Row) -> None:
    print(f"{task.host} {task.name}: {'held' if row.held else 'FAILED'}", flush=True)
    for sentence in row.wrong:
        print(f"    {sentence}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
