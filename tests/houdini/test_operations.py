"""Houdini's operations for the verbs, over a Houdini that is as its documents say."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dcc_bridge.verbs import framing, tools
from dcc_bridge.verbs.operations import SCENE, SocketLink
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.viewport import SceneViewer
from tests.verbs.every_port import EveryPort
from tests.verbs.operations_contract import (
    VERBS,
    FilesContract,
    MaterialsContract,
    OperationsContract,
    PlacingContract,
    SeeingContract,
)
from tests.verbs.promises import Edit, call, one_step
from tests.verbs.stand import Stand, Words, near

CAMERA = "/obj/cam1"
SHAPE = "/obj/shape"
BOX = f"{SHAPE}/box1"
MERGE = f"{SHAPE}/merge1"


def connected() -> EveryPort:
    """Return the operations of the Houdini that there is."""
    host = import_module("dcc_bridge_houdini.host").HoudiniHost()
    made: EveryPort = import_module("dcc_bridge_houdini.operations").operations(host)
    return made


@pytest.fixture
def houdini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Houdini:
    houdini = Houdini(monkeypatch)
    houdini.scene.path, houdini.scene.is_new = (tmp_path / "shot.hip").as_posix(), False
    return houdini


@pytest.fixture
def operations(houdini: Houdini) -> EveryPort:
    """A camera, a null, a moved shape with two boxes that are merged, and a locked asset."""
    loaded = connected()
    loaded.create("cam", "cam1", None)
    loaded.create("null", "rig", None)
    loaded.create("geo", "shape", None)
    for kind in ("box", "box", "merge"):
        loaded.create(kind, f"{kind}1", SHAPE)
    loaded.place(SHAPE, at=(10.0, 0.0, 0.0), rotation=(0.0, 90.0, 0.0))
    loaded.connect(SocketLink(BOX, "output1", MERGE, "input1"))
    loaded.create("subnet", "subnet1", None)
    asset = houdini.scene.at("/obj/subnet1")
    assert asset is not None
    asset.asset = True
    houdini.scene.add("/obj/subnet1/inner", "cam", parms={"tx": 0.0})
    houdini.undos.clear()
    return loaded


def wires(stand: Stand) -> tuple[SocketLink, SocketLink]:
    """Two boxes in the crate lead into one input."""
    operations = stand.operations
    crate = stand.crate
    operations.create("box", "box2", crate)
    merge = operations.create("merge", "merge1", crate)
    first, second = (
        SocketLink(f"{crate}/{name}", "output1", merge, "input1") for name in ("box1", "box2")
    )
    return first, second


def locked(stand: Stand) -> tuple[str, str]:
    hou: Any = sys.modules["hou"]
    hou.node(stand.crate).parm("ty").lock(True)
    return stand.crate, "ty"


REFUSED: list[tuple[str, Edit]] = [
    ("give 3 values", call("set_value", CAMERA, "t", [1, 2])),
    ("give a number", call("set_value", SCENE, "fps", 0)),
    ("locked asset", call("set_value", "/obj/subnet1/inner", "tx", 3.0)),
    (
        "3 values",
        call("set_keys", SHAPE, "r", [(1, 5.0)], "linear", clear=False),
    ),
    ("is no network", call("create", "box", None, BOX)),
    ("locked asset", call("create", "cam", None, "/obj/subnet1")),
    ("no one shape", call("apply", CAMERA, ["scale"])),
    ("of one network", call("collect", [CAMERA, BOX], "Shot", "set")),
    ("no object and has no place", call("place", BOX, at=(0.0, 0.0, 0.0))),
    (
        "Infinite recursion",
        call("connect", SocketLink(MERGE, "output1", BOX, "input1")),
    ),
    (
        "two networks",
        call("connect", SocketLink(CAMERA, "output1", MERGE, "input1")),
    ),
    (
        "Invalid input name",
        call("connect", SocketLink(BOX, "output1", MERGE, "input9")),
    ),
    ("no history", call("junk", "history")),
    ("cannot be written", call("save_files", Path("shot.hip"))),
    (
        "displays no shape",
        call("export_file", Path("/none.obj"), [CAMERA], None),
    ),
]
UNKNOWN: list[tuple[str, Edit]] = [
    ("no type 'camm'; names like it: cam", call("create", "camm", None, None)),
    ("no node '/obj/@None'", lambda operations: list(operations.users("/obj/@None"))),
    ("In /obj: There is no type 'box'", call("create", "box", None, "/obj")),
]


class TestHoudiniOperations(
    OperationsContract, MaterialsContract, PlacingContract, FilesContract, SeeingContract
):
    words = Words(
        solid="box",
        kind="geo",
        group="null",
        hollow="subnet",
        number=("ty", 3.5),
        links=wires,
        scene={"end": 1100, "start": 1001, "frame": 7, "fps": 25},
        collection="set",
        members=lambda operations, into: operations.users(into),
        no_name="not a name",
        file=".hip",
        exchange=".obj",
        top="/obj",
        none="/obj",
        nests=False,
        unit="fps",
        holds={"locked": locked},
        keyed="r",
        camera=("cam", 26.2),
        shader=("", "basecolor", "rough"),
    )

    own_refusals = REFUSED
    own_unknown = UNKNOWN

    @pytest.fixture
    def view(self, houdini: Houdini) -> Any:
        (viewer,) = (tab for tab in houdini.tabs if isinstance(tab, SceneViewer))
        return viewer.viewport.state


def test_what_is_in_a_locked_asset_is_no_item(operations: EveryPort) -> None:
    assert "/obj/subnet1" in set(operations.items())
    assert "/obj/subnet1/inner" not in set(operations.items())


def test_a_node_tells_its_users_and_counts(operations: EveryPort) -> None:
    counts = {"children": 3, "points": 8, "faces": 6, "vertices": 24}

    assert operations.look_into(MERGE, "uses") == [BOX]
    assert list(operations.users(BOX)) == [MERGE]
    assert operations.look_into(SHAPE, "counts") == counts


def test_a_start_behind_the_end_takes_the_end_along(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value(SCENE, "start", 1001)
        assert [operations.value(SCENE, prop).value for prop in ("start", "end")] == [
            1001.0,
            1001.0,
        ]


def test_keys_of_a_part_of_a_tuple_are_told_of_that_part_and_hold_all(
    operations: EveryPort,
) -> None:
    operations.set_keys(SHAPE, "ry", [(1.0, 5.0)], "step", clear=True)

    assert operations.look_into(SHAPE, "keys") == {"ry": [(1.0, 5.0)]}
    assert operations.value(SHAPE, "r").held == "keyed"


def test_a_shape_without_a_network_gets_an_object_around_it(operations: EveryPort) -> None:
    with one_step(operations):
        operations.create("box", "crate", None)
        assert list(operations.items("/obj/crate")) == ["/obj/crate/box1"]
        assert operations.kind("/obj/crate") == "geo"
        assert operations.bounds("/obj/crate") == (near((-0.5,) * 3), near((0.5,) * 3))


def test_a_transform_that_is_in_the_shape_is_not_put_there_again(
    operations: EveryPort,
) -> None:
    operations.place(SHAPE, scale=(1.0, 2.0, 3.0))
    operations.apply(SHAPE, ["scale"])
    nodes = list(operations.items(SHAPE))
    operations.apply(SHAPE, ["scale"])

    assert list(operations.items(SHAPE)) == nodes
    operations.set_keys(SHAPE, "sx", [(1, 5.0)], "linear", clear=False)
    with pytest.raises(ValueError, match="sx is keyed"):
        operations.apply(SHAPE, ["scale"])


def test_what_was_in_a_set_stays_there_when_more_is_taken_back(operations: EveryPort) -> None:
    """A node group, which Houdini does not say that undo knows."""
    operations.collect([CAMERA], "Shot", "set")
    with one_step(operations):
        operations.collect([SHAPE, CAMERA], "/obj/@Shot", "collection")
        assert list(operations.users("/obj/@Shot")) == [CAMERA, SHAPE]

    assert operations.name("/obj/@Shot") == "Shot"
    assert list(operations.users("/obj/@Shot")) == [CAMERA]


def test_a_texture_and_a_normal_map_are_switched_on(operations: EveryPort) -> None:
    """They count only then; a colour multiplies a texture."""
    wood = operations.material("Wood", {"base_color": [0.1, 0.2, 0.3], "normal": "bumps.png"})
    operations.material(wood, {"texture": "wood.png"})
    values = {name: it.value for name, it in operations.look_into(wood, "values").items()}

    assert values["baseBumpAndNormal_enable"] == 1
    assert values["baseBumpAndNormal_type"] == "normal"
    assert values["basecolor"] == [1.0] * 3
    assert values["basecolor_useTexture"] == 1
    other = operations.create("mtlxstandard_surface", "Karma", "/mat")
    with pytest.raises(ValueError, match="no principled shader but a mtlx"):
        operations.material(other, {"metallic": 1.0})


def test_a_shape_gets_its_material_by_a_node_behind_it(operations: EveryPort) -> None:
    """That goes before what the object says."""
    wood = operations.material("Wood", {})
    gold = operations.material("Gold", {})
    behind = f"{SHAPE}/box1_material"

    with one_step(operations):
        operations.assign(BOX, gold)
        assert list(operations.users(gold)) == [behind]
        assert operations.look_into(MERGE, "uses") == [behind]
    operations.assign(BOX, wood)
    operations.assign(BOX, gold)

    assert operations.value(behind, "shop_materialpath1").value == gold
    assert list(operations.users(wood)) == []
    for item, why in ((SHAPE, "materials of their own"), (CAMERA, "takes no material")):
        with pytest.raises(ValueError, match=why):
            operations.assign(item, wood)


def test_a_linked_copy_follows_but_for_its_place(operations: EveryPort) -> None:
    linked = operations.duplicate(CAMERA, linked=True)
    operations.set_value(CAMERA, "focal", 20.0)

    assert operations.value(linked, "focal").value == 20.0
    assert "driven by the expression" in operations.value(linked, "focal").held
    assert operations.value(linked, "tx").held == ""


def test_what_follows_is_counted_beside_what_is_inside(operations: EveryPort) -> None:
    operations.set_parent(CAMERA, SHAPE, keep_place=True)

    assert operations.orphans([SHAPE]) == [CAMERA]
    assert len(operations.below([SHAPE])) == 3
    with one_step(operations):  # a node goes to another network
        assert operations.set_parent(BOX, "/obj/shape", keep_place=True).startswith(
            "/obj/shape/box"
        )


def test_the_scene_is_saved_with_the_suffix_of_the_licence(
    operations: EveryPort, tmp_path: Path
) -> None:
    assert operations.save_files(tmp_path / "other.hipnc") == [tmp_path / "other.hip"]


@pytest.mark.parametrize("how", ["copy", "reference"])
def test_a_shape_is_exported_where_it_is_and_comes_in_again(
    operations: EveryPort, tmp_path: Path, how: str
) -> None:
    operations.set_value(BOX, "size", [4.0, 1.0, 1.0])
    file = tmp_path / "plank.obj"

    exported = operations.export_file(file, [SHAPE, CAMERA], (1.0, 2.0))
    with one_step(operations):
        (made,) = operations.import_file(file, how, "/obj/rig", 2.0, "Z").items
        assert operations.bounds(made) == (near((19, -4, -1)), near((21, 4, 1)))
        assert operations.parent(made) == "/obj/rig"
    kept = operations.import_file(file, how, None, 1.0, None).items[0]
    file.unlink()
    assert (operations.bounds(kept) is None) == (how == "reference")
    assert exported.items == [SHAPE]
    assert exported.left_out[:2] == [
        "It holds one frame, the present one.",
        f"{CAMERA} displays no shape.",
    ]


def test_a_file_without_a_shape_is_refused(operations: EveryPort, tmp_path: Path) -> None:
    (tmp_path / "bad.obj").write_text("[]")

    with pytest.raises(ValueError, match="cannot be read"):
        operations.import_file(tmp_path / "bad.obj", "copy", None, 1.0, None)


def test_nodes_that_do_not_cook_fail_a_rule(operations: EveryPort) -> None:
    assert [rule.name for rule in operations.rules()] == ["cooks"]
    assert list(operations.failures("cooks", [BOX])) == [(BOX, "")]


# ---- look


def looking(houdini: Houdini) -> tuple[EveryPort, SceneViewer]:
    """Give the operations of a Houdini with a window, a crate and a camera, and its scene view."""
    loaded = connected()
    loaded.create("box", "crate", None)
    loaded.create("cam", "cam1", None)
    (viewer,) = (tab for tab in houdini.tabs if isinstance(tab, SceneViewer))
    return loaded, viewer


def test_the_views_are_those_of_the_person_and_of_cameras(houdini: Houdini) -> None:
    """A Houdini inside an object shows what is in it, so its view is where that object is."""
    operations, viewer = looking(houdini)
    operations.place(CAMERA, at=(1.0, 2.0, 9.0))

    person = operations.viewpoint("person")
    camera = operations.viewpoint(CAMERA)
    operations.place("/obj/crate", at=(5.0, 0.0, 0.0))
    viewer.network = "/obj/crate"
    inside = operations.viewpoint("person")
    operations.set_value(CAMERA, "projection", "ortho")
    flat = operations.viewpoint(CAMERA)

    assert person.eye == near((0, 0, 10))
    assert person.target == near((0, 0, 0))
    assert person.angle == near(2 * math.degrees(math.atan(41.4214 / 100 * 400 / 600)))
    assert camera.eye == near((1, 2, 9))
    assert camera.target == near((1, 2, 4))
    assert camera.camera == CAMERA
    assert camera.angle == near(2 * math.degrees(math.atan(41.4214 / 100 * 720 / 1280)))
    assert inside.eye == near((5, 0, 10))
    assert flat.angle == 0.0
    assert flat.height == near(2.0 * 720 / 1280)
    with pytest.raises(LookupError, match="is a geo and no camera"):
        operations.viewpoint("/obj/crate")


@pytest.mark.parametrize("is_locked", [False, True])
@pytest.mark.parametrize("through", [None, CAMERA])
@pytest.mark.parametrize("kind", ["Perspective", "Top"])
def test_a_picture_is_drawn_and_the_view_is_as_it_was(
    houdini: Houdini, is_locked: bool, through: str | None, kind: str
) -> None:
    """Nor does a camera move that the view is locked to."""
    operations, viewer = looking(houdini)
    viewport = viewer.viewport
    viewport.changeType(kind)
    if through:
        viewport.look_through(through)
    viewport.lockCameraToView(is_locked)
    view = viewport.state()
    (side,) = framing.shots(operations, ["/obj/crate"], "right", 4 / 3)
    (corner,) = framing.shots(operations, ["/obj/crate"], "three_quarter", 4 / 3)

    operations.draw([side], 64, 48, "wire")
    operations.draw([replace(corner, frame=it) for it in (1.0, 5.0)], 64, 48, "solid")

    assert [(frame, shade) for frame, shade, _ in viewer.drawn] == [
        (24.0, "Wire"), (1.0, "Smooth"), (5.0, "Smooth")
    ]  # fmt: skip
    assert viewer.drawn[0][2][3][:3] == near(side.eye)
    assert viewer.drawn[1][2][2][:3] == near(
        [
            (a - b) / math.dist(corner.eye, corner.target)
            for a, b in zip(corner.eye, corner.target, strict=True)
        ]
    )
    assert viewport.state() == view


def test_a_box_is_in_the_picture_where_the_legend_says(houdini: Houdini, tmp_path: Path) -> None:
    operations, _ = looking(houdini)
    operations.place("/obj/crate", at=(1.0, 0.5, 0.0))

    for view in ("front", "three_quarter"):
        (shot,) = framing.shots(operations, ["/obj/crate", CAMERA], view, 4 / 3)
        (tmp_path / "seen.jpg").write_bytes(operations.draw([shot], 400, 300, "solid"))
        box = operations.bounds("/obj/crate")
        assert box is not None
        told = framing.spot(shot, box, 4 / 3)

        with Image.open(tmp_path / "seen.jpg") as picture:
            left, top, right, bottom = (
                picture.convert("L").point(lambda it: 255 * (it > 80)).getbbox() or (0,) * 4
            )
        assert told is not None
        drawn = (left / 400, top / 300, right / 400, bottom / 300)
        assert drawn == pytest.approx(told[:4], abs=0.01)


def test_only_a_scene_view_of_objects_is_looked_through(houdini: Houdini) -> None:
    operations, viewer = looking(houdini)
    viewer.network = "/stage"

    with pytest.raises(ValueError, match="No scene view of this Houdini shows objects"):
        operations.viewpoint("person")


def test_without_a_window_there_are_no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    Houdini(monkeypatch, batch=True)
    operations = connected()

    without = ("look", "render")
    assert [it.name for it in tools(operations)] == [it for it in VERBS if it not in without]


def test_a_parameter_whose_expression_fails_spoils_no_other(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = import_module("dcc_bridge_houdini.operations.reading")
    read = reading.value_with_lock
    inspect = next(tool.fn for tool in tools(operations) if tool.name == "inspect")
    before = inspect([SHAPE])["items"][0]["values"]
    odd = next(iter(before))

    def fails_on_one(parms: Any) -> Any:
        if parms[0].name() == f"{odd}x":
            raise RuntimeError("Invalid expression in the parameter.")
        return read(parms)

    monkeypatch.setattr(reading, "value_with_lock", fails_on_one)
    told = inspect([SHAPE])["items"][0]

    assert len(before) > 1
    assert told["values"] == {name: value for name, value in before.items() if name != odd}
    assert told["unreadable"] == {odd: "Invalid expression in the parameter"}


def test_parameters_at_their_default_are_left_out_of_an_inspection(operations: EveryPort) -> None:
    inspect = next(tool.fn for tool in tools(operations) if tool.name == "inspect")
    operations.set_value(CAMERA, "focal", 35.0)
    operations.set_keys(CAMERA, "near", [(1, 0.001)], "linear", clear=False)

    (facts,) = inspect([CAMERA])["items"]

    assert facts["values"].keys() == {"focal", "near"}
    assert facts["left_out"].endswith("values at their default: all=true")
