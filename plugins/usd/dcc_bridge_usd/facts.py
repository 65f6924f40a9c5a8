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
    "references": ("reference", False),
    "payload": ("payload", False),
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
VALUES: Final = _ANIMATION | {"default"}
"""The fields that hold the values of an attribute."""


class LostPart(NamedTuple):
    """A part of an item that went.

    Attributes:
        what: The part in words: "reference shot.usda", "2 keys".
        path: The prim or property of the scene that the part led to; None for other parts.
        is_shortened: Whether a value is left, which is an array of fewer entries.
    """

    what: str
    path: Sdf.Path | None = None
    is_shortened: bool = False


class Whereabouts(NamedTuple):
    """The places to which paths and files of before the step lead now.

    Attributes:
        moved: Returns where a path is now.
        found: Returns the file that an asset path leads to; "" if there is none.
    """

    moved: Callable[[Sdf.Path], Sdf.Path]
    found: Callable[[str], str]


def composed(specs: Iterable[Any]) -> Fields:
    """Compose the fields of specs, the strongest first; the keys of all specs are in it."""
    fields: Fields = {}
    for spec in reversed(list(specs)):
        for name in spec.ListInfoKeys():
            if name in _PASSED_OVER or (name == "typeName" and not isinstance(spec, Sdf.PrimSpec)):
                continue
            value = spec.GetInfo(name)
            if name != "timeSamples":  # the strongest ones hide all others
                value = _composed_value(fields.get(name), value)
            fields[name] = value
    return fields


def _composed_value(weaker: Any, value: Any) -> Any:
    if hasattr(value, "ApplyOperations"):  # a list that is edited
        return value.ApplyOperations(weaker or [])
    if not isinstance(value, Mapping):
        return value
    entries: dict[str, Any] = {}
    if isinstance(weaker, Mapping):
        entries.update(weaker)
    for key, entry in value.items():
        entries[key] = _composed_value(entries.get(key), entry)
    return entries


def raw_fields(spec: Any) -> Fields:
    """Return all fields of a spec itself."""
    return {name: spec.GetInfo(name) for name in spec.ListInfoKeys()}


def is_retyped(before: list[Any], now: list[Any]) -> bool:
    """Return whether specs of an attribute have another type now, so that it was made again."""
    for spec in (before[0], *now[:1]):
        if not isinstance(spec, Sdf.AttributeSpec):
            return False
    return bool(now) and before[0].typeName != now[0].typeName


def lost_parts(before: Fields, now: Fields, whereabouts: Whereabouts) -> Iterator[LostPart]:
    """Yield what was there before and is not now.

    Args:
        before: The fields that an item had.
        now: The fields that it has.
        whereabouts: Where paths and files lead now.
    """
    is_animated = not _ANIMATION.isdisjoint(now)
    for name, value in before.items():
        new = now.get(name)
        if value == new or is_nothing(value) or name in _PASSED_OVER:
            continue
        if name in _LISTS:
            yield from _lost_of_list(name, value, new or [], whereabouts)
        elif name != "default":
            yield from _lost_of_field(name, value, new)
        elif not is_nothing(new):
            yield from _lost_entries("values", value, new)
        elif not is_animated:
            yield LostPart("value")


def _lost_of_field(name: str, value: Any, new: Any) -> Iterator[LostPart]:
    if name == "typeName":
        yield LostPart(f"type {value}")
    elif name == "timeSamples":
        yield from _lost_keys(value, new or {})
        yield from _lost_entries_of_keys(value, new or {})
    elif name == "spline":
        yield from _lost_keys(_knots(value), _knots(new))
    elif isinstance(value, Mapping):
        yield from _lost_of_dictionary(f"{_word(name)} ", value, new or {})
    elif is_nothing(new):
        yield LostPart(_word(name))
    else:
        yield from _lost_entries(f"values of {_word(name)}", value, new)


def _lost_of_dictionary(
    prefix: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[LostPart]:
    """Yield the entries that went, also those of dictionaries inside: "custom data shot:take".

    Args:
        prefix: The words before the name of an entry.
        before: The dictionary as it was.
        now: The dictionary as it is.
    """
    for key, value in before.items():
        new = now.get(key)
        if is_nothing(value):
            continue
        if is_nothing(new):
            yield LostPart(f"{prefix}{key}")
        elif not isinstance(value, Mapping):
            yield from _lost_entries(f"values of {prefix}{key}", value, new)
        elif isinstance(new, Mapping):
            yield from _lost_of_dictionary(f"{prefix}{key}:", value, new)
        else:
            yield LostPart(f"{prefix}{key}")


def _lost_entries(words: str, value: Any, new: Any) -> Iterator[LostPart]:
    """Yield how many entries an array has lost: "3 of 8 values"; as many others are no loss."""
    count = _count(value)
    missing = count - _count(new)
    if missing > 0:
        yield LostPart(f"{missing} of {count} {words}", is_shortened=True)


def _lost_entries_of_keys(
    before: Mapping[float, Any], now: Mapping[float, Any]
) -> Iterator[LostPart]:
    """Yield how many entries went of the arrays at keys that are still there."""
    shorter = 0
    missing = 0
    count = 0
    for time, value in before.items():
        new = now.get(time)
        if is_nothing(new):
            continue  # the key is gone
        missing_here = _count(value) - _count(new)
        if missing_here > 0:
            shorter += 1
            missing += missing_here
            count += _count(value)
    if missing:
        what = f"{missing} of {count} values at {_keys(shorter)}"
        yield LostPart(what, is_shortened=True)


def _count(value: Any) -> int:
    """Return how many entries an array has; 1 for a value that is none, such as a text."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return 1
    return len(value)


def is_nothing(value: Any) -> bool:
    """Return whether a value shows nothing: it is None, blocked or empty."""
    if value is None or isinstance(value, Sdf.ValueBlock):
        return True
    return hasattr(value, "__len__") and len(value) == 0


def _lost_of_list(
    name: str, before: list[Any], now: list[Any], whereabouts: Whereabouts
) -> Iterator[LostPart]:
    """Yield the entries that went out of a list.

    Another file in the place of a reference is a loss, unless the file was not found: that mends
    the reference.
    """
    word, is_replaced = _LISTS[name]
    has_as_many = len(now) >= len(before)
    if is_replaced and has_as_many:
        return
    identities = {_identity(entry, whereabouts) for entry in now}
    for entry in before:
        path = _leads_to(entry)
        identity = _identity(entry, whereabouts)
        if isinstance(entry, Sdf.Path):
            identity = whereabouts.moved(entry)
        elif path is not None:
            identity = ("", whereabouts.moved(path))
        if identity in identities:
            continue
        is_mended = has_as_many and _is_file(entry) and not whereabouts.found(entry.assetPath)
        if not is_mended:
            yield LostPart(f"{word} {_called(entry)}", path)


def _is_file(entry: Any) -> bool:
    """Return whether an entry of a list is a reference or payload of another file."""
    return isinstance(entry, Sdf.Reference | Sdf.Payload) and bool(entry.assetPath)


def _identity(entry: Any, whereabouts: Whereabouts) -> object:
    """Return what is equal for two entries of a list that mean the same."""
    if _is_file(entry):
        file = whereabouts.found(entry.assetPath) or entry.assetPath
        return file, entry.primPath
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
    if _is_file(entry):
        return PurePosixPath(Sdf.Layer.GetDisplayNameFromIdentifier(entry.assetPath)).name
    return str(_leads_to(entry) or entry)


def _lost_keys(before: Mapping[float, Any], now: Mapping[float, Any]) -> Iterator[LostPart]:
    """Yield how many keys went; those that stand at other times are still there."""
    left = {time: value for time, value in now.items() if not isinstance(value, Sdf.ValueBlock)}
    missing = before.keys() - left.keys()
    if not missing or list(before.values()) == list(left.values()):
        return
    yield LostPart(_keys(len(missing)))


def _keys(count: int) -> str:
    """Return a number of keys in words."""
    if count == 1:
        return "1 key"
    return f"{count} keys"


def _knots(spline: Any) -> dict[float, Any]:
    if spline is None:
        return {}
    knots = spline.GetKnots()
    return {time: knots[time].GetValue() for time in knots.keys()}  # noqa: SIM118  # no mapping


def _word(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name]
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
