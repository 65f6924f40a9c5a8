"""Reads the front matter of a SKILL.md: the fields before its text. Any thread.

Front matter is YAML. Clients read it with a parser of their own and compare, so it must mean the
same to each. What is read here is the part of YAML in which all versions agree: texts, plain, in
quotes or in a block, and maps of such texts, one level deep. A plain text that YAML reads as
something else, such as ``1.0`` or ``yes``, is refused.
"""

from __future__ import annotations

import json
import re
from typing import Final

from dcc_bridge.errors import InstructionError

Fields = dict[str, "str | dict[str, str]"]
_FENCE: Final = "---"
_KEY: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?: +(.*))?")
_DOUBLE_QUOTED: Final = re.compile(r'("(?:[^"\\]|\\["\\nt])*") *(?:$| #)')
_SINGLE_QUOTED: Final = re.compile(r"'((?:[^']|'')*)' *(?:$| #)")
_BLOCKS: Final = ("|", "|-", ">", ">-")
_INDICATORS: Final = tuple("-?:,[]{}#&*!|>'\"%@`=<")
# A plain text that some version of YAML reads as a number, a date, a truth value or nothing.
_NO_TEXT: Final = re.compile(
    r"[-+]?[0-9.][^ ]*|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|~|null|true|false|yes|no|on|off|y|n",
    re.IGNORECASE,
)


def read_fields(text: str) -> Fields:
    """Return the fields of a SKILL.md.

    Args:
        text: The whole file.

    Raises:
        InstructionError: The file does not begin with front matter that can be read. The message
            is a clause with the line.
    """
    lines = re.split(r"\r?\n", text)
    if lines[0].rstrip() != _FENCE:
        raise InstructionError(f"line 1: it does not begin with {_FENCE}")
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            return _Reader(lines[:number]).fields()
    raise InstructionError(f"line 1: no {_FENCE} ends the front matter")


class _Reader:
    """Reads the lines of front matter in turn."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 1  # the first line is the fence

    def fields(self) -> Fields:
        """Return all fields."""
        fields: Fields = {}
        while self._skip_blank():
            key, rest = self._key(indent=0, known=fields)
            after_key = self._at
            if not rest and self._skip_blank() and self._indent():
                fields[key] = self._map(self._indent())
                continue
            self._at = after_key
            fields[key] = self._text(rest, indent=0)
        return fields

    def _map(self, indent: int) -> dict[str, str]:
        """Return the texts of a map, whose lines begin with so many blanks."""
        texts: dict[str, str] = {}
        while self._skip_blank() and self._indent():
            key, rest = self._key(indent, texts)
            texts[key] = self._text(rest, indent)
        return texts

    def _key(self, indent: int, known: Fields | dict[str, str]) -> tuple[str, str]:
        """Return the key of the next line, and what follows it."""
        line = self._line
        self._at += 1
        match = _KEY.fullmatch(line[indent:].rstrip(" "))
        if "\t" in line or match is None or line[:indent].strip(" "):
            raise self._error("it is not 'key: text'")
        key = match[1]
        if _NO_TEXT.fullmatch(key):
            raise self._error(f"{key!r} cannot be a key")
        if key in known:
            raise self._error(f"{key!r} stands there twice")
        rest = match[2] or ""
        if rest.startswith("#"):
            rest = ""
        return key, rest

    def _text(self, rest: str, indent: int) -> str:
        """Return the text that begins in the line of its key."""
        if rest in _BLOCKS:
            return self._block(rest, indent)
        double_quoted = _DOUBLE_QUOTED.match(rest)
        if double_quoted is not None:
            return str(json.loads(double_quoted[1], strict=False))
        single_quoted = _SINGLE_QUOTED.match(rest)
        if single_quoted is not None:
            return single_quoted[1].replace("''", "'")
        plain = re.split(" +#", rest)[0]
        is_text = not plain.startswith(_INDICATORS) and not _NO_TEXT.fullmatch(plain)
        if not plain or not is_text or ": " in plain or plain.endswith(":"):
            raise self._error("write its text in double quotes")
        if self._at < len(self._lines) and self._indent() > indent:
            raise self._error("write its text in one line, or below >- or |-")
        return plain

    def _block(self, style: str, indent: int) -> str:
        """Return the text of the lines below, of which each begins with the same blanks."""
        width = self._indent()
        lines: list[str] = []
        while self._at < len(self._lines) and (self._indent() > indent or not self._line.strip()):
            is_aligned = not self._line or _blanks(self._line) == width
            lines.append(self._line[width:])
            self._at += 1
            if not is_aligned:
                raise self._error("begin each line of this text with the same blanks")
        text = "\n".join(lines).rstrip("\n")
        if width <= indent or not lines[0]:
            raise self._error("the text below is missing")
        if style.startswith(">"):
            text = re.sub(r"\n(\n*)", lambda ends: ends[1] or " ", text)
        if style.endswith("-"):
            return text
        return f"{text}\n"

    @property
    def _line(self) -> str:
        """The line that is read next."""
        return self._lines[self._at]

    def _skip_blank(self) -> bool:
        """Skip empty lines and remarks; return whether there is another line."""
        while self._at < len(self._lines):
            line = self._line.strip(" ")
            if line and not line.startswith("#"):
                return True
            self._at += 1
        return False

    def _indent(self) -> int:
        """Return the number of blanks before the next line that is not empty; 0 at the end."""
        for line in self._lines[self._at :]:
            if line.strip(" "):
                return _blanks(line)
        return 0

    def _error(self, why: str) -> InstructionError:
        return InstructionError(f"line {self._at}: {why}")


def _blanks(line: str) -> int:
    """Return the number of blanks at the beginning of a line."""
    return len(line) - len(line.lstrip(" "))
