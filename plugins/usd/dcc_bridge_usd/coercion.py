"""USD values made of what JSON can carry, strictly, and written as JSON. Any thread."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final, TypeGuard

from pxr import Gf, Sdf

# USD itself is not strict (measured, 26.11): `Set` makes 1 of 1.5 for an int, and infinity of a
# number that is too large for a float. So the ranges are checked here.
_INTEGER_RANGES: Final = {
    "uchar": (0, 2**8 - 1),
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_LARGEST_NUMBERS: Final = {"half": 65504.0, "float": 3.4028234e38, "double": 1.7976931348623157e308}
_PART_TYPES: Final = {"i": "int", "h": "half", "f": "float", "d": "double"}
_MAX_SHOWN_CHARACTERS: Final = 60
_QUATERNIONS: Final = (Gf.Quath, Gf.Quatf, Gf.Quatd)


def coerce(kind: Sdf.ValueTypeName, value: object) -> Any:
    """Make a value of an attribute's type from what JSON carries.

    Args:
        kind: The type of the attribute.
        value: The value as JSON has it.

    Raises:
        ValueError: The value does not fit; the message says what fits.
    """
    if not kind.isArray:
        # An array rounds the value to what the attribute holds, as 30.1 to a float.
        array = type(kind.arrayType.defaultValue)([_one(kind, value)])
        return array[0]
    if not isinstance(value, list):
        raise _wrong(kind, value, "a list")
    return type(kind.defaultValue)([_one(kind.scalarType, item) for item in value])


def _one(kind: Sdf.ValueTypeName, value: object) -> Any:
    example = kind.defaultValue
    match example:
        case bool():
            if not isinstance(value, bool):
                raise _wrong(kind, value, "true or false")
            return value
        case int() | float():
            return _number(kind, str(kind), value)
        case str():
            return _text(kind, value)
        case Sdf.AssetPath():
            return Sdf.AssetPath(_text(kind, value))
        case Sdf.TimeCode():
            return Sdf.TimeCode(_number(kind, "double", value))
    return _numbers(kind, example, value)


def _numbers(kind: Sdf.ValueTypeName, example: object, value: object) -> Any:
    rows, columns = _shape(example)
    if not columns:
        raise ValueError(f"An attribute of type {kind} cannot be set from here.")
    numbers = value
    lists = "a list"
    if rows != 1:
        numbers = _flat(value)
        lists = f"a list of {rows} lists"
    if not isinstance(numbers, list) or len(numbers) != rows * columns:
        raise _wrong(kind, value, f"{lists} of {columns} numbers")
    part = _PART_TYPES[type(example).__name__[-1]]  # the last letter, as in Vec3f
    return type(example)(*(_number(kind, part, number) for number in numbers))


def _shape(example: object) -> tuple[int, int]:
    """Return how many rows and columns of numbers a value has; no columns if it has no numbers."""
    if isinstance(example, _QUATERNIONS):
        return 1, 4
    dimension = getattr(example, "dimension", 0)
    if isinstance(dimension, int):
        return 1, dimension
    rows, columns = dimension
    return rows, columns


def _flat(value: object) -> list[object] | None:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        return None
    numbers = []
    for row in value:
        numbers += row
    return numbers


def _number(kind: Sdf.ValueTypeName, part: str, value: object) -> int | float:
    """Return a number in the range of a type, which may be that of one part of a vector."""
    if part in _INTEGER_RANGES:
        low, high = _INTEGER_RANGES[part]
        if not _is_whole(value) or not low <= value <= high:
            raise _wrong(kind, value, f"a whole number from {low} to {high}")
        return int(value)
    largest = _LARGEST_NUMBERS[part]
    if not _is_number(value) or not abs(value) <= largest:
        raise _wrong(kind, value, f"a number up to {largest:g}")
    return float(value)


def _text(kind: Sdf.ValueTypeName, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(kind, value, "text")
    return value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> TypeGuard[int | float]:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _wrong(kind: Sdf.ValueTypeName, value: object, want: str) -> ValueError:
    shown = repr(value)
    if len(shown) > _MAX_SHOWN_CHARACTERS:
        shown = shown[:_MAX_SHOWN_CHARACTERS] + "…"
    return ValueError(f"{shown} is no {kind}: give {want}.")


def plain(value: Any) -> Any:
    """Return a value as JSON can carry it.

    Vectors become lists, quaternions lists with the real part first. Infinity and USD's rarer
    types, for which JSON has nothing, become text.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case dict():
            return {str(key): plain(part) for key, part in value.items()}
        case Sdf.AssetPath():
            return value.path
        case Sdf.TimeCode():
            return float(value)
        case Sdf.PathExpression():
            return value.GetText()
        case Gf.Quath() | Gf.Quatf() | Gf.Quatd():
            return [value.GetReal(), *plain(value.GetImaginary())]
    return [plain(part) for part in value] if hasattr(value, "__len__") else str(value)
