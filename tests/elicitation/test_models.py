"""A type is as good as a dict, and says the same."""

from __future__ import annotations

import gc
import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, Field

from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.errors import SchemaError


class Axis(Enum):
    X = "x"
    Y = "y"


class Model(BaseModel):
    """What to mirror."""

    name: str = Field(min_length=2, pattern="^[a-z]+$", description="The new name.")
    axis: Axis = Axis.X
    count: int = Field(3, ge=1, le=9)
    scale: float | None = None
    parts: list[Literal["head", "tail"]] = []
    sure: bool


@dataclass
class Data:
    name: str
    axis: Literal["x", "y"] = "x"
    parts: list[Literal["head", "tail"]] = field(default_factory=list)


class Typed(TypedDict):
    name: str
    axis: NotRequired[Literal["x", "y"]]


def test_a_pydantic_model_becomes_a_form() -> None:
    form = parse(Model)

    kinds = {one.name: (one.kind, one.required, one.default) for one in form.fields}
    assert kinds == {
        "name": ("string", True, None),
        "axis": ("choice", False, "x"),
        "count": ("integer", False, 3),
        "scale": ("number", False, None),
        "parts": ("choices", False, []),
        "sure": ("boolean", True, None),
    }
    assert form.check({"name": "ab", "sure": True}) == {"name": "ab", "sure": True}
    with pytest.raises(InvalidAnswer, match="name: only lower-case letters"):
        form.check({"name": "AB", "sure": True})


@pytest.mark.parametrize("model", [Data, Typed])
def test_a_dataclass_and_a_typed_dict_become_forms(model: Any) -> None:
    form = parse(model)

    assert [one.name for one in form.fields if one.required] == ["name"]
    assert [one.value for one in form.fields[1].options] == ["x", "y"]


def test_only_words_of_the_protocol_go_over_the_wire() -> None:
    wire = parse(Model).schema

    assert set(wire) == {"type", "properties", "required"}
    assert wire["properties"]["axis"]["enum"] == ["x", "y"]
    assert not any("$ref" in part or "anyOf" in part for part in wire["properties"].values())


class Nested(BaseModel):
    inner: Model


class Mixed(BaseModel):
    value: int | str


class Listed(BaseModel):
    names: list[str]


@pytest.mark.parametrize("model", [Nested, Mixed, Listed, int, object])
def test_what_a_form_cannot_be_is_refused(model: Any) -> None:
    with pytest.raises(SchemaError):
        parse(model)


EVIL = [
    *(
        f"{group}{tail}"
        for group in ("(a+)+", "(a*)*", "(a|a)*", "(a|aa)+", "(.*)*")
        for tail in "$b"
    ),
    *(f"^({one}+)*$" for one in ("a", "[a-z]", ".", "\\w", "\\S", "a|b|ab", "(a+)", "a?")),
    *(f"(a{{1,{n}}}){{1,{n}}}$" for n in range(5, 20)),
    *(f"{'a?' * n}{'a' * n}$" for n in range(10, 27)),
]


@pytest.mark.parametrize("pattern", EVIL)
def test_an_evil_pattern_takes_no_time(pattern: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}}
    text = "a" * 5000 + "!"

    gc.disable()  # a collection of what other tests left takes longer
    try:
        start = time.thread_time()
        with suppress(SchemaError, InvalidAnswer):
            parse(schema).check({"x": text})
        taken = time.thread_time() - start
    finally:
        gc.enable()

    assert taken < 0.05
