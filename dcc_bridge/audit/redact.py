"""What must not be written down, by one rule, and how it is left out. Any thread.

A value is hidden where its schema says ``"writeOnly": true``, ``"format": "password"``,
``"x-redact": true`` or ``"redact": true``. With pydantic: ``SecretStr``, or
``Annotated[str, Field(json_schema_extra={"redact": True})]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

HIDDEN: Final = "(hidden)"
"""What stands in the place of a hidden value."""
MARKS: Final = frozenset({"writeOnly", "x-redact", "redact"})
"""The words of a schema that hide a value by being true."""
_SHORTEST: Final = 4
"""A shorter text is not looked for in other texts: it would be found everywhere."""

Schema = Mapping[str, Any]


def is_hidden(schema: Schema) -> bool:
    """Whether values of a schema must not be written down."""
    flags = (schema.get(name) is True for name in MARKS)
    return schema.get("format") == "password" or any(flags)


class Redacted:
    """A value of which nothing hidden can be seen. Looked at when it is needed, and once."""

    def __init__(self, value: object = None, schema: Schema | None = None) -> None:
        """Take a value and what it has to fit."""
        self._given = value
        self._root: Schema = schema or {}

    @cached_property
    def _found(self) -> tuple[Any, frozenset[str]]:
        hidden: set[str] = set()
        shown = self._show(self._given, [self._root], hidden)
        return shown, frozenset(text for text in hidden if len(text) >= _SHORTEST)

    @property
    def value(self) -> Any:
        """The value, with `HIDDEN` in the place of what must not be seen."""
        return self._found[0]

    def scrub(self, told: Any) -> Any:
        """Take what is hidden here out of other texts too: a message, an error."""
        hidden = self._found[1]
        return each_text(told, lambda text: _without(text, hidden)) if hidden else told

    def _show(self, value: object, schemas: Iterable[Schema], hidden: set[str]) -> Any:
        branches = list(self._branches(schemas))
        if any(is_hidden(branch) for branch in branches):
            hidden.update(_texts(value))
            return HIDDEN
        if isinstance(value, Mapping):
            return {n: self._show(v, _members(branches, n), hidden) for n, v in value.items()}
        if isinstance(value, list | tuple):
            each = enumerate(value)
            return [self._show(one, _elements(branches, place), hidden) for place, one in each]
        return value

    def _branches(self, schemas: Iterable[Schema]) -> Iterator[Schema]:
        """Give all schemas that a value may be meant to fit."""
        waiting, seen = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            for word in ("anyOf", "oneOf", "allOf"):
                waiting.extend(schema.get(word, ()))
            waiting.extend(self._referred(schema.get("$ref")))

    def _referred(self, name: object) -> Iterator[Schema]:
        if isinstance(name, str) and name.startswith("#/"):
            found: Any = self._root
            for part in name[2:].split("/"):
                found = found.get(part, {}) if isinstance(found, Mapping) else {}
            yield found


def each_text(told: Any, change: Callable[[str], str]) -> Any:
    """Change every text in a value, however deep."""
    if isinstance(told, str):
        return change(told)
    if isinstance(told, Mapping):
        return {name: each_text(one, change) for name, one in told.items()}
    if isinstance(told, list | tuple):
        return [each_text(one, change) for one in told]
    return told


def _members(branches: Iterable[Schema], name: str) -> Iterator[Schema]:
    for branch in branches:
        named = branch.get("properties", {})
        if name in named:
            yield named[name]
        else:
            yield branch.get("additionalProperties", {})


def _elements(branches: Iterable[Schema], place: int) -> Iterator[Schema]:
    for branch in branches:
        first = branch.get("prefixItems", ())
        yield first[place] if place < len(first) else branch.get("items", {})


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _without(text: str, hidden: Iterable[str]) -> str:
    for one in sorted(hidden, key=len, reverse=True):
        text = text.replace(one, HIDDEN)
    return text
