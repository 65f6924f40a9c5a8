"""Answers of the verbs: the first rows of each list, and values cut short. Main thread."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any, Final

from dcc_bridge.skills.skill import report_done, track
from dcc_bridge.verbs.names import LIKE
from dcc_bridge.verbs.operations import Value

LISTED: Final = 100  # rows of an answer; the rest is counted
_MANY: Final = 20  # more items whose names are alike are told by a pattern and the first of them
_FIRST: Final = 3  # of these
_FIRST_BYTES: Final = 350  # that their rows take; a larger one stands alone
_MAX_PATTERNS: Final = 3
_MAX_ERRORS: Final = 10  # that one message names
MAX_ELEMENTS: Final = 24  # elements of a list within an answer
_MAX_TEXT: Final = 600  # characters of a text within an answer: its head and its tail
_MAX_HEAD: Final = 400
_LONG_TEXT: Final = 30_000  # characters of a text that is told at length
Json = dict[str, Any]


class VerbResult(dict[str, Any]):
    """The answer of a verb, with the first rows of each list.

    Attributes:
        every: All the items that the answer is about.
    """

    every: Sequence[str] = ()


def result(items: Sequence[str], summary: str = "", **facts: Any) -> VerbResult:
    """Return the answer of a verb on items, with the first rows of each list.

    The items are listed by themselves if no row names them. Of many items whose names are alike,
    the answer has the pattern of the names, and a few rows.

    Args:
        items: The items that the answer is about.
        summary: What was done, as a person reads it; "" if nothing was.
        facts: More parts of the answer. A part may be an iterator of rows, of which only the
            first are made. `found` is how many items or rows there are, if not one for each item.
    """
    if summary:
        report_done(summary)
    pattern = ""
    if len(items) > _MANY:
        pattern = pattern_of(items)
    answer = VerbResult(_first_of_each(_made(items, facts, pattern), pattern))
    named = items[:LISTED]
    if pattern:
        answer["pattern"] = pattern
        named = items[:1]  # the others are among those that are left out
    if not items or not _texts_in_rows(answer).issuperset(named):
        answer.update(_first_of_each({"items": list(items)}, pattern))
    answer.every = items
    return answer


def _made(items: Sequence[str], facts: Mapping[str, Any], pattern: str) -> Json:
    """Return the parts of an answer, with the first rows made of each iterator."""
    most = LISTED
    if pattern:
        most = _FIRST
    left_out = max(0, facts.get("found", len(items)) - most)
    parts: Json = {"found": len(items), **facts}
    for name, rows in facts.items():
        if isinstance(rows, Iterator):
            parts[name] = list(islice(rows, most))
            if left_out:
                parts[f"{name}_left_out"] = left_out
    return parts


def _first_of_each(parts: Mapping[str, Any], pattern: str) -> Json:
    """Cut each list to its first rows: to a few of those that are alike.

    Args:
        parts: The parts of an answer.
        pattern: The pattern of the items' names, or "" where they are not alike.
    """
    answer = dict(parts)
    for name, rows in parts.items():
        if not isinstance(rows, list):
            continue
        are_alike = bool(pattern)
        if len(rows) > _MANY and all(isinstance(row, str) for row in rows):
            are_alike = bool(pattern_of(rows))
        most = LISTED
        if are_alike and (len(rows) > _MANY or f"{name}_left_out" in parts):
            sizes = accumulate(len(json.dumps(row, default=str)) for row in rows[:_FIRST])
            most = max(1, sum(size <= _FIRST_BYTES for size in sizes))
        answer |= _cut(name, rows, most, parts)
    return answer


def pattern_of(items: Sequence[str]) -> str:
    """Return the glob of names that are alike, or a few globs; "" where they are not.

    Names are alike if they differ in their numbers alone, or in what stands between a beginning
    and an end that all of them share. Other items may match it too: see `items.exact`.
    """
    patterns: dict[str, None] = {}
    for item in track(items):
        patterns[re.sub(r"\d+", "*", _escaped(item))] = None
        if len(patterns) > _MAX_PATTERNS:
            break
    else:
        return ", ".join(patterns)
    begin = _common_start(items)
    if len(re.split(r"[/|:]", begin)[-1]) < 2:
        return ""
    backwards = [item.removeprefix(begin)[::-1] for item in items]
    end = _common_start(backwards)[::-1]
    return f"{_escaped(begin)}*{_escaped(end)}"


def _escaped(text: str) -> str:
    """Return a glob that matches a text alone."""
    return re.sub(r"([*?[])", r"[\1]", text)


def _common_start(texts: Sequence[str]) -> str:
    """Return the characters with which all texts begin."""
    first = min(texts)
    last = max(texts)
    for number, letter in enumerate(first):
        if letter != last[number]:
            return first[:number]
    return first


def _texts_in_rows(answer: Mapping[str, Any]) -> set[str]:
    """Return the texts that stand in the rows of an answer, among which items are named."""
    texts: set[str] = set()
    for rows in answer.values():
        if not isinstance(rows, list):
            continue
        for row in rows:
            cells = row
            if isinstance(row, dict):
                cells = row.values()
            if isinstance(row, str) and "pattern" in answer:
                texts.add(row)
            if not isinstance(cells, str | int | float):
                texts.update(cell for cell in cells if isinstance(cell, str))
    return texts


def first_rows(facts: Mapping[str, Any], most: int) -> Json:
    """Cut each list to its first rows, and say how many are left out.

    Args:
        facts: The parts of an answer. If it says how many rows are `listed`, that is corrected.
        most: How many rows of each list stay.
    """
    short = dict(facts)
    for name, rows in facts.items():
        if isinstance(rows, list):
            short |= _cut(name, rows, most, facts)
    return short


def _cut(name: str, rows: list[Any], most: int, facts: Mapping[str, Any]) -> Json:
    """Return the first rows of one list, and how many are left out of it, by their names."""
    if len(rows) <= most:
        return {name: rows}
    if "listed" in facts:
        return {name: rows[:most], "listed": most}
    left_out = facts.get(f"{name}_left_out", 0) + len(rows) - most
    return {name: rows[:most], f"{name}_left_out": left_out}


def refuse(errors: Sequence[str]) -> None:
    """Raise one error for all that is wrong; do nothing where nothing is.

    Args:
        errors: A sentence for each entry that is wrong; the first ones are in the message, and
            the examples of names that end some of them once.

    Raises:
        ValueError: There are errors.
    """
    if not errors:
        return
    sentences = []
    examples = ""
    for error in errors[:_MAX_ERRORS]:
        sentence, begin, names = error.partition(LIKE)
        sentences.append(sentence)
        examples = examples or begin + names
    if len(errors) > _MAX_ERRORS:
        sentences.append(f"And {len(errors) - _MAX_ERRORS} more.")
    raise ValueError(" ".join(sentences) + examples)


def shown(value: Any) -> Any:
    """Shorten a value for an answer: six digits, `MAX_ELEMENTS` elements, `_MAX_TEXT` characters.

    A number that is not finite becomes a text, since JSON has none.
    """
    match value:
        case Value():
            return shown(value.value)
        case float():
            if not math.isfinite(value):
                return str(value)
            return float(f"{value:.6g}")
        case str() if len(value) > _MAX_TEXT:
            start = re.sub(r"\s\S{0,40}$", "", value[:_MAX_HEAD])  # no half a word
            end = re.sub(r"^\S{0,40}\s", "", value[len(start) - _MAX_TEXT :])
            left_out = len(value) - len(start) - len(end)
            return f"{start} ... {left_out} characters left out ... {end}"
        case Mapping():
            return _shown_mapping(value)
        case list() | tuple():
            return _shown_list(value)
    return value


def at_length(value: Any, offset: int = 0, most: int = 2000) -> Any:
    """Return a value for an answer that is about few values, with many of its elements.

    Args:
        value: The value.
        offset: The first element of a list, or the first character of a text.
        most: How many elements of a list are told.
    """
    match value:
        case Value():
            return at_length(value.value, offset, most)
        case str() | list() | tuple() if offset and offset >= len(value):
            return none_from(offset, len(value))
        case str():
            part = value[offset : offset + _LONG_TEXT]
            if len(part) < len(value):
                part += f"... (from character {offset} of {len(value)})"
            return part
        case Mapping():
            return {str(key): at_length(part, offset, most) for key, part in value.items()}
        case list() | tuple():
            elements = [shown(element) for element in value[offset : offset + most]]
            if len(elements) < len(value):
                elements.append(f"... (from element {offset} of {len(value)})")
            return elements
    return shown(value)


def none_from(offset: int, count: int) -> str:
    """Return that a list or a text ends before an offset."""
    return f"nothing from {offset} on: there are {count}"


def _shown_mapping(mapping: Mapping[Any, Any]) -> Json:
    short = {str(key): shown(value) for key, value in islice(mapping.items(), MAX_ELEMENTS)}
    left_out = len(mapping) - MAX_ELEMENTS
    if left_out > 0:
        short["..."] = f"{left_out} more"
    return short


def _shown_list(values: Sequence[Any]) -> list[Any]:
    short = [shown(value) for value in values[:MAX_ELEMENTS]]
    left_out = len(values) - MAX_ELEMENTS
    if left_out > 0:
        short.append(f"... {left_out} more")
    return short
