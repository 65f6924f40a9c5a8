"""The values of scripted objects, which FreeCAD's own undo may leave wrong. Main thread.

A *scripted* object has a ``Proxy`` in Python, whose ``onChanged`` keeps its properties in step with
each other: the start and the points of a Draft wire. FreeCAD's undo sets one property after the
other and calls the script after each, which then changes others once more: a wire that was moved
has other points after the undo (measured in 0.20.2). So the values are noted here, and set again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import FreeCAD

from .parts import ObjectKey, find_by_key, key_of

_PLAIN: Final = (
    *(bool, int, float, str),
    *(FreeCAD.Vector, FreeCAD.Placement, FreeCAD.Rotation, FreeCAD.Units.Quantity),
)
"""The types of values that are noted, alone or in a list. Shapes are computed from them."""
_NOT_NOTED: Final = ("Visibility",)  # a person may change it beside undo
_MAX_ELEMENTS: Final = 20_000  # of a list that is noted
_MAX_ROUNDS: Final = 3  # a script may answer to a value that is set with another one

Values = Mapping[ObjectKey, Mapping[str, Any]]
"""The values of objects, by property."""


class ScriptedNotes:
    """Notes the values of scripted objects before they change in a transaction."""

    def __init__(self) -> None:
        self._before: dict[ObjectKey, dict[str, Any]] = {}

    def begin(self) -> None:
        """Forget the notes."""
        self._before.clear()

    def note(self, obj: Any) -> None:
        """Note the values of an object that is about to change for the first time."""
        if getattr(obj, "Proxy", None) is None:
            return
        key = key_of(obj)
        if key not in self._before:
            self._before[key] = _values(obj)

    def put_back(self) -> None:
        """Set all values as they were noted."""
        put_back(self._before)

    def take(self, document: str) -> Values:
        """Return what was noted in a document, and forget it."""
        keys = [key for key in self._before if key[0] == document]
        return {key: self._before.pop(key) for key in keys}


def put_back(values: Values) -> None:
    """Set the values of those objects that still exist, where they differ."""
    for key, noted in values.items():
        obj = find_by_key(key)
        if obj is not None:
            _put_back(obj, noted)


def _put_back(obj: Any, noted: Mapping[str, Any]) -> None:
    for _ in range(_MAX_ROUNDS):
        now = _values(obj)
        differing = [name for name in noted if name in now and now[name] != noted[name]]
        if not differing:
            return
        for name in differing:
            # A script may refuse a value, or the property be computed.
            with suppress(AttributeError, RuntimeError, TypeError, ValueError):
                setattr(obj, name, noted[name])


def _values(obj: Any) -> dict[str, Any]:
    values = {}
    for name in obj.PropertiesList:
        if name in _NOT_NOTED:
            continue
        value = getattr(obj, name, None)
        if _is_noted(value):
            values[name] = value
    return values


def _is_noted(value: Any) -> bool:
    if not isinstance(value, list | tuple):
        return isinstance(value, _PLAIN)
    return len(value) <= _MAX_ELEMENTS and all(isinstance(each, _PLAIN) for each in value)
