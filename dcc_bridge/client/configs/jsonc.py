"""JSON with comments and trailing commas: what stands where in it. Any thread."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

_TRIVIA: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"[^\s,\]}/]+")


class NotJson(ValueError):
    """A text is no JSON, not even with comments and trailing commas."""

    def __init__(self, text: str, at: int) -> None:
        super().__init__(f"it is no JSON from line {text.count(chr(10), 0, at) + 1} on")


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and where it stands.

    Attributes:
        start: Where it begins.
        end: Where it has ended.
        data: What it is.
        members: Of an object, in their order; nothing for anything else.
    """

    start: int
    end: int
    data: Any
    members: tuple[Member, ...] = ()

    def member(self, key: str) -> Member | None:
        """Give the member of that name; of two, the one that counts."""
        return next((one for one in reversed(self.members) if one.key == key), None)


@dataclass(frozen=True, slots=True)
class Member:
    """A key and its value in an object.

    Attributes:
        key: The key.
        start: Where it begins.
        value: What follows it.
    """

    key: str
    start: int
    value: Value


def parse(text: str) -> Value:
    """Read a text.

    Raises:
        NotJson: It is none.
    """
    reader = _Reader(text)
    value = reader.value()
    if skip(text, value.end) != len(text):
        raise NotJson(text, value.end)
    return value


def skip(text: str, at: int) -> int:
    """Give where the next thing stands that is no space and no comment."""
    found = _TRIVIA.match(text, at)
    return found.end() if found is not None else at


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def value(self) -> Value:
        start = self._at = skip(self._text, self._at)
        if self._take("{"):
            members = self._members()
            return Value(start, self._at, {one.key: one.value.data for one in members}, members)
        data = self._items() if self._take("[") else self._scalar()
        return Value(start, self._at, data)

    def _members(self) -> tuple[Member, ...]:
        members = []
        while not self._take("}"):
            start = self._at
            key = self._match(_STRING)
            if not self._take(":"):
                raise NotJson(self._text, self._at)
            members.append(Member(key, start, self.value()))
            self._comma("}")
        return tuple(members)

    def _items(self) -> list[Any]:
        items = []
        while not self._take("]"):
            items.append(self.value().data)
            self._comma("]")
        return items

    def _scalar(self) -> Any:
        return self._match(_STRING if self._text.startswith('"', self._at) else _SCALAR)

    def _match(self, pattern: re.Pattern[str]) -> Any:
        found = pattern.match(self._text, self._at)
        try:
            data = json.loads(found[0] if found is not None else "")
        except ValueError:
            raise NotJson(self._text, self._at) from None
        self._at += len(found[0]) if found is not None else 0
        return data

    def _take(self, character: str) -> bool:
        self._at = skip(self._text, self._at)
        taken = self._text.startswith(character, self._at)
        self._at += taken
        return taken

    def _comma(self, closing: str) -> None:
        if not self._take(",") and not self._text.startswith(closing, self._at):
            raise NotJson(self._text, self._at)
