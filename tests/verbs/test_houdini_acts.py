"""Houdini's acts for the verbs, over a Houdini that is as its documents say."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dcc_bridge.verbs import seeing
from dcc_bridge.verbs.acts import SCENE, Acts, SocketLink, load
from tests.hosts.digests import scene_digest
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.viewport import SceneViewer
from tests.verbs.promises import Edit, one_step, refused

SKILLS = Path(__file__).parents[2] / "plugins" / "houdini" / "skills"
CAMERA, SHAPE = "/obj/cam1", "/obj/shape"
BOX, MERGE = f"{SHAPE}/box1", f"{SHAPE}/merge1"


@pytest.fixture
def houdini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Houdini:
    houdini = Houdini(monkeypatch, batch=True)
    houdini.scene.path, houdini.scene.is_new = (tmp_path / "shot.hip").as_posix(), False
    return houdini


@pytest.fixture
def acts(houdini: Houdini) -> Acts:
    """A camera, a null, a moved shape with two boxes that are merged, and a locked asset."""
    loaded = load(SKILLS, import_module("dcc_bridge.hosts.houdini").HoudiniHost())
    assert loaded is not None
    loaded.create("cam", "cam1", None)
    loaded.create("null", "rig", None)
    loaded.create("geo", "shape", None)
    for kind in ("box", "box", "merge"):
        loaded.create(kind, f"{kind}1", SHAPE)
    loaded.place(SHAPE, at=(10.0, 0.0, 0.0), rotation=(0.0, 90.0, 0.0))
    loaded.connect(SocketLink(BOX, "output1", MERGE, "input1"))
    houdini.scene.add("/obj/subnet1", "subnet", asset=True)
    houdini.scene.add("/obj/subnet1/inner", "cam", parms={"tx": 0.0})
    houdini.undos.clear()
    return loaded


def near(numbers: Any) -> Any:
    return pytest.approx(numbers, abs=1e-6)


REFUSED: list[tuple[str, Edit]] = [
    ("It takes a Float", lambda acts: acts.set_value(CAMERA, "focal", "wide")),
    ("give 3 values", lambda acts: acts.set_value(CAMERA, "t", [1, 2])),
    ("give a number", lambda acts: acts.set_value(SCENE, "frame", "now")),
    ("give a number", lambda acts: acts.set_value(SCENE, "fps", 0)),
    ("locked asset", lambda acts: acts.set_value("/obj/subnet1/inner", "tx", 3.0)),
    ("3 values", lambda acts: acts.set_keys(SHAPE, "r", [(1, 5.0)], "linear", clear=False)),
    ("is no network", lambda acts: acts.create("box", None, BOX)),
    ("locked asset", lambda acts: acts.create("cam", None, "/obj/subnet1")),
    ("no one shape", lambda acts: acts.apply(CAMERA, ["scale"])),
    ("has no layer", lambda acts: acts.collect([CAMERA], "Shot", "layer")),
    ("of one network", lambda acts: acts.collect([CAMERA, BOX], "Shot", "set")),
    ("no object and has no place", lambda acts: acts.place(BOX, at=(0.0, 0.0, 0.0))),
    ("Infinite recursion", lambda acts: acts.connect(SocketLink(MERGE, "output1", BOX, "input1"))),
    ("two networks", lambda acts: acts.connect(SocketLink(CAMERA, "output1", MERGE, "input1"))),
    ("Invalid input name", lambda acts: acts.connect(SocketLink(BOX, "output1", MERGE, "input9"))),
    ("cannot be called", lambda acts: acts.rename(CAMERA, "rig")),
    ("cannot be called", lambda acts: acts.rename(CAMERA, "not a name")),
    ("no history", lambda acts: acts.junk("history")),
    ("cannot be written", lambda acts: acts.save_files(Path("shot.hip"))),
    ("cannot be written", lambda acts: acts.save_files(Path("/no/shot.hip"))),
    ("cannot be written", lambda acts: acts.save_files(Path("/shot.usd"))),
    ("displays no shape", lambda acts: acts.export_file(Path("/none.obj"), [CAMERA], None)),
]
UNKNOWN: list[tuple[str, Edit]] = [
    (r"Near: /obj/cam1\.", lambda acts: acts.kind("/obj/cam")),
    ("no node '/obj/@None'", lambda acts: list(acts.users("/obj/@None"))),
    ("no parameter 'focul'; near: .*focal", lambda acts: acts.set_value(CAMERA, "focul", 1)),
    ("it has frame, start, end, fps", lambda acts: acts.set_value(SCENE, "gravity", 3)),
    ("no type 'camm'; near: cam", lambda acts: acts.create("camm", None, None)),
    ("In /obj: There is no type 'box'", lambda acts: acts.create("box", None, "/obj")),
]


@pytest.mark.parametrize(("why", "edit"), [*REFUSED, *UNKNOWN])
def test_what_cannot_be_done_is_refused_with_a_sentence_and_changes_nothing(
    acts: Acts, why: str, edit: Edit
) -> None:
    refused(acts, edit, why, LookupError if (why, edit) in UNKNOWN else ValueError)


def test_items_are_paths_of_nodes_in_networks(acts: Acts) -> None:
    assert list(acts.items(SHAPE)) == [BOX, f"{SHAPE}/box2", MERGE]
    assert {CAMERA, BOX, "/obj/subnet1"} <= set(acts.items())
    assert "/obj/subnet1/inner" not in set(acts.items())
    assert (acts.kind(BOX), acts.name(BOX), acts.parent(BOX)) == ("box", "box1", SHAPE)
    assert (acts.parent(CAMERA), acts.parent("/obj")) == ("/obj", None)


def test_a_node_tells_its_values_inputs_users_and_counts(acts: Acts) -> None:
    values = acts.look_into(SHAPE, "values")

    assert (values["t"].value, values["t"].held) == ([10.0, 0.0, 0.0], "")
    assert acts.look_into(CAMERA, "values")["focal"].value == 50.0
    assert acts.look_into(MERGE, "inputs") == [SocketLink(BOX, "output1", MERGE, "input1")]
    assert acts.look_into(MERGE, "uses") == [BOX]
    assert list(acts.users(BOX)) == [MERGE]
    assert acts.look_into(SHAPE, "counts") == {
        "children": 3, "points": 8, "faces": 6, "vertices": 24
    }  # fmt: skip


def test_bounds_are_of_the_world(acts: Acts) -> None:
    acts.set_value(BOX, "size", [4.0, 1.0, 1.0])

    assert acts.bounds(SHAPE) == (near((9.5, -0.5, -2.0)), near((10.5, 0.5, 2.0)))
    assert acts.bounds(CAMERA) is None


@pytest.mark.parametrize(
    ("item", "prop", "value"),
    [(CAMERA, "focal", 35.0), (CAMERA, "tx", 3.0), (CAMERA, "t", [1.0, 2.0, 3.0])],
)
def test_a_parameter_or_a_tuple_is_set_and_undone(
    acts: Acts, item: str, prop: str, value: Any
) -> None:
    with one_step(acts):
        acts.set_value(item, prop, value)
        assert acts.value(item, prop).value == value


@pytest.mark.parametrize(
    ("changes", "now"),
    [
        ({"frame": 7.0}, [7.0, 1.0, 240.0, 24.0]),
        ({"start": 1001, "end": 1100}, [24.0, 1001.0, 1100.0, 24.0]),
        ({"end": 1100, "start": 1001, "fps": 25}, [24.0, 1001.0, 1100.0, 25.0]),
    ],
)
def test_what_the_playbar_shows_is_set_and_undone(
    houdini: Houdini, acts: Acts, changes: dict[str, float], now: list[float]
) -> None:
    """`hou.setFps` changes the range unless it is told not to; frames stay, and undo knows all."""

    def see() -> list[float]:
        return [acts.value(SCENE, prop).value for prop in ("frame", "start", "end", "fps")]

    with one_step(acts):
        [acts.set_value(SCENE, prop, it) for prop, it in changes.items()]
        seen = see()
    acts.host.redo()

    assert seen == see() == now
    assert houdini.undos.enabled


def test_what_is_keyed_or_locked_is_set_once_that_may_go(houdini: Houdini, acts: Acts) -> None:
    acts.set_keys(CAMERA, "tx", [(1, 5.0)], "linear", clear=False)
    kept = houdini.scene.at(CAMERA)
    assert kept is not None
    kept.locked = ["focal"]

    for prop, why in (("tx", "keyed"), ("focal", "locked"), ("t", "keyed")):
        assert acts.value(CAMERA, prop).held == why
        with pytest.raises(ValueError, match=why):
            acts.set_value(CAMERA, prop, acts.value(CAMERA, prop).value)
    acts.set_value(CAMERA, "tx", 7.0, replace=True)
    acts.set_value(CAMERA, "focal", 7.0, replace=True)

    assert [acts.value(CAMERA, it).value for it in ("tx", "focal")] == [7.0, 7.0]
    assert acts.value(CAMERA, "tx").held == ""


def test_keys_are_set_on_all_of_a_tuple_and_cleared(acts: Acts) -> None:
    keys = [(1.0, [0.0, 0.0, 0.0]), (97.0, [0.0, 360.0, 0.0])]

    with one_step(acts):
        acts.set_keys(SHAPE, "r", keys, "linear", clear=True)
        now = (acts.keys(SHAPE, "r"), acts.look_into(SHAPE, "keys"))
    acts.set_keys(SHAPE, "r", keys, "step", clear=False)
    acts.set_keys(SHAPE, "r", [], "step", clear=True)
    acts.set_keys(SHAPE, "ry", [(1.0, 5.0)], "step", clear=True)
    one_of_three = acts.look_into(SHAPE, "keys")
    acts.set_keys(SHAPE, "ry", [], "step", clear=True)

    assert now == (keys, {"r": keys})
    assert one_of_three == {"ry": [(1.0, 5.0)]}
    assert acts.keys(SHAPE, "r") == []


def test_a_node_is_made_in_a_network_that_has_its_type(acts: Acts) -> None:
    with one_step(acts):
        assert acts.create("cam", "cam1", None) == "/obj/cam2"


def test_a_shape_without_a_network_gets_an_object_around_it(acts: Acts) -> None:
    with one_step(acts):
        acts.create("box", "crate", None)
        assert list(acts.items("/obj/crate")) == ["/obj/crate/box1"]
        assert acts.kind("/obj/crate") == "geo"
        assert acts.bounds("/obj/crate") == (near((-0.5,) * 3), near((0.5,) * 3))


def test_a_transform_is_put_into_the_shape_and_nothing_moves(acts: Acts) -> None:
    """What follows the object stays too, and a second time there is nothing to do."""
    acts.place(SHAPE, scale=(1.0, 2.0, 3.0))
    acts.set_parent(CAMERA, SHAPE, keep_place=True)
    box, camera = acts.bounds(SHAPE), acts.placement(CAMERA)

    with one_step(acts):
        acts.apply(SHAPE, ["scale", "rotation"])
        seen = (acts.placement(SHAPE, "local"), acts.bounds(SHAPE), acts.placement(CAMERA))
    acts.apply(SHAPE, ["scale"])
    nodes = list(acts.items(SHAPE))
    acts.apply(SHAPE, ["scale"])

    assert (seen[0].at, seen[0].rotation, seen[0].scale) == (
        near((10, 0, 0)),
        near((0,) * 3),
        near((1,) * 3),
    )
    assert box is not None
    assert seen[1] == tuple(map(near, box))
    assert seen[2].at == near(camera.at)
    assert list(acts.items(SHAPE)) == nodes
    acts.set_keys(SHAPE, "sx", [(1, 5.0)], "linear", clear=False)
    with pytest.raises(ValueError, match="sx is keyed"):
        acts.apply(SHAPE, ["scale"])


def test_nodes_of_one_network_come_into_a_set(acts: Acts) -> None:
    """A node group, which Houdini does not say that undo knows."""
    with one_step(acts):
        acts.collect([CAMERA], "Shot", "set")
        first = (acts.name("/obj/@Shot"), list(acts.users("/obj/@Shot")))
    acts.host.redo()
    with one_step(acts):
        acts.collect([SHAPE, CAMERA], "/obj/@Shot", "collection")
        assert list(acts.users("/obj/@Shot")) == [CAMERA, SHAPE]

    assert first == ("Shot", [CAMERA])
    assert list(acts.users("/obj/@Shot")) == [CAMERA]


def test_a_material_is_made_of_values_and_changed(acts: Acts) -> None:
    """A texture and a normal map count only once they are switched on."""
    values = {"base_color": [0.1, 0.2, 0.3], "roughness": 0.4, "normal": "bumps.png"}

    with one_step(acts):
        acts.material("Wood", values)
        made = {name: it.value for name, it in acts.look_into("/mat/Wood", "values").items()}
    wood = acts.material("Wood", {})
    acts.material(wood, {"texture": "wood.png"})
    textured = {name: it.value for name, it in acts.look_into(wood, "values").items()}

    assert (made["basecolor"], made["rough"]) == ([0.1, 0.2, 0.3], 0.4)
    assert (made["baseBumpAndNormal_enable"], made["baseBumpAndNormal_type"]) == (1, "normal")
    assert (textured["basecolor"], textured["basecolor_useTexture"]) == ([1.0] * 3, 1)
    assert list(acts.materials()) == [wood] == ["/mat/Wood"]
    other = acts.create("mtlxstandard_surface", "Karma", "/mat")
    for name, given, why in (
        ("Wood", {"gloss": 1}, "has no gloss: it has base_color"),
        (other, {"metallic": 1.0}, "no principled shader but a mtlx"),
    ):
        with pytest.raises(ValueError, match=why):
            acts.material(name, given)


def test_an_object_or_a_shape_in_it_gets_a_material(acts: Acts) -> None:
    """A shape by a Material node behind it; that goes before what the object says."""
    wood, gold = acts.material("Wood", {}), acts.material("Gold", {})

    with one_step(acts):
        acts.assign(SHAPE, wood)
        users = list(acts.users(wood))
    with one_step(acts):
        acts.assign(BOX, gold)
        shape = (list(acts.users(gold)), acts.look_into(MERGE, "uses"))
    acts.assign(BOX, wood)
    acts.assign(BOX, gold)

    behind = f"{SHAPE}/box1_material"
    assert users == [SHAPE]
    assert shape == ([behind], [behind])
    assert acts.value(behind, "shop_materialpath1").value == gold
    assert list(acts.users(wood)) == []
    assert acts.junk("unused") == [wood]
    for item, why in ((SHAPE, "materials of their own"), (CAMERA, "takes no material")):
        with pytest.raises(ValueError, match=why):
            acts.assign(item, wood)


def test_a_copy_has_all_inside_and_a_linked_one_follows_but_for_its_place(acts: Acts) -> None:
    with one_step(acts):
        acts.duplicate(SHAPE, linked=False)
        whole = (list(acts.items("/obj/shape1")), acts.placement("/obj/shape1").at)
    linked = acts.duplicate(CAMERA, linked=True)
    acts.set_value(CAMERA, "focal", 20.0)
    acts.place(linked, at=(1.0, 2.0, 3.0))

    assert whole == ([f"/obj/shape1/{it}" for it in ("box1", "box2", "merge1")], near((10, 0, 0)))
    assert acts.value(linked, "focal").value == 20.0
    assert "driven by the expression" in acts.value(linked, "focal").held
    assert acts.placement(linked).at == near((1, 2, 3))


def test_an_object_is_put_somewhere_in_the_world_and_in_its_parent(acts: Acts) -> None:
    acts.set_parent(CAMERA, SHAPE, keep_place=False)

    with one_step(acts):
        acts.place(CAMERA, (1.0, 2.0, 3.0), (10.0, 20.0, 30.0), (1.0, 2.0, 3.0))
        world = acts.placement(CAMERA)
    with one_step(acts):
        acts.place(CAMERA, (1.0, 0.0, 0.0), space="local")
        assert acts.placement(CAMERA, "local").at == near((1, 0, 0))
        assert acts.placement(CAMERA).at == near((10, 0, -1))

    assert (world.at, world.rotation, world.scale) == (
        *(near((1, 2, 3)), near((10, 20, 30)), near((1, 2, 3))),
    )
    acts.set_keys(CAMERA, "rx", [(1, 5.0)], "linear", clear=False)
    with pytest.raises(ValueError, match="rx is keyed"):
        acts.place(CAMERA, at=(0.0, 0.0, 0.0))


def test_an_object_follows_another_one_from_where_it_is(acts: Acts) -> None:
    acts.place(CAMERA, at=(1.0, 2.0, 3.0))

    with one_step(acts):
        acts.set_parent(CAMERA, SHAPE, keep_place=True)
        seen = (acts.parent(CAMERA), acts.placement(CAMERA).at, list(acts.items(SHAPE))[-1])
    with one_step(acts):
        assert acts.set_parent(BOX, "/obj/shape", keep_place=True).startswith("/obj/shape/box")

    assert seen == (SHAPE, near((1, 2, 3)), CAMERA)
    acts.set_parent(CAMERA, SHAPE, keep_place=True)
    assert (acts.orphans([SHAPE]), acts.below([SHAPE])) == (1, 3)
    with pytest.raises(ValueError, match="Infinite recursion"):
        acts.set_parent(SHAPE, CAMERA, keep_place=True)
    assert acts.parent(acts.set_parent(CAMERA, None, keep_place=True)) == "/obj"
    assert acts.placement(CAMERA).at == near((1, 2, 3))


def test_a_wire_is_made_by_the_names_of_its_ends_and_cut(acts: Acts) -> None:
    link = SocketLink(f"{SHAPE}/box2", "output1", MERGE, "input2")

    with one_step(acts):
        acts.connect(link)
        now = acts.look_into(MERGE, "inputs")
    with one_step(acts):
        acts.cut(SocketLink("", "", MERGE, "input1"))
        assert acts.look_into(MERGE, "inputs") == []

    assert acts.sockets(MERGE) == ([f"input{it}" for it in range(1, 5)], ["output1"])
    assert now[-1] == link


def test_a_node_is_renamed_to_a_name_that_is_free(acts: Acts) -> None:
    with one_step(acts):
        assert acts.rename(CAMERA, "main") == "/obj/main"


def test_nodes_are_deleted_with_what_is_inside_and_junk_is_found(acts: Acts) -> None:
    acts.create("subnet", "empty", None)

    with one_step(acts):
        acts.delete([SHAPE, BOX])
        assert not {SHAPE, BOX} & set(acts.items())

    assert acts.junk("empty_groups") == ["/obj/empty"]
    with one_step(acts):
        acts.clean("empty_groups", ["/obj/empty"])


def test_the_scene_is_saved_with_the_suffix_of_the_licence(acts: Acts, tmp_path: Path) -> None:
    assert acts.save_files(None) == [tmp_path / "shot.hip"]
    assert acts.save_files(tmp_path / "other.hipnc") == [tmp_path / "other.hip"]
    assert acts.save(tmp_path / "other.hip") == tmp_path / "other.hip"
    assert (tmp_path / "other.hip").is_file()


@pytest.mark.parametrize("how", ["copy", "reference"])
def test_a_shape_is_exported_where_it_is_and_comes_in_again(
    acts: Acts, tmp_path: Path, how: str
) -> None:
    acts.set_value(BOX, "size", [4.0, 1.0, 1.0])
    file = tmp_path / "plank.obj"

    left_out = acts.export_file(file, [SHAPE, CAMERA], (1.0, 2.0))
    with one_step(acts):
        (made,) = acts.import_file(file, how, "/obj/rig", 2.0, "Z").items
        assert acts.bounds(made) == (near((19, -4, -1)), near((21, 4, 1)))
        assert acts.parent(made) == "/obj/rig"
    kept = acts.import_file(file, how, None, 1.0, None).items[0]
    file.unlink()
    assert (acts.bounds(kept) is None) == (how == "reference")
    assert left_out[:2] == ["It holds one frame, the present one.", f"{CAMERA} displays no shape."]


def test_a_file_without_a_shape_is_refused(acts: Acts, tmp_path: Path) -> None:
    for text, why in (("hello", "Unable to read file"), ("[]", "cannot be read")):
        (tmp_path / "bad.obj").write_text(text)
        with pytest.raises(ValueError, match=why):
            acts.import_file(tmp_path / "bad.obj", "copy", None, 1.0, None)


def test_the_api_has_types_and_their_parameters(acts: Acts) -> None:
    cards = {card.name: card for card in acts.api()}

    assert cards["create type cam"].signature == "Object"
    assert cards["cam.t"].signature == "Float[3]"
    assert {"cam", "box"} <= set(acts.types())
    assert [rule.name for rule in acts.rules()] == ["cooks"]
    assert list(acts.failures("cooks", [BOX])) == [(BOX, "")]


# ---- look


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Houdini:
    houdini = Houdini(monkeypatch)
    houdini.scene.path, houdini.scene.is_new = (tmp_path / "shot.hip").as_posix(), False
    return houdini


def looking(houdini: Houdini) -> tuple[Acts, SceneViewer]:
    """Give the acts of a Houdini with a window, a crate and a camera, and its scene view."""
    loaded = load(SKILLS, import_module("dcc_bridge.hosts.houdini").HoudiniHost())
    assert loaded is not None
    loaded.create("box", "crate", None)
    loaded.create("cam", "cam1", None)
    (viewer,) = (tab for tab in houdini.tabs if isinstance(tab, SceneViewer))
    return loaded, viewer


def test_the_views_are_those_of_the_person_and_of_cameras(window: Houdini) -> None:
    """A Houdini inside an object shows what is in it, so its view is where that object is."""
    acts, viewer = looking(window)
    acts.place(CAMERA, at=(1.0, 2.0, 9.0))

    person, camera = acts.viewpoint("person"), acts.viewpoint(CAMERA)
    acts.place("/obj/crate", at=(5.0, 0.0, 0.0))
    viewer.network = "/obj/crate"
    inside = acts.viewpoint("person")
    acts.set_value(CAMERA, "projection", "ortho")
    flat = acts.viewpoint(CAMERA)

    assert (person.eye, person.target) == (near((0, 0, 10)), near((0, 0, 0)))
    assert person.angle == near(2 * math.degrees(math.atan(41.4214 / 100 * 400 / 600)))
    assert (camera.eye, camera.target, camera.camera) == (near((1, 2, 9)), near((1, 2, 4)), CAMERA)
    assert camera.angle == near(2 * math.degrees(math.atan(41.4214 / 100 * 720 / 1280)))
    assert inside.eye == near((5, 0, 10))
    assert (flat.angle, flat.height) == (0.0, near(2.0 * 720 / 1280))
    with pytest.raises(LookupError, match="is a geo and no camera"):
        acts.viewpoint("/obj/crate")


@pytest.mark.parametrize("is_locked", [False, True])
@pytest.mark.parametrize("through", [None, CAMERA])
@pytest.mark.parametrize("kind", ["Perspective", "Top"])
def test_a_picture_is_drawn_and_the_view_is_as_it_was(
    window: Houdini, tmp_path: Path, is_locked: bool, through: str | None, kind: str
) -> None:
    """Nor does a camera move that the view is locked to; frame, selection and undo stay too."""
    acts, viewer = looking(window)
    viewport = viewer.viewport
    viewport.changeType(kind)
    if through:
        viewport.look_through(through)
    viewport.lockCameraToView(is_locked)
    acts.host.select([CAMERA])
    undo, before, view = list(window.undos.done), scene_digest(acts.host), viewport.state()
    (side,) = seeing.shots(acts, ["/obj/crate"], "right", 4 / 3)
    (corner,) = seeing.shots(acts, ["/obj/crate"], "three_quarter", 4 / 3)

    one_picture = acts.draw([side], 64, 48, "wire")
    sheet = acts.draw([replace(corner, frame=it) for it in (1.0, 5.0, 9.0)], 64, 48, "solid")

    for data, size in ((one_picture, (64, 48)), (sheet, (128, 96))):
        (tmp_path / "seen.jpg").write_bytes(data)
        with Image.open(tmp_path / "seen.jpg") as picture:
            assert (picture.format, picture.size) == ("JPEG", size)
            seen = [picture.getpixel(at) for at in ((32, 24), (2, 2))]
    assert seen[0] != seen[1]
    assert [(frame, shade) for frame, shade, _ in viewer.drawn] == [
        (24.0, "Wire"), (1.0, "Smooth"), (5.0, "Smooth"), (9.0, "Smooth")
    ]  # fmt: skip
    assert viewer.drawn[0][2][3][:3] == near(side.eye)
    assert viewer.drawn[1][2][2][:3] == near(
        [
            (a - b) / math.dist(corner.eye, corner.target)
            for a, b in zip(corner.eye, corner.target, strict=True)
        ]
    )
    assert viewport.state() == view
    assert (scene_digest(acts.host), window.undos.done) == (before, undo)
    assert acts.host.selection == [CAMERA]


def test_at_a_frame_all_is_read_there_and_the_person_s_own_comes_back(window: Houdini) -> None:
    acts, _ = looking(window)
    undo, before = list(window.undos.done), scene_digest(acts.host)

    with acts.at_frame(7):
        there = acts.value(SCENE, "frame").value

    assert there == 7
    assert (scene_digest(acts.host), window.undos.done) == (before, undo)


def test_a_box_is_in_the_picture_where_the_legend_says(window: Houdini, tmp_path: Path) -> None:
    acts, _ = looking(window)
    acts.place("/obj/crate", at=(1.0, 0.5, 0.0))

    for view in ("front", "three_quarter"):
        (shot,) = seeing.shots(acts, ["/obj/crate", CAMERA], view, 4 / 3)
        (tmp_path / "seen.jpg").write_bytes(acts.draw([shot], 400, 300, "solid"))
        box = acts.bounds("/obj/crate")
        assert box is not None
        told = seeing.spot(shot, box, 4 / 3)

        with Image.open(tmp_path / "seen.jpg") as picture:
            left, top, right, bottom = (
                picture.convert("L").point(lambda it: 255 * (it > 80)).getbbox() or (0,) * 4
            )
        assert told is not None
        drawn = (left / 400, top / 300, right / 400, bottom / 300)
        assert drawn == pytest.approx(told[:4], abs=0.01)


def test_only_a_scene_view_of_objects_is_looked_through(window: Houdini) -> None:
    acts, viewer = looking(window)
    viewer.network = "/stage"

    with pytest.raises(ValueError, match="No scene view of this Houdini shows objects"):
        acts.viewpoint("person")


def test_what_is_not_built_is_not_offered(acts: Acts) -> None:
    assert not any(map(acts.has, ("draw", "viewpoint")))  # there is no window
    assert acts.has("create", "duplicate", "place", "set_parent", "connect", "set_keys", "junk")
    assert len(acts.instructions) <= 600
