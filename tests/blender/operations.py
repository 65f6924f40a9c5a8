"""The promises of Blender's operations, to be run where ``bpy`` is.

`tests.blender.test_operations` runs it in an interpreter of its own.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args
from unittest.mock import Mock

import bpy
import numpy as np
import pytest

from dcc_bridge.code.bounded import plain_value
from dcc_bridge.errors import Busy
from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs import operations as port
from dcc_bridge.verbs import seeing, tools
from dcc_bridge.verbs.editing import BuildingVerbs, Thing
from dcc_bridge.verbs.operations import SCENE, Shot, SocketLink
from dcc_bridge_blender import objects, render_process
from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations, making, properties
from dcc_bridge_blender.operations.files import _why
from dcc_bridge_blender.operations.items import require
from dcc_bridge_blender.operations.rendering import _command
from dcc_bridge_blender.operations.slot import OF_NEW, PLAIN_TYPES, default_of, plain
from tests.blender import turntable as blender_turntable
from tests.blender.things import cube, group, scene, thing
from tests.hosts.digests import scene_digest
from tests.verbs import turntable
from tests.verbs.every_port import EveryPort
from tests.verbs.operations_contract import (
    FilesContract,
    MaterialsContract,
    OperationsContract,
    PlacingContract,
    SeeingContract,
)
from tests.verbs.promises import Edit, account_of, account_of_kept, call, one_step
from tests.verbs.stand import Stand, Words, box, near

SURFACE = "material:Material/Principled BSDF"
OUTPUT = "material:Material/Material Output"
SHOT = Shot((6.0, -6.0, 4.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 35.0)


@pytest.fixture
def operations(tmp_path: Path) -> Iterator[EveryPort]:
    bpy.ops.wm.read_factory_settings()
    bpy.data.meshes.new("Unused")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "set.blend"))
    host = BlenderHost()
    yield cast("EveryPort", BlenderOperations(host))
    host.close()


def nodes(stand: Stand) -> tuple[SocketLink, SocketLink]:
    """Two textures lead into one colour."""
    made = (
        stand.operations.create(kind, None, "material:Material")
        for kind in ("ShaderNodeTexNoise", "ShaderNodeTexVoronoi")
    )
    first, second = (SocketLink(item, "Color", SURFACE, "Base Color") for item in made)
    return first, second


def _drive(crate: Any) -> None:
    crate.driver_add("location", 0).driver.expression = "frame"


def _constrain(crate: Any) -> None:
    crate.constraints.new("COPY_LOCATION").target = thing("Light")


def _lock(crate: Any) -> None:
    crate.lock_location = (True, False, False)


def held(hold: Callable[[Any], None]) -> Callable[[Stand], tuple[str, str]]:
    """Return what holds the place of the crate in one of Blender's ways."""

    def hold_crate(stand: Stand) -> tuple[str, str]:
        hold(bpy.data.objects[stand.crate])
        return stand.crate, "location"

    return hold_crate


FORMATS: tuple[str, ...] = (".stl", ".ply", ".fbx", ".usda", ".usdc", ".abc")
if bpy.app.version >= (4, 0):  # its reader of .glb needs an older numpy than Debian has
    FORMATS += (".glb",)
OWN_EDITS: dict[str, Edit] = {
    "a light": call("create", "AREA_LIGHT", None, None),
    "a new material": call("create", "MATERIAL", "Steel", None),
    "a new collection": call("create", "COLLECTION", "Set", None),
    "a node": call("create", "ShaderNodeTexNoise", "N", "material:Material"),
    "data": call("set_value", "Light", "data.energy", 5),
    "an input": call("set_value", SURFACE, "Roughness", 0.1),
    "a custom value": call("set_value", "Cube", '["shot"]', "sh010"),
    "keys of data": call("set_keys", "Light", "data.energy", [(1, 2)], "step", clear=True),
    "keys of an input": call(
        "set_keys", SURFACE, "Roughness", [(1, 0.2), (9, 0.8)], "linear", clear=True
    ),
    "a changed material": call("material", "Material", {"roughness": 0.1}),
    "a cut": call("cut", SocketLink("", "", OUTPUT, "Surface")),
    "another name of a material": call("rename", "material:Material", "Steel"),
    "another name of a node": call("rename", SURFACE, "Skin"),
    "no material": call("delete", ["material:Material"]),
    "no node": call("delete", [SURFACE]),
    "no collection": call("delete", ["collection:Collection"]),
    "nothing unused": lambda operations: operations.clean("unused", operations.junk("unused")),
}


REFUSED: dict[str, Edit] = {
    "a list of 3 numbers": call("set_value", "Cube", "location", [1, 2]),
    "a number, and not inf": call("set_value", "Cube", "location", [1, 2, math.inf]),
    "is one of QUATERNION, XYZ": call("set_value", "Cube", "rotation_mode", "ABC"),
    "takes true or false": call("set_value", "Cube", "hide_render", 1),
    "matrix_world": call("set_value", "Cube", "matrix_world", 1),
    "takes 1 to": call("set_value", "Camera", "data.lens", -5),
    "takes the name of a object": call("set_value", "Cube", "parent", "Nobody"),
    "'Camra' is none; names like it: Camera": call("set_value", "Cube", "parent", "Camra"),
    "takes 1 to 1000": call("set_value", SCENE, "fps", 0),
    "takes no": call("create", "TRIANGULATE_MODIFIER", None, "Light"),
    "is a node": call("create", "ShaderNodeMath", None, None),
    "There is no file": call("material", "Material", {"texture": "/nowhere.png"}),
    "which has no material": call("assign", "Light", "Material"),
    "is a LIGHT": call("apply", "Light", ["scale"]),
    "no history": call("junk", "history"),
    "has 1 to 63": call("rename", "Cube", "x" * 64),
}
UNKNOWN: dict[str, Edit] = {
    "names like it: .*material:Material": call("kind", "material:Materil"),
    f"names like it: .*{SURFACE}": call("kind", "material:Material/Principled"),
    "There is Roughness": call("set_value", SURFACE, "Rougness", 1),
    "names like it: scene:Scene[.]$": call("kind", "Scene"),
    "names like it: material:Material[.]$": call("kind", "shader:Material"),
    "Names like it: render.resolution_percentage": call("value", SCENE, "resolution_percentage"),
    "no window": call("viewpoint", "person"),
}


class TestBlenderOperations(
    OperationsContract, MaterialsContract, PlacingContract, FilesContract, SeeingContract
):
    words = Words(
        solid="CUBE",
        kind="MESH",
        group="EMPTY",
        hollow="COLLECTION",
        number=("pass_index", 3),
        links=nodes,
        scene={
            "frame": 7,
            "start": 2,
            "end": 90,
            "fps": 23.976,
            "size": [640, 360],
            "units": "cm",
            "camera": "",
        },
        collection="collection",
        members=lambda operations, into: operations.items(into),
        no_name="",
        file=".blend",
        exchange=".obj",
        formats=FORMATS,
        holds={
            "driven: frame": held(_drive),
            "locked": held(_lock),
            "held by the constraint": held(_constrain),
        },
        keyed="rotation_euler",
        camera=("CAMERA", 22.9),
        shader=("/Principled BSDF", "Base Color", "Roughness"),
    )
    own_edits = OWN_EDITS
    own_refusals = tuple(REFUSED.items())
    own_unknown = tuple(UNKNOWN.items())


# ---- reading


def test_an_item_is_an_object_other_data_or_a_node(operations: EveryPort) -> None:
    assert list(operations.items()) == ["Camera", "Cube", "Light"]
    assert "material:Material" in operations.items("material:")
    assert SURFACE in operations.items("material:Material")
    assert "Cube" in operations.items("collection:Collection")
    assert operations.kind("Cube") == "MESH"
    assert operations.kind("material:Material") == "MATERIAL"
    assert operations.kind(SURFACE) == "ShaderNodeBsdfPrincipled"
    assert operations.name(SURFACE) == "Principled BSDF"
    assert operations.parent(SURFACE) == "material:Material"


def test_the_users_of_a_material_an_image_and_its_file_are_found(
    operations: EveryPort, tmp_path: Path
) -> None:
    image = bpy.data.images.new("wood", 8, 8)
    image.filepath_raw, image.file_format = str(tmp_path / "wood.png"), "PNG"
    image.save()
    bpy.data.images.remove(image)
    operations.material("Material", {"texture": str(tmp_path / "wood.png")})

    assert list(operations.users("material:Material")) == ["Cube"]
    assert list(operations.users("Material")) == ["Cube"]
    assert list(operations.users("image:wood.png")) == ["material:Material"]
    assert list(operations.users(str(tmp_path / "wood.png"))) == ["material:Material"]
    assert ("image:wood.png", "filepath", str(tmp_path / "wood.png")) in operations.files()
    assert "image:wood.png" in operations.look_into("material:Material", "uses")


def test_values_can_all_be_read_one_by_one_under_their_names(operations: EveryPort) -> None:
    cube().modifiers.new("Bevel", "BEVEL")
    for item in ("Cube", "Light", "Camera", "material:Material", SURFACE, "collection:Collection"):
        values = operations.look_into(item, "values")
        assert 0 < len(values) <= 100
        assert {name: operations.value(item, name) for name in values} == values
    assert 'modifiers["Bevel"].width' in operations.look_into("Cube", "values")


def test_bounds_and_counts_are_of_what_modifiers_make(operations: EveryPort) -> None:
    cube().modifiers.new("Array", "ARRAY").count = 3
    scene().view_layers[0].update()

    assert operations.bounds("Cube") == ((-1, -1, -1), (5, 1, 1))
    assert operations.look_into("Cube", "counts")["faces"] == 18


def test_a_collections_instance_has_the_bounds_of_what_it_shows(operations: EveryPort) -> None:
    empty = operations.create("EMPTY", "Instance", None)
    scene().collection.objects.link(thing(empty))
    group("Collection").objects.unlink(thing(empty))
    thing(empty).instance_type = "COLLECTION"
    thing(empty).instance_collection = group("Collection")
    operations.place(empty, (10, 0, 0))

    low, high = operations.bounds(empty) or pytest.fail("it has no size")
    assert [*low, *high] == pytest.approx([9, -1, -1, 11, 1, 1])


def test_children_made_by_somebody_else_are_seen(operations: EveryPort) -> None:
    """What is remembered of families is forgotten as soon as Blender tells of a change."""
    before = operations.bounds("Cube")
    thing("Light").parent = cube()
    thing("Light").name = "Lamp"
    scene().view_layers[0].update()
    assert list(operations.items("Cube")) == ["Lamp"]
    assert operations.bounds("Cube") == before


def test_rules_find_faces_of_many_corners_and_open_edges(operations: EveryPort) -> None:
    disc = operations.create("CIRCLE", "Disc", None)
    found = {
        rule.name: dict(operations.failures(rule.name, ["Cube", disc]))
        for rule in operations.rules()
    }
    assert found["ngons"] == {"Cube": "", disc: "1 faces"}
    assert found["non_manifold"] == {"Cube": "", disc: "32 edges"}
    assert found["no_material"] == {"Cube": "", disc: "no material"}
    assert found["no_uvs"]["Cube"] == ""
    operations.create("TRIANGULATE_MODIFIER", None, disc)
    assert dict(operations.failures("ngons", [disc])) == {disc: ""}
    operations.create("SOLIDIFY_MODIFIER", None, disc)
    assert dict(operations.failures("non_manifold", [disc])) == {disc: ""}
    assert all(rule.mend for rule in operations.rules())


def test_the_api_tells_of_types_sockets_properties_and_operators(
    operations: EveryPort,
) -> None:
    entries = {entry.name: entry for entry in operations.api()}

    assert "create type AREA_LIGHT" in entries
    assert "Base Color" in entries["create type ShaderNodeBsdfPrincipled"].signature
    assert "0..1" not in entries["Object.location"].signature
    assert "rotation_mode" in str(entries["Object.rotation_mode"])
    assert "bpy.ops.mesh.bevel" in entries


# ---- values


def test_angles_are_degrees_and_elements_have_names(operations: EveryPort) -> None:
    operations.set_value("Cube", "rotation_euler", [0, 90, 0])
    operations.set_value("Cube", "location.z", 4)

    assert cube().rotation_euler.y == pytest.approx(math.pi / 2)
    assert operations.value("Cube", "rotation_euler").value == [0, 90, 0]
    assert operations.value("Cube", "location[2]").value == 4
    assert operations.value("Cube", "rotation_quaternion.w").held == ""  # it has no lock of its own


def test_in_edit_mode_a_write_to_the_mesh_is_refused(operations: EveryPort) -> None:
    """It would be lost in silence."""
    with bpy.context.temp_override(active_object=cube()):
        bpy.ops.object.mode_set(mode="EDIT")

    edits: list[Callable[[], object]] = [
        lambda: operations.apply("Cube", ["scale"]),
        lambda: operations.set_value("Cube", "data.name", "Box"),
        lambda: operations.assign("Cube", "Material"),
    ]
    for edit in edits:
        with pytest.raises(ValueError, match="edit mode"):
            edit()


def test_what_is_linked_from_another_file_is_named_with_it_and_not_changed(
    operations: EveryPort, tmp_path: Path
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "lib.blend"), copy=True)
    came = operations.import_file(tmp_path / "lib.blend", "link", None, 1.0, None)
    linked = next(item for item in came.items if item.startswith("Cube ["))

    assert operations.kind(linked) == "MESH"
    assert "linked from" in operations.value(linked, "location").held
    for edit in (
        lambda: operations.set_value(linked, "location", [1, 2, 3], replace=True),
        lambda: operations.place(linked, (1, 2, 3)),
        lambda: operations.rename(linked, "Box"),
        lambda: operations.delete([linked]),
        lambda: operations.assign(linked, "Material"),
    ):
        with pytest.raises(ValueError, match="linked from"):
            edit()


# ---- nodes and materials


def test_a_connection_is_told_of_its_node_and_of_its_material(operations: EveryPort) -> None:
    noise = operations.create("ShaderNodeTexNoise", "Noise", "material:Material")
    link = SocketLink(noise, "Color", SURFACE, "Base Color")
    operations.connect(link)

    assert link in operations.look_into("material:Material", "inputs")
    assert operations.value(SURFACE, "Base Color").held == "connected to Noise"


def test_sockets_of_the_same_name_are_told_apart(operations: EveryPort) -> None:
    node = operations.create("ShaderNodeMath", "Sum", "material:Material")
    names = operations.sockets(node)[0]
    operations.set_value(node, names[1], 3)

    assert len(set(names)) == len(names) == 2
    assert operations.value(node, names[0]).value != 3


def test_of_those_that_share_data_only_the_item_has_the_material(
    operations: EveryPort,
) -> None:
    twin = operations.duplicate("Cube", linked=True)
    steel = operations.material("Steel", {"metallic": 1, "emission": [0, 1, 0], "opacity": 0.5})
    operations.assign("Cube", steel)

    assert cube().data == thing(twin).data
    assert [it for it in operations.look_into("Cube", "uses") if "material:" in it] == [steel]
    assert "material:Material" in operations.look_into(twin, "uses")
    assert operations.value(f"{steel}/Principled BSDF", "Metallic").value == 1


# ---- building


def test_every_plain_type_can_be_made_with_a_free_name(operations: EveryPort) -> None:
    parts = {*making.part_types(), *making.TREES}
    kinds = [it for it in operations.types() if "Node" not in it and it not in parts]
    for kind in kinds:
        first = operations.create(kind, "Thing", None)
        operations.kind(first)
    made = [it for it in bpy.data.objects if it.name.startswith("Thing")]
    assert len(made) == len(kinds) - len(making.OTHER)


def test_a_copy_has_what_is_below_and_refers_to_itself(operations: EveryPort) -> None:
    arm = operations.create("EMPTY", "Arm", "Cube")
    track = thing(arm).constraints.new("TRACK_TO")
    track.target = cube()

    copy = operations.duplicate("Cube", linked=True)
    (below,) = operations.items(copy)
    constraint = thing(below).constraints[0]

    assert thing(copy).data == cube().data
    assert constraint.target == thing(copy)
    assert operations.placement(copy) == operations.placement("Cube")


def test_what_is_collected_leaves_the_collections_that_it_was_in(
    operations: EveryPort,
) -> None:
    assert operations.collect(["Cube", "Light"], "Set", "collection") == "collection:Set"
    assert list(operations.items("collection:Collection")) == ["Camera"]


def test_what_shares_data_with_what_is_applied_stays_and_all_is_the_right_way_out(
    operations: EveryPort,
) -> None:
    twin = operations.duplicate("Cube", linked=True)
    operations.place("Cube", (1, 2, 3), (10, 20, 30), (2, -1, 3))
    before = [[*box(operations, item)] for item in ("Cube", twin)]

    operations.apply("Cube", ["scale", "rotation", "at"])

    assert [box(operations, item) for item in ("Cube", twin)] == [near(it) for it in before]
    assert operations.placement("Cube").at == near((0, 0, 0))


def test_a_renamed_object_is_found_by_its_new_name_without_a_look_at_all(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look took 0.4 ms among 10,000 objects, and each is looked for again in the answer."""
    with operations.host.undo_step("Rename"):
        operations.rename("Cube", "Box")
    monkeypatch.delattr(objects, "_find_in")

    assert objects.find("Box") == thing("Box")


# ---- names that are not UTF-8

UNREADABLE = r"M\xf6bel (unreadable name)"
TWIN = r"M\xe9bel (unreadable name)"


@pytest.fixture
def unreadable(operations: EveryPort, tmp_path: Path) -> EveryPort:
    """Open a file in which names, a text and a custom property are not UTF-8."""
    named = cube()
    twin = named.copy()
    scene().collection.objects.link(twin)
    named.modifiers.new("M1bel", "BEVEL")
    named["M1bel"] = "M1bel"
    named.name = "M1bel"
    twin.name = "M2bel"
    for each in (named.data, bpy.data.materials["Material"], named.users_collection[0]):
        each.name = "M1bel"
    bpy.data.texts.new("M1bel").write("M1bel")
    scene().name = "M1bel"
    file = tmp_path / "old.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=False)
    data = file.read_bytes().replace(b"M1bel", b"M\xf6bel"[:5]).replace(b"M2bel", b"M\xe9bel"[:5])
    file.write_bytes(data)
    bpy.ops.wm.open_mainfile(filepath=str(file))
    return operations


def test_what_code_returns_may_have_a_name_that_is_not_utf_8(unreadable: EveryPort) -> None:
    """Its `repr` ended Blender 3.4, and what the person had not saved with it."""
    told = plain_value([thing for thing in bpy.data.objects if thing.type == "MESH"])

    assert all(it.endswith("Object (unreadable name)>") for it in told), told


def test_a_name_that_is_not_utf_8_is_told_as_unreadable_beside_the_rest(
    unreadable: EveryPort,
) -> None:
    """Two names that differ in nothing but what cannot be read are two items."""
    assert {*unreadable.items()} == {"Camera", "Light", UNREADABLE, TWIN}
    assert {*unreadable.items("material:")} >= {f"material:{UNREADABLE}"}
    assert [unreadable.kind(it) for it in (UNREADABLE, f"text:{UNREADABLE}")] == ["MESH", "TEXT"]
    found = [objects.find(it) for it in (UNREADABLE, TWIN)]
    assert None not in found
    assert found[0] != found[1]


@pytest.mark.parametrize("part", get_args(port.Part))
def test_what_has_a_name_that_is_not_utf_8_is_inspected_all_the_same(
    unreadable: EveryPort, part: port.Part
) -> None:
    for item in ("Light", UNREADABLE, f"material:{UNREADABLE}", f"text:{UNREADABLE}"):
        unreadable.look_into(item, part)
    assert unreadable.host.describe(UNREADABLE)["name"] == UNREADABLE


def test_an_item_whose_name_is_not_utf_8_is_edited_as_any_other(unreadable: EveryPort) -> None:
    host = unreadable.host
    with host.undo_step("Place"):
        unreadable.place(UNREADABLE, (1, 2, 3))
    placed = [unreadable.placement(it).at for it in (UNREADABLE, TWIN)]
    with host.undo_step("Rename"):
        unreadable.rename(UNREADABLE, "Readable")
    renamed = {*unreadable.items()}
    host.undo()
    with host.undo_step("Delete"):
        unreadable.delete([TWIN])
    lost = host.lost([TWIN]), host.lost([UNREADABLE])
    deleted = {*unreadable.items()}
    host.undo()

    assert placed == [(1, 2, 3), (0, 0, 0)]
    assert renamed == {"Camera", "Light", "Readable", TWIN}
    assert lost == ([], [TWIN])
    assert deleted == {"Camera", "Light", UNREADABLE}
    assert {*unreadable.items()} == {"Camera", "Light", UNREADABLE, TWIN}


def test_a_path_that_follows_the_file_as_it_is_saved_elsewhere_is_no_undo_entry(
    operations: EveryPort, tmp_path: Path
) -> None:
    """Else nothing that was done before the save could be undone by its agent."""
    host: Any = operations.host
    (tmp_path / "shots").mkdir()
    with host.undo_step("Link"):
        image = bpy.data.images.new("wood", 8, 8)
        image.source = "FILE"
        image.filepath_raw = "//wood.png"

    with host.undo_step("Save"):
        operations.save(tmp_path / "shots" / "saved.blend")

    assert bpy.data.images["wood"].filepath_raw.replace("\\", "/") == "//../wood.png"
    assert host.undo_mark().label == "Link"


def test_a_file_with_a_name_that_is_not_utf_8_is_saved_and_exported(
    unreadable: EveryPort, tmp_path: Path
) -> None:
    """Blender's own script for .fbx reads each name; what it needs is said in a sentence."""
    unreadable.save(tmp_path / "new.blend")
    unreadable.export_file(tmp_path / "out.obj", [UNREADABLE], None)

    assert (tmp_path / "out.obj").stat().st_size > 0
    with pytest.raises(ValueError, match="needs names that can be read; rename") as told:
        unreadable.export_file(tmp_path / "out.fbx", [UNREADABLE], None)
    assert "Traceback" not in str(told.value)


# ---- files and losses


def test_a_blend_file_comes_in_again(operations: EveryPort, tmp_path: Path) -> None:
    """After an undo Blender 4.5 lists its library still, so it is no format of the contract."""
    selected = operations.host.selection
    operations.export_file(tmp_path / "out.blend", ["Cube"], None)

    came = operations.import_file(tmp_path / "out.blend", "copy", "Light", 0.5, None)

    widths = [box(operations, item)[3] - box(operations, item)[0] for item in came.items]
    assert widths == [near(1)]
    assert [operations.parent(item) for item in came.items] == ["Light"]
    assert operations.host.selection == selected


def test_no_other_file_is_written_than_the_one_that_is_named(
    operations: EveryPort, tmp_path: Path
) -> None:
    """Blender would write a .gltf as .glb, or with its textures beside it."""
    (tmp_path / "out.glb").write_text("somebody's")

    with pytest.raises(ValueError, match="cannot be written"):
        operations.export_file(tmp_path / "out.gltf", ["Cube"], None)

    assert ".gltf" not in operations.export_formats()
    assert (tmp_path / "out.glb").read_text() == "somebody's"


def test_what_cannot_be_written_is_told(operations: EveryPort, tmp_path: Path) -> None:
    cube().hide_set(True)
    operations.create("TEXT_OBJECT", "Words", None)
    exported = operations.export_file(tmp_path / "out.obj", [], None)
    assert exported.items == ["Words"]
    assert "Cube is hidden" in exported.left_out[0]
    assert "Light" in exported.left_out[1]
    if ".usda" not in operations.import_formats():
        return  # as in Debian's Blender
    (tmp_path / "bad.usda").write_text("nothing")
    with pytest.raises(ValueError):
        operations.import_file(tmp_path / "bad.usda", "copy", None, 1.0, None)


def test_a_new_file_is_no_edit_and_leaves_selection_mode_and_active_object(
    operations: EveryPort, tmp_path: Path
) -> None:
    layer: Any = bpy.context.view_layer
    layer.objects.active = cube()
    bpy.ops.object.mode_set(mode="EDIT")
    operations.host.undo_mark()
    before = operations.host.undo_mark(), operations.host.selection, layer.objects.active.name
    formats = {*operations.export_formats()} & {".obj", ".stl", ".glb", ".usda", ".abc"}
    for suffix in sorted(formats):
        with operations.host.undo_step("Ours"):
            operations.export_file(tmp_path / f"new{suffix}", ["Light", "Cube"], None)

    assert (
        operations.host.undo_mark(),
        operations.host.selection,
        layer.objects.active.name,
    ) == before
    assert layer.objects.active.mode == "EDIT"


def open_template(name: str, folder: Path) -> None:
    """Open one of the files with which Blender itself starts."""
    utils: Any = bpy.utils  # its stub says that it gives no paths
    (path,) = filter(Path.exists, (Path(it, name) for it in utils.app_template_paths()))
    file = shutil.copy(path / "startup.blend", folder / "template.blend")
    bpy.ops.wm.open_mainfile(filepath=str(file))


@pytest.mark.parametrize("template", ["2D_Animation", "Sculpting"])
def test_what_blender_makes_for_a_mode_as_an_export_leaves_it_is_no_edit(
    operations: EveryPort, tmp_path: Path, template: str
) -> None:
    """Its own start files open in a mode that has brushes and palettes; edits are still noticed."""
    open_template(template, tmp_path)
    host = operations.host
    host.undo_mark()
    mode = bpy.context.mode
    before = host.undo_mark()
    with host.undo_step("Export"):
        operations.export_file(tmp_path / "out.fbx", [], None)
    exported = host.undo_mark()
    with host.undo_step("Edit"):
        operations.set_value("Camera", "data.lens", 20)

    assert bpy.context.mode == mode
    assert exported == before
    assert host.undo_mark().label == "Edit"


def test_a_picture_leaves_everything_with_as_many_users_as_before(
    operations: EveryPort,
) -> None:
    """Else what nothing uses is not found, and not purged."""
    inner = bpy.data.collections.new("Inner")
    group("Collection").children.link(inner)
    scene().collection.objects.link(bpy.data.objects.new("Loose", None))
    before = users()

    for shading in ("solid", "wire", "material"):
        operations.draw([SHOT], 32, 32, shading)

    assert users() == before


def test_a_picture_shows_no_more_than_the_person_sees(operations: EveryPort) -> None:
    """What the view layer excludes or holds out is missing in it, and the exposure is theirs."""
    layer = scene().view_layers[0].layer_collection.children["Collection"]
    pictures = [operations.draw([SHOT], 64, 48, "solid")]
    scene().view_settings.exposure = 3
    pictures.append(operations.draw([SHOT], 64, 48, "solid"))
    layer.holdout = True
    pictures.append(operations.draw([SHOT], 64, 48, "solid"))
    layer.exclude = True
    pictures.append(operations.draw([SHOT], 64, 48, "solid"))

    assert len({*pictures}) == 4


def users() -> dict[str, int]:
    """Count the users of all that a scene shows."""
    kinds: list[Any] = [bpy.data.objects, bpy.data.collections, bpy.data.worlds, bpy.data.meshes,
                        bpy.data.materials, bpy.data.cameras, bpy.data.scenes]  # fmt: skip
    return {repr(thing): thing.users for kind in kinds for thing in kind}


def test_what_a_picture_left_is_not_missed_after_an_undo(
    operations: EveryPort, tmp_path: Path
) -> None:
    """Blender makes "Render Result" as it draws, and 3.4 drops it as it undoes."""
    open_template("Sculpting", tmp_path)
    with operations.host.guard([], read=True):
        operations.draw([SHOT], 32, 32, "solid")
    lamp = next(item for item in operations.items() if operations.kind(item) == "LIGHT")
    with operations.host.undo_step("Delete"):
        operations.delete([lamp])

    operations.host.undo()

    assert lamp in operations.items()


def test_a_collection_is_exported_by_what_it_holds_and_nothing_in_silence(
    operations: EveryPort, tmp_path: Path
) -> None:
    operations.collect(["Cube"], "Set", "collection")
    operations.export_file(tmp_path / "set.obj", ["collection:Set"], None)
    operations.export_file(tmp_path / "material.blend", ["material:Material"], None)
    bpy.data.collections.new("Hollow")
    cube().hide_set(True)

    assert "o Cube" in (tmp_path / "set.obj").read_text()
    assert (tmp_path / "material.blend").stat().st_size > 1000
    for bad in ("collection:Hollow", "material:Material", "Light", "Cube"):
        with pytest.raises(ValueError, match=f"{bad}"):
            operations.export_file(tmp_path / "bad.obj", [bad], None)
    assert not (tmp_path / "bad.obj").exists()


@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_lights_and_cameras_are_exported_too_and_what_a_format_has_not_is_told(
    operations: EveryPort, tmp_path: Path, suffix: str
) -> None:
    """Blender's exporter of glTF leaves them out where nobody asks for them."""
    operations.create("LATTICE", "Grid", None)

    exported = operations.export_file(tmp_path / f"all{suffix}", [], None)

    written = (tmp_path / f"all{suffix}").read_bytes()
    marks = (b'"cameras"', b"KHR_lights_punctual")
    if suffix == ".fbx":
        marks = (b"FocalLength", b"LightType")
    assert sorted(exported.items) == ["Camera", "Cube", "Light"]
    assert exported.left_out == [f"{suffix} has no such: Grid."]
    assert [mark in written for mark in marks] == [True, True]


def broken(raised: str) -> RuntimeError:
    """Return an error of an operator in Python, as Blender makes it."""
    lines = [
        "Error: Python: Traceback (most recent call last):",
        '  File "/usr/share/blender/scripts/addons/io/reader.py", line 9, in execute',
        "    a = np.x",
        "        ^^^^",
        '  File "/usr/lib/python3/dist-packages/numpy/__init__.py", line 305, in __getattr__',
        "    raise AttributeError(attr)",
        raised,
        "",
        "Location: <unknown location>:-1",
    ]
    return RuntimeError("\n".join(lines))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (broken("ValueError: no such version"), "Blender's own script failed: no such version"),
        (broken("struct.error: too short"), "Blender's own script failed: too short"),
        (
            broken("AttributeError: 'NoneType' object has no attribute 'x'"),
            "Blender's own script is broken, in line 9 of reader.py",
        ),
        (broken("StopIteration"), "Blender's own script is broken, in line 9 of reader.py"),
        (RuntimeError("Error: Cannot read 'a.obj'\n"), "Cannot read 'a.obj'"),
    ],
)
def test_a_script_of_blender_s_own_that_breaks_is_told_in_a_sentence(
    error: RuntimeError, said: str
) -> None:
    assert _why(error) == said


def test_a_scene_without_what_a_format_holds_says_that_nothing_is_in_the_file(
    operations: EveryPort, tmp_path: Path
) -> None:
    operations.delete(["Cube"])
    exported = operations.export_file(tmp_path / "all.obj", [], None)
    assert exported.items == []
    assert exported.left_out == [".obj has no such: Light, Camera."]


def test_a_blender_file_that_cannot_be_written_is_told_in_a_sentence(
    operations: EveryPort, tmp_path: Path
) -> None:
    file = tmp_path / "gone" / "other.blend"
    with pytest.raises(ValueError, match=r"other\.blend was not written: Cannot open file .*\.$"):
        operations.export_file(file, ["Cube"], None)


def test_what_comes_in_at_another_scale_has_it_in_its_data(
    operations: EveryPort, tmp_path: Path
) -> None:
    """What has no data says that it keeps it."""
    operations.export_file(tmp_path / "cube.obj", ["Cube"], None)
    came = operations.import_file(tmp_path / "cube.obj", "copy", None, 0.01, None)
    operations.create("EMPTY", "Bare", None)
    operations.export_file(tmp_path / "bare.glb", ["Bare"], None)
    bare = operations.import_file(tmp_path / "bare.glb", "copy", None, 0.01, None)
    box = operations.bounds(came.items[0])

    assert operations.placement(came.items[0]).scale == pytest.approx((1, 1, 1))
    assert box is not None
    assert box[1][0] - box[0][0] == pytest.approx(0.02)
    assert came.warnings == []
    assert "has the scale itself" in bare.warnings[0]


def test_the_axis_that_is_up_is_obeyed_where_the_file_does_not_say_it(
    operations: EveryPort, tmp_path: Path
) -> None:
    (tmp_path / "post.obj").write_text("v 0 0 0\nv 0 5 0\nv 0 0 1\nf 1 2 3\n")
    heights = []
    for up in ("Y", "Z"):
        came = operations.import_file(tmp_path / "post.obj", "copy", None, 1, up)
        box = operations.bounds(came.items[0])
        assert box is not None
        heights.append(box[1][2] - box[0][2])
    assert heights == pytest.approx([5, 1])


def test_data_that_nothing_uses_is_junk_and_an_image_without_its_file_a_dead_link(
    operations: EveryPort,
) -> None:
    bpy.data.meshes.new("Loose")
    image = bpy.data.images.new("gone", 8, 8)
    image.source = "FILE"
    image.filepath = "//gone.png"

    assert "mesh:Loose" in operations.junk("unused")
    assert operations.junk("dead_links") == ["image:gone"]
    operations.clean("unused", ["mesh:Loose"])
    assert "mesh:Loose" not in operations.junk("unused")


def test_what_was_in_a_collection_that_is_deleted_stays_in_the_scene(
    operations: EveryPort,
) -> None:
    operations.delete(["Cube", "collection:Collection", SURFACE])

    assert list(operations.items()) == ["Camera", "Light"]
    assert {it.name for it in scene().collection.objects} == {"Camera", "Light"}
    assert SURFACE not in operations.items("material:Material")


def test_a_child_of_what_is_deleted_stays_where_it_is(operations: EveryPort) -> None:
    """Whatever its parent did after it was put there."""
    with operations.host.undo_step("Theirs"):
        operations.set_parent("Camera", "Cube", keep_place=True)
        operations.place("Cube", at=(5, 5, 5), rotation=(0, 0, 90))
    before = operations.placement("Camera")
    with one_step(operations):
        operations.delete(["Cube"])
    operations.delete(["Cube"])

    assert operations.parent("Camera") is None
    assert operations.placement("Camera").at == pytest.approx(before.at, abs=1e-4)
    assert operations.placement("Camera").rotation == pytest.approx(before.rotation, abs=1e-3)


def test_what_was_agreed_to_covers_what_went_and_nothing_else(operations: EveryPort) -> None:
    """By kind: who agrees to a material's end does not agree to an object's of that name."""
    host = operations.host
    agreed = ["material:Material", SURFACE, "collection:Collection"]
    kinds = host.kinds(agreed)
    print_before = host.fingerprint(agreed)
    cube().name = "Material"
    with host.undo_step("Ours"):
        operations.delete(["material:Material", "Material"])

    assert kinds == ["MATERIAL", "ShaderNodeBsdfPrincipled", "COLLECTION"]
    assert host.fingerprint(agreed) != print_before
    assert host.lost(["material:Material"]) == ["Material"]
    assert host.lost(["material:Material", "Material"]) == []
    assert host.describe("collection:Collection")["type"] == "COLLECTION"


# ---- render


def render(operations: EveryPort, **arguments: Any) -> Any:
    """Call the verb as the bridge does."""
    verbs = {tool.name: tool for tool in tools(operations)}
    return verbs["render"].fn(**arguments)


def test_a_render_follows_the_camera_and_leaves_the_scene_as_it_was(
    operations: EveryPort, tmp_path: Path
) -> None:
    blender_turntable.make()
    settings = scene().render
    before = scene_digest(operations.host), operations.host.undo_mark()
    set_before = settings.filepath, settings.resolution_x, scene().frame_start
    folder = tmp_path / "out"
    folder.mkdir()

    told = render(
        operations, path=str(folder / "a.png"), frames=[1, 61, 60], size=[64, 48], samples=1
    )

    first, second = (
        np.array(bpy.data.images.load(str(file)).pixels) for file in sorted(folder.iterdir())
    )
    assert told["pictures"] == 2
    assert len(first) == len(second) == 4 * 64 * 48
    assert np.abs(first - second).max() > 0.1
    assert (settings.filepath, settings.resolution_x, scene().frame_start) == set_before
    bpy.data.batch_remove(list(bpy.data.images))
    assert (scene_digest(operations.host), operations.host.undo_mark()) == before


def test_the_compositor_of_a_render_writes_no_files(operations: EveryPort, tmp_path: Path) -> None:
    """The person was not asked about them."""
    tree: Any  # of another type in each version
    if bpy.app.version < (5, 0):
        scene().use_nodes = True
        tree = scene().node_tree
    else:
        tree = bpy.data.node_groups.new("Compositing", "CompositorNodeTree")
        tree.interface.new_socket("Image", in_out="OUTPUT", socket_type="NodeSocketColor")
        image = tree.nodes.new("CompositorNodeRLayers").outputs["Image"]
        tree.links.new(image, tree.nodes.new("NodeGroupOutput").inputs[0])
        scene().compositing_node_group = tree
    inner: Any = bpy.data.node_groups.new("Inner", "CompositorNodeTree")
    tree.nodes.new("CompositorNodeGroup").node_tree = inner
    for nodes_of in (tree, inner):
        node = nodes_of.nodes.new("CompositorNodeOutputFile")
        folder = "directory" if hasattr(node, "directory") else "base_path"
        setattr(node, folder, str(tmp_path / "passes"))

    told = render(operations, path=str(tmp_path / "a.png"), size=[16, 16], samples=1)

    assert "The compositor wrote no files: nodes that would have: 2." in told["notes"]
    assert not (tmp_path / "passes").exists()


def test_no_script_of_the_file_runs_in_a_render(operations: EveryPort, tmp_path: Path) -> None:
    """An agent can write a text, and Blender runs one as it opens the file."""
    script: Any = bpy.data.texts.new("evil.py")
    script.write(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    script.use_module = True

    told = render(operations, path=str(tmp_path / "a.png"), size=[16, 16], samples=1)

    assert told["pictures"] == 1
    assert "The scripts and Python drivers of the file do not run in a render." in told["notes"]
    assert not (tmp_path / "ran").exists()


def test_a_frame_before_the_first_one_is_rendered(operations: EveryPort, tmp_path: Path) -> None:
    told = render(
        operations, path=str(tmp_path / "a.png"), frames=[-5, -5], size=[16, 16], samples=1
    )

    assert told["pictures"] == 1
    with pytest.raises(ValueError, match="Blender has frames"):
        render(operations, path=str(tmp_path / "b.png"), frames=[3_000_000, 3_000_000])


def test_a_renderer_ends_with_the_process_that_has_started_it(
    operations: EveryPort, tmp_path: Path
) -> None:
    """Its copy of the scene goes too."""
    folder = tmp_path / "job"
    folder.mkdir()
    operations.host.save_copy(folder / render_process.FILE)
    picture = {"frame": 1, "camera": "Camera", "linked": False, "file": str(tmp_path / "a.png")}
    job = {"scene": "Scene", "size": [4096, 4096], "samples": 1_000_000, "max_bytes": 0}
    job_file = folder / render_process.JOB
    job_file.write_text(json.dumps({**job, "pictures": [picture]}), encoding="utf-8")

    with subprocess.Popen(_command(folder), stdin=subprocess.PIPE) as renderer:
        assert renderer.stdin is not None
        renderer.stdin.close()  # as the system does when a process is killed
        code = renderer.wait(100)

    assert code == 1
    assert not folder.exists()


def test_a_renderer_ends_with_its_call(
    operations: EveryPort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    popen = subprocess.Popen

    def begin(*args: Any, **more: Any) -> Any:
        begun.append(popen(*args, **more))
        return begun[0]

    def stop(_: float) -> None:
        raise Busy("The person has cancelled it.")

    monkeypatch.setattr(subprocess, "Popen", begin)
    wanted = port.Render([SHOT], [tmp_path / "a.png"], 4096, 4096, 1_000_000)

    with pytest.raises(Busy):
        operations.rendering(wanted)(stop)

    assert begun[0].returncode is not None
    assert list(tmp_path.glob("*.png")) == []


def test_a_render_that_fails_says_why(operations: EveryPort, tmp_path: Path) -> None:
    thing("Camera").name = "Gone"
    run = operations.rendering(
        port.Render([replace(SHOT, camera="Gone")], [tmp_path / "none" / "a.png"], 16, 16, 1)
    )

    with pytest.raises(ValueError, match=r"Blender did not render it: .*No such file"):
        run(lambda _: None)


# ---- look


def look(operations: EveryPort, **arguments: Any) -> Any:
    """Call the verb as the bridge does; gives the legend and the picture."""
    verbs = {skill.name: skill for skill in map(describe, seeing.verbs(operations))}
    return verbs["look"].fn(**arguments)


def test_each_picture_and_its_legend_are_of_its_frame(
    operations: EveryPort, tmp_path: Path
) -> None:
    """The camera's pivot, a thing, a modifier, a shape key and what is shown are keyed."""
    blender_turntable.make()

    legend, picture = look(operations, view="camera", frames=turntable.FRAMES, size=640)

    (tmp_path / "turn.jpg").write_bytes(picture)
    image: Any = bpy.data.images.load(str(tmp_path / "turn.jpg"))
    width, height = image.size
    rows = (np.array(image.pixels).reshape(height, width, 4)[::-1, :, :3] * 255).tolist()
    turntable.check(legend, lambda x, y: rows[y][x], width, height)
    assert [name for it in turntable.told(legend) for name in it if name == "Yellow"] == (
        ["Yellow"] * 2
    )
    assert "not shown by the scene: Yellow" in legend


def test_a_light_is_told_where_it_is_at_the_frame(operations: EveryPort) -> None:
    blender_turntable.make()

    legend, _ = look(operations, view="front", items=["Lamp", "Red"], frames=[1, 61, 121], size=128)

    lefts = [it["Lamp"][0] - it["Red"][0] for it in turntable.told(legend)]
    assert lefts[0] < lefts[1] < lefts[2]


def test_the_scene_s_camera_is_the_one_that_a_marker_gives_it_at_the_frame(
    operations: EveryPort,
) -> None:
    blender_turntable.make()

    legend, _ = look(operations, view="camera", frames=[1, 200], size=128)

    (_, level), (_, above) = turntable.widths(legend)
    assert level == pytest.approx(turntable.DISTANCE, abs=2)
    assert above == pytest.approx(turntable.DISTANCE, abs=5)
    first, second = turntable.told(legend)
    assert first["Red"][3] < first["Blue"][2]  # from the side, one is above the other
    assert second["Red"][2:] == pytest.approx(second["Blue"][2:], abs=25)  # from above it is not


def test_a_look_at_other_frames_leaves_what_the_person_did_not_key(
    operations: EveryPort,
) -> None:
    """Blender itself loses it when its own scene goes to another frame."""
    blender_turntable.make()
    pivot = thing("Pivot")
    pivot.rotation_euler.z = 0.25
    scene().view_layers[0].update()
    before = scene_digest(operations.host), operations.host.undo_mark()

    look(operations, view="front", frames=[31, 1], size=128)

    assert pivot.rotation_euler.z == 0.25
    assert (scene_digest(operations.host), operations.host.undo_mark()) == before
    assert scene().frame_current == 1


def test_a_picture_between_two_frames_is_of_that_moment(
    operations: EveryPort, tmp_path: Path
) -> None:
    blender_turntable.make()

    pictures = [look(operations, view="camera", frames=[at], size=256)[1] for at in (1, 1.5, 2)]

    assert len(set(pictures)) == 3


def test_a_frame_that_blender_does_not_have_is_refused(operations: EveryPort) -> None:
    with pytest.raises(ValueError, match="Blender has frames"):
        look(operations, frames=[1e12])


def test_what_is_told_of_items_and_of_the_api_leaves_nothing_in_the_file_and_no_entry_of_undo(
    operations: EveryPort,
) -> None:
    def kept() -> list[Any]:
        owners = cube(), bpy.data.materials["Material"]
        return [operations.host.undo_mark(), *(list(it.keys()) for it in owners)]

    with operations.host.guard([], read=True):
        pass  # the first one makes what undo goes back to
    before = kept()

    with operations.host.guard([], read=True):
        items = [*operations.items(), "material:Material"]
        assert [operations.look_into(item, part) for item in items for part in get_args(port.Part)]
        assert list(operations.api())

    assert kept() == before


def test_a_new_node_has_the_name_that_was_asked_for_or_that_of_its_kind(
    operations: EveryPort,
) -> None:
    def made(name: str | None) -> str:
        return operations.create("ShaderNodeBump", name, "material:Material").rpartition("/")[2]

    assert [made(name) for name in ("Bump", None, "Skin", "Skin")] == [
        *("Bump", "Bump.001", "Skin", "Skin.001")
    ]


def test_a_new_modifier_is_an_item_and_named_as_blender_does(operations: EveryPort) -> None:
    made = operations.create("SUBSURF_MODIFIER", None, "Cube")
    second = operations.create("SUBSURF_MODIFIER", None, "Cube")

    assert made == "Cube/modifier:Subdivision"
    assert second == "Cube/modifier:Subdivision.001"
    assert operations.value(made, "levels").value == 1
    assert operations.value("Cube", 'modifiers["Subdivision"].levels').value == 1


def test_a_modifier_is_created_with_its_own_values(operations: EveryPort) -> None:
    values = {"width": 0.25, "segments": 3}
    thing: Thing = {"type": "BEVEL_MODIFIER", "under": "Cube", "values": values}
    with one_step(operations):
        answer = BuildingVerbs(operations, Mock()).create([thing])
        bevel: Any = cube().modifiers["Bevel"]
        row = {"item": "Cube/modifier:Bevel", "type": "BEVEL_MODIFIER", "values": values}
        assert answer["made"] == [row]
        assert bevel.width == 0.25


def test_each_kind_of_name_is_told_by_one_of_the_file(operations: EveryPort) -> None:
    bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    operations.create("BEVEL_MODIFIER", None, "Cube")

    named = operations.named_like()

    assert {"Cube/modifier:Bevel", "nodetree:Scatter", "scene:Scene"} < {*named}
    assert [name for name in named if name.startswith("material:Material/")]
    for name in named:
        assert operations.kind(name)


def test_the_scene_has_the_words_of_the_summary_and_blender_s_own(operations: EveryPort) -> None:
    props = operations.scene_props()

    assert len({*props}) == len(props) < 60
    assert {"engine", "render.resolution_percentage", "gravity"} < {*props}
    for prop in props:
        operations.value(SCENE, prop)
    with one_step(operations):
        operations.set_value(SCENE, "engine", "BLENDER_WORKBENCH")
        assert scene().render.engine == "BLENDER_WORKBENCH"
    with pytest.raises(ValueError, match=r"is one of .*BLENDER_WORKBENCH"):
        operations.set_value(SCENE, "engine", "Workbench")


def _set_custom(_: EveryPort) -> None:
    cube()["shot"] = "sh010"


def _exclude(_: EveryPort) -> None:
    layer: Any = bpy.context.view_layer
    layer.layer_collection.children["Collection"].exclude = True


def _compose(_: EveryPort) -> None:
    """Add a node that blurs the picture."""
    open_scene: Any = scene()
    if hasattr(open_scene, "compositing_node_group"):  # since 5.0
        open_scene.compositing_node_group = bpy.data.node_groups.new("Comp", "CompositorNodeTree")
        tree = open_scene.compositing_node_group
    else:
        open_scene.use_nodes = True
        tree = open_scene.node_tree
    tree.nodes.new("CompositorNodeBlur")


def _bend(_: EveryPort) -> None:
    mesh: Any = cube().data
    mesh.vertices[0].co.x += 1
    mesh.update()


ACCOUNTS: dict[str, Edit] = {
    "changed: Cube, location: [0, 0, 0] -> [1, 2, 3]": call("place", "Cube", (1, 2, 3)),
    "changed: Cube, rotation_euler: [0, 0, 0] -> [0, 0, 90]": call(
        "place", "Cube", rotation=(0, 0, 90)
    ),
    "created: Cube/modifier:Bevel": call("create", "BEVEL_MODIFIER", None, "Cube"),
    "created: material:Material/Bump": call("create", "ShaderNodeBump", None, "material:Material"),
    f"changed: {SURFACE}, Roughness: 0.5 -> 0.2": call("set_value", SURFACE, "Roughness", 0.2),
    "changed: light:Light, energy: 1000 -> 5": call("set_value", "Light", "data.energy", 5),
    "changed: scene:Scene, render.resolution_x: 1920 -> 800": call(
        "set_value", SCENE, "size", [800, 1080]
    ),
    "changed: scene:Scene, frame_end: 250 -> 99": call("set_value", SCENE, "end", 99),
    "changed: Cube is Crate": call("rename", "Cube", "Crate"),
    'changed: Cube, ["shot"]: none -> "sh010"': _set_custom,
    'changed: scene:Scene, view_layers["ViewLayer"].Collection: [] -> ["exclude"]': _exclude,
    "changed: mesh:Cube, its geometry": _bend,
    'deleted: material:Material. changed: Cube, materials: ["Material"] -> [null]. '
    "broken: material of Cube": call("delete", ["material:Material"]),
}


@pytest.mark.parametrize("now", ACCOUNTS)
def test_an_edit_is_told_as_the_file_has_it(operations: EveryPort, now: str) -> None:
    assert account_of(operations, ACCOUNTS[now]) == now


def test_a_new_object_is_told_without_its_mesh(operations: EveryPort) -> None:
    now = account_of(operations, call("create", "SPHERE", "Ball", None))

    assert now.startswith("created: Ball. changed: collection:Collection, objects: ")


def test_what_a_step_made_is_told_by_its_last_name_and_not_if_it_is_gone(
    operations: EveryPort,
) -> None:
    def make(_: EveryPort) -> None:
        ball = operations.create("SPHERE", "Ball", None)
        operations.rename(ball, "Kugel")
        cone = operations.create("CONE", "Cone", None)
        operations.delete([operations.rename(cone, "Kegel")])

    now = account_of(operations, make)

    assert now.startswith("created: Kugel. changed: collection:Collection, objects: ")
    assert not any(name in now for name in ("Ball", "Cone", "Kegel"))


def test_what_is_composed_is_told(operations: EveryPort) -> None:
    now = account_of(operations, _compose)

    assert "/Blur" in now or "nodetree:Comp" in now


def test_the_second_of_two_edits_is_told_from_where_the_first_one_left_it(
    operations: EveryPort,
) -> None:
    account_of_kept(operations, call("place", "Cube", (1, 0, 0)))
    account_of_kept(operations, call("set_value", "Cube", "pass_index", 2))

    moved = account_of_kept(operations, call("place", "Cube", (1, 2, 0)))
    numbered = account_of_kept(operations, call("set_value", "Cube", "pass_index", 3))

    assert moved == "changed: Cube, location: [1, 0, 0] -> [1, 2, 0]"
    assert numbered == "changed: Cube, pass_index: 2 -> 3"


def test_what_was_edited_between_two_steps_is_not_told_of_the_second(
    operations: EveryPort,
) -> None:
    account_of_kept(operations, call("place", "Cube", (1, 0, 0)))
    cube().location.y = 5
    cube().pass_index = 7
    cube()["shot"] = "sh010"

    now = account_of_kept(operations, call("set_value", "Cube", "pass_index", 8))

    assert now == "changed: Cube, pass_index: 7 -> 8"


def test_a_custom_property_of_a_person_between_two_steps_is_not_told(
    operations: EveryPort,
) -> None:
    account_of_kept(operations, call("place", "Cube", (1, 0, 0)))
    cube()["shot"] = "sh010"

    now = account_of_kept(operations, call("place", "Light", (1, 0, 0)))

    assert now.startswith("changed: Light, location: ")
    assert "shot" not in now


def test_an_object_that_nobody_noticed_between_two_steps_moves_no_other(
    operations: EveryPort,
) -> None:
    host: Any = operations.host
    account_of_kept(operations, call("place", "Cube", (1, 0, 0)))
    with host.unnoticed():
        bpy.data.objects.new("Anchor", None)  # the first of all now, and in no scene

    now = account_of_kept(operations, call("place", "Cube", (1, 2, 0)))

    assert now == "changed: Cube, location: [1, 0, 0] -> [1, 2, 0]"


def test_an_undo_between_two_steps_is_not_told_of_the_second(operations: EveryPort) -> None:
    account_of_kept(operations, call("place", "Cube", (1, 0, 0)))
    operations.host.undo()

    now = account_of_kept(operations, call("place", "Cube", (0, 3, 0)))

    assert now == "changed: Cube, location: [0, 0, 0] -> [0, 3, 0]"


def test_what_a_step_did_to_a_hidden_object_is_not_told_of_the_step_that_shows_it(
    operations: EveryPort,
) -> None:
    cube().hide_viewport = True

    def edit(_: EveryPort) -> None:
        cube().pass_index = 4

    def show(_: EveryPort) -> None:
        cube().hide_viewport = False

    account_of_kept(operations, edit)

    assert account_of_kept(operations, show) == "changed: Cube, hide_viewport: true -> false"


def test_in_a_large_file_each_moved_object_counts_also_where_its_values_are_not_read(
    operations: EveryPort,
) -> None:
    for number in range(600):
        copy = bpy.data.objects.new(f"C{number:03}", cube().data)
        scene().collection.objects.link(copy)

    def move(_: EveryPort) -> None:
        for number in range(600):
            bpy.data.objects[f"C{number:03}"].location.x = 2

    def color(_: EveryPort) -> None:
        for number in range(600):
            copy: Any = bpy.data.objects[f"C{number:03}"]
            copy.color = (1, 0, 0, 1)

    first = "C000, location: [0, 0, 0] -> [2, 0, 0]"
    assert account_of(operations, move).startswith(f"changed: 600, such as {first}; ")
    assert account_of(operations, color).startswith("changed: 600, such as ")


def test_in_a_large_file_what_only_moved_with_its_parent_is_told_apart(
    operations: EveryPort,
) -> None:
    for number in range(600):
        copy = bpy.data.objects.new(f"C{number:03}", cube().data)
        scene().collection.objects.link(copy)
        if number >= 588:
            copy.parent = bpy.data.objects["C000"]

    def move(_: EveryPort) -> None:
        for number in range(100):
            bpy.data.objects[f"C{number:03}"].location.x = 2

    assert account_of(operations, move).startswith(
        "changed: 112, 12 of them only with what is above them, such as C000, location: "
    )


def test_the_host_paints_while_what_is_in_a_collection_is_measured(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    paints = list[bool]()
    monkeypatch.setattr("dcc_bridge.skills.skill._repaint", paints.append)

    assert operations.bounds("collection:Collection") == operations.bounds("Cube")
    assert len(paints) == 2


def test_what_breaks_without_an_object_or_material_is_told_and_found_afterwards(
    operations: EveryPort,
) -> None:
    """A child does not break, nor what goes as well."""
    cutter = operations.create("CUBE", "Cutter", None)
    operations.set_parent("Light", cutter, keep_place=True)
    boolean = cube().modifiers.new("Cut", "BOOLEAN")
    boolean.object = thing(cutter)
    track = thing("Camera").constraints.new("TRACK_TO")
    track.target = thing(cutter)
    driver = cube().driver_add("scale", 0)
    driver.driver.variables.new().targets[0].id = thing(cutter)
    (material,) = (it.material for it in cube().material_slots)
    assert material is not None

    told = operations.dependents([cutter])
    less = operations.dependents([cutter, "Cube"])
    users = operations.dependents([f"material:{material.name}"])
    before = [why for _, why in operations.failures("missing_targets", ["Cube", "Camera"])]
    operations.delete([cutter])
    after = dict(operations.failures("missing_targets", ["Cube", "Camera", "Light"]))

    assert {*told} == {"Cut of Cube", "driver of scale of Cube", "Track To of Camera"}
    assert less == ["Track To of Camera"]
    assert users == ["material of Cube"]
    assert before == ["", ""]
    assert after == {
        "Cube": "modifier Cut has no object, driver of scale refers to nothing",
        "Camera": "constraint Track To has no target",
        "Light": "",
    }


def test_what_cannot_be_deleted_is_refused_before_anybody_is_asked(
    operations: EveryPort, tmp_path: Path
) -> None:
    library = tmp_path / "lib.blend"
    bpy.data.libraries.write(str(library), {cube()})
    (linked,) = operations.import_file(library, "link", None, 1.0, None).items

    operations.check_deletable(["Cube", "Light"])
    light = thing("Light").data
    lamp = f"light:{light.name}"
    operations.check_deletable(["Light", lamp])
    reasons = {linked: "linked from", "scene:Scene": "the only scene", lamp: "in use by Light"}
    for item, why in reasons.items():
        with pytest.raises(ValueError, match=why):
            operations.check_deletable(["Cube", item])
    with pytest.raises(LookupError):
        operations.check_deletable(["Nobody"])


def test_a_curve_is_followed_in_world_space(operations: EveryPort) -> None:
    data: Any = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    line = data.splines.new("POLY")
    line.points.add(2)
    for point, at in zip(line.points, ((0, 0, 0), (2, 0, 0), (2, 4, 0)), strict=True):
        point.co = (*at, 1.0)
    thing = bpy.data.objects.new("Path", data)
    thing.location = (10, 0, 0)
    scene().collection.objects.link(thing)

    assert operations.path("Path") == [(10, 0, 0), (12, 0, 0), (12, 4, 0)]
    line.use_cyclic_u = True
    assert operations.path("Path")[-1] == (10, 0, 0)


def test_a_bezier_is_followed_from_its_first_knot_to_its_last(operations: EveryPort) -> None:
    bpy.ops.curve.primitive_bezier_circle_add(radius=3, location=(0, 0, 1))
    drawn: Any = bpy.context.object
    circle = drawn.name

    points = operations.path(circle)

    assert len(points) == 65
    assert points[0] == points[-1]
    assert points[0] == near((-3, 0, 1))
    assert [math.hypot(x, y) for x, y, _ in points] == [near(3, 0.01)] * 65
    with pytest.raises(ValueError, match="Cube is no curve: give along a list of points"):
        operations.path("Cube")


def fresh() -> Iterator[tuple[str, Any]]:
    """Give new data-blocks of the types that have most values."""
    mesh = bpy.data.meshes.new("Fresh")
    for name, data in (("Fresh", mesh), ("Fresh_empty", None)):
        thing = bpy.data.objects.new(name, data)
        scene().collection.objects.link(thing)
        yield name, thing
    for kind in ("POINT", "SUN", "SPOT", "AREA"):
        thing = bpy.data.objects.new(kind, bpy.data.lights.new(kind, kind))
        scene().collection.objects.link(thing)
        yield kind, thing
    thing = bpy.data.objects.new("Lens", bpy.data.cameras.new("Lens"))
    scene().collection.objects.link(thing)
    yield "Lens", thing
    curves: Any = bpy.data.curves
    for kind in ("CURVE", "FONT", "SURFACE"):
        thing = bpy.data.objects.new(kind, curves.new(kind, kind))
        scene().collection.objects.link(thing)
        yield kind, thing
    yield "material:Fresh_material", bpy.data.materials.new("Fresh_material")
    yield "collection:Fresh_set", bpy.data.collections.new("Fresh_set")


def test_the_default_that_is_left_out_is_what_a_new_data_block_has(operations: EveryPort) -> None:
    """A value that a new one does not have is never taken for the default."""
    wrong = []
    for item, _ in fresh():
        for prop, slot in properties.slots(item, require(item)).items():
            rna = slot.rna
            if rna is None or rna.type not in PLAIN_TYPES or slot.is_default(slot.read()):
                continue
            default = OF_NEW.get(slot.name, plain(default_of(rna), angle=slot.is_angle))
            if slot.is_default(default):
                wrong.append((item, prop, slot.read(), default))
    assert wrong == []


def test_what_is_changed_is_not_at_its_default(operations: EveryPort) -> None:
    values = operations.look_into("Cube", "values")
    at_default = [name for name, value in values.items() if value.is_default]

    assert len(at_default) > len(values) / 2
    for name, value in (("location", [1, 2, 3]), ("pass_index", 3), ("hide_render", True)):
        assert name in at_default
        operations.set_value("Cube", name, value)
        assert not operations.value("Cube", name).is_default
