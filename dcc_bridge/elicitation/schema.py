"""Forms: the protocol's subset of JSON Schema, parsed once, and answers validated strictly.

The subset is that of ``PrimitiveSchemaDefinition`` in the MCP specification (2025-11-25 and
2026-07-28): flat, with strings, numbers, integers, booleans and choices. An answer is checked
whoever gave it: the SDK's own lax mode takes ``"yes"`` and ``1`` for true. Any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from dcc_bridge.audit.redact import MARKS, is_hidden
from dcc_bridge.elicitation import models, validation
from dcc_bridge.elicitation.secret_fields import looks_secret
from dcc_bridge.elicitation.validation import (
    FORMATS,
    Field,
    InvalidAnswer,
    Kind,
    Option,
    is_number,
    shorten,
)
from dcc_bridge.errors import SchemaError, SecretField

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MOST_FIELDS: Final = 32
MOST_OPTIONS: Final = 200  # values of a choice: a longer list is nothing to pick from
FILTERED_FROM: Final = 13  # values from which on a choice is drawn with a filter
_COMMON: Final = {"type", "title", "description", "default"}
_KNOWN: Final[dict[Kind, set[str]]] = {
    "string": {"minLength", "maxLength", "format", "pattern"},
    "number": {"minimum", "maximum"},
    "integer": {"minimum", "maximum"},
    "boolean": set(),
    "choice": {"enum", "enumNames", "oneOf"},
    "choices": {"items", "minItems", "maxItems"},
}


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a question."""

    fields: tuple[Field, ...]  # in the order of the schema
    schema: dict[str, Any]  # as it goes over the wire
    hidden: frozenset[str] = frozenset()  # the names of those whose values are not written down
    adapter: TypeAdapter[Any] | None = None  # makes the answer the model that the form came from
    fallback: Mapping[str, Any] | None = None  # the answer where nobody can be asked, or None

    @property
    def lone_confirmation(self) -> Field | None:
        """The one required yes-or-no of a form that has nothing else, or None."""
        if len(self.fields) != 1:
            return None
        field = self.fields[0]
        return field if field.kind == "boolean" and field.required else None

    def check(self, content: object) -> dict[str, Any]:
        """Return an answer's values, unknown keys dropped; InvalidAnswer says what is wrong."""
        if not isinstance(content, Mapping):
            raise InvalidAnswer(f"Expected the form's fields, not {shorten(content)}.")
        missing = [f.name for f in self.fields if f.required and f.name not in content]
        if missing:
            raise InvalidAnswer("required.", ", ".join(missing))
        data = {f.name: f.check(content[f.name]) for f in self.fields if f.name in content}
        self.instance(data)
        return data

    def instance(self, data: Mapping[str, Any]) -> Any:
        """Return data as the model or dataclass, None without one; InvalidAnswer if refused."""
        if self.adapter is None:
            return None
        try:
            return self.adapter.validate_python(dict(data))
        except (ValueError, TypeError, LookupError, AttributeError) as error:  # of its validators
            problem = error.errors()[0]["msg"] if hasattr(error, "errors") else str(error)
            raise InvalidAnswer(problem.removeprefix("Value error, ")) from error

    def agrees(self, data: Mapping[str, Any]) -> bool:
        """Return whether every required yes-or-no in an answer is yes: what makes it a grant."""
        asked = [f.name for f in self.fields if f.required and f.kind == "boolean"]
        return all(data.get(name) is True for name in asked)


def parse(schema: object) -> Form:
    """Parse a form.

    Args:
        schema: An object schema of the protocol's subset, or a pydantic model, a dataclass or a
            TypedDict from which it is made.

    Raises:
        SchemaError: It has something that no client could draw; names the field and the reason.
        SecretField: It asks for a secret.
    """
    adapter = None
    if isinstance(schema, type):
        schema, adapter = models.read_model(schema)
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        raise SchemaError(f"A form's schema is a dict with type 'object', not {shorten(schema)}.")
    properties, required = _properties(schema), schema.get("required", [])
    fields = tuple(_field(name, part, name in required) for name, part in properties.items())
    wire: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {key: value for key, value in part.items() if key not in MARKS}
            for name, part in properties.items()
        },
    }
    if required:
        wire["required"] = list(required)
    hidden = frozenset(name for name, part in properties.items() if is_hidden(part))
    return Form(fields, wire, hidden, adapter)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list | tuple):
        raise SchemaError("A form's 'properties' is a dict and its 'required' a list of names.")
    unknown = [name for name in required if name not in properties]
    if unknown:
        raise SchemaError(f"The form requires {unknown[0]!r}, which is not among its properties.")
    if len(properties) > MOST_FIELDS:
        raise SchemaError(f"A form has {MOST_FIELDS} fields at most, not {len(properties)}.")
    return properties


def _field(name: str, part: object, required: bool) -> Field:
    # First: whatever else is wrong with it, its author is told what to use instead.
    if isinstance(part, Mapping) and looks_secret(name, part):
        raise SecretField(name)
    try:
        field = _parse_field(name, part, required)
    except SchemaError as error:
        raise SchemaError(f"The field {name!r}: {error}") from error
    try:
        if field.default is not None:
            field.check(field.default)
    except InvalidAnswer as error:
        raise SchemaError(f"The default of {error}") from error
    return field


def _parse_field(name: str, part: object, required: bool) -> Field:
    if not isinstance(part, Mapping):
        raise SchemaError(f"its schema is a dict, not {shorten(part)}.")
    kind = _kind(part)
    if extra := set(part) - _COMMON - _KNOWN[kind] - MARKS:
        raise SchemaError(f"{sorted(extra)[0]!r} is not allowed in a form.")
    return Field(
        name=name,
        kind=kind,
        title=str(part.get("title") or name.replace("_", " ").capitalize()),
        description=str(part.get("description", "")),
        required=required,
        default=part.get("default"),
        options=_choices(kind, part),
        least=_bound(part, "minimum", "minLength", "minItems"),
        most=_bound(part, "maximum", "maxLength", "maxItems"),
        format=_format(part),
        pattern=validation.compile_pattern(part["pattern"]) if "pattern" in part else None,
    )


def _kind(part: Mapping[str, Any]) -> Kind:
    match part.get("type"):
        case "string" if "enum" in part or "oneOf" in part:
            return "choice"
        case "string" | "number" | "integer" | "boolean":
            return cast("Kind", part["type"])
        case "array":
            return "choices"
        case other:
            raise SchemaError(
                f"the type {other!r} cannot be asked for; a form is flat, with string, number, "
                "integer, boolean, and choices of strings."
            )


def _choices(kind: Kind, part: Mapping[str, Any]) -> tuple[Option, ...]:
    if kind not in ("choice", "choices"):
        return ()
    source = part if kind == "choice" else part.get("items")
    try:
        options = tuple(_options(source or {}))
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"its choices cannot be read ({error}).") from error
    if not options or not all(isinstance(option.value, str) for option in options):
        raise SchemaError("a choice needs values, and each is a string.")
    if len(options) > MOST_OPTIONS:
        raise SchemaError(
            f"a choice has {MOST_OPTIONS} values at most, not {len(options):,}. Ask for a text "
            "instead, or narrow the choice down first."
        )
    return options


def _options(source: Mapping[str, Any]) -> list[Option]:
    if "enum" in source:
        names = source.get("enumNames", source["enum"])
        if len(names) != len(source["enum"]):
            raise KeyError("enumNames and enum differ in length")
        return [Option(v, str(n)) for v, n in zip(source["enum"], names, strict=True)]
    options = source.get("oneOf") or source["anyOf"]
    return [Option(part["const"], str(part.get("title", part["const"]))) for part in options]


def _bound(part: Mapping[str, Any], *keys: str) -> float | None:
    for key in keys:
        if key in part:
            bound = part[key]
            if not is_number(bound):
                raise SchemaError(f"{key} is a number, not {shorten(bound)}.")
            return bound
    return None


def _format(part: Mapping[str, Any]) -> str | None:
    wanted = part.get("format")
    if wanted is not None and wanted not in FORMATS:
        raise SchemaError(f"the format {wanted!r} is not one of {', '.join(FORMATS)}.")
    return wanted
