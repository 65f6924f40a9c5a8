"""Attribute values as a person reads and types them; the host decides what fits. Any thread."""

from __future__ import annotations

import re
import struct
from typing import Any

from pxr import Gf, Sdf, Usd

from ..coercion import coerce, plain

NOTHING = "\N{EN DASH}"  # what stands where there is no value
_BOOLEANS = {"off": False, "on": True}
_LARGEST_SINGLE = 3.4e38
_MOST_LISTED = 4


def is_editable(attribute: Usd.Attribute) -> bool:
    """Whether its one value can be typed: simple, and not animated."""
    example = attribute.GetTypeName().defaultValue
    is_simple = isinstance(example, bool | int | float | str | Sdf.AssetPath)
    return not attribute.GetNumTimeSamples() and (is_simple or _is_vector(example))


def choices(attribute: Usd.Attribute) -> list[str]:
    """List the only values it may have, or nothing if it is free."""
    if attribute.GetTypeName() == Sdf.ValueTypeNames.Bool:
        return list(_BOOLEANS)
    return [str(token) for token in attribute.GetMetadata("allowedTokens") or []]


def read(attribute: Usd.Attribute) -> Any:
    """Give its value; the earliest one if it is animated."""
    animated = attribute.GetNumTimeSamples() > 0
    return attribute.Get(Usd.TimeCode.EarliestTime() if animated else Usd.TimeCode.Default())


def text(value: Any) -> str:
    """Write a value in one line, short enough for a table."""
    if value is None:
        return NOTHING
    if isinstance(value, Gf.Matrix4d):
        return f"at {text(value.ExtractTranslation())}"
    if _is_vector(value):
        return ",  ".join(f"{number:.5g}" for number in value)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return _short(plain(value))
    if len(value) > _MOST_LISTED:
        return f"{len(value)} values"
    return "[" + ", ".join(map(_short, plain(value))) + "]"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"({' '.join(map(_short, value))})"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def exact(value: Any) -> str:
    """Write a value so that ``parse`` gives the same again."""
    if value is None:
        return ""
    if isinstance(value, float):
        return _digits(value)
    if _is_vector(value):
        return ", ".join(exact(number) for number in value)
    return text(value)


def _digits(number: float) -> str:
    """Write no more digits than the number needs, also where it was made of four bytes."""
    single = struct.pack("f", number) if abs(number) < _LARGEST_SINGLE else b""
    if single and struct.unpack("f", single)[0] == number:
        candidates = (f"{number:.{digits}g}" for digits in range(6, 10))
        return next(text for text in candidates if struct.pack("f", float(text)) == single)
    return repr(number)


def parse(attribute: Usd.Attribute, typed: str) -> Any:
    """Read what a person typed as a value of the attribute's type; ValueError says what is one."""
    kind = attribute.GetTypeName()
    example = kind.defaultValue
    if isinstance(example, bool):
        return coerce(kind, _BOOLEANS.get(typed, typed))
    if _is_vector(example):
        return coerce(kind, [_number(part) for part in re.split(r"[,;\s]+", typed.strip(" ()[]"))])
    return coerce(kind, _number(typed) if isinstance(example, int | float) else typed)


def _number(typed: str) -> int | float | str:
    """Read a number; text that is none stays as it is, for the host to refuse."""
    for number in (int, float):
        try:
            return number(typed)
        except ValueError:
            continue
    return typed


def _is_vector(value: object) -> bool:
    return isinstance(getattr(value, "dimension", None), int)
