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
from .swap import Left, Places

WORDS: Final = {  # what a person reads for each state of the ledger
    "open": "not tried yet",
    "nothing": "nothing to do",
    "editing": "interrupted; the scene is as it was",
    "proved": "interrupted; the next run or rollback looks whether it was replaced",
    "done": "changed, the original is kept",
    "left": "left as it was",
    "unchanged": "the skill had nothing to do, or changed nothing; left as it was",
    "failed": "failed, and is as it was",
    "committed": "changed for good",
    "rolling_back": "interrupted while it was rolled back",
    "rolled_back": "rolled back",
}
_TO_RUN: Final = ("open", "editing", "proved", "failed", "rolled_back")
_ENDED: Final = ("committed", "rolled_back")
_NOT_OURS: Final = ("editing", "left", "failed")  # the scene is as it was, by what is noted


@dataclass(slots=True)
class Totals:
    """How many scenes are in which state, and why those are not done that are not.

    Attributes:
        states: How many scenes there are of each state.
        reasons: How often each reason is given.
        elsewhere: Changed scenes in which none of the items that were agreed to is gone or another
            one.
        missed: Scenes that were agreed to and left: no run tries them again.
        refused: Paths of the scenes that a commit or a rollback could not end, and why.
    """

    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    elsewhere: int = 0
    missed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether a further run would find nothing to do."""
        return not any(self.states[it] for it in _TO_RUN)


class RunProgress:
    """How many scenes of a plan are over, by what the tasks of a run report. Any thread."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._over = {task: self._final(task) for task in range(plan.tasks)}  # scenes of each

    def _final(self, task: int) -> float:
        entries = ledger.entries(self._plan, task).values()
        return float(sum(it["state"] in ledger.FINAL for it in entries))

    @property
    def scenes(self) -> float:
        """How many scenes are over in all."""
        with self._lock:
            return sum(self._over.values())

    def at(self, task: int, part: float) -> float:
        """Take how far a task is, 0 to 1, and give how many scenes are over in all."""
        over = part * len(self._plan.numbers(task))
        with self._lock:
            self._over[task] = max(over, self._over[task])
        return self.scenes


def totals(plan: Plan) -> Totals:
    """Read the ledger; what the plan says counts for scenes that were not tried."""
    counted = Totals()
    for scene, state, why, entry in _states(plan):
        counted.states[state] += 1
        if why:
            counted.reasons[why] += 1
        counted.missed += state == "left" and scene["state"] == "asks"
        if state == "done" and entry.get("proof", "items") != "items":
            counted.elsewhere += 1
    return counted


def _states(plan: Plan) -> Iterator[tuple[Scene, str, str, ledger.Entry]]:
    """Yield each scene, its state, why it was left or failed or is kept still, and its entry."""
    for scene, (_, last) in zip(plan.scenes(), ledger.all_entries(plan), strict=True):
        entry = last or {}
        state = str(entry.get("state", "open"))
        if scene["state"] == "nothing" and state in ("open", "left"):
            yield scene, "nothing", "", entry
        elif scene["state"] != "asks" and state == "open":
            yield scene, "left", scene["why"], entry
        else:
            state = "unchanged" if state == "left" and "unchanged" in entry else state
            why = " ".join(entry[it] for it in ("why", "kept") if it in entry)
            yield scene, state, why, entry


def commit(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Delete the originals that were kept. What is done cannot be rolled back after it.

    A scene that is not as the run left it stays as it is, with its original, and is told.

    Busy: a run is under way. LedgerError: what was done cannot be noted.
    """

    def end(scene: _Scene) -> None:
        kept = scene.kept()
        if not (scene.state == "done" or (kept and scene.state in _NOT_OURS)):
            return
        if not scene.is_untouched():
            for places in kept or [scene.last]:
                swap.commit(places, scene.edited, scene.planned)
            scene.note("committed")

    with only_process(plan.folder):
        return _each(plan, root, end, on_scene)


def roll_back(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Put all originals back, byte for byte; a scene that was changed since is left and told.

    The consent goes first: whoever took it back does not want the next run to do it again.

    Busy: a run is under way. LedgerError: what was done cannot be noted.
    """

    def end(scene: _Scene) -> None:
        if scene.state in _ENDED or scene.is_untouched():
            return
        kept = scene.kept()
        if kept:
            scene.note("rolling_back", **{**scene.facts, "root": str(root)})
        elif not scene.is_back():
            raise Left(swap.NOT_HERE)
        for places in kept:
            swap.roll_back(places, scene.edited, scene.planned)
        scene.note("rolled_back")
        scene.discard()

    with only_process(plan.folder):
        approval.withdraw(plan)
        return _each(plan, root, end, on_scene)


class _Scene:
    """A scene that a commit or a rollback ends, with all attempts at it that were ever noted."""

    def __init__(self, book: TaskLedger, plan: Plan, number: int, root: Path) -> None:
        """Look it up; the ledger has an entry of it."""
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
        self.facts = {name: value for name, value in entry.items() if name not in ledger.HEAD}
        self._places = [Places.of(plan, scene, root, copy) for copy in attempts]
        self.edited = [sha256 for sha256 in attempts.values() if sha256 is not None]
        self.last = Places.of(plan, scene, root, entry.get("copy", ""))

    def kept(self) -> list[Places]:
        """List the attempts whose originals are there."""
        return [it for it in self._places if os.path.exists(it.kept)]

    def note(self, state: ledger.State, **facts: Any) -> None:
        """Write an entry."""
        self._book.write(self._number, state, **facts)

    def is_untouched(self) -> bool:
        """Return whether no attempt has changed it; then what lies beside it is deleted."""
        if self.state not in _NOT_OURS:
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
        """Return whether it is the original for sure, where no original is kept beside it."""
        is_begun = self.state == "rolling_back" and self.facts.get("root") == self._root
        is_waiting = self.state == "proved" and self.last.work.exists()  # to be put in place
        return (is_begun or is_waiting) and swap.digest(self.last.scene) == self.planned

    def refuse(self, why: str) -> None:
        """Note why it could not be ended. It has the state that it had."""
        now = self._book.last(self._number) or {}
        if now.get("state") == "rolling_back" and not self.kept():  # it may be back already
            self.note("rolling_back", **{**self.facts, "root": now.get("root"), "kept": why})
        else:
            self.note(self.state, **{**self.facts, "kept": why})


def _each(
    plan: Plan,
    root: Path,
    end: Callable[[_Scene], None],
    on_scene: Callable[[], None],
) -> Totals:
    """End each scene; one that cannot be ended stops no other."""
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
    """End a scene; give why it cannot be, which is noted, or "". LedgerError."""
    try:
        end(scene)
    except LedgerError:
        raise
    except Left as left:
        why = str(left)
    except OSError as error:
        kept = "".join(f" The original is {it.kept}." for it in scene.kept())
        why = f"{error.strerror or error}.{kept} Mend that, and do it again."
    else:
        return ""
    scene.refuse(why)
    return why


def troubles(plan: Plan) -> list[tuple[str, str, list[str]]]:
    """Return why scenes are not as they should be: state, why, and the paths; the most first."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for scene, state, why, _ in _states(plan):
        if why:
            grouped.setdefault((state, why), []).append(scene["path"])
    return sorted(((*it, paths) for it, paths in grouped.items()), key=lambda row: -len(row[2]))
