"""The examples on cards of `find_api`, with items that the scene has. Main thread."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

from dcc_bridge.verbs.operations import ApiEntry, HostOperations

ANY: Final = "item"
MARKED: Final = re.compile(r'"<([^<>"]+)>"')
"""An item in an example, by the types of which it may be."""
_MAX_ITEMS: Final = 2_000  # that are looked at
_MAX_VALUE: Final = 60  # characters of a value


class Examples:
    """Names an item of the scene in each example, for one search."""

    def __init__(self, operations: HostOperations) -> None:
        self._operations = operations

    def filled(self, entry: ApiEntry) -> ApiEntry:
        """Return an entry whose example names items of the scene, where it has some that fit."""
        if not MARKED.search(entry.example):
            return entry
        return replace(entry, example=MARKED.sub(self._item, entry.example))

    def _item(self, marked: re.Match[str]) -> str:
        kinds = marked[1].split("|")
        for kind in kinds:
            if kind in self._by_kind:
                return json.dumps(self._by_kind[kind])
        return f'"<{kinds[0]}>"'

    @cached_property
    def _by_kind(self) -> Mapping[str, str]:
        """The first item of each type; the last looked at for any, as that has none below it."""
        operations = self._operations
        found: dict[str, str] = {}
        for item in islice(operations.items(), _MAX_ITEMS):
            with suppress(LookupError, ValueError, RuntimeError):  # an odd item is no example
                found.setdefault(operations.kind(item), item)
                found[ANY] = item
        return found


def other_value(default: Any, choices: Sequence[str] = ()) -> Any:
    """Return a value for an example that differs from a default. Any thread. Raises nothing.

    Args:
        default: The default.
        choices: The texts of which it is one.

    Returns:
        A value of the same type; None where none is sure to fit.
    """
    if isinstance(default, list):
        values = [other_value(value) for value in default]
        if choices or None in values or len(str(values)) > _MAX_VALUE:
            return None
        return values or None
    if isinstance(default, str):
        others = [choice for choice in choices if choice not in ("", default)]
        return others[0] if others else None
    if isinstance(default, bool):
        return not default
    if isinstance(default, int | float) and math.isfinite(default):
        return _other_number(default)
    return None


def _other_number(default: float) -> float:
    """Return half of a number: half of a share, an angle or a length is still one."""
    if not default:
        return default + 1
    if isinstance(default, float):
        return float(f"{default / 2:.3g}")
    return 2 if default == 1 else int(default / 2)
