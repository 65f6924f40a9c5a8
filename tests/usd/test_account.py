"""What an agent is told of the scene after an edit, read from real USD, over a bridge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.usd.test_verbs import BOXES, CAMERA, TREE, studio
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, Studio

RED = "/World/Looks/Red"
EDITS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a new prim": (
        "create",
        {"things": [{"type": "Cube", "name": "New", "under": TREE, "values": {"size": 3}}]},
        f"created: {TREE}/New",
    ),
    "a value": (
        "set_values",
        {"items": [CAMERA], "values": {"focalLength": 35}},
        f"changed: {CAMERA}, focalLength: 50 -> 35",
    ),
    "a place": (
        "transform",
        {"items": [CAMERA], "move": [1, 0, 0]},
        f"changed: {CAMERA}, xformOp:translate: [0, 10, 100] -> [1, 10, 100]",
    ),
    "what a prim is": (
        "set_values",
        {"items": [CAMERA], "values": {"active": False}},
        f"changed: {CAMERA}, active: none -> false",
    ),
    "settings of the scene": (
        "set_values",
        {"items": ["@scene"], "values": {"frames": [10, 90], "units": "m"}},
        "changed: @scene, endTimeCode: 48 -> 90; @scene, metersPerUnit: 0.01 -> 1; "
        "@scene, startTimeCode: 1 -> 10",
    ),
    "keys": (
        "set_keys",
        {"item": CAMERA, "prop": "focalLength", "keys": [[1, 20], [9, 30]], "shape": "linear"},
        f'changed: {CAMERA}, focalLength: 50 -> "2 keys"',
    ),
    "a name, and what follows it": (
        "rename",
        {"names": {TREE: "Oak"}},
        f'changed: {TREE} is /World/Props/Oak; {CAMERA}, lookAt: ["{TREE}"] -> '
        '["/World/Props/Oak"]',
    ),
    "a deletion, and what breaks": (
        "delete",
        {"items": [RED]},
        f"deleted: {RED} (and 1 below). broken: material:binding of /World/Props/Crate",
    ),
    "a deleted branch": (
        "delete",
        {"items": [TREE]},
        f"deleted: {TREE} (and 2 below). broken: lookAt of {CAMERA}",
    ),
    "copies in a ring, with a pattern of names": (
        "duplicate",
        {"items": [BOXES[0]], "repeat": {"count": 3, "radius": 500, "name": "Post_##"}},
        "created: /World/Props/Post_01; /World/Props/Post_02; /World/Props/Post_03",
    ),
    "a whole branch": (
        "duplicate",
        {"items": [TREE], "linked": False},
        f"created: {TREE}_1 (and 2 below)",
    ),
    "many": (
        "set_values",
        {"items": BOXES, "values": {"size": 5}},
        f"changed: 40, such as {BOXES[0]}, size: none -> 5; {BOXES[1]}, size: none -> 5; "
        f"{BOXES[2]}, size: none -> 5",
    ),
}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    with studio(tmp_path, YES, YES, python="ask") as running:
        yield running


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_told_as_the_scene_has_it(scene: Studio, edit: str) -> None:
    verb, arguments, now = EDITS[edit]

    assert scene.do(verb, **arguments)["now"] == now


def test_of_a_batch_all_is_told_once_and_in_the_words_of_the_agent_in_the_undo_list(
    scene: Studio,
) -> None:
    steps = [
        step("set_values", items=[CAMERA], values={"focalLength": 20}),
        step("set_values", items=[CAMERA], values={"focalLength": 35}),
    ]

    told = scene.do("batch", steps=steps, why="Step 3 of the tower.")
    scene.do("batch", steps=steps[:1])

    assert told["now"] == f"changed: {CAMERA}, focalLength: 50 -> 35"
    labels = [label.rpartition(" [")[0] for label in scene.host.undo_labels]
    assert labels == ["Step 3 of the tower", "Batch"]


CREATE = step("create", "new", things=[{"type": "Cube", "name": "Ball", "under": "/World"}])
BATCHES: dict[str, list[dict[str, Any]]] = {
    "created: /World/Kugel": [
        CREATE,
        step("rename", names={"/World/Ball": "Tube"}),
        step("rename", names={"/World/Tube": "Kugel"}),
    ],
    f"changed: {CAMERA}, focalLength: 50 -> 35": [
        CREATE,
        step("rename", names={"/World/Ball": "Kugel"}),
        step("set_values", items=[CAMERA], values={"focalLength": 35}),
        step("delete", items=["/World/Kugel"]),
    ],
    f"created: {TREE} (and 2 below). changed: {TREE} is /World/Props/Elm; {CAMERA}, lookAt: "
    f'["{TREE}"] -> ["/World/Props/Elm"]': [
        step("rename", names={TREE: "Oak"}),
        step("rename", names={"/World/Props/Oak": "Elm"}),
        step("duplicate", items=["/World/Props/Elm"], linked=False),
        step("rename", names={"/World/Props/Elm_1": "Tree"}),
    ],
    f"deleted: {BOXES[0]}. changed: {BOXES[1]} is {BOXES[0]}": [
        step("delete", items=[BOXES[0]]),
        step("rename", names={BOXES[1]: "Placeholder_01"}),
    ],
    f"deleted: {TREE} (and 1 below). changed: {TREE}/Trunk is "
    f"/World/Trunk. broken: lookAt of {CAMERA}": [
        step("group", items=[f"{TREE}/Trunk"], under="/World"),
        step("delete", items=[TREE]),
    ],
}


@pytest.mark.parametrize("now", BATCHES)
def test_what_a_batch_made_is_told_by_its_last_name_and_not_if_it_is_gone(
    scene: Studio, now: str
) -> None:
    assert scene.do("batch", steps=BATCHES[now]).get("now") == now


def test_what_code_edits_that_is_no_item_is_told_too(scene: Studio, tmp_path: Path) -> None:
    code = """
from pxr import Sdf
root = stage.GetRootLayer()
root.comment = "approved"
stage.SetMetadata("framePrecision", 5)
stage.GetPrimAtPath("/World").SetMetadata("comment", "hero")
"""
    told = scene.do("run_python", code=code, why="Note that it is approved")

    assert told["now"] == (
        'changed: /World, comment: none -> "hero"; @scene, comment: none -> "approved"; '
        "@scene, framePrecision: none -> 5"
    )
    assert scene.host.undo_labels[-1].startswith("Note that it is approved [")


def test_nothing_is_told_of_what_did_not_stay_or_changed_nothing(tmp_path: Path) -> None:
    with studio(tmp_path, NO, python="ask") as scene:
        same = scene.do("set_values", items=[CAMERA], values={"focalLength": 50})
        read = scene.do("inspect", items=[CAMERA])
        refused = scene.call("delete", {"items": [RED]})

    assert "now" not in same
    assert "now" not in read
    assert refused.structured_content is None


IN_RED = f"{TREE}{{look=red}}"
LOOKS = step(
    "create",
    things=[
        {
            "type": "VariantSet",
            "name": "look",
            "under": TREE,
            "values": {"variants": ["red", "blue"], "selection": "red"},
        }
    ],
)
PARTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a variant is selected": (
        [step("set_values", items=[TREE], values={"variant:look": "blue"})],
        f'changed: {TREE}, variant:look: "red" -> "blue"',
    ),
    "a value in a variant": (
        [step("set_values", items=[f"{IN_RED}Trunk"], values={"size": 3})],
        f"changed: {IN_RED}Trunk, size: 1 -> 3",
    ),
    "a prim in a variant": (
        [step("create", things=[{"type": "Cube", "name": "Hat", "under": IN_RED}])],
        f"created: {IN_RED}Hat",
    ),
    "a variant": (
        [
            step(
                "create", things=[{"type": "Variant", "name": "green", "under": f"{TREE}{{look=}}"}]
            )
        ],
        f"created: {TREE}{{look=green}}",
    ),
    "the name of a variant": (
        [step("rename", names={IN_RED: "crimson"})],
        f'changed: {TREE}, variant:look: "red" -> "crimson"; {IN_RED} is {TREE}{{look=crimson}}',
    ),
    "a variant goes": (
        [step("delete", items=[f"{TREE}{{look=blue}}"])],
        f"deleted: {TREE}{{look=blue}}",
    ),
    "custom data": (
        [step("set_values", items=[TREE], values={"custom_data:take": 3})],
        f'changed: {TREE}, custom_data: none -> {{"take": 3}}',
    ),
    "a reference": (
        [step("set_values", items=[TREE], values={"references": [{"prim": CAMERA}]})],
        f'changed: {TREE}, references: none -> ["<{CAMERA}>"]',
    ),
    "another layer": (
        [
            step("set_values", items=["@scene"], values={"edit_target": "anim.usda"}),
            step("set_values", items=[CAMERA], values={"fStop": 4}),
        ],
        f"changed: layer anim.usda; {CAMERA}, fStop: none -> 4; "
        '@scene, edit_target: "shot.usda" -> "anim.usda"',
    ),
    "a sublayer": (
        [step("set_values", items=["@scene"], values={"sublayers": ["./a.usda", "./anim.usda"]})],
        'changed: @scene, sublayers: ["./anim.usda"] -> ["./a.usda", "./anim.usda"]',
    ),
}


@pytest.mark.parametrize("edit", PARTS)
def test_an_edit_of_a_part_is_told_by_the_names_that_inspect_has(scene: Studio, edit: str) -> None:
    steps, now = PARTS[edit]
    layers = step("set_values", items=["@scene"], values={"sublayers": ["./anim.usda"]})
    scene.do("batch", steps=[layers, LOOKS])
    scene.do("set_values", items=[f"{IN_RED}Trunk"], values={"size": 1})

    assert scene.do("batch", steps=steps)["now"] == now


def bring_chair(scene: Studio, folder: Path) -> None:
    """Bring a chair with a seat from another file."""
    chair = folder / "chair.usda"
    chair.write_text('#usda 1.0\ndef "Chair"\n{\n    def Cube "Seat"\n    {\n    }\n}\n')
    scene.do("import_file", path=str(chair), how="reference")


def test_a_prim_of_a_file_that_is_switched_off_is_told_as_that(
    scene: Studio, tmp_path: Path
) -> None:
    bring_chair(scene, tmp_path)

    told = scene.do("delete", items=["/World/chair/Seat"])

    assert told["now"] == "changed: /World/chair/Seat, active: none -> false"


def test_a_prim_of_a_file_that_loses_its_edits_is_not_told_as_deleted(
    scene: Studio, tmp_path: Path
) -> None:
    bring_chair(scene, tmp_path)
    scene.do("set_values", items=["/World/chair/Seat"], values={"size": 3})

    with scene.host.undo_step("Without edits"):
        trial = scene.host.trial()
        scene.host.stage.RemovePrim("/World/chair/Seat")
        account = trial.account()

    assert account.deleted == []
    assert account.changed == ["/World/chair/Seat, size: 3 -> none"]


def test_the_first_edit_of_a_prim_in_a_variant_is_told_as_one(scene: Studio) -> None:
    scene.do("batch", steps=[LOOKS])

    told = scene.do("set_values", items=[f"{IN_RED}Trunk"], values={"size": 1})

    assert told["now"] == f"changed: {IN_RED}Trunk, size: none -> 1"
