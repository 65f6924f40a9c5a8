"""What becomes of JSON values on their way into a scene and back."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pxr import Sdf, Usd

from dcc_bridge_usd.coercion import coerce, plain

IDENTITY = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def kind(name: str) -> Sdf.ValueTypeName:
    return Sdf.ValueTypeNames.Find(name)  # type: ignore[call-arg]  # the stub lacks it


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bool", True),
        ("int", -3),
        ("uchar", 255),
        ("uint64", 2**64 - 1),
        ("half", 1.5),
        ("float", 0.25),
        ("double", 1e300),
        ("timecode", 12.0),
        ("token", "perspective"),
        ("string", 'a "b" é'),
        ("asset", "textures/a.exr"),
        ("int2", [1, 2]),
        ("half3", [1.0, 2.0, 3.0]),
        ("color3f", [1.0, 0.5, 0.0]),
        ("double4", [1.0, 2.0, 3.0, 4.0]),
        ("quatf", [1.0, 0.0, 0.5, 0.0]),
        ("matrix2d", [[1.0, 2.0], [3.0, 4.0]]),
        ("matrix4d", IDENTITY),
        ("bool[]", [True, False]),
        ("float[]", []),
        ("token[]", ["a", "b"]),
        ("asset[]", ["a.usd"]),
        ("point3f[]", [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        ("matrix4d[]", [IDENTITY]),
    ],
)
def test_a_value_of_the_right_type_is_set_and_read_as_it_was_given(name: str, value: Any) -> None:
    stage = Usd.Stage.CreateInMemory()
    attribute = stage.DefinePrim("/A").CreateAttribute("x", kind(name))

    assert attribute.Set(coerce(kind(name), value))
    assert plain(attribute.Get()) == value


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("bool", 1, "true or false"),
        ("int", 1.5, "a whole number"),
        ("int", True, "a whole number"),
        ("int", 2**31, "to 2147483647"),
        ("uint", -1, "from 0"),
        ("int64", 10**400, "a whole number"),
        ("half", 1e5, "a number up to 65504"),
        ("float", 1e39, "a number up to"),
        ("double", math.nan, "a number"),
        ("double", math.inf, "a number"),
        ("double", 10**400, "a number"),
        ("double", "1", "a number"),
        ("double", None, "a number"),
        ("token", 1, "text"),
        ("asset", ["a"], "text"),
        ("float3", [1, 2], "a list of 3 numbers"),
        ("float3", [1, 2, "3"], "a number"),
        ("float3", "123", "a list of 3 numbers"),
        ("quatd", [1, 0, 0], "a list of 4 numbers"),
        ("matrix4d", [1, 2, 3, 4], "a list of 4 lists of 4 numbers"),
        ("matrix3d", [[1, 2, 3]], "a list of 3 lists of 3 numbers"),
        ("float[]", 1, "a list"),
        ("int[]", [1, 2.5], "a whole number"),
        ("opaque", 1, "cannot be set"),
        ("pathExpression", "//", "cannot be set"),
    ],
)
def test_wrong_ones_are_refused(name: str, value: Any, says: str) -> None:
    """What USD would bend or break is refused, with what would be right, in one short sentence."""
    with pytest.raises(ValueError, match=says) as caught:
        coerce(kind(name), value)

    assert len(str(caught.value)) < 200


def test_a_whole_float_is_a_whole_number() -> None:
    assert coerce(kind("int"), 3.0) == 3


def test_infinity_and_rare_types_are_text() -> None:
    assert plain(math.inf) == "inf"
    assert plain({"a": Sdf.PathExpression("/World//")}) == {"a": "/World//"}
    assert plain(None) is None
