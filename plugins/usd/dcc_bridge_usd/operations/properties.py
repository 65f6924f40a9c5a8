"""Properties of prims as they are edited: keys, and what is no attribute. Main thread."""

from __future__ import annotations

from typing import Any, Final

from pxr import Kind, Sdf, Usd, UsdGeom

from .links import arcs

OWN: Final = {"kind": "token", "active": "bool", "instanceable": "bool", "references": "asset[]"}
"""What a prim has beside its attributes and relationships, with its type."""
_FIRST: Final = Usd.TimeCode.EarliestTime()
_SIZES: Final = {"points", "size", "radius", "height", "width", "length", "widths"}


def write_keys(attribute: Usd.Attribute, keys: dict[float, Any], *, clear: bool) -> None:
    """Add keys to an attribute, or have it only these."""
    # samples of one layer hide those of all weaker ones, so what is there comes along
    there = {at: attribute.Get(at) for at in attribute.GetTimeSamples()}
    first = attribute.Get(_FIRST)
    wanted = keys if clear else there | keys
    for at in there.keys() - wanted.keys():
        attribute.ClearAtTime(at)
    if not wanted and there and first is not None:
        attribute.Set(first)  # it stays where the first key had it
    for at, value in keys.items():
        attribute.Set(value, at)
    for at in wanted.keys() - attribute.GetTimeSamples():
        attribute.Set(wanted[at], at)
    if set(attribute.GetTimeSamples()) != wanted.keys():
        raise ValueError(f"{attribute.GetPath()} is keyed in a stronger layer.")


def choose(prim: Usd.Prim, name: str, choice: Any) -> None:
    """Choose a variant."""
    chosen = prim.GetVariantSet(name)
    names = chosen.GetVariantNames()
    if choice not in names:
        raise ValueError(f"{name} is one of {', '.join(names)}, not {choice!r}.")
    chosen.SetVariantSelection(choice)


def own_value(prim: Usd.Prim, prop: str) -> Any:
    """Read one of `OWN`; None where the prim has no such."""
    if prop == "references":
        return [arc.assetPath for _, arc in arcs(prim) if arc.assetPath] or None
    if prop == "kind":
        return Usd.ModelAPI(prim).GetKind()
    return prim.IsActive() if prop == "active" else prim.IsInstanceable()


def set_own(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Write one of `OWN`; ValueError says what it takes."""
    if prop == "references":
        _lead(prim, value)
    elif prop == "kind":
        if value not in Kind.Registry.GetAllKinds():
            raise ValueError(f"kind is one of {', '.join(sorted(Kind.Registry.GetAllKinds()))}.")
        Usd.ModelAPI(prim).SetKind(value)
    elif not isinstance(value, bool):
        raise ValueError(f"{prop} is true or false, not {value!r}.")
    elif prop == "active":
        prim.SetActive(value)
    else:
        prim.SetInstanceable(value)
    if own_value(prim, prop) != value:
        raise ValueError(f"{prop} of {prim.GetPath()} is held by a stronger layer.")


def _lead(prim: Usd.Prim, paths: Any) -> None:
    """Have the references and payloads of a prim lead to other files, one by one."""
    every = [(layer, arc) for layer, arc in arcs(prim) if arc.assetPath]
    if not isinstance(paths, list) or len(paths) != len(every):
        raise ValueError(f"references of {prim.GetPath()} are {len(every)} paths, in a list.")
    for (layer, old), path in zip(every, paths, strict=True):
        spec = layer.GetPrimAtPath(prim.GetPath())
        if isinstance(old, Sdf.Payload):
            new = Sdf.Payload(path, old.primPath, old.layerOffset)
            spec.payloadList.ReplaceItemEdits(old, new)
        else:
            other = Sdf.Reference(path, old.primPath, old.layerOffset, old.customData)
            spec.referenceList.ReplaceItemEdits(old, other)


def fit_extent(attribute: Usd.Attribute) -> None:
    """Have an extent that is written down follow the size that was changed."""
    based = UsdGeom.Boundable(attribute.GetPrim())
    if attribute.GetName() in _SIZES and based and based.GetExtentAttr().HasAuthoredValue():
        times = attribute.GetTimeSamples()
        for at in map(Usd.TimeCode, times) if times else [Usd.TimeCode.Default()]:
            based.GetExtentAttr().Set(UsdGeom.Boundable.ComputeExtentFromPlugins(based, at), at)
