"""Forms: `parse` reads a form's schema, and `Form.check` validates each answer strictly.

A schema is of the subset that ``PrimitiveSchemaDefinition`` has in the MCP specification
(2025-11-25 and 2026-07-28): flat, with strings, numbers, integers, booleans and choices. The
answers of every surface are validated here, because the SDK's own lax mode takes ``"yes"`` and
``1`` for true. Any thread.
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

MAX_FIELDS: Final = 32
MAX_OPTIONS: Final = 200  # of a choice: nobody picks from a longer list
MIN_FILTERED_OPTIONS: Final = 13  # of a choice that is drawn with a filter
_COMMON_KEYWORDS: Final = {"type", "title", "description", "default"}
_KEYWORDS: Final[dict[Kind, set[str]]] = {
    "string": {"minLength", "maxLength", "format", "pattern"},
    "number": {"minimum", "maximum"},
    "integer": {"minimum", "maximum"},
    "boolean": set(),
    "choice": {"enum", "enumNames", "oneOf"},
    "choices": {"items", "minItems", "maxItems"},
}


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a question.

    Attributes:
        fields: The fields, in the order of the schema.
        schema: The schema as it goes over the wire.
        hidden: The names of the fields whose values are not written down.
        adapter: Makes the answer an instance of the model that the form came from; None for a form
            that came from a schema.
        fallback: The answer where nobody can be asked, or None.
    """

    fields: tuple[Field, ...]
    schema: dict[str, Any]
    hidden: frozenset[str] = frozenset()
    adapter: TypeAdapter[Any] | None = None
    fallback: Mapping[str, Any] | None = None

    @property
    def lone_confirmation(self) -> Field | None:
        """The one required yes-or-no of a form that has nothing else, or None."""
        if len(self.fields) != 1:
            return None
        field = self.fields[0]
        if field.kind == "boolean" and field.required:
            return field
        return None

    def check(self, content: object) -> dict[str, Any]:
        """Validate an answer.

        Args:
            content: The answer, as a surface or a client reports it.

        Returns:
            The values of the fields that were filled in; unknown keys are dropped.

        Raises:
            InvalidAnswer: A value is missing or does not fit; the message says which one.
        """
        if not isinstance(content, Mapping):
            raise InvalidAnswer(f"Expected the form's fields, not {shorten(content)}.")
        missing = [f.name for f in self.fields if f.required and f.name not in content]
        if missing:
            raise InvalidAnswer("required.", ", ".join(missing))
        data = {}
        for field in self.fields:
            if field.name in content:
                data[field.name] = field.check(content[field.name])
        self.instance(data)
        return data

    def instance(self, data: Mapping[str, Any]) -> Any:
        """Return valid values as an instance of the model or dataclass that the form came from.

        Args:
            data: The values, as `check` returns them.

        Returns:
            The instance; None for a form without a model.

        Raises:
            InvalidAnswer: The model's own validators refuse the values.
        """
        if self.adapter is None:
            return None
        try:
            return self.adapter.validate_python(dict(data))
        except (ValueError, TypeError, LookupError, AttributeError) as error:  # of its validators
            problem = str(error)
            if hasattr(error, "errors"):
                problem = error.errors()[0]["msg"]
            raise InvalidAnswer(problem.removeprefix("Value error, ")) from error

    def agrees(self, data: Mapping[str, Any]) -> bool:
        """Return whether every required yes-or-no of an answer is yes, so that it is a grant."""
        required = [f.name for f in self.fields if f.required and f.kind == "boolean"]
        return all(data.get(name) is True for name in required)


def parse(schema: object) -> Form:
    """Parse a form.

    Args:
        schema: An object schema of the protocol's subset, or a pydantic model, a dataclass or a
            TypedDict from which the schema is made.

    Returns:
        The form.

    Raises:
        SchemaError: The schema has something that no client could draw; the message names the
            field and the reason.
        SecretField: A field asks for a secret.
    """
    adapter = None
    if isinstance(schema, type):
        schema, adapter = models.read_model(schema)
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        raise SchemaError(f"A form's schema is a dict with type 'object', not {shorten(schema)}.")
    properties = _check_properties(schema)
    required = schema.get("required", [])
    fields = tuple(_field(name, part, name in required) for name, part in properties.items())
    parts = {name: _drop_redaction_marks(part) for name, part in properties.items()}
    wire_schema: dict[str, Any] = {"type": "object", "properties": parts}
    if required:
        wire_schema["required"] = list(required)
    hidden = frozenset(name for name, part in properties.items() if is_hidden(part))
    return Form(fields, wire_schema, hidden, adapter)


def _drop_redaction_marks(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a field's schema without the keywords that hide values: no client knows them."""
    return {keyword: value for keyword, value in part.items() if keyword not in MARKS}


def _check_properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields' schemas by name, once the required names and their number are checked."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list | tuple):
        raise SchemaError("A form's 'properties' is a dict and its 'required' a list of names.")
    unknown = [name for name in required if name not in properties]
    if unknown:
        raise SchemaError(f"The form requires {unknown[0]!r}, which is not among its properties.")
    if len(properties) > MAX_FIELDS:
        raise SchemaError(f"A form has {MAX_FIELDS} fields at most, not {len(properties)}.")
    return properties


def _field(name: str, part: object, required: bool) -> Field:
    # First: the error about a secret tells the author of the form what to use instead.
    if isinstance(part, Mapping) and looks_secret(name, part):
        raise SecretField(name)
    try:
        field = _parse_field(name, part, required)
    except SchemaError as error:
        raise SchemaError(f"The field {name!r}: {error}") from error
    if field.default is None:
        return field
    try:
        field.check(field.default)
    except InvalidAnswer as error:
        raise SchemaError(f"The default of {error}") from error
    return field


def _parse_field(name: str, part: object, required: bool) -> Field:
    if not isinstance(part, Mapping):
        raise SchemaError(f"its schema is a dict, not {shorten(part)}.")
    kind = _kind(part)
    extra = set(part) - _COMMON_KEYWORDS - _KEYWORDS[kind] - MARKS
    if extra:
        raise SchemaError(f"{min(extra)!r} is not allowed in a form.")
    return Field(
        name=name,
        kind=kind,
        title=str(part.get("title") or name.replace("_", " ").capitalize()),
        description=str(part.get("description", "")),
        required=required,
        default=part.get("default"),
        options=_parse_choices(kind, part),
        least=_bound(part, "minimum", "minLength", "minItems"),
        most=_bound(part, "maximum", "maxLength", "maxItems"),
        format=_format(part),
        pattern=_pattern(part),
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


def _parse_choices(kind: Kind, part: Mapping[str, Any]) -> tuple[Option, ...]:
    if kind not in ("choice", "choices"):
        return ()
    source = part
    if kind == "choices":
        source = part.get("items") or {}
    try:
        options = tuple(_read_options(source))
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"its choices cannot be read ({error}).") from error
    if not options or not all(isinstance(option.value, str) for option in options):
        raise SchemaError("a choice needs values, and each is a string.")
    if len(options) > MAX_OPTIONS:
        raise SchemaError(
            f"a choice has {MAX_OPTIONS} values at most, not {len(options):,}. Ask for a text "
            "instead, or narrow the choice down first."
        )
    return options


def _read_options(source: Mapping[str, Any]) -> list[Option]:
    if "enum" in source:
        names = source.get("enumNames", source["enum"])
        if len(names) != len(source["enum"]):
            raise KeyError("enumNames and enum differ in length")
        return [Option(v, str(name)) for v, name in zip(source["enum"], names, strict=True)]
    parts = source.get("oneOf") or source["anyOf"]
    return [Option(part["const"], str(part.get("title", part["const"]))) for part in parts]


def _bound(part: Mapping[str, Any], *keys: str) -> float | None:
    for key in keys:
        if key in part:
            bound = part[key]
            if not is_number(bound):
                raise SchemaError(f"{key} is a number, not {shorten(bound)}.")
            return bound
    return None


def _format(part: Mapping[str, Any]) -> str | None:
    name = part.get("format")
    if name is not None and name not in FORMATS:
        raise SchemaError(f"the format {name!r} is not one of {', '.join(FORMATS)}.")
    return name


def _pattern(part: Mapping[str, Any]) -> str | None:
    if "pattern" not in part:
        return None
    return validation.compile_pattern(part["pattern"])
