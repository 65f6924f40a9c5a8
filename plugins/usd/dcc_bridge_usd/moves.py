"""The moves of prims in a step, so that a new name or parent is no loss. Main thread.

USD reports both paths where `Usd.NamespaceEditor` moves a prim. After an `Sdf.BatchNamespaceEdit`
it only reports in one notice that a prim was deleted and another one came (measured, 26.11). Such
prims are compared, and count as moved if they hold the same. A prim that is deleted in one edit,
and made alike in another one, is lost.

One edit is all paths of one notice; a block is these paths. Notices that share a path count as one
edit.
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
_COMPARED_PATH: Final = Sdf.Path("/dcc_bridge_moved")  # in place of a prim's own path
Shape = tuple[object, ...]


class Moves:
    """The moves of prims in a step.

    Moves are kept in one of two ways. Those in `_targets` are looked up by the old path, whatever
    their number. Those in `_chain` are followed one after another; that is needed only where the
    order of the moves counts (`_is_chain`). Moves that `compare` finds go to `_targets`, which is
    looked up first.

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
        self._chain = list(reported)
        self._blocks = blocks
        self._edit_by_path: dict[Sdf.Path, Sdf.Path] = {}  # see `_group_edits`
        self._targets: dict[Sdf.Path, Sdf.Path] = {}
        self.taken: set[Sdf.Path] = set()
        if not _is_chain(self._chain):  # as in most steps
            self._targets = dict(self._chain)
            self._chain = []

    def now(self, path: Sdf.Path) -> Sdf.Path:
        """Return the path where a prim or property is now; its own path if it was not moved."""
        if self._targets:
            for prefix in path.GetPrefixes():
                if prefix in self._targets:
                    return path.ReplacePrefix(prefix, self._targets[prefix])
        for old, new in self._chain:
            path = path.ReplacePrefix(old, new)
        return path

    def moved_to(self, path: Sdf.Path) -> Sdf.Path | None:
        """Return the path where a moved prim is now; None for a prim that was not moved."""
        new = self.now(path)
        return None if new == path else new

    def note_taken_paths(self, scene: Scene) -> None:
        """Note the paths to which prims came by the moves that USD reported."""
        for old in [*self._targets, *(old for old, _ in self._chain)]:
            new = self.now(old)
            if new != old and scene.specs_before(old):
                self.taken.add(new)

    def compare(
        self, scene: Scene, gone: Collection[Sdf.Path], arrived: Iterable[Sdf.Path]
    ) -> list[Sdf.Path]:
        """Find the prims that went and arrived at another path, and note them as moved.

        Only prims of one edit are compared, first by their `Shape`, then as a whole. In a crowd of
        more than `_MAX_COMPARED` prims none is.

        Args:
            scene: The scene before the step and now.
            gone: The paths whose prim is gone, or may have another prim in its place.
            arrived: The paths to which a prim came, or may have come.

        Returns:
            The old paths of the prims that were moved.
        """
        free = [path for path in arrived if path not in self.taken]
        if not free or not gone or len(gone) + len(free) > _MAX_COMPARED:
            return []
        self._edit_by_path = _group_edits(self._blocks)
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
            new = _find_same(scene, old, specs, edited_with_it)
            if new is not None:
                alike.remove(new)
                targets[old] = new
        self._targets |= targets
        self.taken |= set(targets.values())
        return list(targets)

    def _edit_of(self, path: Sdf.Path) -> Sdf.Path:
        """Return the path that stands for the edit of a prim: its own if it was edited alone."""
        for prefix in reversed(path.GetPrefixes()):
            if prefix in self._edit_by_path:
                return self._edit_by_path[prefix]
        return path


def _group_edits(blocks: Iterable[Sequence[Sdf.Path]]) -> dict[Sdf.Path, Sdf.Path]:
    """Return for each path in blocks the path that stands for its edit.

    Blocks that share a path are one edit, also if other blocks link them. A path stands for itself
    at first; when two edits are joined, all members of the one get the path of the other.
    """
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
    """Return whether a prim was moved again, out of a moved prim, or to the old path of one."""
    old_paths = {old for old, _ in moves}
    new_paths = {new for _, new in moves}
    if len(old_paths) < len(moves):
        return True
    return _is_any_below(old_paths, new_paths) or _is_any_below(new_paths, old_paths)


def _is_any_below(paths: Set[Sdf.Path], roots: Set[Sdf.Path]) -> bool:
    """Return whether any path is one of the roots or lies below one."""
    return any(not roots.isdisjoint(path.GetPrefixes()) for path in paths)


def _find_same(
    scene: Scene, old: Sdf.Path, specs: list[Any], candidates: list[Sdf.Path]
) -> Sdf.Path | None:
    """Return the candidate that a prim has become; None if it is none of them.

    It is a candidate with the same content; or else one with the same name at another path, and
    with the same paths inside.

    Args:
        scene: The scene before the step and now.
        old: The path of the prim before.
        specs: The specs of the prim before.
        candidates: Paths with prims of the same shape.
    """
    if not candidates:
        return None
    text = [_spec_text(spec) for spec in specs]
    for new in candidates:
        if [_spec_text(spec) for spec in scene.specs_now(new)] == text:
            return new
    for new in candidates:
        has_same_name = new.name == old.name and new != old
        if has_same_name and _paths_inside(scene.specs_now(new)) == _paths_inside(specs):
            return new
    return None


def _shape(specs: list[Any]) -> Shape:
    """Return the types of specs, with the names of properties and children: quick to compare."""
    shape = []
    for spec in specs:
        properties = sorted(spec.properties.keys())
        children = child_names(spec.layer, spec.path)
        shape.append((spec.typeName, tuple(properties), tuple(children)))
    return tuple(shape)


def _paths_inside(specs: list[Any]) -> list[list[Sdf.Path]]:
    """Return the paths of all specs in a prim, from `_COMPARED_PATH` in place of its own path."""
    inside = []
    for spec in specs:
        paths = below(spec.layer, spec.path)
        inside.append([path.ReplacePrefix(spec.path, _COMPARED_PATH) for path in paths])
    return inside


def _spec_text(spec: Any) -> str:
    """Return the content of a spec as text, at `_COMPARED_PATH` in place of its own path."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    Sdf.CopySpec(spec.layer, spec.path, layer, _COMPARED_PATH)
    return layer.ExportToString()
