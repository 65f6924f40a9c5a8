"""A pydantic model, a dataclass or a TypedDict as a form's schema. Any thread.

pydantic describes the type; what it says with references, unions with None and constants is put
into the flat words of the protocol. What cannot be is left as it is, and refused by `schema.parse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NotRequired, Required, get_origin, get_type_hints, is_typeddict

from dcc_bridge.errors import SchemaError

_DROPPED: Final = {"additionalProperties", "$defs"}


def schema_of(model: type[Any]) -> dict[str, Any]:
    """Make the schema of a type.

    Args:
        model: A pydantic model, a dataclass or a TypedDict.

    Raises:
        SchemaError: pydantic cannot describe it.
    """
    from pydantic import TypeAdapter  # 60 ms that only a model needs
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter(_as_model(model) if is_typeddict(model) else model)
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

    marked = get_type_hints(typed, include_extras=True)
    total = bool(getattr(typed, "__total__", True))
    fields: dict[str, Any] = {
        name: (hint, ... if _is_required(marked[name], total) else None)
        for name, hint in get_type_hints(typed).items()
    }
    return create_model(_name(typed), **fields)


def _is_required(hint: object, total: bool) -> bool:
    """Read the mark itself: with postponed annotations ``__required_keys__`` does not know it."""
    return get_origin(hint) is Required or (total and get_origin(hint) is not NotRequired)


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
