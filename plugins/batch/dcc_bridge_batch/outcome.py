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

WORDS: Final = {  # for each state of the ledger, and for scenes without an entry
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
_UNTOUCHED_STATES: Final = ("editing", "left", "failed")  # the scene should be the original


@dataclass(slots=True)
class Totals:
    """The numbers of scenes in each state, and the reasons why some are not done.

    Attributes:
        states: The number of scenes in each state.
        reasons: The number of scenes for each reason.
        elsewhere: The number of changed scenes in which no approved item is deleted or changed.
        missed: The number of approved scenes that were left, and that no run tries again.
        refused: The path of each scene that a commit or rollback could not end, with the reason.
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
    """Counts the finished scenes of a plan, as the tasks of a run report them. Any thread."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        # The number of finished scenes of each task.
        self._finished = {task: self._count_final(task) for task in range(plan.tasks)}

    def _count_final(self, task: int) -> float:
        entries = ledger.entries(self._plan, task).values()
        return float(sum(entry["state"] in ledger.FINAL_STATES for entry in entries))

    @property
    def scenes(self) -> float:
        """The number of finished scenes of all tasks."""
        with self._lock:
            return sum(self._finished.values())

    def update(self, task: int, part: float) -> float:
        """Set the progress of a task.

        Args:
            task: The number of the task.
            part: The part of the task's scenes that is finished, from 0 to 1.

        Returns:
            The number of finished scenes of all tasks.
        """
        finished = part * len(self._plan.numbers(task))
        with self._lock:
            self._finished[task] = max(finished, self._finished[task])
        return self.scenes


def totals(plan: Plan) -> Totals:
    """Count a plan's scenes by their states in the ledger, or in the plan if not tried yet."""
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
        scene: The scene's line in the plan.
        state: A key of `WORDS`.
        why: The reason why the scene was left, has failed, or could not be ended; or "".
        entry: The scene's last entry in the ledger, or {}.
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
    """Delete the originals. The changed scenes cannot be rolled back afterwards.

    A scene that was changed after the run stays as it is, with its original, and is reported.

    Args:
        plan: The plan that was run.
        root: The folder below which the scenes lie.
        on_scene: Called after each scene of the tasks that were run.

    Returns:
        The totals, with the scenes that could not be committed in `Totals.refused`.

    Raises:
        PlanBusy: Another process is using the plan.
        LedgerError: The ledger cannot be written.
    """

    def end(scene: _Scene) -> None:
        attempts = scene.attempts_with_original()
        if not (scene.state == "done" or (attempts and scene.state in _UNTOUCHED_STATES)):
            return
        if scene.discard_if_untouched():
            return
        for places in attempts or [scene.last]:
            swap.commit(places, scene.edited, scene.planned)
        scene.write_entry("committed")

    with only_process(plan.folder):
        return _end_scenes(plan, root, end, on_scene)


def roll_back(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Put all originals back, byte for byte.

    A scene that was changed after the run stays as it is, and is reported. The consent is deleted
    first, so that no run changes the scenes again.

    Args:
        plan: The plan that was run.
        root: The folder below which the scenes lie.
        on_scene: Called after each scene of the tasks that were run.

    Returns:
        The totals, with the scenes that could not be rolled back in `Totals.refused`.

    Raises:
        PlanBusy: Another process is using the plan.
        LedgerError: The ledger cannot be written.
    """

    def end(scene: _Scene) -> None:
        if scene.state in _ENDED_STATES or scene.discard_if_untouched():
            return
        attempts = scene.attempts_with_original()
        if attempts:
            scene.write_entry("rolling_back", **{**scene.facts, "root": str(root)})
        elif not scene.is_back():
            raise SceneLeft(swap.NOT_HERE)
        for places in attempts:
            swap.roll_back(places, scene.edited, scene.planned)
        scene.write_entry("rolled_back")
        scene.discard()

    with only_process(plan.folder):
        approval.withdraw(plan)
        return _end_scenes(plan, root, end, on_scene)


class _Scene:
    """A scene that a commit or a rollback ends, with all attempts to edit it.

    Attributes:
        path: The scene's path below the root.
        planned: The digest of the scene in the plan.
        state: The state in the scene's last entry in the ledger.
        facts: The fields of that entry which belong to the state.
        edited: The digests of the copies that were proved.
        last: The files of the last attempt.
    """

    def __init__(self, book: TaskLedger, plan: Plan, number: int, root: Path) -> None:
        """Read the scene's entries, of which the ledger must have at least one."""
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

    def attempts_with_original(self) -> list[Places]:
        """List the files of the attempts that have an original on the disk."""
        return [places for places in self._places if os.path.exists(places.original)]

    def write_entry(self, state: ledger.State, **facts: Any) -> None:
        """Write an entry into the ledger."""
        self._book.write(self._number, state, **facts)

    def discard_if_untouched(self) -> bool:
        """Delete all files beside the scene if no attempt has changed it; return whether so."""
        if self.state not in _UNTOUCHED_STATES:
            return False
        attempts = self.attempts_with_original()
        if attempts and swap.digest(self.last.scene) != self.planned:
            return False
        for places in attempts:
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
        """Return whether the scene is certainly the original, if no attempt has an original."""
        is_rolling_back = self.state == "rolling_back" and self.facts.get("root") == self._root
        is_not_replaced = self.state == "proved" and self.last.work.exists()
        if not (is_rolling_back or is_not_replaced):
            return False
        return swap.digest(self.last.scene) == self.planned

    def refuse(self, why: str) -> None:
        """Record why the scene could not be ended. The scene keeps its state."""
        facts = {**self.facts, "kept": why}
        last = self._book.last(self._number) or {}
        is_rolling_back = last.get("state") == "rolling_back"
        if is_rolling_back and not self.attempts_with_original():  # the scene may be back already
            self.write_entry("rolling_back", **{**facts, "root": last.get("root")})
        else:
            self.write_entry(self.state, **facts)


def _end_scenes(
    plan: Plan,
    root: Path,
    end: Callable[[_Scene], None],
    on_scene: Callable[[], None],
) -> Totals:
    """Call `end` for each scene, and collect the scenes that cannot be ended."""
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
    """End a scene; if that is not possible, record and return the reason. Else return ""."""
    try:
        end(scene)
    except LedgerError:
        raise
    except SceneLeft as left:
        why = str(left)
    except OSError as error:
        originals = "".join(
            f" The original is {places.original}." for places in scene.attempts_with_original()
        )
        why = f"{error.strerror or error}.{originals} Fix this and try again."
    else:
        return ""
    scene.refuse(why)
    return why


def scene_facts(plan: Plan) -> list[dict[str, str]]:
    """Return the path, the state, its meaning and its reason of each scene, for a program."""
    return [
        {
            "scene": row.scene["path"],
            "state": row.state,
            "meaning": WORDS[row.state],
            "why": row.why,
        }
        for row in _scene_states(plan)
    ]


def troubles(plan: Plan) -> list[tuple[str, str, list[str]]]:
    """Return each state and reason of scenes that are not done, with the scenes' paths.

    The reasons of the most scenes come first.
    """
    grouped: dict[tuple[str, str], list[str]] = {}
    for row in _scene_states(plan):
        if row.why:
            grouped.setdefault((row.state, row.why), []).append(row.scene["path"])
    rows = [(state, why, paths) for (state, why), paths in grouped.items()]
    rows.sort(key=lambda row: len(row[2]), reverse=True)
    return rows
