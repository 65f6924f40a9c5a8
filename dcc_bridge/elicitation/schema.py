"""Forms: the protocol's subset of JSON Schema, parsed once, and answers validated strictly.

The subset is that of ``PrimitiveSchemaDefinition`` in the MCP specification (2025-11-25 and
2026-07-28): flat, with strings, numbers, integers, booleans and choices. An answer is checked
whoever gave it: the SDK's own lax mode takes ``"yes"`` and ``1`` for true. Any thread.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from dcc_bridge.audit.redact import MARKS, is_hidden
from dcc_bridge.elicitation import secret_fields, validation
from dcc_bridge.elicitation.validation import FORMATS, InvalidAnswer, is_number, shorten
from dcc_bridge.errors import SchemaError, SecretField

Kind = Literal["string", "number", "integer", "boolean", "choice", "choices"]

MOST_FIELDS: Final = 32
MOST_OPTIONS: Final = 200  # values of a choice: a longer list is nothing to pick from
FILTERED_FROM: Final = 13  # values from which on a choice is drawn with a filter
_DROPPED: Final = {"additionalProperties", "$defs"}  # what pydantic says of a type and no form has
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
class Option:
    """A value of a choice, and its title for the person."""

    value: str
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form.

    Attributes:
        name: Its key in the answer.
        kind: What sort of value it takes.
        title: What the person reads beside it.
        description: A longer explanation, or "".
        required: It cannot be left out.
        default: What is filled in at first, or None.
        options: What a choice can be chosen from.
        least: The smallest value, length or number of choices, or None.
        most: The largest, or None.
        format: "email", "uri", "date" or "date-time", or None.
        pattern: What a text must contain, as a regular expression, or None.
    """

    name: str
    kind: Kind
    title: str
    description: str
    required: bool
    default: Any
    options: tuple[Option, ...] = ()
    least: float | None = None
    most: float | None = None
    format: str | None = None
    pattern: str | None = None

    def check(self, value: object) -> Any:
        """Validate a value, and return it with the type of the field's kind.

        Raises:
            InvalidAnswer: It does not fit.
        """
        return validation.validate(self, value)


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a question.

    Attributes:
        fields: In the order of the schema.
        schema: As it goes over the wire.
        hidden: The names of those whose values are not written down.
    """

    fields: tuple[Field, ...]
    schema: dict[str, Any]
    hidden: frozenset[str] = frozenset()

    @property
    def lone_confirmation(self) -> Field | None:
        """The one required yes-or-no of a form that has nothing else, or None."""
        if len(self.fields) != 1:
            return None
        field = self.fields[0]
        return field if field.kind == "boolean" and field.required else None

    def check(self, content: object) -> dict[str, Any]:
        """Validate an answer, and return the fields' values; unknown keys are dropped.

        Raises:
            InvalidAnswer: A value does not fit, or a required one is missing.
        """
        if not isinstance(content, Mapping):
            raise InvalidAnswer(f"Expected the form's fields, not {shorten(content)}.")
        missing = [f.name for f in self.fields if f.required and f.name not in content]
        if missing:
            raise InvalidAnswer("required.", ", ".join(missing))
        return {f.name: f.check(content[f.name]) for f in self.fields if f.name in content}

    def agrees(self, data: Mapping[str, Any]) -> bool:
        """Return whether every required yes-or-no in an answer is yes: what makes it a grant."""
        return all(
            data.get(f.name) is True for f in self.fields if f.required and f.kind == "boolean"
        )


def parse(schema: object) -> Form:
    """Parse a form.

    Args:
        schema: An object schema of the protocol's subset, or a pydantic model, a dataclass or a
            TypedDict from which it is made.

    Raises:
        SchemaError: It has something that no client could draw; names the field and the reason.
        SecretField: It asks for a secret.
    """
    if isinstance(schema, type):
        schema = _schema_of(schema)
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
    return Form(fields, wire, hidden)


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
    if isinstance(part, Mapping) and secret_fields.looks_secret(name, part):
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
        raise SchemaError(f"{sorted(extra)[0]!r} is not something a form has.")
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
            kind: Kind = part["type"]
            return kind
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
            "instead, or first for a part of them."
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


def _schema_of(model: type[Any]) -> dict[str, Any]:
    """Return the schema of a pydantic model, a dataclass or a TypedDict.

    pydantic describes it with references, unions with None and constants, which are put into the
    flat words of the protocol. What cannot be is left as it is, and refused by `parse`.

    Raises:
        SchemaError: pydantic cannot describe it.
    """
    from pydantic import TypeAdapter  # 60 ms that only a model needs
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter(_as_model(model) if typing.is_typeddict(model) else model)
        full = adapter.json_schema()
    except (PydanticUserError, NameError, TypeError) as error:
        raise SchemaError(f"{_name(model)} cannot be made a form: {error}") from error
    if full.get("type") != "object":
        raise SchemaError(f"{_name(model)} is not a model, a dataclass or a TypedDict.")
    kept = {key: value for key, value in full.items() if key not in _DROPPED}
    parts = full.get("properties", {})
    kept["properties"] = {n: _flat(part, full.get("$defs", {})) for n, part in parts.items()}
    return kept


def _as_model(typed: type[Any]) -> Any:
    """Make a model of a TypedDict; pydantic takes `typing.TypedDict` from Python 3.12 on only."""
    from pydantic import create_model

    marked = typing.get_type_hints(typed, include_extras=True)
    total = bool(getattr(typed, "__total__", True))
    fields: dict[str, Any] = {
        name: (hint, ... if _is_required(marked[name], total) else None)
        for name, hint in typing.get_type_hints(typed).items()
    }
    return create_model(_name(typed), **fields)


def _is_required(hint: object, total: bool) -> bool:
    """Read the mark itself: with postponed annotations ``__required_keys__`` does not know it."""
    return typing.get_origin(hint) is typing.Required or (
        total and typing.get_origin(hint) is not typing.NotRequired
    )


def _flat(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite a property in the flat words of the protocol."""
    part = _resolved(part, definitions)
    if "anyOf" in part:
        part = _without_none(part, definitions)
    if "const" in part:
        part = {**{k: v for k, v in part.items() if k != "const"}, "enum": [part["const"]]}
    if isinstance(part.get("items"), Mapping):
        items = _flat(part["items"], definitions)
        part = {**part, "items": {k: v for k, v in items.items() if k in ("type", "enum")}}
    return {k: v for k, v in part.items() if not (k == "default" and v is None)}


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = str(part.get("$ref", "")).rpartition("/")[2]
    if reference not in definitions:
        return dict(part)
    return {**definitions[reference], **{k: v for k, v in part.items() if k != "$ref"}}


def _without_none(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    others = [option for option in part["anyOf"] if option != {"type": "null"}]
    if len(others) != 1:
        return dict(part)
    return {**_resolved(others[0], definitions), **{k: v for k, v in part.items() if k != "anyOf"}}


def _name(model: object) -> str:
    return getattr(model, "__name__", repr(model))
