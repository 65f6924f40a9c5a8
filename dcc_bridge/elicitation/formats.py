"""The formats of a text field, and the names that give a secret away. Any thread."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

NAMES: Final = {
    "email": "an e-mail address",
    "uri": "a web address",
    "date": "a date such as 2026-11-20",
    "date-time": "a date and time such as 2026-11-20T14:30:00Z",
}
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    _DATE.pattern + r"[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_SECRET_WORDS: Final = {
    *("password", "passwd", "passphrase", "secret", "credential", "credentials"),
    *("apikey", "cvv", "cvc", "pin", "otp"),
}
_SECRET_PAIRS: Final = frozenset(
    {("api", "key"), ("access", "key"), ("private", "key"), ("access", "token"), ("auth", "token")}
)


def fits(name: str, text: str) -> bool:
    """Whether a text has one of the formats of `NAMES`."""
    from datetime import date, datetime  # 5 ms that only a text with a format needs
    from urllib.parse import urlsplit

    match name:
        case "email":
            user, at, host = text.rpartition("@")
            return bool(user and at and "." in host.strip(".") and not re.search(r"\s", text))
        case "uri":
            has_scheme = _parses(urlsplit, text) and bool(urlsplit(text).scheme)
            return has_scheme and not re.search(r"\s", text)
        case "date":
            return bool(_DATE.fullmatch(text)) and _parses(date.fromisoformat, text)
        case _:
            return bool(_DATE_TIME.fullmatch(text)) and _parses(
                datetime.fromisoformat, text.upper()
            )


def looks_secret(name: str, part: Mapping[str, Any]) -> bool:
    """Whether a field asks for something that must not pass through a client or a model."""
    if part.get("format") == "password":
        return True
    words = [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]
    return (
        bool(_SECRET_WORDS & set(words))
        or any(pair in _SECRET_PAIRS for pair in pairwise(words))
        or words == ["token"]
    )


def _parses(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True
