"""The fields of prims, properties and layers, and their lost parts in words. Any thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from pxr import Sdf

Fields = dict[str, Any]
# Fields that are compared elsewhere, are a switch, or only say how the rest is written.
_PASSED_OVER: Final = frozenset(
    {
        *("specifier", "active", "instanceable", "hidden", "permission", "custom", "variability"),
        *("primChildren", "propertyChildren", "variantSetChildren", "variantChildren"),
        *("targetChildren", "connectionChildren", "primOrder", "propertyOrder"),
        *("subLayers", "subLayerOffsets", "layerRelocates", "allowedTokens"),
    }
)
# By the field: what a person calls an entry of its list, and whether another entry in the place
# of one is no loss.
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


class LostPart(NamedTuple):
    """A part of an item that went.

    Attributes:
        what: The part in words: "reference shot.usda", "2 keys".
        path: The prim or property of the scene that the part led to; None for other parts.
    """

    what: str
    path: Sdf.Path | None = None


def composed(specs: Iterable[Any]) -> Fields:
    """Compose the fields of specs, the strongest first; the keys of all specs are in it."""
    fields: Fields = {}
    for spec in reversed(list(specs)):
        for name in spec.ListInfoKeys():
            if name in _PASSED_OVER or (name == "typeName" and not isinstance(spec, Sdf.PrimSpec)):
                continue
            fields[name] = _composed_value(fields.get(name), spec.GetInfo(name))
    return fields


def _composed_value(weaker: Any, value: Any) -> Any:
    if hasattr(value, "ApplyOperations"):  # a list that is edited
        return value.ApplyOperations(weaker or [])
    if isinstance(value, Mapping):
        return {**(weaker or {}), **value}
    return value


def raw_fields(spec: Any) -> Fields:
    """Return all fields of a spec itself."""
    return {name: spec.GetInfo(name) for name in spec.ListInfoKeys()}


def lost_parts(
    before: Fields, now: Fields, moved: Callable[[Sdf.Path], Sdf.Path]
) -> Iterator[LostPart]:
    """Yield what was there before and is not now.

    Args:
        before: The fields that an item had.
        now: The fields that it has.
        moved: Returns where a path is now.
    """
    is_animated = not _ANIMATION.isdisjoint(now)
    for name, value in before.items():
        new = now.get(name)
        if value == new or is_nothing(value) or name in _PASSED_OVER:
            continue
        if name in _LISTS:
            yield from _lost_of_list(name, value, new or [], moved)
        elif name != "default":
            yield from _lost_of_field(name, value, new)
        elif is_nothing(new) and not is_animated:
            yield LostPart("value")


def _lost_of_field(name: str, value: Any, new: Any) -> Iterator[LostPart]:
    if name == "typeName":
        yield LostPart(f"type {value}")
    elif name == "timeSamples":
        yield from _lost_keys(value, new or {})
    elif name == "spline":
        yield from _lost_keys(_knots(value), _knots(new))
    elif isinstance(value, Mapping):
        entries = new or {}
        for key in value:
            if is_nothing(entries.get(key)):
                yield LostPart(f"{_word(name)} {key}")
    elif is_nothing(new):
        yield LostPart(_word(name))


def is_nothing(value: Any) -> bool:
    """Return whether a value shows nothing: it is None, blocked or empty."""
    if value is None or isinstance(value, Sdf.ValueBlock):
        return True
    return hasattr(value, "__len__") and len(value) == 0


def _lost_of_list(
    name: str, before: list[Any], now: list[Any], moved: Callable[[Sdf.Path], Sdf.Path]
) -> Iterator[LostPart]:
    word, is_replaced = _LISTS[name]
    if is_replaced and len(now) >= len(before):
        return
    identities = {_identity(entry) for entry in now}
    for entry in before:
        path = _leads_to(entry)
        identity = _identity(entry)
        if isinstance(entry, Sdf.Path):
            identity = moved(entry)
        elif path is not None:
            identity = ("", moved(path))
        if identity not in identities:
            yield LostPart(f"{word} {_called(entry)}", path)


def _identity(entry: Any) -> object:
    """Return what is equal for two entries of a list that mean the same."""
    if isinstance(entry, Sdf.Reference | Sdf.Payload):
        return entry.assetPath, entry.primPath
    return entry


def _leads_to(entry: Any) -> Sdf.Path | None:
    """Return the path in the scene that an entry leads to; None for any other entry."""
    if isinstance(entry, Sdf.Path):
        return entry
    if isinstance(entry, Sdf.Reference | Sdf.Payload) and not entry.assetPath:
        return Sdf.Path(entry.primPath)
    return None


def _called(entry: Any) -> str:
    """Call an entry of a list as a person does: a file by its name, the rest by its path."""
    if isinstance(entry, Sdf.Reference | Sdf.Payload) and entry.assetPath:
        return PurePosixPath(Sdf.Layer.GetDisplayNameFromIdentifier(entry.assetPath)).name
    return str(_leads_to(entry) or entry)


def _lost_keys(before: Mapping[float, Any], now: Mapping[float, Any]) -> Iterator[LostPart]:
    """Yield how many keys went; those that stand at other times are still there."""
    left = {time: value for time, value in now.items() if not isinstance(value, Sdf.ValueBlock)}
    missing = before.keys() - left.keys()
    if not missing or list(before.values()) == list(left.values()):
        return
    count = f"{len(missing)} keys" if len(missing) > 1 else "1 key"
    yield LostPart(count)


def _knots(spline: Any) -> dict[float, Any]:
    if spline is None:
        return {}
    knots = spline.GetKnots()
    return {time: knots[time].GetValue() for time in knots.keys()}  # noqa: SIM118  # no mapping


def _word(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name]
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
