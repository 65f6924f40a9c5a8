"""The fields of a form, and validation of their values, with messages for a person. Any thread.

Patterns are matched in linear time, by Rust's `regex` crate in pydantic-core. Python's own `re`
backtracks: one bad pattern held the interpreter for 6.6 s. The crate refuses patterns that it
cannot match in linear time: back-references, look-around, and repetitions that grow too large.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, TypeGuard

from dcc_bridge.errors import SchemaError

Kind = Literal["string", "number", "integer", "boolean", "choice", "choices"]

MAX_PATTERN_CHARS: Final = 256
MAX_SHORTENED_CHARS: Final = 60  # of a value's representation in a message
FORMATS: Final = {  # the formats of a text, each as a person calls it
    "email": "an e-mail address",
    "uri": "a web address",
    "date": "a date such as 2026-11-20",
    "date-time": "a date and time such as 2026-11-20T14:30:00Z",
}
# The units that the bounds of a kind count; the bounds of a number limit the value itself.
_UNITS: Final = {"string": "character", "choices": "choice"}
_MAX_NAMED_OPTIONS: Final = 12  # in the message about a value that is not among the options
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    _DATE.pattern + r"[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
# A pattern of one class of characters; the first character may have a class of its own.
_CLASS: Final = re.compile(r"\^(\[(?P<first>[^]^]+)\])?\[(?P<all>[^]^]+)\][+*]\$")
_CHARACTERS: Final = {
    "a-zA-Z": "letters",
    "A-Za-z": "letters",
    "a-z": "lower-case letters",
    "A-Z": "upper-case letters",
    "0-9": "digits",
    r"\d": "digits",
    r"\w": "letters, digits, _",
    " ": "spaces",
}
_MEMBER: Final = re.compile(r"a-zA-Z|A-Za-z|a-z|A-Z|0-9|\\?.")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a choice.

    Attributes:
        value: The value in the answer.
        title: The text that the person reads.
    """

    value: str
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form.

    Attributes:
        name: The key of the field in the answer.
        kind: The kind of value that the field takes.
        title: The caption that the person reads beside the field.
        description: A longer explanation, or "".
        required: Whether the field cannot be left out.
        default: The value that is filled in at first, or None.
        options: The options of a choice.
        least: The smallest value, length or number of choices, or None.
        most: The largest value, length or number of choices, or None.
        format: "email", "uri", "date" or "date-time", or None.
        pattern: A regular expression that must be found in a text, or None.
    """

    name: str
    kind: Kind
    title: str
    description: str
    required: bool
    default: Any
    options: tuple[Option, ...] = ()
    least: float | None = None
    most: float | None = None
    format: str | None = None
    pattern: str | None = None

    def check(self, value: object) -> Any:
        """Validate a value.

        Args:
            value: The value that a person filled in.

        Returns:
            The value, with the type of the field's kind.

        Raises:
            InvalidAnswer: The value does not fit; the message says which values do.
        """
        return validate(self, value)


class InvalidAnswer(ValueError):
    """An answer that does not fit its form. The message names the field and the reason.

    Attributes:
        reason: The reason without the field's name.
    """

    def __init__(self, reason: str, field: str = "") -> None:
        """Make the error for a field.

        Args:
            reason: The values that would fit, in a sentence for the person.
            field: The name of the field; "" for the form as a whole.
        """
        self.reason = reason
        message = reason
        if field:
            message = f"{field}: {reason}"
        super().__init__(message)


def validate(field: Field, value: object) -> Any:
    """Return a valid value, with the type of the field's kind; else raise InvalidAnswer."""
    match field.kind:
        case "boolean":
            return _validate_boolean(field, value)
        case "string":
            return _validate_text(field, value)
        case "choice":
            return _validate_choice(field, value)
        case "choices":
            return _validate_choices(field, value)
        case _:
            return _validate_number(field, value)


def _validate_boolean(field: Field, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidAnswer(f"expected yes or no, not {shorten(value)}.", field.name)
    return value


def _validate_text(field: Field, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidAnswer(f"expected a text, not {shorten(value)}.", field.name)
    _validate_bounds(field, len(value))
    if field.format and not _has_format(field.format, value):
        raise InvalidAnswer(f"{shorten(value)} is not {FORMATS[field.format]}.", field.name)
    if field.pattern and not _matches(field.pattern, value):
        raise InvalidAnswer(_describe_pattern(field), field.name)
    return value


def _describe_pattern(field: Field) -> str:
    """Describe a fitting text: in words, as the form's author describes it, or by an example."""
    simple_pattern = _CLASS.fullmatch(field.pattern or "")
    if simple_pattern is not None:
        allowed = _name_characters(simple_pattern["all"])
        first = _name_characters(simple_pattern["first"] or "")
        if allowed and first:
            return f"only {allowed}, with {first} at the beginning."
        if allowed:
            return f"only {allowed}."
    if field.description:
        return f"it does not fit the description: {field.description}"
    example = ""
    if field.default:
        example = f", for example {field.default}"
    return f"it does not have the form that the skill expects{example}."


def _name_characters(members: str) -> str:
    """Return the characters of a regular expression's class in words; "" where words fail."""
    parts = _MEMBER.findall(members)
    if "-" in parts[1:-1]:
        return ""
    names = [_CHARACTERS.get(part, part[-1]) for part in parts]
    if any(len(name) == 1 and name.isalnum() for name in names):
        return ""
    if len(names) < 2:
        return "".join(names)
    first_names = ", ".join(names[:-1])
    return f"{first_names} and {names[-1]}"


def _validate_number(field: Field, value: object) -> int | float:
    is_whole = field.kind == "integer"
    if not is_number(value) or (is_whole and not float(value).is_integer()):
        expected = "a whole number" if is_whole else "a finite number"
        raise InvalidAnswer(f"expected {expected}, not {shorten(value)}.", field.name)
    number = int(value) if is_whole else value
    _validate_bounds(field, number)
    return number


def _validate_choice(field: Field, value: object) -> str:
    values = [option.value for option in field.options]
    if isinstance(value, str) and value in values:
        return value
    named = values[:_MAX_NAMED_OPTIONS]
    if len(values) > _MAX_NAMED_OPTIONS:
        named.append("…")
    expected = ", ".join(named)
    raise InvalidAnswer(f"expected one of {expected}, not {shorten(value)}.", field.name)


def _validate_choices(field: Field, value: object) -> list[str]:
    if not isinstance(value, list):
        raise InvalidAnswer(f"expected a list of choices, not {shorten(value)}.", field.name)
    _validate_bounds(field, len(value))
    return [_validate_choice(field, item) for item in value]


def _validate_bounds(field: Field, size: float) -> None:
    if field.least is not None and size < field.least:
        least = _describe_bound(field.kind, field.least, math.ceil)
        raise InvalidAnswer(f"at least {least}, please.", field.name)
    if field.most is not None and size > field.most:
        most = _describe_bound(field.kind, field.most, math.floor)
        raise InvalidAnswer(f"at most {most}, please.", field.name)


def _describe_bound(kind: str, bound: float, rounded: Callable[[float], int]) -> str:
    unit = _UNITS.get(kind)
    if unit is None:
        if float(bound).is_integer():
            return f"{int(bound):,}"
        return repr(bound)
    count = rounded(bound)
    if count == 1:
        return f"{count:,} {unit}"
    return f"{count:,} {unit}s"


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number, and no boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def shorten(value: object) -> str:
    """Return a value's representation, cut to `MAX_SHORTENED_CHARS`."""
    text = repr(value)
    if len(text) <= MAX_SHORTENED_CHARS:
        return text
    return text[: MAX_SHORTENED_CHARS - 3] + "..."


def _has_format(name: str, text: str) -> bool:
    from datetime import date, datetime  # 5 ms that only a text with a format needs
    from urllib.parse import urlsplit

    try:
        match name:
            case "email":
                if re.search(r"\s", text):
                    return False
                user, _, host = text.rpartition("@")  # without an @ the user is ""
                return bool(user) and "." in host.strip(".")
            case "uri":
                return bool(urlsplit(text).scheme) and not re.search(r"\s", text)
            case "date":
                return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
            case _:
                return bool(_DATE_TIME.fullmatch(text) and datetime.fromisoformat(text.upper()))
    except ValueError:
        return False


def compile_pattern(pattern: object) -> str:
    """Return a pattern, compiled for `validate`.

    Args:
        pattern: The pattern, as a form's schema has it.

    Raises:
        SchemaError: The pattern is no text, too long, or cannot be matched in bounded time.
    """
    if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_CHARS:
        raise SchemaError(f"a pattern is a text of {MAX_PATTERN_CHARS} characters at most.")
    _matcher(pattern)
    return pattern


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern is found anywhere in a text, as JSON Schema has it."""
    from pydantic import ValidationError  # loaded by `_matcher` already

    try:
        _matcher(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=128)
def _matcher(pattern: str) -> Any:
    from pydantic import StringConstraints, TypeAdapter  # 60 ms that only a pattern needs
    from pydantic_core import SchemaError as BadPattern

    try:
        return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern, strict=True)])
    except BadPattern as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise SchemaError(
            f"the pattern {pattern!r} cannot be matched in bounded time: {reason}."
        ) from error
