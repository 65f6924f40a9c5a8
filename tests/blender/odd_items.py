"""Blender's verbs over odd items, to be run where ``bpy`` is.

`tests.blender.test_operations` runs it in an interpreter of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import bpy
import pytest

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations
from tests.blender.things import cube, scene, thing
from tests.verbs import odd
from tests.verbs.odd import Odd

_DEAD = 'constraints["Copy Location"].influence'
INF = float("inf")
NAN = float("nan")
UNREADABLE = r"M\xf6bel (unreadable name)"


def _new(name: str, data: Any = None) -> Any:
    made = bpy.data.objects.new(name, data)
    scene().collection.objects.link(made)
    return made


def _mesh(name: str, *points: tuple[float, float, float]) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(list(points), [], [[*range(len(points))]] if len(points) > 2 else [])
    return _new(name, mesh)


def _unreadable(folder: Path) -> Odd:
    """A name that is not UTF-8, of an object and of all that it has."""
    it = _mesh("M1bel", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    it.modifiers.new("M1bel", "BEVEL")
    it["M1bel"] = "M1bel"
    it.data.name = "M1bel"
    it.data.materials.append(bpy.data.materials.new("M1bel"))
    it.vertex_groups.new(name="M1bel")
    it.constraints.new("COPY_LOCATION").name = "M1bel"
    it.shape_key_add(name="M1bel")
    within = bpy.data.collections.new("M1bel")
    scene().collection.children.link(within)
    within.objects.link(it)
    bpy.data.texts.new("M1bel").write("M1bel")
    bpy.data.images.new("M1bel", 4, 4).filepath = "//M1bel.png"
    tree: Any = bpy.data.node_groups.new("M1bel", "ShaderNodeTree")
    tree.nodes.new("ShaderNodeMath").name = "M1bel"
    scene().name = "M1bel"
    file = folder / "set.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=False)
    file.write_bytes(file.read_bytes().replace(b"M1bel", b"M\xf6bel"))
    bpy.ops.wm.open_mainfile(filepath=str(file))
    return Odd(UNREADABLE, "Cube", "custom properties", reason="UTF-8")


def _raising_property(folder: Path) -> Odd:
    """Properties of an add-on whose code fails."""

    def fails(self: Any) -> Any:
        raise KeyError("gone")

    def other(self: Any) -> Any:
        return None

    kinds: Any = bpy.types.Object
    props: Any = bpy.props
    kinds.odd_number = props.FloatProperty(get=fails)
    kinds.odd_text = props.StringProperty(get=other)
    kinds.odd_choice = props.EnumProperty(items=[("A", "A", "")], get=lambda self: 9)
    kinds.odd_choices = props.EnumProperty(items=lambda self, context: 1 / 0)
    _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    return Odd("It", "Cube")


def _no_numbers(folder: Path) -> Odd:
    it = _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    it["nan"] = NAN
    it["inf"] = [INF, -INF]
    it["deep"] = {"nan": NAN, "list": [NAN]}
    it["long"] = 2**31 - 1
    it["bytes"] = b"\xff\x00"
    it["object"] = cube()
    return Odd("It", "Cube", field="deep")


def _nan_points(folder: Path) -> Odd:
    _mesh("It", (NAN, 0, 0), (1, INF, 0), (0, 1, 0))
    return Odd("It", "Cube", "bounds", "bounds of It", "nan or inf")


def _endless_points(folder: Path) -> Odd:
    _mesh("It", (3e38, 0, 0), (-3e38, 3e38, 0), (0, -3e38, 3e38))
    return Odd("It", "Cube", "bounds", "bounds of It", "its box is endless")


def _nowhere(folder: Path) -> Odd:
    it = _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    it.location = (NAN, INF, 0)
    it.scale = (0, NAN, 1)
    return Odd("It", "Cube", "bounds", "bounds of It", "nan or inf")


def _nan_matrix(folder: Path) -> Odd:
    it = _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    it.parent = cube()
    it.matrix_parent_inverse = [[NAN] * 4] * 4
    it.delta_location = (NAN, 0, 0)
    return Odd("It", "Light")


def _empty_mesh(folder: Path) -> Odd:
    _mesh("It")
    return Odd("It", "Cube")


def _dead_library(folder: Path) -> Odd:
    """Objects of a file that is gone."""
    library = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(library), link=True) as (_, here):
        here.objects = ["Cube"]
        here.collections = ["Collection"]
    scene().collection.objects.link(here.objects[0])
    instance = _new("It")
    instance.instance_type = "COLLECTION"
    instance.instance_collection = here.collections[0]
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "set.blend"))
    library.unlink()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "set.blend"))
    return Odd(f"Cube [{bpy.data.libraries[0].filepath}]", "Light")


def _cycle_of_constraints(folder: Path) -> Odd:
    it = _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    it.constraints.new("COPY_LOCATION").target = thing("Camera")
    thing("Camera").constraints.new("COPY_LOCATION").target = it
    driven = it.driver_add("location", 0).driver
    driven.expression = "no_such_name + 1"
    return Odd("It", "Cube")


def _cycle_of_parents(folder: Path) -> Odd:
    it = _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    other = _new("Other")
    it.parent = other
    other.parent = it
    return Odd("It", "Cube")


def _cycle_of_instances(folder: Path) -> Odd:
    """A collection that is shown within itself."""
    it = _new("It")
    group = bpy.data.collections.new("Group")
    scene().collection.children.link(group)
    group.objects.link(it)
    it.instance_type = "COLLECTION"
    it.instance_collection = group
    return Odd("It", "Cube")


def _cycle_of_nodes(folder: Path) -> Odd:
    """A loop of links, and a group that is used in itself."""
    material = bpy.data.materials["Material"]
    material.use_nodes = True
    tree: Any = material.node_tree
    first = tree.nodes.new("ShaderNodeMath")
    second = tree.nodes.new("ShaderNodeMath")
    tree.links.new(first.outputs[0], second.inputs[0])
    tree.links.new(second.outputs[0], first.inputs[0])
    group: Any = bpy.data.node_groups.new("Group", "ShaderNodeTree")
    within = group.nodes.new("ShaderNodeGroup")
    within.node_tree = group
    return Odd("material:Material", "Cube")


def _nothing_in_it(folder: Path) -> Odd:
    """Modifiers, constraints, slots and nodes without what they need."""
    it = _mesh("It", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    for kind in ("BOOLEAN", "ARMATURE", "NODES", "MIRROR", "SHRINKWRAP", "DATA_TRANSFER", "HOOK"):
        it.modifiers.new(kind, kind)
    for kind in ("TRACK_TO", "CHILD_OF", "ACTION", "ARMATURE", "PIVOT"):
        it.constraints.new(kind)
    it.data.materials.append(None)
    return Odd("It", "Cube")


def _every_kind(folder: Path) -> Odd:
    """An object of each kind of data, empty."""
    data: Any = bpy.data
    _new("It", data.curves.new("It", "CURVE"))
    _new("Text", data.curves.new("Text", "FONT"))
    _new("Surface", data.curves.new("Surface", "SURFACE"))
    _new("Meta", data.metaballs.new("Meta"))
    _new("Rig", data.armatures.new("Rig"))
    _new("Lattice", data.lattices.new("Lattice"))
    _new("Volume", data.volumes.new("Volume"))
    _new("Probe", data.lightprobes.new("Probe", *_PROBE))
    _new("Speaker", data.speakers.new("Speaker"))
    _new("Nothing")
    bpy.data.objects.new("Loose", None)
    return Odd("It", "Cube")


_PROBE = ("CUBE",) if bpy.app.version < (4, 1) else ("SPHERE",)


def _volume(folder: Path) -> Odd:
    """A volume, a sound, an image and a clip whose files are not there."""
    volume = bpy.data.volumes.new("It")
    volume.filepath = "//gone.vdb"
    _new("It", volume)
    image = bpy.data.images.new("gone", 1, 1)
    image.source = "FILE"
    image.filepath = "//gone\n.png"
    return Odd("It", "Cube")


def _odd_name(folder: Path) -> Odd:
    _mesh("a\n\x07/b [c]:d", (0, 0, 0), (1, 0, 0), (0, 1, 0))
    return Odd("a\n\x07/b [c]:d", "Cube")


def _unknown_node(folder: Path) -> Odd:
    """A node of an add-on that is not there any more."""

    class OddNode(bpy.types.ShaderNodeCustomGroup):
        bl_idname = "OddNode"
        bl_label = "Odd"

    bpy.utils.register_class(OddNode)
    material = bpy.data.materials["Material"]
    material.use_nodes = True
    tree: Any = material.node_tree
    tree.nodes.new("OddNode").name = "It"
    bpy.utils.unregister_class(OddNode)
    return Odd("material:Material/It", "Cube")


def _dead_keys(folder: Path) -> Odd:
    """Keys of a modifier that was removed, beside keys of all that can be keyed."""
    rig = bpy.data.armatures.new("Rig")
    it = _new("It", rig)
    layer: Any = bpy.context.view_layer
    layer.objects.active = it
    bpy.ops.object.mode_set(mode="EDIT")
    rig.edit_bones.new("Bone.001").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    it["shot"] = 1.0
    it.keyframe_insert('["shot"]', frame=1)
    it.pose.bones[0]["Stretch.y"] = 1.0
    it.pose.bones[0].keyframe_insert("location", frame=1)
    it.pose.bones[0].keyframe_insert('["Stretch.y"]', frame=1)
    it.animation_data.action.name = "It"
    gone = it.constraints.new("COPY_LOCATION")
    gone.keyframe_insert("influence", frame=1)
    it.constraints.remove(gone)
    return Odd("It", "Cube", _DEAD, reason="lead to nothing")


KINDS: Final[dict[str, Callable[[Path], Odd]]] = {
    "an unreadable name": _unreadable,
    "a property that raises": _raising_property,
    "values of no numbers": _no_numbers,
    "points of no numbers": _nan_points,
    "points beyond a float": _endless_points,
    "a place of no numbers": _nowhere,
    "a matrix of no numbers": _nan_matrix,
    "an empty mesh": _empty_mesh,
    "a dead library": _dead_library,
    "a cycle of constraints": _cycle_of_constraints,
    "a cycle of parents": _cycle_of_parents,
    "a cycle of instances": _cycle_of_instances,
    "a cycle of nodes": _cycle_of_nodes,
    "nothing in it": _nothing_in_it,
    "every kind of data": _every_kind,
    "dead files": _volume,
    "an odd name": _odd_name,
    "an unknown node": _unknown_node,
    "keys of nothing": _dead_keys,
}


@pytest.fixture(scope="module", params=KINDS)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[HostOperations, Odd, Path]]:
    """A file with an odd item, for all of the calls."""
    folder = tmp_path_factory.mktemp("odd")
    bpy.ops.wm.read_factory_settings()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "set.blend"))
    host = BlenderHost()
    item = KINDS[request.param](folder)
    layer: Any = bpy.context.view_layer
    layer.update()
    yield BlenderOperations(host), item, folder
    host.close()


class TestOddItems(odd.OddItems):
    """Each kind of odd item, and each verb."""


def test_keys_of_custom_properties_and_of_bones_are_told(tmp_path: Path) -> None:
    """The last dot of such a path is none between two properties."""
    bpy.ops.wm.read_factory_settings()
    _dead_keys(tmp_path)
    host = BlenderHost()

    keys = BlenderOperations(host).look_into("It", "keys")

    host.close()

    bone = 'pose.bones["Bone.001"]'
    assert keys['["shot"]'] == [[1.0, 1.0]]
    assert keys[f'{bone}["Stretch.y"]'] == [[1.0, 1.0]]
    assert keys[f"{bone}.location"] == [[1.0, [0.0, 0.0, 0.0]]]
    assert _DEAD not in keys


def test_a_link_to_a_socket_that_its_node_has_disabled_is_told() -> None:
    bpy.ops.wm.read_factory_settings()
    material: Any = bpy.data.materials["Material"]
    material.use_nodes = True
    tree = material.node_tree
    value = tree.nodes.new("ShaderNodeValue")
    maths = tree.nodes.new("ShaderNodeMath")
    tree.links.new(value.outputs[0], maths.inputs[1])
    maths.operation = "SQRT"  # of one number
    host = BlenderHost()

    links = BlenderOperations(host).look_into("material:Material", "inputs")

    host.close()

    assert not maths.inputs[1].enabled
    assert [link.out for link in links if link.target.endswith("/Math")] == ["Value"]
