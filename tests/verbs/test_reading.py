"""The verbs that tell what there is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs import api_search, names, reading
from dcc_bridge.verbs.names import shortened
from dcc_bridge.verbs.operations import ApiEntry, Said, Value
from tests.verbs.memory import node
from tests.verbs.reading_scene import ReadingOperations


def scene() -> ReadingOperations:
    """Give a room with a table, two lamps of which one is driven, and a camera."""
    lamp = {"power": 100.0, "color": [1.0, 1.0, 1.0]}
    return ReadingOperations(
        {
            "room": node("Group", values={}),
            "room/Table": node(
                "Mesh",
                values={"height": 0.75},
                at=(1.0, 2.0, 0.5),
                half=(0.5, 1.0, 0.25),
                parts={"counts": {"faces": 6}, "uses": ["Wood"]},
            ),
            "room/Cup": node(
                "Mesh",
                values={},
                at=(1.0, 2.0, 0.8),
                half=(0.1, 0.1, 0.1),
                parts={"counts": {"faces": 600}, "uses": ["Wood", "Gold"]},
            ),
            "room/lamp_1": node("Light", values=lamp, at=(0.0, 0.0, 3.0)),
            "lamp_2": node(
                "Light",
                values={"power": 0.0},
                held={"power": "driven by Table.height"},
                inputs={"power": ["room/Table", "height"]},
            ),
            "Camera": node("Camera", values={}, at=(0.0, -9.0, 1.0)),
        }
    )


def call(operations: ReadingOperations, verb: str, **arguments: Any) -> Any:
    """Call a verb as the bridge does."""
    every = [*reading.verbs(operations), *api_search.verbs(operations)]
    verbs = {skill.name: skill for skill in map(describe, every)}
    return verbs[verb].fn(**arguments)


def rows(operations: ReadingOperations, **wanted: Any) -> list[str]:
    """Give the items that are listed."""
    return [row["item"] for row in call(operations, "list_items", **wanted)["rows"]]


def test_a_summary_says_the_same_in_every_host() -> None:
    """Up, units and the counts by type are there, whatever the host's own summary has."""
    operations = scene()
    operations.host.select(["Camera"])

    told = call(operations, "summary")

    assert told["up"] == "Z"
    assert told["units"] == "m"
    assert told["fps"] == 24.0
    assert told["selected"] == 1
    assert told["types"] == {"Mesh": 2, "Light": 2, "Group": 1, "Camera": 1}
    assert {"file", "unsaved", "undo"} <= told.keys()


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        ({"type": "Light"}, ["room/lamp_1", "lamp_2"]),
        ({"type": "light"}, ["room/lamp_1", "lamp_2"]),
        ({"name": "lamp_*", "under": "room"}, ["room/lamp_1"]),
        ({"name": "room/?able"}, ["room/Table"]),
        ({"uses": "Gold"}, ["room/Cup"]),
        ({"uses": "Wood", "under": "elsewhere"}, []),
        ({"where": {"power": ">50"}}, ["room/lamp_1"]),
        ({"where": {"power": 0}}, ["lamp_2"]),
        ({"where": {"faces": "<=6"}}, ["room/Table"]),
        ({"where": {"uses": "Go*"}}, ["room/Cup"]),
        ({"type": "Mesh", "where": {"faces": "!=6"}}, ["room/Cup"]),
        ({"type": "Mesh", "sort": "size"}, ["room/Cup", "room/Table"]),
        ({"type": "M*", "sort": "-size"}, ["room/Table", "room/Cup"]),
    ],
)
def test_items_are_found_by_what_is_known_of_them(
    wanted: dict[str, Any], listed: list[str]
) -> None:
    """Type, name, place, material, and values that are compared."""
    assert rows(scene(), **wanted) == listed


def test_fields_answer_in_the_same_call() -> None:
    """The size of the box, counts and any property, as far as an item has them."""
    told = call(scene(), "list_items", name="[TL]*", fields=["size", "faces", "height", "at"])

    assert told["rows"] == [
        {
            "item": "room/Table",
            "type": "Mesh",
            "size": [1.0, 2.0, 0.5],
            "faces": 6,
            "height": 0.75,
            "at": [1.0, 2.0, 0.5],
        }
    ]


def test_items_without_what_is_sorted_by_come_last() -> None:
    """In both directions; among texts a number is one."""
    operations = scene()
    operations.nodes["Camera"]["values"] = {"power": "much"}

    assert rows(operations, sort="faces")[:3] == ["room/Table", "room/Cup", "room"]
    assert rows(operations, sort="-faces", limit=3) == ["room/Cup", "room/Table", "room"]
    assert rows(operations, sort="-power", limit=2) == ["Camera", "room/lamp_1"]


def test_what_is_looked_for_in_the_whole_scene_is_looked_for_once() -> None:
    """A scene of many items is not gone through for each of them."""
    operations = scene()
    operations.material_names = ["Gold"]

    told = call(operations, "list_items", fields=["material"], sort="-material")

    assert told["rows"][0] == {"item": "room/Cup", "type": "Mesh", "material": ["Gold"]}
    assert operations.searches == 1


def test_a_limit_cuts_the_rows_and_not_the_count() -> None:
    """The agent reads that there are more."""
    told = call(scene(), "list_items", limit=2)

    assert told["found"] == 6
    assert told["listed"] == 2


def test_a_type_that_does_not_exist_is_answered_with_near_ones() -> None:
    """One that exists and is not in the scene is only not found."""
    operations = scene()

    note = call(operations, "list_items", type="Lite")["note"]

    assert note == "There is no type 'Lite'; names like it: Light. Globs work: '*Lite*'."
    assert "note" not in call(ReadingOperations({}), "list_items", type="Light")


@pytest.mark.parametrize(
    "wanted",
    [
        {"where": {"pwer": ">5"}},
        {"fields": ["pwer"]},
        {"sort": "-pwer"},
        {"where": {"pwer": "!=3"}},
    ],
)
def test_a_property_that_nothing_has_is_answered_with_near_ones(wanted: dict[str, Any]) -> None:
    """One that some have is not remarked on, nor is a size where there is none."""
    told = call(scene(), "list_items", **wanted)
    known = call(scene(), "list_items", type="Light", where={"power": ">999"}, fields=["size"])

    assert told["note"] == "There is no property 'pwer'; names like it: power."
    assert "note" not in known


def test_a_slip_in_one_word_of_a_name_is_found() -> None:
    """The name as a whole is not like it."""
    types = ["Camera", "SphereLight", "RectLight", "LightFilter", "Sphere", "DomeLight_1"]

    assert names.near("Lite", types) == ["RectLight", "SphereLight", "LightFilter", "DomeLight_1"]
    assert names.near("cam", types) == ["Camera"]


def test_an_inspection_tells_parts_and_marks_what_is_held() -> None:
    """An item that is not there is told in its place, beside the others."""
    lamp, none, table = call(
        scene(),
        "inspect",
        items=["lamp_2", "nothing", "room/Table"],
        parts=["values", "inputs", "bounds"],
    )["items"]

    assert lamp["held"] == {"power": "driven by Table.height"}
    assert lamp["inputs"] == [
        {"from": "room/Table", "out": "height", "to": "lamp_2", "in": "power"}
    ]
    assert none == {"item": "nothing", "error": "There is no 'nothing'."}
    assert table["bounds"] == [[0.5, 1.0, 0.25], [1.5, 3.0, 0.75]]


def test_the_scene_s_own_values_are_inspected_as_an_item() -> None:
    """By the same name by which they are set."""
    (told,) = call(scene(), "inspect", items=["@scene"])["items"]

    assert told["values"] == {"fps": 24.0, "size": [1920, 1080], "units": "m", "up": "Z"}


def test_no_answer_dumps_what_is_long() -> None:
    """A list and a text are cut, and say how much is left."""
    operations = scene()
    points = [[0.123456789] * 3] * 50_000
    operations.nodes["Camera"]["values"] = {"points": points, "note": "word " * 10_000}

    (told,) = call(operations, "inspect", items=["Camera"], parts=["values"])["items"]

    assert told["values"]["points"][-1] == "... 49976 more"
    assert told["values"]["points"][0] == [0.123457] * 3
    assert told["values"]["note"].startswith("word word")
    assert " ... 49401 characters left out ... word" in told["values"]["note"]
    assert len(json.dumps(told)) < 3000


def test_more_of_one_value_is_told_by_its_name_from_an_offset() -> None:
    operations = scene()
    note = "".join(f"line {number}\n" for number in range(10_000))
    operations.nodes["Camera"]["values"] = {
        "weights": list(range(5000)),
        "note": note,
        "lens": 50.0,
    }

    def told(**more: Any) -> Any:
        return call(operations, "inspect", items=["Camera"], **more)["items"][0]["values"]

    weights = told(names=["w*"], offset=3000)

    assert list(weights) == ["weights"]
    assert weights["weights"][:2000] == list(range(3000, 5000))
    assert weights["weights"][2000] == "... (from element 3000 of 5000)"
    assert told(names=["lens", "note"]) == {
        "lens": 50.0,
        "note": f"{note[:30_000]}... (from character 0 of {len(note)})",
    }
    assert told(names=["note"], offset=70_000)["note"].startswith(note[70_000:80_000])
    assert told(names=["w*"], offset=6000) == {"weights": "nothing from 6000 on: there are 5000"}
    with pytest.raises(ValueError, match="offset goes with names"):
        told(offset=2)
    assert told(names=["lenz"])["lenz"]["error"].startswith("Camera has no 'lenz'")


def test_a_long_text_goes_on_from_an_offset() -> None:
    operations = scene()
    operations.nodes["Camera"]["parts"] = {"text": "a" * 1000 + "b" * 1000}

    (told,) = call(operations, "inspect", items=["Camera"], parts=["text"], offset=999)["items"]

    assert told["text"] == "a" + "b" * 1000 + "... (from character 999 of 2000)"


def test_what_is_at_its_default_is_counted_and_told_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operations = scene()
    values = {
        "power": Value(1.0, "float", is_default=True),
        "color": Value([1, 0, 0], "color"),
        "on": Value(True, "bool", is_default=True),
    }
    monkeypatch.setattr(operations, "look_into", lambda item, part: values)

    (short,) = call(operations, "inspect", items=["Camera"], parts=["values"])["items"]
    (whole,) = call(operations, "inspect", items=["Camera"], parts=["values"], all=True)["items"]

    assert short["values"] == {"color": [1, 0, 0]}
    assert short["left_out"] == "2 values at their default: all=true"
    assert whole["values"] == {"power": 1.0, "color": [1, 0, 0], "on": True}
    assert "left_out" not in whole


def test_a_list_goes_on_from_an_offset() -> None:
    every = rows(scene())

    assert rows(scene(), offset=2, limit=3) == every[2:5]
    assert rows(scene(), sort="faces", offset=1, limit=1) == ["room/Cup"]
    assert call(scene(), "list_items", offset=4)["found"] == 6
    with pytest.raises(ValueError, match="offset is 0 or more, not -1"):
        rows(scene(), offset=-1)


def test_more_than_twenty_items_are_not_inspected() -> None:
    """The sentence says how many are."""
    with pytest.raises(ValueError, match="1 to 20 items, not 21"):
        call(scene(), "inspect", items=["Camera"] * 21)


def api() -> ReadingOperations:
    """Give an application with a small API."""
    operations = ReadingOperations({})
    operations.entries = [
        ApiEntry("Camera.focalLength", "property", "Lens, in tenths of a unit", "float 1 to 500"),
        ApiEntry("create type Camera", "type", "A camera"),
        ApiEntry("ops.mesh.bevel", "operator", "Cut the edges", "offset: float, segments: int"),
        ApiEntry("Light.power", "property", "How bright it is", "float"),
        *(ApiEntry(f"filler_{number}", "property", "A value of the mesh") for number in range(50)),
    ]
    return operations


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("camera focal length", "Camera.focalLength"),
        ("create type Camera", "create type Camera"),
        ("how do I bevel a mesh", "ops.mesh.bevel"),
        ("bright", "Light.power"),
        ("bevle", "ops.mesh.bevel"),
    ],
)
def test_the_api_is_searched_by_words_of_which_not_all_need_fit(query: str, best: str) -> None:
    """A rare word counts more than one that is everywhere, and a slip is forgiven."""
    told = call(api(), "find_api", query=query, limit=3)

    assert told["cards"][0]["name"] == best
    assert len(told["cards"]) <= 3


def test_the_api_is_read_once_and_when_it_is_first_asked() -> None:
    """Reading it takes long in a large application."""
    operations = api()
    verbs = {skill.name: skill.fn for skill in map(describe, api_search.verbs(operations))}
    before = operations.read

    verbs["find_api"](query="camera")
    verbs["find_api"](query="light")

    assert before == 0
    assert operations.read == 54


def test_a_miss_in_the_api_gives_near_words() -> None:
    """So the next query is a better one."""
    told = call(api(), "find_api", query="focus")

    assert told["found"] == 0
    assert "focal" in told["near"]
    assert "near lists words of the API that are like them" in told["why"]


def test_what_people_say_is_found_and_a_name_that_went_away_says_nothing_of_it() -> None:
    operations = api()
    operations.entries.append(ApiEntry("ops.old.snapshot", "gone", "ops.render"))
    operations.spoken = {
        "ops.mesh.bevel": Said("round the corners, snapshot", "ops.mesh.bevel(1.0)"),
        "ops.old.snapshot": Said("make a daguerreotype", "ops.old.snapshot()"),
    }

    rounded = call(operations, "find_api", query="how to round all corners")["cards"][0]
    gone = call(operations, "find_api", query="ops.old.snapshot")["cards"][0]

    assert (rounded["name"], rounded["example"]) == ("ops.mesh.bevel", "ops.mesh.bevel(1.0)")
    assert call(operations, "find_api", query="daguerreotype")["found"] == 0
    assert gone["kind"] == "gone"
    assert "example" not in gone


def test_what_a_verb_does_names_the_verb_with_an_item_of_the_scene() -> None:
    operations = api()
    operations.entries.append(ApiEntry("Scene.clone", "function"))
    operations.spoken = {"Scene.clone": Said("duplicate an object", "scene.clone(1)")}
    operations.nodes["Box"] = node("Mesh")

    card = call(operations, "find_api", query="how to duplicate an object")["cards"][0]

    assert (card["name"], card["kind"]) == ("duplicate", "verb")
    assert card["example"] == 'duplicate {"items": ["Box"], "count": 2}'


def test_an_example_names_an_item_of_its_type_or_the_type() -> None:
    operations = api()
    example = 'set_values {"items": ["<Torch|Light>"], "values": {"power": 2}}'
    operations.entries.append(ApiEntry("Lantern.wick", "property", example=example))

    def told() -> str:
        return str(call(operations, "find_api", query="wick")["cards"][0]["example"])

    before = told()
    operations.nodes["Key"] = node("Light")

    assert '"<Torch>"' in before
    assert '"Key"' in told()


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("In scene units; see .", "In scene units"),
        ("See the scene", "See the scene"),
        ("that is supported by most applications", "that is supported by ..."),
    ],
)
def test_a_text_is_cut_at_the_end_of_a_word(text: str, short: str) -> None:
    assert shortened(text, 24) == short


def test_of_two_alike_the_one_that_can_be_created_comes_first_and_a_label_is_a_name() -> None:
    operations = api()
    operations.entries += [
        ApiEntry("Torch", "type", "A light"),
        ApiEntry("create type TORCH", "type", "A light"),
        ApiEntry("create type XK", "type", label="Drop Shadow"),
    ]

    assert call(operations, "find_api", query="torch")["cards"][0]["name"] == "create type TORCH"
    assert (
        call(operations, "find_api", query="drop shadows")["cards"][0]["name"] == "create type XK"
    )


def test_an_answer_stays_short_with_the_first_card_whole() -> None:
    operations = api()
    operations.entries = [
        ApiEntry(f"Mesh.fold_{number}", "function", "Fold it. " * 60, "a: int, " * 60)
        for number in range(20)
    ]

    first, *others = call(operations, "find_api", query="fold a mesh")["cards"]

    assert len(json.dumps([first, *others])) < 4000
    assert len(others) > 3
    assert len(first["text"]) > 500
    assert all(len(card["text"]) < 200 for card in others)


def test_a_slip_in_a_type_s_name_gives_the_type_first() -> None:
    operations = api()
    operations.entries += [
        ApiEntry("CylinderLight.treatAsLine", "property", "A line instead of a surface", "bool"),
        ApiEntry("create type CylinderLight", "type", "A light"),
    ]

    told = call(operations, "find_api", query="Lite")

    assert told["cards"][0]["name"] == "create type CylinderLight"
