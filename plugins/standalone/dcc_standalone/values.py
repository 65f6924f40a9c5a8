"""Attribute values as text, and text as values. No Qt in here. Any thread."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

from pxr import Gf, Sdf, Usd

_SCALARS: dict[str, Callable[[str], object]] = {
    "bool": {"off": False, "on": True}.__getitem__,
    **dict.fromkeys(("int", "int64", "uint", "uint64", "uchar"), int),
    **dict.fromkeys(("half", "float", "double"), float),
    **dict.fromkeys(("string", "token"), str),
    "asset": Sdf.AssetPath,
}
_VECTORS: dict[type, type] = {
    getattr(Gf, f"Vec{size}{letter}"): int if letter == "i" else float
    for size in (2, 3, 4)
    for letter in "ifdh"
}


NOTHING = "\N{EN DASH}"
"""What stands where there is no value."""
_LARGEST_SINGLE = 3.4e38


class BadText(ValueError):
    """The text is no value of that type; the message says what is."""


def is_editable(attribute: Usd.Attribute) -> bool:
    """Whether its one value can be typed: simple, and not animated."""
    return not attribute.GetNumTimeSamples() and (
        _scalar(attribute) in _SCALARS or _vector(attribute) is not None
    )


def choices(attribute: Usd.Attribute) -> list[str]:
    """List the only values it may have, or nothing if it is free."""
    if _scalar(attribute) == "bool":
        return ["off", "on"]
    return [str(token) for token in attribute.GetMetadata("allowedTokens") or []]


def read(attribute: Usd.Attribute) -> Any:
    """Give its value; the earliest one if it is animated."""
    animated = attribute.GetNumTimeSamples() > 0
    return attribute.Get(Usd.TimeCode.EarliestTime() if animated else Usd.TimeCode.Default())


def text(value: Any) -> str:
    """Write a value in one line, short enough for a table."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:.6g}"
    if type(value) in _VECTORS:
        return ",  ".join(f"{number:.5g}" for number in value)
    return _long_text(value)


def _long_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Sdf.AssetPath):
        return str(value.path)
    if isinstance(value, Gf.Matrix4d):
        return f"at {text(value.ExtractTranslation())}"
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return str(value)
    if len(value) <= 4:
        return "[" + ", ".join(_element(each) for each in value) + "]"
    return f"{len(value)} values"


def _element(value: Any) -> str:
    return f"({' '.join(map(text, value))})" if type(value) in _VECTORS else text(value)


def exact(value: Any) -> str:
    """Write a value so that ``parse`` gives the same again."""
    if value is None:
        return ""
    if isinstance(value, float):
        return _digits(value)
    if type(value) in _VECTORS:
        return ", ".join(exact(number) for number in value)
    return text(value)


def _digits(number: float) -> str:
    """Write no more digits than the number needs, also where it was made of four bytes."""
    single = struct.pack("f", number) if abs(number) < _LARGEST_SINGLE else b""
    if single and struct.unpack("f", single)[0] == number:
        tries = (f"{number:.{digits}g}" for digits in range(6, 10))
        return next(one for one in tries if struct.pack("f", float(one)) == single)
    return repr(number)


def parse(attribute: Usd.Attribute, typed: str) -> Any:
    """Read what a person typed as a value of the attribute's type.

    Raises:
        BadText: It is none.
    """
    vector = _vector(attribute)
    try:
        return _parse_vector(vector, typed) if vector else _SCALARS[_scalar(attribute)](typed)
    except (ValueError, KeyError) as error:
        raise BadText(f"“{typed}” is no {attribute.GetTypeName()}.") from error


def _parse_vector(vector: type, typed: str) -> Any:
    numbers = [_VECTORS[vector](part) for part in re.split(r"[,;\s]+", typed.strip(" ()[]"))]
    if len(numbers) != vector.dimension:  # type: ignore[attr-defined]  # Gf's classes have it
        raise ValueError
    return vector(*numbers)


def _scalar(attribute: Usd.Attribute) -> str:
    return str(attribute.GetTypeName())


def _vector(attribute: Usd.Attribute) -> type | None:
    type_ = attribute.GetTypeName().type.pythonClass
    return type_ if type_ in _VECTORS else None
