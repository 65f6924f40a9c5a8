"""What came of a plan: totals, and its end by `commit` or `roll_back`. Any thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dcc_batch import ledger, swap
from dcc_batch.files import only_process
from dcc_batch.ledger import TaskLedger
from dcc_batch.plan import Plan, Scene
from dcc_batch.swap import Left, Places

WORDS: Final = {  # what a person reads for each state of the ledger
    "open": "not tried yet",
    "editing": "interrupted; the scene is as it was",
    "proved": "interrupted; the next run or rollback looks whether it was replaced",
    "done": "changed, the original is kept",
    "left": "left as it was",
    "failed": "failed, and is as it was",
    "committed": "changed for good",
    "rolling_back": "interrupted while it was rolled back",
    "rolled_back": "rolled back",
}
_OURS: Final = ("done", "rolling_back", "proved")  # the scene may be the edited one


@dataclass(slots=True)
class Totals:
    """How many scenes are in which state, and why those are not done that are not."""

    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def is_over(self) -> bool:
        """Whether a further run would find nothing to do."""
        return not any(self.states[it] for it in ("open", "editing", "proved", "failed"))


def totals(plan: Plan) -> Totals:
    """Read the ledger."""
    counted = Totals()
    for _, entry in ledger.all_entries(plan):
        counted.states["open" if entry is None else entry["state"]] += 1
        if why := _why(entry):
            counted.reasons[why] += 1
    return counted


def _why(entry: ledger.Entry | None) -> str:
    """Give why a scene was left or failed, or why its original is kept still; "" for others."""
    if entry is None or entry["state"] not in ("left", "failed", "done"):
        return ""
    return str(entry.get("kept", "") if entry["state"] == "done" else entry["why"])


def commit(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Delete the originals that were kept. What is done cannot be rolled back after it.

    A scene that is not as the run left it stays "done", with its original, and is told.

    Busy: a run is under way. OSError: one cannot be deleted; what was, is on record.
    """

    def end(book: TaskLedger, scene: Scene, places: Places) -> None:
        number, entry = scene["n"], book.last(scene["n"])
        assert entry is not None  # `_each` saw to it
        if entry["state"] != "done":
            return
        facts = {"sha256": entry["sha256"], "changed": entry.get("changed")}
        try:
            swap.commit(places, entry["sha256"], scene["sha256"])
            book.write(number, "committed")
        except Left as left:
            book.write(number, "done", **facts, kept=str(left))

    return _each(plan, root, end, on_scene)


def roll_back(plan: Plan, root: Path, on_scene: Callable[[], None] = lambda: None) -> Totals:
    """Put all originals back, byte for byte; a scene that was changed since is left and told.

    Busy: a run is under way. OSError: one cannot be put back; what was, is on record.
    """

    def end(book: TaskLedger, scene: Scene, places: Places) -> None:
        number, entry = scene["n"], book.last(scene["n"])
        assert entry is not None  # `_each` saw to it
        if entry["state"] not in _OURS:
            if entry["state"] == "editing":
                swap.sweep(places)
            return
        swap.discard(places)
        facts = {"sha256": entry["sha256"], "changed": entry.get("changed")}
        try:
            if entry["state"] == "proved" and not swap.was_replaced(
                places, entry["sha256"], scene["sha256"]
            ):
                swap.drop(places)  # the scene is the original; the second link to it goes
                book.write(number, "rolled_back")
                return
            book.write(number, "rolling_back", **facts)
            swap.roll_back(places, entry["sha256"], scene["sha256"])
            book.write(number, "rolled_back")
        except Left as left:
            book.write(number, "done", **facts, kept=str(left))

    return _each(plan, root, end, on_scene)


def _each(
    plan: Plan,
    root: Path,
    end: Callable[[TaskLedger, Scene, Places], None],
    on_scene: Callable[[], None],
) -> Totals:
    with only_process(plan.folder):
        for task in range(plan.tasks):
            if not ledger.file_of(plan, task).exists():
                continue
            with TaskLedger(plan, task) as book:
                for number in plan.numbers(task):
                    if book.last(number) is not None:
                        scene = plan.scene(number)
                        end(book, scene, Places.of(plan, scene, root))
                    on_scene()
        return totals(plan)


def troubles(plan: Plan, most: int = 20) -> Iterator[tuple[str, str, str]]:
    """Give the scenes that are not as they should be: path, state and why, at most so many."""
    for number, entry in ledger.all_entries(plan):
        if entry is None or not (why := _why(entry)):
            continue
        if most <= 0:
            return
        most -= 1
        yield plan.scene(number)["path"], entry["state"], why
