"""The verbs that see, and their geometry."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import geometry
from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs import checking, framing, seeing
from dcc_bridge.verbs.operations import Bounds, Vector
from tests.live import text
from tests.verbs.memory import MemoryHost, MemoryOperations, node
from tests.verbs.reading_scene import ReadingOperations
from tests.verbs.steps import step
from tests.verbs.studio import studio

VIEWS = ["front", "back", "left", "right", "top", "bottom", "three_quarter", "around"]
BOX: Bounds = ((1.0, 2.0, 3.0), (5.0, 4.0, 9.0))


def box(at: Vector, half: float = 1.0, **more: Any) -> dict[str, Any]:
    """Give a cube."""
    return node("Mesh", at=at, half=(half, half, half), parts={"counts": {"faces": 6}}, **more)


def call(
    operations: MemoryOperations, verb: str, checks: Path | None = None, **arguments: Any
) -> Any:
    """Call a verb as the bridge does."""
    every = [*seeing.verbs(operations), *checking.verbs(operations, checks)]
    verbs = {skill.name: skill for skill in map(describe, every)}
    return verbs[verb].fn(**arguments)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("up", ["Y", "Z"])
@pytest.mark.parametrize("aspect", [0.5, 2.0])
def test_a_view_shows_all_of_what_it_frames(view: str, up: Any, aspect: float) -> None:
    """Wherever up is, and whatever the picture's form; and it is not far too small."""
    operations = ReadingOperations({"it": box((3.0, 3.0, 6.0))})
    operations.nodes["it"]["half"] = (2.0, 1.0, 3.0)
    operations.up = up

    for shot in framing.shots(operations, ["it"], view, aspect):
        spot = framing.spot(shot, BOX, aspect)

        assert spot is not None
        assert min(spot[:2]) > 0
        assert max(spot[2:4]) < 1
        assert max(spot.right - spot.left, spot.bottom - spot.top) > 0.7


@pytest.mark.parametrize(
    ("up", "view", "marked"),
    [
        ("Z", "front", (2.0, 0.0, 0.0)),
        ("Z", "back", (-2.0, 0.0, 0.0)),
        ("Z", "top", (2.0, 0.0, 0.0)),
        ("Z", "right", (0.0, 2.0, 0.0)),
        ("Y", "front", (2.0, 0.0, 0.0)),
        ("Y", "right", (0.0, 0.0, -2.0)),
        ("Y", "top", (2.0, 0.0, 0.0)),
    ],
)
def test_what_is_on_the_right_side_is_on_the_right(up: Any, view: str, marked: Vector) -> None:
    """By the axes that applications with this up have."""
    operations = ReadingOperations({"it": box((0.0, 0.0, 0.0), 3.0), "mark": box(marked, 0.1)})
    operations.up = up

    (shot,) = framing.shots(operations, ["it"], view, 1.0)
    spot = framing.spot(shot, operations.bounds("mark") or BOX, 1.0)

    assert spot is not None
    assert spot.left > 0.6


def test_an_item_without_a_form_is_framed_by_its_place() -> None:
    """A light can be looked at; a scene without anything is drawn as well."""
    operations = ReadingOperations({"lamp": node("Light", at=(7.0, 8.0, 9.0))})

    (shot,) = framing.shots(operations, ["lamp"], "front", 1.0)
    (empty,) = framing.shots(ReadingOperations({}), [], "front", 1.0)

    assert shot.target == pytest.approx((7.0, 8.0, 9.0))
    assert empty.target == (0.0, 0.0, 0.0)


def test_the_legend_tells_what_is_where_what_is_hidden_and_what_is_outside() -> None:
    """A model sees the picture less well than it reads."""
    things = {"near": box((0, -3, 0), 1.5), "far": box((0, 5, 0), 1), "away": box((90, 0, 0))}
    operations = ReadingOperations(things | {"hill": box((0, 23456, 0), 3000)})

    legend, picture = call(operations, "look", view="person")

    assert picture.startswith(b"\xff\xd8\xff")
    assert "near: 29 to 71, 13 to 87, 5.5" in legend
    assert "far: 44 to 56" in legend
    assert "may be hidden by near" in legend
    assert "outside: away" in legend
    assert "Picture 1: 9.059 m wide at near, 7.0 m away" in legend
    assert "e+" not in legend


def test_marks_are_found_beside_what_is_framed() -> None:
    """What is not named is not told then."""
    operations = ReadingOperations({"a": box((0, 0, 0)), "b": box((1, 0, 0)), "c": box((2, 0, 0))})

    legend, _ = call(operations, "look", items=["a"], marks=["b"])

    assert "a: " in legend
    assert "b: " in legend
    assert "c: " not in legend


def test_a_picture_is_drawn_smaller_until_it_may_be_sent() -> None:
    """A hundred kilobytes are some thousand tokens."""
    operations = ReadingOperations({"a": box((0, 0, 0))})
    operations.bytes_of_a_pixel = 1.5

    legend, picture = call(operations, "look", size=1568)

    sizes = [width for _, width, _, _ in operations.drawn]
    assert len(picture) <= 100_000
    assert sizes == sorted(sizes, reverse=True)
    assert 2 <= len(sizes) <= 3
    assert f"{sizes[-1]} x " in legend


def test_four_pictures_are_one_sheet() -> None:
    """From four sides, or of four frames; of more a sentence says how many there may be."""
    operations = ReadingOperations({"a": box((0, 0, 0))})

    call(operations, "look", view="around", size=1000)
    call(operations, "look", view="front", frames=[1, 10, 20])

    (around, width, _, _), (frames, _, _, _) = operations.drawn
    assert len({shot.eye for shot in around}) == 4
    assert width == 500
    assert [shot.frame for shot in frames] == [1, 10, 20]
    with pytest.raises(ValueError, match="8 pictures; one look shows 4 at most"):
        call(operations, "look", view="around", frames=[1, 2])


def test_the_places_of_a_sheet_are_those_in_the_whole_image() -> None:
    operations = ReadingOperations({"a": box((0, 0, 0)), "away": box((90, 0, 0))})

    legend, _ = call(operations, "look", items=["a"], view="around")

    quarters = [(left > 0.5, top > 0.5) for _, left, top, _, _ in legend.places]
    assert quarters == [(False, False), (True, False), (False, True), (True, True)]
    assert {item for item, *_ in legend.places} == {"a"}
    assert all(right - left < 0.5 for _, left, _, right, _ in legend.places)


def test_a_place_ends_at_the_edges_of_the_picture() -> None:
    operations = ReadingOperations({"a": box((0, 0, 0)), "floor": box((0, 0, -50), 48)})

    legend, _ = call(operations, "look", items=["a"], marks=["floor"], view="top")

    places = {item: edges for item, *edges in legend.places}
    assert places["floor"] == [0.0, 0.0, 1.0, 1.0]


def test_each_picture_is_taken_and_told_at_its_frame() -> None:
    """A camera that moves is where it is at each of them, and so is what it looks at."""
    camera = node("Camera", places={"1": (0, -10, 0), "9": (0, -20, 0)})
    operations = ReadingOperations({"Cam": camera, "a": box((0, 0, 0), places={"9": (2, 0, 0)})})

    legend, _ = call(operations, "look", view="Cam", items=["a"], frames=[1, 9])

    ((taken, *_),) = operations.drawn
    assert [(shot.frame, shot.eye) for shot in taken] == [(1, (0, -10, 0)), (9, (0, -20, 0))]
    first, second = legend.split("Picture")[1:]
    assert first.startswith(" 1, frame 1: 12.94 m wide at a, 10.0 m away\n  a: 41 to 59, ")
    assert second.startswith(" 2, frame 9: 25.88 m wide at a, 20.0 m away\n  a: 54 to 62, ")
    assert operations.nodes["a"]["at"] == [0, 0, 0]


def test_the_view_camera_is_the_scene_s_own() -> None:
    operations = ReadingOperations(
        {"Cam": node("Camera", at=(0.0, -7.0, 0.0)), "a": box((0, 0, 0))}
    )

    with pytest.raises(LookupError, match="The scene has no camera of its own"):
        call(operations, "look", view="camera")
    operations.scene["camera"] = "Cam"
    call(operations, "look", view="camera")

    assert operations.drawn[0][0][0].eye == (0, -7, 0)


def test_what_the_scene_does_not_show_has_no_place_in_the_picture() -> None:
    operations = ReadingOperations(
        {"a": box((0, 0, 0)), "b": box((1, 0, 0), values={"hidden": True})}
    )

    legend, _ = call(operations, "look", view="front", items=["a", "b"])

    assert "  b: " not in legend
    assert "not shown by the scene: b" in legend


def test_an_application_without_frames_says_so() -> None:
    with pytest.raises(ValueError, match="This application has no frames"):
        call(MemoryOperations(MemoryHost({})), "look", frames=[1])


def test_a_view_that_is_none_is_a_camera_s_item() -> None:
    """The host says that there is none; a picture through one has the form of the render."""
    operations = ReadingOperations({"a": box((0, 0, 0))})

    with pytest.raises(LookupError, match="no camera 'Other'"):
        call(operations, "look", view="Other")
    call(operations, "look", view="person", size=1600 // 2)

    assert operations.drawn[0][1:3] == (800, 450)


def test_what_stands_behind_the_eye_is_not_in_the_picture() -> None:
    """A box around the eye cannot be told in shares of the picture either."""
    (shot,) = framing.shots(ReadingOperations({"a": box((0, 0, 0))}), ["a"], "three_quarter", 1.0)
    behind = geometry.add(shot.eye, geometry.add(shot.eye, shot.target, -1))

    assert framing.spot(shot, (behind, behind), 1.0) is None
    assert framing.spot(shot, ((-99.0,) * 3, (99.0,) * 3), 1.0) is None


# ---- check


def careless(tmp_path: Path) -> ReadingOperations:
    """Give a scene in which each rule finds something."""
    operations = ReadingOperations(
        {
            "a": node("Group"),
            "a/cube": box((0, 0, 0), scale=(2.0, 2.0, 2.0)),
            "a/mirror": box((0, 0, 0), scale=(-1.0, 1.0, 1.0)),
            "b": node("Group"),
            "b/cube": box((0, 0, 0)),
            "lamp": node("Light", values={"power": 0}, scale=(5.0, 5.0, 5.0)),
        },
        tmp_path / "scene.x",
    )
    (tmp_path / "there.png").touch()
    (tmp_path / "tile.1001.png").touch()
    operations.material_names = ["Gold", "Wood"]
    operations.paths = [
        ("a/cube", "file", "there.png"),
        ("a/cube", "file", "//./there.png"),
        ("a/cube", "file", "tile.<UDIM>.png"),
        ("a/cube", "file", "$JOB/x.png"),
        ("a/mirror", "file", "gone.png"),
        ("b/cube", "file", str(tmp_path / "there.png")),
        ("b/cube", "file", "C:\\gone.png"),
    ]
    return operations


def failed(told: Any) -> dict[str, list[str]]:
    """Give the items that fail each rule."""
    return {rule: list(facts["items"]) for rule, facts in told["failed"].items()}


def test_each_rule_names_what_fails_and_the_verb_that_mends_it(tmp_path: Path) -> None:
    """Ours by the port alone, and the host's own."""
    told = call(careless(tmp_path), "check")

    assert failed(told) == {
        "scale_applied": ["a/cube", "a/mirror"],
        "negative_scale": ["a/mirror"],
        "missing_files": ["a/mirror", "b/cube"],
        "absolute_paths": ["b/cube"],
        "unused_materials": ["Gold"],
        "lights_are_on": ["lamp"],
    }
    assert told["passed"] == ["duplicate_names", "keys_off_frames", "empty_groups"]
    assert told["failed"]["scale_applied"]["mend"] == 'transform(apply=["scale"])'
    assert told["failed"]["scale_applied"]["items"]["a/cube"] == "scale 2, 2, 2"
    for facts in told["failed"].values():
        assert re.fullmatch(r"[A-Z].{30,}\.", facts["what"])
        assert facts["mend"] in facts["what"]


def test_items_are_checked_with_what_is_below_them(tmp_path: Path) -> None:
    """And nothing else; by rules that are named, if any are."""
    told = call(
        careless(tmp_path), "check", items=["b"], rules=["missing_files", "duplicate_names"]
    )

    assert failed(told) == {"missing_files": ["b/cube"]}
    assert told["passed"] == ["duplicate_names"]
    with pytest.raises(ValueError, match=r"no rule 'scale'; there are: scale_applied, .*lights_"):
        call(careless(tmp_path), "check", rules=["scale"])


def test_a_missing_texture_is_the_fault_of_the_items_that_use_it(tmp_path: Path) -> None:
    """By way of its material; what nothing uses is no matter of some items, and that is said."""
    operations = careless(tmp_path)
    operations.nodes.update({
        "wood": node("Material", parts={"uses": ["image"]}), "image": node("Image"),
        "c": node("Mesh", parts={"uses": ["wood"]}), "d": node("Mesh"),
    })  # fmt: skip
    operations.paths = [("image", "file", "gone.png")]
    rules = ["missing_files", "unused_materials"]
    with_it, without = (call(operations, "check", items=[it], rules=rules) for it in "cd")

    assert failed(with_it) == {"missing_files": ["image"]}
    assert failed(without) == {}
    assert without["passed"] == ["missing_files"]
    assert without["not_looked_at_with_items"] == ["unused_materials"]


class MayaLike(ReadingOperations):
    """Items are long names, whose last part a script means by itself."""

    def name(self, item: str) -> str:
        return item.rpartition("|")[2]

    def parent(self, item: str) -> str | None:
        return item.rpartition("|")[0] or None


def test_equal_names_are_a_fault_only_where_they_clash() -> None:
    """In a path of slashes each has its own place, as `/a/cube` and `/b/cube` of USD."""
    paths = ReadingOperations({"/a/cube": box((0, 0, 0)), "/b/cube": box((0, 0, 0))})
    maya = MayaLike({"|a|cube": box((0, 0, 0)), "|b|cube": box((0, 0, 0)), "|c": node("Group")})

    told = [call(operations, "check", rules=["duplicate_names"]) for operations in (paths, maya)]

    assert [failed(it) for it in told] == [{}, {"duplicate_names": ["|a|cube", "|b|cube"]}]


STUDIO = '''
from dcc_bridge.verbs.checking import check_rule

@check_rule(mend="rename")
def no_cubes(operations, items):
    """A cube is no name."""
    for item in items:
        if operations.name(item) == "cube":
            yield item, "it is a cube", {"do": "rename", "with": {"names": {item: "box"}}}

@check_rule
def breaks(operations, items):
    yield items[0], "first"
    raise KeyError("nothing")

@check_rule
def names_alone(operations, items):
    yield items[0]
'''


def test_a_studio_adds_rules_as_plain_functions(tmp_path: Path) -> None:
    """One that breaks, and a file that does, are told, and the others run."""
    (tmp_path / "rules.py").write_text(STUDIO)
    (tmp_path / "worse.py").write_text("1 / 0\n")

    told = call(careless(tmp_path), "check", tmp_path)

    assert failed(told)["no_cubes"] == ["a/cube", "b/cube"]
    assert told["failed"]["no_cubes"]["what"] == "A cube is no name."
    mend = step("rename", names={"b/cube": "box"})
    assert told["failed"]["no_cubes"]["mends"]["b/cube"] == mend
    assert "mends" not in told["failed"]["scale_applied"]
    assert "scale_applied" in told["failed"]
    assert "line 14: KeyError: 'nothing'" in told["broken"][1]
    assert [line.partition(",")[0] for line in told["broken"]] == [
        "worse.py",
        "breaks: rules.py",
        "names_alone: rules.py: TypeError: it gave 'a'; it must yield item",
    ]


EDITS = '''
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.verbs.checking import check_rule

@check_rule
def no_trees(operations, items):
    """A tree."""
    return [(item, "it is one") for item in items if operations.name(item) == "Tree"]

@check_rule
def edits(operations, items):
    operations.host.nodes.pop("/Tree")
    return ()
'''


def test_a_project_s_rules_only_read(tmp_path: Path) -> None:
    """They stand in its folder; one that changes the scene is undone, and that is told."""
    (tmp_path / "project" / "checks").mkdir(parents=True)
    (tmp_path / "project" / "checks" / "trees.py").write_text(EDITS)

    with studio(tmp_path, project=tmp_path / "project") as running:
        told = running.call("check", {"rules": ["no_trees"]})
        edited = running.call("check", {"rules": ["edits"]})
        move = step("transform", items=["/Tree"], move=[1, 0, 0])
        said = running.fails("batch", steps=[move], check={"rules": ["edits"]})
        early = running.fails("batch", steps=[step("check"), move])

        assert "it is one" in text(told)
        assert "the project has its own rules, so check must come last" in early
        assert "failed_at 2 (step 2, check) changed the scene without the consent" in said
        assert "changed the scene without the consent of a person" in text(edited)
        assert "/Tree" in running.host.nodes


def test_a_studio_s_rule_is_trusted_as_a_skill_is(tmp_path: Path) -> None:
    """What everybody may write to is not run."""
    file = tmp_path / "rules.py"
    file.write_text("raise SystemExit('it ran')\n")
    file.chmod(0o666)

    told = call(careless(tmp_path), "check", tmp_path)

    assert "everybody may write to it" in told["broken"][0]


def test_a_direction_has_no_frame_only_where_there_is_none() -> None:
    """Straight up is one, a point is none."""
    right, up, ahead = geometry.frame_of((0.0, 0.0, 5.0), (0.0, 0.0, 1.0))

    assert ahead == (0.0, 0.0, 1.0)
    assert geometry.cross(right, ahead) == pytest.approx(up)
    assert math.hypot(*right) == pytest.approx(1)
    with pytest.raises(ValueError, match="no direction"):
        geometry.frame_of((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
