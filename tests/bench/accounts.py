"""Measures an edit in Blender with the account of it, beside the same edit without.

``python -m tests.bench.accounts [--rounds N]``. One object is moved, or one of its settings is set:
in a step that is tried and kept, and by a skill that the runner runs, as a client's call does. It
is done in turn without the account, with it, and with it again: the first edit after a change from
outside, and the next one, which begins with the values that the first one has read. A figure is the
median in time of the processor; a ratio is that of two medians, in one process.

``blender -b --factory-startup --python tests/bench/accounts.py`` measures in that Blender; the
folders of the bridge, of the adapter and of their dependencies are in BLENDER_PATH then.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

if __name__ == "__main__":
    sys.path[:0] = filter(None, os.environ.get("BLENDER_PATH", "").split(os.pathsep))

from tests.bench import in_hosts
from tests.bench.figures import options, show

if TYPE_CHECKING:
    from tests.one_run import OneRun

ITEMS: Final = (100, 1_000, 2_000)
ROUNDS: Final = 20
_MAX_TOLD: Final = 30  # characters
_COLUMNS: Final = ("", "without (ms)", "first (ms)", "ratio", "next (ms)", "ratio", "told")
_Row = list[object]
_Edit = Callable[[int], None]
_Turn = Callable[[_Edit, int], str]
"""Does an edit with a number that is another one each time, and returns what an agent is told."""


def _move(number: int) -> None:
    _box().location.y = number


def _set_index(number: int) -> None:
    _box().pass_index = number


def _box() -> Any:
    import bpy

    return bpy.data.objects["box_00005"]  # looked up anew: an undo reads all of it again


_EDITS: Final[dict[str, _Edit]] = {"move 1": _move, "set 1": _set_index}


def _in_step(host: Any, edit: _Edit, number: int) -> str:
    """Edit in a step that is tried and kept."""
    from dcc_bridge.consent.account import told

    with host.guard([], read=False), host.undo_step("Measured"):
        trial = host.trial()
        edit(number)
        host.lost([])
        account = trial.account()
    if account is None:
        return ""
    return told(account)


def _in_skill(running: OneRun, edit: _Edit, number: int) -> str:
    """Edit in a skill that the runner runs."""
    from dcc_bridge.skills.skill import describe, skill

    @skill(risk="edit")
    def measured() -> None:
        """Edit."""
        edit(number)

    run = running.start(describe(measured))
    while not run.outcome.done():
        running.main.drain()
    return run.outcome.result().now


def _without_account() -> AbstractContextManager[object]:
    """Have steps that read no values, so that none of them has an account."""
    from dcc_bridge_blender.steps import OpenStep

    return patch.object(OpenStep, "_taken_snapshot", lambda step: None)


def _timed(turn: _Turn, edit: _Edit, number: int) -> tuple[float, str]:
    """Return the milliseconds of a turn, and what an agent is told."""
    gc.collect()
    began = process_time()
    now = turn(edit, number)
    return 1000 * (process_time() - began), now


def _row(title: str, turn: _Turn, edit: _Edit, rounds: int) -> _Row:
    """Measure an edit without the account and with it, in turn.

    Args:
        title: What is measured.
        turn: Does the edit.
        edit: The edit.
        rounds: How often it is done in each way; once more, since the first round fills caches.
    """
    without: list[float] = []
    first: list[float] = []
    following: list[float] = []
    told = ""
    for at in range(rounds + 1):
        number = 3 * at
        with _without_account():
            took, _ = _timed(turn, edit, number)
        without.append(took)
        took, _ = _timed(turn, edit, number + 1)
        first.append(took)
        took, told = _timed(turn, edit, number + 2)
        following.append(took)
    bare = median(without[1:])
    row: _Row = [title, bare]
    for taken in (first, following):
        whole = median(taken[1:])
        row += [whole, f"{whole / bare:.2f} x"]
    return [*row, told[:_MAX_TOLD]]


def measure(host: str, *, rounds: int) -> None:
    """Measure here: this is an interpreter of Blender."""
    from tests.one_run import one_run
    from tests.stand_ins import Person

    for count in ITEMS:
        with in_hosts.opened(host, count) as (scene, _), one_run(scene.host, Person()) as running:
            turns = {
                "in a step": partial(_in_step, scene.host),
                "in a skill": partial(_in_skill, running),
            }
            rows = []
            for where, turn in turns.items():
                for name, edit in _EDITS.items():
                    rows.append(_row(f"{name} {where}", turn, edit, rounds))
            show(f"{in_hosts.version_of(scene)}, {count:,} objects", _COLUMNS, rows)
            scene.host.close()
    in_hosts.leave(host)


def main() -> None:
    """Measure in this Blender, or else in the first of `tests.blender.bpy_module`."""
    chosen = options(__doc__, rounds=ROUNDS)
    in_hosts.run("tests.bench.accounts", "bpy", rounds=chosen.rounds)


if __name__ == "__main__":
    if "--" in sys.argv:
        del sys.argv[1 : sys.argv.index("--") + 1]  # the options of Blender
    main()
