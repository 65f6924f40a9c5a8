"""USD values made of what JSON can carry, strictly. Any thread."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final, TypeGuard

from pxr import Gf, Sdf

# USD itself is not strict (measured, 26.11): `Set` makes 1 of 1.5 for an int, and infinity of a
# number that is too large for a float. So the ranges are checked here.
_WHOLE: Final = {
    "uchar": (0, 2**8 - 1),
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_LARGEST: Final = {"half": 65504.0, "float": 3.4028234e38, "double": 1.7976931348623157e308}
_PARTS: Final = {"i": "int", "h": "half", "f": "float", "d": "double"}
_MOST_SAID: Final = 60
_QUATERNIONS: Final = (Gf.Quath, Gf.Quatf, Gf.Quatd)


def coerce(kind: Sdf.ValueTypeName, value: object) -> Any:
    """Make a value of an attribute's type of what JSON carries; ValueError says what fits."""
    if not kind.isArray:  # an array rounds to what the attribute holds, as 30.1 as a float
        return type(kind.arrayType.defaultValue)([_one(kind, value)])[0]
    if not isinstance(value, list):
        raise _wrong(kind, value, "a list")
    return type(kind.defaultValue)([_one(kind.scalarType, item) for item in value])


def _one(kind: Sdf.ValueTypeName, value: object) -> Any:
    example = kind.defaultValue
    match example:
        case bool():
            return _checked(kind, value, "true or false", lambda v: isinstance(v, bool))
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
    numbers = value if rows == 1 else _flat(value)
    if not isinstance(numbers, list) or len(numbers) != rows * columns:
        lists = "a list" if rows == 1 else f"a list of {rows} lists"
        raise _wrong(kind, value, f"{lists} of {columns} numbers")
    part = _PARTS[type(example).__name__[-1]]
    return type(example)(*(_number(kind, part, number) for number in numbers))


def _shape(example: object) -> tuple[int, int]:
    dimension = 4 if isinstance(example, _QUATERNIONS) else getattr(example, "dimension", 0)
    return (1, dimension) if isinstance(dimension, int) else dimension


def _flat(value: object) -> list[object] | None:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        return None
    return [number for row in value for number in row]


def _number(kind: Sdf.ValueTypeName, part: str, value: object) -> int | float:
    if part in _WHOLE:
        low, high = _WHOLE[part]
        want = f"a whole number from {low} to {high}"
        return int(_checked(kind, value, want, lambda v: _is_whole(v) and low <= v <= high))
    largest = _LARGEST[part]
    want = f"a number up to {largest:g}"
    return float(_checked(kind, value, want, lambda v: _is_number(v) and abs(v) <= largest))


def _text(kind: Sdf.ValueTypeName, value: object) -> str:
    return str(_checked(kind, value, "text", lambda v: isinstance(v, str)))


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> TypeGuard[int | float]:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _checked(
    kind: Sdf.ValueTypeName, value: Any, want: str, is_right: Callable[[Any], bool]
) -> Any:
    if not is_right(value):
        raise _wrong(kind, value, want)
    return value


def _wrong(kind: Sdf.ValueTypeName, value: object, want: str) -> ValueError:
    shown = repr(value)
    shown = shown if len(shown) <= _MOST_SAID else shown[:_MOST_SAID] + "…"
    return ValueError(f"{shown} is no {kind}: give {want}.")


def plain(value: Any) -> Any:
    """Write a value as JSON can carry it: vectors as lists, quaternions with the real part first.

    What JSON has no word for, infinity and USD's rarer types, becomes text.
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
