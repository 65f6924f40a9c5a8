"""The type of a skill's result, and its values as plain JSON. Any thread."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from pydantic_core import PydanticSerializationError, to_jsonable_python

from dcc_bridge.elicitation.models import readable
from dcc_bridge.errors import BrokenSkill
from dcc_bridge.skills.described import Described
from dcc_bridge.skills.schemas import StrictSchema, broken_if_unreadable

_UNTYPED: Final = (Any, None, type(None), object, str)
_FILES: Final = (bytes, bytearray, PurePath)


class _Adapter(NamedTuple):
    """A type of results, as pydantic checks it.

    Attributes:
        type: The type, which checks a value.
        schema: The JSON schema of the structured result.
        is_wrapped: Whether the value is put under the key ``result``.
    """

    type: TypeAdapter[Any]
    schema: dict[str, Any]
    is_wrapped: bool


class Returns:
    """The type of a skill's result: its schema, and the result as plain JSON.

    A model, a dataclass, a TypedDict or a dict is an object as it stands. A number, a truth value
    or a list is put under the key ``result``, because the protocol wants an object. A text, an
    image, a file, a union and a result without a type have no schema, and are an object only if
    the value is an object. A type with a `Described` schema has that, and its values are not
    checked: an object is sent as it is, a text under ``result``, and pictures beside it.

    Args:
        hint: The type of the result.
        name: The skill's name, for messages.
    """

    def __init__(self, hint: Any, name: str) -> None:
        self._hint = hint
        self._name = name

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the structured result, or None."""
        if self._described is not None:
            return self._described.copied()
        if self._adapter is None:
            return None
        return self._adapter.schema

    @property
    def is_described(self) -> bool:
        """Whether the schema is written out, so that no result is checked by it."""
        return self._described is not None

    @property
    def is_typed(self) -> bool:
        """Whether a result is checked by its type."""
        return self._adapter is not None

    def structured(self, value: Any) -> dict[str, Any] | None:
        """Return a result as a JSON object; None where it is no object.

        Raises:
            ValueError: The result does not fit its type.
        """
        if self._described is not None:
            return _described_object(value)
        adapter = self._adapter
        if adapter is None:
            return _untyped_object(value)
        checked = value
        if adapter.is_wrapped:
            checked = {"result": value}
        try:
            valid = adapter.type.validate_python(checked)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            what = where or f"a value of type {type(value).__name__}"
            raise ValueError(f"{what} does not fit its annotation: {first['msg']}") from error
        if adapter.is_wrapped:
            valid = {"result": valid.result}
        result = plain(valid)
        assert isinstance(result, dict)
        return result

    @cached_property
    def _described(self) -> Described | None:
        """The schema that is written out in the type, if there is one."""
        if get_origin(self._hint) is not Annotated:
            return None
        return next((part for part in get_args(self._hint) if isinstance(part, Described)), None)

    @cached_property
    def _adapter(self) -> _Adapter | None:
        """The adapter of the type; None for a type without a schema."""
        hint = readable(self._hint)
        if _has_no_schema(hint):
            return None
        # A type that pydantic cannot describe is no error: its values are told in words.
        with suppress(BrokenSkill), broken_if_unreadable(self._name):
            return self._make(hint)
        return None

    def _make(self, hint: Any) -> _Adapter:
        """Return the adapter of a type; a type that is no object is put under ``result``."""
        own = TypeAdapter(hint)
        schema = own.json_schema(schema_generator=StrictSchema, mode="serialization")
        schema = _rooted(schema)
        if schema.get("type") == "object":
            return _Adapter(own, schema, is_wrapped=False)
        model = create_model(f"{self._name}_result", result=(hint, ...))
        wrapped = TypeAdapter(model)
        schema = wrapped.json_schema(schema_generator=StrictSchema, mode="serialization")
        return _Adapter(wrapped, schema, is_wrapped=True)


def _described_object(value: Any) -> dict[str, Any]:
    """Return the object of a result whose schema is written out.

    Raises:
        ValueError: The result is no object, no text, and no list that begins with one of them.
    """
    told = value
    if isinstance(value, list) and value:
        told = value[0]  # beside it are pictures
    if isinstance(told, str):
        return {"result": told}
    structured = _untyped_object(told)
    if structured is None:
        raise ValueError(f"a value of type {type(value).__name__} is no object")
    return structured


def _untyped_object(value: Any) -> dict[str, Any] | None:
    """Return an object as JSON has it; None for a value that is no object."""
    is_instance = is_dataclass(value) and not isinstance(value, type)
    if is_instance or isinstance(value, Mapping | BaseModel):
        payload: dict[str, Any] = plain(value)
        return payload
    return None


def plain(value: Any) -> Any:
    """Return a value as JSON has it, with models, dataclasses and paths as objects and texts.

    Raises:
        ValueError: The value refers to itself, is too deep, or holds an object without a text.
    """
    try:
        payload = to_jsonable_python(
            value, by_alias=True, fallback=_text_of, bytes_mode="base64", inf_nan_mode="null"
        )
    except (PydanticSerializationError, RecursionError) as error:
        raise ValueError(str(error)) from error
    try:
        json.dumps(payload, ensure_ascii=False, allow_nan=False)
    except ValueError:  # pydantic leaves NaN and infinity in the fields of a model
        return json.loads(json.dumps(payload), parse_constant=lambda name: None)
    return payload


def _text_of(value: Any) -> str:
    """Return the text of a value that JSON does not know, such as a host's vector.

    Raises:
        ValueError: The value has no text but its address, or is an object that was deleted.
    """
    text = ""
    if not callable(value):
        with suppress(Exception):  # a host's API raises anything for what was deleted
            text = str(value)
    if not text or text == object.__repr__(value):
        what = f"a value of type {type(value).__name__}"
        raise ValueError(f"{what} is no JSON; return names, numbers, lists or dicts")
    return text


def is_file(value: object) -> bool:
    """Return whether a value is shown as a file, and not in words: bytes, or a path."""
    return isinstance(value, _FILES)


def _has_no_schema(hint: Any) -> bool:
    """Return whether a result of a type is told as it is, without a schema."""
    if any(hint is untyped for untyped in _UNTYPED) or _is_file_type(hint):
        return True
    origin = get_origin(hint)
    parts = get_args(hint)
    if origin is Annotated:
        return _has_no_schema(parts[0])
    if origin in (Union, types.UnionType):
        return True
    return origin in (list, tuple) and any(_shows_file(part) for part in parts)


def _shows_file(hint: Any) -> bool:
    return _is_file_type(hint) or any(_shows_file(part) for part in get_args(hint))


def _is_file_type(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, _FILES)


def _rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with a type at its root, for which clients look.

    The root of a model that refers to itself is a reference alone.
    """
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if not name:
        return schema
    return {**schema["$defs"][name], "$defs": schema["$defs"]}
