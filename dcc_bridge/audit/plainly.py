"""Values as a line can carry them: JSON, and not too much of it. Any thread."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any, Final

MOST_NAMES: Final = 50
"""How many things of a list are written down; the others are counted."""
_MOST_TEXT: Final = 20_000
_MOST_FIELD: Final = 65_536
_DEEPEST: Final = 8


def field(value: object) -> Any:
    """Give a value as JSON can carry it, cut where it is too much."""
    found = _plain(value, _DEEPEST)
    text = json.dumps(found)
    if len(text) <= _MOST_FIELD:
        return found
    return {"cut": text[:_MOST_TEXT], "length": len(text), "sha256": digest(found)}


def digest(value: object) -> str:
    """Give the SHA-256 of a value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def names(items: Iterable[str]) -> list[str]:
    """Give the first names of a list."""
    return list(islice(items, MOST_NAMES))


def _plain(value: object, deep: int) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping() if deep:
            kept = islice(value.items(), MOST_NAMES)
            more = len(value) - MOST_NAMES
            cut = {"…": f"and {more:,} more"} if more > 0 else {}
            return {str(name): _plain(one, deep - 1) for name, one in kept} | cut
        case list() | tuple() | set() | frozenset() if deep:
            kept_items = [_plain(one, deep - 1) for one in islice(value, MOST_NAMES)]
            more = len(value) - MOST_NAMES
            return [*kept_items, f"… and {more:,} more"] if more > 0 else kept_items
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}… ({len(text):,} characters)"
