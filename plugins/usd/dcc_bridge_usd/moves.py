"""Which prims are elsewhere now, so that a new name or parent is no loss. Main thread.

USD tells of it where `Usd.NamespaceEditor` moves them. After an `Sdf.BatchNamespaceEdit` it tells
in one notice that one was deleted and another one came (measured, 26.11): these are compared. What
is deleted in one edit and made alike in another one is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from pxr import Sdf

from .before import Move, Scene
from .places import below
from .prims import child_names

_MOST: Final = 2_000  # prims that are compared; with more, all that went is told
_ANY: Final = Sdf.Path("/dcc_bridge_moved")
Shape = tuple[object, ...]


class Moves:
    """Where prims are now.

    Attributes:
        taken: The paths that others came to.
    """

    def __init__(
        self, told: Iterable[Move] = (), blocks: Iterable[Sequence[Sdf.Path]] = ()
    ) -> None:
        """Begin with what USD told, in its order, and with the paths of each notice."""
        self._told = list(told)
        self._blocks = blocks
        self._edits: dict[Sdf.Path, Sdf.Path] = {}
        self._found: dict[Sdf.Path, Sdf.Path] = {}
        self.taken: set[Sdf.Path] = set()
        if not _is_chain(self._told):  # as most are: each is looked up, whatever their number
            self._found = dict(self._told)
            self._told = []

    def now(self, path: Sdf.Path) -> Sdf.Path:
        """Return where a prim or property is now; the path itself if it was not moved."""
        if not self._found and not self._told:
            return path
        for prefix in path.GetPrefixes() if self._found else ():
            if prefix in self._found:
                return path.ReplacePrefix(prefix, self._found[prefix])
        for old, new in self._told:
            path = path.ReplacePrefix(old, new)
        return path

    def end_of(self, path: Sdf.Path) -> Sdf.Path | None:
        """Return where a prim that was moved itself is now; None for any other."""
        new = self.now(path)
        return None if new == path else new

    def note_taken(self, scene: Scene) -> None:
        """Note which paths that of which USD told has come to."""
        for old in [*self._found, *(old for old, _ in self._told)]:
            new = self.now(old)
            if new != old and scene.had(old):
                self.taken.add(new)

    def compare(
        self, scene: Scene, gone: Collection[Sdf.Path], came: Iterable[Sdf.Path]
    ) -> list[Sdf.Path]:
        """Find which of some prims that went are among those that came, and give these.

        Args:
            scene: The scene.
            gone: Prims that are not there any more, or another one is in their place.
            came: Prims that were not there, or another one was in their place.
        """
        now = [path for path in came if path not in self.taken]
        if not now or not gone or len(gone) + len(now) > _MOST:
            return []
        self._edits = _joined(self._blocks)
        before = [path for path in gone if self.end_of(path) is None]
        candidates = defaultdict[Shape, list[Sdf.Path]](list)
        for path in now:
            candidates[_shape(scene.has(path))].append(path)
        found: dict[Sdf.Path, Sdf.Path] = {}
        for old in before:
            specs = scene.had(old)
            alike = candidates.get(_shape(specs), [])
            edit = self._edit_of(old)
            edited_with_it = [it for it in alike if self._edit_of(it) == edit]
            new = _same(scene, old, specs, edited_with_it)
            if new is not None:
                alike.remove(new)
                found[old] = new
        self._found |= found
        self.taken |= {*found.values()}
        return list(found)

    def _edit_of(self, path: Sdf.Path) -> Sdf.Path:
        """Return what stands for the edit that a prim was part of; itself for one of its own."""
        for prefix in reversed(path.GetPrefixes()):
            if prefix in self._edits:
                return self._edits[prefix]
        return path


def _joined(blocks: Iterable[Sequence[Sdf.Path]]) -> dict[Sdf.Path, Sdf.Path]:
    """Return for each path one that stands for all that it was edited with, one after another."""
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
    """Return whether what was moved was moved again, or into what was."""
    old = {it for it, _ in moves}
    new = {it for _, it in moves}
    return len(old) < len(moves) or any(
        not others.isdisjoint(path.GetPrefixes())
        for paths, others in ((old, new), (new, old))
        for path in paths
    )


def _same(scene: Scene, old: Sdf.Path, specs: list[Any], among: list[Sdf.Path]) -> Sdf.Path | None:
    """Return the prim that holds the same, or has the same name and everything that it had."""
    if not among:
        return None
    held = [_text(spec) for spec in specs]
    same = (new for new in among if [_text(spec) for spec in scene.has(new)] == held)
    named = (new for new in among if new.name == old.name and new != old)
    alike = (new for new in named if _inside(scene.has(new)) == _inside(specs))
    return next(same, None) or next(alike, None)


def _shape(specs: list[Any]) -> Shape:
    """Return what can be compared soon: the type, and the names of properties and children."""
    return tuple(
        (spec.typeName, *sorted(spec.properties.keys()), 0, *child_names(spec.layer, spec.path))
        for spec in specs
    )


def _inside(specs: list[Any]) -> list[list[Sdf.Path]]:
    """Return the paths of all that is in a prim, wherever it stands."""
    every = ((spec.path, below(spec.layer, spec.path)) for spec in specs)
    return [[it.ReplacePrefix(root, _ANY) for it in paths] for root, paths in every]


def _text(spec: Any) -> str:
    """Return all that a prim holds as text, wherever it stands and however it is called."""
    alone = Sdf.Layer.CreateAnonymous(".usda")
    Sdf.CopySpec(spec.layer, spec.path, alone, _ANY)
    return alone.ExportToString()
