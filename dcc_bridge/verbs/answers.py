"""What the verbs answer: the first rows of each list, and values in few words. Main thread."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from dcc_bridge.skills.skill import report_done
from dcc_bridge.verbs.operations import Value

LISTED: Final = 100  # rows of an answer; the rest is counted
_NAMED: Final = 10  # errors that one sentence holds
MAX_ELEMENTS: Final = 24  # elements of a list within an answer
_MOST_TEXT: Final = 600  # characters of a text within an answer
Json = dict[str, Any]


class Told(dict[str, Any]):
    """What a verb tells; `every` has the items of which it lists the first ones."""

    every: Sequence[str] = ()


def result(items: Sequence[str], did: str = "", **facts: Any) -> Told:
    """Tell of items, by rows that name them if there are such; of each list the first rows.

    `did` is what a person reads; `found` is how many items there are, or rows, where that is given.
    """
    if did:
        report_done(did)
    rest = max(0, facts.get("found", len(items)) - LISTED)
    lazy = {
        name: list(islice(it, LISTED)) for name, it in facts.items() if isinstance(it, Iterator)
    }
    left = {f"{name}_left_out": rest for name in lazy if rest}
    told = Told(first_rows({"found": len(items), **facts, **lazy, **left}, LISTED))
    rows = [row for it in told.values() if isinstance(it, list) for row in it]
    values = [it.values() if isinstance(it, dict) else it for it in rows]
    parts = [it for it in values if not isinstance(it, str | int | float)]
    named = {it for part in parts for it in part if isinstance(it, str)}
    if not items or not named.issuperset(items[:LISTED]):
        told |= first_rows({"items": [*items]}, LISTED)
    told.every = items
    return told


def first_rows(facts: Mapping[str, Any], most: int) -> Json:
    """Keep the first rows of each list, and say how many are left out."""
    told = dict(facts)
    for name, rows in facts.items():
        if isinstance(rows, list) and len(rows) > most:
            more = {f"{name}_left_out": facts.get(f"{name}_left_out", 0) + len(rows) - most}
            told |= {name: rows[:most], **({"listed": most} if "listed" in facts else more)}
    return told


def refuse(errors: Sequence[str]) -> None:
    """Refuse what is wrong in any of its entries, and name them."""
    if errors:
        more = f" And {len(errors) - _NAMED} more." if len(errors) > _NAMED else ""
        raise ValueError(" ".join(errors[:_NAMED]) + more)


def shown(value: Any) -> Any:
    """Shorten a value for an answer: six digits, so many elements, so many characters."""
    match value:
        case Value():
            return shown(value.value)
        case float():
            return float(f"{value:.6g}") if math.isfinite(value) else str(value)
        case str() if len(value) > _MOST_TEXT:
            start = re.sub(r"\s\S{0,40}$", "", value[:_MOST_TEXT])  # no half a word
            return f"{start}... ({len(value)} characters)"
        case Mapping():
            more = len(value) - MAX_ELEMENTS
            rest = {"...": f"{more} more"} if more > 0 else {}
            return {str(key): shown(it) for key, it in islice(value.items(), MAX_ELEMENTS)} | rest
        case list() | tuple():
            more = len(value) - MAX_ELEMENTS
            return [
                *map(shown, value[:MAX_ELEMENTS]),
                *([f"... {more} more"] if more > 0 else []),
            ]
    return value
