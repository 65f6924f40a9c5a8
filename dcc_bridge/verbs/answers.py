"""Answers of the verbs: the first rows of each list, and values cut short. Main thread."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from dcc_bridge.skills.skill import report_done
from dcc_bridge.verbs.names import LIKE
from dcc_bridge.verbs.operations import Value

LISTED: Final = 100  # rows of an answer; the rest is counted
_MAX_ERRORS: Final = 10  # that one message names
MAX_ELEMENTS: Final = 24  # elements of a list within an answer
_MAX_TEXT: Final = 600  # characters of a text within an answer
Json = dict[str, Any]


class VerbResult(dict[str, Any]):
    """The answer of a verb, with the first rows of each list.

    Attributes:
        every: All the items that the answer is about.
    """

    every: Sequence[str] = ()


def result(items: Sequence[str], summary: str = "", **facts: Any) -> VerbResult:
    """Return the answer of a verb on items, with the first rows of each list.

    The items are listed by themselves if no row names them.

    Args:
        items: The items that the answer is about.
        summary: What was done, as a person reads it; "" if nothing was.
        facts: More parts of the answer. A part may be an iterator of rows, of which only the
            first are made. `found` is how many items or rows there are, if not one for each item.
    """
    if summary:
        report_done(summary)
    left_out = max(0, facts.get("found", len(items)) - LISTED)
    parts: dict[str, Any] = {"found": len(items), **facts}
    for name, rows in facts.items():
        if isinstance(rows, Iterator):
            parts[name] = list(islice(rows, LISTED))
            if left_out:
                parts[f"{name}_left_out"] = left_out
    answer = VerbResult(first_rows(parts, LISTED))
    if not items or not _texts_in_rows(answer).issuperset(items[:LISTED]):
        answer.update(first_rows({"items": list(items)}, LISTED))
    answer.every = items
    return answer


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
        if not isinstance(rows, list) or len(rows) <= most:
            continue
        short[name] = rows[:most]
        if "listed" in facts:
            short["listed"] = most
        else:
            before = facts.get(f"{name}_left_out", 0)
            short[f"{name}_left_out"] = before + len(rows) - most
    return short


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
            start = re.sub(r"\s\S{0,40}$", "", value[:_MAX_TEXT])  # no half a word
            return f"{start}... ({len(value)} characters)"
        case Mapping():
            return _shown_mapping(value)
        case list() | tuple():
            return _shown_list(value)
    return value


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
