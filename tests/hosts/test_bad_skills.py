"""Whatever a bad skill does, nothing changes and nothing is lost that a person did not agree to."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.bad_edits import FILES, Scene, write_files
from tests.hosts.bad_plans import Plan, make, smaller
from tests.hosts.bad_skills import Play, Result

PROGRAMS = int(os.environ.get("BAD_SKILLS", "10000"))
"""How many programs the long run has."""


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A worker's loop, on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def play(plan: Plan, folder: Path, loop: asyncio.AbstractEventLoop) -> list[str]:
    """Run a program in a folder of its own, and list what it did that nobody agreed to."""
    write_files(folder)
    try:
        result = Play(plan, folder, loop).run()
        return [*of_scene(plan, result), *of_files(result, folder)]
    finally:
        shutil.rmtree(folder)


def of_scene(plan: Plan, result: Result) -> list[str]:
    """Compare the scene with what the person agreed to."""
    before, after, granted = result.before, result.after, result.granted
    is_other = after.stage is not before.stage or after.file != before.file
    if granted.lasting and (is_other or after.files != before.files):
        return []  # they agreed that it is another scene, or that what it refers to is
    wrong = [f"{after.file} is open"] if is_other else []
    wrong += _in_view(before, after)
    gone = before.objects - after.objects - result.lost
    if gone:
        wrong.append(f"gone: {sorted(gone)}")
    if result.theirs:  # what they did meanwhile lies on top, and is theirs
        return wrong
    if after.content != before.content and not result.changed:
        wrong.append("changed without a yes")
    if result.ended.content != after.content and not granted.foreign:
        wrong.append("changed after its end")
    must_stay = (plan.risk == "read" or result.status != "done") and not granted.foreign
    if must_stay and after.content != before.content:
        wrong.append(f"{result.status}, and the layers hold {after.layers}")
    return wrong + _in_stacks(before, after, must_stay=must_stay)


def _in_view(before: Scene, after: Scene) -> list[str]:
    """Compare what the person sees and may edit; a layer may have left the scene."""
    wrong = []
    if after.view != before.view:
        wrong.append(f"the view is {after.view}, and was {before.view}")
    if any(after.locks.get(name, lock) != lock for name, lock in before.locks.items()):
        wrong.append(f"the locks are {after.locks}, and were {before.locks}")
    return wrong


def _in_stacks(before: Scene, after: Scene, *, must_stay: bool) -> list[str]:
    """Compare what the person can undo and redo; a change on top ends what could be redone."""
    if must_stay or after.undo == before.undo:
        is_same = (after.undo, after.redo) == (before.undo, before.redo)
    else:
        is_same = after.undo[: len(before.undo)] == before.undo
    return [] if is_same else [f"the stacks are {after.undo} and {after.redo}"]


def of_files(result: Result, folder: Path) -> list[str]:
    """Compare the files with what the person agreed to."""
    wrong = []
    kept = [it.read_bytes() for it in folder.rglob("*.checkpoints/*/*")]
    for name in FILES:
        old = result.before.files[name]
        if result.after.files.get(name) == old:
            continue
        if not result.granted.lasting:
            wrong.append(f"{name} was written over")
        elif old not in kept:
            wrong.append(f"{name} was written over, and no copy was kept")
    return wrong


def shrunk(plan: Plan, folder: Path, loop: asyncio.AbstractEventLoop) -> Plan:
    """Take away of a bad program what it does not need to be one."""
    number = 0
    again = True
    while again:
        again = False
        for other in smaller(plan):
            number += 1
            if play(other, folder / f"s{number}", loop):
                plan, again = other, True
                break
    return plan


def check(seed: int, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
    """Run one program; where it did wrong, show the smallest one that does."""
    plan = make(seed)
    wrong = play(plan, folder / str(seed), loop)
    if wrong:
        plan = shrunk(plan, folder, loop)
        wrong = play(plan, folder / "last", loop) or wrong
        pytest.fail(f"seed {seed}: {wrong}\n{plan}")


@pytest.mark.parametrize("part", range(4))
def test_a_few_bad_skills(part: int, tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    for seed in range(12 * part, 12 * (part + 1)):
        check(seed, tmp_path, loop)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_bad_skills(
    part: int, tmp_path: Path, loop: asyncio.AbstractEventLoop
) -> None:
    for seed in range(PROGRAMS * part // 10, PROGRAMS * (part + 1) // 10):
        check(1000 + seed, tmp_path, loop)
