"""The signature of a skill: its schemas, and the check of its arguments and result. Any thread."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from dcc_bridge.elicitation.models import readable
from dcc_bridge.errors import BadArguments, BrokenSkill
from dcc_bridge.skills.skill import Options

_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_ASKED_NOTE: Final = "If it is left out, the person is asked."
_UNTYPED: Final = (Any, None, type(None), object, str)
_FILES: Final = (bytes, bytearray, PurePath)


@contextmanager
def broken_if_unreadable(name: str) -> Iterator[None]:
    """Raise BrokenSkill for whatever the types of a skill raise while they are read."""
    try:
        yield
    except BrokenSkill:
        raise
    except Exception as error:  # a type may do anything while Python or pydantic looks at it
        raise BrokenSkill(f"{name}: its signature cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters and the result of a function, read by Python or by us in its source.

    Attributes:
        parameters: By name, the type and the default; the default is ``...`` where there is none.
        returns: The type of the result; Any where it is not stated.
        doc: The docstring, or "".
    """

    parameters: Mapping[str, tuple[Any, Any]]
    returns: Any = Any
    doc: str = ""


def shape_of(fn: Callable[..., Any], name: str) -> Shape:
    """Read the shape of a skill's function.

    Args:
        fn: The function.
        name: The skill's name, for the error.

    Raises:
        BrokenSkill: A parameter cannot be described.
    """
    with broken_if_unreadable(name):
        hints = get_type_hints(fn, include_extras=True)
        parameters = _parameters(fn, hints)
    return Shape(parameters, hints.get("return", Any), inspect.getdoc(fn) or "")


class Signature:
    """The signature of a skill, as an agent sees it in schemas and Python in arguments."""

    def __init__(self, shape: Shape, name: str, *, ask_missing: bool = False) -> None:
        """Take a shape; its types are described when a schema is first wanted.

        Args:
            shape: The function's parameters, result and docstring.
            name: The skill's name, for messages.
            ask_missing: A required choice may be left out, and the person is asked for it.
        """
        self._shape = shape
        self._name = name
        self._asked: dict[str, Options] = {}  # the choices that may be left out, by parameter
        if not ask_missing:
            return
        for parameter, (hint, default) in shape.parameters.items():
            options = options_of(hint)
            if default is ... and options:
                self._asked[parameter] = options

    @classmethod
    def of(cls, fn: Callable[..., Any], name: str, *, ask_missing: bool = False) -> Signature:
        """Read a function and describe all of it.

        Raises:
            BrokenSkill: A parameter cannot be described.
        """
        signature = cls(shape_of(fn, name), name, ask_missing=ask_missing)
        _ = signature.schema
        return signature

    @cached_property
    def description(self) -> str:
        """The text that the agent reads of the skill: its docstring without the Args section."""
        doc = docstring_parser.parse(self._shape.doc, docstring_parser.Style.GOOGLE)
        parts = []
        if doc.short_description:
            parts.append(doc.short_description)
        if doc.long_description:
            parts.append(doc.long_description)
        if doc.returns and doc.returns.description:
            parts.append(f"Returns: {doc.returns.description}")
        if not parts:
            return self._name.replace("_", " ")
        return "\n\n".join(parts)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments; BrokenSkill where a type cannot be described."""
        with broken_if_unreadable(self._name):
            schema = self._model.model_json_schema(schema_generator=_Quiet)
        schema.pop("description", None)
        return _shorten(schema, self._name)

    @cached_property
    def returns(self) -> Returns:
        """The type of the result."""
        return Returns(self._shape.returns, self._name)

    @property
    def is_described(self) -> bool:
        """Whether the schema was made, and with it all that is listed."""
        return "schema" in vars(self)

    def describe(self) -> None:
        """Make all that is listed of the skill.

        Raises:
            BrokenSkill: A type cannot be described.
        """
        _ = self.returns.schema
        _ = self.schema

    def is_listed_like(self, other: Signature) -> bool:
        """Return whether an agent reads the same of both signatures."""
        with suppress(Exception):  # a default may do anything when it is compared
            if self._shape == other._shape and self._asked.keys() == other._asked.keys():
                return True
        return self._listed == other._listed

    @property
    def _listed(self) -> tuple[Any, ...]:
        return self.description, self.schema, self.returns.schema

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments and return them as the function wants them.

        Choices that are still to be asked for are not among them.

        Raises:
            BadArguments: Some do not fit; the message names each of them and why.
        """
        try:
            model = self._validated(dict(arguments))
        except ValidationError as error:
            raise BadArguments(self._complaint(error)) from error
        missing = self._asked.keys() - arguments.keys()
        bound = {}
        for name in self._shape.parameters:
            if name not in missing:
                bound[name] = getattr(model, f"p_{name}")
        return bound

    def missing(self, bound: Mapping[str, Any]) -> dict[str, Options]:
        """Return the choices that are still to be asked for, with the options of each."""
        return {name: options for name, options in self._asked.items() if name not in bound}

    def _validated(self, arguments: dict[str, Any]) -> BaseModel:
        """Check arguments; a text that does not fit may hold a list or an object as JSON.

        Claude Desktop sends lists and objects like that: see ``pre_parse_json`` in the MCP SDK.
        """
        try:
            return self._model.model_validate(arguments)
        except ValidationError as error:
            parsed = _with_parsed_texts(arguments, error)
            if parsed == arguments:
                raise
            return self._model.model_validate(parsed)

    @cached_property
    def _model(self) -> type[BaseModel]:
        """A model of the arguments.

        Its fields have a prefix, since pydantic keeps names like "copy" and "_private" for itself.
        """
        descriptions = argument_descriptions(self._shape.doc)
        fields: dict[str, Any] = {}
        for name, (hint, default) in self._shape.parameters.items():
            fields[f"p_{name}"] = self._field(name, hint, default, descriptions.get(name))
        config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
        model: type[BaseModel] = create_model(self._name, __config__=config, **fields)
        return model

    def _field(
        self, name: str, hint: Any, default: Any, description: str | None
    ) -> tuple[Any, Any]:
        """Return a field of the model: its type, and pydantic's description of it."""
        options: dict[str, Any] = {"alias": name}
        if name in self._asked:
            description = f"{description or ''} {_ASKED_NOTE}".lstrip()
            options["json_schema_extra"] = _without_default
            default = None
        if description is not None:
            options["description"] = description
        return readable(hint), Field(default, **options)

    def _complaint(self, error: ValidationError) -> str:
        """Return what is wrong with arguments, in sentences for the agent."""
        names = list(self._shape.parameters)
        sentences = []
        has_unknown = False
        for detail in error.errors():
            where = detail["loc"]
            sentences.append(_complaint(where, detail["msg"], detail["type"], names))
            if detail["type"] == "extra_forbidden" and len(where) == 1:
                has_unknown = True
        if has_unknown and names:
            sentences.append(f"It takes: {', '.join(names)}.")
        elif has_unknown:
            sentences.append("It takes no arguments.")
        return (
            f"{self._name} cannot be called like this: {' '.join(sentences)} Nothing was changed."
        )


class _Quiet(GenerateJsonSchema):
    """A schema without the defaults that JSON cannot carry, made without a warning."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        pass


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def _shorten(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Remove what says nothing, since agents pay for each word: titles that repeat a name."""
    for part in ("properties", "$defs"):
        for key, value in schema.get(part, {}).items():
            _shorten(value, key)
    title = str(schema.get("title", ""))
    if title.lower().replace(" ", "_").removeprefix("p_") == name.lower():
        schema.pop("title", None)
    if schema.get("default") in ("", [], {}):
        del schema["default"]
    if schema.get("additionalProperties") is True:
        del schema["additionalProperties"]
    return schema


def _with_parsed_texts(arguments: Mapping[str, Any], error: ValidationError) -> dict[str, Any]:
    """Return arguments with the lists and objects that the texts hold which do not fit."""
    parsed = dict(arguments)
    for detail in error.errors():
        if not detail["loc"]:
            continue
        name = detail["loc"][0]
        if isinstance(name, str) and isinstance(parsed.get(name), str):
            parsed[name] = _parsed(parsed[name])
    return parsed


def _parsed(text: str) -> Any:
    """Return the list or the object that a text holds as JSON; else the text."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, list | dict):
            return value
    return text


def _parameters(fn: Callable[..., Any], hints: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the type and the default of each parameter that can be given by its name."""
    parameters = {}
    for name, parameter in inspect.signature(fn).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise BrokenSkill(f"{fn.__name__}: the parameter {name!r} cannot be given by its name.")
        if parameter.kind not in _BY_NAME:
            continue
        default = parameter.default
        if default is parameter.empty:
            default = ...
        parameters[name] = (hints.get(name, Any), default)
    return parameters


def _complaint(where: tuple[int | str, ...], why: str, kind: str, names: list[str]) -> str:
    """Return a sentence on one argument, or a part of it.

    Args:
        where: The name of the argument, then the keys and indices of the part.
        why: The sentence of pydantic.
        kind: The type of the error, by pydantic.
        names: The parameters that there are.
    """
    name = ".".join(str(part) for part in where)
    match kind:
        case "missing":
            return f"{name}: it is required."
        case "extra_forbidden":
            sentence = f"{name}: there is no such argument."
            near = get_close_matches(name, names, 1)
            if near:
                sentence += f" Did you mean {near[0]}?"
            return sentence
        case _:
            return f"{name}: {why[:1].lower()}{why[1:]}."


def argument_descriptions(doc: str) -> dict[str, str | None]:
    """Return the description of each argument in a docstring."""
    params = docstring_parser.parse(doc, docstring_parser.Style.GOOGLE).params
    return {param.arg_name: param.description for param in params}


def options_of(hint: Any) -> Options | None:
    """Return the options of a Literal or an Enum; None where a type is no choice."""
    if get_origin(hint) is Annotated:
        return options_of(get_args(hint)[0])
    if get_origin(hint) is Literal:
        return {str(value): value for value in get_args(hint)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {str(member.value): member for member in hint}
    return None


def words(name: str) -> str:
    """Return a parameter's name as a person reads it."""
    return name.replace("_", " ").capitalize()


class _Adapter(NamedTuple):
    """A type of results, as pydantic checks it.

    Attributes:
        type: Checks a value.
        schema: The JSON schema of the structured result.
        is_wrapped: The value is under the key ``result``.
    """

    type: TypeAdapter[Any]
    schema: dict[str, Any]
    is_wrapped: bool


class Returns:
    """The type of a skill's result: its schema, and the result as plain JSON.

    A model, a dataclass, a TypedDict or a dict is an object as it stands. A number, a truth value
    or a list is put under the key ``result``, because the protocol wants an object. A text, an
    image, a file, a union and a result without a type have no schema, and are an object only if
    the value is an object.

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
        if self._adapter is None:
            return None
        return self._adapter.schema

    def structured(self, value: Any) -> dict[str, Any] | None:
        """Return a result as a JSON object; None where it is no object.

        Raises:
            ValueError: The result does not fit its type.
        """
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
    def _adapter(self) -> _Adapter | None:
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
        schema = own.json_schema(schema_generator=_Strict, mode="serialization")
        schema = _rooted(schema)
        if schema.get("type") == "object":
            return _Adapter(own, schema, is_wrapped=False)
        model = create_model(f"{self._name}_result", result=(hint, ...))
        wrapped = TypeAdapter(model)
        schema = wrapped.json_schema(schema_generator=_Strict, mode="serialization")
        return _Adapter(wrapped, schema, is_wrapped=True)


def _untyped_object(value: Any) -> dict[str, Any] | None:
    """Return an object as JSON has it; None for a value that is no object."""
    is_instance = is_dataclass(value) and not isinstance(value, type)
    if is_instance or isinstance(value, Mapping | BaseModel):
        payload: dict[str, Any] = plain(value)
        return payload
    return None


class _Strict(GenerateJsonSchema):
    """A schema for which an indescribable type is an error, without what says nothing."""

    def generate(self, schema: Any, mode: Any = "serialization") -> dict[str, Any]:
        generated = super().generate(schema, mode)
        for part in (generated, *generated.get("$defs", {}).values()):
            part.pop("description", None)  # of the class, for those who read its code
        return _shorten(generated, str(generated.get("title", "")))

    def emit_warning(self, kind: Any, detail: str) -> None:
        raise ValueError(detail)


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
    """Return whether a value is shown rather than told: bytes, or a path."""
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
