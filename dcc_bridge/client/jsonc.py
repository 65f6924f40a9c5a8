"""Edits one member of a JSON text in place and keeps the rest, with its comments. Any thread.

MCP clients keep their settings in JSON, several of them with comments and trailing commas. Parsing
and writing such a text loses those, and changes numbers: ``1e400`` becomes ``Infinity``. Here only
the span of one member is replaced. A text is read once, from front to back and without recursion,
so neither its length nor its nesting matters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

_BOM: Final = "\ufeff"  # a byte order mark, with which some editors begin a file
_SPACE: Final = " \t\r\n"
_UNIT: Final = "  "  # the indentation of a text that has none
_TOKEN: Final = re.compile(
    r"""
    [ \t\r\n]*+
    (?:(?P<comment>//[^\r\n]*+|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+")
    | (?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null)
    | (?P<mark>[][{}:,])
    | (?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL,
)


class InvalidJson(ValueError):
    """A text is not a JSON object, or a path in it cannot be used. The message says why."""


class _Token(NamedTuple):
    """A token of a text.

    Attributes:
        kind: "string", "scalar", "comment", or the mark itself.
        start: Index of its first character.
        end: Index after its last character.
    """

    kind: str
    start: int
    end: int


@dataclass(slots=True)
class _JsonValue:
    """A value in a text.

    Attributes:
        kind: "string", "scalar", "[" or "{".
        start: Index of its first character.
        end: Index after its last character.
        members: The members of an object, in their order.
    """

    kind: str
    start: int
    end: int
    members: list[_Member] = field(default_factory=list)

    def member(self, name: str) -> _Member | None:
        """Return the member of a name, or None. Raises InvalidJson if there are two."""
        matches = [member for member in self.members if member.name == name]
        if len(matches) > 1:
            raise InvalidJson(f"{name} is in it twice")
        if not matches:
            return None
        return matches[0]


@dataclass(slots=True)
class _Member:
    """A member of an object in a text.

    Attributes:
        name: The name, unescaped.
        start: Index of the first character of the name.
        value: The value.
        comma: Index of the comma after the member, if there is one.
    """

    name: str
    start: int
    value: _JsonValue
    comma: int | None = None


class Document:
    """A JSON object as text, in which single members are read, set and removed.

    A document does not change: `set` and `remove` return the text to write.

    Args:
        text: The text. A text without a value stands for an empty object.

    Raises:
        InvalidJson: The text is not a JSON object.
    """

    def __init__(self, text: str) -> None:
        tokens = list(_tokens(text))
        if all(token.kind == "comment" for token in tokens):
            if tokens:
                text += "\n"  # the text may end in a line comment
            text += "{}\n"
            tokens = list(_tokens(text))
        self.text = text
        self._tokens = tokens
        self._root = _parse(text, tokens)

    def get(self, *path: str) -> Any:
        """Return the value at a path as Python's own types; None if there is none.

        Raises:
            InvalidJson: The value is nested too deeply for Python, or a name of the path occurs
                twice.
        """
        value = self._find(path)
        if value is None:
            return None
        tokens = [token for token in self._tokens if value.start <= token.start < value.end]
        plain = "".join(self.text[token.start : token.end] for token in _essential(tokens))
        try:
            return json.loads(plain)
        except RecursionError:
            name = ".".join(path) or "it"
            raise InvalidJson(f"{name} is nested too deeply") from None

    def is_empty(self, *path: str) -> bool:
        """Return whether the value at a path is an object without members and comments."""
        value = self._find(path)
        if value is None or value.kind != "{":
            return False
        return not self.text[value.start + 1 : value.end - 1].strip(_SPACE)

    def set(self, path: Sequence[str], value: Any) -> str:
        """Return the text with a value set at a path. Missing objects on the path are added.

        Raises:
            InvalidJson: A value on the path is not an object, or a name of the path occurs twice.
        """
        parent = self._root
        *parents, last = path
        for depth, name in enumerate(parents):
            member = parent.member(name)
            if member is None:
                for missing in reversed(path[depth + 1 :]):
                    value = {missing: value}
                return self._insert(parent, name, value)
            if member.value.kind != "{":
                raise InvalidJson(f"{name} is not an object in it")
            parent = member.value
        member = parent.member(last)
        if member is None:
            return self._insert(parent, last, value)
        old = member.value
        new = json.dumps(value, ensure_ascii=False)
        if self._is_spread(parent):
            new = self._lines(value, self._indentation(old.start))
        return self.text[: old.start] + new + self.text[old.end :]

    def remove(self, *path: str) -> str:
        """Return the text without the member at a path; the same text if there is none.

        Raises:
            InvalidJson: A name of the path occurs twice.
        """
        parent = self._find(path[:-1])
        if parent is None:
            return self.text
        member = parent.member(path[-1])
        if member is None:
            return self.text
        start, end = self._span(member)
        if len(parent.members) == 1:
            head = self.text[parent.start + 1 : start].strip(_SPACE)
            tail = self.text[end : parent.end - 1].strip(_SPACE)
            if not head and not tail:
                return f"{self.text[: parent.start]}{{}}{self.text[parent.end :]}"
        head = self.text[:start]
        if member.comma is None and len(parent.members) > 1:
            comma = parent.members[-2].comma
            assert comma is not None
            head = self.text[:comma] + self.text[comma + 1 : start]
        return head + self.text[end:]

    def significant(self) -> list[str]:
        """Return the tokens and comments of the text, for comparing texts of different layout."""
        words = []
        for kind, start, end in _essential(self._tokens, comments=True):
            word = self.text[start:end]
            if kind == "string":
                word = json.dumps(json.loads(word))  # characters can be escaped in several ways
            words.append(word)
        return words

    def _find(self, path: Sequence[str]) -> _JsonValue | None:
        value = self._root
        for name in path:
            member = value.member(name)
            if member is None:
                return None
            value = member.value
        return value

    def _insert(self, parent: _JsonValue, name: str, value: Any) -> str:
        """Return the text with a new last member of an object, after the comments at its end."""
        close = parent.end - 1
        before = self.text[:close].rstrip(_SPACE)
        tail = self.text[len(before) : close]
        space = ""
        comma = ""
        if parent.members:
            last = parent.members[-1]
            space = " "
            if last.comma is None:
                before = f"{before[: last.value.end]},{before[last.value.end :]}"
            else:
                comma = ","  # the object keeps a trailing comma
        if not self._is_spread(parent):
            new = json.dumps(value, ensure_ascii=False)
        else:
            outer = self._indentation(parent.start)
            inner = outer + self._unit
            if parent.members:
                inner = self._indentation(parent.members[0].start)
            space = self._newline + inner
            new = self._lines(value, inner)
            if not parent.members and not _breaks(tail):
                tail = self._newline + outer
        return f"{before}{space}{json.dumps(name)}: {new}{comma}{tail}{self.text[close:]}"

    def _span(self, member: _Member) -> tuple[int, int]:
        """Return the start and end of the text to remove: a member, its comma, its line or space.

        If a line comment ends before the member, the text after the member must not join it.
        """
        end = member.value.end
        if member.comma is not None:
            end = member.comma + 1
        start = len(self.text[: member.start].rstrip(_SPACE))
        following = end + _leading_space(self.text, end)
        if self._ends_line_comment(start) and not _breaks(self.text[end:following]):
            return member.start, following
        return start, end

    def _ends_line_comment(self, index: int) -> bool:
        """Return whether the text before an index ends with a ``//`` comment."""
        last = [token for token in self._tokens if token.start < index][-1]
        return last.kind == "comment" and self.text.startswith("//", last.start)

    def _is_spread(self, value: _JsonValue) -> bool:
        """Return whether each member of an object stands, or will stand, on its own line."""
        root = self._root
        if not value.members:
            return value is root or _breaks(self.text[root.start : root.end])
        first = value.members[0]
        last = value.members[-1]
        head = self.text[value.start : first.start]
        tail = self.text[last.value.end : value.end]
        return _breaks(head) or _breaks(tail)

    def _indentation(self, index: int) -> str:
        """Return the space at the beginning of the line that contains an index."""
        start = max(self.text.rfind("\n", 0, index), self.text.rfind("\r", 0, index)) + 1
        rest = self.text[start:index]
        return rest[: len(rest) - len(rest.lstrip(" \t"))]

    def _lines(self, value: Any, indentation: str) -> str:
        text = json.dumps(value, indent=self._unit, ensure_ascii=False)
        return text.replace("\n", self._newline + indentation)

    @cached_property
    def _newline(self) -> str:
        if "\r\n" in self.text:
            return "\r\n"
        return "\n"

    @cached_property
    def _unit(self) -> str:
        if not self._root.members:
            return _UNIT
        return self._indentation(self._root.members[0].start) or _UNIT


class _Parser:
    """Checks the grammar of a text, token by token, and builds the tree of its values."""

    def __init__(self, text: str) -> None:
        self.root: _JsonValue | None = None
        self._text = text
        self._open: list[_JsonValue] = []  # the lists and objects that have not ended
        self._expects = "value"  # or "name", "colon", "comma", "nothing"

    @property
    def is_complete(self) -> bool:
        """Return whether the text may end here."""
        return self._expects == "nothing"

    def take(self, token: _Token) -> bool:
        """Read the next token, and return whether the grammar allows it."""
        if token.kind in ("}", "]"):
            return self._close(token)
        if token.kind == ",":
            return self._separate(token)
        if token.kind == ":":
            return self._advance("colon", "value")
        if self._expects == "name":
            return self._name(token)
        return self._value(token)

    def _advance(self, expected: str, following: str) -> bool:
        if self._expects != expected:
            return False
        self._expects = following
        return True

    def _name(self, token: _Token) -> bool:
        if token.kind != "string":
            return False
        name = json.loads(self._text[token.start : token.end])
        placeholder = _JsonValue("scalar", token.end, token.end)  # until the value is read
        self._open[-1].members.append(_Member(name, token.start, placeholder))
        self._expects = "colon"
        return True

    def _value(self, token: _Token) -> bool:
        if self._expects != "value":
            return False
        value = _JsonValue(*token)
        if not self._open:
            self.root = value
        elif self._open[-1].kind == "{":
            self._open[-1].members[-1].value = value
        match token.kind:
            case "{":
                self._open.append(value)
                self._expects = "name"
            case "[":
                self._open.append(value)
                self._expects = "value"
            case _:
                self._end_value()
        return True

    def _separate(self, token: _Token) -> bool:
        if self._expects != "comma":
            return False
        container = self._open[-1]
        if container.kind == "{":
            container.members[-1].comma = token.start
            self._expects = "name"
        else:
            self._expects = "value"
        return True

    def _close(self, token: _Token) -> bool:
        """End a list or an object; a trailing comma is allowed."""
        if not self._open:
            return False
        mark = "]"
        item = "value"
        if self._open[-1].kind == "{":
            mark = "}"
            item = "name"
        if token.kind != mark or self._expects not in (item, "comma"):
            return False
        self._open.pop().end = token.end
        self._end_value()
        return True

    def _end_value(self) -> None:
        self._expects = "nothing"
        if self._open:
            self._expects = "comma"


def _parse(text: str, tokens: Iterable[_Token]) -> _JsonValue:
    """Return the object that a text holds; or raise InvalidJson."""
    parser = _Parser(text)
    for token in tokens:
        if token.kind != "comment" and not parser.take(token):
            raise _invalid(text, token.start)
    if parser.root is None or not parser.is_complete:
        raise _invalid(text, len(text.rstrip(_SPACE)))
    if parser.root.kind != "{":
        raise InvalidJson("it does not hold a JSON object")
    return parser.root


def _tokens(text: str) -> Iterator[_Token]:
    """Read the tokens of a text and its comments; or raise InvalidJson."""
    at = 0
    if text.startswith(_BOM):
        at = len(_BOM)
    while (match := _TOKEN.match(text, at)) is not None:
        kind = str(match.lastgroup)
        if kind == "end":
            return
        start = match.start(kind)
        at = match.end()
        if kind == "mark":
            kind = text[start]
        yield _Token(kind, start, at)
    raise _invalid(text, at + _leading_space(text, at))


def _essential(tokens: Iterable[_Token], *, comments: bool = False) -> Iterator[_Token]:
    """Yield the tokens without trailing commas, and without comments unless `comments` is set."""
    comma = None
    for token in tokens:
        if token.kind == "comment":
            if comments:
                yield token
            continue
        if comma is not None and token.kind not in ("}", "]"):
            yield comma
        comma = None
        if token.kind == ",":
            comma = token
        else:
            yield token


def _leading_space(text: str, at: int) -> int:
    rest = text[at:]
    return len(rest) - len(rest.lstrip(_SPACE))


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _invalid(text: str, at: int) -> InvalidJson:
    line = text.count("\n", 0, at) + 1
    return InvalidJson(f"it is not valid JSON from line {line} on")
