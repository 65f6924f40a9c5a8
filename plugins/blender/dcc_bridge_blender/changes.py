"""The changes of a file's items while code runs, for a report. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from dcc_bridge.spi import Changes, CountChanges, compared

from . import objects
from .census import has_few_inner, parts_by_id
from .undo import ChangeCounter

_MAX_NOTED: Final = 10_000  # items of a file in which changes of items are noted
_Parts = Mapping[int, tuple[str, str]]  # as `census.parts_by_id` returns them


@contextmanager
def noted_changes(
    counter: ChangeCounter, state: tuple[int, int] | None, scene: Callable[[], str]
) -> Iterator[CountChanges]:
    """Note the changes of items in the block, in a file of at most 10,000 items.

    Args:
        counter: Counts the changes that Blender reports.
        state: The state of the counter before the open step, or None. The state is valid until
            Blender reports a change.
        scene: Returns the name of the file.

    Yields:
        A function that returns what was created, changed and deleted until now.
    """
    before = objects.items_by_id()
    if state is None or state[0] != counter.count:
        state = counter.state()
    since = state
    is_noted = len(before) <= _MAX_NOTED
    inner = has_few_inner()
    parts: _Parts = {}
    counter.touched = None
    if is_noted:
        parts = parts_by_id(inner=inner)
        counter.touched = set()

    def count() -> Changes:
        changes = compared(before, objects.items_by_id())
        if not counter.is_changed(since):
            return changes
        names: list[str] = []
        if is_noted:
            names = _touched(counter.touched or set(), changes, parts, inner=inner)
        if not (changes.created or changes.changed or changes.deleted or names):
            names = [f"something in {scene()} that Blender does not name"]
        return Changes(changes.created, [*changes.changed, *names], changes.deleted)

    try:
        yield count
    finally:
        counter.touched = None


def _touched(evaluated: set[int], changes: Changes, parts: _Parts, *, inner: bool) -> list[str]:
    """Return the items that were evaluated or have other parts now, and are not in `changes` yet.

    Data is left out if its object is returned. If items were created or deleted, scenes are left
    out: then Blender evaluates a scene although its settings are unchanged.
    """
    ids = set(evaluated)
    for key, (_, now) in parts_by_id(inner=inner).items():
        if key in parts and parts[key][1] != now:
            ids.add(key)
    names = set(objects.items_by_id(ids).values())
    names |= set(objects.others(ids)) - objects.data_of(names)
    if changes.created or changes.deleted:
        names = {name for name in names if not name.startswith("scene:")}
    return sorted(names.difference(changes.created, changes.changed))
