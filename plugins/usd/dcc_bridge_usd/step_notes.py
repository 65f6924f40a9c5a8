"""Collects the notices of USD about an undo step while the step is open. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pxr import Sdf, Usd

from .before import Move, StepNotices

_MAX_MOVES: Final = 5_000  # paths of a notice that are looked at for moves


class StepNotes:
    """Collects the notices of a step."""

    def __init__(self) -> None:
        self._resynced: set[Sdf.Path] = set()
        self._vanished: set[Sdf.Path] = set()
        self._moves: list[Move] = []
        self._blocks: list[tuple[Sdf.Path, ...]] = []
        self._deleted: set[Sdf.Path] = set()  # prims, whatever stands there now

    def add(self, stage: Usd.Stage, notice: Any, paths: Sequence[Sdf.Path]) -> None:
        """Note what was made, deleted, moved or composed anew.

        Args:
            stage: The scene.
            notice: A notice of the scene.
            paths: The resynced paths of the notice.
        """
        self._resynced.update(paths)
        if len(paths) > 1:
            self._blocks.append(tuple(paths))
        for path in paths[:_MAX_MOVES]:
            if path.IsPrimPath() and not stage.GetPrimAtPath(path):
                self._add_vanished(notice, path)

    def _add_vanished(self, notice: Any, path: Sdf.Path) -> None:
        """Note a prim that is not there for now, and where USD says that it is."""
        self._vanished.add(path)
        kind, new = notice.GetPrimResyncType(path)
        if not kind.name.endswith("Source"):
            self._deleted.add(path)
            return
        if self._deleted.isdisjoint(path.GetPrefixes()):  # else the prim was made since
            self._moves.append((path, new))
        self._deleted.discard(new)

    def collected(self) -> StepNotices:
        """Return what was noted until now."""
        return StepNotices(
            frozenset(self._resynced),
            frozenset(self._vanished),
            tuple(self._moves),
            tuple(self._blocks),
        )
