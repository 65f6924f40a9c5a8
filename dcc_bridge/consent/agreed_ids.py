"""The identity of the items that a person was asked about, for a host's adapter. Main thread."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

_MAX_AGREED: Final = 100_000  # items whose ids are remembered


class AgreedIds:
    """The ids of items and of all below them, as they were when a person was asked about the items.

    By these an item is told from one that takes the same name later, or that is moved below it:
    nobody has agreed to lose the latter.
    """

    def __init__(self) -> None:
        self._ids: dict[str, frozenset[Hashable]] = {}

    def note(self, item: str, ids: Iterable[Hashable]) -> None:
        """Remember the ids of an item and of all below it. Raises nothing.

        Args:
            item: The item that the person is asked about.
            ids: The ids, which stay the same when an item is renamed; empty for an item that is
                gone.
        """
        if len(self._ids) > _MAX_AGREED:
            self._ids.clear()
        self._ids[item] = frozenset(ids)

    def of(self, items: Sequence[str]) -> set[Any]:
        """Return the ids that were noted for items. Raises nothing.

        Args:
            items: The items that the person agreed to.

        Returns:
            The ids; the item itself where none were noted for it.
        """
        ids = set[Any]()
        for item in items:
            ids.update(self._ids.get(item, (item,)))
        return ids
