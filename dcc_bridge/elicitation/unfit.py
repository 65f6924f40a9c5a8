"""What is wrong with a value that does not fit its field, in sentences. Any thread."""

from __future__ import annotations

import math

from dcc_bridge.elicitation.sentence import Sentence


def too_little(kind: str, least: float) -> Sentence:
    """Say how much there has to be at least.

    Args:
        kind: Of the field.
        least: Its smallest value, length or number of choices.
    """
    n = math.ceil(least)
    match kind:
        case "string" if n == 1:
            return Sentence("at least 1 character, please.")
        case "string":
            return Sentence("at least {n:,} characters, please.", n=n)
        case "choices" if n == 1:
            return Sentence("at least 1 choice, please.")
        case "choices":
            return Sentence("at least {n:,} choices, please.", n=n)
        case _:
            return Sentence("at least {least}, please.", least=_number(least))


def too_much(kind: str, most: float) -> Sentence:
    """Say how much there may be at most.

    Args:
        kind: Of the field.
        most: Its largest value, length or number of choices.
    """
    n = math.floor(most)
    match kind:
        case "string" if n == 1:
            return Sentence("at most 1 character, please.")
        case "string":
            return Sentence("at most {n:,} characters, please.", n=n)
        case "choices" if n == 1:
            return Sentence("at most 1 choice, please.")
        case "choices":
            return Sentence("at most {n:,} choices, please.", n=n)
        case _:
            return Sentence("at most {most}, please.", most=_number(most))


def not_the_format(name: str, value: str) -> Sentence:
    """Say what a text is not.

    Args:
        name: One of `formats.NAMES`.
        value: The text, short and quoted.
    """
    match name:
        case "email":
            return Sentence("{value} is not an e-mail address.", value=value)
        case "uri":
            return Sentence("{value} is not a web address.", value=value)
        case "date":
            return Sentence("{value} is not a date such as 2026-11-20.", value=value)
        case _:
            return Sentence(
                "{value} is not a date and time such as 2026-11-20T14:30:00Z.", value=value
            )


def not_a_number(kind: str, value: str) -> Sentence:
    """Say what a number has to be.

    Args:
        kind: Of the field.
        value: What it is, short and quoted.
    """
    if kind == "integer":
        return Sentence("expected a whole number, not {value}.", value=value)
    return Sentence("expected a finite number, not {value}.", value=value)


def _number(bound: float) -> str:
    return f"{int(bound):,}" if float(bound).is_integer() else repr(bound)
