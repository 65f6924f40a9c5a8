"""What a browser sends for a field, and the value it stands for. Any thread.

A field is a list of texts under a name of ours, as HTML forms have it: the text itself, the number
of a choice or its title, "yes" or "no". A field that may be left out is left out while it is empty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.schema import FILTERED_FROM, Field, Form
from dcc_bridge.elicitation.validation import InvalidAnswer

Entry = Sequence[str]
Entries = Mapping[str, Entry]

YES: Final = "yes"
NO: Final = "no"
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_MISSING: Final = "Please fill this in."
_NOT_CHOSEN: Final = "Please choose one."


def key(number: int) -> str:
    """Give the name under which a browser sends a form's field of that number."""
    return f"field{number}"


def first(form: Form, *, consent: bool) -> dict[str, Entry]:
    """Give what is filled in at first: the defaults, but never a yes to a consent."""
    return {
        key(number): _default(field, consent=consent) for number, field in enumerate(form.fields)
    }


def values(form: Form, entries: Entries) -> dict[str, object]:
    """Give the fields' values, valid or not, without those that are left out."""
    pairs = {f.name: _value(f, entries.get(key(n), ())) for n, f in enumerate(form.fields)}
    return {name: value for name, value in pairs.items() if value is not None}


def problems(form: Form, content: Mapping[str, object]) -> dict[str, str]:
    """Say what is wrong, by the key of each field that has something wrong with it."""
    found = {key(n): _problem(f, content.get(f.name)) for n, f in enumerate(form.fields)}
    return {name: why for name, why in found.items() if why}


def titles(field: Field) -> list[str]:
    """Give what the person reads of each choice; no two are the same."""
    shown = [plain.line(option.title).strip() or "(empty)" for option in field.options]
    count = Counter(shown)
    shown = [
        title if count[title] == 1 else f"{title} ({plain.line(option.value)})"
        for title, option in zip(shown, field.options, strict=True)
    ]
    count = Counter(shown)
    return [
        title if count[title] == 1 else f"{title} (number {number})"
        for number, title in enumerate(shown, 1)
    ]


def is_typed(field: Field) -> bool:
    """Whether one of many is chosen by typing its title, which a browser then filters by."""
    return field.kind == "choice" and len(field.options) >= FILTERED_FROM


def hides(field: Field) -> str:
    """Give a default as it is shown where it must not be filled in for what it hides, or ""."""
    if field.kind != "string" or field.default is None:
        return ""
    shown = plain.passage(field.default, max(len(field.default), 1))
    return "" if shown == field.default else shown


def _default(field: Field, *, consent: bool) -> Entry:
    default = field.default
    if default is None or hides(field) or (consent and default is True):
        return ()
    indices = {option.value: str(index) for index, option in enumerate(field.options)}
    match field.kind:
        case "boolean":
            return (YES if default else NO,)
        case "choice" if is_typed(field):
            return (titles(field)[int(indices[default])],)
        case "choice":
            return (indices[default],)
        case "choices":
            return tuple(indices[value] for value in default)
        case _:
            return (str(default),)


def _value(field: Field, entry: Entry) -> object | None:
    text = entry[0].replace("\r\n", "\n") if entry else ""
    match field.kind:
        case "boolean":
            return _flag(field, text)
        case "choice":
            return _chosen(field, text) if text else None
        case "choices":
            return _ticked(field, entry) if entry or field.required else None
        case "string":
            keeps_empty = field.required and (field.default == "" or field.least == 0)
            return text if text or keeps_empty else None
        case _:
            return _number(text.strip())


def _flag(field: Field, text: str) -> object | None:
    if text in (YES, NO):
        return text == YES
    return text or (False if field.required else None)


def _chosen(field: Field, text: str) -> str:
    if is_typed(field):
        return _titled(field, text.strip())
    if text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < len(field.options):
        return field.options[int(text)].value
    return f"{text} (not a choice)"


def _ticked(field: Field, entry: Entry) -> list[str]:
    """Give some of many in the order of the schema: what a filter hides is sent first."""
    order = {option.value: index for index, option in enumerate(field.options)}
    return sorted((_chosen(field, one) for one in entry), key=lambda one: order.get(one, -1))


def _titled(field: Field, text: str) -> str:
    """Give the choice of that title; in any case, where that leaves no doubt."""
    values = [option.value for option in field.options]
    known = dict(zip(titles(field), values, strict=True))
    alike = [value for title, value in known.items() if title.casefold() == text.casefold()]
    if text not in known and len(alike) == 1:
        return alike[0]
    return known.get(text, f"{text} (not a choice)")


def _number(text: str) -> object | None:
    if not _NUMBER.fullmatch(text):
        return text or None
    try:
        return int(text)
    except ValueError:
        return float(text)


def _problem(field: Field, value: object | None) -> str:
    if value is None and not field.required:
        return ""
    if value is None:
        return _NOT_CHOSEN if field.kind == "choice" else _MISSING
    try:
        field.check(value)
    except InvalidAnswer as error:
        return plain.passage(error.reason[:1].upper() + error.reason[1:])
    return ""
