"""Many items in one short call: grids, rings and paths, names by pattern, and short answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcc_bridge.geometry import turned
from dcc_bridge.verbs import answers
from dcc_bridge.verbs.repeats import MOST, numbered, read_repeat
from tests.verbs.steps import step
from tests.verbs.studio import Studio

GRID: dict[str, Any] = {"count": [10, 10, 1], "step": [2, 2, 0]}
SMALL = 700
"""Bytes of a call that makes or edits a hundred items, and of its answer."""


def spots(**told: Any) -> list[tuple[float, ...]]:
    def path(item: str) -> Any:
        return [(0.0, 0.0, 0.0), (4.0, 0.0, 0.0)]

    repeat = read_repeat(told, "Z", path)
    return [tuple(round(it, 6) + 0.0 for it in spot.at) for spot in repeat.spots]


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"count": 3, "step": [1, 0, 2]}, [(0, 0, 0), (1, 0, 2), (2, 0, 4)]),
        ({"count": [2, 2], "step": [1, 5, 9]}, [(0, 0, 0), (1, 0, 0), (0, 5, 0), (1, 5, 0)]),
        ({"count": [1, 1, 2], "step": [1, 5, 9]}, [(0, 0, 0), (0, 0, 9)]),
        ({"count": 4, "radius": 2}, [(2, 0, 0), (0, 2, 0), (-2, 0, 0), (0, -2, 0)]),
        ({"count": 2, "radius": 2, "axis": "y"}, [(2, 0, 0), (-2, 0, 0)]),
        ({"count": 4, "radius": 1, "axis": "x"}, [(0, 1, 0), (0, 0, 1), (0, -1, 0), (0, 0, -1)]),
        ({"along": [[0, 0, 0], [1, 1, 1]]}, [(0, 0, 0), (1, 1, 1)]),
        ({"count": 3, "along": "curve"}, [(0, 0, 0), (2, 0, 0), (4, 0, 0)]),
        (
            {"count": 5, "along": [[0, 0, 0], [1, 0, 0], [1, 3, 0]]},
            [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 3, 0)],
        ),
        (
            {"count": 3, "along": [[0, 0, 0], [3, 0, 0], [0, 0, 0]]},
            [(0, 0, 0), (2, 0, 0), (2, 0, 0)],
        ),
    ],
)
def test_a_repeat_has_its_places(told: dict[str, Any], wanted: list[Any]) -> None:
    assert spots(**told) == wanted


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"count": 3}, 'needs one of step, radius, along, such as {"count": [10, 10, 1]'),
        ({"count": 3, "step": [1, 0, 0], "radius": 2}, "needs one of step, radius, along"),
        ({"count": 3, "steps": [1, 0, 0]}, "There is no word 'steps'; names like it: step."),
        ({"cuont": 3, "step": [90, 0, 0]}, "There is no word 'cuont'; names like it: count."),
        (
            {"count": 3, "step": [1, 0, 0], "turm": True},
            "There is no word 'turm'; names like it: turn.",
        ),
        ({"count": 3, "step": [1, 0]}, "step is [x, y, z]"),
        ({"count": 3, "step": ["a", 0, 1]}, "step is [x, y, z]"),
        ({"count": 0, "step": [1, 0, 0]}, "count is a whole number from 1 on"),
        ({"count": 2.5, "step": [1, 0, 0]}, "count is a whole number from 1 on"),
        ({"step": [1, 0, 0]}, "count is a whole number from 1 on"),
        ({"count": [2, 2], "radius": 1}, "count is a whole number from 1 on"),
        ({"count": 3, "radius": "wide"}, "radius is a number"),
        ({"count": 3, "radius": 1, "axis": "w"}, "axis is x, y or z"),
        ({"count": 3, "along": 7}, "along is an item, a curve, or a list of points"),
        ({"count": 3, "along": [[0, 0, 0]]}, "along needs two points that are apart"),
        ({"count": [1000, 1000], "step": [1, 1, 1]}, "1,000,000 items are too many"),
        ({"count": 3, "step": [1, 0, 0], "name": 7}, "name is a text"),
    ],
)
def test_a_repeat_without_sense_is_refused_in_a_sentence(told: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=r"repeat|items") as raised:
        spots(**told)

    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("Cube_###", "Cube_007"), ("Cube_{n:03}", "Cube_007"), ("{n}_x", "7_x"), ("Cube", "Cube")],
)
def test_a_name_has_the_number_of_its_item(pattern: str, name: str) -> None:
    assert numbered(pattern, 7) == name


def test_a_turn_follows_the_rotation_that_was_there() -> None:
    """First about X, so that Y stands up; the turn about Z does not change that."""
    assert turned((90.0, 0.0, 0.0), 2, 30.0) == pytest.approx((90.0, 0.0, 30.0))
    assert turned((0.0, 0.0, 20.0), 2, 30.0) == pytest.approx((0.0, 0.0, 50.0))


def test_a_hundred_meshes_with_one_material_are_short_both_ways(scene: Studio) -> None:
    thing = {"type": "Mesh", "name": "Cube_{n:03}", "under": "/Set", "repeat": GRID}
    steps = [
        step("create", "cubes", things=[thing]),
        step("assign_material", items="$cubes", values={"base_color": [1, 0, 0]}),
    ]

    told = scene.do("batch", steps=steps)

    assert len(json.dumps({"steps": steps})) < SMALL
    assert len(json.dumps(told)) < SMALL
    made, given = told["steps"]
    assert (made["found"], made["pattern"], made["made_left_out"]) == (100, "/Set/Cube_*", 97)
    assert made["made"][1] == {"item": "/Set/Cube_002", "type": "Mesh", "at": [2, 0, 0]}
    assert given["found"] == 100
    cubes = {name: it for name, it in scene.nodes.items() if "Cube" in name}
    assert list(cubes) == [f"/Set/Cube_{number:03}" for number in range(1, 101)]
    assert {cube["material"] for cube in cubes.values()} == {given["material"]}
    assert cubes["/Set/Cube_100"]["at"] == [18, 18, 0]
    assert len(scene.host.labels) == 1


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("transform", {"items": ["/Cube_*"], "move": [0, 1, 0]}),
        ("transform", {"items": ["/Cube_*"], "repeat": {"radius": 9, "turn": True}}),
        ("duplicate", {"items": ["/Cube_001"], "repeat": GRID | {"name": "Copy_###"}}),
        ("set_values", {"items": ["/Cube_*"], "values": {"intensity": 3}}),
        ("rename", {"pattern": "Cube_*", "to": "Crate_*"}),
        ("rename", {"pattern": "Cube_*", "to": "Crate_*", "preview": True}),
        ("assign_material", {"items": ["/Cube_*"], "values": {"roughness": 1}}),
        ("group", {"items": ["Cube_*"], "under": "/Set"}),
        ("group", {"items": ["Cube_*"], "into": "heroes", "kind": "set"}),
        ("select", {"items": ["Cube_*"]}),
    ],
)
def test_an_edit_of_a_hundred_is_short_both_ways(
    scene: Studio, verb: str, arguments: dict[str, Any]
) -> None:
    thing = {"type": "Mesh", "name": "Cube_###", "repeat": GRID}
    scene.do("create", things=[thing])

    told = scene.do(verb, **arguments)

    assert told["found"] >= 99
    assert len(json.dumps(arguments)) < SMALL
    assert len(json.dumps(told)) < SMALL
    assert len(scene.host.labels) <= 2


def test_a_hundred_names_that_are_taken_are_told_in_short(scene: Studio) -> None:
    thing = {"type": "Mesh", "name": "Cube_###", "repeat": GRID}
    scene.do("create", things=[thing])

    told = scene.do("create", things=[thing])

    assert told["names_taken"][0] == "Cube_001 is taken: this is Cube_001_1"
    assert len(told["names_taken"]) + told["names_taken_left_out"] == 100
    assert len(json.dumps(told)) < SMALL


def test_a_ring_turns_its_items_about_its_middle(scene: Studio) -> None:
    ring = {"count": 4, "radius": 3, "axis": "y", "turn": True}
    thing = {"type": "Light", "name": "Lamp", "at": [1, 1, 1], "repeat": ring}

    told = scene.do("create", things=[thing])

    assert [row["at"] for row in told["made"]] == [[4, 1, 1], [1, 1, -2], [-2, 1, 1], [1, 1, 4]]
    lamp = scene.nodes[told["made"][1]["item"]]
    assert lamp["rotation"] == pytest.approx([0, 90, 0])


def test_a_repeat_begins_where_the_parent_is(scene: Studio) -> None:
    scene.do("transform", items=["/Set"], at=[5, 0, 0])
    row = {"count": 2, "step": [0, 0, 1]}

    told = scene.do("create", things=[{"type": "Mesh", "under": "/Set", "repeat": row}])

    assert [row["at"] for row in told["made"]] == [[5, 0, 0], [5, 0, 1]]


def test_copies_stand_in_a_grid_of_which_the_original_is_the_first(scene: Studio) -> None:
    scene.do("transform", items=["/Tree"], at=[1, 0, 0])

    row = {"count": [2, 2], "step": [3, 4, 0], "name": "Tree_##"}
    told = scene.do("duplicate", items=["/Tree"], repeat=row)

    assert told["items"] == ["/Tree_01", "/Tree_02", "/Tree_03"]
    assert [scene.nodes[it]["at"] for it in told["items"]] == [[4, 0, 0], [1, 4, 0], [4, 4, 0]]


def test_items_are_put_along_a_path_in_their_order(scene: Studio) -> None:
    items = ["/Set/Rim", "/Set/Key", "/Set/Fill"]

    told = scene.do("transform", items=items, repeat={"along": [[0, 0, 0], [0, 0, 4]], "count": 3})

    assert [row["after"]["at"] for row in told["changed"]] == [[0, 0, 0], [0, 0, 2], [0, 0, 4]]


@pytest.mark.parametrize(
    ("verb", "arguments", "why"),
    [
        (
            "create",
            {"things": [{"type": "Mesh"}, {"type": "Mesh", "repeat": {"count": 2}}]},
            "things[1]: repeat needs one of step, radius, along",
        ),
        (
            "create",
            {"things": [{"type": "Mesh", "repeat": {"count": 2, "along": "/Tree"}}]},
            "things[0]: /Tree is no curve: give along a list of points",
        ),
        (
            "create",
            {"things": [{"type": "Mesh", "repeat": {"count": MOST, "step": [1, 1, 1]}}] * 2},
            "20,000 items are too many: one call makes or places 10,000",
        ),
        ("create", {"things": [{"type": "Lite", "repeat": GRID}]}, "There is no type 'Lite'"),
        ("duplicate", {"items": ["/Tree"], "count": MOST + 1}, "10,001 items are too many"),
        ("duplicate", {"items": ["/Set/*"], "repeat": {"count": 5000, "step": [1, 0, 0]}}, "many"),
        ("transform", {"items": ["/Tree", "/Set"], "repeat": GRID | {"count": 1}}, "only 1 place"),
        ("transform", {"items": ["/Tree"], "repeat": GRID | {"name": "x"}}, "rename does"),
        ("transform", {"items": ["/Tree"], "repeat": GRID, "move": [0, 0, 5]}, "leave move and"),
        ("transform", {"items": ["/Tree"], "repeat": GRID, "space": "local"}, "in the world"),
        (
            "transform",
            {"items": ["/Tree"], "at": [1, 0, 0], "repeat": {"along": [[0, 0, 0], [1, 0, 0]]}},
            "leave at out",
        ),
        ("transform", {"items": ["Nothing_*"], "move": [1, 0, 0]}, "No item matches 'Nothing_*'"),
        ("transform", {"items": ["/No:*"], "move": [1, 0, 0]}, "No item matches '/No:*'"),
    ],
)
def test_what_cannot_be_repeated_is_refused_and_nothing_is_changed(
    scene: Studio, verb: str, arguments: dict[str, Any], why: str
) -> None:
    assert why in scene.fails(verb, **arguments)


def test_more_than_five_hundred_are_asked_for(scene: Studio) -> None:
    scene.edits_first(lambda: None)  # and then agrees
    many = {"count": [30, 20], "step": [1, 1, 0]}

    scene.do("create", things=[{"type": "Mesh", "repeat": many}])

    assert scene.asked == ["Create 600 items at once?"]


@pytest.mark.parametrize(
    ("items", "pattern"),
    [
        ([f"/W/a_{n}" for n in range(30)], "/W/a_*"),
        (["Cube", *(f"Cube.{n:03}" for n in range(30))], "Cube, Cube.*"),
        ([f"/W/Rock{chr(65 + n)}_low" for n in range(26)], "/W/Rock*_low"),
        ([f"/W/Box[{n}]" for n in range(30)], "/W/Box[[]*]"),
        ([f"/W/{chr(65 + n)}" for n in range(26)], ""),
    ],
)
def test_names_that_are_alike_have_a_pattern(items: list[str], pattern: str) -> None:
    assert answers.pattern_of(items) == pattern


def test_a_pattern_that_others_match_too_is_not_told(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Mesh", "name": "Cube_{n}", "repeat": GRID}])
    even = [f"/Cube_{number}" for number in range(2, 62, 2)]

    told = scene.do("transform", items=even, move=[0, 1, 0])

    assert "pattern" not in told
    assert (told["found"], told["names"]) == (30, "/Cube_2 ... /Cube_60")
    assert scene.do("transform", items=["Cube_*"], move=[0, 1, 0])["pattern"] == "/Cube_*"


def test_a_pattern_finds_names_with_brackets(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Mesh", "name": "Box[{n}]", "repeat": GRID}])
    pattern = scene.do("set_values", items=["Box*"], values={"intensity": 2})["pattern"]

    assert scene.do("set_values", items=[pattern], values={"intensity": 3})["found"] == 100


def test_what_is_not_alike_is_listed(scene: Studio) -> None:
    things = [{"type": "Mesh", "name": chr(65 + number) * 3} for number in range(25)]

    told = scene.do("create", things=things)

    assert len(told["made"]) == 25
    assert "pattern" not in told
