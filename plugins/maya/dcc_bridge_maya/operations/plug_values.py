"""Reads and writes the values of Maya's plugs, in the types of JSON. Main thread.

Traps in Maya's reference: `getAttr` returns a compound as a list of one tuple, and an angle in the
unit of the interface.
"""

from __future__ import annotations

import math
from typing import Any, Final

from maya import cmds

from . import dg
from .dg import ask

_FLOAT_DIGITS: Final = 1e-6  # numbers of type float have about seven digits


def raw(plug: str) -> Any:
    """Return a plug's value as `getAttr` does; ValueError if it has none."""
    try:
        return ask.getAttr(plug)
    except RuntimeError as error:
        raise ValueError(f"{plug} has no value: {str(error).strip()}") from error


def is_default(plug: str, value: Any) -> bool:
    """Return whether a plug has its default; False for a plug of which Maya tells no default.

    Maya's reference tells defaults of numbers only, and not in which unit it returns them. In
    another unit than `getAttr` a default looks like a value that somebody set, and is told.

    Args:
        plug: The plug, which is no compound.
        value: The value as `raw` returns it.
    """
    if not isinstance(value, bool | int | float):
        return False
    try:
        defaults = dg.about(plug, listDefault=True)
    except (RuntimeError, TypeError):
        return False
    if not isinstance(defaults, list) or len(defaults) != 1:
        return False
    return math.isclose(value, defaults[0], rel_tol=_FLOAT_DIGITS)


def plain(plug: str, value: Any) -> Any:
    """Return a plug's value in the types of JSON: angles in degrees, an enumeration by its label.

    Args:
        plug: The plug.
        value: The value as `raw` returns it.
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list | tuple):
        value = list(value[0])
    labels = _labels(plug)
    if labels:
        for label, number in labels.items():
            if number == value:
                return label
        return value
    factor = dg.unit(plug)
    if factor == 1.0:
        return value
    if isinstance(value, list):
        return [number * factor for number in value]
    return value * factor


def write(plug: str, value: Any) -> None:
    """Write a value in the form that `plain` returns.

    Raises:
        ValueError: The plug does not take the value. The message names its type.
    """
    labels = _labels(plug)
    if labels and isinstance(value, str):
        if value not in labels:
            raise ValueError(f"{plug} takes {type_of_plug(plug)}.{dg.near(value, labels)}")
        value = labels[value]
    try:
        if isinstance(value, str):
            cmds.setAttr(plug, value, type="string")
        else:
            numbers = [number / dg.unit(plug) for number in numbers_of(plug, value)]
            cmds.setAttr(plug, *numbers)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{plug} takes {type_of_plug(plug)}, not {value!r}: {error}") from error


def numbers_of(plug: str, value: Any) -> list[Any]:
    """Return a value as a list with a number for each part of a plug, or raise ValueError."""
    numbers = list(value) if isinstance(value, list | tuple) else [value]
    count = len(dg.parts(plug))
    if len(numbers) != count:
        raise ValueError(f"{plug} takes {count} numbers, not {value!r}.")
    return numbers


def _labels(plug: str) -> dict[str, int]:
    """Return an enumeration's labels with their numbers; {} for any other plug.

    In "a:b=4:c" a label without a number has the next number after the highest before it.
    """
    labels: dict[str, int] = {}
    if dg.about(plug, attributeType=True) != "enum":
        return labels
    for entry in dg.about(plug, listEnum=True)[0].split(":"):
        label, _, number = entry.partition("=")
        labels[label] = int(number) if number else max(labels.values(), default=-1) + 1
    return labels


def type_of_plug(plug: str) -> str:
    """Return a plug's type, with its labels or its range: "double 0..10"."""
    labels = _labels(plug)
    if labels:
        return f"enum: {', '.join(labels)}"
    low = ""
    high = ""
    if dg.about(plug, minExists=True):
        low = f"{dg.about(plug, minimum=True)[0]:g}"
    if dg.about(plug, maxExists=True):
        high = f"{dg.about(plug, maximum=True)[0]:g}"
    name = str(ask.getAttr(plug, type=True) or dg.about(plug, attributeType=True))
    if low or high:
        return f"{name} {low}..{high}"
    return name
