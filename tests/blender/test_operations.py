"""What Blender does for the verbs: in both of its modules, and drawing in the window of 3.4."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Any, Final

import pytest
from mcp_types import CallToolResult, ImageContent
from PIL import Image

from tests.blender import bpy_module
from tests.blender.seat import Seat
from tests.hosts import pictured
from tests.live import status, text
from tests.verbs import tasks, turntable
from tests.verbs.steps import step

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]


@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_each_act_does_what_it_says_and_one_undo_takes_it_back(
    version: str, tmp_path: Path
) -> None:
    """They run inside of it, and it ends well."""
    operations = bpy_module.ROOT / "tests" / "blender" / "operations.py"
    bpy_module.run_tests(version, operations, tmp_path)


@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_each_kind_of_part_is_edited_as_an_item(version: str, tmp_path: Path) -> None:
    parts = bpy_module.ROOT / "tests" / "blender" / "bpy_parts.py"
    bpy_module.run_tests(version, parts, tmp_path)


@pytest.mark.parametrize("version", ["4.5.15", bpy_module.IN_BACKGROUND])
def test_an_odd_item_spoils_no_answer_about_all(version: str, tmp_path: Path) -> None:
    odd_items = bpy_module.ROOT / "tests" / "blender" / "odd_items.py"
    bpy_module.run_tests(version, odd_items, tmp_path)


@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_of_each_name_that_went_away_the_new_one_is_told_and_works(
    version: str, tmp_path: Path
) -> None:
    names = bpy_module.ROOT / "tests" / "blender" / "bpy_gone.py"
    bpy_module.run_tests(version, names, tmp_path)


@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_a_question_about_the_api_has_the_right_first_card_and_its_example_runs(
    version: str, tmp_path: Path
) -> None:
    cards = bpy_module.ROOT / "tests" / "blender" / "bpy_api.py"
    bpy_module.run_tests(version, cards, tmp_path)


@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_what_is_unticked_in_the_list_of_a_question_is_left_out(
    version: str, tmp_path: Path
) -> None:
    listed = bpy_module.ROOT / "tests" / "blender" / "bpy_items.py"
    bpy_module.run_tests(version, listed, tmp_path)


def test_in_the_window_an_agent_builds_sees_and_undoes(seat: Seat, tmp_path: Path) -> None:
    """Pictures are drawn beside the view, which stays as it is; its own undo takes all back."""
    folder = Path(os.environ.get("SEEN_IN", tmp_path))
    things = [{"type": "MONKEY", "name": "Head", "at": [0, 0, 3]},
              {"type": "AREA_LIGHT", "name": "Key", "at": [4, -4, 6]}]  # fmt: skip
    steps = [
        step("create", things=things),
        step("transform", items=["Key"], look_at="Head"),
        step(
            "assign_material", items=["Head"], material="Gold", values={"base_color": [1, 0.6, 0]}
        ),
    ]
    seat.do("write")
    built = seat.application.call("batch", {"steps": steps})
    views: list[dict[str, Any]] = [
        {"view": "person", "shading": "solid"},
        {"view": "three_quarter", "shading": "material"},
        {"view": "around", "shading": "wire", "items": ["Head"]},
        {"view": "Camera", "shading": "solid"},
        {"view": "person", "shading": "solid"},
    ]
    looks = [seat.application.call("look", each) for each in views]
    kept = seat.seen()["objects"]
    undone = seat.application.call("undo_last", {})
    gone = seat.seen()["objects"]
    framed = seat.application.call("select", {"items": ["Cube"], "frame": True})
    looks.append(seat.application.call("look", views[0]))

    assert not built.is_error, text(built)
    pictures = [kept_picture(look, folder / f"window_{at}.jpg") for at, look in enumerate(looks)]
    assert pictures[0] == pictures[4]  # the person's view is as it was
    assert not framed.is_error, text(framed)
    assert pictures[0] != pictures[5]
    assert {"Head", "Key"} <= {*kept}
    assert not undone.is_error, text(undone)
    assert not {"Head", "Key"} & {*gone}


def test_in_the_window_a_question_about_a_loss_shows_the_scene_now_and_after(seat: Seat) -> None:
    """A deletion alone does, too; all is in the scene after a no."""
    steps = [step("delete", items=["Cube", "Light"])]
    before = seat.seen()["objects"]

    says, pictures = asked_with_pictures(seat, "batch", steps=steps)
    says_alone, _ = asked_with_pictures(seat, "delete", items=["Cube", "Light"])

    assert says == ["Now: 1 mesh and 1 light, marked", "After"]
    assert says_alone == says
    pictured.check_pair(*pictures)
    assert seat.seen()["objects"] == before


def asked_with_pictures(
    seat: Seat, tool: str, **arguments: Any
) -> tuple[list[str], list[Image.Image]]:
    """Return the pictures of a question, to which the person says no."""
    seat.do("take_time")
    asked = seat.ask(tool, **arguments)
    seat.go()
    seat.do("pictures")
    seat.answer("decline")
    assert status(asked.result(60)) == "refused"
    return pictured.read(seat.application.folder)


def test_in_the_window_each_picture_and_its_legend_are_of_its_frame(
    seat: Seat, tmp_path: Path
) -> None:
    """The camera's pivot, a thing, a modifier, a shape key and what is shown are keyed."""
    folder = Path(os.environ.get("SEEN_IN", tmp_path))
    seat.do("turntable")

    look = seat.application.call(
        "look", {"view": "camera", "frames": turntable.FRAMES, "size": 640}
    )

    data = kept_picture(look, folder / "turntable.jpg")
    legend = text(look)
    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGB")
    turntable.check(legend, lambda x, y: picture.getpixel((x, y)), *picture.size)
    assert "not shown by the scene: Yellow" in legend


def kept_picture(look: CallToolResult, file: Path) -> bytes:
    """Write a picture that shows something to a file, and give it."""
    assert not look.is_error, text(look)
    (drawn,) = (part for part in look.content if isinstance(part, ImageContent))
    data = base64.b64decode(drawn.data)
    file.write_bytes(data)
    with Image.open(io.BytesIO(data)) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 100, file
    return data


SIZES: Final = [("Table", [30, 30, 1]), ("Foot", [0.9, 0.9, 0.1]), ("Stem", [0.08, 0.08, 1.6]),
                ("Shade", [1.3, 1.3, 0.9]), ("Bulb", [0.35] * 3)]  # fmt: skip
PRODUCT: Final[list[tuple[str, dict[str, Any]]]] = [
    (
        "out with all that is there; a table, a lamp of four parts and its group",
        {
            "steps": [
                step("delete", items=["Cube", "Light", "Camera"]),
                step(
                    "create",
                    things=[
                        {"type": "PLANE", "name": "Table"},
                        {"type": "CYLINDER", "name": "Foot", "at": [0, 0, 0.1]},
                        {"type": "CYLINDER", "name": "Stem", "at": [0, 0, 1.7]},
                        {"type": "CONE", "name": "Shade", "at": [0, 0, 3.6]},
                        {"type": "SPHERE", "name": "Bulb", "at": [0, 0, 3.0]},
                        {"type": "EMPTY", "name": "Lamp"},
                    ],
                ),
                *(step("transform", items=[name], scale=size) for name, size in SIZES),
                step("group", items=["Foot", "Stem", "Shade", "Bulb"], under="Lamp"),
            ],
            "look": {"items": ["Lamp"]},
        },
    ),
    (
        "materials",
        {
            "steps": [
                step(
                    "assign_material",
                    items=["Foot", "Stem"],
                    material="Brass",
                    values={"base_color": [0.8, 0.5, 0.15], "metallic": 1.0, "roughness": 0.3},
                ),
                step(
                    "assign_material",
                    items=["Shade"],
                    material="Linen",
                    values={"base_color": [0.75, 0.12, 0.08], "roughness": 0.7},
                ),
                step(
                    "assign_material",
                    items=["Bulb"],
                    material="Glow",
                    values={"base_color": [1, 0.9, 0.7], "emission": [1, 0.8, 0.5]},
                ),
                step(
                    "assign_material",
                    items=["Table"],
                    material="Paper",
                    values={"base_color": [0.5, 0.55, 0.6], "roughness": 0.6},
                ),
            ],
            "look": {"items": ["Lamp"], "shading": "solid"},
        },
    ),
    (
        "lights and a camera that frames it",
        {
            "steps": [
                step(
                    "create",
                    things=[
                        {
                            "type": "AREA_LIGHT",
                            "name": "Key",
                            "at": [5, -5, 7],
                            "values": {"data.energy": 900, "data.size": 3},
                        },
                        {
                            "type": "AREA_LIGHT",
                            "name": "Fill",
                            "at": [-6, -3, 4],
                            "values": {"data.energy": 250, "data.size": 5},
                        },
                        {
                            "type": "AREA_LIGHT",
                            "name": "Rim",
                            "at": [-2, 6, 6],
                            "values": {"data.energy": 600, "data.size": 2},
                        },
                        {
                            "type": "CAMERA",
                            "name": "Shot",
                            "at": [5, -9, 4.2],
                            "values": {"data.lens": 50},
                        },
                    ],
                ),
                step("transform", items=["Key", "Fill", "Rim"], look_at="Lamp"),
                step("transform", items=["Shot"], look_at=[0, 0, 2.2]),
                step(
                    "set_values",
                    changes=[
                        {"item": "@scene", "prop": "camera", "value": "Shot"},
                        {"item": "@scene", "prop": "size", "value": [960, 720]},
                    ],
                ),
            ],
            "check": {"rules": ["scale_applied", "ngons"]},
            "look": {"view": "Shot", "shading": "material"},
        },
    ),
]


def test_an_agent_builds_lights_frames_and_saves_a_product_shot(seat: Seat, tmp_path: Path) -> None:
    """From an empty scene; each batch is looked at. PRODUCT_SHOT keeps the last picture."""
    folder = Path(os.environ.get("SEEN_IN", tmp_path))
    file = tmp_path / "product.blend"
    kept = Path(os.environ.get("PRODUCT_SHOT", folder / "product.jpg"))
    parts = ["Foot", "Stem", "Shade", "Bulb"]
    lights = ["Key", "Fill", "Rim"]
    pictures = []
    for number, (what, batch) in enumerate(PRODUCT):
        asked = seat.ask("batch", **batch)
        if number == 0:  # what goes is asked for
            seat.answer("accept")
        look = asked.result()
        assert not look.is_error, f"{what}: {text(look)}"
        pictures.append(kept_picture(look, folder / f"product_{number}.jpg"))
    last = seat.application.call(
        "look", {"items": parts, "view": "Shot", "shading": "material", "size": 960}
    )
    told = seat.application.call(
        "inspect", {"items": [*lights, "Lamp"], "parts": ["values", "bounds"]}
    )
    saved = seat.ask("save", path=str(file))
    seat.answer("accept")
    assert not saved.result().is_error, text(saved.result())
    summary = seat.application.call("summary", {}).structured_content

    assert len({*pictures}) == 3
    assert len(kept_picture(last, kept)) <= 100_000
    legend = [line for line in text(last).splitlines() if line.startswith("  ")]
    assert len([line for line in legend if line.split(":")[0].strip() in parts]) == 4
    assert "outside" not in text(last)
    assert "cut off" not in text(last)
    assert told.structured_content is not None
    *rows, lamp = told.structured_content["items"]
    assert [row["values"]["data.energy"] for row in rows] == [900, 250, 600]
    middle = [(low + high) / 2 for low, high in zip(*lamp["bounds"], strict=True)]
    assert max(tasks.aim_error(row, middle) for row in rows) < 2
    assert summary is not None
    assert summary["file"] == str(file)
    assert not summary["unsaved"]
    assert summary["camera"] == "Shot"
    assert summary["types"] == {"MESH": 5, "EMPTY": 1, "LIGHT": 3, "CAMERA": 1}
    assert file.read_bytes()[:7] == b"BLENDER"
