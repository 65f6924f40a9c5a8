"""JSON schemas of types, in as few words as agents need. Any thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from dcc_bridge.errors import BrokenSkill


@contextmanager
def broken_if_unreadable(name: str) -> Iterator[None]:
    """Raise BrokenSkill for whatever the types of a skill raise while they are read."""
    try:
        yield
    except BrokenSkill:
        raise
    except Exception as error:  # a type may do anything while Python or pydantic looks at it
        raise BrokenSkill(f"{name}: its signature cannot be read: {error}") from error


class LenientSchema(GenerateJsonSchema):
    """A schema without the defaults that JSON cannot carry, made without a warning."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Ignore a default that JSON cannot carry; it is not in the schema."""


class StrictSchema(GenerateJsonSchema):
    """A schema for which a type that JSON cannot describe is an error."""

    def generate(self, schema: Any, mode: Any = "serialization") -> dict[str, Any]:
        """Return the schema without the docstrings of classes, which are for their readers."""
        generated = super().generate(schema, mode)
        for part in (generated, *generated.get("$defs", {}).values()):
            part.pop("description", None)
        return shorten(generated, str(generated.get("title", "")))

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Raise ValueError for what JSON cannot carry."""
        raise ValueError(detail)


def shorten(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Remove what says nothing, since agents pay for each word: titles that repeat a name."""
    for part in ("properties", "$defs"):
        for key, value in schema.get(part, {}).items():
            shorten(value, key)
    for branch in schema.get("anyOf", ()):
        shorten(branch, name)
    title = str(schema.get("title", ""))
    if title.lower().replace(" ", "_").removeprefix("p_") == name.lower():
        schema.pop("title", None)
    if schema.get("default") in ("", [], {}):
        del schema["default"]
    if schema.get("additionalProperties") is True:
        del schema["additionalProperties"]
    return schema
