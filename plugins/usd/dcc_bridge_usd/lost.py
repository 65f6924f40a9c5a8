"""The losses of an undo step: content of the layers that the scene no longer shows. Main thread.

The words of this module:

- A prim or property is gone if the scene does not show it any more: it was deleted, taken out of
  the scene (made inactive, a class or an over), or replaced by another one. A new name or parent is
  no loss (`Moves`).
- A part is anything else that a prim, property or layer held: a value, a reference, a variant.
- A link is a part that leads to a path: a target, a connection, a reference. It is cut if it was
  deleted, and what it led to is gone as well.
- A prim is hidden if it still exists, in an edited layer or in a referenced file, and the step has
  made the scene stop showing it. A hidden prim counts as gone.
- Paths are those before the step, if nothing else is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Final

from pxr import Sdf

from .before import Scene, StepNotices, own_fields
from .edited_prims import EditedPrims
from .facts import (
    VALUES,
    Fields,
    LostPart,
    Whereabouts,
    composed,
    is_nothing,
    is_retyped,
    lost_parts,
    raw_fields,
)
from .places import below
from .prims import CHECKING, is_path, tracked
from .shown import hides, is_brought, is_selected, is_shown, prim_of, was_switched_off
from .variants import variant_path

_TOP: Final = Sdf.Path.absoluteRootPath
_COMPUTED: Final = ("xformOpOrder", "extentsHint")
"""Arrays that become shorter if the same is written in another way, as one matrix for 3 steps."""
_ARCS: Final = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


class Losses:
    """The losses of a step.

    Attributes:
        gone: The prims and properties that are gone.
    """

    def __init__(self, scene: Scene, notices: StepNotices, agreed: Set[str] = frozenset()) -> None:
        """Search for all losses.

        Args:
            scene: The scene before the step and now.
            notices: The notices of USD about the step.
            agreed: Items whose loss was agreed to. `names` leaves them out, with all prims below
                them and all their parts.
        """
        self.gone: set[Sdf.Path] = set()
        self._scene = scene
        self._notices = notices
        self._agreed = agreed
        self._agreed_paths = {Sdf.Path(item) for item in agreed if is_path(item)}
        self._parts: list[tuple[Sdf.Path, LostPart]] = []
        self._layer_parts: list[str] = []
        self._relocated: dict[Sdf.Path, Sdf.Path] = {}  # prims of referenced files, by old path
        edited = EditedPrims(scene, notices)
        self._moves = edited.moves
        self._renamed_sets = edited.renamed_sets
        self._whereabouts = Whereabouts(self._moves.now, scene.file_before)
        self._search_all(edited)

    def names(self) -> list[str]:
        """Return the losses in a person's words, without those agreed to and without cut links."""
        paths = [path for path in tracked([*self.gone], CHECKING) if not self._is_agreed(path)]
        names = {self._name(path) for path in tracked(paths, CHECKING)}
        for path, part in self._parts:
            if not self._is_agreed(path) and not self._is_cut_link(part):
                names.add(f"{part.what} of {self._name(path)}")
        names.update(self._layer_parts)
        return sorted(names - self._agreed - self._agreed_variants())

    def cut_links(self) -> list[str]:
        """Return the cut links in a person's words, such as "references of /World"."""
        return [
            self._link_name(path, part) for path, part in self._parts if self._is_cut_link(part)
        ]

    def _link_name(self, path: Sdf.Path, part: LostPart) -> str:
        """Return the words for a link: its property, or its kind and its prim."""
        name = self._name(path)
        if path.IsPropertyPath():
            return name
        kind = part.what.removesuffix(f" {part.path}")
        return f"{kind} of {name}"

    def _is_cut_link(self, part: LostPart) -> bool:
        """Return whether a lost part led to a path that is gone, or whose loss was agreed to."""
        if part.path is None:
            return False
        return self._is_gone(part.path) or self._is_agreed(part.path)

    # ---- searching

    def _search_all(self, edited: EditedPrims) -> None:
        """Fill `gone`, `_parts` and `_layer_parts`; each search passes over paths in `gone`."""
        self._parts += edited.lost_variants
        self._compare_own_fields()
        for path in tracked([*edited.left], CHECKING):
            self._note_lost_prim(path)
        for path in tracked([*edited.changed], CHECKING):
            self._compare_prim(path)
        for path in tracked([*edited.properties], CHECKING):
            if not self._is_gone(path.GetPrimPath()):
                self._compare_property(path)
        self._note_hidden_prims(edited)

    def _note_hidden_prims(self, edited: EditedPrims) -> None:
        """Note the prims that are hidden since the step."""
        # A new spec may hide a prim of a referenced file, also under a new name.
        perhaps_hidden = edited.unchanged | edited.arrived.keys()
        for path in tracked(list(perhaps_hidden), CHECKING):
            self._note_if_hidden(path)
        for old, _ in self._notices.moves:
            self._note_if_moved_into_loss(old)
        for path in edited.found_moved:
            self._note_if_moved_into_loss(path)
        for path, new in self._relocated.items():
            self._note_if_relocated_away(path, new)
        for new in self._relocated.values():
            self._note_if_relocated_onto(new)

    def _note_lost_prim(self, path: Sdf.Path) -> None:
        """Note that a prim is gone with all prims below it, except those moved elsewhere before."""
        for spec in self._scene.specs_before(path):
            prims = [inner for inner in below(spec.layer, path) if inner.IsPrimPath()]
            for inner in tracked(prims, CHECKING):
                if self._is_lost_with(inner, path):
                    self.gone.add(inner)

    def _is_lost_with(self, path: Sdf.Path, root: Sdf.Path) -> bool:
        """Return whether a prim below a lost prim is lost with it.

        A prim in a variant of the lost prim, or of one below it, is no loss of its own. Any other
        is lost, unless it was moved before and its new path has specs.

        Args:
            path: The prim.
            root: The lost prim.
        """
        if path.ContainsPrimVariantSelection():
            return path == root or "{" not in str(path)[len(str(root)) :]
        new = self._moves.moved_to(path)
        return new is None or not self._scene.specs_now(new)

    # ---- one prim

    def _compare_prim(self, path: Sdf.Path) -> None:
        """Note a changed prim that is gone; else compare its fields and its properties."""
        if self._is_gone(path):
            return
        scene = self._scene
        new = self._moves.now(path)
        now = scene.specs_now(new)
        if not path.IsPrimVariantSelectionPath() and self._was_taken_out(path, now):
            self.gone.add(path)
            return
        stayed = list(scene.stayed.specs(path))
        self._compare_fields(path, composed(stayed), composed(now))
        names: dict[str, None] = {}
        for spec in stayed:
            names |= dict.fromkeys(prop.name for prop in spec.properties)
        for name in names:
            self._compare_property(path.AppendProperty(name))

    def _was_taken_out(self, path: Sdf.Path, now: list[Any]) -> bool:
        """Return whether a prim was taken out of the scene, by its specs now.

        Args:
            path: The path of the prim.
            now: The specs that it has now.
        """
        scene = self._scene
        prim = prim_of(scene.stage, self._moves.now(path))
        if not prim:
            return not now
        return was_switched_off(prim, scene.specs_before(path), now)

    def _note_if_hidden(self, path: Sdf.Path) -> None:
        """Note a prim of a referenced file that is hidden: it had no specs of its own before."""
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
            if _has_arcs(scene.specs_before(prefix)):
                self.gone.add(path)
                return

    def _note_if_moved_into_loss(self, path: Sdf.Path) -> None:
        """Note a prim that was moved into a prim that is gone."""
        new = self._moves.now(path)
        if new == path or not self._scene.specs_before(path) or self._is_gone(path):
            return
        if not is_shown(self._scene.stage, new) and self._is_inside_gone(new):
            self.gone.add(path)

    def _note_if_relocated_away(self, path: Sdf.Path, new: Sdf.Path) -> None:
        """Note a prim of a referenced file that a layer relocated to a path that is not shown."""
        if self._is_gone(path) or is_shown(self._scene.stage, new):
            return
        if hides(self._scene.specs_now(new)) or self._is_inside_gone(new):
            self.gone.add(path)

    def _note_if_relocated_onto(self, new: Sdf.Path) -> None:
        """Note a prim of a referenced file in whose place another prim was relocated.

        USD refuses that where it sees the prim: not where a payload is unloaded.
        """
        scene = self._scene
        if self._is_gone(new) or hides(scene.specs_before(new)):
            return
        if is_brought(scene.stage, new):
            self.gone.add(new)

    def _is_inside_gone(self, path: Sdf.Path) -> bool:
        """Return whether a path of now is that of a gone prim, or below one."""
        gone = {self._moves.now(each) for each in self.gone}
        return not gone.isdisjoint(path.GetPrefixes())

    # ---- parts

    def _compare_property(self, path: Sdf.Path) -> None:
        """Note a property that is gone; else compare its fields, also under a new name."""
        scene = self._scene
        before = list(scene.stayed.specs(path))
        if not before:
            return
        now = scene.specs_now(self._moves.now(path))
        if not now and not self._is_authored(path):
            new = self._find_renamed(path, before)
            if new is None:
                self.gone.add(path)
                return
            now = scene.specs_now(new)
        fields_before = composed(before)
        fields_now = composed(now)
        if is_retyped(before, now):
            self._take_values(path, fields_before, fields_now)
        self._compare_fields(path, fields_before, fields_now)

    def _take_values(self, path: Sdf.Path, before: Fields, now: Fields) -> None:
        """Take the values out of an attribute's fields; note the old one if the new one differs."""
        values_before = {name: before.pop(name) for name in VALUES & before.keys()}
        values_now = {name: now.pop(name) for name in VALUES & now.keys()}
        had_value = not all(is_nothing(value) for value in values_before.values())
        if had_value and values_before != values_now:
            self._parts.append((path, LostPart("value")))

    def _is_authored(self, path: Sdf.Path) -> bool:
        """Return whether a referenced file holds a property, so that it is there without specs."""
        owner = self._moves.now(path.GetPrimOrPrimVariantSelectionPath())
        prim = prim_of(self._scene.stage, owner)
        if prim is None or not prim.HasProperty(path.name):
            return False
        return prim.GetProperty(path.name).IsAuthored()

    def _find_renamed(self, path: Sdf.Path, before: list[Any]) -> Sdf.Path | None:
        """Return a new property of the same prim with the same fields as one before; or None."""
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
        """Note the parts of a prim or property that are lost."""
        for part in lost_parts(before, now, self._whereabouts):
            is_computed = part.is_shortened and path.name in _COMPUTED
            if not is_computed and (path, part.what) not in self._renamed_sets:
                self._parts.append((path, part))

    def _compare_own_fields(self) -> None:
        """Note the layers that left the scene, and the lost parts of the metadata of the others.

        A relocation is metadata of a layer, too: it moves or deletes a prim of a referenced file.
        """
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
            for part in lost_parts(before, now, self._whereabouts):
                self._layer_parts.append(f"{part.what} of {owner}")
            relocates = _relocates(now)
            for old, new in relocates.items() - _relocates(before).items():
                if new.isEmpty:  # a prim of a referenced file is deleted by that
                    self.gone.add(old)
                else:
                    self._relocated[old] = new

    # ---- names

    def _is_gone(self, path: Sdf.Path) -> bool:
        """Return whether a path is gone, or is below a path that is."""
        return not self.gone.isdisjoint(path.GetPrefixes())

    def _is_agreed(self, path: Sdf.Path) -> bool:
        """Return whether a person agreed to lose a path, by its old or by its new name."""
        if not self._agreed_paths:
            return False
        for each in (path.StripAllVariantSelections(), self._moves.now(path)):
            if not self._agreed_paths.isdisjoint((_TOP, *each.GetPrefixes())):
                return True
        return False

    def _agreed_variants(self) -> set[str]:
        """Return the words for the variants and variant sets whose loss was agreed to."""
        words = set()
        for item in self._agreed:
            path = variant_path(item)
            if path is None:
                continue
            name, variant = path.GetVariantSelection()
            owner = self._name(path.GetParentPath())
            what = f"variant {variant}" if variant else f"variant set {name}"
            words.add(f"{what} of {owner}")
            words.add(f"selection of variant set {name} of {owner}")
        return words

    def _name(self, path: Sdf.Path) -> str:
        """Return a person's name for a prim or property.

        The person reads it after the step was reverted, so that a prim has its old path again. A
        property that was kept is named by its prim, and a prim in a variant by the variant, unless
        the scene shows that variant.
        """
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


def _has_arcs(specs: Iterable[Any]) -> bool:
    """Return whether specs have a reference or another arc that brings in prims."""
    return any(any(map(spec.HasInfo, _ARCS)) for spec in specs)
