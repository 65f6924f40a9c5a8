"""The verbs that tell what there is: summary, list_items, inspect. Main thread.

What grows with the scene is walked with `track`, so that the host paints meanwhile, and what is
told of it has a limit that the answer names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from dcc_bridge import skill, track
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import shown
from dcc_bridge.verbs.inspecting import Wanted, inspected, named_values, told_values
from dcc_bridge.verbs.listing import candidates, counts_by_type, is_named, listed_rows, unknown_type
from dcc_bridge.verbs.operations import SCENE, SCENE_PROPS, HostOperations, Part
from dcc_bridge.verbs.scene import scene_value, scene_values
from dcc_bridge.verbs.unreadable import readable

_PARTS: Final[tuple[Part, ...]] = ("values", "uses", "bounds", "counts")


def verbs(operations: HostOperations) -> list[Callable[..., Any]]:
    """Return the verbs that tell what there is."""

    @skill(title="Summary of the scene", risk="read")
    def summary() -> outputs.Summary:
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
        offset: int = 0,
    ) -> outputs.ListedItems:
        """Find items by type, name, place, material or value.

        Args:
            type: Glob.
            name: Glob; with a slash, on the whole item.
            under: An item.
            uses: Material, file or item.
            where: {prop: value}; also ">2", "!=x", a glob.
            fields: size, center, bounds, at, rotation, scale, parent, uses, material,
                faces, any property.
            sort: Field, or "-size".
            limit: Of rows.
            offset: Of rows.
        """
        if not 1 <= limit <= 1000:
            raise ValueError(f"limit is 1 to 1000, not {limit}.")
        _check_offset(offset)
        named = _named(operations, candidates(operations, uses, under), type, name)
        columns = _columns(type, fields)
        answer = listed_rows(operations, named, where, columns, sort, limit, offset)
        if not named:
            answer.update(unknown_type(operations, type))
        return answer

    @skill(title="Inspect items", risk="read")
    def inspect(
        items: list[str],
        parts: list[Part] = [*_PARTS],
        names: list[str] = [],
        all: bool = False,
        offset: int = 0,
    ) -> outputs.InspectedItems:
        """Tell exact values, inputs, uses, keys, bounds and texts of items, 20 at most.

        held: why a plain write is refused. Bounds are of the world.

        Args:
            items: "@scene" for the scene's.
            parts: Which of them.
            names: Only these values, at length; globs.
            all: Also defaults.
            offset: Where long values go on.
        """
        if not 1 <= len(items) <= 20:
            raise ValueError(f"Give 1 to 20 items, not {len(items)}.")
        wanted = _wanted(parts, names, all, offset)
        return {"items": [_inspected(operations, item, wanted) for item in track(items)]}

    return [summary, list_items, inspect]


def _wanted(parts: Sequence[Part], names: Sequence[str], all: bool, offset: int) -> Wanted:
    """Return what `inspect` tells of each item."""
    _check_offset(offset)
    if names:
        return Wanted(["values"], names, True, offset)
    if offset and len(set(parts)) != 1:
        raise ValueError("offset goes with names, or with one of parts, such as text.")
    return Wanted(parts, names, all, offset)


def _check_offset(offset: int) -> None:
    if offset < 0:
        raise ValueError(f"offset is 0 or more, not {offset}.")


def _named(operations: HostOperations, items: Iterable[str], type: str, name: str) -> list[str]:
    """Return those of some items whose type and name match globs."""
    return [item for item in track(items) if readable(item, is_named, operations, item, type, name)]


def _columns(type: str, fields: list[str]) -> list[str]:
    """Return the columns of rows: the type is one of them where it may differ."""
    if not type or "*" in type:
        return ["type", *fields]
    return fields


# ---- summary


def scene_summary(operations: HostOperations) -> dict[str, Any]:
    """Describe a scene: the facts that the host gives, in the same words everywhere."""
    facts: dict[str, Any] = dict(readable("summary", operations.host.summary) or {})
    facts["up"] = operations.up
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
        value = readable(prop, scene_value, operations, prop)
        if value is not None:
            values[prop] = shown(value)
    return values


# ---- inspect


def _inspected(operations: HostOperations, item: str, wanted: Wanted) -> dict[str, Any]:
    """Return what there is to tell of one item."""
    if item == SCENE:
        values = scene_values(operations)
        if wanted.names:
            return {"item": SCENE, **named_values(operations, SCENE, values, wanted)}
        return {"item": SCENE, **told_values(values, wanted)}
    return inspected(operations, item, wanted)
