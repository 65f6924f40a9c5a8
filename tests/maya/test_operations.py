"""What Maya does for the verbs, by its stand-in: each act's promise, and each documented trap."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.verbs import tools
from dcc_bridge.verbs.operations import SCENE, Shot, SocketLink
from tests.hosts import digests
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.scene import Node
from tests.hosts.fakes.maya.shots import furnish
from tests.verbs.every_port import EveryPort
from tests.verbs.operations_contract import (
    FilesContract,
    MaterialsContract,
    OperationsContract,
    PlacingContract,
    SeeingContract,
)
from tests.verbs.promises import Edit, call
from tests.verbs.stand import Stand, Words, near


def connected() -> EveryPort:
    """Return the operations of the Maya that there is."""
    host = import_module("dcc_bridge_maya.host").MayaHost()
    made: EveryPort = import_module("dcc_bridge_maya.operations").operations(host)
    return made


@pytest.fixture
def maya(monkeypatch: pytest.MonkeyPatch) -> Maya:
    maya = Maya(monkeypatch)
    furnish(maya)
    return maya


@pytest.fixture
def operations(maya: Maya, monkeypatch: pytest.MonkeyPatch) -> EveryPort:
    operations = connected()
    monkeypatch.setitem(digests._FACTS, "Maya", lambda: [state(maya)])  # of the stand-in itself
    return operations


def one(maya: Maya, name: str) -> Node:
    (node,) = maya.scene.find(name)
    return node


def state(maya: Maya) -> str:
    nodes = {uuid: asdict(node) for uuid, node in maya.scene.nodes.items()}
    return json.dumps([nodes, maya.scene.settings], default=str, sort_keys=True)


def cube(operations: EveryPort, name: str = "box", under: str | None = None) -> str:
    return operations.create("polyCube", name, under)


def connections(stand: Stand) -> tuple[SocketLink, SocketLink]:
    """Between units, where Maya puts a node of its own, and without."""
    first, second = (
        SocketLink(stand.ball, out, stand.crate, "translateX") for out in ("rotateX", "scaleX")
    )
    return first, second


def locked(stand: Stand) -> tuple[str, str]:
    ask().setAttr(f"{stand.crate}.translate", lock=True)
    return stand.crate, "translateY"


def driven(stand: Stand) -> tuple[str, str]:
    ask().connectAttr("persp.scaleX", f"{stand.crate}.scaleX")
    return stand.crate, "scaleX"


def ask() -> Any:
    return sys.modules["maya.cmds"]


OWN_EDITS: dict[str, Edit] = {
    "a layer": lambda operations: operations.collect([cube(operations)], "props", "layer"),
    "a texture": call("material", "red", {"texture": "a.png"}),
    "no history": lambda operations: operations.clean("history", [cube(operations)]),
}


REFUSED: list[tuple[str, Edit]] = [
    (
        r"float 0\.\.1, not 2\.0.*maximum",
        call("set_value", "red", "metalness", 2.0),
    ),
    (
        "enum: xyz.*Names like it: .*xzy",
        call("set_value", "|box", "rotateOrder", "xzz"),
    ),
    # `getAttr` raises for what is neither a number nor a text
    (
        "message has no value.*cannot be displayed",
        call("value", "|box", "message"),
    ),
    ("no camera", call("set_value", SCENE, "camera", "|box")),
    ("is not a name", call("create", "transform", "my box", None)),
    ("no instances", call("duplicate", "lambert1", linked=True)),
    ("has no place", call("placement", "lambert1")),
    ("is a camera, which has no points", call("apply", "|persp", ["scale"])),
    ("lambert1 is a lambert", call("material", "lambert1", {"metallic": 1})),
    ("no geometry", call("assign", "|persp", "lambert1")),
    ("is Maya's own", call("rename", "|persp", "x")),
    ("is Maya's own", call("rename", "lambert1", "x")),
]


class TestMayaOperations(
    OperationsContract, MaterialsContract, PlacingContract, FilesContract, SeeingContract
):
    words = Words(
        solid="polyCube",
        kind="mesh",
        group="transform",
        hollow="transform",
        number=("translateY", 3.5),
        links=connections,
        scene={
            "start": 200,
            "end": 300,
            "frame": 210,
            "fps": 60,
            "size": [1920, 1080],
            "units": "m",
            "camera": "",
        },
        collection="set",
        members=lambda operations, into: operations.users(into),
        no_name="a b",
        file=".ma",
        exchange=".ma",
        has_shapes=False,
        holds={"locked": locked, "driven by persp.scaleX": driven},
        keyed="rotate",
        camera=("camera", 37.8),
        shader=("", "baseColor", "specularRoughness"),
    )

    own_edits = OWN_EDITS
    own_refusals = REFUSED
    own_unknown = (("no type 'areaLite'.*areaLight", call("create", "areaLite", None, None)),)

    @pytest.fixture
    def own(self, operations: EveryPort) -> EveryPort:
        cube(operations)
        operations.material("red", {})
        return operations

    @pytest.fixture
    def view(self, maya: Maya) -> Any:
        return lambda: [str(it) for it in (maya.panels, maya.focus, maya.undo.on, maya.scene)]


# ---- edits and refusals that only Maya has


# ---- what there is


def test_items_are_transforms_by_long_paths_in_the_order_of_the_outliner(
    operations: EveryPort,
) -> None:
    group = operations.create("transform", "props", None)
    cube(operations, "box", group)
    operations.create("areaLight", "lamp", group)

    assert list(operations.items()) == ["|persp", "|top", "|props", "|props|box", "|props|lamp"]


def test_a_material_a_set_a_layer_and_a_file_name_their_users(
    operations: EveryPort, cmds: Any
) -> None:
    """`sets`: members are components too, and short names; None where there are none."""
    box = cube(operations)
    operations.material("red", {"texture": "/tex/wood.png"})
    empty = list(operations.users("red"))
    operations.assign(box, "red")
    operations.collect([box], "props", "set")
    operations.collect([box], "back", "layer")
    cmds.sets("boxShape.f[0]", edit=True, addElement="initialShadingGroup")

    assert empty == []
    assert [list(operations.users(it)) for it in ("red", "props", "back", "lambert1")] == [
        [box]
    ] * 4
    assert list(operations.users("/tex/wood.png")) == ["file1"]
    assert list(operations.files()) == [("file1", "fileTextureName", "/tex/wood.png")]


def test_an_item_has_its_shapes_attributes_too(operations: EveryPort) -> None:
    operations.create("camera", "shot", None)

    values = operations.look_into("|shot", "values")

    assert values["focalLength"].value == 35.0
    assert values["translateX"].value == 0.0
    assert operations.look_into("|shot", "text") is None
    assert operations.look_into("|shot", "counts") is None


def test_parts_of_an_item_tell_counts_uses_and_text(operations: EveryPort, cmds: Any) -> None:
    box = cube(operations)
    operations.create("expression", "wave", None)
    cmds.setAttr("wave.expression", "box.ty = time", type="string")

    counts = {"vertices": 8, "edges": 12, "faces": 6, "triangles": 12}
    assert operations.look_into(box, "counts") == counts
    assert operations.look_into(box, "uses") == ["lambert1", "polyCube1"]
    assert operations.look_into("wave", "text") == "box.ty = time"


def test_a_light_has_no_size(operations: EveryPort) -> None:
    """`exactWorldBoundingBox`: without an object it is that of the selection."""
    operations.host.select([cube(operations)])

    assert operations.bounds(operations.create("areaLight", "lamp", None)) is None


def test_lengths_are_in_the_scenes_units_and_angles_in_degrees(
    operations: EveryPort, cmds: Any
) -> None:
    """`currentUnit`: every command takes and gives numbers in the units of the interface."""
    box = cube(operations)
    operations.set_value(SCENE, "units", "m")
    cmds.currentUnit(angle="rad")
    operations.place(box, (1, 0, 0), (0, 90, 0))
    operations.set_keys(box, "rotateX", [(1, 45.0)], "smooth", clear=False)

    assert cmds.getAttr("box.rotateY") == near(math.pi / 2)
    assert operations.placement(box).at == near((1, 0, 0))
    assert operations.placement(box).rotation[1] == near(90)
    assert operations.placement(box, "local").rotation[1] == near(90)
    assert (
        operations.value(box, "rotateY").value,
        operations.value(box, "translateX").value,
    ) == near((90, 1))
    assert operations.keys(box, "rotateX") == [(1.0, near(45.0))]
    assert operations.value(box, "rotate").value == near([45.0, 90.0, 0.0])


def test_rules_find_ngons_history_and_edges_of_three_faces(
    maya: Maya, operations: EveryPort
) -> None:
    """`polyInfo`: faces have to be named for their corners."""
    boxes = [cube(operations, name) for name in ("fine", "ngon", "fan", "twice")]
    faces = one(maya, "fineShape").values["faces"]
    operations.clean("history", boxes[1:])
    one(maya, "ngonShape").values["faces"] = [[0, 1, 2, 3, 4]]
    one(maya, "fanShape").values["faces"] = [*faces, [0, 1, 6]]
    one(maya, "twiceShape").values["faces"] = [[0, 1, 3], [3, 1, 0]]

    failed = {it.name: dict(operations.failures(it.name, boxes)) for it in operations.rules()}

    assert failed["ngons"] == {"|ngon": "1 faces"}
    assert failed["non_manifold"] == {
        "|fan": "1 edges, 0 lamina faces",
        "|twice": "0 edges, 1 lamina faces",
    }
    assert failed["history"] == {"|fine": "polyCube1"}
    assert all(rule.mend for rule in operations.rules())


def test_the_api_is_told_lazily_with_types_attributes_and_flags(operations: EveryPort) -> None:
    entries = {entry.name: entry for entry in operations.api()}

    assert entries["create type areaLight"].text.startswith("areaLight < nonAmbientLight")
    assert "xyz:yzx" in entries["transform.rotateOrder"].signature
    assert "-height" in entries["cmds.polyCube"].signature
    assert entries["cmds.aScriptsProcedure"].signature == ""
    assert next(operations.api()).kind == "type"


# ---- values


def test_a_lock_of_the_node_itself_is_never_taken_away(operations: EveryPort, cmds: Any) -> None:
    box = cube(operations)
    cmds.setAttr("box.scaleZ", lock=True)
    cmds.lockNode("box", lock=True)

    with pytest.raises(ValueError, match="locked node"):
        operations.set_value(box, "scaleZ", 2.0, replace=True)


def test_values_are_of_the_attributes_own_type_and_range(operations: EveryPort) -> None:
    """`getAttr`: a compound is a list of one tuple; setAttr: out of range raises."""
    box = cube(operations)
    red = operations.material("red", {})
    operations.set_value(box, "rotateOrder", "zxy")
    operations.set_value(box, "translate", [1.0, 2.0, 3.0])
    operations.set_value(red, "metalness", 1)

    assert operations.value(box, "rotateOrder").value == "zxy"
    assert operations.value(box, "rotateOrder").type == "enum: xyz, yzx, zxy, xzy, yxz, zyx"
    assert operations.value(box, "translate").value == near([1.0, 2.0, 3.0])
    assert operations.value(red, "metalness").type == "float 0..1"


def test_another_rate_moves_no_key_and_another_size_changes_the_ratio(
    operations: EveryPort, cmds: Any
) -> None:
    """`currentUnit` moves all keys unless told not to; a size needs its ratio."""
    box = cube(operations)
    operations.set_keys(box, "rotateX", [(24, 1.0)], "linear", clear=False)
    for prop, value in {"end": 300, "fps": 23.976, "size": [1920, 1080]}.items():
        operations.set_value(SCENE, prop, value)

    assert operations.value(SCENE, "fps").value == 23.976
    assert operations.keys(box, "rotateX") == [(24.0, near(1.0))]
    assert cmds.getAttr("defaultResolution.deviceAspectRatio") == near(16 / 9)
    assert cmds.playbackOptions(query=True, animationEndTime=True) == 300


# ---- connections and keys


def test_what_is_connected_is_of_a_type_that_fits_and_not_locked(
    operations: EveryPort, cmds: Any
) -> None:
    """What a type adds to what it derives from comes first."""
    far = cube(operations, "far")
    box = cube(operations)
    turn = SocketLink(far, "rotateX", box, "translateX")
    operations.connect(turn)
    operations.connect(turn)

    inputs, outputs = operations.sockets(far)
    assert operations.value(box, "translateX").held == "driven by far.rotateX"
    assert inputs[0] == "rotateOrder"
    assert "worldMatrix[0]" in outputs
    assert "worldMatrix[0]" not in inputs
    operations.cut(turn)
    with pytest.raises(ValueError, match="Nothing from"):
        operations.cut(turn)
    with pytest.raises(ValueError, match="cannot be connected"):
        operations.connect(SocketLink(far, "worldMatrix[0]", box, "translateX"))
    cmds.setAttr("box.scale", lock=True)
    with pytest.raises(ValueError, match=r"box\.scale is locked"):
        operations.connect(SocketLink(far, "scaleX", box, "scaleX"))


def test_an_array_gets_its_next_element_and_is_cut_without_a_source(
    operations: EveryPort,
) -> None:
    total = operations.create("plusMinusAverage", "total", None)
    for number, name in enumerate(("a", "b")):
        assert f"input1D[{number}]" in operations.sockets(total)[0]
        operations.connect(
            SocketLink(cube(operations, name), "translateX", total, f"input1D[{number}]")
        )

    inputs = [link.into for link in operations.look_into(total, "inputs")]
    operations.cut(SocketLink("", "", total, "input1D[0]"))

    assert inputs == ["input1D[0]", "input1D[1]"]
    assert [link.into for link in operations.look_into(total, "inputs")] == ["input1D[1]"]


@pytest.mark.parametrize(
    ("shape", "tangents"),
    [
        ("linear", ("linear", "linear")),
        ("smooth", ("auto", "auto")),
        ("step", ("clamped", "step")),
    ],
)
def test_keys_have_the_shape_that_was_asked_for(
    maya: Maya, operations: EveryPort, shape: Any, tangents: tuple[str, str]
) -> None:
    box = cube(operations)

    operations.set_keys(box, "translateX", [(1, 0.0), (10, 9.0)], shape, clear=False)

    curve = one(maya, "box_translateX")
    assert [key[2:] for key in curve.keys] == [tangents] * 2
    assert curve.type == "animCurveTL"


def test_a_compound_is_keyed_in_each_part_and_its_curves_go_with_their_keys(
    operations: EveryPort, cmds: Any
) -> None:
    """`cutKey`: the curve goes with its last key."""
    box = cube(operations)
    operations.set_keys(box, "translate", [(5, [1.0, 2, 3])], "linear", clear=False)
    operations.set_keys(box, "translateX", [(5, 8.0)], "linear", clear=False)
    keyed = operations.keys(box, "translate")
    operations.set_keys(box, "translate", [], "linear", clear=True)

    assert keyed == [(5.0, [8.0, 2.0, 3.0])]
    assert cmds.ls(type="animCurve") == []


def test_what_is_locked_or_driven_is_not_keyed(operations: EveryPort, cmds: Any) -> None:
    """`setKeyframe`: on what is driven it inserts a node that blends; on what is locked nothing."""
    box = cube(operations)
    cmds.setAttr("box.translateX", lock=True)
    cmds.connectAttr("persp.scaleX", "box.scaleX")

    for prop, why in (("translateX", "locked"), ("scale", "driven by persp")):
        with pytest.raises(ValueError, match=f"{why}.*cannot be keyed"):
            operations.set_keys(box, prop, [(1, 1.0)], "linear", clear=False)


# ---- building


def test_nodes_are_made_as_mayas_own_menus_do(operations: EveryPort, cmds: Any) -> None:
    """`createNode` gives the shape the name; only shadingNode has a light light something."""
    group = operations.create("transform", "props", None)
    made = [
        operations.create(kind, "thing", group)
        for kind in ("polyCube", "areaLight", "camera", "transform")
    ]

    assert made == [f"{group}|thing{end}" for end in ("", "1", "2", "3")]
    assert [operations.kind(path) for path in made] == ["mesh", "areaLight", "camera", "transform"]
    assert cmds.sets("defaultLightSet", query=True) == ["thing1"]
    assert [
        operations.kind(operations.create(it, None, None)) for it in ("file", "objectSet", "joint")
    ] == [
        "file",
        "objectSet",
        "joint",
    ]
    paint = operations.create("standardSurface", "paint", None)
    assert cmds.listConnections(paint, type="shadingEngine") == ["paintSG"]


@pytest.mark.parametrize("order", ["zxy", "yxz"])
def test_angles_are_about_x_then_y_then_z_whatever_the_nodes_own_order(
    operations: EveryPort, order: str
) -> None:
    """`xform` takes angles in the node's own order, and knows no scale of the world."""
    group = operations.create("transform", "group", None)
    operations.place(group, (5, 6, 7), (10, 20, 30), (2, 2, 2))
    box = cube(operations, "box", group)
    operations.set_value(box, "rotateOrder", order)

    operations.place(box, None, (40, -50, 60), (3, 4, 5))
    world = operations.placement(box)
    operations.place(box, rotation=(10, 20, 30), space="local")

    assert world.rotation == near((40, -50, 60))
    assert world.scale == near((3, 4, 5))
    assert operations.placement(box, "local").rotation == near((10, 20, 30))


def test_what_is_locked_or_driven_is_not_placed(operations: EveryPort, cmds: Any) -> None:
    box = cube(operations)
    cmds.setAttr("box.translateY", lock=True)
    cmds.connectAttr("persp.rotateX", "box.rotateX")

    with pytest.raises(ValueError, match="translate is locked"):
        operations.place(box, at=(1, 2, 3))
    with pytest.raises(ValueError, match="rotate is driven by persp"):
        operations.place(box, rotation=(1, 2, 3))


def test_what_is_shared_or_locked_below_is_not_applied(operations: EveryPort, cmds: Any) -> None:
    """`makeIdentity` resets all that is below too, and would move what instances share."""
    group = operations.create("transform", "group", None)
    box = cube(operations, "box", group)
    operations.duplicate(box, linked=True)

    with pytest.raises(ValueError, match="shared by instances"):
        operations.apply(group, ["at"])
    cmds.setAttr("group.scaleX", lock=True)
    with pytest.raises(ValueError, match="is locked"):
        operations.apply(group, ["scale"])


def test_a_parent_that_has_such_a_child_gives_it_another_name(
    operations: EveryPort, cmds: Any
) -> None:
    """`parent` renames where a name is taken; what is locked it would put below another node."""
    group = operations.create("transform", "group", None)
    cube(operations, "box", group)
    now = operations.set_parent(cube(operations), group, keep_place=True)

    assert now == "|group|box1"
    assert operations.set_parent(now, group, keep_place=True) == now
    cmds.setAttr("group|box1.translateX", lock=True)
    with pytest.raises(ValueError, match="cannot be kept in its place"):
        operations.set_parent(now, None, keep_place=True)


def test_items_go_into_layers_which_are_no_sets(operations: EveryPort) -> None:
    boxes = [cube(operations, name) for name in ("a", "b")]
    for box in boxes:
        assert operations.collect([box], "back", "layer") == "back"

    assert list(operations.users("back")) == boxes
    with pytest.raises(ValueError, match="back is a displayLayer and no set"):
        operations.collect(boxes, "back", "set")


def test_a_material_has_its_group_its_weights_and_its_files(
    operations: EveryPort, cmds: Any
) -> None:
    """`shadingNode` makes no shading group, without which nothing can have a material."""
    box = cube(operations)
    values = {"base_color": [1.0, 0.0, 0.0], "metallic": 0.5, "opacity": 0.5}
    operations.assign(
        box, operations.material("red", values | {"emission": [0, 1, 0], "normal": "/tex/n.png"})
    )
    for file in ("/tex/c.png", "/tex/d.png"):
        operations.material("red", {"texture": file})

    assert cmds.sets("initialShadingGroup", query=True) is None
    assert cmds.getAttr("red.opacity") == [(0.5, 0.5, 0.5)]
    assert cmds.getAttr("red.metalness") == 0.5
    assert cmds.getAttr("red.emission") == 1.0
    assert cmds.getAttr("red.base") == 1.0
    assert {file for _, _, file in operations.files()} == {"/tex/n.png", "/tex/d.png"}
    assert cmds.getAttr("file1.colorSpace") == "Raw"
    with pytest.raises(ValueError, match="driven"):
        operations.material("red", {"base_color": [1, 0, 0]})


def test_a_new_name_stays_in_its_namespace_and_is_nobodys(
    maya: Maya, operations: EveryPort
) -> None:
    """`rename`: what is referenced, locked or Maya's own keeps its name."""
    box = cube(operations)
    crate = cube(operations, "crate")
    one(maya, "box").name = "set:box"
    maya.scene.find("crate")[0].locked = True

    assert operations.rename("|set:box", "chest") == "|set:chest"
    assert operations.rename("|set:chest", "set:box") == "|set:box"
    with pytest.raises(ValueError, match="is locked"):
        operations.rename(crate, "x")
    one(maya, "set:box").referenced = True
    with pytest.raises(ValueError, match="referenced file"):
        operations.rename("|set:box", "x")
    one(maya, "set:box").referenced = False
    one(maya, "crate").name = "set:crate"
    with pytest.raises(ValueError, match=r"There is \|set:crate already"):
        operations.rename("|set:box", "crate")
    assert box == "|box"


def test_cameras_and_lights_look_along_minus_z(operations: EveryPort) -> None:
    lamp = operations.create("areaLight", "lamp", None)

    assert operations.aim(lamp)[0] == operations.aim("|persp")[0] == (0.0, 0.0, -1.0)
    assert operations.aim(cube(operations))[0] == (0.0, 0.0, 1.0)


# ---- files and losses


def test_formats_are_those_of_the_plug_ins_that_are_loaded(operations: EveryPort) -> None:
    """A plug-in that is loaded stays so: that is not undoable."""
    assert operations.import_formats() == {
        ".ma": ("copy", "reference"),
        ".mb": ("copy", "reference"),
        ".obj": ("copy",),
    }
    assert list(operations.export_formats()) == [".ma", ".mb", ".obj", ".fbx"]


def test_a_file_comes_in_sized_and_turned_below_a_group(
    operations: EveryPort, tmp_path: Path
) -> None:
    """Names that are taken get a number."""
    file = tmp_path / "9 chairs.obj"
    file.write_text('["chair", "box"]')
    cube(operations)
    group = operations.create("transform", "props", None)

    plain = operations.import_file(file, "copy", group, 1.0, None).items
    sized = operations.import_file(file, "copy", group, 100.0, "Z").items

    assert plain == ["|props|chair", "|props|box1"]
    assert sized == ["|props|imported_9_chairs"]
    assert operations.placement(sized[0], "local").rotation == near((-90, 0, 0))
    assert operations.placement(sized[0], "local").scale == (100.0, 100.0, 100.0)


def test_a_reference_is_told_and_cannot_be_renamed_or_deleted(
    operations: EveryPort, tmp_path: Path
) -> None:
    file = tmp_path / "rig.ma"
    file.write_text('["hip"]')

    (hip,) = operations.import_file(file, "reference", None, 1.0, None).items

    assert hip == "|rig:hip"
    assert operations.name(hip) == "hip"
    assert list(operations.files()) == [("rigRN", "file", file.as_posix())]
    with pytest.raises(ValueError, match="comes from a referenced file"):
        operations.rename(hip, "x")
    with pytest.raises(ValueError, match="comes from a referenced file"):
        operations.delete([hip])
    with pytest.raises(ValueError, match="stays where it is"):
        operations.import_file(file, "reference", None, 2.0, None)


def test_the_items_are_exported_or_all_and_frames_not(
    operations: EveryPort, tmp_path: Path
) -> None:
    """`file -exportSelected`: it takes what is selected."""
    box = cube(operations)
    cube(operations, "far")

    exported = operations.export_file(tmp_path / "box.ma", [box], (1, 10))
    everything = operations.export_file(tmp_path / "all.ma", [], None)

    assert json.loads((tmp_path / "box.ma").read_text())[0]["name"] == "box"
    assert exported.items == [box]
    assert exported.left_out == ["The frames: Maya writes the one that it is at."]
    assert everything.items == list(operations.items())
    assert "far" in (tmp_path / "all.ma").read_text()


def test_junk_is_what_nobody_misses(maya: Maya, operations: EveryPort, cmds: Any) -> None:
    """Nothing of Maya's own, nothing locked, nothing that leads somewhere."""
    box = cube(operations)
    operations.assign(box, operations.material("used", {"texture": "a.png"}))
    operations.material("unused", {"base_color": [1, 0, 0]})
    operations.material("twin", {"base_color": [1, 0, 0]})
    operations.assign(cube(operations, "other"), "twin")
    operations.create("file", "lonely", None)
    for name in ("empty", "kept"):
        operations.create("transform", name, None)
    one(maya, "kept").locked = True
    operations.create("objectSet", "nothing", None)
    operations.create("unknown", "ghost", None)
    operations.create("reference", "goneRN", None)

    cmds.connectAttr("unused.outColor", "initialShadingGroup.surfaceShader", force=True)
    assert operations.junk("unused") == ["lonely"]
    cmds.connectAttr("lambert1.outColor", "initialShadingGroup.surfaceShader", force=True)
    assert operations.junk("unused") == ["unused", "lonely"]
    assert operations.junk("empty_groups") == ["|empty", "nothing"]
    assert operations.junk("duplicate_materials") == ["twin"]
    assert operations.junk("dead_links") == ["ghost", "goneRN"]
    assert operations.junk("history") == ["|box", "|other"]


def test_a_shading_group_goes_with_its_material_and_history_leaves_the_shape(
    operations: EveryPort, cmds: Any
) -> None:
    box = cube(operations)
    operations.clean("unused", [operations.material("red", {})])
    operations.clean("history", [box])

    assert not cmds.objExists("redSG")
    assert operations.junk("history") == []
    assert operations.look_into(box, "counts")["faces"] == 6


def test_a_shading_group_of_mayas_own_stays_when_its_material_goes(
    operations: EveryPort, cmds: Any
) -> None:
    red = operations.material("red", {})
    cmds.connectAttr("red.outColor", "initialShadingGroup.surfaceShader", force=True)

    operations.clean("unused", [red])

    assert cmds.objExists("initialShadingGroup")
    assert not cmds.objExists("redSG")


def test_history_under_a_deformer_is_no_junk(maya: Maya, operations: EveryPort) -> None:
    """`delete -constructionHistory`: deformers go along, and with them the pose."""
    cube(operations)
    skin = maya.commands.new("skinCluster", "skin")
    skin.inputs["input"] = one(maya, "boxShape").inputs["inMesh"]
    one(maya, "boxShape").inputs["inMesh"] = (skin.uuid, "output")

    assert operations.junk("history") == []


def test_what_breaks_is_what_something_below_feeds_too(operations: EveryPort) -> None:
    """Sets, layers and shading groups of what goes need none of it."""
    cmds: Any = sys.modules["maya.cmds"]
    group = operations.create("transform", "group", None)
    box = cube(operations, "box", group)
    follower = operations.create("transform", "follower", None)
    follow = cmds.createNode("parentConstraint", name="follow", parent=follower)
    cmds.sets(name="props", empty=True)
    cmds.sets(box, edit=True, addElement="props")
    before = dict(operations.failures("broken", [f"{follower}|{follow}", follower, box]))
    cmds.connectAttr(f"{box}.message", f"{follower}|{follow}.target[0]")

    assert list(operations.dependents([group])) == [f"{follower}|{follow}"]
    assert list(operations.dependents([group, follower])) == []
    assert before == {f"{follower}|{follow}": "has no target"}
    assert dict(operations.failures("broken", [f"{follower}|{follow}"])) == {}


def test_what_must_stay_refuses_the_deletion_of_all(maya: Maya, operations: EveryPort) -> None:
    group = operations.create("transform", "group", None)
    cube(operations, "knob", cube(operations, "box", group))
    other = cube(operations, "other")
    one(maya, "knob").locked = True

    assert len(operations.below([group])) == 2
    assert operations.below(["lambert1"]) == []
    for item, why in (
        (group, "knob is locked"),
        ("|persp", "is Maya's own"),
        ("initialShadingGroup", "is Maya's own"),
    ):
        with pytest.raises(ValueError, match=why):
            operations.delete([other, item])
    assert other in set(operations.items())


# ---- look


def test_the_views_are_those_of_the_person_and_of_cameras(operations: EveryPort, cmds: Any) -> None:
    operations.set_value("|top", "orthographic", True)
    person = operations.viewpoint("person")
    top = operations.viewpoint("|top")

    assert person.eye == near((3, 4, 5))
    assert person.target == near((3, 4, 0))
    assert person.angle == near(2 * math.degrees(math.atan(0.945 * 25.4 / 70)))
    assert person.camera == ""
    assert top.camera == "|top"
    assert top.angle == 0.0
    assert top.height == near(10 * 0.945 / 1.417)
    cmds.currentUnit(angle="rad")
    assert operations.viewpoint("person").angle == near(person.angle)


def test_a_picture_is_drawn_through_our_own_camera(maya: Maya, operations: EveryPort) -> None:
    """`playblast`: of the panel that is named."""
    cube(operations)
    shots = [Shot((n, 0.0, 9.0), (n, 0.0, 0.0), (0.0, 1.0, 0.0), 40.0, frame=n) for n in (1, 5)]

    operations.draw(shots[:1], 64, 48, "wire")
    operations.draw([*shots, operations.viewpoint("|persp")], 64, 48, "material")

    assert [shot["at"][0] for shot in maya.drawn] == near([1, 1, 5, 3])
    assert [shot["displayAppearance"] for shot in maya.drawn][:2] == ["wireframe", "smoothShaded"]
    operations.host.undo()  # what came and went unrecorded has damaged nothing


def test_a_maya_in_batch_says_that_it_has_no_viewport(monkeypatch: pytest.MonkeyPatch) -> None:
    maya = Maya(monkeypatch, batch=True)
    furnish(maya)
    operations = connected()

    with pytest.raises(ValueError, match="no viewport"):
        operations.draw([operations.viewpoint("|persp")], 64, 48, "solid")


def test_a_check_that_cannot_be_added_leaves_none_of_those_before(
    maya: Maya, operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = sys.modules["maya.api.OpenMaya"].MSceneMessage
    before = {*maya.heard_by}

    def fails(*_: object) -> int:
        raise RuntimeError("(kFailure): Unexpected Internal Failure")

    monkeypatch.setattr(message, "addCheckFileCallback", staticmethod(fails))

    with pytest.raises(RuntimeError, match="kFailure"), operations.in_context([]):
        pass

    assert {*maya.heard_by} == before


def test_an_attribute_that_maya_cannot_give_spoils_no_other(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect = next(tool.fn for tool in tools(operations) if tool.name == "inspect")
    item = cube(operations)
    before = inspect([item], all=True)["items"][0]["values"]
    odd = "translateX"
    read = operations.value

    def fails_on_one(owner: str, prop: str) -> Any:
        if prop == odd:
            raise RuntimeError("The data is not a numeric or string value.")
        return read(owner, prop)

    monkeypatch.setattr(operations, "value", fails_on_one)
    told = inspect([item], all=True)["items"][0]

    assert odd in before
    assert told["values"] == {name: value for name, value in before.items() if name != odd}
    assert told["unreadable"] == {odd: "The data is not a numeric or string value"}


def test_numbers_at_their_default_are_left_out_of_an_inspection(operations: EveryPort) -> None:
    inspect = next(tool.fn for tool in tools(operations) if tool.name == "inspect")
    camera = operations.create("camera", "shot", None)
    operations.set_value(camera, "focalLength", 50.0)

    (facts,) = inspect([camera])["items"]

    assert facts["values"]["focalLength"] == 50.0
    assert "nearClipPlane" not in facts["values"]
    assert "translateX" not in facts["values"]
    assert facts["left_out"].endswith("values at their default: all=true")


def test_a_driven_value_and_a_text_are_told_though_they_are_as_in_a_new_node(
    operations: EveryPort,
) -> None:
    """Maya tells no default of a text."""
    box = cube(operations)
    ask().connectAttr("persp.scaleX", "box.scaleX")
    operations.create("file", "wood", None)

    assert not operations.value(box, "scaleX").is_default
    assert operations.value(box, "scaleY").is_default
    assert not operations.value("wood", "fileTextureName").is_default


def test_what_maya_tells_no_default_of_is_told(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    dg = import_module("dcc_bridge_maya.operations.dg")
    about = dg.about

    def fails(plug: str, **what: bool) -> Any:
        if what == {"listDefault": True}:
            raise RuntimeError("No default")
        return about(plug, **what)

    monkeypatch.setattr(dg, "about", fails)

    assert not operations.value("|persp", "visibility").is_default
