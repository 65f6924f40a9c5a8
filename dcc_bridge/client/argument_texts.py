"""Describes the arguments of a tool in a few words each. Any thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_NOUNS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
_MAX_CHOICES: Final = 8  # values of a choice that are named
_MAX_DEPTH: Final = 8  # schemas within schemas: a schema may refer to itself
Schema = Mapping[str, Any]


def argument_texts(schema: Schema) -> tuple[str, ...]:
    """Describe each argument of a tool.

    Args:
        schema: The JSON Schema of the tool's arguments.

    Returns:
        For each argument its name, the kind of value, and whether the argument is required or
        which default it has: "frames: whole number, optional [24]".
    """
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    return tuple(_argument(name, field, name in required, schema) for name, field in fields.items())


def _argument(name: str, field: Any, required: bool, schema: Schema) -> str:
    noun = _noun(field, schema)
    if required:
        return f"{name}: {noun}, required"
    text = f"{name}: {noun}, optional"
    default = None
    if isinstance(field, Mapping):
        default = field.get("default")
    if default in (None, "", [], {}):
        return text
    return f"{text} [{json.dumps(default, ensure_ascii=False)}]"


def _noun(field: Any, schema: Schema, depth: int = 0) -> str:
    """Return the kind of value that a field takes.

    "anything" stands for a field whose schema names no kind, or refers to itself.
    """
    if not isinstance(field, Mapping) or depth > _MAX_DEPTH:
        return "anything"
    if "$ref" in field:
        kind = str(field["$ref"]).rpartition("/")[2]
        return _noun(schema.get("$defs", {}).get(kind), schema, depth + 1)
    if field.get("enum"):
        return _choice(field["enum"])
    if "const" in field:
        return _choice([field["const"]])
    for keyword in ("anyOf", "oneOf"):
        if keyword in field:
            return _alternatives(field[keyword], schema, depth)
    return _typed(field, schema, depth)


def _typed(field: Schema, schema: Schema, depth: int) -> str:
    """Return the kind of value that a field's "type" names, with the parts of the value."""
    if field.get("properties"):
        return f"({', '.join(field['properties'])})"
    noun = _NOUNS.get(str(field.get("type")), "anything")
    if noun == "list" and field.get("items"):
        return f"list of {_noun(field['items'], schema, depth + 1)}"
    return noun


def _choice(values: list[Any]) -> str:
    """Return the values of a choice, the first of many."""
    texts = [json.dumps(value) for value in values[:_MAX_CHOICES]]
    if len(values) > _MAX_CHOICES:
        texts.append("...")
    return " | ".join(texts)


def _alternatives(options: list[Any], schema: Schema, depth: int) -> str:
    """Return the different kinds of value that a field takes, except null."""
    nouns: list[str] = []
    for option in options:
        noun = _noun(option, schema, depth + 1)
        if noun != "null" and noun not in nouns:
            nouns.append(noun)
    return " or ".join(nouns)
