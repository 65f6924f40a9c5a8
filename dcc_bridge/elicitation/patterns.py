"""Patterns, matched in bounded time. Any thread.

Python's own `re` backtracks: one bad pattern held the interpreter for 6.6 s. pydantic-core matches
with Rust's `regex` crate instead, whose time is linear in the text and which refuses what it cannot
match so: back-references, look-around, and repetitions that grow too large.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Final

from dcc_bridge.errors import SchemaError

LONGEST: Final = 256
"""Characters that a pattern may have."""


def check(pattern: object) -> str:
    """Give a pattern that can be matched.

    Raises:
        SchemaError: It is too long, or cannot be matched in bounded time.
    """
    if not isinstance(pattern, str) or len(pattern) > LONGEST:
        raise SchemaError(f"a pattern is a text of {LONGEST} characters at most")
    _matcher(pattern)
    return pattern


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text, as JSON Schema has it."""
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
        why = str(error).strip().splitlines()[-1].strip()
        raise SchemaError(
            f"the pattern {pattern!r} cannot be matched in bounded time: {why}"
        ) from error
