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
_MOST: Final = 8  # values of a choice that are named
Schema = Mapping[str, Any]


def argument_texts(schema: Schema) -> tuple[str, ...]:
    """Say of each argument of a tool what it is called, what it takes, and if it is required."""
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    return tuple(_argument(name, field, name in required, schema) for name, field in fields.items())


def _argument(name: str, field: Any, required: bool, schema: Schema) -> str:
    if required:
        return f"{name}: {_noun(field, schema)}, required"
    default = field.get("default") if isinstance(field, Mapping) else None
    text = "" if default in (None, "", [], {}) else json.dumps(default, ensure_ascii=False)
    return f"{name}: {_noun(field, schema)}, optional" + (f" [{text}]" if text else "")


def _noun(field: Any, schema: Schema, depth: int = 0) -> str:
    """Say what a field is; a schema that says nothing of it, or goes round in circles, is any."""
    if not isinstance(field, Mapping) or depth > _MOST:
        return "anything"
    if "$ref" in field:
        kind = str(field["$ref"]).rpartition("/")[2]
        return _noun(schema.get("$defs", {}).get(kind), schema, depth + 1)
    values = field.get("enum") or ([field["const"]] if "const" in field else [])
    if values:
        more = ["..."] if len(values) > _MOST else []
        return " | ".join([*map(json.dumps, values[:_MOST]), *more])
    for several in ("anyOf", "oneOf"):
        if several in field:
            kinds = [_noun(option, schema, depth + 1) for option in field[several]]
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null"))
    if field.get("properties"):
        return f"({', '.join(field['properties'])})"
    noun = _NOUNS.get(str(field.get("type")), "anything")
    inner = field.get("items")
    return f"list of {_noun(inner, schema, depth + 1)}" if noun == "list" and inner else noun
