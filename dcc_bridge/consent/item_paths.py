"""The account of items that are known by their paths: created, deleted, renamed or moved.

Any thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from dcc_bridge.consent.account import name_change
from dcc_bridge.host import Account

K = TypeVar("K")


def path_changes(before: Mapping[K, str], now: Mapping[K, str], separator: str) -> Account:
    """Return which items are new, gone, or have another path, for `Host.account`.

    Any thread. It raises nothing.

    Args:
        before: The items' paths at the first moment, by a key that stays when they are renamed or
            moved, such as an id.
        now: Their paths at the second moment.
        separator: The text between the names of a path: "/".

    Returns:
        The topmost items, each with how many below it are new or gone too. Of an item that went
        along with one above it nothing is told.
    """
    created = [path for key, path in now.items() if key not in before]
    deleted = [path for key, path in before.items() if key not in now]
    moved = {path: before[key] for key, path in now.items() if before.get(key, path) != path}
    changed = []
    for path, old in moved.items():
        if not _went_along(path, old, moved, separator):
            changed.append(name_change(old, path))
    return Account(list(_topmost(created, separator)), changed, list(_topmost(deleted, separator)))


def _topmost(paths: Iterable[str], separator: str) -> Iterator[str]:
    """Yield the paths that are below no other one, each with the number of those below it."""
    every = dict.fromkeys(paths)
    below = Counter[str]()
    for path in every:
        top = path
        for above in _above(path, separator):
            if above in every:
                top = above
        below[top] += top != path
    for path, count in below.items():
        yield f"{path} (and {count} below)" if count else path


def _went_along(path: str, old: str, moved: Mapping[str, str], separator: str) -> bool:
    """Return whether an item has another path only because one above it has.

    Args:
        path: The path now.
        old: The path before.
        moved: The paths before of all such items, by their paths now.
        separator: The text between the names of a path.
    """
    for above in _above(path, separator):
        if above in moved:
            return old == moved[above] + path[len(above) :]
    return False


def _above(path: str, separator: str) -> Iterator[str]:
    """Yield the paths above a path, the nearest first."""
    above = path.rpartition(separator)[0]
    while above:
        yield above
        above = above.rpartition(separator)[0]
