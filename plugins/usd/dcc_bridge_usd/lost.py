"""What an undo step took away: what the layers held, and the scene shows no more. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any, Final

from pxr import Sdf, Usd

from .before import Scene, Told, own_fields
from .facts import Fields, Part, composed, raw_fields, went
from .moves import Moves
from .places import below
from .prims import CHECKING, CROWD_SIZE, child_names, is_path, tracked

_TOP: Final = Sdf.Path.absoluteRootPath
_ARCS: Final = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


class Losses:
    """What a step took away.

    Attributes:
        gone: Prims and properties that are not there any more, or not for what they were.
    """

    def __init__(self, scene: Scene, told: Told, agreed: Set[str] = frozenset()) -> None:
        """Search for it.

        Args:
            scene: The scene, as it was and is.
            told: What USD told of the step.
            agreed: Items; they, what is below them and their parts are left out.
        """
        self.gone: set[Sdf.Path] = set()
        self._scene = scene
        self._told = told
        self._agreed = agreed
        self._covered = {Sdf.Path(item) for item in agreed if is_path(item)}
        self._parts: list[tuple[Sdf.Path, Part]] = []
        self._of_layers: list[str] = []
        self._came: dict[Sdf.Path, None] = {}
        self._left: dict[Sdf.Path, None] = {}  # prims that may be elsewhere
        self._changed: dict[Sdf.Path, None] = {}  # prims that hold something else
        self._moves = Moves(told.moves, told.blocks)
        self._relocated: dict[Sdf.Path, Sdf.Path] = {}  # prims of what is referred to
        self._elsewhere: list[Sdf.Path] = []  # prims of which USD did not tell where they are now
        self._search()

    def names(self) -> list[str]:
        """Return what a person reads for each; nothing of what was agreed to."""
        left = [it for it in tracked([*self.gone], CHECKING) if not self._is_covered(it)]
        told = [self._name(it) for it in tracked(left, CHECKING)]
        for path, part in self._parts:
            if not self._is_covered(path) and not self._is_cut(part):
                told.append(f"{part.what} of {self._name(path)}")
        told += self._of_layers
        return sorted({*told} - self._agreed)

    def cut(self) -> list[str]:
        """Name what led to what is gone, and does not even do that now."""
        return [self._leading(path, part) for path, part in self._parts if self._is_cut(part)]

    def _leading(self, path: Sdf.Path, part: Part) -> str:
        name = self._name(path)
        if path.IsPropertyPath():
            return name
        return f"{part.what.removesuffix(f' {part.path}')} of {name}"

    def _is_cut(self, part: Part) -> bool:
        if part.path is None:
            return False
        return self._is_gone(part.path) or self._is_covered(part.path)

    # ---- searching

    def _search(self) -> None:
        scene = self._scene
        self._moves.note_taken(scene)
        properties = self._compare_layers()
        hidden = self._told.resynced - self._changed.keys()
        self._find_moved()
        hidden |= self._came.keys()  # a layer may hide what it refers to, and it may be renamed
        for path in tracked([*self._left], CHECKING):
            self._lose_prim(path)
        for path in tracked([*self._changed], CHECKING):
            self._compare_prim(path)
        for path in tracked([*properties], CHECKING):
            if not self._is_gone(path.GetPrimPath()):
                self._compare_property(path)
        for path in tracked(list(hidden), CHECKING):
            self._look_for_hidden(path)
        for path in (*(old for old, _ in self._told.moves), *self._elsewhere):
            self._look_inside_hidden(path)
        for path, new in self._relocated.items():
            self._look_for_relocated(path, new)

    def _compare_layers(self) -> dict[Sdf.Path, None]:
        """Note which prims left, came or changed; gives the properties that may have."""
        scene = self._scene
        roots = dict[Sdf.Path, None]()
        properties = dict[Sdf.Path, None]()
        left = [it for it in scene.then if it.layer not in scene.now]
        new = [it for it in scene.now if it not in {each.layer for each in scene.then}]
        whole = [it.mirror.content for it in left] + new
        for change in scene.before.changes:
            if change.edited is None:
                whole += [change.held.content, change.followed.layer]
                continue
            roots |= dict.fromkeys(change.edited.roots())
            properties |= dict.fromkeys(change.edited.properties)
        for layer in whole:
            roots |= dict.fromkeys(_TOP.AppendChild(it) for it in child_names(layer, _TOP))
        for path in tracked(Sdf.Path.RemoveDescendentPaths([*roots]), CHECKING):
            self._sort(path, is_told=True)
        self._compare_own_fields()
        return properties

    def _sort(self, path: Sdf.Path, *, is_told: bool = False) -> None:
        """Note whether a prim or variant left, came or changed, and look at its children.

        Of one that USD told of, all is not compared at once: most likely it differs.
        """
        scene = self._scene
        new = self._moves.now(path)
        had = scene.had(path)
        has = scene.has(new)
        if not had:
            self._came |= dict.fromkeys([path] if has else [])
        elif not has and path.IsPrimVariantSelectionPath():
            self._lose_variant(path)
        elif not (has or self._prim(path)) or (new == path and path in self._moves.taken):
            self._left[path] = None
        elif is_told or _texts(had) != _texts(has):
            self._changed[path] = None
            self._sort_inside(path, had, has)

    def _sort_inside(self, path: Sdf.Path, had: list[Any], has: list[Any]) -> None:
        for inner in {*_variants(path, had), *_variants(path, has)}:
            self._sort(inner)
        names = dict.fromkeys(_children(had) + _children(has))
        for name in tracked([*names], CHECKING):
            self._sort(path.AppendChild(name))

    def _lose_variant(self, path: Sdf.Path) -> None:
        """Note that a variant is gone, or the whole set of it."""
        of = path.GetParentPath()
        name, variant = path.GetVariantSelection()
        is_kept = any(name in spec.variantSets for spec in self._scene.has(self._moves.now(of)))
        what = f"variant {variant}" if is_kept else f"variant set {name}"
        self._parts.append((of, Part(what)))

    def _find_moved(self) -> None:
        """Tell what was renamed, or put elsewhere, from what is gone."""
        scene = self._scene
        told = self._told
        moved = {old for old, _ in told.moves}
        again = [it for it in self._changed if it in told.vanished - moved and self._differs(it)]
        swapped = [it for it in self._changed if it in told.resynced]
        if len(swapped) > CROWD_SIZE:
            swapped = again
        swapped = [it for it in swapped if it in again or self._differs(it)]
        gone = dict.fromkeys([*self._left, *swapped])
        came = [*self._came, *swapped]
        if came and len(gone) < CROWD_SIZE:
            gone |= dict.fromkeys(it for path in self._left for it in self._prims_below(path))
        found = self._moves.compare(scene, gone, came)
        self._elsewhere = found
        for path in [*found, *again, *swapped]:
            if self._moves.end_of(path) is None:
                is_lost = path in again or path in self._moves.taken
                if is_lost and self._changed.pop(path, self) is not self:
                    self._left[path] = None
                continue
            self._left.pop(path, None)
            self._changed.pop(path, None)
            self._sort(path)

    def _differs(self, path: Sdf.Path) -> bool:
        return _texts(self._scene.had(path)) != _texts(self._scene.has(path))

    def _prims_below(self, path: Sdf.Path) -> Iterator[Sdf.Path]:
        for spec in self._scene.had(path):
            yield from (it for it in below(spec.layer, path) if it.IsPrimPath() and it != path)

    def _lose_prim(self, path: Sdf.Path) -> None:
        """Note that a prim is gone with all below it, but for what was put elsewhere before."""
        for spec in self._scene.had(path):
            every = list(filter(Sdf.Path.IsPrimPath, below(spec.layer, path)))
            self.gone.update(it for it in tracked(every, CHECKING) if self._is_whole(it, path))

    def _is_whole(self, path: Sdf.Path, root: Sdf.Path) -> bool:
        """Return whether a prim is not in a variant below a root, and nowhere else either."""
        if path.ContainsPrimVariantSelection():
            return path == root or "{" not in str(path)[len(str(root)) :]
        end = self._moves.end_of(path)
        return end is None or not self._scene.has(end)

    # ---- one prim

    def _compare_prim(self, path: Sdf.Path) -> None:
        if self._is_gone(path):
            return
        scene = self._scene
        new = self._moves.now(path)
        had = scene.had(path)
        has = scene.has(new)
        if not path.IsPrimVariantSelectionPath() and self._is_off(path, had, has):
            self.gone.add(path)
            return
        stayed = list(scene.stayed.specs(path))
        self._compare_fields(path, composed(stayed), composed(has))
        for name in dict.fromkeys(prop.name for spec in stayed for prop in spec.properties):
            self._compare_property(path.AppendProperty(name))

    def _is_off(self, path: Sdf.Path, had: list[Any], has: list[Any]) -> bool:
        """Return whether a prim that the scene had is in it no more: not defined, or hidden."""
        prim = self._prim(path)
        if not prim:
            return not has
        if not prim.GetParent().IsActive():
            return False
        before = _specifiers(had)
        now = _specifiers(has)
        if prim.GetParent().IsDefined():
            if Sdf.SpecifierDef in before - now and not prim.IsDefined():
                return True
            is_new_class = Sdf.SpecifierClass in now - before and prim.IsAbstract()
            if is_new_class and Sdf.SpecifierDef in before | _specifiers(prim.GetPrimStack()):
                return True
        return not prim.IsActive() and _active(had) is not False and _active(had) != _active(has)

    def _look_for_hidden(self, path: Sdf.Path) -> None:
        """Note a prim that is hidden in a prim that refers to what was edited."""
        scene = self._scene
        if not path.IsPrimPath() or scene.had(path) or self._is_gone(path):
            return
        if path in self._relocated.values():  # it is looked at under its old name
            return
        prim = scene.stage.GetPrimAtPath(self._moves.now(path))
        if not prim or not prim.GetParent().IsActive():
            return
        is_class = prim.IsAbstract() and not prim.GetParent().IsAbstract()
        if prim.IsActive() and not is_class:
            return
        every = (scene.had(it) for it in path.GetParentPath().GetPrefixes())
        if any(spec.HasInfo(arc) for specs in every for spec in specs for arc in _ARCS):
            self.gone.add(path)

    def _look_inside_hidden(self, path: Sdf.Path) -> None:
        """Note a prim that was put into one that is in the scene no more."""
        new = self._moves.now(path)
        if new == path or not self._scene.had(path) or self._is_gone(path):
            return
        if not self._is_shown(new) and self._is_inside_gone(new):
            self.gone.add(path)

    def _look_for_relocated(self, path: Sdf.Path, new: Sdf.Path) -> None:
        """Note a prim of what is referred to, whose new place is in the scene no more."""
        if self._is_gone(path) or self._is_shown(new):
            return
        has = self._scene.has(new)
        is_hidden = _active(has) is False or Sdf.SpecifierClass in _specifiers(has)
        if is_hidden or self._is_inside_gone(new):
            self.gone.add(path)

    def _is_shown(self, path: Sdf.Path) -> bool:
        prim = self._scene.stage.GetPrimAtPath(path)
        return bool(prim) and prim.IsActive() and prim.IsDefined() and not prim.IsAbstract()

    def _is_inside_gone(self, path: Sdf.Path) -> bool:
        """Return whether a prim is in one that is gone, wherever that is now."""
        gone = {self._moves.now(each) for each in self.gone}
        return not gone.isdisjoint(path.GetPrefixes())

    def _prim(self, path: Sdf.Path) -> Usd.Prim | None:
        """Return the prim of the scene at the path of a spec; None where it is in no use."""
        new = self._moves.now(path)
        if not self._is_selected(new):
            return None
        return self._scene.stage.GetPrimAtPath(new.StripAllVariantSelections()) or None

    def _is_selected(self, path: Sdf.Path) -> bool:
        """Return whether the variants in a path are the ones that the scene shows."""
        while path.ContainsPrimVariantSelection():
            if path.IsPrimVariantSelectionPath():
                name, variant = path.GetVariantSelection()
                at = path.GetPrimPath().StripAllVariantSelections()
                prim = self._scene.stage.GetPrimAtPath(at)
                if not prim or prim.GetVariantSet(name).GetVariantSelection() != variant:
                    return False
            path = path.GetParentPath()
        return True

    # ---- parts

    def _compare_property(self, path: Sdf.Path) -> None:
        scene = self._scene
        had = list(scene.stayed.specs(path))
        if not had:
            return
        has = scene.has(self._moves.now(path))
        if not has and not self._is_authored(path):
            new = self._renamed(path, had)
            if new is None:
                self.gone.add(path)
                return
            has = scene.has(new)
        self._compare_fields(path, composed(had), composed(has))

    def _is_authored(self, path: Sdf.Path) -> bool:
        """Return whether what is referred to says something of a property."""
        prim = self._prim(path.GetPrimOrPrimVariantSelectionPath())
        return (
            prim is not None
            and prim.HasProperty(path.name)
            and prim.GetProperty(path.name).IsAuthored()
        )

    def _renamed(self, path: Sdf.Path, had: list[Any]) -> Sdf.Path | None:
        """Return the property of the same prim that came and holds the same."""
        scene = self._scene
        held = [raw_fields(spec) for spec in had]
        for spec in scene.has(self._moves.now(path.GetParentPath())):
            for prop in spec.properties:
                is_new = not scene.had(path.ReplaceName(prop.name))
                if is_new and [raw_fields(it) for it in scene.has(prop.path)] == held:
                    return Sdf.Path(prop.path)
        return None

    def _compare_fields(self, path: Sdf.Path, before: Fields, now: Fields) -> None:
        for part in went(before, now, self._moves.now):
            self._parts.append((path, part))

    def _compare_own_fields(self) -> None:
        """Compare what each layer says of itself, and which layers are below it."""
        scene = self._scene
        for followed in scene.then:
            layer = followed.layer
            if layer not in scene.now:
                self._of_layers.append(f"layer {layer.GetDisplayName()} of the scene")
                continue
            before = scene.before.own_fields(followed)
            now = own_fields(layer)
            is_own = layer in (scene.stage.GetRootLayer(), scene.stage.GetSessionLayer())
            whose = "the scene" if is_own else layer.GetDisplayName()
            for part in went(before, now, self._moves.now):
                self._of_layers.append(f"{part.what} of {whose}")
            relocated = _relocates(now)
            for source, target in relocated.items() - _relocates(before).items():
                if target.isEmpty:  # so what is referred to is deleted
                    self.gone.add(source)
                else:
                    self._relocated[source] = target

    # ---- names

    def _is_gone(self, path: Sdf.Path) -> bool:
        return not self.gone.isdisjoint(path.GetPrefixes())

    def _is_covered(self, path: Sdf.Path) -> bool:
        if not self._covered:
            return False
        every = (path.StripAllVariantSelections(), self._moves.now(path))
        return any(not self._covered.isdisjoint((_TOP, *it.GetPrefixes())) for it in every)

    def _name(self, path: Sdf.Path) -> str:
        """Call a prim or property as a person does, who is asked once it is where it was."""
        new = self._moves.now(path)
        if path in self.gone and not new.ContainsPrimVariantSelection():
            return str(path)
        if new.IsPropertyPath() and path not in self.gone:
            return f"{new.name} of {self._name(path.GetParentPath())}"
        if not new.ContainsPrimVariantSelection():
            return str(path)
        if self._is_selected(new):
            return str(new.StripAllVariantSelections())
        inner = new
        while not inner.IsPrimVariantSelectionPath():
            inner = inner.GetParentPath()
        _, variant = inner.GetVariantSelection()
        tail = str(new).removeprefix(str(inner))
        of = f"variant {variant} of {inner.GetPrimPath().StripAllVariantSelections()}"
        return f"{tail.lstrip('.')} of {of}" if tail else of


def lost(scene: Scene, told: Told, agreed: Set[str]) -> list[str]:
    """List what a step took away beside what was agreed to, as a person reads it."""
    return Losses(scene, told, agreed).names()


def _relocates(fields: Fields) -> dict[Sdf.Path, Sdf.Path]:
    """Return where a layer puts prims of what it refers to; the empty path is nowhere."""
    return dict(fields.get("layerRelocates", ()))


def _children(specs: Iterable[Any]) -> list[str]:
    return [name for spec in specs for name in child_names(spec.layer, spec.path)]


def _texts(specs: Iterable[Any]) -> list[str]:
    return [spec.GetAsText() for spec in specs]


def _variants(path: Sdf.Path, specs: Iterable[Any]) -> Iterator[Sdf.Path]:
    for spec in specs:
        for variants in spec.variantSets.values():
            for variant in variants.variants.values():
                yield path.AppendVariantSelection(variants.name, variant.name)


def _specifiers(specs: Iterable[Any]) -> set[Any]:
    return {spec.specifier for spec in specs}


def _active(specs: Iterable[Any]) -> bool | None:
    """Return what the strongest of some specs says of whether the prim is active."""
    return next((bool(spec.active) for spec in specs if spec.HasInfo("active")), None)
