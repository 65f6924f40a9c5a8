"""The outcome of a plan: totals, and its end by `commit` or `roll_back`. Any thread."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from . import approval, ledger, swap
from .files import only_process
from .ledger import LedgerError, TaskLedger
from .plan import Plan, Scene
from .swap import Places, SceneLeft

WORDS: Final = {  # what a person reads for each state of the ledger
    "open": "not tried yet",
    "nothing": "nothing to do",
    "editing": "interrupted; the scene is as it was",
    "proved": "interrupted; the next run or rollback checks whether it was replaced",
    "done": "changed, the original is kept",
    "left": "left as it was",
    "unchanged": "the skill had nothing to do or changed nothing",
    "failed": "failed, not changed",
    "committed": "changed for good",
    "rolling_back": "interrupted while it was rolled back",
    "rolled_back": "rolled back",
}
_RUNNABLE_STATES: Final = ("open", "editing", "proved", "failed", "rolled_back")
_ENDED_STATES: Final = ("committed", "rolled_back")
_UNTOUCHED_STATES: Final = ("editing", "left", "failed")  # by the ledger the scene is as it was


@dataclass(slots=True)
class Totals:
    """The numbers of scenes in each state, and the reasons why some are not done.

    Attributes:
        states: How many scenes there are of each state.
        reasons: How often each reason is given.
        elsewhere: How many changed scenes there are in which none of the items that were agreed to
            is gone or differs.
        missed: How many scenes that were agreed to are left: no run tries them again.
        refused: The scenes that a commit or a rollback could not end: the path and the reason.
    """

    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    elsewhere: int = 0
    missed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Return whether a further run would find nothing to do."""
        return not any(self.states[state] for state in _RUNNABLE_STATES)


class RunProgress:
    """The number of scenes of a plan that are over, as the tasks of a run report it. Any thread."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        # The number of scenes that are over, of each task.
        self._over = {task: self._count_final(task) for task in range(plan.tasks)}

    def _count_final(self, task: int) -> float:
        entries = ledger.entries(self._plan, task).values()
        return float(sum(entry["state"] in ledger.FINAL_STATES for entry in entries))

    @property
    def scenes(self) -> float:
        """The number of scenes that are over in all."""
        with self._lock:
            return sum(self._over.values())

    def update(self, task: int, part: float) -> float:
        """Note the progress of a task.

        Args:
            task: The number of the task.
            part: The part of its scenes that is over, from 0 to 1.

        Returns:
            How many scenes are over in all.
        """
        over = part * len(self._plan.numbers(task))
        with self._lock:
            self._over[task] = max(over, self._over[task])
        return self.scenes


def totals(plan: Plan) -> Totals:
    """Count a plan's scenes by the ledger, and by the plan where a scene was not tried."""
    counted = Totals()
    for row in _scene_states(plan):
        counted.states[row.state] += 1
        if row.why:
            counted.reasons[row.why] += 1
        if row.state == "left" and row.scene["state"] == "asks":
            counted.missed += 1
        if row.state == "done" and row.entry.get("proof", "items") != "items":
            counted.elsewhere += 1
    return counted


@dataclass(frozen=True, slots=True)
class _SceneState:
    """The state of a scene.

    Attributes:
        scene: Its line of the plan.
        state: A key of `WORDS`.
        why: Why the scene was left, has failed, or could not be ended; or "".
        entry: Its last entry in the ledger; empty where it has none.
    """

    scene: Scene
    state: str
    why: str
    entry: ledger.Entry


def _scene_states(plan: Plan) -> Iterator[_SceneState]:
    for scene, (_, last) in zip(plan.scenes(), ledger.all_entries(plan), strict=True):
        entry = last or {}
        state = str(entry.get("state", "open"))
        if scene["state"] == "nothing" and state in ("open", "left"):
            yield _SceneState(scene, "nothing", "", entry)
            continue
        if scene["state"] != "asks" and state == "open":
            yield _SceneState(scene, "left", scene["why"], entry)
            continue
        if state == "left" and "unchanged" in entry:
            state = "unchanged"
        why = " ".join(entry[name] for name in ("why", "kept") if name in entry)
        yield _SceneState(scene, state, why, entry)


def commit(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Delete the originals that were kept. The changed scenes cannot be rolled back afterwards.

    A scene that is not as the run left it stays as it is, with its original, and is reported.

    Args:
        plan: The plan that was run.
        root: The folder below which the scenes lie.
        on_scene: Called after each scene that a run has begun or passed over.

    Returns:
        The totals, with the scenes that could not be committed in `Totals.refused`.

    Raises:
        PlanBusy: A run is under way.
        LedgerError: The end of a scene cannot be noted.
    """

    def end(scene: _Scene) -> None:
        kept = scene.kept()
        if not (scene.state == "done" or (kept and scene.state in _UNTOUCHED_STATES)):
            return
        if scene.discard_if_untouched():
            return
        for places in kept or [scene.last]:
            swap.commit(places, scene.edited, scene.planned)
        scene.note("committed")

    with only_process(plan.folder):
        return _end_scenes(plan, root, end, on_scene)


def roll_back(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Put all originals back, byte for byte; a scene that was changed since is left and reported.

    The consent goes first: whoever rolls back does not want the next run to do it again.

    Args:
        plan: The plan that was run.
        root: The folder below which the scenes lie.
        on_scene: Called after each scene that a run has begun or passed over.

    Returns:
        The totals, with the scenes that could not be rolled back in `Totals.refused`.

    Raises:
        PlanBusy: A run is under way.
        LedgerError: The end of a scene cannot be noted.
    """

    def end(scene: _Scene) -> None:
        if scene.state in _ENDED_STATES or scene.discard_if_untouched():
            return
        kept = scene.kept()
        if kept:
            scene.note("rolling_back", **{**scene.facts, "root": str(root)})
        elif not scene.is_back():
            raise SceneLeft(swap.NOT_HERE)
        for places in kept:
            swap.roll_back(places, scene.edited, scene.planned)
        scene.note("rolled_back")
        scene.discard()

    with only_process(plan.folder):
        approval.withdraw(plan)
        return _end_scenes(plan, root, end, on_scene)


class _Scene:
    """A scene that a commit or a rollback ends, with all attempts at it that were ever noted.

    Attributes:
        path: The scene's path below the root, as the plan has it.
        planned: The digest that the scene has in the plan.
        state: The state of its last entry in the ledger.
        facts: The fields of that entry which belong to the state.
        edited: The digests of the copies that were proved.
        last: The files of the last attempt.
    """

    def __init__(self, book: TaskLedger, plan: Plan, number: int, root: Path) -> None:
        """Look the scene up; the ledger must have an entry of it."""
        scene = plan.scene(number)
        entry = book.last(number)
        attempts = book.attempts(number)
        assert entry is not None
        self._book = book
        self._number = number
        self._root = str(root)
        self.path = str(scene["path"])
        self.planned = str(scene["sha256"])
        self.state: ledger.State = entry["state"]
        self.facts = {
            name: value for name, value in entry.items() if name not in ledger.COMMON_FIELDS
        }
        self._places = [Places.of(plan, scene, root, copy) for copy in attempts]
        self.edited = [sha256 for sha256 in attempts.values() if sha256 is not None]
        self.last = Places.of(plan, scene, root, entry.get("copy", ""))

    def kept(self) -> list[Places]:
        """List the files of the attempts whose originals are there."""
        return [places for places in self._places if os.path.exists(places.kept)]

    def note(self, state: ledger.State, **facts: Any) -> None:
        """Write an entry into the ledger."""
        self._book.write(self._number, state, **facts)

    def discard_if_untouched(self) -> bool:
        """Return whether no attempt has changed the scene; if so, delete all files beside it."""
        if self.state not in _UNTOUCHED_STATES:
            return False
        kept = self.kept()
        if kept and swap.digest(self.last.scene) != self.planned:
            return False
        for places in kept:
            swap.drop(places)
        self.discard()
        return True

    def discard(self) -> None:
        """Delete the copies of all attempts."""
        for places in self._places:
            if self.state == "editing":
                swap.sweep(places)
            else:
                swap.discard(places)

    def is_back(self) -> bool:
        """Return whether the scene is surely the original, where none is kept beside it."""
        is_begun = self.state == "rolling_back" and self.facts.get("root") == self._root
        is_waiting = self.state == "proved" and self.last.work.exists()  # to be put in place
        if not (is_begun or is_waiting):
            return False
        return swap.digest(self.last.scene) == self.planned

    def refuse(self, why: str) -> None:
        """Note why the scene could not be ended. It keeps the state that it had."""
        facts = {**self.facts, "kept": why}
        last = self._book.last(self._number) or {}
        if last.get("state") == "rolling_back" and not self.kept():  # it may be back already
            self.note("rolling_back", **{**facts, "root": last.get("root")})
        else:
            self.note(self.state, **facts)


def _end_scenes(
    plan: Plan,
    root: Path,
    end: Callable[[_Scene], None],
    on_scene: Callable[[], None],
) -> Totals:
    """End each scene; one that cannot be ended does not stop the others."""
    refused = []
    for task in range(plan.tasks):
        if not ledger.file_of(plan, task).exists():
            continue
        with TaskLedger(plan, task) as book:
            for number in plan.numbers(task):
                if book.last(number) is not None:
                    scene = _Scene(book, plan, number, root)
                    why = _refusal(scene, end)
                    if why:
                        refused.append((scene.path, why))
                on_scene()
    counted = totals(plan)
    counted.refused = refused
    return counted


def _refusal(scene: _Scene, end: Callable[[_Scene], None]) -> str:
    """End a scene, and return why that is not possible, which is noted; or "". LedgerError."""
    try:
        end(scene)
    except LedgerError:
        raise
    except SceneLeft as left:
        why = str(left)
    except OSError as error:
        originals = "".join(f" The original is {places.kept}." for places in scene.kept())
        why = f"{error.strerror or error}.{originals} Fix this and try again."
    else:
        return ""
    scene.refuse(why)
    return why


def troubles(plan: Plan) -> list[tuple[str, str, list[str]]]:
    """Return why scenes are not done: the state, the reason and the paths; the most paths first."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for row in _scene_states(plan):
        if row.why:
            grouped.setdefault((row.state, row.why), []).append(row.scene["path"])
    rows = [(state, why, paths) for (state, why), paths in grouped.items()]
    rows.sort(key=lambda row: len(row[2]), reverse=True)
    return rows
