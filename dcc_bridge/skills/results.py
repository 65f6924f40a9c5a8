"""The result of a skill, computed to its end while its undo step is open. Any thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def whole(value: Any) -> Any:
    """Return a result in which every generator is replaced by the list of its values.

    The body of a generator runs when its values are taken. If they were taken later, the body would
    edit outside the undo step, on another thread, and nobody would see its losses.

    Args:
        value: What a skill returned. Plain lists, tuples and dicts are looked through.
    """
    try:
        return _computed(value)
    except RecursionError:  # the value contains itself, so no client can get it
        return value


def _computed(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {name: _computed(element) for name, element in value.items()}
    if kind is tuple:
        return tuple(_computed(element) for element in value)
    if kind is list or isinstance(value, Iterator):
        return [_computed(element) for element in value]
    return value
