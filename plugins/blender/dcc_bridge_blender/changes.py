"""What became of the items of a file in a stretch of code, for a report. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from dcc_bridge.spi import Changes, CountChanges, compared

from . import objects
from .census import has_few_inner, parts_by_id
from .undo import ChangeCounter

_MOST_NOTED: Final = 10_000  # items up to which those that change are noted
_Parts = Mapping[int, tuple[str, str]]


@contextmanager
def noted_changes(
    counter: ChangeCounter, state: tuple[int, int] | None, scene: Callable[[], str]
) -> Iterator[CountChanges]:
    """Note items by their ids, and what is evaluated: not of more than 10,000 items.

    Args:
        counter: Tells of changes.
        state: That before the step, if one is open: it holds until Blender tells of a change.
        scene: Returns the name of the file.
    """
    before = objects.items_by_id()
    if state is None or state[0] != counter.count:
        state = counter.state()
    since = state
    is_noted = len(before) <= _MOST_NOTED
    inner = has_few_inner()
    parts = parts_by_id(inner=inner) if is_noted else {}
    counter.touched = set() if is_noted else None

    def count() -> Changes:
        its = compared(before, objects.items_by_id())
        is_changed = counter.is_changed(since)
        is_named = is_noted and is_changed
        names = _touched(counter.touched or set(), its, parts, inner=inner) if is_named else []
        if is_changed and not (its.created or its.changed or its.deleted or names):
            names = [f"something in {scene()} that Blender does not name"]
        return Changes(its.created, [*its.changed, *names], its.deleted)

    try:
        yield count
    finally:
        counter.touched = None


def _touched(told: set[int], its: Changes, parts: _Parts, *, inner: bool) -> list[str]:
    """Name what was evaluated, or has other parts than before, and is in no list yet.

    The data of an object is named with the object. Where things came or went, Blender tells of a
    scene as well, which is no change of its settings.
    """
    now = parts_by_id(inner=inner)
    ids = told | {key for key, part in now.items() if key in parts and parts[key][1] != part[1]}
    names = {*objects.items_by_id(ids).values()}
    names |= {*objects.others(ids)} - objects.data_of(names)
    if its.created or its.deleted:
        names = {name for name in names if not name.startswith("scene:")}
    return sorted(names - {*its.created, *its.changed})
