"""A skill's signature and docstring as a schema, and arguments checked against it. Any thread."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from dcc_bridge.errors import BadArguments, BrokenSkill

_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature:
    """What a function takes, as an agent and as Python sees it."""

    def __init__(self, fn: Callable[..., Any], name: str) -> None:
        """Read a function.

        Args:
            fn: The skill's function.
            name: The skill's name, for messages.

        Raises:
            BrokenSkill: A parameter cannot be described.
        """
        self._name = name
        self._doc = docstring_parser.parse(inspect.getdoc(fn) or "", docstring_parser.Style.GOOGLE)
        try:
            self._parameters = _parameters(fn)
            self._model = self._make_model()
        except BrokenSkill:
            raise
        except Exception as error:  # resolving a type hint may raise anything
            raise BrokenSkill(f"{name}: its signature cannot be read: {error}") from error

    @property
    def description(self) -> str:
        """What the agent reads of the skill: its docstring without the Args section."""
        parts = (self._doc.short_description, self._doc.long_description)
        returns = self._doc.returns
        tail = f"Returns: {returns.description}" if returns and returns.description else None
        return "\n\n".join(part for part in (*parts, tail) if part) or self._name.replace("_", " ")

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self._model.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        return schema

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments and give them as the function wants them.

        Raises:
            BadArguments: They do not fit; names each one that does not, and why.
        """
        try:
            model = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            raise BadArguments(self._complaint(error)) from error
        return {name: getattr(model, alias) for name, alias in self._aliases()}

    def _aliases(self) -> list[tuple[str, str]]:
        return [(name, f"p_{name}") for name in self._parameters]

    def _make_model(self) -> type[BaseModel]:
        told = {p.arg_name: p.description for p in self._doc.params}
        fields: dict[str, Any] = {}
        for name, alias in self._aliases():
            hint, default = self._parameters[name]
            info = Field(default, alias=name, description=told.get(name), title=_words(name))
            fields[alias] = (hint, info)
        config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
        model: type[BaseModel] = create_model(self._name, __config__=config, **fields)
        return model

    def _complaint(self, error: ValidationError) -> str:
        parts = [_complaint(one["loc"], one["msg"], one["type"]) for one in error.errors()]
        return f"{self._name} cannot be called like this: {' '.join(parts)} Nothing was changed."


def _parameters(fn: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Give each named parameter's type and default."""
    hints = get_type_hints(fn, include_extras=True)
    found = {}
    for name, parameter in inspect.signature(fn).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise BrokenSkill(f"{fn.__name__}: the parameter {name!r} cannot be given by its name.")
        if parameter.kind in _NAMED:
            default = ... if parameter.default is parameter.empty else parameter.default
            found[name] = (hints.get(name, Any), default)
    return found


def _complaint(where: tuple[int | str, ...], why: str, kind: str) -> str:
    name = ".".join(str(part) for part in where)
    match kind:
        case "missing":
            return f"{name}: it is required."
        case "extra_forbidden":
            return f"{name}: there is no such argument."
        case _:
            return f"{name}: {why[:1].lower()}{why[1:]}."


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()
