"""The verbs that tell what there is: summary, list_items, inspect. Main thread.

What grows with the scene is walked with `track`, so that the host paints meanwhile, and what is
told of it has a limit that the answer names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from itertools import islice
from typing import Any, Final

from dcc_bridge import skill, track
from dcc_bridge.verbs.answers import shown
from dcc_bridge.verbs.listing import candidates, counts_by_type, is_named, listed_rows, unknown_type
from dcc_bridge.verbs.operations import SCENE, SCENE_PROPS, HostOperations, Part, Value
from dcc_bridge.verbs.scene import scene_value, scene_values

_MAX_VALUES: Final = 120  # properties of one item
_LINK: Final = ("from", "out", "to", "in")
_PARTS: Final[tuple[Part, ...]] = ("values", "uses", "bounds", "counts")
_PLACE: Final = ("at", "rotation", "scale")


def verbs(operations: HostOperations) -> list[Callable[..., Any]]:
    """Return the verbs that tell what there is."""

    @skill(title="Summary of the scene", risk="read")
    def summary() -> dict[str, Any]:
        """Describe the open scene: file, units, up axis, frames, fps, counts by type, selection.

        Call this first.
        """
        return scene_summary(operations)

    @skill(title="List items", risk="read")
    def list_items(
        type: str = "",
        name: str = "*",
        under: str = "",
        uses: str = "",
        where: dict[str, Any] = {},
        fields: list[str] = [],
        sort: str = "",
        limit: int = 100,
    ) -> Any:
        """Find items by type, name, place, material or value.

        Args:
            type: Glob, in any case.
            name: Glob; with a slash in it, on the whole item.
            under: An item above.
            uses: A material, file or item.
            where: {prop: value}; also ">2", "!=x" or a glob.
            fields: Told of each: size, center, bounds, at, rotation, scale, parent, uses,
                material, faces, any property.
            sort: A field, or "-size".
            limit: Of rows.
        """
        if not 1 <= limit <= 1000:
            raise ValueError(f"limit is 1 to 1000, not {limit}.")
        every = candidates(operations, uses, under)
        named = [item for item in track(every) if is_named(operations, item, type, name)]
        columns = fields
        if not type or "*" in type:
            columns = ["type", *fields]
        answer = listed_rows(operations, named, where, columns, sort, limit)
        if not named:
            answer.update(unknown_type(operations, type))
        return answer

    @skill(title="Inspect items", risk="read")
    def inspect(items: list[str], parts: list[Part] = [*_PARTS]) -> dict[str, Any]:
        """Tell exact values, inputs, uses, keys, bounds, counts and texts of items, 20 at most.

        "held" says why a plain write of a value would be refused. Bounds are of the world.

        Args:
            items: The items; "@scene" for the scene's own values.
            parts: What is told of each.
        """
        if not 1 <= len(items) <= 20:
            raise ValueError(f"Give 1 to 20 items, not {len(items)}.")
        return {"items": [_inspected(operations, item, parts) for item in track(items)]}

    return [summary, list_items, inspect]


# ---- summary


def scene_summary(operations: HostOperations) -> dict[str, Any]:
    """Describe a scene: the facts that the host gives, in the same words everywhere."""
    facts = {**operations.host.summary(), "up": operations.up}
    facts["unsaved"] = facts.pop("modified", None)
    selection = facts.pop("selection", [])
    if "types" not in facts:
        facts["types"] = counts_by_type(operations)  # of the first ones, in a large scene
    facts |= _usual_values(operations)
    if "start" in facts and "end" in facts:
        facts["frames"] = [facts.pop("start"), facts.pop("end")]
    named_like = list(operations.named_like())
    if named_like:
        facts["named_like"] = named_like
    facts = {name: shown(value) for name, value in facts.items()}
    return {**facts, "selected": len(selection), "selection": shown(selection)}


def _usual_values(operations: HostOperations) -> dict[str, Any]:
    """Return what the scene has of the properties that most applications have."""
    values = {}
    for prop in SCENE_PROPS:
        value = scene_value(operations, prop)
        if value is not None:
            values[prop] = shown(value)
    return values


# ---- inspect


def _inspected(operations: HostOperations, item: str, parts: Sequence[Part]) -> dict[str, Any]:
    """Return what there is to tell of one item."""
    if item == SCENE:
        return {"item": SCENE, **_values(scene_values(operations))}
    facts: dict[str, Any] = {"item": item}
    try:
        facts["type"] = operations.kind(item)
        facts["parent"] = operations.parent(item)
    except LookupError as error:
        reason: object = error
        if error.args:
            reason = error.args[0]  # the text of a KeyError is its reason in quotes
        return {"item": item, "error": str(reason)}
    with suppress(ValueError):
        placement = operations.placement(item)
        for name in _PLACE:
            facts[name] = shown(getattr(placement, name))
    for part in dict.fromkeys(parts):
        facts |= _part(operations, item, part)
    return facts


def _part(operations: HostOperations, item: str, part: Part) -> dict[str, Any]:
    """Return one part of an item by its name; nothing where the item has none of it."""
    value = _part_value(operations, item, part)
    if not value:
        return {}
    if part == "values":
        return _values(value)
    if part == "inputs":
        return {part: [dict(zip(_LINK, astuple(link), strict=True)) for link in value]}
    return {part: shown(value)}


def _part_value(operations: HostOperations, item: str, part: Part) -> Any:
    if part == "bounds":
        return operations.bounds(item)
    return operations.look_into(item, part)


def _values(values: Mapping[str, Value]) -> dict[str, Any]:
    """Return the first properties, and why those are held that are."""
    first = islice(values.items(), _MAX_VALUES)
    facts: dict[str, Any] = {"values": {name: shown(value) for name, value in first}}
    held = {name: value.held for name, value in values.items() if value.held}
    if held:
        facts["held"] = held
    left_out = len(values) - _MAX_VALUES
    if left_out > 0:
        facts["values_left_out"] = left_out
    return facts
