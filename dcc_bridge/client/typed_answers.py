"""Converts lines that a person types to values of fields, and values to texts. Any thread."""

from __future__ import annotations

import re
from typing import Any, Final

from dcc_bridge.elicitation.field_view import FieldView
from dcc_bridge.elicitation.validation import Field, InvalidAnswer

SKIP: Final = "/skip"
"""The word by which a person leaves out an optional field."""
_YES: Final = {"y", "yes", "true"}
_NO: Final = {"n", "no", "false"}
_HINTS: Final = {  # what is typed for a field of each kind
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "yes or no",
    "choice": "one number",
    "choices": "numbers, such as 1,2",
}


def read_value(view: FieldView, text: str, offered: Any) -> Any:
    """Return the value that a typed line stands for.

    Args:
        view: The field.
        text: The line. An empty line takes the offered value.
        offered: The value that Enter accepts; None if there is none.

    Returns:
        The value, which fits the field; None if an optional field is left out.

    Raises:
        InvalidAnswer: The line does not fit. The message says what to type.
    """
    if text.strip() == SKIP and not view.field.required:
        return None
    if text.strip():
        return _parse(view, text)  # with the spaces around the text
    if view.field.required and offered is None:
        raise InvalidAnswer("An answer is needed here.")
    return offered


def _parse(view: FieldView, text: str) -> Any:
    field = view.field
    match field.kind:
        case "boolean":
            return parse_yes_or_no(text)
        case "integer" | "number":
            return field.check(_number(field, text))
        case "choice":
            return field.check(_option(view, text))
        case "choices":
            return field.check(_options(view, text))
        case _:
            return field.check(text)


def parse_yes_or_no(text: str) -> bool:
    """Return whether a typed line says yes.

    Raises:
        InvalidAnswer: The line says neither yes nor no.
    """
    word = text.strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise InvalidAnswer("Type yes or no.")


def hint(field: Field) -> str:
    """Return the kind of text to type for a field, in a few words."""
    if field.format == "uri":
        return "web address"
    if field.format:
        return field.format
    return _HINTS[field.kind]


def value_text(view: FieldView, value: Any) -> str:
    """Return the value of a field as a person reads it, with the titles of options."""
    titles = {option.value: option.title for option in view.options}
    match value:
        case None:
            return "(left out)"
        case True:
            return "yes"
        case False:
            return "no"
        case []:
            return "none"
        case list():
            return ", ".join(titles[option] for option in value)
        case str():
            return titles.get(value, value)
        case _:
            return str(value)


def _number(field: Field, text: str) -> int | float:
    word = text.strip()
    try:
        if re.fullmatch(r"[+-]?[0-9]+", word):
            return int(word)
        return float(word)
    except ValueError:
        noun = "a number"
        if field.kind == "integer":
            noun = "a whole number"
        raise InvalidAnswer(f"Type {noun}.") from None


def _option(view: FieldView, text: str) -> str:
    """Return the option that a number, a title or a value names."""
    word = text.strip()
    # A number is a place in the list, even if an option has that number as its title.
    if re.fullmatch(r"[0-9]{1,4}", word) and 1 <= int(word) <= len(view.options):
        return view.options[int(word) - 1].value
    for option in view.options:
        if word in (option.title, option.value):
            return option.value
    raise InvalidAnswer(f"Type a number from 1 to {len(view.options)}.")


def _options(view: FieldView, text: str) -> list[str]:
    """Return the options that a line names, each once."""
    if text.strip().lower() == "none":
        return []
    words = re.split(r"[,\s]+", text.strip())
    return list(dict.fromkeys(_option(view, word) for word in words))
