"""The formats of a text field. Any thread."""

from __future__ import annotations

import re
from typing import Any, Final

NAMES: Final = ("email", "uri", "date", "date-time")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    _DATE.pattern + r"[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
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


def _parses(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True
