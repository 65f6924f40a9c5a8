"""A skill's signature and docstring as a schema, and arguments checked against it. Any thread."""

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
from pydantic.json_schema import GenerateJsonSchema

from dcc_bridge.elicitation.models import readable
from dcc_bridge.errors import BadArguments, BrokenSkill
from dcc_bridge.skills.returns import Returns, broken_if_unreadable

_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
Options = Mapping[str, Any]  # the words on the wire, and the value that the function wants for each
_ASKED: Final = "If it is left out, the person is asked."


@dataclass(frozen=True, slots=True)
class Shape:
    """What a function takes and gives, whoever read it: Python, or us in its source."""

    # Each named parameter's type, and its default; ``...`` where it has none.
    parameters: Mapping[str, tuple[Any, Any]]
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
        schema.pop("title", None)
        schema.pop("description", None)
        return schema

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

        Raises:
            BadArguments: They do not fit; names each one that does not, and why.
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
        more: dict[str, Any] = {"alias": name, "title": words(name)}
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
