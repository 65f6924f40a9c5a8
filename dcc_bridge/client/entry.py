"""What a person types, as the value of a field. Pure; any thread."""

from __future__ import annotations

import re
from typing import Any, Final

from dcc_bridge.elicitation.schema import Field
from dcc_bridge.elicitation.validation import InvalidAnswer

_YES: Final = {"y", "yes", "true"}
_NO: Final = {"n", "no", "false"}


def value(field: Field, text: str) -> Any:
    """Read a line as a field's value.

    Raises:
        InvalidAnswer: It does not fit; says what would.
    """
    match field.kind:
        case "boolean":
            return yes_or_no(text)
        case "integer" | "number":
            return field.check(_number(field, text))
        case "choice":
            return field.check(_option(field, text))
        case "choices":
            return field.check(_options(field, text))
        case _:
            return field.check(text)


def yes_or_no(text: str) -> bool:
    """Read a line as yes or no.

    Raises:
        InvalidAnswer: It is neither.
    """
    word = text.strip().lower()
    if word in _YES | _NO:
        return word in _YES
    raise InvalidAnswer("Type yes or no.")


def hint(field: Field) -> str:
    """Say in a few words what a field takes."""
    words = {
        "string": {None: "text", "uri": "web address"}.get(field.format, field.format or "text"),
        "number": "number",
        "integer": "whole number",
        "boolean": "yes or no",
        "choice": "one number",
        "choices": "numbers, such as 1,2",
    }[field.kind]
    return words + _limits(field)


def shown(field: Field, chosen: Any) -> str:
    """Give a value as the person reads it."""
    titles = {option.value: option.title for option in field.options}
    match chosen:
        case None:
            return "(left out)"
        case bool():
            return "yes" if chosen else "no"
        case list():
            return ", ".join(titles[one] for one in chosen) or "none"
        case str():
            return titles.get(chosen, chosen)
        case _:
            return str(chosen)


def _limits(field: Field) -> str:
    unit = " characters" if field.kind == "string" else ""
    least, most = field.least, field.most
    if least is not None and most is not None:
        return f", {least:g} to {most:g}{unit}"
    if least is not None:
        return f", at least {least:g}{unit}"
    return f", at most {most:g}{unit}" if most is not None else ""


def _number(field: Field, text: str) -> int | float:
    word = text.strip()
    try:
        return int(word) if re.fullmatch(r"[+-]?[0-9]+", word) else float(word)
    except ValueError:
        noun = "a whole number" if field.kind == "integer" else "a number"
        raise InvalidAnswer(f"Type {noun}.") from None


def _option(field: Field, text: str) -> str:
    """Give the option that a number, a title or a value names."""
    word = text.strip()
    if re.fullmatch(r"[0-9]{1,4}", word) and 1 <= int(word) <= len(field.options):
        return field.options[int(word) - 1].value
    for option in field.options:
        if word in (option.title, option.value):
            return option.value
    raise InvalidAnswer(f"Type a number from 1 to {len(field.options)}.")


def _options(field: Field, text: str) -> list[str]:
    if text.strip().lower() == "none":
        return []
    chosen = [_option(field, word) for word in re.split(r"[,\s]+", text.strip())]
    return list(dict.fromkeys(chosen))
