"""A function's signature and docstring make a tool; arguments are checked against them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, Field

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.elicitation import schema
from dcc_bridge.errors import BadArguments
from dcc_bridge.skills.signature import Signature
from dcc_bridge.skills.skill import Metadata, metadata_of
from dcc_bridge.skills.source import Source


def test_the_signature_and_the_docstring_make_the_schema() -> None:
    def rename(path: str, kind: Literal["a", "b"] = "a", keep: list[str] = []) -> None:  # noqa: B006
        """Rename a prim.

        Its children come along.

        Args:
            path: Where it is.
            kind: Which way.
        """

    signature = Signature.of(rename, "rename")

    assert signature.description == "Rename a prim.\n\nIts children come along."
    assert signature.schema["required"] == ["path"]
    assert signature.schema["properties"]["path"]["description"] == "Where it is."
    assert signature.schema["properties"]["kind"]["enum"] == ["a", "b"]
    assert signature.bind({"path": "/a"}) == {"path": "/a", "kind": "a", "keep": []}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "path: it is required"),
        ({"path": "/a", "nme": 1}, "nme: there is no such argument. Did you mean name?"),
        ({"path": "/a", "xyz": 1}, "xyz: there is no such argument. It takes: path, name. Nothing"),
        ({"path": 3}, "path: input should be a valid string"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: dict[str, object], told: str) -> None:
    def rename(path: str, name: str = "") -> None:
        """Rename."""

    with pytest.raises(BadArguments) as error:
        Signature.of(rename, "rename").bind(arguments)

    assert told in str(error.value)


class Part(TypedDict):
    type: str
    name: NotRequired[str]


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"typ": "Cube"}, "parts.0.typ: there is no such argument. Did you mean type?"),
        ({"type": "Cube", "parts": 1}, "parts.0.parts: there is no such argument. Nothing"),
    ],
)
def test_a_wrong_name_within_an_argument_is_told_what_is_near_there(
    part: dict[str, object], told: str
) -> None:
    def create(parts: list[Part]) -> None:
        """Create."""

    with pytest.raises(BadArguments) as error:
        Signature.of(create, "create").bind({"parts": [part]})

    assert told in str(error.value)


def test_a_parameter_may_be_named_like_anything_of_pydantics() -> None:
    def odd(schema: str, copy: int, model_config: bool, json: str = "x") -> None:
        """Odd."""

    bound = Signature.of(odd, "odd").bind({"schema": "s", "copy": 1, "model_config": True})

    assert bound == {"schema": "s", "copy": 1, "model_config": True, "json": "x"}


def test_the_help_of_the_decorator_and_of_a_form_tells_all_that_they_take() -> None:
    decorator, form = inspect.getdoc(skill) or "", inspect.getdoc(elicit_form_sync) or ""

    assert [it.name for it in fields(Metadata) if f"\n    {it.name}: " not in decorator] == []
    words = sorted(word for kind in schema._KEYWORDS.values() for word in kind if word not in form)
    assert words == ["enumNames", "items"]
    assert "@skill(" in decorator
    assert "elicit_form_sync(" in form


class Mode(Enum):
    SOFT = "soft"


class Shot(BaseModel):
    name: str


@dataclass
class Camera:
    lens: float


class Size(TypedDict):
    width: int


class Range(NamedTuple):
    first: int
    last: int


@pytest.mark.parametrize(
    ("hint", "given", "bound"),
    [
        (Mode, "soft", Mode.SOFT),
        (Shot, {"name": "a"}, Shot(name="a")),
        (list[Shot], [{"name": "a"}], [Shot(name="a")]),
        (Camera, {"lens": 35}, Camera(35.0)),
        (Size, {"width": 2}, {"width": 2}),
        (list[Size], [{"width": 2}], [{"width": 2}]),
        (Size | None, None, None),
        (dict[str, Size], {"a": {"width": 2}}, {"a": {"width": 2}}),
        (Range, [1, 2], Range(1, 2)),
        (tuple[float, float], [1, 2], (1.0, 2.0)),
        (list[str], '["a", "b"]', ["a", "b"]),
        (Shot, '{"name": "a"}', Shot(name="a")),
    ],
)
def test_a_parameter_may_be_whatever_pydantic_describes(hint: Any, given: Any, bound: Any) -> None:
    def take(value: Any) -> None:
        """Take it."""

    take.__annotations__["value"] = hint
    signature = Signature.of(take, "take")

    assert signature.schema["required"] == ["value"]
    assert signature.bind({"value": given}) == {"value": bound}


def test_what_a_field_says_counts_and_the_docstring_says_more() -> None:
    def zoom(lens: Annotated[int, Field(ge=1, description="In millimetres.")], f: int = 2) -> None:
        """Zoom.

        Args:
            f: The stop.
        """

    properties = Signature.of(zoom, "zoom").schema["properties"]

    assert properties["lens"]["minimum"] == 1
    assert properties["lens"]["description"] == "In millimetres."
    assert properties["f"]["description"] == "The stop."


def test_a_default_that_json_cannot_carry_is_left_out_of_the_schema() -> None:
    def place(at: Any = object) -> None:
        """Place it."""

    assert "default" not in Signature.of(place, "place").schema["properties"]["at"]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"risk": "raed"}, "risk is read, edit, destructive"),
        ({"thread": "mian"}, "thread is main, any"),
        ({"timeout": 0}, "timeout is a number of seconds above 0"),
    ],
)
def test_a_slip_in_the_decorator_is_no_other_risk(told: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        skill(**told)


def test_a_field_that_there_is_not_is_named_with_the_nearest_one() -> None:
    unknown: dict[str, Any] = {"risk": "edit", "idempotant": True}

    with pytest.raises(TypeError) as refused:
        skill(**unknown)

    assert str(refused.value) == "@skill has no field 'idempotant'. Did you mean 'idempotent'?"


@pytest.mark.parametrize(
    ("told", "undo"),
    [
        ({"undoable": False}, False),
        ({"undoable": False, "undo": "Save"}, False),
        ({"undoable": True}, None),
        ({"undoable": True, "undo": "Save"}, "Save"),
    ],
)
def test_the_earlier_word_for_what_undo_does_not_bring_back_still_holds(
    told: dict[str, Any], undo: object, tmp_path: Path
) -> None:
    """In a call of the decorator as in the text of a file."""
    fields = ", ".join(f"{name}={value!r}" for name, value in told.items())
    text = f"from dcc_bridge import skill\n@skill({fields})\ndef save(): 'Save.'\n"
    (declared,) = Source.of(tmp_path / "save.py", text.encode()).skills() or ()

    metadata = metadata_of(skill(**told)(lambda: None))

    assert metadata is not None
    assert metadata.undo == undo
    assert declared.metadata == metadata
