"""The notes of a prim: documentation, comment, custom data, asset info. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from pxr import Sdf, Usd

from dcc_bridge.spi import Value

from ..coercion import plain
from ..facts import composed

_TEXTS: Final = ("documentation", "comment")
_DICTIONARIES: Final = {"custom_data": "customData", "asset_info": "assetInfo"}
"""USD's own names of the dictionaries."""
NOTES: Final = (*_TEXTS, *_DICTIONARIES)
"""The properties: documentation, comment, custom_data, asset_info."""
_LARGEST: Final = 2**63 - 1


def is_note(prop: str) -> bool:
    """Return whether a property is one of `NOTES`, or an entry of one: "custom_data:shot:take"."""
    name, _, entry = prop.partition(":")
    return prop in NOTES or (name in _DICTIONARIES and bool(entry))


def note(prim: Usd.Prim, prop: str) -> Value:
    """Return one of `NOTES` of a prim, or an entry of one; what the type of the prim says is none.

    Args:
        prim: The prim.
        prop: A property of which `is_note` is true.
    """
    if prop in _TEXTS:
        text = str(prim.GetMetadata(prop) or "") if prim.HasAuthoredMetadata(prop) else ""
        return Value(text, "string", is_default=not text)
    name, _, entry = prop.partition(":")
    held = _entry(_dictionary(prim, name), entry)
    kind = "dictionary" if isinstance(held, Mapping) else "entry"
    return Value(plain(held), kind, is_default=not held and held in (None, {}))


def notes(prim: Usd.Prim) -> dict[str, Value]:
    """Return those of `NOTES` that a prim has."""
    values = {name: note(prim, name) for name in NOTES}
    return {name: value for name, value in values.items() if not value.is_default}


def set_note(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Set one of `NOTES`, or an entry of one; nothing, as None, "" or {}, clears it.

    Raises:
        ValueError: The value does not fit, or another layer, which is named, holds another one.
    """
    if prop in _TEXTS:
        _set_text(prim, prop, value)
    else:
        name, _, entry = prop.partition(":")
        wanted = value
        if entry:
            wanted = _with_entry(_own_dictionary(prim, name), entry.split(":"), value)
        _set_dictionary(prim, name, {} if wanted is None else wanted)
    now = note(prim, prop)
    is_cleared = now.is_default and value in (None, "", {})
    if not is_cleared and now.value != value:
        where = _holding(prim, prop)
        raise ValueError(f"{prop} of {prim.GetPath()} is held by {where}: {now.value!r}.")


def _holding(prim: Usd.Prim, prop: str) -> str:
    """Return the strongest layer that holds one of `NOTES` beside the edit target, in words."""
    name, _, entry = prop.partition(":")
    field = _DICTIONARIES.get(name, name)
    own = prim.GetStage().GetEditTarget().GetPrimSpecForScenePath(prim.GetPath())
    for spec in prim.GetPrimStack():
        if spec != own and spec.HasInfo(field) and _entry(spec.GetInfo(field), entry) is not None:
            return f"the layer {spec.layer.GetDisplayName()}"
    return "another layer"


def _entry(held: Any, entry: str) -> Any:
    """Return an entry of a dictionary, such as "shot:take"; the whole for "", None for nothing."""
    for key in entry.split(":") if entry else ():
        held = held.get(key) if isinstance(held, Mapping) else None
    return held


def _set_text(prim: Usd.Prim, name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is a text, not {value!r}.")
    if value:
        prim.SetMetadata(name, value)
    else:
        prim.ClearMetadata(name)


def _set_dictionary(prim: Usd.Prim, name: str, value: Any) -> None:
    """Set a whole dictionary of a prim."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is an object of entries, such as {{'take': 3}}, not {value!r}.")
    field = _DICTIONARIES[name]
    if value:
        prim.SetMetadata(field, _typed(value, _dictionary(prim, name), name))
    else:
        prim.ClearMetadata(field)


def _dictionary(prim: Usd.Prim, name: str) -> dict[str, Any]:
    """Return a dictionary of a prim, without what its type has."""
    field = _DICTIONARIES[name]
    if not prim.HasAuthoredMetadata(field):
        return {}
    return dict(composed(prim.GetPrimStack()).get(field, {}))


def _own_dictionary(prim: Usd.Prim, name: str) -> Mapping[str, Any]:
    """Return a dictionary of a prim in the layer that edits go to.

    What other layers and referenced files hold is not copied there, and goes on following them.
    """
    spec: Any = prim.GetStage().GetEditTarget().GetPrimSpecForScenePath(prim.GetPath())
    field = _DICTIONARIES[name]
    if not spec or not spec.HasInfo(field):
        return {}
    return dict(spec.GetInfo(field))


def _with_entry(before: Mapping[str, Any], keys: list[str], value: Any) -> dict[str, Any]:
    """Return a dictionary as JSON has it with another value of one entry; None removes the entry.

    Args:
        before: The dictionary.
        keys: The key of the entry, behind the keys of the dictionaries that it is in.
        value: The new value.
    """
    entries = dict(plain(before))
    key, *inner = keys
    if inner:
        held = before.get(key)
        value = _with_entry(held if isinstance(held, Mapping) else {}, inner, value)
    entries.pop(key, None)
    if value is not None and value != {}:
        entries[key] = value
    return entries


def _typed(value: Any, before: Any, name: str) -> Any:
    """Return a value as USD holds it in a dictionary, of the type that it had before if it fits.

    Args:
        value: The value as JSON has it.
        before: The value that was there; None for nothing.
        name: The entry, for an error.

    Raises:
        ValueError: USD cannot hold the value.
    """
    if isinstance(value, dict):
        if "" in value:
            raise ValueError(f"An entry of {name} has no name.")
        held = before if isinstance(before, Mapping) else {}
        return {key: _typed(part, held.get(key), f"{name}:{key}") for key, part in value.items()}
    if before is not None and plain(before) == value:
        return before
    if isinstance(value, str):
        return Sdf.AssetPath(value) if isinstance(before, Sdf.AssetPath) else value
    if isinstance(value, list):
        return _array(value, name)
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    raise ValueError(f"{name} cannot be {value!r} in a dictionary of USD.")


def _array(values: list[Any], name: str) -> list[Any]:
    """Return an array of one type, as USD has it."""
    for kind in (bool, int, float, str):
        same = [each for each in values if isinstance(each, kind)]
        if same and len(same) == len(values):
            return values
    numbers = [each for each in values if isinstance(each, int | float)]
    if values and len(numbers) == len(values):
        return [float(number) for number in numbers]
    raise ValueError(f"{name} is a list of texts, of numbers or of true and false, one at least.")
