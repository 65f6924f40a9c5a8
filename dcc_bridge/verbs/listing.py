"""Finding, testing and sorting items for list_items, and the rows of its answer. Main thread."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from heapq import nlargest, nsmallest
from itertools import chain, islice, product
from typing import Any, Final

from dcc_bridge import track
from dcc_bridge.verbs.answers import MAX_ELEMENTS, VerbResult, shown
from dcc_bridge.verbs.names import MAX_COMPARED, no_such
from dcc_bridge.verbs.operations import HostOperations, Part
from dcc_bridge.verbs.ports import Building
from dcc_bridge.verbs.unreadable import box_of_item, readable

_MAX_COUNTED: Final = 10_000  # items whose types a summary counts, where the host does not
_PLACE: Final = ("at", "rotation", "scale")
# Fields that every item has, so that they are no properties.
_COMMON_FIELDS: Final = {"", "type", "name", "parent", *_PLACE, "bounds", "size", "center"}
_COMPARISONS: Final = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
Field = Callable[[str, str], Any]  # returns the value of an item under a name


def candidates(operations: HostOperations, uses: str, under: str) -> Iterable[str]:
    """Return the items that use something, or those below an item, or those that do both."""
    if not uses:
        return operations.items(under or None)
    users = operations.users(uses)
    if not under:
        return users
    below = set(track(operations.items(under)))
    return (item for item in users if item in below)


def is_named(operations: HostOperations, item: str, kind: str, name: str) -> bool:
    """Return whether an item's type and name match globs.

    Args:
        operations: What the host can do.
        item: One item.
        kind: A glob for the type, in any case; "" for every type.
        name: A glob for the name, or for the whole item where it has a slash.
    """
    if kind and not fnmatchcase(operations.kind(item).lower(), kind.lower()):
        return False
    if name == "*":
        return True
    if "/" in name:
        return fnmatchcase(item, name)
    return fnmatchcase(operations.name(item), name)


def listed_rows(
    operations: HostOperations,
    named: Sequence[str],
    where: Mapping[str, Any],
    columns: Sequence[str],
    sort: str,
    limit: int,
    offset: int,
) -> VerbResult:
    """Return the rows of the items that have wanted values, with a note on unknown properties."""
    # The names of the materials are looked up once, and only if a field needs them.
    materials = cache(lambda: frozenset(operations.materials()))

    def field(item: str, name: str) -> Any:
        return readable(f"{name} of {item}", _field, operations, materials, item, name)

    matches = [item for item in track(named) if _fits_all(field, item, where)]
    listed = matches
    if sort:
        listed = _sorted(field, matches, sort, offset + limit)
    listed = listed[offset : offset + limit]
    rows = [_row(field, item, columns) for item in track(listed)]
    answer = VerbResult(found=len(matches), listed=len(rows), rows=rows)
    answer.every = matches
    if named:
        properties = sorted({*where, *columns, sort.removeprefix("-")} - _COMMON_FIELDS)
        # An item that is sorted or tested has the property first, so those are tried first.
        examples = [*listed, *named[:MAX_COMPARED]]
        answer.update(_lacking(operations, properties, examples, field))
    return answer


def _fits_all(field: Field, item: str, where: Mapping[str, Any]) -> bool:
    return all(fits(field(item, name), wanted) for name, wanted in where.items())


def _row(field: Field, item: str, columns: Iterable[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"item": item}
    for name in columns:
        row[name] = shown(field(item, name))
    return row


def unknown_type(operations: HostOperations, kind: str) -> dict[str, str]:
    """Return a note where no type of that name exists; nothing where no item is of the type."""
    if not kind:
        return {}
    known = list(counts_by_type(operations))
    if isinstance(operations, Building):
        known += operations.types()
    glob = kind.lower()
    if any(fnmatchcase(name.lower(), glob) for name in known):
        return {}
    return {"note": no_such("type", kind, known) + f" Globs work: '*{kind.strip('*')}*'."}


def _lacking(
    operations: HostOperations, names: Iterable[str], items: list[str], field: Field
) -> dict[str, str]:
    """Return a note on the properties that none of the items has, with those that are near."""
    lacking = []
    for name in names:
        if all(field(item, name) is None for item in track(items)):
            lacking.append(name)
    if not lacking:
        return {}
    examples = {field(item, "type"): item for item in track(items)}
    known = _properties(operations, islice(examples.values(), MAX_ELEMENTS))
    notes = [no_such("property", name, known) for name in lacking if name not in known]
    if not notes:
        return {}
    return {"note": " ".join(notes)}


def _properties(operations: HostOperations, items: Iterable[str]) -> list[str]:
    """Return the names of the values and the counts that items have."""
    parts: Sequence[Part] = ("values", "counts")
    names: list[str] = []
    for item, part in product(items, parts):
        names += readable(f"{part} of {item}", operations.look_into, item, part) or ()
    return names


def _field(
    operations: HostOperations, materials: Callable[[], Container[str]], item: str, name: str
) -> Any:
    """Return the value of an item under the name of a field; None where it has no such field."""
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
        case "uses":
            return list(operations.look_into(item, "uses") or ())
        case "material":
            used = operations.look_into(item, "uses") or ()
            return [thing for thing in used if thing in materials()]
    with suppress(LookupError, ValueError):
        return operations.value(item, name).value
    counts = operations.look_into(item, "counts") or {}
    return counts.get(name)


def _of_bounds(operations: HostOperations, item: str, name: str) -> list[Any] | None:
    bounds = box_of_item(operations, item)
    if bounds is None:
        return None
    low, high = bounds
    if name == "bounds":
        return [list(low), list(high)]
    if name == "size":
        return [b - a for a, b in zip(low, high, strict=True)]
    return [(b + a) * 0.5 for a, b in zip(low, high, strict=True)]


def fits(value: Any, wanted: Any) -> bool:
    """Return whether a value is the wanted value.

    Args:
        value: A value of an item; of a list, one of its elements may be the wanted value.
        wanted: A value, a glob, or a text such as ">2", "<=0.5" or "!=x".
    """
    if isinstance(wanted, str):
        if wanted.startswith("!="):
            return not fits(value, _number(wanted[2:].strip()))
        for sign, is_met in _COMPARISONS.items():
            if wanted.startswith(sign):
                return _is_met(is_met, value, wanted.removeprefix(sign))
        if isinstance(value, str):
            return fnmatchcase(value, wanted)
        if isinstance(value, list | tuple):
            return any(fits(element, wanted) for element in value)
    return _is_equal(value, wanted)


def _is_met(comparison: Callable[[Any, Any], Any], value: Any, bound_text: str) -> bool:
    bound = _number(bound_text.strip())
    return _is_number(value) and _is_number(bound) and bool(comparison(value, bound))


def _is_equal(value: Any, wanted: Any) -> bool:
    """Return whether two values are equal; numbers are so within a small tolerance."""
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
    """Return the first items by a field; those without the field come last."""
    name = sort.removeprefix("-")
    keys: dict[str, Any] = {}
    for item in track(items):
        key = _sort_key(field(item, name))
        if key is not None:
            keys[item] = key
    if not all(map(_is_number, keys.values())):
        keys = {item: str(key) for item, key in track(keys.items())}
    pick = nsmallest
    if sort.startswith("-"):
        pick = nlargest
    ranked = pick(limit, track(keys), key=keys.__getitem__)
    without = (item for item in items if item not in keys)
    return list(islice(chain(ranked, without), limit))


def _sort_key(value: Any) -> Any:
    """Return what a value is sorted by; None for an item that comes last.

    A list of numbers is sorted by their product, so a size by its volume.
    """
    if not isinstance(value, list | tuple):
        return value
    if not value:
        return None
    if all(map(_is_number, value)):
        return math.prod(value)
    return str(value)


def counts_by_type(operations: HostOperations) -> dict[str, int]:
    """Return how many items there are of each type, among the first ones of a large scene."""
    counts: Counter[str] = Counter()
    for item in track(islice(operations.items(), _MAX_COUNTED)):
        kind = readable(item, operations.kind, item)
        if kind is not None:
            counts[kind] += 1
    return dict(counts.most_common())
