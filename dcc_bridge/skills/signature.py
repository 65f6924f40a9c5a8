"""What a skill takes and gives: its schemas, its arguments checked, its result. Any thread."""

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
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from dcc_bridge.elicitation.models import readable
from dcc_bridge.errors import BadArguments, BrokenSkill
from dcc_bridge.skills.skill import Options

_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_ASKED: Final = "If it is left out, the person is asked."
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


@dataclass(frozen=True, slots=True)
class Shape:
    """What a function takes and gives, whoever read it: Python, or us in its source."""

    parameters: Mapping[str, tuple[Any, Any]]  # type and default, ``...`` for none
    returns: Any = Any  # the type of its result; Any where it is not told
    doc: str = ""  # its docstring, or ""


def shape_of(fn: Callable[..., Any], name: str) -> Shape:
    """Read a function of that skill; BrokenSkill where a parameter cannot be described."""
    with broken_if_unreadable(name):
        hints = get_type_hints(fn, include_extras=True)
        parameters = _parameters(fn, hints)
    return Shape(parameters, hints.get("return", Any), inspect.getdoc(fn) or "")


class Signature:
    """What a function takes and gives, as an agent and as Python sees it."""

    def __init__(self, shape: Shape, name: str, *, ask_missing: bool = False) -> None:
        self._shape = shape  # the function's parameters, result and docstring
        self._name = name  # the skill's name, for messages
        # What is asked for where `ask_missing` lets a required choice be left out.
        options = {n: options_of(hint) for n, (hint, default) in shape.parameters.items()
                 if ask_missing and default is ...}  # fmt: skip
        self._asked = {name: choices for name, choices in options.items() if choices}

    @classmethod
    def of(cls, fn: Callable[..., Any], name: str, *, ask_missing: bool = False) -> Signature:
        """Read a function, and describe all of it; BrokenSkill where a parameter cannot be."""
        signature = cls(shape_of(fn, name), name, ask_missing=ask_missing)
        _ = signature.schema
        return signature

    @cached_property
    def description(self) -> str:
        """What the agent reads of the skill: its docstring without the Args section."""
        doc = docstring_parser.parse(self._shape.doc, docstring_parser.Style.GOOGLE)
        returns = doc.returns
        tail = f"Returns: {returns.description}" if returns and returns.description else None
        parts = (doc.short_description, doc.long_description, tail)
        return "\n\n".join(part for part in parts if part) or self._name.replace("_", " ")

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments; BrokenSkill where a type cannot be described."""
        with broken_if_unreadable(self._name):
            schema = self._model.model_json_schema(schema_generator=_Quiet)
        schema.pop("description", None)
        return _shorten(schema, self._name)

    @cached_property
    def returns(self) -> Returns:
        """What the function gives."""
        return Returns(self._shape.returns, self._name)

    @property
    def is_described(self) -> bool:
        """Whether all that is listed of it was made."""
        return "schema" in vars(self)

    def describe(self) -> None:
        """Make all that is listed of it; BrokenSkill where a type cannot be described."""
        _ = self.returns.schema
        _ = self.schema

    def is_listed_like(self, other: Signature) -> bool:
        """Whether an agent reads the same of both."""
        with suppress(Exception):  # a default may do anything when it is compared
            if self._shape == other._shape and self._asked.keys() == other._asked.keys():
                return True
        return self._listed == other._listed

    @property
    def _listed(self) -> tuple[Any, ...]:
        return self.description, self.schema, self.returns.schema

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments and give them as the function wants them; choices to ask for are not in.

        BadArguments names each one that does not fit, and why.
        """
        try:
            model = self._validated(dict(arguments))
        except ValidationError as error:
            raise BadArguments(self._complaint(error)) from error
        missing = self._asked.keys() - arguments.keys()
        return {n: getattr(model, f"p_{n}") for n in self._shape.parameters if n not in missing}

    def missing(self, bound: Mapping[str, Any]) -> dict[str, Options]:
        """Give the choices that are still to be asked for, with what can be chosen."""
        return {name: options for name, options in self._asked.items() if name not in bound}

    def _validated(self, arguments: dict[str, Any]) -> BaseModel:
        """Check; where a list or an object came as JSON in a text, as some clients send it, again.

        Claude Desktop does so: see ``pre_parse_json`` in the MCP SDK.
        """
        try:
            return self._model.model_validate(arguments)
        except ValidationError as error:
            again = dict(arguments)
            for detail in error.errors():
                name = detail["loc"][0] if detail["loc"] else None
                if isinstance(name, str) and isinstance(again.get(name), str):
                    again[name] = _parsed(again[name])
            if again == arguments:
                raise
            return self._model.model_validate(again)

    @cached_property
    def _model(self) -> type[BaseModel]:
        descriptions = argument_descriptions(self._shape.doc)
        fields: dict[str, Any] = {
            f"p_{name}": self._field(name, hint, default, descriptions.get(name))
            for name, (hint, default) in self._shape.parameters.items()
        }
        config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
        model: type[BaseModel] = create_model(self._name, __config__=config, **fields)
        return model

    def _field(
        self, name: str, hint: Any, default: Any, description: str | None
    ) -> tuple[Any, Any]:
        more: dict[str, Any] = {"alias": name}
        if name in self._asked:
            description = f"{description} {_ASKED}" if description else _ASKED
            more["json_schema_extra"] = lambda schema: schema.pop("default", None)
            default = None
        if description is not None:
            more["description"] = description
        return readable(hint), Field(default, **more)

    def _complaint(self, error: ValidationError) -> str:
        names, details = list(self._shape.parameters), error.errors()
        parts = [_complaint(it["loc"], it["msg"], it["type"], names) for it in details]
        if any(it["type"] == "extra_forbidden" and it["loc"][1:] == () for it in details):
            parts.append(f"It takes: {', '.join(names)}." if names else "It takes no arguments.")
        return f"{self._name} cannot be called like this: {' '.join(parts)} Nothing was changed."


class _Quiet(GenerateJsonSchema):
    """A default that JSON cannot carry is left out of the schema, without a warning."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        pass


def _shorten(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Leave out what says nothing, since agents pay for each word: titles that repeat a name."""
    for part in ("properties", "$defs"):
        for key, value in schema.get(part, {}).items():
            _shorten(value, key)
    if str(schema.get("title", "")).lower().replace(" ", "_").removeprefix("p_") == name.lower():
        schema.pop("title", None)
    if schema.get("default") in ("", [], {}):
        del schema["default"]
    if schema.get("additionalProperties") is True:
        del schema["additionalProperties"]
    return schema


def _parsed(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, list | dict):
            return value
    return text


def _parameters(fn: Callable[..., Any], hints: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    parameters = {}
    for name, parameter in inspect.signature(fn).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise BrokenSkill(f"{fn.__name__}: the parameter {name!r} cannot be given by its name.")
        if parameter.kind in _NAMED:
            default = ... if parameter.default is parameter.empty else parameter.default
            parameters[name] = (hints.get(name, Any), default)
    return parameters


def _complaint(where: tuple[int | str, ...], why: str, kind: str, names: list[str]) -> str:
    name = ".".join(str(part) for part in where)
    match kind:
        case "missing":
            return f"{name}: it is required."
        case "extra_forbidden":
            meant = get_close_matches(name, names, 1)
            more = f" Did you mean {meant[0]}?" if meant else ""
            return f"{name}: there is no such argument.{more}"
        case _:
            return f"{name}: {why[:1].lower()}{why[1:]}."


def argument_descriptions(doc: str) -> dict[str, str | None]:
    """Return what a docstring says of each argument."""
    params = docstring_parser.parse(doc, docstring_parser.Style.GOOGLE).params
    return {param.arg_name: param.description for param in params}


def options_of(hint: Any) -> Options | None:
    """Give what can be chosen from a type, or None where it is no choice."""
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


class Returns:
    """The type of a skill's result: its schema, and the result as plain JSON.

    A model, a dataclass, a TypedDict or a dict is an object as it stands; a number, a truth value
    or a list is put under the key ``result``, because the protocol wants an object. A text, an
    image, a file, what may be this or that, and what has no type, has no schema, and is an object
    only if it is one.
    """

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
            is_instance = is_dataclass(value) and not isinstance(value, type)
            return plain(value) if is_instance or isinstance(value, Mapping | BaseModel) else None
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
        wrapped = TypeAdapter(create_model(f"{self._name}_result", result=(hint, ...)))
        return wrapped, wrapped.json_schema(schema_generator=_Strict, mode="serialization"), True


class _Strict(GenerateJsonSchema):
    """What cannot be described is an error; what says nothing is left out."""

    def generate(self, schema: Any, mode: Any = "serialization") -> dict[str, Any]:
        made = super().generate(schema, mode)
        for whole in (made, *made.get("$defs", {}).values()):
            whole.pop("description", None)  # what a class is, for who reads its code
        return _shorten(made, str(made.get("title", "")))

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
    try:
        json.dumps(payload, ensure_ascii=False, allow_nan=False)
    except ValueError:  # pydantic leaves what is no number in the field of a model
        return json.loads(json.dumps(payload), parse_constant=lambda name: None)
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


def _has_no_schema(hint: Any) -> bool:
    if any(hint is untyped for untyped in _UNTYPED) or _is_file_type(hint):
        return True
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _has_no_schema(parts[0])
    shows_file = origin in (list, tuple) and any(_shows_file(part) for part in parts)
    return shows_file or origin in (Union, types.UnionType)


def _shows_file(hint: Any) -> bool:
    return _is_file_type(hint) or any(_shows_file(part) for part in get_args(hint))


def _is_file_type(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, _FILES)


def _rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the root of a model that refers to itself its own words, as clients look for a type."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return {**schema["$defs"][name], "$defs": schema["$defs"]} if name else schema
