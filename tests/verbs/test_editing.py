"""What the verbs that edit tell and leave, over a scene in memory and a real bridge."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import Mock

import pytest

from dcc_bridge.geometry import aiming_rotation
from dcc_bridge.spi import Building
from dcc_bridge.verbs import editing, placing
from dcc_bridge.verbs.answers import refuse
from dcc_bridge.verbs.names import near, no_such
from tests.verbs.steps import step
from tests.verbs.studio import Studio


def test_what_is_created_is_told_as_the_scene_has_it(scene: Studio) -> None:
    rim = {"type": "Light", "name": "Key", "under": "/Set", "at": [1, 2, 3]}

    told = scene.do("create", things=[rim | {"values": {"intensity": 5}}, {"type": "Camera"}])

    assert [row["item"] for row in told["made"]] == ["/Set/Key_1", "/Camera"]
    assert "items" not in told
    made = {"item": "/Set/Key_1", "type": "Light", "at": [1, 2, 3], "values": {"intensity": 5}}
    assert told["made"][0] == made
    assert scene.nodes["/Set/Key_1"]["at"] == [1, 2, 3]
    assert len(scene.host.labels) == 1


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        ({"type": "Lite"}, "things[1]: There is no type 'Lite'; names like it: Light."),
        ({"type": "Light", "under": "/Nowhere"}, "things[1]: There is no '/Nowhere'."),
        ({"type": "Light", "values": {"power": 1}}, "things[1]: /Light has no 'power'; it has"),
        ({"type": "Light", "at": [1, 2]}, "things[1]: at is [x, y, z], three finite numbers"),
    ],
)
def test_one_thing_that_cannot_be_created_is_named_and_none_is(
    scene: Studio, thing: dict[str, Any], why: str
) -> None:
    said = scene.fails("create", things=[{"type": "Mesh"}, thing])

    assert why in said
    assert said.endswith("Nothing was changed.")


def test_the_scene_takes_the_words_of_the_summary(scene: Studio) -> None:
    scene.host.nodes["/"]["values"] |= {"start": 1, "end": 48}

    told = scene.do("set_values", items=["@scene"], values={"frames": [100, 200]})
    wrong = scene.fails("set_values", items=["@scene"], values={"frame_range": [1, 2]})
    fixed = scene.fails("set_values", items=["@scene"], values={"up": "Z"})

    row = {"item": "@scene", "prop": "frames", "before": [1, 48], "after": [100, 200]}
    assert told["values"] == [row]
    assert scene.nodes["/"]["values"]["end"] == 200
    assert "@scene takes frame, start, end, frames, fps, camera, size, units, up." in wrong
    words = scene.fails("set_values", items=["@scene"], values={"frames": ["a", "b"]})
    assert "frames takes [start, end], and not ['a', 'b']." in words
    assert "fixed: in memory Y is up" in fixed


def test_a_name_is_not_near_itself() -> None:
    assert near("Cube", ["Cube", "cube", "Cubes"]) == ["cube", "Cubes"]
    assert no_such("type", "Cube", ["Cube"]) == ("There is no type 'Cube'; there is none at all.")


def test_of_many_wrong_names_the_examples_are_told_once() -> None:
    errors = [no_such("object", name, [], ["Cube", "scene:Scene"]) for name in "ab"]

    with pytest.raises(ValueError, match=r"'a'.*'b'") as raised:
        refuse(errors)

    assert str(raised.value).count("scene:Scene") == 1
    assert str(raised.value).endswith("Names here are like Cube, scene:Scene.")


def test_copies_take_the_places_of_items_and_points(scene: Studio) -> None:
    scene.do("transform", items=["/Set/Key"], at=[5, 0, 0], rotate=[0, 90, 0])

    told = scene.do("duplicate", items=["/Tree"], to=["/Set/Key", [1, 2, 3]])

    first, second = (scene.nodes[item] for item in told["items"])
    assert first["at"] == [5, 0, 0]
    assert first["rotation"] == [0, 90, 0]
    assert second["at"] == [1, 2, 3]
    assert first["linked"]


def test_to_make_nothing_is_refused(scene: Studio) -> None:
    assert "count is 1 or more, not 0" in scene.fails("duplicate", items=["/Tree"], count=0)
    assert "things: give at least one" in scene.fails("create", things=[])


def test_a_move_is_told_with_what_was_before(scene: Studio) -> None:
    scene.do("transform", items=["/Tree"], at=[1, 1, 1])

    (row,) = scene.do("transform", items=["/Tree"], move=[0, 2, 0], scale=[2, 2, 2])["changed"]

    assert row["before"]["at"] == [1, 1, 1]
    assert row["after"]["at"] == [1, 3, 1]
    assert row["after"]["scale"] == [2, 2, 2]


def test_a_thing_is_set_down_on_the_top_of_another(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Mesh", "name": "Cup", "at": [0, 9, 0]}])

    on_tree = scene.do("transform", items=["/Cup"], on="/Tree")["changed"][0]["after"]["at"]
    on_ground = scene.do("transform", items=["/Cup"], on="ground")["changed"][0]["after"]["at"]

    assert on_tree == [0, 2, 0]
    assert on_ground == [0, 1, 0]
    assert "/Set/Key has no size" in scene.fails("transform", items=["/Cup"], on="/Set/Key")


@pytest.mark.parametrize("to", [(1, 0, 0), (0, 1, 0), (0, -1, 0), (-3, 2, -5), (0, 0, 1)])
@pytest.mark.parametrize("axis", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0)])
def test_what_is_aimed_looks_there(
    axis: tuple[float, float, float], to: tuple[float, float, float]
) -> None:
    x, y, z = map(math.radians, aiming_rotation(axis, (0.0, 1.0, 0.0), to, (0.0, 1.0, 0.0)))
    a, b, c = axis
    b, c = b * math.cos(x) - c * math.sin(x), b * math.sin(x) + c * math.cos(x)
    a, c = a * math.cos(y) + c * math.sin(y), -a * math.sin(y) + c * math.cos(y)
    a, b = a * math.cos(z) - b * math.sin(z), a * math.sin(z) + b * math.cos(z)

    length = math.hypot(*to)
    assert (a, b, c) == pytest.approx([it / length for it in to], abs=1e-9)


def test_an_item_that_is_not_there_is_named(scene: Studio) -> None:
    assert "There is no '/Nope'." in scene.fails(
        "transform", items=["/Tree", "/Nope"], at=[1, 1, 1]
    )


def test_all_wrong_values_are_named_and_none_is_set(scene: Studio) -> None:
    changes = [
        {"item": "/Tree", "prop": "intensity", "value": 2},
        {"item": "/Tree", "prop": "intensity", "value": "bright"},
        {"item": "/Set", "prop": "hidden", "value": "no"},
    ]

    said = scene.fails("set_values", changes=changes)

    assert "changes[1]: intensity of /Tree takes a" in said
    assert "changes[2]: hidden of /Set takes a bool" in said


def test_values_are_told_before_and_after(scene: Studio) -> None:
    told = scene.do("set_values", items=["/Set/Key", "@scene"], values={"intensity": 3})

    row = {"item": "/Set/Key", "prop": "intensity", "before": 1.0, "after": 3}
    assert told["values"] == [row, row | {"item": "@scene"}]


def test_what_is_held_is_not_set_and_why_is_told(scene: Studio) -> None:
    scene.host.nodes["/Tree"]["held"] = {"intensity": "keyed"}
    scene.host.undo_mark()  # it sees the edit

    said = scene.fails("set_values", items=["/Tree"], values={"intensity": 3})

    assert "changes[0]: intensity of /Tree is keyed; replace=True asks." in said


def test_items_are_put_under_another_and_at_the_top(scene: Studio) -> None:
    told = scene.do("group", items=["/Set", "/Set/Key"], under="/Tree")
    assert told["items"] == ["/Tree/Set", "/Tree/Key"]

    told = scene.do("group", items=["/Tree/Set/Fill"], under="@scene")
    assert told["items"] == ["/Fill"]
    assert told["under"] is None


def test_a_kind_of_group_that_the_host_has_not_is_told(scene: Studio) -> None:
    assert scene.do("group", items=["/Tree"], into="Wood", kind="set")["into"] == "/Wood"
    said = scene.fails("group", items=["/Tree"], into="Wood", kind="layer")
    assert "There are no layers here, only sets." in said


def test_a_material_is_made_of_values_and_found_by_its_name(scene: Studio) -> None:
    told = scene.do("assign_material", items=["/Tree"], material="Bark", values={"roughness": 1})
    again = scene.do("assign_material", items=["/Set"], material="Bark")

    assert told["is_new"]
    assert not again["is_new"]
    assert again["users"] == ["/Set", "/Tree"]
    said = scene.fails("assign_material", items=["/Set"], material="Barke")
    assert "There is no material 'Barke'; names like it: Bark. With values it is made." in said


def test_a_wrong_socket_is_answered_with_the_real_ones(scene: Studio) -> None:
    link = {"from": "/Set/Key", "out": "out", "to": "/Tree", "in": "color"}

    said = scene.fails("connect", links=[link, link | {"in": "colour"}, link | {"out": "result"}])
    told = scene.do("connect", links=[link])

    assert "links[1]: /Tree has no input 'colour'; it has color, normal." in said
    assert "links[2]: /Set/Key has no output 'result'; it has out." in said
    assert told["links"] == [link]
    assert scene.do("connect", cut=[{"to": "/Tree", "in": "color"}])["links"] == []


def test_keys_are_told_as_they_are_now(scene: Studio) -> None:
    scene.do("set_keys", item="/Tree", prop="intensity", keys=[[1, 0], [10, 5]])

    told = scene.do("set_keys", item="/Tree", prop="intensity", keys=[[5, 2]])

    assert told["keys"] == [[1, 0], [5, 2], [10, 5]]
    said = scene.fails("set_keys", item="/Tree", prop="intensity", keys=[[1, 2, 3]])
    assert "keys[0] must be [frame, value], not [1, 2, 3]" in said


def test_a_pattern_renames_with_what_it_matched_and_a_number(scene: Studio) -> None:
    told = scene.do("rename", pattern="*i*", to="lamp_##_*_*")

    assert told["pairs"] == [["/Set/Fill", "/Set/lamp_01_F_ll"], ["/Set/Rim", "/Set/lamp_02_R_m"]]


def test_an_item_that_is_meant_twice_is_copied_once(scene: Studio) -> None:
    told = scene.do("duplicate", items=["/Set/Key", "*Key", "/Set/Key"])

    assert told["found"] == 1


def test_collisions_are_told_and_nothing_is_renamed(scene: Studio) -> None:
    told = scene.do("rename", pattern="[KF]*", to="x", preview=True, names={"/Set/Rim": "Key"})
    twice = scene.fails("rename", names={"/Set/Key": "x", "/Set/Fill": "x", "/Set/Rim": "y"})

    assert told["collisions"] == ["/Set/Rim: /Set/Key is taken."]
    assert told["pairs"][0] == ["/Set/Rim", "/Set/Key"]
    assert "/Set/Key: /Set/x is wanted twice. /Set/Fill: /Set/x is wanted twice." in twice


def test_names_can_be_exchanged_and_those_of_parents_change_too(scene: Studio) -> None:
    names = {"/Set": "Stage", "/Set/Key": "Fill", "/Set/Fill": "Key"}
    marks = {item: facts["values"] for item, facts in scene.nodes.items()}
    scene.do("set_values", items=["/Set/Key"], values={"intensity": 7})

    seen = scene.do("rename", names=names, preview=True)
    told = scene.do("rename", names=names)

    assert [new for _, new in told["pairs"]] == ["/Stage", "/Stage/Fill", "/Stage/Key"]
    assert seen["pairs"] == told["pairs"]
    assert "items" not in {**told, **seen}
    assert scene.nodes["/Stage/Fill"]["values"]["intensity"] == 7
    assert len(scene.nodes) == len(marks)


def test_a_preview_is_told_as_one_that_changed_nothing(scene: Studio) -> None:
    scene.do("rename", pattern="*i*", to="lamp_##", preview=True)

    [call] = scene.do("recent_calls", limit=1)["calls"]

    assert call["did"] == "Changed nothing: previewed new names of 2 lights"


@pytest.mark.parametrize(
    ("verb", "arguments", "did"),
    [
        ("delete", {"pattern": "nowhere*"}, "Deleted nothing"),
        ("clean", {"what": ["empty_groups"]}, "Cleaned nothing away"),
    ],
)
def test_a_call_with_nothing_to_do_is_told_as_one(
    scene: Studio, verb: str, arguments: dict[str, Any], did: str
) -> None:
    scene.do(verb, **arguments)

    assert scene.do("recent_calls", limit=1)["calls"][0]["did"] == did


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, 'delete needs items, such as items=["Cube"], or a pattern, such as pattern='),
        ({"type": "Light"}, 'For all of them: pattern="*", type="Light".'),
        ({"names": ["/Tree"]}, "It takes: items, pattern, type, under."),
    ],
)
def test_delete_without_its_arguments_names_them(
    scene: Studio, arguments: dict[str, Any], named: str
) -> None:
    assert named in scene.fails("delete", **arguments)


def test_of_taken_names_the_new_ones_are_told(scene: Studio) -> None:
    things = [{"type": "Light", "name": "Key", "under": "/Set"}, {"type": "Mesh", "name": "New"}]

    told = scene.do("create", things=[*things, things[0]])
    free = scene.do("create", things=[{"type": "Mesh"}, {"type": "Mesh", "name": "Free"}])

    assert told["names_taken"] == ["Key is taken: this is Key_1", "Key is taken: this is Key_2"]
    assert "names_taken" not in free


def test_selecting_is_all_that_select_does(scene: Studio) -> None:
    before = scene.host.scene_digest()
    stack = scene.host.labels

    told = scene.do("select", items=["/Tree"], frame=True)

    assert told["items"] == ["/Tree"]
    assert scene.host.framed == ["/Tree"]
    assert scene.host.scene_digest() == before
    assert scene.host.labels == stack


def test_a_person_reads_what_was_done(scene: Studio) -> None:
    scene.do("transform", items=["/Set/Key", "/Set/Fill"], move=[1, 0, 0])
    scene.do("duplicate", items=["/Tree"], count=3)
    call = scene.do("recent_calls", limit=2)["calls"]

    assert scene.person.notices[-2:] == [
        "Moved 2 lights: done for test",
        "Made 3 copies of Tree: done for test",
    ]
    titles = [record.title for record in scene.bridge.recent.records()[1:3]]
    assert titles == ["Made 3 copies of Tree", "Moved 2 lights"]
    labels = scene.host.labels[-2:]
    assert [step["undo_step"] for step in reversed(call)] == labels
    assert len(set(labels)) == 2


def test_two_groups_swap_their_names_while_what_is_in_them_gets_another_one(
    scene: Studio,
) -> None:
    groups = [{"type": "Group", "name": name} for name in "AB"]
    scene.do("create", things=[*groups, {"type": "Mesh", "name": "x", "under": "/B"}])

    told = scene.do("rename", names={"/B/x": "y", "/A": "B", "/B": "A"})

    assert [new for _, new in told["pairs"]] == ["/A/y", "/B", "/A"]


def test_what_is_left_out_of_a_long_answer_is_counted(scene: Studio) -> None:
    """Alone there are 100 rows of each list, in a batch 20, and of items that are alike three.

    Found is how many there are.
    """
    keys = {"item": "/Tree", "prop": "intensity", "keys": [[it, it] for it in range(150)]}
    things = [{"type": "Mesh", "name": f"Mesh_{it}"} for it in range(110)]
    alone = scene.do("set_keys", **keys)
    made = scene.do("create", things=things)
    links = [{"from": "/Tree", "out": "out", "to": row, "in": "color"} for row in scene.nodes]
    steps = [
        step("set_keys", **keys),
        step("list_items", "all", name="Mesh_*"),
        step("assign_material", items=["$all"], values={"roughness": 1}),
        step("connect", links=links),
    ]
    together = scene.do("batch", steps=steps)["steps"]

    assert alone["found"] == 150
    assert len(alone["keys"]) == 100
    assert alone["keys_left_out"] == 50
    assert made["found"] == 110
    assert len(made["made"]) == 3
    assert made["made_left_out"] == 107
    assert made["pattern"] == "/Mesh_*"
    names = ("keys", "rows", "users", "links")
    assert [len(row[name]) for row, name in zip(together, names, strict=True)] == [20, 20, 3, 20]
    left = [row.get(f"{name}_left_out") for row, name in zip(together, names, strict=True)]
    assert left == [130, None, 107, len(links) - 20]
    assert [row["found"] for row in together] == [150, 110, 110, len(links)]
    assert together[1]["listed"] == 20


def test_transforms_are_not_applied_where_the_host_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editing, "cover", lambda items: None)
    operations = Mock(spec=Building, host=Mock())
    verbs = placing.PlacingVerbs(operations, Mock())

    with pytest.raises(ValueError, match="no transforms to apply: leave apply empty"):
        verbs.transform(["it"], move=[1, 0, 0], apply=["scale"])

    operations.place.assert_not_called()
