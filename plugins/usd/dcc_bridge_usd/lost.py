"""What an undo step took away: what the layers held, and the scene shows no more. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any, Final

from pxr import Sdf

from .before import Scene, StepNotices, own_fields
from .facts import Fields, LostPart, composed, lost_parts, raw_fields
from .moves import Moves
from .places import below
from .prims import CHECKING, CROWD_SIZE, child_names, is_path, tracked
from .shown import is_selected, prim_of, was_switched_off

_TOP: Final = Sdf.Path.absoluteRootPath
_ARCS: Final = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


class Losses:
    """What a step took away.

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
        # These three are dictionaries for their order.
        self._arrived: dict[Sdf.Path, None] = {}
        self._left: dict[Sdf.Path, None] = {}  # prims that may be elsewhere
        self._changed: dict[Sdf.Path, None] = {}  # prims that hold something else
        self._moves = Moves(notices.moves, notices.blocks)
        self._found_moved: list[Sdf.Path] = []  # prims whose move USD did not report
        self._search()

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

    def _search(self) -> None:
        self._moves.note_taken(self._scene)
        properties = self._compare_layers()
        unchanged = self._notices.resynced - self._changed.keys()
        self._find_moved()
        for path in tracked([*self._left], CHECKING):
            self._lose_prim(path)
        for path in tracked([*self._changed], CHECKING):
            self._compare_prim(path)
        for path in tracked([*properties], CHECKING):
            if not self._is_gone(path.GetPrimPath()):
                self._compare_property(path)
        for path in tracked(list(unchanged), CHECKING):
            self._look_for_hidden(path)
        for old, _ in self._notices.moves:
            self._look_inside_hidden(old)
        for path in self._found_moved:
            self._look_inside_hidden(path)

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
        self._compare_own_fields()
        return properties

    def _sort(self, path: Sdf.Path, *, is_reported: bool = False) -> None:
        """Note whether a prim or variant left, arrived or changed, and look at its children.

        A prim that USD reported is not compared as a whole first: most likely it differs.
        """
        scene = self._scene
        new = self._moves.now(path)
        before = scene.specs_before(path)
        now = scene.specs_now(new)
        if not before:
            if now:
                self._arrived[path] = None
        elif not now and path.IsPrimVariantSelectionPath():
            self._lose_variant(path)
        elif self._has_left(path, new, now):
            self._left[path] = None
        elif is_reported or _texts(before) != _texts(now):
            self._changed[path] = None
            self._sort_inside(path, before, now)

    def _has_left(self, path: Sdf.Path, new: Sdf.Path, now: list[Any]) -> bool:
        """Return whether a prim is not where it should be now, or another prim took its place."""
        if not now and not prim_of(self._scene.stage, new):
            return True
        return new == path and path in self._moves.taken

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
        for spec in self._scene.specs_now(self._moves.now(owner)):
            if name in spec.variantSets:
                what = f"variant {variant}"
        self._parts.append((owner, LostPart(what)))

    def _find_moved(self) -> None:
        """Find which prims were only renamed or put elsewhere, and compare them where they are."""
        moves = self._moves
        remade = self._remade()
        swapped = self._swapped(remade)
        gone = dict.fromkeys([*self._left, *swapped])
        arrived = [*self._arrived, *swapped]
        if arrived and len(gone) < CROWD_SIZE:
            for path in self._left:
                gone |= dict.fromkeys(self._prims_below(path))
        self._found_moved = moves.compare(self._scene, gone, arrived)
        for path in [*self._found_moved, *remade, *swapped]:
            if moves.moved_to(path) is not None:
                self._left.pop(path, None)
                self._changed.pop(path, None)
                self._sort(path)
            elif path in self._changed and (path in remade or path in moves.taken):
                del self._changed[path]
                self._left[path] = None

    def _remade(self) -> list[Sdf.Path]:
        """List the changed prims that were away for a moment, and were not moved."""
        vanished = self._notices.vanished - {old for old, _ in self._notices.moves}
        return [path for path in self._changed if path in vanished and self._differs(path)]

    def _swapped(self, remade: list[Sdf.Path]) -> list[Sdf.Path]:
        """List the changed prims whose place another prim may have taken.

        In a crowd these are the remade prims only.
        """
        resynced = [path for path in self._changed if path in self._notices.resynced]
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
        names = dict.fromkeys(prop.name for spec in stayed for prop in spec.properties)
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
        if not path.IsPrimPath():
            return
        prim = scene.stage.GetPrimAtPath(path)
        if not prim or not prim.GetParent().IsActive():
            return
        is_class = prim.IsAbstract() and not prim.GetParent().IsAbstract()
        if prim.IsActive() and not is_class:
            return
        if scene.specs_before(path) or self._is_gone(path):
            return
        for prefix in path.GetParentPath().GetPrefixes():
            if _refers(scene.specs_before(prefix)):
                self.gone.add(path)
                return

    def _look_inside_hidden(self, path: Sdf.Path) -> None:
        """Note a prim that was put into a prim that is in the scene no more."""
        scene = self._scene
        new = self._moves.now(path)
        if new == path or not scene.specs_before(path) or self._is_gone(path):
            return
        prim = scene.stage.GetPrimAtPath(new)
        if prim and prim.IsActive() and prim.IsDefined() and not prim.IsAbstract():
            return
        hidden = {self._moves.now(each) for each in self.gone}
        if not hidden.isdisjoint(new.GetPrefixes()):
            self.gone.add(path)

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
            # A prim of a referenced file is deleted by a relocation to nowhere.
            self.gone |= _relocated_away(now) - _relocated_away(before)

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


def _relocated_away(fields: Fields) -> set[Sdf.Path]:
    return {source for source, target in fields.get("layerRelocates", ()) if target.isEmpty}


def _refers(specs: Iterable[Any]) -> bool:
    """Return whether specs bring in prims from elsewhere."""
    return any(spec.HasInfo(arc) for spec in specs for arc in _ARCS)


def _children(specs: Iterable[Any]) -> list[str]:
    return [name for spec in specs for name in child_names(spec.layer, spec.path)]


def _texts(specs: Iterable[Any]) -> list[str]:
    return [spec.GetAsText() for spec in specs]


def _variants(path: Sdf.Path, specs: Iterable[Any]) -> Iterator[Sdf.Path]:
    for spec in specs:
        for variants in spec.variantSets.values():
            for variant in variants.variants.values():
                yield path.AppendVariantSelection(variants.name, variant.name)
