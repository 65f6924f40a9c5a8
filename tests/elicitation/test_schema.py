"""A form is read whole or refused, and its answers are checked strictly."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.errors import SchemaError

OPTIONS = [f"option{number}" for number in range(201)]
LOWER = "lower-case letters, digits and _"
UNLIKE = "it does not have the form that the skill expects"


def form(**properties: Any) -> dict[str, Any]:
    """Make an object schema in which everything is required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


BYPASSES: list[Any] = ["yes", "on", "1", "true", 1, 1.0, "y", "t", [True], None]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("boolean", BYPASSES),
        ("integer", [True, "3", 2.5, None, math.nan, math.inf, 10**400]),
        ("number", [True, "3.5", None, math.nan, -math.inf]),
    ],
)
def test_a_value_of_another_type_is_refused(kind: str, values: list[Any]) -> None:
    """Only true is yes, and a number is finite."""
    schema = parse(form(value={"type": kind}))

    for value in values:
        with pytest.raises(InvalidAnswer, match="value: expected"):
            schema.check({"value": value})


@pytest.mark.parametrize(
    ("part", "good", "bad"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, "ab", "abcd"),
        ({"type": "string", "format": "email"}, "a@b.org", "a@b"),
        ({"type": "string", "format": "uri"}, "https://a.org/x", "a.org x"),
        ({"type": "string", "format": "date"}, "2026-11-20", "20.11.2026"),
        ({"type": "string", "format": "date-time"}, "2026-11-20T10:00:00Z", "2026-11-20"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 5, 6),
        ({"type": "number", "minimum": 0.5}, 0.5, 0.4),
        ({"type": "string", "enum": ["a", "b"]}, "a", "c"),
        ({"type": "string", "enum": ["a"], "enumNames": ["Apple"]}, "a", "Apple"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "a", "A"),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1}, ["a"], []),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["a"], "a"),
    ],
)
def test_every_kind_of_field_takes_what_fits_only(part: Any, good: Any, bad: Any) -> None:
    read = parse(form(value=part))

    assert read.check({"value": good}) == {"value": good}
    with pytest.raises(InvalidAnswer, match="value"):
        read.check({"value": bad})


@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ({"type": "string", "minLength": 1}, "", "at least 1 character, please."),
        ({"type": "string", "minLength": 3}, "q", "at least 3 characters, please."),
        ({"type": "string", "maxLength": 1}, "qq", "at most 1 character, please."),
        ({"type": "string", "pattern": "^[a-z0-9_]+$"}, "Q", f"only {LOWER}."),
        (
            {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
            "1",
            f"only {LOWER}, with lower-case letters at the beginning.",
        ),
        (
            {"type": "string", "pattern": r"^[\w .\-]+$"},
            "!",
            "only letters, digits, _, spaces, . and -.",
        ),
        ({"type": "string", "pattern": "^[a-f]+$"}, "q", f"{UNLIKE}."),
        (
            {"type": "string", "pattern": "^sh[0-9]{4}$", "default": "sh0010"},
            "q",
            f"{UNLIKE}, for example sh0010.",
        ),
        (
            {"type": "string", "pattern": "^sh[0-9]{4}$", "description": "A shot: sh0010."},
            "q",
            "it does not fit the description: A shot: sh0010.",
        ),
        ({"type": "string", "format": "email"}, "q", "'q' is not an e-mail address."),
        ({"type": "string", "format": "date"}, "q", "'q' is not a date such as 2026-11-20."),
        ({"type": "number", "minimum": 0.5}, 0, "at least 0.5, please."),
        ({"type": "number", "maximum": 5000}, 5001, "at most 5,000, please."),
        ({"type": "number"}, "q", "expected a finite number, not 'q'."),
        ({"type": "integer"}, 0.5, "expected a whole number, not 0.5."),
        (
            {"type": "array", "items": {"enum": ["a"]}, "minItems": 1},
            [],
            "at least 1 choice, please.",
        ),
        (
            {"type": "array", "items": {"enum": ["a"]}, "maxItems": 0},
            ["a"],
            "at most 0 choices, please.",
        ),
    ],
)
def test_a_message_says_what_would_fit(part: Any, value: Any, reason: str) -> None:
    with pytest.raises(InvalidAnswer) as error:
        parse(form(it=part)).check({"it": value})

    assert error.value.reason == reason
    assert str(error.value) == f"it: {reason}"


def test_unknown_keys_are_dropped_and_missing_ones_named() -> None:
    read = parse(form(name={"type": "string"}))

    assert read.check({"name": "x", "admin": True}) == {"name": "x"}
    with pytest.raises(InvalidAnswer, match="name: required"):
        read.check({})


def test_an_answer_agrees_only_if_every_required_yes_or_no_is_yes() -> None:
    schema = form(confirm={"type": "boolean"}, sure={"type": "boolean"})
    schema["properties"]["backup"] = {"type": "boolean"}
    read = parse(schema)

    assert read.agrees({"confirm": True, "sure": True, "backup": False})
    assert not read.agrees({"confirm": True, "sure": False})
    assert not read.agrees({})


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ([], "dict with type 'object'"),
        ({"type": "array"}, "dict with type 'object'"),
        ({"type": "object", "properties": []}, "'properties' is a dict"),
        ({"type": "object", "properties": {}, "required": ["x"]}, "'x'"),
        (form(x="string"), "'x'"),
        (form(x={"type": "object"}), "'x': the type 'object'"),
        (form(x={"type": ["string", "null"]}), "'x': the type"),
        (form(x={"$ref": "#/x"}), "'x'"),
        (form(x={"type": "string", "pattern": r"(a)\1"}), "bounded time"),
        (form(x={"type": "string", "pattern": "a" * 257}), "256 characters"),
        (form(x={"type": "string", "pattern": 3}), "'x'"),
        (form(x={"type": "string", "format": "ipv4"}), "'ipv4'"),
        (form(x={"type": "string", "enum": []}), "a choice needs values"),
        (form(x={"type": "string", "enum": [1, 2]}), "each is a string"),
        (form(x={"type": "string", "enum": ["a"], "enumNames": []}), "'x'"),
        (form(x={"type": "integer", "minimum": "1"}), "minimum is a number"),
        (form(x={"type": "boolean", "default": "yes"}), "The default of x"),
        (form(**{f"f{n}": {"type": "string"} for n in range(33)}), "32 fields"),
        (form(x={"type": "string", "enum": OPTIONS}), "'x': a choice has 200 values at most"),
        (form(x={"type": "array", "items": {"enum": OPTIONS}}), "200 values at most, not 201"),
    ],
)
def test_what_no_client_can_draw_is_refused_by_name(schema: Any, told: str) -> None:
    with pytest.raises(SchemaError) as error:
        parse(schema)

    assert told in str(error.value)


@pytest.mark.parametrize(("count", "told"), [(12, "option11, not"), (13, "option11, …, not")])
def test_whoever_chooses_what_there_is_not_is_told_some_of_what_there_is(
    count: int, told: str
) -> None:
    read = parse(form(x={"type": "string", "enum": OPTIONS[:count]}))

    with pytest.raises(InvalidAnswer, match=told):
        read.check({"x": "nothing"})


def test_what_is_just_within_the_caps_can_be_asked() -> None:
    choices = {f"f{n}": {"type": "string", "enum": OPTIONS[:200]} for n in range(32)}

    assert len(parse(form(**choices)).fields) == 32


PARTS = st.one_of(
    st.just({"type": "boolean"}),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={"minLength": st.integers(0, 4), "maxLength": st.integers(0, 6)},
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(-5, 5), "maximum": st.integers(-5, 5)},
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("string"),
            "enum": st.lists(st.text(max_size=2), min_size=1, max_size=3, unique=True),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("array"),
            "items": st.just({"type": "string", "enum": ["a", "b"]}),
        },
        optional={"minItems": st.integers(0, 2), "maxItems": st.integers(0, 2)},
    ),
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-8, 8),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=3),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
)


@pytest.mark.long
@settings(max_examples=10_000, deadline=None)
@given(
    properties=st.dictionaries(st.sampled_from("xyz"), PARTS, max_size=3),
    content=st.dictionaries(st.sampled_from("xyzw"), VALUES, max_size=4),
    data=st.data(),
)
def test_an_answer_is_valid_exactly_when_the_json_schema_says_so(
    properties: Any, content: Any, data: Any
) -> None:
    names = sorted(properties)
    required = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    schema = {"type": "object", "properties": properties, "required": required}

    try:
        parse(schema).check(content)
        ours = True
    except InvalidAnswer:
        ours = False

    assert ours == jsonschema.Draft202012Validator(schema).is_valid(content)
