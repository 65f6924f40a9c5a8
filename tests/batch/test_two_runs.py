"""Two runs of one plan, each with a ledger of its own, meet at one scene: its original stays."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from dcc_bridge_batch import files, ledger, outcome, swap, task
from dcc_bridge_batch.hosts import WarmHost
from dcc_bridge_batch.plan import Plan
from tests.batch.test_swap import ORIGINAL, plan_of

STEPS = 30  # more than an edit has of those that are counted


class Editor:
    """A host that writes a text into each scene."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._file = Path()

    async def tool(self, tool: str, **arguments: Any) -> dict[str, Any]:
        if tool == "batch_open":
            self._file = Path(arguments["file"])
            return {}
        self._file.write_text(self._text)
        sha256 = files.digest_file(self._file)
        return {"other": None, "sha256": sha256, "changed": 1, "proof": "items"}

    async def skill(self, *_: object) -> tuple[str, str]:
        return "done", ""


class Run:
    """A run of a plan of one scene, with a ledger of its own."""

    def __init__(self, plan: Plan, text: str) -> None:
        self.plan = plan
        self._text = text

    def go(self) -> None:
        """Edit the scene, if that was not done."""
        work = task.Work(self.plan, self.plan.root, 0, "run", self.plan.folder, "")
        host = cast(WarmHost, Editor(self._text))
        with ledger.TaskLedger(self.plan, 0) as book:
            last = book.last(0)
            edit = task._Edit(work, book, host, self.plan.scene(0))
            if last is None or last["state"] not in ledger.FINAL_STATES:
                with ThreadPoolExecutor(1) as own:  # the other run may be in its loop
                    own.submit(anyio.run, edit.run).result()

    def back(self) -> None:
        outcome.roll_back(self.plan, self.plan.root)

    @property
    def entry(self) -> ledger.Entry:
        return ledger.entries(self.plan, 0)[0]


class Interrupter:
    """Does something before the n-th step that others can see."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._left = -1
        self._action: Callable[[], None] = lambda: None
        for name in ("link", "replace", "unlink", "stat"):
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))
        for name in ("copy_file", "digest_file"):
            monkeypatch.setattr(files, name, self._counted(getattr(files, name)))
        for name in ("sync_folder", "sync_file"):
            monkeypatch.setattr(files, name, self._counted(lambda _: None))
        monkeypatch.setattr(os, "fsync", lambda _: None)

    def before(self, step: int, action: Callable[[], None]) -> None:
        self._left, self._action = step, action

    def off(self) -> bool:
        """Interrupt no more; tell whether it was done."""
        left, self._left = self._left, -1
        return left < 0

    def _counted(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any, **more: Any) -> Any:
            if words[:1] and Path(words[0]).name == "ledger":
                return fn(*words, **more)  # it is locked: a process that is killed lets go of it
            self._left -= self._left >= 0
            if self._left == 0:
                self._left = -1
                self._action()
            return fn(*words, **more)

        return counted


def both(folder: Path, texts: tuple[str, str]) -> tuple[Run, Run]:
    """Plan one scene; the second run has a copy of the plan."""
    folder.mkdir()
    plan = plan_of(folder)
    shutil.copytree(plan.folder, folder / "copy")
    return Run(plan, texts[0]), Run(Plan.read(folder / "copy"), texts[1])


def is_whole(ours: Run, theirs: Run) -> bool:
    """Roll both back, as often as it takes; tell whether all is as it was, and nothing else."""
    for run in (ours, theirs, ours, theirs):
        run.back()
    root = ours.plan.root
    return {it.name: it.read_text() for it in root.iterdir()} == {"shot_0.usda": ORIGINAL}


def original_is_there(root: Path) -> bool:
    return any(it.read_text() == ORIGINAL for it in root.iterdir() if it.is_file())


@pytest.mark.long
@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("texts", [("edited", "edited"), ("ours", "theirs")])
def test_no_interleaving_of_two_runs_loses_an_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, str]
) -> None:
    """Have the other run work at one step, and be rolled back at a later one."""
    interrupter, lost, met = Interrupter(monkeypatch), [], 0

    for first in range(1, STEPS):
        for second in range(1, 9):
            ours, theirs = both(tmp_path / f"{first} {second}", texts)

            def run(theirs: Run = theirs, second: int = second) -> None:
                theirs.go()
                interrupter.before(second, theirs.back)

            interrupter.before(first, run)
            ours.go()
            is_met = interrupter.off()
            met += is_met
            if not (original_is_there(ours.plan.root) and is_whole(ours, theirs)):
                lost.append((first, second, ours.entry, theirs.entry))
            if not is_met:  # it has no such step
                break

    assert met > 20
    assert lost == []


def test_a_scene_that_another_run_has_changed_is_left(tmp_path: Path) -> None:
    ours, theirs = both(tmp_path / "show", ("edited", "edited"))
    theirs.go()

    ours.go()

    assert ours.entry["state"] == "left"
    assert ours.entry["why"] == "It was changed after it was planned."
    assert is_whole(ours, theirs)


def test_names_of_copies_fit_where_the_name_of_a_scene_is_long(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    names = [f"{'n' * 200}{number}.usda" for number in range(2)]
    scenes = [{**plan.scene(0), "path": name} for name in names]

    places = [swap.Places.of(plan, scene, plan.root, "1a2b3c4d") for scene in scenes]

    assert all(len(it.original.name) < 200 for it in places)
    assert places[0].original != places[1].original
