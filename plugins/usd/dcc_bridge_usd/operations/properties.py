"""Keys of attributes, and what a prim has beside attributes and relationships. Main thread."""

from __future__ import annotations

from typing import Any, Final

from pxr import Kind, Usd, UsdGeom

OWN: Final = {"kind": "token", "active": "bool", "instanceable": "bool"}
"""The values that a prim has beside attributes and relationships, with their types."""
_FIRST: Final = Usd.TimeCode.EarliestTime()
_SIZES: Final = {"points", "size", "radius", "height", "width", "length", "widths"}


def write_keys(attribute: Usd.Attribute, keys: dict[float, Any], *, clear: bool) -> None:
    """Add keys to an attribute, or replace all its keys.

    Args:
        attribute: The attribute.
        keys: The values by the frame.
        clear: Whether the attribute keeps no other key; without any, it keeps its first value.

    Raises:
        ValueError: A stronger layer has keys.
    """
    # The keys of one layer hide those of all weaker layers, so the old keys are written again.
    old = {time: attribute.Get(time) for time in attribute.GetTimeSamples()}
    first = attribute.Get(_FIRST)
    wanted = keys if clear else old | keys
    for time in old.keys() - wanted.keys():
        attribute.ClearAtTime(time)
    if not wanted and old and first is not None:
        attribute.Set(first)
    for time, value in keys.items():
        attribute.Set(value, time)
    for time in wanted.keys() - attribute.GetTimeSamples():
        attribute.Set(wanted[time], time)
    if set(attribute.GetTimeSamples()) != wanted.keys():
        raise ValueError(f"{attribute.GetPath()} is keyed in a stronger layer.")


def choose(prim: Usd.Prim, name: str, choice: Any) -> None:
    """Select a variant of a variant set.

    Raises:
        ValueError: There is no such variant, or another selection is stronger.
    """
    variant_set = prim.GetVariantSet(name)
    names = variant_set.GetVariantNames()
    if choice not in names:
        raise ValueError(f"{name} is one of {', '.join(names)}, not {choice!r}.")
    variant_set.SetVariantSelection(choice)
    now = variant_set.GetVariantSelection()
    if now != choice:
        raise ValueError(
            f"{name} of {prim.GetPath()} stays {now}: a stronger layer selects it, or the prim "
            "itself outside the variant."
        )


def own_value(prim: Usd.Prim, prop: str) -> Any:
    """Return one of `OWN` of a prim."""
    if prop == "kind":
        return Usd.ModelAPI(prim).GetKind()
    if prop == "active":
        return prim.IsActive()
    return prim.IsInstanceable()


def set_own(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Write one of `OWN`.

    Raises:
        ValueError: The value does not fit, or a stronger layer holds another one.
    """
    if prop == "kind":
        kinds = Kind.Registry.GetAllKinds()
        if value not in kinds:
            raise ValueError(f"kind is one of {', '.join(sorted(kinds))}.")
        Usd.ModelAPI(prim).SetKind(value)
    elif not isinstance(value, bool):
        raise ValueError(f"{prop} is true or false, not {value!r}.")
    elif prop == "active":
        prim.SetActive(value)
    else:
        prim.SetInstanceable(value)
    if own_value(prim, prop) != value:
        raise ValueError(f"{prop} of {prim.GetPath()} is held by a stronger layer.")


def fit_extent(attribute: Usd.Attribute) -> None:
    """Compute an authored extent anew after an attribute was changed that is a size."""
    boundable = UsdGeom.Boundable(attribute.GetPrim())
    if attribute.GetName() not in _SIZES or not boundable:
        return
    extent = boundable.GetExtentAttr()
    if not extent.HasAuthoredValue():
        return
    times = [Usd.TimeCode(time) for time in attribute.GetTimeSamples()]
    if not times:
        times = [Usd.TimeCode.Default()]
    for time in times:
        extent.Set(UsdGeom.Boundable.ComputeExtentFromPlugins(boundable, time), time)
