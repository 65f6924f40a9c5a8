"""A line of the record, and how it hangs on the one before. Any thread.

A line is a JSON object whose first member is the SHA-256 of the hash before it and of the rest of
the line, byte for byte: whoever changes a byte, takes a line out, or puts one in breaks the chain
there. It shows damage and tampering, not who did it: a person who may write the file may also
write it anew from some line on. The hash of a last line, kept elsewhere, shows that too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

START: Final = "0" * 64
"""What the first line of all hangs on."""
OPENED: Final = "opened"
"""The event of each file's first line: it tells what is the same for all that follow."""
_LINE: Final = re.compile(rb'\{"hash":"([0-9a-f]{64})",(.+)')

Fields = Mapping[str, Any]


class BrokenChain(Exception):
    """A line is not what was written.

    Attributes:
        number: Which line of its file, from 1.
        why: What is wrong with it.
    """

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"line {number}: {why}")
        self.number = number
        self.why = why


@dataclass(frozen=True, slots=True)
class Line:
    """A line that hangs on the one before.

    Attributes:
        hash: Its own.
        fields: What it says.
    """

    hash: str
    fields: dict[str, Any]

    @property
    def event(self) -> str:
        """What happened."""
        return str(self.fields.get("event"))


def seal(before: str, fields: Fields) -> tuple[bytes, str]:
    """Make a line.

    Args:
        before: The hash that it hangs on.
        fields: What it says; JSON can carry it.

    Returns:
        The line, and its own hash.
    """
    rest = json.dumps(fields, separators=(",", ":"), allow_nan=False)[1:].encode()
    own = _digest(before, rest)
    return b'{"hash":"%s",%s\n' % (own.encode(), rest), own


def check(data: bytes) -> tuple[list[Line], bytes, BrokenChain | None]:
    """Follow the chain of one file.

    Args:
        data: All that is in it. Its first line says what it hangs on.

    Returns:
        The lines up to the first broken one; what stands behind the last line end; what is broken.
    """
    *whole, rest = data.split(b"\n")
    lines: list[Line] = []
    try:
        for number, text in enumerate(whole, 1):
            lines.append(_line(text, number, lines[-1] if lines else None))
    except BrokenChain as broken:
        return lines, rest, broken
    return lines, rest, None


def numbered(fields: Iterable[Fields], first: int) -> Iterable[Fields]:
    """Number lines that follow each other."""
    return ({"n": number, **each} for number, each in enumerate(fields, first))


def _line(text: bytes, number: int, before: Line | None) -> Line:
    found = _LINE.fullmatch(text)
    if found is None:
        raise BrokenChain(number, "it is not a line of a record.")
    own, rest = found[1].decode(), found[2]
    try:
        fields = json.loads(b"{" + rest)
    except (ValueError, RecursionError):
        raise BrokenChain(number, "it is not JSON any more.") from None
    if before is None and fields.get("event") != OPENED:
        raise BrokenChain(number, "the lines before it are missing.")
    last = before.hash if before is not None else str(fields.get("prev"))
    if _digest(last, rest) != own:
        raise BrokenChain(number, "it does not hang on the line before: one of them was changed.")
    return Line(own, fields)


def _digest(before: str, rest: bytes) -> str:
    return sha256(before.encode() + rest).hexdigest()
