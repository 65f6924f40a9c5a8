"""The paths to which relationships and connections of a layer lead. Main thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from pxr import Sdf


class Targets:
    """The targets of the relationships and connections in a layer, or in a part of it.

    They are collected beforehand, since USD has to look at each property of a scene for what leads
    to one prim: 0.5 s of 100,000 prims (measured, 26.11).
    """

    def __init__(self, paths: Iterable[Sdf.Path]) -> None:
        """Collect the targets.

        Args:
            paths: The paths of all that a binary layer holds. A text layer has none for what it
                prepends or appends (measured, 26.11).
        """
        self._places: defaultdict[Sdf.Path, dict[Sdf.Path, None]] = defaultdict(dict)
        for path in paths:
            if path.IsTargetPath():
                self._places[path.targetPath][path.GetParentPath()] = None

    def replace(self, old: Targets, new: Targets) -> None:
        """Replace the targets of a part of the layer."""
        for target, places in old._places.items():
            remaining = self._places[target]
            for place in places:
                remaining.pop(place, None)
            if not remaining:
                del self._places[target]
        for target, places in new._places.items():
            self._places[target].update(places)

    def leading_to(self, gone: Set[Sdf.Path]) -> Iterator[Sdf.Path]:
        """Yield the properties that lead to some paths or below them; of variants as of prims."""
        for target, places in self._places.items():
            if gone.isdisjoint(target.GetPrefixes()):
                continue
            for place in places:
                yield place.StripAllVariantSelections()
