"""Attribute values as a person reads and types them; the host decides what fits. Any thread."""

from __future__ import annotations

import re
import struct
from typing import Any

from pxr import Gf, Sdf, Usd

from ..coercion import coerce, plain

NOTHING = "\N{EN DASH}"  # is shown where there is no value
_BOOLEANS = {"off": False, "on": True}
_LARGEST_SINGLE = 3.4e38
_MAX_LISTED = 4  # elements of an array


def is_editable(attribute: Usd.Attribute) -> bool:
    """Return whether the value of an attribute can be typed: simple, and not animated."""
    if attribute.GetNumTimeSamples():
        return False
    example = attribute.GetTypeName().defaultValue
    return isinstance(example, bool | int | float | str | Sdf.AssetPath) or _is_vector(example)


def choices(attribute: Usd.Attribute) -> list[str]:
    """List the only values that an attribute may have; none if it is free."""
    if attribute.GetTypeName() == Sdf.ValueTypeNames.Bool:
        return list(_BOOLEANS)
    return [str(token) for token in attribute.GetMetadata("allowedTokens") or []]


def read(attribute: Usd.Attribute) -> Any:
    """Return the value of an attribute, at the first key if it is animated."""
    if attribute.GetNumTimeSamples() > 0:
        return attribute.Get(Usd.TimeCode.EarliestTime())
    return attribute.Get(Usd.TimeCode.Default())


def text(value: Any) -> str:
    """Return a value as a line that is short enough for a table."""
    if value is None:
        return NOTHING
    if isinstance(value, Gf.Matrix4d):
        return f"at {text(value.ExtractTranslation())}"
    if _is_vector(value):
        return ",  ".join(f"{number:.5g}" for number in value)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return _short(plain(value))
    if len(value) > _MAX_LISTED:
        return f"{len(value)} values"
    elements = [_short(element) for element in plain(value)]
    return f"[{', '.join(elements)}]"


def _short(value: Any) -> str:
    if isinstance(value, list):
        parts = [_short(part) for part in value]
        return f"({' '.join(parts)})"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def exact(value: Any) -> str:
    """Return a value as text from which ``parse`` makes the same value again."""
    if value is None:
        return ""
    if isinstance(value, float):
        return _digits(value)
    if _is_vector(value):
        return ", ".join(exact(number) for number in value)
    return text(value)


def _digits(number: float) -> str:
    """Return a number with the digits that it needs, in four bytes where it was made of four."""
    if abs(number) >= _LARGEST_SINGLE:
        return repr(number)
    single = struct.pack("f", number)
    if struct.unpack("f", single)[0] == number:
        for digits in range(6, 10):
            candidate = f"{number:.{digits}g}"
            if struct.pack("f", float(candidate)) == single:
                return candidate
    return repr(number)


def parse(attribute: Usd.Attribute, typed: str) -> Any:
    """Return what a person typed as a value of an attribute's type.

    Raises:
        ValueError: The text is no such value; the message says what is one.
    """
    kind = attribute.GetTypeName()
    example = kind.defaultValue
    if isinstance(example, bool):
        return coerce(kind, _BOOLEANS.get(typed, typed))
    if _is_vector(example):
        parts = re.split(r"[,;\s]+", typed.strip(" ()[]"))
        return coerce(kind, [_number(part) for part in parts])
    if isinstance(example, int | float):
        return coerce(kind, _number(typed))
    return coerce(kind, typed)


def _number(typed: str) -> int | float | str:
    """Return a text as a number; any other text as it is, for `coerce` to refuse."""
    for number in (int, float):
        try:
            return number(typed)
        except ValueError:
            continue
    return typed


def _is_vector(value: object) -> bool:
    return isinstance(getattr(value, "dimension", None), int)
