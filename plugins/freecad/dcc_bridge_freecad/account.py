"""The account of an undo step: which values of objects it moved. Main thread.

FreeCAD calls before a property changes. So the value of each property is noted once, before its
first change in the step, and compared with that of now; properties that did not change are never
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from dcc_bridge.spi import value_change

from .document import plain
from .edge_references import told_edges
from .parts import CELLS, ObjectKey, find_by_key, is_cell, key_of, parts_of

_MAX_COMPARED: Final = 200  # properties of a step whose values are compared
_MAX_NOTED: Final = 10_000  # properties of a step that are noted
_MAX_READ: Final = 25  # changes whose values are told; an answer names 20 at most
_NOT_TOLD: Final = frozenset({"Shape", "Label2"})  # of which the host writes the second
_COMPUTED: Final = re.compile("PartShape|Kernel|Python|Points")  # types that FreeCAD computes
_LISTS: Final = ("App::PropertyExpressionEngine", "Sketcher::PropertyConstraintList")
_GEOMETRY: Final = "Part::PropertyGeometryList"
_SHEET: Final = "Spreadsheet::PropertySheet"
_UNREAD: Final = object()  # nobody writes such a value
_TOO_MANY: Final = object()  # more values than are compared changed before this one


class StepValues:
    """Notes the values that a step may change, and tells which ones it changed."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget the step before, and begin to note a new one."""
        self._before: dict[tuple[ObjectKey, str], Any] = {}
        self._is_told: dict[tuple[str, str], bool] = {}  # by the type of object and the property

    def note(self, obj: Any, prop: str) -> None:
        """Note the value of a property, before it changes for the first time."""
        if prop in _NOT_TOLD or len(self._before) >= _MAX_NOTED:
            return
        place = key_of(obj), prop
        if place in self._before:
            return
        if len(self._before) < _MAX_COMPARED:
            self._before[place] = _value(obj, prop)
            return
        kind = obj.TypeId, prop
        if kind not in self._is_told:
            self._is_told[kind] = _is_told(obj, prop)
        if self._is_told[kind]:
            self._before[place] = _TOO_MANY

    def leave_out(self, obj: Any, prop: str) -> None:
        """Tell nothing of a property that is about to change, unless it has changed before."""
        self._before.setdefault((key_of(obj), prop), _UNREAD)

    def changes(self, made: set[tuple[str, str]]) -> Iterator[str]:
        """Yield an entry for each value that differs now.

        Args:
            made: The objects that the step made, by document and name: their values are as made.
        """
        told = 0
        for (key, prop), before in self._before.items():
            if before is _UNREAD or key[:2] in made:
                continue
            if before is _TOO_MANY:
                yield f"{key[1]}, {prop}"
                continue
            obj = find_by_key(key)
            if obj is None:
                continue
            now = _value(obj, prop)
            if now is _UNREAD or now == before:
                continue
            told += 1
            if told > _MAX_READ:
                yield f"{key[1]}, {prop}"
            else:
                yield value_change(key[1], _word(prop), before, now)


def _word(prop: str) -> str:
    """Return the name of a property for an agent."""
    if prop == "ExpressionEngine":
        return "expressions"
    return prop


def _is_told(obj: Any, prop: str) -> bool:
    """Return whether a person writes a property, and FreeCAD does not compute it."""
    if prop.startswith("_") or prop not in obj.PropertiesList:
        return False
    return not is_cell(obj, prop) and not _COMPUTED.search(obj.getTypeIdOfProperty(prop))


def _value(obj: Any, prop: str) -> Any:
    """Return the value of a property as JSON carries it, or `_UNREAD`."""
    if not _is_told(obj, prop):
        return _UNREAD
    kind = str(obj.getTypeIdOfProperty(prop))
    if kind == _SHEET or prop == CELLS:
        return _cells(obj)
    if kind in _LISTS:
        return _entries(getattr(obj, prop))
    if kind == _GEOMETRY:
        return f"{len(getattr(obj, prop))} curves"
    edges = told_edges(obj, prop)
    if edges is not None:
        return edges
    return plain(getattr(obj, prop))


def _cells(obj: Any) -> dict[str, Any]:
    """Return the contents of a sheet's cells by their addresses, and the aliases."""
    cells: dict[str, Any] = {}
    for part in parts_of(obj, CELLS):
        if isinstance(part.content, tuple):
            cells[part.words.removeprefix("cell ")] = part.content[-1]
    return cells


def _entries(values: Any) -> dict[str, Any]:
    """Return expressions by their paths, or constraints by their names or numbers."""
    entries: dict[str, Any] = {}
    for number, value in enumerate(values):
        if isinstance(value, tuple):
            path, text = value[:2]
            entries[path.lstrip(".")] = text
        else:
            entries[value.Name or str(number)] = [value.Type, value.Value]
    return entries
