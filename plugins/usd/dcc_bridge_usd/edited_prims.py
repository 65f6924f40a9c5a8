"""The prims of a scene, sorted by what an undo step did with them. Main thread.

The words of this module:

- A path is that of a prim, or of a variant of a prim, before the step.
- A prim has left if no layer holds it, and the scene does not show it, where it should be now.
- A path is taken if another prim came to it.
- A prim is remade if it was gone for a moment in the step, and its path has other specs now. A prim
  that USD reported as moved is not remade.
- A prim is perhaps swapped if USD composed it anew and its specs differ: another prim may have come
  to its path in the same edit.

First the specs of the layers are compared (`_compare_layers`). Then the prims that left or may have
been swapped are searched for among those that arrived (`_find_moved`), and sorted again.
"""

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
from .variants import contents, variant_paths

_TOP: Final = Sdf.Path.absoluteRootPath


class EditedPrims:
    """The prims of a scene by what an undo step did with them.

    A dictionary without values stands for a set that keeps its order. `_find_moved` takes paths out
    of `left` and `changed`, and puts them in again by what it found.

    Attributes:
        moves: The moves of prims, which tell where each prim is now.
        left: The prims that have left the scene.
        changed: The prims whose specs differ.
        arrived: The paths that have specs, and had none before.
        properties: Properties that may differ, of prims that were not edited as a whole.
        unchanged: The prims that USD composed anew, and whose specs are as they were.
        found_moved: The old paths of prims that were moved without a report of USD.
        lost_variants: Variants that are gone, with the prims that had them.
        renamed_sets: Prims, each with the words for a variant set that has another name now.
    """

    def __init__(self, scene: Scene, notices: StepNotices) -> None:
        """Compare the scene.

        Args:
            scene: The scene before the step and now.
            notices: The notices of USD about the step.
        """
        self.moves = Moves(notices.moves, notices.blocks)
        self.left: dict[Sdf.Path, None] = {}
        self.changed: dict[Sdf.Path, None] = {}
        self.arrived: dict[Sdf.Path, None] = {}
        self.found_moved: list[Sdf.Path] = []
        self.lost_variants: list[tuple[Sdf.Path, LostPart]] = []
        self.renamed_sets: set[tuple[Sdf.Path, str]] = set()
        self._scene = scene
        self._notices = notices
        self.moves.note_taken_paths(scene)
        self.properties = self._compare_layers()
        self.unchanged = notices.resynced - self.changed.keys()
        self._find_moved()

    def _compare_layers(self) -> dict[Sdf.Path, None]:
        """Note which prims left, arrived or changed; return the properties that may have changed.

        Layers that were added or removed, and layers whose edited places are not known, are
        compared from the top. In all others only the edited places are.
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
            self._compare(path, is_reported=True)
        return properties

    def _compare(self, path: Sdf.Path, *, is_reported: bool = False) -> None:
        """Note a prim or variant that left, arrived or changed, and compare its children.

        Args:
            path: The path of the prim or variant before the step.
            is_reported: An edit was reported here, so the specs most likely differ. They are not
                compared, and the path is noted as changed.
        """
        scene = self._scene
        new = self.moves.now(path)
        before = scene.specs_before(path)
        now = scene.specs_now(new)
        if not before:
            if now:
                self.arrived[path] = None
        elif not now and path.IsPrimVariantSelectionPath():
            self._note_lost_variant(path)
        elif self._has_left(path, new, now):
            self.left[path] = None
        elif is_reported or _texts(before) != _texts(now):
            self.changed[path] = None
            self._compare_inside(path, before, now)

    def _has_left(self, path: Sdf.Path, new: Sdf.Path, now: list[Any]) -> bool:
        """Return whether a prim has left, or its path is taken.

        Args:
            path: The path of the prim before the step.
            new: The path where the prim should be now.
            now: The specs that the layers hold there.
        """
        if not now and not prim_of(self._scene.stage, new):
            return True
        return new == path and path in self.moves.taken

    def _compare_inside(self, path: Sdf.Path, before: list[Any], now: list[Any]) -> None:
        """Compare the variants and the children of a prim, by its specs before and now."""
        for variant in {*variant_paths(path, before), *variant_paths(path, now)}:
            self._compare(variant)
        names = dict.fromkeys(_children(before) + _children(now))
        for name in tracked([*names], CHECKING):
            self._compare(path.AppendChild(name))

    def _note_lost_variant(self, path: Sdf.Path) -> None:
        """Note the loss of a variant; or of its variant set, if that is gone."""
        owner = path.GetParentPath()
        name, variant = path.GetVariantSelection()
        what = f"variant set {name}"
        for spec in self._scene.specs_now(self.moves.now(owner)):
            if name in spec.variantSets:
                what = f"variant {variant}"
        if self._has_another_name(path):
            self.renamed_sets |= {(owner, what), (owner, f"selection of {what}")}
        else:
            self.lost_variants.append((owner, LostPart(what)))

    def _has_another_name(self, path: Sdf.Path) -> bool:
        """Return whether a new variant of the same prim holds what a variant held."""
        scene = self._scene
        owner = self.moves.now(path.GetParentPath())
        before = contents(scene.specs_before(path))
        new = variant_paths(owner, scene.specs_now(owner))
        arrived = [each for each in new if not scene.specs_before(each)]
        return any(contents(scene.specs_now(each)) == before for each in arrived)

    def _find_moved(self) -> None:
        """Find the prims that were only renamed or moved, and compare them at their new paths.

        A remade prim that was not moved, and a prim whose path is taken, count as left.
        """
        moves = self.moves
        remade = self._find_remade()
        swapped = self._find_swapped(remade)
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
                self._compare(path)
                continue
            has_left = path in remade or path in moves.taken
            if has_left and path in self.changed:
                del self.changed[path]
                self.left[path] = None

    def _find_remade(self) -> list[Sdf.Path]:
        """List the changed prims that are remade, and of which USD reported no move."""
        vanished = self._notices.vanished - {old for old, _ in self._notices.moves}
        return [path for path in self.changed if path in vanished and self._has_other_specs(path)]

    def _find_swapped(self, remade: list[Sdf.Path]) -> list[Sdf.Path]:
        """List the changed prims that are perhaps swapped; in a crowd only the remade ones."""
        resynced = [path for path in self.changed if path in self._notices.resynced]
        if len(resynced) > CROWD_SIZE:
            return remade
        return [path for path in resynced if path in remade or self._has_other_specs(path)]

    def _has_other_specs(self, path: Sdf.Path) -> bool:
        """Return whether the specs at a path differ from those before the step."""
        return _texts(self._scene.specs_before(path)) != _texts(self._scene.specs_now(path))

    def _prims_below(self, path: Sdf.Path) -> Iterator[Sdf.Path]:
        """Yield the prims that were below a prim before the step."""
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
