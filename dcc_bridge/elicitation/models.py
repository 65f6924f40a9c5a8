"""Schemas of forms from pydantic models, dataclasses and TypedDicts. Any thread.

pydantic describes a model with references, unions with None, and constants. `read_model` rewrites
them in the flat subset of JSON Schema that the protocol allows for forms. A part that cannot be
rewritten stays as pydantic has it, and `schema.parse` refuses the form.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge.errors import SchemaError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MODEL_KEYWORDS: Final = {"additionalProperties", "$defs"}  # pydantic's, which no form has


def read_model(model: type[Any]) -> tuple[dict[str, Any], TypeAdapter[Any] | None]:
    """Return the schema of a model, a dataclass or a TypedDict, and the adapter of its instances.

    Args:
        model: The type.

    Returns:
        The schema as a form's, and the adapter; None for a TypedDict, whose instances are dicts.

    Raises:
        SchemaError: pydantic cannot describe the type, or describes no object with fields.
    """
    from pydantic import TypeAdapter  # 60 ms that only a model needs
    from pydantic.errors import PydanticUserError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(readable(model))
        full = adapter.json_schema()
    except (PydanticUserError, NameError, TypeError) as error:
        raise SchemaError(f"{_name(model)} cannot be made into a form: {error}") from error
    if full.get("type") != "object":
        raise SchemaError(f"{_name(model)} is not a model, a dataclass or a TypedDict.")
    definitions = full.get("$defs", {})
    parts = full.get("properties", {})
    schema = {key: value for key, value in full.items() if key not in _MODEL_KEYWORDS}
    schema["properties"] = {name: _flatten(part, definitions) for name, part in parts.items()}
    if typing.is_typeddict(model):
        return schema, None
    return schema, adapter


def readable(hint: Any) -> Any:
    """Return a type that pydantic can read.

    Before Python 3.12 pydantic reads the TypedDict of typing_extensions only, so each other
    TypedDict in the type is copied into one.
    """
    if sys.version_info >= (3, 12):
        return hint
    if typing.is_typeddict(hint):
        return _copy_typed_dict(hint)
    origin = typing.get_origin(hint)
    parts = typing.get_args(hint)
    if origin is typing.Annotated:
        return typing.Annotated[(readable(parts[0]), *parts[1:])]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(readable(part) for part in parts)]  # noqa: UP007 - no other way from a tuple
    if origin in (list, set, frozenset, tuple, dict) and parts:
        readable_parts = []
        for part in parts:
            if part is ...:
                readable_parts.append(part)
            else:
                readable_parts.append(readable(part))
        return origin[tuple(readable_parts)]
    return hint


def _copy_typed_dict(typed: Any) -> Any:
    from typing_extensions import TypedDict  # comes with pydantic; only a TypedDict needs it

    hints = typing.get_type_hints(typed, include_extras=True)
    fields = {name: _field_type(typed, hint) for name, hint in hints.items()}
    copy = TypedDict(typed.__name__, fields)  # type: ignore[misc]  # the functional form
    copy.__doc__ = typed.__doc__
    return copy


def _field_type(typed: Any, hint: Any) -> Any:
    """Return the type of a TypedDict's field for pydantic, marked if the field may be left out.

    ``__required_keys__`` is wrong with postponed annotations, so the mark is read from the hint.
    """
    is_required = bool(getattr(typed, "__total__", True))
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        is_required = origin is typing.Required
        hint = typing.get_args(hint)[0]
    hint = readable(hint)
    if is_required:
        return hint
    return typing.NotRequired[hint]


def _flatten(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite a property in the flat subset of the protocol."""
    part = _resolve(part, definitions)
    if "anyOf" in part:
        part = _drop_none(part, definitions)
    if "const" in part:
        part["enum"] = [part.pop("const")]
    if isinstance(part.get("items"), Mapping):
        items = _flatten(part["items"], definitions)
        part["items"] = {key: value for key, value in items.items() if key in ("type", "enum")}
    if "default" in part and part["default"] is None:
        del part["default"]
    return part


def _resolve(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a property, with its reference replaced by the definition."""
    name = str(part.get("$ref", "")).rpartition("/")[2]
    if name not in definitions:
        return dict(part)
    return {**definitions[name], **_without(part, "$ref")}


def _drop_none(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other type of a union with None; a copy of any other union."""
    others = [option for option in part["anyOf"] if option != {"type": "null"}]
    if len(others) != 1:
        return dict(part)
    return {**_resolve(others[0], definitions), **_without(part, "anyOf")}


def _without(part: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != keyword}


def _name(model: object) -> str:
    return getattr(model, "__name__", repr(model))
