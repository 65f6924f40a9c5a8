"""The values of scripted objects, which FreeCAD's own undo may leave wrong. Main thread.

A *scripted* object has a ``Proxy`` in Python, whose ``onChanged`` keeps its properties in step with
each other: the start and the points of a Draft wire. FreeCAD's undo sets one property after the
other and calls the script after each, which then changes others once more: a wire that was moved
has other points after the undo (measured in 0.20.2). So the values are noted here, and set again:
those that the transaction changed, and those that only the undo did. What a person has changed
since, beside undo, stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

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

Values = Mapping[str, Any]
"""The values of an object, by property."""


class Noted(NamedTuple):
    """The acts of a transaction on an object.

    Attributes:
        values: All values before the transaction.
        changed: The properties whose values it changed.
    """

    values: Values
    changed: frozenset[str]


Notes = Mapping[ObjectKey, Noted]
"""The acts of a transaction on scripted objects."""


class ScriptedNotes:
    """Notes the values of scripted objects before they change in a transaction."""

    def __init__(self) -> None:
        self._before: dict[ObjectKey, Values] = {}

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
        """Set all values as they were noted, after the transaction was aborted."""
        for key, values in self._before.items():
            obj = find_by_key(key)
            if obj is not None:
                _put_back(obj, values)

    def mend(self, notes: Notes) -> None:
        """Set what an undo should have set and what it should not have, from these notes of before.

        Args:
            notes: What the undone transaction did.
        """
        for key, noted in notes.items():
            obj = find_by_key(key)
            just_before = self._before.get(key)
            if obj is not None and just_before is not None:
                _put_back(obj, _wanted(noted, just_before))

    def take(self, document: str) -> Notes:
        """Return what happened to the noted objects of a document, and forget them."""
        keys = [key for key in self._before if key[0] == document]
        return {key: _noted(key, self._before.pop(key)) for key in keys}


def _noted(key: ObjectKey, before: Values) -> Noted:
    obj = find_by_key(key)
    if obj is None:
        return Noted(before, frozenset(before))  # it was deleted, so nobody else can change it
    return Noted(before, frozenset(_differing(obj, before)))


def _wanted(noted: Noted, just_before: Values) -> Values:
    """Return the values to put back: none that somebody else has changed since."""
    wanted = {}
    for name, value in noted.values.items():
        is_same = name in just_before and just_before[name] == value
        if is_same or name in noted.changed:
            wanted[name] = value
    return wanted


def _differing(obj: Any, values: Values) -> list[str]:
    """Return the properties that have another value now."""
    now = _values(obj)
    return [name for name in values if name in now and now[name] != values[name]]


def _put_back(obj: Any, values: Values) -> None:
    for _ in range(_MAX_ROUNDS):
        differing = _differing(obj, values)
        if not differing:
            return
        for name in differing:
            # A script may refuse a value, or the property be computed.
            with suppress(AttributeError, RuntimeError, TypeError, ValueError):
                setattr(obj, name, values[name])


def _values(obj: Any) -> dict[str, Any]:
    values = {}
    for name in obj.PropertiesList:
        if name in _NOT_NOTED:
            continue
        try:
            value = getattr(obj, name)
        except Exception:  # noqa: BLE001 - a property that cannot be read may raise anything
            continue
        if _is_noted(value):
            values[name] = value
    return values


def _is_noted(value: Any) -> bool:
    if not isinstance(value, list | tuple):
        return isinstance(value, _PLAIN)
    return len(value) <= _MAX_ELEMENTS and all(isinstance(each, _PLAIN) for each in value)
