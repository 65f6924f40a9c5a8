"""The signature of a skill: its schema, and the check of its arguments. Any thread."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from dcc_bridge.elicitation.models import readable
from dcc_bridge.errors import BadArguments, BrokenSkill
from dcc_bridge.skills.returns import Returns
from dcc_bridge.skills.schemas import LenientSchema, broken_if_unreadable, shorten
from dcc_bridge.skills.skill import Options

_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_ASKED_NOTE: Final = "If it is left out, the person is asked."


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
            schema = self._model.model_json_schema(schema_generator=LenientSchema)
        schema.pop("description", None)
        return shorten(schema, self._name)

    @cached_property
    def returns(self) -> Returns:
        """The type of the result."""
        return Returns(self._shape.returns, self._name)

    @property
    def is_described(self) -> bool:
        """True once the schema was made, and with it all that is listed."""
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
            known = names
            if len(where) > 1:
                known = self._fields_at(where[:-1])
            sentences.append(_complaint(where, detail["msg"], detail["type"], known))
            if detail["type"] == "extra_forbidden" and len(where) == 1:
                has_unknown = True
        if has_unknown and names:
            sentences.append(f"It takes: {', '.join(names)}.")
        elif has_unknown:
            sentences.append("It takes no arguments.")
        return (
            f"{self._name} cannot be called like this: {' '.join(sentences)} Nothing was changed."
        )

    def _fields_at(self, where: tuple[int | str, ...]) -> list[str]:
        """Return the names that an object within an argument takes; none where that is not told.

        Args:
            where: The name of the argument, then the keys and indices of the object.
        """
        whole = self._model.model_json_schema()
        part = whole
        with suppress(KeyError):  # there are several types, or any name will do
            for key in where:
                part = part["items"] if isinstance(key, int) else part["properties"][key]
                if "$ref" in part:
                    part = whole["$defs"][part["$ref"].rpartition("/")[2]]
            return list(part["properties"])
        return []


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


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
        names: The parameters that there are, or the names that the object takes.
    """
    name = ".".join(str(part) for part in where)
    last = str(where[-1]) if where else ""
    match kind:
        case "missing":
            return f"{name}: it is required."
        case "extra_forbidden":
            sentence = f"{name}: there is no such argument."
            near = get_close_matches(last, names, 1)
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
