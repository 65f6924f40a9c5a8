"""Variant sets and variants of prims, by USD's own paths. Main thread.

``/World/Set{look=}`` is a variant set, and ``/World/Set{look=red}`` is a variant in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pxr import Sdf, Usd

from .prims import is_path
from .shown import is_selected


def variant_path(item: str) -> Sdf.Path | None:
    """Return the path of a variant set or a variant; None for any other item."""
    if not item.startswith("/") or not item.endswith("}") or not is_path(item):
        return None
    path = Sdf.Path(item)
    return path if path.IsPrimVariantSelectionPath() else None


def variant_around(item: str) -> Sdf.Path | None:
    """Return the variant for the path of a prim in it; None for any other item."""
    if "{" not in item or not is_path(item):
        return None
    path = Sdf.Path(item)
    if not path.IsPrimPath() or not path.ContainsPrimVariantSelection():
        return None
    while not path.IsPrimVariantSelectionPath():
        path = path.GetParentPath()
    return path


def path_in(prim: Sdf.Path, variant_set: str, variant: str = "") -> Sdf.Path:
    """Return the path of a variant of a prim; that of the variant set without a variant."""
    return prim.AppendVariantSelection(variant_set, variant)


def variant_paths(path: Sdf.Path, specs: Iterable[Any]) -> Iterator[Sdf.Path]:
    """Yield the paths of the variants that specs of a prim have.

    Args:
        path: The path of the prim.
        specs: Its specs.
    """
    for spec in specs:
        for variants in spec.variantSets.values():
            for variant in variants.variants.values():
                yield path.AppendVariantSelection(variants.name, variant.name)


def sets_of(prim: Usd.Prim) -> Iterator[Sdf.Path]:
    """Yield the paths of the variant sets that a prim has, also of those in selected variants."""
    for name in prim.GetVariantSets().GetNames():
        yield path_in(_owner_path(prim, name), name)


def _owner_path(prim: Usd.Prim, variant_set: str) -> Sdf.Path:
    """Return the path under which a prim has a variant set: its own, or that of its variant."""
    owners = [Sdf.Path(spec.path) for spec in _own_specs(prim) if variant_set in spec.variantSets]
    if not owners or prim.GetPath() in owners:
        return prim.GetPath()
    return owners[0]


def _own_specs(prim: Usd.Prim) -> Iterator[Any]:
    """Yield the specs of a prim in the scene's own layers, also those in selected variants."""
    layers = prim.GetStage().GetLayerStack(includeSessionLayers=True)
    for spec in prim.GetPrimStack():
        if spec.layer in layers and spec.path.StripAllVariantSelections() == prim.GetPath():
            yield spec


def contents(specs: Iterable[Any]) -> list[str]:
    """Return the texts of the specs of a variant, without the name of the variant."""
    texts = []
    for spec in specs:
        text = str(spec.GetAsText()).strip()
        texts.append(text.removeprefix(f'"{spec.path.GetVariantSelection()[1]}"'))
    return texts


def owner_of(stage: Usd.Stage, path: Sdf.Path) -> Usd.Prim:
    """Return the prim that has a variant set; an invalid one where it is not shown."""
    above = path.GetParentPath()
    if not is_selected(stage, above):
        return Usd.Prim()
    return stage.GetPrimAtPath(above.StripAllVariantSelections())


def kind_of(stage: Usd.Stage, item: str) -> str:
    """Return "VariantSet" or "Variant"; "" for an item that is neither, or is not there."""
    path = variant_path(item)
    prim = owner_of(stage, path) if path else None
    if path is None or not prim:
        return ""
    name, variant = path.GetVariantSelection()
    if not prim.GetVariantSets().HasVariantSet(name):
        return ""
    if not variant:
        return "VariantSet"
    if variant in prim.GetVariantSet(name).GetVariantNames():
        return "Variant"
    return ""


def specs_of(stage: Usd.Stage, path: Sdf.Path) -> list[Any]:
    """Return the specs of a variant set or variant in the scene's own layers."""
    specs = []
    for layer in stage.GetLayerStack(includeSessionLayers=True):
        spec = layer.GetObjectAtPath(path)
        if spec:
            specs.append(spec)
    return specs


def prims_in(stage: Usd.Stage, path: Sdf.Path) -> list[str]:
    """Return the paths of the prims that the scene's own layers hold in a variant or variant set.

    Variants of prims in a variant are left out.
    """
    paths: dict[str, None] = {}
    for spec in specs_of(stage, path):
        variants = [spec]
        if isinstance(spec, Sdf.VariantSetSpec):
            variants = list(spec.variants.values())
        for variant in variants:
            paths |= dict.fromkeys(_below(variant.primSpec))
    return list(paths)


def _below(spec: Any) -> Iterator[str]:
    for child in spec.nameChildren.values():
        yield str(child.path)
        yield from _below(child)


def remove(stage: Usd.Stage, path: Sdf.Path) -> None:
    """Remove a variant set or a variant from the scene's own layers, and its selection there."""
    name, variant = path.GetVariantSelection()
    for spec in specs_of(stage, path):
        owner = spec.layer.GetPrimAtPath(path.GetParentPath())
        if variant:
            spec.owner.RemoveVariant(spec)
        else:
            del owner.variantSets[name]
            owner.variantSetNameList.RemoveItemEdits(name)
    for owner in _selecting(stage, path):
        if variant in ("", owner.variantSelections[name]):
            del owner.variantSelections[name]


def rename(stage: Usd.Stage, path: Sdf.Path, new_name: str) -> Sdf.Path:
    """Rename a variant set or a variant in the scene's own layers; selections follow.

    Args:
        stage: The scene.
        path: The variant set or the variant.
        new_name: Its new name, which is free.

    Returns:
        The new path.
    """
    name, variant = path.GetVariantSelection()
    above = path.GetParentPath()
    new = path_in(above, new_name)
    if variant:
        new = path_in(above, name, new_name)
    selecting = list(_selecting(stage, path))
    with Sdf.ChangeBlock():
        for spec in specs_of(stage, path):
            layer = spec.layer
            owner = layer.GetPrimAtPath(above)
            Sdf.CopySpec(layer, path, layer, new)
            if variant:
                spec.owner.RemoveVariant(spec)
            else:
                owner.variantSetNameList.ReplaceItemEdits(name, new_name)
                del owner.variantSets[name]
        for owner in selecting:
            selected = owner.variantSelections[name]
            if not variant:
                del owner.variantSelections[name]
                owner.variantSelections[new_name] = selected
            elif selected == variant:
                owner.variantSelections[name] = new_name
    return new


def _selecting(stage: Usd.Stage, path: Sdf.Path) -> Iterator[Any]:
    """Yield the prim's specs in the scene's own layers that select a variant of a variant set."""
    prim = owner_of(stage, path)
    name = path.GetVariantSelection()[0]
    for spec in _own_specs(prim) if prim else ():
        if name in spec.variantSelections:
            yield spec
