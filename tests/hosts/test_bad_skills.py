"""Whatever a bad skill does, nothing changes and nothing is lost that a person did not agree to."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts.bad_edits import FILES, write_files
from tests.hosts.bad_skills import Plan, Play, Result, make, smaller

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
    if granted.lasting and (after.stage is not before.stage or after.file != before.file):
        return []  # they agreed that it is another scene
    wrong = []
    has_edited = any(label == "The person's edit" for label in after.undo)
    is_same = after.content == before.content and after.undo == before.undo
    if after.file != before.file or after.stage is not before.stage:
        wrong.append(f"another scene is open: {after.file}")
    if after.view != before.view:
        wrong.append(f"the view is {after.view}, and was {before.view}")
    if any(after.locks.get(name, lock) != lock for name, lock in before.locks.items()):
        wrong.append(f"the locks are {after.locks}, and were {before.locks}")
    if not has_edited and (plan.risk == "read" or result.status != "done"):
        wrong += _unchanged(result)
    gone = before.objects - after.objects - result.lost
    if gone:
        wrong.append(f"gone: {sorted(gone)}")
    if not is_same and not has_edited and not result.changed:
        wrong.append("changed without a yes")
    stays = tuple(label for label in after.undo if label.startswith("The person's"))
    if stays[: len(before.undo)] != before.undo:
        wrong.append(f"what the person can undo is {after.undo}")
    if is_same and after.redo != before.redo and not has_edited:
        wrong.append(f"what the person can redo is {after.redo}")
    if result.ended.content != after.content and not granted.foreign and not has_edited:
        wrong.append("changed after its end")
    return wrong


def _unchanged(result: Result) -> list[str]:
    before, after = result.before, result.after
    if result.granted.foreign:
        return []
    wrong = []
    for name in before.layers.keys() | after.layers.keys():
        if before.layers.get(name) != after.layers.get(name):
            wrong.append(f"{result.status}, and {name} is another:\n{after.layers.get(name)}")
    if (after.undo, after.redo) != (before.undo, before.redo):
        wrong.append(f"{result.status}, and the stacks are {after.undo}, {after.redo}")
    return wrong


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
