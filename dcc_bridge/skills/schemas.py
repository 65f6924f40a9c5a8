"""JSON schemas of types, in as few words as agents need. Any thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from dcc_bridge.errors import BrokenSkill

_NULL: Final = {"type": "null"}
_REFERENCE: Final = "#/$defs/"


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
    """Remove what says nothing, since agents pay for each word.

    That is a title that repeats a name, an empty default, and a null that only means that an
    argument is left out. A definition that is used once stands in its place.
    """
    for part in ("properties", "$defs"):
        for key, value in schema.get(part, {}).items():
            _drop_null(value)
            shorten(value, key)
    for branch in schema.get("anyOf", ()):
        shorten(branch, name)
    title = str(schema.get("title", ""))
    if title.lower().replace(" ", "_").removeprefix("p_") == name.lower():
        schema.pop("title", None)
    if _is_empty(schema.get("default")):
        schema.pop("default")
    if schema.get("additionalProperties") is True:
        del schema["additionalProperties"]
    if "$defs" in schema:
        _inline(schema)
    return schema


def _is_empty(default: Any) -> bool:
    """Return whether a default goes without saying: False, or a text or a list of nothing."""
    return default is False or default in ("", [], {})


def _inline(schema: dict[str, Any]) -> None:
    """Put each definition that is used once in the place where it is used."""
    definitions = schema.pop("$defs")
    text = json.dumps([schema, definitions])
    once = {}
    for name, definition in definitions.items():
        if text.count(json.dumps(_REFERENCE + name)) == 1:
            once[name] = definition
    whole = _with_definitions({**schema, "$defs": definitions}, once)
    kept = {name: part for name, part in whole.pop("$defs").items() if name not in once}
    schema.clear()
    schema.update(whole)
    if kept:
        schema["$defs"] = kept


def _with_definitions(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a part of a schema with these definitions in the place of references to them."""
    if isinstance(part, list):
        return [_with_definitions(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    name = str(part.get("$ref", "")).removeprefix(_REFERENCE)
    if name in definitions:
        beside = {key: each for key, each in part.items() if key != "$ref"}
        return _with_definitions({**definitions[name], **beside}, definitions)
    return {key: _with_definitions(each, definitions) for key, each in part.items()}


def _drop_null(schema: dict[str, Any]) -> None:
    """Remove the null from the types of an argument that is None where it is left out."""
    branches = [branch for branch in schema.get("anyOf", ()) if branch != _NULL]
    if not branches or schema.get("default", ...) is not None:
        return
    del schema["default"]
    schema["anyOf"] = branches
    if len(branches) == 1:
        del schema["anyOf"]
        schema.update({**branches[0], **schema})
