"""Forms from pydantic models, dataclasses and TypedDicts, and types as pydantic reads them.

pydantic describes a model with references, unions with None and constants, which are put into the
flat words of the protocol. What cannot be is left as it is, and refused by `schema.parse`. Any
thread.
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

_DROPPED: Final = {"additionalProperties", "$defs"}  # what pydantic says of a type and no form has


def read_model(model: type[Any]) -> tuple[dict[str, Any], TypeAdapter[Any] | None]:
    """Return the schema of a model, a dataclass or a TypedDict, and what makes instances of it.

    An answer for a TypedDict is a dict as it stands.
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
    kept = {key: value for key, value in full.items() if key not in _DROPPED}
    parts = full.get("properties", {})
    kept["properties"] = {n: _flat(part, full.get("$defs", {})) for n, part in parts.items()}
    return kept, None if typing.is_typeddict(model) else adapter


def readable(hint: Any) -> Any:
    """Give a type with each TypedDict in it as pydantic wants it: its own before Python 3.12."""
    if sys.version_info >= (3, 12):
        return hint
    if typing.is_typeddict(hint):
        return _copied(hint)
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return typing.Annotated[(readable(parts[0]), *parts[1:])]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(readable(part) for part in parts)]  # noqa: UP007 - no other way from a tuple
    if origin in (list, set, frozenset, tuple, dict) and parts:
        return origin[tuple(part if part is ... else readable(part) for part in parts)]
    return hint


def _copied(typed: Any) -> Any:
    from typing_extensions import TypedDict  # pydantic brings it, and only a TypedDict needs it

    marked = typing.get_type_hints(typed, include_extras=True)
    fields = {name: _typed_field(typed, name, hint) for name, hint in marked.items()}
    copy = TypedDict(typed.__name__, fields)  # type: ignore[misc]  # the functional form
    copy.__doc__ = typed.__doc__
    return copy


def _typed_field(typed: Any, name: str, hint: Any) -> Any:
    """Read the mark itself: with postponed annotations ``__required_keys__`` does not know it."""
    total = bool(getattr(typed, "__total__", True))
    origin = typing.get_origin(hint)
    is_required = origin is typing.Required or (total and origin is not typing.NotRequired)
    inner = typing.get_args(hint)[0] if origin in (typing.Required, typing.NotRequired) else hint
    hint = readable(inner)
    return hint if is_required else typing.NotRequired[hint]


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
