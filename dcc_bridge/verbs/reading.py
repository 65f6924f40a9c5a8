"""The verbs that tell what there is: summary, list_items, inspect. Main thread.

What grows with the scene is walked with `track`, so that the host paints meanwhile, and what is
told of it has a limit that the answer names.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from fnmatch import fnmatchcase
from functools import cache, partial
from heapq import nlargest, nsmallest
from itertools import chain, islice
from typing import Any, Final

from dcc_bridge import skill, track
from dcc_bridge.verbs.answers import MAX_ELEMENTS, Told, shown
from dcc_bridge.verbs.names import MAX_COMPARED, no_such
from dcc_bridge.verbs.operations import SCENE, HostOperations, Part, Value
from dcc_bridge.verbs.ports import Building

_MOST_COUNTED: Final = 10_000  # items whose types a summary counts, where the host does not
_MOST_VALUES: Final = 120  # properties of one item
_SCENE_VALUES: Final = ("frame", "start", "end", "fps", "camera", "size", "units")
_LINK: Final = ("from", "out", "to", "in")
_PARTS: Final[tuple[Part, ...]] = ("values", "uses", "bounds", "counts")
_PLACE: Final = ("at", "rotation", "scale")
_OF_ALL: Final = {"", "type", "name", "parent", *_PLACE, "bounds", "size", "center"}  # no property
_IS: Final = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
Field = Callable[[str, str], Any]  # what an item has under a name


def verbs(operations: HostOperations) -> list[Callable[..., Any]]:
    """Make the verbs that tell what there is."""

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
        candidates = operations.users(uses) if uses else operations.items(under or None)
        if uses and under:
            candidates = filter({*track(operations.items(under))}.__contains__, candidates)
        # what has to be looked for in the whole scene is looked for once
        field = partial(_field, operations, cache(lambda: frozenset(operations.materials())))
        named = [it for it in track(candidates) if _is_named(operations, it, type, name)]
        matches = [it for it in track(named) if all(fits(field(it, n), where[n]) for n in where)]
        listed = _sorted(field, matches, sort, limit) if sort else matches[:limit]
        has = fields if type and "*" not in type else ["type", *fields]
        rows = [{"item": it} | {n: shown(field(it, n)) for n in has} for it in track(listed)]
        asked = sorted({*where, *fields, sort.removeprefix("-")} - _OF_ALL)
        some = [*listed, *named[:MAX_COMPARED]]  # what is sorted or tested has it first
        note = (
            _lacking(operations, asked, some, field) if named else _unknown_type(operations, type)
        )
        told = Told(found=len(matches), listed=len(rows), rows=rows, **note)
        told.every = matches
        return told

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
    """Describe a scene: what the host says, in the same words everywhere."""
    facts = {**operations.host.summary(), "up": operations.up}
    facts["unsaved"] = facts.pop("modified", None)
    selection = facts.pop("selection", [])
    if "types" not in facts:
        facts["types"] = _types(operations)  # of the first ones, in a large scene
    facts |= _scene_values(operations)
    if "start" in facts and "end" in facts:
        facts["frames"] = [facts.pop("start"), facts.pop("end")]
    facts = {name: shown(value) for name, value in facts.items()}
    return {**facts, "selected": len(selection), "selection": shown(selection)}


def scene_value(operations: HostOperations, prop: str) -> Any:
    """Read a property of the scene itself; None where the host has no such."""
    with suppress(LookupError, ValueError):
        return operations.value(SCENE, prop).value
    return None


def _scene_values(operations: HostOperations) -> dict[str, Any]:
    values = ((prop, scene_value(operations, prop)) for prop in _SCENE_VALUES)
    return {prop: shown(value) for prop, value in values if value is not None}


def _types(operations: HostOperations) -> dict[str, int]:
    return dict(
        Counter(
            map(operations.kind, track(islice(operations.items(), _MOST_COUNTED)))
        ).most_common()
    )


# ---- list_items


def _is_named(operations: HostOperations, item: str, kind: str, name: str) -> bool:
    if kind and not fnmatchcase(operations.kind(item).lower(), kind.lower()):
        return False
    return name == "*" or fnmatchcase(item if "/" in name else operations.name(item), name)


def _unknown_type(operations: HostOperations, kind: str) -> dict[str, str]:
    """Say of a type that nothing has whether there is such a one."""
    known = list(_types(operations))
    if isinstance(operations, Building):
        known += operations.types()
    if not kind or any(fnmatchcase(it.lower(), kind.lower()) for it in known):
        return {}
    return {"note": no_such("type", kind, known) + f" Globs work: '*{kind.strip('*')}*'."}


def _lacking(
    operations: HostOperations, names: Iterable[str], items: list[str], field: Field
) -> dict[str, str]:
    """Say of properties that none of the items has what is near them."""
    lacking = [it for it in names if all(field(item, it) is None for item in track(items))]
    examples = {operations.kind(item): item for item in track(items if lacking else ())}
    parts: Sequence[Part] = ("values", "counts")
    known = [it for item in islice(examples.values(), MAX_ELEMENTS) for part in parts
             for it in operations.look_into(item, part) or ()]  # fmt: skip
    notes = [no_such("property", it, known) for it in lacking if it not in known]
    return {"note": " ".join(notes)} if notes else {}


def _field(
    operations: HostOperations, materials: Callable[[], Container[str]], item: str, name: str
) -> Any:
    match name:
        case "type":
            return operations.kind(item)
        case "name" | "parent":
            return getattr(operations, name)(item)
        case "at" | "rotation" | "scale":
            with suppress(ValueError):
                return list(getattr(operations.placement(item), name))
            return None
        case "bounds" | "size" | "center":
            return _of_bounds(operations, item, name)
        case "uses" | "material":
            used = operations.look_into(item, "uses") or ()
            return [it for it in used if name == "uses" or it in materials()]
    with suppress(LookupError, ValueError):
        return operations.value(item, name).value
    return (operations.look_into(item, "counts") or {}).get(name)


def _of_bounds(operations: HostOperations, item: str, name: str) -> list[Any] | None:
    if (bounds := operations.bounds(item)) is None or name == "bounds":
        return bounds and list(map(list, bounds))
    sign, share = (-1, 1.0) if name == "size" else (1, 0.5)
    return [(b + sign * a) * share for a, b in zip(*bounds, strict=True)]


def fits(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one: a glob, or a number after <, >, <=, >= or !=."""
    if isinstance(wanted, str):
        if wanted.startswith("!="):
            return not fits(value, _number(wanted[2:].strip()))
        if sign := next((it for it in _IS if wanted.startswith(it)), ""):
            bound = _number(wanted[len(sign) :].strip())
            return _is_number(value) and _is_number(bound) and bool(_IS[sign](value, bound))
        if isinstance(value, str):
            return fnmatchcase(value, wanted)
        if isinstance(value, list | tuple):
            return any(fits(it, wanted) for it in value)
    if _is_number(value) and _is_number(wanted):
        return math.isclose(value, wanted, rel_tol=1e-5, abs_tol=1e-6)
    if isinstance(value, list | tuple) and isinstance(wanted, list | tuple):
        return len(value) == len(wanted) and all(map(fits, value, wanted))
    return bool(value == wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float | str:
    with suppress(ValueError):
        return float(text)
    return text


def _sorted(field: Field, items: list[str], sort: str, limit: int) -> list[str]:
    """Give the first items by a field, those without it last; lists by how large they are."""
    name, first = sort.removeprefix("-"), nlargest if sort.startswith("-") else nsmallest
    keys: dict[str, Any] = {}
    for item in track(items):
        value = field(item, name)
        if isinstance(value, list | tuple):
            value = math.prod(value) if value and all(map(_is_number, value)) else str(value)
        if value not in (None, "[]"):
            keys[item] = value
    if not all(map(_is_number, keys.values())):
        keys = {item: str(value) for item, value in track(keys.items())}
    without = (item for item in items if item not in keys)
    return list(islice(chain(first(limit, track(keys), key=keys.__getitem__), without), limit))


# ---- inspect


def _inspected(operations: HostOperations, item: str, parts: Sequence[Part]) -> dict[str, Any]:
    if item == SCENE:
        return {"item": SCENE, "values": _scene_values(operations)}
    try:
        facts = dict[str, Any](
            item=item, type=operations.kind(item), parent=operations.parent(item)
        )
    except LookupError as error:
        return {"item": item, "error": str(error.args[0] if error.args else error)}
    with suppress(ValueError):
        placement = operations.placement(item)
        facts |= {name: shown(getattr(placement, name)) for name in _PLACE}
    for part in dict.fromkeys(parts):
        value: Any = (
            operations.bounds(item) if part == "bounds" else operations.look_into(item, part)
        )
        if part == "values" and value:
            facts |= _values(value)
        elif part == "inputs" and value:
            facts[part] = [dict(zip(_LINK, astuple(it), strict=True)) for it in value]
        elif value:
            facts[part] = shown(value)
    return facts


def _values(values: Mapping[str, Value]) -> dict[str, Any]:
    """Tell properties, and of those that are held why."""
    listed = dict(islice(values.items(), _MOST_VALUES))
    told: dict[str, Any] = {"values": {name: shown(value) for name, value in listed.items()}}
    if held := {name: value.held for name, value in values.items() if value.held}:
        told["held"] = held
    if (more := len(values) - _MOST_VALUES) > 0:
        told["values_left_out"] = more
    return told
