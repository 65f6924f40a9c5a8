"""What prims, properties and layers hold beside others, and what of it went, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from pxr import Sdf

Fields = dict[str, Any]
# What is told by other means, is a switch, or only says how the rest is written.
_PASSED_OVER: Final = frozenset(
    {
        *("specifier", "active", "instanceable", "hidden", "permission", "custom", "variability"),
        *("primChildren", "propertyChildren", "variantSetChildren", "variantChildren"),
        *("targetChildren", "connectionChildren", "primOrder", "propertyOrder"),
        *("subLayers", "subLayerOffsets", "layerRelocates", "allowedTokens"),
    }
)
# By the field: what a person calls one of its list, and whether another in its place is no loss.
_LISTS: Final = {
    "references": ("reference", True),
    "payload": ("payload", True),
    "inheritPaths": ("inherited class", True),
    "specializes": ("specialized class", True),
    "targetPaths": ("target", True),
    "connectionPaths": ("connection", True),
    "apiSchemas": ("schema", False),
    "variantSetNames": ("variant set", False),
    "clipSets": ("clip set", False),
}
_WORDS: Final = {
    "variantSelection": "selection of variant set",
    "customLayerData": "custom data",
    "upAxis": "up axis",
}
_ANIMATION: Final = frozenset({"timeSamples", "spline"})


class Part(NamedTuple):
    """A part of an item that went.

    Attributes:
        what: What it was: "reference shot.usda", "2 keys".
        path: What it led to, where that is a prim or property of the scene.
    """

    what: str
    path: Sdf.Path | None = None


def composed(specs: Iterable[Any]) -> Fields:
    """Compose what specs say, the strongest first; of keys it gives all."""
    found: Fields = {}
    for spec in reversed(list(specs)):
        for name in spec.ListInfoKeys():
            if name in _PASSED_OVER or (name == "typeName" and not isinstance(spec, Sdf.PrimSpec)):
                continue
            found[name] = _over(found.get(name), spec.GetInfo(name))
    return found


def _over(weak: Any, value: Any) -> Any:
    """Return what a value makes of a weaker one."""
    if hasattr(value, "ApplyOperations"):  # a list that is edited
        return value.ApplyOperations(weak or [])
    if isinstance(value, Mapping):
        return {**(weak or {}), **value}
    return value


def raw_fields(spec: Any) -> Fields:
    """Return all that a spec says itself."""
    return {name: spec.GetInfo(name) for name in spec.ListInfoKeys()}


def went(before: Fields, now: Fields, moved: Callable[[Sdf.Path], Sdf.Path]) -> Iterator[Part]:
    """Yield what was there before and is not now; `moved` tells where a path is now."""
    is_animated = not _ANIMATION.isdisjoint(now)
    for name, value in before.items():
        new = now.get(name)
        if value == new or is_nothing(value) or name in _PASSED_OVER:
            continue
        if name in _LISTS:
            yield from _went_of_list(name, value, new or [], moved)
        elif name != "default":
            yield from _went_of_field(name, value, new)
        elif is_nothing(new) and not is_animated:
            yield Part("value")


def _went_of_field(name: str, value: Any, new: Any) -> Iterator[Part]:
    if name == "typeName":
        yield Part(f"type {value}")
    elif name == "timeSamples":
        yield from _went_of_keys(value, new or {})
    elif name == "spline":
        yield from _went_of_keys(_knots(value), _knots(new))
    elif isinstance(value, Mapping):
        missing = [key for key in value if is_nothing((new or {}).get(key))]
        yield from (Part(f"{_word(name)} {key}") for key in missing)
    elif is_nothing(new):
        yield Part(_word(name))


def is_nothing(value: Any) -> bool:
    """Return whether a value shows nothing: there is none, it is blocked, or empty."""
    if value is None or isinstance(value, Sdf.ValueBlock):
        return True
    return hasattr(value, "__len__") and len(value) == 0


def _went_of_list(
    name: str, before: list[Any], now: list[Any], moved: Callable[[Sdf.Path], Sdf.Path]
) -> Iterator[Part]:
    word, is_replaced = _LISTS[name]
    if is_replaced and len(now) >= len(before):
        return
    kept = {_identity(it) for it in now}
    for each in before:
        path = _leads_to(each)
        if path is not None and not isinstance(each, Sdf.Path):
            is_kept = ("", moved(path)) in kept
        elif path is not None:
            is_kept = moved(path) in kept
        else:
            is_kept = _identity(each) in kept
        if not is_kept:
            yield Part(f"{word} {called(each)}", path)


def _identity(each: Any) -> object:
    """Return by what two entries of a list are one."""
    if isinstance(each, Sdf.Reference | Sdf.Payload):
        return each.assetPath, each.primPath
    return each


def _leads_to(each: Any) -> Sdf.Path | None:
    """Return the path in the scene that an entry leads to, if it does to one."""
    if isinstance(each, Sdf.Path):
        return each
    if isinstance(each, Sdf.Reference | Sdf.Payload) and not each.assetPath:
        return Sdf.Path(each.primPath)
    return None


def called(each: Any) -> str:
    """Call an entry of a list as a person does: a file by its name, the rest by its path."""
    if isinstance(each, Sdf.Reference | Sdf.Payload) and each.assetPath:
        return PurePosixPath(Sdf.Layer.GetDisplayNameFromIdentifier(each.assetPath)).name
    return str(_leads_to(each) or each)


def _went_of_keys(before: Mapping[float, Any], now: Mapping[float, Any]) -> Iterator[Part]:
    """Yield how many keys went; those that stand at other times are still there."""
    kept = {at: value for at, value in now.items() if not isinstance(value, Sdf.ValueBlock)}
    missing = before.keys() - kept.keys()
    if missing and list(before.values()) != list(kept.values()):
        yield Part("1 key" if len(missing) == 1 else f"{len(missing)} keys")


def _knots(spline: Any) -> dict[float, Any]:
    if spline is None:
        return {}
    knots = spline.GetKnots()
    return {time: knots[time].GetValue() for time in knots.keys()}  # noqa: SIM118  # no mapping


def _word(name: str) -> str:
    return _WORDS.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
