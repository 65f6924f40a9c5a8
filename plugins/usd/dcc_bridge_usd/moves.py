"""Which prims are elsewhere now, so that a new name or parent is no loss. Main thread.

USD names both paths where `Usd.NamespaceEditor` moves a prim. After an `Sdf.BatchNamespaceEdit` it
says in one notice that a prim was deleted and another one came (measured, 26.11): these are
compared. A prim that is deleted in one edit and made alike in another one is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from typing import Any, Final

from pxr import Sdf

from .before import Move, Scene
from .places import below
from .prims import child_names

_MAX_COMPARED: Final = 2_000  # prims; with more, all prims that went count as lost
_MOVED: Final = Sdf.Path("/dcc_bridge_moved")  # stands for the path of a compared prim
Shape = tuple[object, ...]


class Moves:
    """The moves of prims in a step, and where the prims are now.

    Attributes:
        taken: The paths to which other prims came.
    """

    def __init__(
        self, reported: Iterable[Move] = (), blocks: Iterable[Sequence[Sdf.Path]] = ()
    ) -> None:
        """Begin with what USD reported.

        Args:
            reported: The moves, in their order.
            blocks: The paths of each notice that named several.
        """
        self._chain = list(reported)  # to be followed one after another
        self._blocks = blocks
        self._edits: dict[Sdf.Path, Sdf.Path] = {}
        self._targets: dict[Sdf.Path, Sdf.Path] = {}  # each is looked up, whatever their number
        self.taken: set[Sdf.Path] = set()
        if not _is_chain(self._chain):  # as in most steps
            self._targets = dict(self._chain)
            self._chain = []

    def now(self, path: Sdf.Path) -> Sdf.Path:
        """Return where a prim or property is now; the path itself if it was not moved."""
        if self._targets:
            for prefix in path.GetPrefixes():
                if prefix in self._targets:
                    return path.ReplacePrefix(prefix, self._targets[prefix])
        for old, new in self._chain:
            path = path.ReplacePrefix(old, new)
        return path

    def moved_to(self, path: Sdf.Path) -> Sdf.Path | None:
        """Return where a prim that was moved is now; None for any other prim."""
        new = self.now(path)
        return None if new == path else new

    def note_taken(self, scene: Scene) -> None:
        """Note the paths to which the prims came whose moves USD reported."""
        for old in [*self._targets, *(old for old, _ in self._chain)]:
            new = self.now(old)
            if new != old and scene.specs_before(old):
                self.taken.add(new)

    def compare(
        self, scene: Scene, gone: Collection[Sdf.Path], arrived: Iterable[Sdf.Path]
    ) -> list[Sdf.Path]:
        """Find which prims that went are among those that arrived, and note them as moved.

        Args:
            scene: The scene.
            gone: Prims that are not there any more, or have another prim in their place.
            arrived: Prims that were not there, or had another prim in their place.

        Returns:
            The old paths of the prims that were moved.
        """
        free = [path for path in arrived if path not in self.taken]
        if not free or not gone or len(gone) + len(free) > _MAX_COMPARED:
            return []
        self._edits = _joined(self._blocks)
        unmoved = [path for path in gone if self.moved_to(path) is None]
        candidates = defaultdict[Shape, list[Sdf.Path]](list)
        for path in free:
            candidates[_shape(scene.specs_now(path))].append(path)
        targets: dict[Sdf.Path, Sdf.Path] = {}
        for old in unmoved:
            specs = scene.specs_before(old)
            alike = candidates.get(_shape(specs), [])
            edit = self._edit_of(old)
            edited_with_it = [path for path in alike if self._edit_of(path) == edit]
            new = _same(scene, old, specs, edited_with_it)
            if new is not None:
                alike.remove(new)
                targets[old] = new
        self._targets |= targets
        self.taken |= set(targets.values())
        return list(targets)

    def _edit_of(self, path: Sdf.Path) -> Sdf.Path:
        """Return the path that stands for the edit of a prim; its own if it was edited alone."""
        for prefix in reversed(path.GetPrefixes()):
            if prefix in self._edits:
                return self._edits[prefix]
        return path


def _joined(blocks: Iterable[Sequence[Sdf.Path]]) -> dict[Sdf.Path, Sdf.Path]:
    """Return for each path one that stands for all paths edited with it, directly or in a chain."""
    members: dict[Sdf.Path, list[Sdf.Path]] = {}
    first: dict[Sdf.Path, Sdf.Path] = {}
    for block in blocks:
        for path in block:
            first.setdefault(path, path)
            members.setdefault(path, [path])
        target = first[block[0]]
        for other in {first[path] for path in block} - {target}:
            for path in members[other]:
                first[path] = target
            members[target] += members.pop(other)
    return first


def _is_chain(moves: list[Move]) -> bool:
    """Return whether prims were moved again, or into prims that were moved."""
    old_paths = {old for old, _ in moves}
    new_paths = {new for _, new in moves}
    if len(old_paths) < len(moves):
        return True
    return _is_any_below(old_paths, new_paths) or _is_any_below(new_paths, old_paths)


def _is_any_below(paths: Set[Sdf.Path], roots: Set[Sdf.Path]) -> bool:
    """Return whether any path is one of the roots or lies below one."""
    return any(not roots.isdisjoint(path.GetPrefixes()) for path in paths)


def _same(
    scene: Scene, old: Sdf.Path, specs: list[Any], candidates: list[Sdf.Path]
) -> Sdf.Path | None:
    """Return the candidate that a prim has become.

    It is one that holds the same, or else one that has the same name and everything that the prim
    had inside.
    """
    if not candidates:
        return None
    text = [_text(spec) for spec in specs]
    for new in candidates:
        if [_text(spec) for spec in scene.specs_now(new)] == text:
            return new
    for new in candidates:
        if new.name != old.name or new == old:
            continue
        if _inside(scene.specs_now(new)) == _inside(specs):
            return new
    return None


def _shape(specs: list[Any]) -> Shape:
    """Return what is compared fast: types, and the names of properties and children."""
    shape = []
    for spec in specs:
        properties = sorted(spec.properties.keys())
        children = child_names(spec.layer, spec.path)
        shape.append((spec.typeName, tuple(properties), tuple(children)))
    return tuple(shape)


def _inside(specs: list[Any]) -> list[list[Sdf.Path]]:
    """Return the paths of all that is in a prim, wherever it stands."""
    inside = []
    for spec in specs:
        paths = below(spec.layer, spec.path)
        inside.append([path.ReplacePrefix(spec.path, _MOVED) for path in paths])
    return inside


def _text(spec: Any) -> str:
    """Return all that a prim holds as text, wherever it stands and however it is called."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    Sdf.CopySpec(spec.layer, spec.path, layer, _MOVED)
    return layer.ExportToString()
