"""Tells of one item for `inspect`: what differs from the default, or one value at length.

Main thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, Final

from dcc_bridge.verbs.answers import MAX_ELEMENTS, at_length, none_from, shown
from dcc_bridge.verbs.operations import SCENE, HostOperations, Part, Value
from dcc_bridge.verbs.ports import Computing
from dcc_bridge.verbs.scene import read
from dcc_bridge.verbs.unreadable import beside, box_of_item, is_sentence, noting, readable, tried

_MAX_VALUES: Final = 120  # properties of one item
_MOST_ELEMENTS: Final = 2000  # of one value that is told at length
_LINK: Final = ("from", "out", "to", "in")
_PLACE: Final = ("at", "rotation", "scale")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The choice of what is told of each item.

    Attributes:
        parts: Which parts.
        names: Globs on the names of values; none of them stands for all.
        all: Values at their default are told too.
        offset: The element, or character, with which long values and texts begin.
    """

    parts: Sequence[Part]
    names: Sequence[str] = ()
    all: bool = False
    offset: int = 0

    @property
    def is_long(self) -> bool:
        """Whether values are told at length."""
        return bool(self.names) or self.offset > 0


def inspected(operations: HostOperations, item: str, wanted: Wanted) -> dict[str, Any]:
    """Return what there is to tell of one item, which is not the scene."""
    kind, why = tried(operations.kind, item)
    if why:
        return {"item": item, "error": why}
    facts: dict[str, Any] = {"item": item, "type": kind}
    with noting() as found:
        if isinstance(operations, Computing):
            fault = readable("error", operations.fault, item)
            if fault:
                facts["error"] = fault
        facts["parent"] = readable("parent", operations.parent, item)
        facts |= readable("place", _place, operations, item) or {}
        for part in dict.fromkeys(wanted.parts):
            facts |= readable(part, _part, operations, item, part, wanted) or {}
    beside(facts, found)
    return facts


def _place(operations: HostOperations, item: str) -> dict[str, Any]:
    """Return the placement of an item; nothing where it has none."""
    try:
        placement = operations.placement(item)
    except ValueError as error:
        if is_sentence(error):
            return {}
        raise
    return {name: shown(getattr(placement, name)) for name in _PLACE}


def _part(operations: HostOperations, item: str, part: Part, wanted: Wanted) -> dict[str, Any]:
    """Return one part of an item by its name; nothing where the item has none of it."""
    if part == "values" and wanted.names:
        known = operations.look_into(item, "values") or {}
        return named_values(operations, item, known, wanted)
    value = _part_value(operations, item, part)
    if not value:
        return {}
    if part == "values":
        return told_values(value, wanted)
    if part == "inputs":
        value = [dict(zip(_LINK, astuple(link), strict=True)) for link in value]
        if not wanted.is_long:
            return {part: value}
    return {part: _told(value, wanted)}


def _part_value(operations: HostOperations, item: str, part: Part) -> Any:
    if part == "bounds":
        return box_of_item(operations, item)
    return operations.look_into(item, part)


def _told(value: Any, wanted: Wanted) -> Any:
    """Return a value at length if that is wanted, else its beginning."""
    if wanted.is_long:
        return at_length(value, wanted.offset, _MOST_ELEMENTS)
    return shown(value)


def told_values(values: Mapping[str, Value], wanted: Wanted) -> dict[str, Any]:
    """Return the first properties that are not at their default, and why some are held."""
    others = values
    if not wanted.all:
        others = {name: value for name, value in values.items() if not value.is_default}
    first = dict(islice(others.items(), _MAX_VALUES))
    facts: dict[str, Any] = {}
    if first:
        facts["values"] = {name: _told(value, wanted) for name, value in first.items()}
    held = {name: value.held for name, value in values.items() if value.held}
    if held:
        facts["held"] = held
    if len(others) > len(first):
        facts["values_left_out"] = len(others) - len(first)
    at_default = len(values) - len(others)
    if at_default:
        facts["left_out"] = f"{at_default} values at their default: all=true"
    return facts


def named_values(
    operations: HostOperations, item: str, known: Iterable[str], wanted: Wanted
) -> dict[str, Any]:
    """Return the properties of some names, at length; a name alone may be any property.

    Args:
        operations: The host's operations.
        item: The item, or the scene.
        known: The names that globs are compared with.
        wanted: The names and globs.
    """
    names: dict[str, None] = {}
    for glob in wanted.names:
        found = [name for name in known if fnmatchcase(name, glob)]
        names |= dict.fromkeys(found or [glob])
    values: dict[str, Any] = {}
    held: dict[str, str] = {}
    for name in names:
        try:
            value = read(operations, item, name)
            values[name] = _elements(operations, item, name, value, wanted.offset)
        except (LookupError, ValueError) as error:
            values[name] = {"error": str(error)}
            continue
        if value.held:
            held[name] = value.held
    if held:
        return {"values": values, "held": held}
    return {"values": values}


def _elements(operations: HostOperations, item: str, name: str, value: Value, offset: int) -> Any:
    """Return a value at length, also one of which `HostOperations.value` gives the beginning."""
    elements = None
    if item != SCENE:
        elements = operations.elements(item, name, offset, _MOST_ELEMENTS)
    if elements is None:
        return at_length(value.value, offset, _MOST_ELEMENTS)
    count, part = elements
    if offset and offset >= count:
        return none_from(offset, count)
    if count <= MAX_ELEMENTS and not offset:
        return shown(part)
    return {"found": count, "offset": offset, "listed": len(part), "elements": at_length(part)}
