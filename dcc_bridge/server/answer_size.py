"""Keeps every answer within one size, so that none fills an agent's context. Any thread.

A size is counted in characters of JSON as they are sent, with what JSON escapes. A long text keeps
its head and its tail, a long list its first elements, and both say how much is left out.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any, Final

_WORTH: Final = 300  # an element of a list is shortened to no less; fewer elements stay instead
_MEMBER: Final = 60  # the same for a member of an object
_MARK_SIZE: Final = 60  # for what says how much is left out
_TRIES: Final = 12
_LEFT_OUT: Final = re.compile(r"\n… ([\d,]+) (bytes|characters) left out …\n")
_NOTE: Final = (
    "{whole:,} bytes were too many for one answer: long lists and texts are cut. Ask for fewer "
    "items or for one value by its name."
)


def size(value: Any) -> int:
    """Return how many bytes a JSON value takes as it is sent."""
    return len(json.dumps(value))


def fitted_text(value: Any, room: int) -> str:
    """Return the JSON of a value as a text that is sent within a size.

    An object that is cut says so in its member "cut".

    Args:
        value: The JSON value.
        room: The bytes that the text may take, its quotes included.
    """
    text = json.dumps(value, ensure_ascii=False)
    sent = size(text)
    if sent <= room:
        return text
    note = {}
    if isinstance(value, dict):
        note = {"cut": _NOTE.format(whole=sent)}
    inner = room - size(json.dumps(note))
    for _ in range(_TRIES):
        short = fitted(value, inner)
        if note:
            short = {**short, **note}
        text = json.dumps(short, ensure_ascii=False)
        sent = size(text)
        if sent <= room:
            return text
        inner = inner * room // sent - 1
    return fitted_string(text, room)


def fitted(value: Any, room: int, *, marks: bool = True) -> Any:
    """Return a JSON value of about a size: the value itself, or what is left of it.

    Args:
        value: The JSON value.
        room: The bytes that it may take. A number or a name alone may take more.
        marks: Whether lists and objects say how much is left out, by one element more.
    """
    if size(value) <= room:
        return value
    if isinstance(value, str):
        return fitted_string(value, room)
    if isinstance(value, list):
        kept = _first_elements(value, room, marks=marks)
        left_out = len(value) - len(kept)
        if left_out and marks:
            kept.append(f"… {left_out:,} more")
        return kept
    if isinstance(value, dict):
        return _fitted_object(value, room, marks=marks)
    return value


def fitted_string(text: str, room: int) -> str:
    """Return a text within a size: its head and its tail, with what is between them counted.

    Args:
        text: The text. A mark of what was left out of it before is counted in the new one.
        room: The bytes that it may take, its quotes included.
    """
    if size(text) <= room:
        return text
    before = 0
    unit = "characters"
    head = text
    tail = text
    former = _LEFT_OUT.search(text)
    if former is not None:
        before = int(former[1].replace(",", ""))
        unit = former[2]
        head = text[: former.start()]
        tail = text[former.end() :]
        text = head + tail
    kept = max(0, room - _MARK_SIZE)
    while True:
        half = kept // 2
        left_out = before + max(0, len(text) - 2 * half)
        mark = f"\n… {left_out:,} {unit} left out …\n"
        short = head[:half] + mark + tail[max(0, len(tail) - half) :]
        sent = size(short)
        if sent <= room or not half:
            return short
        kept = min(kept - 2, kept * room // sent)


def _first_elements(values: Sequence[Any], room: int, *, marks: bool) -> list[Any]:
    """Return all elements, each shortened, or only the first where they are small and many."""
    room -= _MARK_SIZE
    if room // len(values) >= _WORTH:
        shares = _shares([size(each) + 2 for each in values], room)
        pairs = zip(values, shares, strict=True)
        return [fitted(each, share - 2, marks=marks) for each, share in pairs]
    kept: list[Any] = []
    for each in values:
        short = fitted(each, max(_WORTH, room // 2), marks=marks)
        room -= size(short) + 2
        if room < 0 and kept:
            break
        kept.append(short)
    return kept


def _fitted_object(mapping: Mapping[str, Any], room: int, *, marks: bool) -> dict[str, Any]:
    """Return an object whose large members are shortened, or only its first members."""
    room -= _MARK_SIZE
    sizes = [size(name) + size(member) + 4 for name, member in mapping.items()]
    whole = bisect(list(accumulate(sizes)), room)
    members = dict(islice(mapping.items(), max(1, whole, room // _MEMBER)))
    shares = _shares(sizes[: len(members)], room)
    short: dict[str, Any] = {}
    for (name, member), share in zip(members.items(), shares, strict=True):
        inner = share - size(name) - 4
        if marks and "found" in mapping and _has_rows(member) and size(member) > inner:
            rows = _first_elements(member, inner, marks=marks)
            short[name] = rows
            if len(rows) < len(member):
                _count_rows(short, mapping, name, len(rows))
        elif name not in short:  # else it has been counted already
            short[name] = fitted(member, inner, marks=marks)
    left_out = len(mapping) - len(members)
    if left_out and marks:
        short["…"] = f"{left_out:,} more"
    return short


def _has_rows(member: Any) -> bool:
    return isinstance(member, list) and bool(member) and isinstance(member[0], dict | list)


def _count_rows(short: dict[str, Any], whole: Mapping[str, Any], name: str, kept: int) -> None:
    """Put the number of the rows that are left out into an answer of a verb."""
    if "listed" in whole:
        short["listed"] = kept
        return
    key = f"{name}_left_out"
    short[key] = whole.get(key, 0) + len(whole[name]) - kept


def _shares(sizes: Iterable[int], room: int) -> list[int]:
    """Share a room out: what is small has all that it needs, and the rest is for what is large."""
    wanted = list(sizes)
    shares = [0] * len(wanted)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for number, at in enumerate(order):
        fair = room // (len(order) - number)
        shares[at] = min(wanted[at], fair)
        room -= shares[at]
    return shares
