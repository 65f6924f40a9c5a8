"""What an undo step took away: what the layers held, and the scene shows no more. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Final

from pxr import Sdf

from .before import Scene, StepNotices, own_fields
from .edited_prims import EditedPrims
from .facts import Fields, LostPart, composed, lost_parts, raw_fields
from .places import below
from .prims import CHECKING, is_path, tracked
from .shown import hides, is_selected, is_shown, prim_of, was_switched_off

_TOP: Final = Sdf.Path.absoluteRootPath
_ARCS: Final = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


class Losses:
    """The losses of a step.

    Attributes:
        gone: Prims and properties that are not there any more, or not as what they were.
    """

    def __init__(self, scene: Scene, notices: StepNotices, agreed: Set[str] = frozenset()) -> None:
        """Search for all losses.

        Args:
            scene: The scene, as it was and is.
            notices: What USD said of the step.
            agreed: Items that are left out, with what is below them and their parts.
        """
        self.gone: set[Sdf.Path] = set()
        self._scene = scene
        self._notices = notices
        self._agreed = agreed
        self._covered = {Sdf.Path(item) for item in agreed if is_path(item)}
        self._parts: list[tuple[Sdf.Path, LostPart]] = []
        self._layer_parts: list[str] = []
        self._relocated: dict[Sdf.Path, Sdf.Path] = {}  # prims of referenced files, by old path
        edited = EditedPrims(scene, notices)
        self._moves = edited.moves
        self._search(edited)

    def names(self) -> list[str]:
        """Return what a person reads for each loss, without what was agreed to."""
        paths = [path for path in tracked([*self.gone], CHECKING) if not self._is_covered(path)]
        names = {self._name(path) for path in tracked(paths, CHECKING)}
        for path, part in self._parts:
            if not self._is_covered(path) and not self._is_cut(part):
                names.add(f"{part.what} of {self._name(path)}")
        names.update(self._layer_parts)
        return sorted(names - self._agreed)

    def cut(self) -> list[str]:
        """Name what led to what is gone, and was deleted itself."""
        return [self._leading(path, part) for path, part in self._parts if self._is_cut(part)]

    def _leading(self, path: Sdf.Path, part: LostPart) -> str:
        name = self._name(path)
        if path.IsPropertyPath():
            return name
        kind = part.what.removesuffix(f" {part.path}")
        return f"{kind} of {name}"

    def _is_cut(self, part: LostPart) -> bool:
        if part.path is None:
            return False
        return self._is_gone(part.path) or self._is_covered(part.path)

    # ---- searching

    def _search(self, edited: EditedPrims) -> None:
        self._parts += edited.lost_variants
        self._compare_own_fields()
        for path in tracked([*edited.left], CHECKING):
            self._lose_prim(path)
        for path in tracked([*edited.changed], CHECKING):
            self._compare_prim(path)
        for path in tracked([*edited.properties], CHECKING):
            if not self._is_gone(path.GetPrimPath()):
                self._compare_property(path)
        self._search_hidden(edited)

    def _search_hidden(self, edited: EditedPrims) -> None:
        """Note the prims that have their specs, or are referred to, and are not shown any more."""
        # A new spec may hide a prim of a referenced file, also under a new name.
        perhaps_hidden = edited.unchanged | edited.arrived.keys()
        for path in tracked(list(perhaps_hidden), CHECKING):
            self._look_for_hidden(path)
        for old, _ in self._notices.moves:
            self._look_inside_hidden(old)
        for path in edited.found_moved:
            self._look_inside_hidden(path)
        for path, new in self._relocated.items():
            self._look_for_relocated(path, new)

    def _lose_prim(self, path: Sdf.Path) -> None:
        """Note that a prim is gone with all below it, except what was put elsewhere before."""
        for spec in self._scene.specs_before(path):
            prims = [inner for inner in below(spec.layer, path) if inner.IsPrimPath()]
            for inner in tracked(prims, CHECKING):
                if self._goes_with(inner, path):
                    self.gone.add(inner)

    def _goes_with(self, path: Sdf.Path, root: Sdf.Path) -> bool:
        """Return whether a prim is not in a variant below a root, and nowhere else either."""
        if path.ContainsPrimVariantSelection():
            return path == root or "{" not in str(path)[len(str(root)) :]
        new = self._moves.moved_to(path)
        return new is None or not self._scene.specs_now(new)

    # ---- one prim

    def _compare_prim(self, path: Sdf.Path) -> None:
        if self._is_gone(path):
            return
        scene = self._scene
        new = self._moves.now(path)
        now = scene.specs_now(new)
        if not path.IsPrimVariantSelectionPath() and self._is_off(path, now):
            self.gone.add(path)
            return
        stayed = list(scene.stayed.specs(path))
        self._compare_fields(path, composed(stayed), composed(now))
        names: dict[str, None] = {}
        for spec in stayed:
            names |= dict.fromkeys(prop.name for prop in spec.properties)
        for name in names:
            self._compare_property(path.AppendProperty(name))

    def _is_off(self, path: Sdf.Path, now: list[Any]) -> bool:
        """Return whether a prim is in the scene no more, though it has specs or is referred to."""
        scene = self._scene
        prim = prim_of(scene.stage, self._moves.now(path))
        if not prim:
            return not now
        return was_switched_off(prim, scene.specs_before(path), now)

    def _look_for_hidden(self, path: Sdf.Path) -> None:
        """Note a prim that is hidden in a prim that refers to what was edited."""
        scene = self._scene
        if not path.IsPrimPath() or scene.specs_before(path) or self._is_gone(path):
            return
        if path in self._relocated.values():  # it is looked at under its old name
            return
        prim = scene.stage.GetPrimAtPath(self._moves.now(path))
        if not prim or not prim.GetParent().IsActive():
            return
        is_class = prim.IsAbstract() and not prim.GetParent().IsAbstract()
        if prim.IsActive() and not is_class:
            return
        for prefix in path.GetParentPath().GetPrefixes():
            if _refers(scene.specs_before(prefix)):
                self.gone.add(path)
                return

    def _look_inside_hidden(self, path: Sdf.Path) -> None:
        """Note a prim that was put into a prim that is in the scene no more."""
        new = self._moves.now(path)
        if new == path or not self._scene.specs_before(path) or self._is_gone(path):
            return
        if not is_shown(self._scene.stage, new) and self._is_inside_gone(new):
            self.gone.add(path)

    def _look_for_relocated(self, path: Sdf.Path, new: Sdf.Path) -> None:
        """Note a prim of a referenced file whose new place is in the scene no more."""
        if self._is_gone(path) or is_shown(self._scene.stage, new):
            return
        if hides(self._scene.specs_now(new)) or self._is_inside_gone(new):
            self.gone.add(path)

    def _is_inside_gone(self, path: Sdf.Path) -> bool:
        """Return whether a prim is in a prim that is gone, wherever that is now."""
        gone = {self._moves.now(each) for each in self.gone}
        return not gone.isdisjoint(path.GetPrefixes())

    # ---- parts

    def _compare_property(self, path: Sdf.Path) -> None:
        scene = self._scene
        before = list(scene.stayed.specs(path))
        if not before:
            return
        now = scene.specs_now(self._moves.now(path))
        if not now and not self._is_authored(path):
            new = self._renamed(path, before)
            if new is None:
                self.gone.add(path)
                return
            now = scene.specs_now(new)
        self._compare_fields(path, composed(before), composed(now))

    def _is_authored(self, path: Sdf.Path) -> bool:
        """Return whether what is referred to says something of a property."""
        owner = self._moves.now(path.GetPrimOrPrimVariantSelectionPath())
        prim = prim_of(self._scene.stage, owner)
        if prim is None or not prim.HasProperty(path.name):
            return False
        return prim.GetProperty(path.name).IsAuthored()

    def _renamed(self, path: Sdf.Path, before: list[Any]) -> Sdf.Path | None:
        """Return the new property of the same prim that holds what a property held."""
        scene = self._scene
        fields = [raw_fields(spec) for spec in before]
        for owner in scene.specs_now(self._moves.now(path.GetParentPath())):
            for prop in owner.properties:
                if scene.specs_before(path.ReplaceName(prop.name)):
                    continue
                if [raw_fields(spec) for spec in scene.specs_now(prop.path)] == fields:
                    return Sdf.Path(prop.path)
        return None

    def _compare_fields(self, path: Sdf.Path, before: Fields, now: Fields) -> None:
        for part in lost_parts(before, now, self._moves.now):
            self._parts.append((path, part))

    def _compare_own_fields(self) -> None:
        """Compare the metadata of each layer, and which layers are below it."""
        scene = self._scene
        stage = scene.stage
        for followed in scene.layers_before:
            layer = followed.layer
            if layer not in scene.layers_now:
                self._layer_parts.append(f"layer {layer.GetDisplayName()} of the scene")
                continue
            before = scene.before.own_fields(followed)
            now = own_fields(layer)
            owner = layer.GetDisplayName()
            if layer in (stage.GetRootLayer(), stage.GetSessionLayer()):
                owner = "the scene"
            for part in lost_parts(before, now, self._moves.now):
                self._layer_parts.append(f"{part.what} of {owner}")
            relocates = _relocates(now)
            for old, new in relocates.items() - _relocates(before).items():
                if new.isEmpty:  # a prim of a referenced file is deleted by that
                    self.gone.add(old)
                else:
                    self._relocated[old] = new

    # ---- names

    def _is_gone(self, path: Sdf.Path) -> bool:
        return not self.gone.isdisjoint(path.GetPrefixes())

    def _is_covered(self, path: Sdf.Path) -> bool:
        """Return whether a person agreed to lose a path, by its old or by its new name."""
        if not self._covered:
            return False
        for each in (path.StripAllVariantSelections(), self._moves.now(path)):
            if not self._covered.isdisjoint((_TOP, *each.GetPrefixes())):
                return True
        return False

    def _name(self, path: Sdf.Path) -> str:
        """Call a prim or property as a person does, who is asked after the step was reverted."""
        new = self._moves.now(path)
        is_in_variant = new.ContainsPrimVariantSelection()
        if path in self.gone and not is_in_variant:
            return str(path)
        if new.IsPropertyPath() and path not in self.gone:
            return f"{new.name} of {self._name(path.GetParentPath())}"
        if not is_in_variant:
            return str(path)
        if is_selected(self._scene.stage, new):
            return str(new.StripAllVariantSelections())
        return _name_in_variant(new)


def _name_in_variant(path: Sdf.Path) -> str:
    """Return the words for a path in a variant that the scene does not show."""
    inner = path
    while not inner.IsPrimVariantSelectionPath():
        inner = inner.GetParentPath()
    _, variant = inner.GetVariantSelection()
    name = f"variant {variant} of {inner.GetPrimPath().StripAllVariantSelections()}"
    tail = str(path).removeprefix(str(inner))
    if not tail:
        return name
    return f"{tail.lstrip('.')} of {name}"


def _relocates(fields: Fields) -> dict[Sdf.Path, Sdf.Path]:
    """Return the new path of each prim that a layer relocates; the empty path is nowhere."""
    return dict(fields.get("layerRelocates", ()))


def _refers(specs: Iterable[Any]) -> bool:
    """Return whether specs bring in prims from elsewhere."""
    return any(spec.HasInfo(arc) for spec in specs for arc in _ARCS)
