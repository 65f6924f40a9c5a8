"""What a skill gives: the schema of its result, and the result as plain JSON. Any thread.

A model, a dataclass, a TypedDict or a dict is an object as it stands; a number, a truth value or a
list is put under the key ``result``, because the protocol wants an object. A text, an image, a
file, what may be this or that, and what has no type, has no schema, and is an object only if it
is one.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from dcc_bridge.elicitation.models import readable
from dcc_bridge.errors import BrokenSkill

_UNTYPED: Final = (Any, None, type(None), object, str)
_FILES: Final = (bytes, bytearray, PurePath)


@contextmanager
def broken_if_unreadable(name: str) -> Iterator[None]:
    """Say of a skill that its signature cannot be read, whatever its types raise."""
    try:
        yield
    except BrokenSkill:
        raise
    except Exception as error:  # a type may do anything while Python or pydantic looks at it
        raise BrokenSkill(f"{name}: its signature cannot be read: {error}") from error


class Returns:
    """The type of a skill's result."""

    def __init__(self, hint: Any, name: str) -> None:
        self._hint = hint
        self._name = name  # the skill's name

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the structured result, or None."""
        return self._adapter[1] if self._adapter is not None else None

    def structured(self, value: Any) -> dict[str, Any] | None:
        """Give a result as a JSON object, or None; ValueError where it does not fit its type."""
        if self._adapter is None:
            return plain(value) if _is_object(value) else None
        adapter, _, is_wrapped = self._adapter
        try:
            valid = adapter.validate_python({"result": value} if is_wrapped else value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            what = where or f"a value of type {type(value).__name__}"
            raise ValueError(f"{what} does not fit its annotation: {first['msg']}") from error
        result = plain({"result": valid.result} if is_wrapped else valid)
        assert isinstance(result, dict)
        return result

    @cached_property
    def _adapter(self) -> tuple[TypeAdapter[Any], dict[str, Any], bool] | None:
        hint = readable(self._hint)
        if _has_no_schema(hint):
            return None
        with suppress(BrokenSkill), broken_if_unreadable(self._name):
            return self._make(hint)
        return None  # what it cannot describe is told in words

    def _make(self, hint: Any) -> tuple[TypeAdapter[Any], dict[str, Any], bool] | None:
        adapter = TypeAdapter(hint)
        schema = _rooted(adapter.json_schema(schema_generator=_Strict, mode="serialization"))
        if schema.get("type") == "object":
            return adapter, schema, False
        wrapper = create_model(f"{self._name}_result", result=(hint, ...))
        wrapped = TypeAdapter(wrapper)
        wrapped_schema = wrapped.json_schema(schema_generator=_Strict, mode="serialization")
        return wrapped, wrapped_schema, True


class _Strict(GenerateJsonSchema):
    def emit_warning(self, kind: Any, detail: str) -> None:
        raise ValueError(detail)


def plain(value: Any) -> Any:
    """Give a value as JSON has it, models, dataclasses and paths in plain words.

    Raises:
        ValueError: It refers to itself, is too deep, or holds what has no words of its own.
    """
    try:
        payload = to_jsonable_python(
            value, by_alias=True, fallback=_worded, bytes_mode="base64", inf_nan_mode="null"
        )
    except (PydanticSerializationError, RecursionError) as error:
        raise ValueError(str(error)) from error
    text = json.dumps(payload, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a file's name may hold what UTF-8 cannot
        return json.loads(text.encode("utf-8", "replace"))
    return payload


def _worded(value: Any) -> str:
    """Give the text of a value that JSON does not know, such as a host's vector.

    Raises:
        ValueError: It has none but its address, or is an object that was deleted.
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
    """Whether a value is shown rather than told: bytes, or a path."""
    return isinstance(value, _FILES)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping | BaseModel) or (
        is_dataclass(value) and not isinstance(value, type)
    )


def _has_no_schema(hint: Any) -> bool:
    if any(hint is untyped for untyped in _UNTYPED) or _is_file_type(hint):
        return True
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _has_no_schema(parts[0])
    if origin in (typing.Union, types.UnionType):
        return True
    return origin in (list, tuple) and any(_shows_file(part) for part in parts)


def _shows_file(hint: Any) -> bool:
    return _is_file_type(hint) or any(_shows_file(part) for part in typing.get_args(hint))


def _is_file_type(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, _FILES)


def _rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the root of a model that refers to itself its own words, as clients look for a type."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return {**schema["$defs"][name], "$defs": schema["$defs"]} if name else schema
