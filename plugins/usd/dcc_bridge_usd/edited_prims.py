"""Which prims an undo step took away, brought, changed or moved. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pxr import Sdf

from .before import Scene, StepNotices
from .facts import LostPart
from .moves import Moves
from .places import below
from .prims import CHECKING, CROWD_SIZE, child_names, tracked
from .shown import prim_of

_TOP: Final = Sdf.Path.absoluteRootPath


class EditedPrims:
    """The prims of a scene by what an undo step did with them.

    The dictionaries have no values; they are used for their order.

    Attributes:
        moves: Where prims are now.
        left: Prims that are in the scene no more.
        changed: Prims that hold something else.
        arrived: Paths that had no specs before.
        properties: Properties of other prims that may hold something else.
        unchanged: The prims that USD composed anew, and whose specs are as they were.
        found_moved: Prims that were moved without a report of USD, by their old paths.
        lost_variants: Variants that are gone, with the prims that had them.
    """

    def __init__(self, scene: Scene, notices: StepNotices) -> None:
        """Compare the scene.

        Args:
            scene: The scene, as it was and is.
            notices: What USD said of the step.
        """
        self.moves = Moves(notices.moves, notices.blocks)
        self.left: dict[Sdf.Path, None] = {}
        self.changed: dict[Sdf.Path, None] = {}
        self.arrived: dict[Sdf.Path, None] = {}
        self.found_moved: list[Sdf.Path] = []
        self.lost_variants: list[tuple[Sdf.Path, LostPart]] = []
        self._scene = scene
        self._notices = notices
        self.moves.note_taken(scene)
        self.properties = self._compare_layers()
        self.unchanged = notices.resynced - self.changed.keys()
        self._find_moved()

    def _compare_layers(self) -> dict[Sdf.Path, None]:
        """Note which prims left, arrived or changed; return the properties that may have changed.

        The properties are a dictionary for their order.
        """
        scene = self._scene
        layers_before = {each.layer for each in scene.layers_before}
        removed = [each for each in scene.layers_before if each.layer not in scene.layers_now]
        whole = [each.mirror.content for each in removed]
        whole += [layer for layer in scene.layers_now if layer not in layers_before]
        roots = dict[Sdf.Path, None]()
        properties = dict[Sdf.Path, None]()
        for change in scene.before.changes:
            if change.edited is None:
                whole += [change.held.content, change.followed.layer]
                continue
            roots |= dict.fromkeys(change.edited.roots())
            properties |= dict.fromkeys(change.edited.properties)
        for layer in whole:
            for name in child_names(layer, _TOP):
                roots[_TOP.AppendChild(name)] = None
        for path in tracked(Sdf.Path.RemoveDescendentPaths([*roots]), CHECKING):
            self._sort(path, is_reported=True)
        return properties

    def _sort(self, path: Sdf.Path, *, is_reported: bool = False) -> None:
        """Note whether a prim or variant left, arrived or changed, and look at its children.

        A prim that USD reported is not compared as a whole first: most likely it differs.
        """
        scene = self._scene
        new = self.moves.now(path)
        before = scene.specs_before(path)
        now = scene.specs_now(new)
        if not before:
            if now:
                self.arrived[path] = None
        elif not now and path.IsPrimVariantSelectionPath():
            self._lose_variant(path)
        elif self._has_left(path, new, now):
            self.left[path] = None
        elif is_reported or _texts(before) != _texts(now):
            self.changed[path] = None
            self._sort_inside(path, before, now)

    def _has_left(self, path: Sdf.Path, new: Sdf.Path, now: list[Any]) -> bool:
        """Return whether a prim is not where it should be now, or another prim took its place."""
        if not now and not prim_of(self._scene.stage, new):
            return True
        return new == path and path in self.moves.taken

    def _sort_inside(self, path: Sdf.Path, before: list[Any], now: list[Any]) -> None:
        for variant in {*_variants(path, before), *_variants(path, now)}:
            self._sort(variant)
        names = dict.fromkeys(_children(before) + _children(now))
        for name in tracked([*names], CHECKING):
            self._sort(path.AppendChild(name))

    def _lose_variant(self, path: Sdf.Path) -> None:
        """Note that a variant is gone, or its whole variant set."""
        owner = path.GetParentPath()
        name, variant = path.GetVariantSelection()
        what = f"variant set {name}"
        for spec in self._scene.specs_now(self.moves.now(owner)):
            if name in spec.variantSets:
                what = f"variant {variant}"
        self.lost_variants.append((owner, LostPart(what)))

    def _find_moved(self) -> None:
        """Find which prims were only renamed or put elsewhere, and compare them where they are."""
        moves = self.moves
        remade = self._remade()
        swapped = self._swapped(remade)
        gone = dict.fromkeys([*self.left, *swapped])
        arrived = [*self.arrived, *swapped]
        if arrived and len(gone) < CROWD_SIZE:
            for path in self.left:
                gone |= dict.fromkeys(self._prims_below(path))
        self.found_moved = moves.compare(self._scene, gone, arrived)
        for path in [*self.found_moved, *remade, *swapped]:
            if moves.moved_to(path) is not None:
                self.left.pop(path, None)
                self.changed.pop(path, None)
                self._sort(path)
            elif path in self.changed and (path in remade or path in moves.taken):
                del self.changed[path]
                self.left[path] = None

    def _remade(self) -> list[Sdf.Path]:
        """List the changed prims that were away for a moment, and were not moved."""
        vanished = self._notices.vanished - {old for old, _ in self._notices.moves}
        return [path for path in self.changed if path in vanished and self._differs(path)]

    def _swapped(self, remade: list[Sdf.Path]) -> list[Sdf.Path]:
        """List the changed prims whose place another prim may have taken.

        In a crowd these are the remade prims only.
        """
        resynced = [path for path in self.changed if path in self._notices.resynced]
        if len(resynced) > CROWD_SIZE:
            return remade
        return [path for path in resynced if path in remade or self._differs(path)]

    def _differs(self, path: Sdf.Path) -> bool:
        return _texts(self._scene.specs_before(path)) != _texts(self._scene.specs_now(path))

    def _prims_below(self, path: Sdf.Path) -> Iterator[Sdf.Path]:
        for spec in self._scene.specs_before(path):
            for inner in below(spec.layer, path):
                if inner.IsPrimPath() and inner != path:
                    yield inner


def _children(specs: Iterable[Any]) -> list[str]:
    names = []
    for spec in specs:
        names += child_names(spec.layer, spec.path)
    return names


def _texts(specs: Iterable[Any]) -> list[str]:
    return [spec.GetAsText() for spec in specs]


def _variants(path: Sdf.Path, specs: Iterable[Any]) -> Iterator[Sdf.Path]:
    for spec in specs:
        for variants in spec.variantSets.values():
            for variant in variants.variants.values():
                yield path.AppendVariantSelection(variants.name, variant.name)
