"""What an edit loses is seen, and taken back without a trace, to be run where ``bpy`` is.

`tests.blender.test_bpy` runs it in an interpreter of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import bpy

import bmesh  # isort: skip  # it is there once bpy is
import pytest

from dcc_bridge.errors import NotUndoable
from dcc_bridge_blender.aspects import Budget
from dcc_bridge_blender.block_lists import block_lists
from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.objects import HAS_IDS
from dcc_bridge_blender.orphans import SUFFIX
from dcc_bridge_blender.parts import parts_of
from dcc_bridge_blender.record import Record
from dcc_bridge_blender.trial import BlenderTrial
from tests.blender.things import cube, group, scene, thing
from tests.hosts.digests import scene_digest
from tests.hosts.losses_contract import Kind, Losing, TrialsContract, tried

RIG = "Rig"
VIEW_LAYER = "ViewLayer"


def mesh() -> Any:
    return cube().data


def steel() -> Any:
    return bpy.data.materials["Steel"]


def nodes() -> Any:
    return steel().node_tree.nodes


def name_of_action() -> str:
    return str(cube().animation_data.action.name)


def curves() -> list[Any]:
    action = cube().animation_data.action
    layers = getattr(action, "layers", ())
    bags = [bag for layer in layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags or [action] for curve in bag.fcurves]


def add(name: str, data: Any, owner: Any = None) -> Any:
    made = bpy.data.objects.new(name, data)
    (owner or scene().collection).objects.link(made)
    return made


def furnish(library: str) -> None:
    """Give the scene one of everything that the rows take away."""
    scene().world = bpy.data.worlds.get("World") or bpy.data.worlds.new("World")
    for name in ("Set", "Inner"):
        own = bpy.data.collections.new(name)
        scene().collection.children.link(own)
    group("Set").objects.link(cube())
    add("Box", bpy.data.meshes.new("Box"), group("Inner"))
    add("Child", None).parent = add("Parent", None)
    for material in [*bpy.data.materials]:  # also that of brushes, whose users 3.4 miscounts
        bpy.data.materials.remove(material)
    bpy.data.materials.new("Material")
    metal: Any = bpy.data.materials.new("Steel")
    metal.use_nodes = True
    mesh().materials.clear()
    mesh().materials.append(metal)
    texture = nodes().new("ShaderNodeTexImage")
    texture.name = "Wood"
    texture.image = bpy.data.images.new("wood.png", 4, 4)
    surface = next(it for it in nodes() if it.type == "BSDF_PRINCIPLED")
    metal.node_tree.links.new(texture.outputs[0], surface.inputs[0])
    tree: Any = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree.use_fake_user = True
    bpy.data.texts.new("Notes").write("one\ntwo\nthree")
    bpy.data.meshes.new("Spare").use_fake_user = False
    bpy.data.actions.new("Walk").use_fake_user = True
    cutter = add("Cutter", bpy.data.meshes.new("Cutter"))
    boolean: Any = cube().modifiers.new("Cut", "BOOLEAN")
    boolean.object = cutter
    track = thing("Camera").constraints.new("TRACK_TO")
    track.name = "Aim"
    track.target = cutter
    for frame in (1, 9):
        cube().keyframe_insert("location", frame=frame)
    cube().driver_add("scale", 0)
    cube().vertex_groups.new(name="Top").add([0, 1], 1.0, "ADD")
    cube().shape_key_add(name="Basis")
    cube().shape_key_add(name="Smile")
    cube()["shot"] = "sh010"
    scene()["show"] = "demo"
    scene().timeline_markers.new("cut", frame=5)
    scene().view_layers.new("Beauty")
    bpy.data.scenes.new("Other")
    libraries: Any = bpy.data.libraries  # its stub gives nothing to enter
    with libraries.load(library, link=True, relative=True) as (_, wanted):
        wanted.objects = ["Chair"]
    scene().collection.objects.link(wanted.objects[0])


def write_library(folder: Path) -> str:
    """Write a file with a chair in it."""
    file = str(folder / "lib.blend")
    bpy.data.objects.new("Chair", bpy.data.meshes.new("Chair"))
    bpy.data.libraries.write(file, {thing("Chair")})
    return file


def empty_text_and_remove_material() -> None:
    bpy.data.texts["Notes"].clear()
    remove(bpy.data.materials, "Steel")


def remove(items: Any, name: str) -> None:
    items.remove(items[name])


def made_again(name: str) -> Any:
    bpy.data.objects.remove(thing(name))
    return add(name, None)


def name_taken() -> None:
    bpy.data.objects.remove(thing("Box"))
    thing("Child").name = "Box"


def out_of_every_scene() -> None:
    for each in [*cube().users_collection]:
        each.objects.unlink(cube())


def delete_group() -> None:
    scene().collection.objects.link(thing("Box"))
    bpy.data.collections.remove(group("Inner"))


def delete_parent() -> None:
    bpy.data.batch_remove([thing("Parent"), thing("Child")])


def remove_keys(*places: int) -> None:
    for curve in curves():
        for at in reversed(places):
            curve.keyframe_points.remove(curve.keyframe_points[at])


def unlink_image() -> None:
    links = steel().node_tree.links
    links.remove(next(it for it in links if it.from_node.name == "Wood"))


def rename_all() -> None:
    wood = nodes()["Wood"]
    blocks: list[Any] = [cube(), mesh(), steel(), group("Set"), scene().world]
    blocks += [bpy.data.images["wood.png"], cube().animation_data.action]
    for block in blocks:
        block.name = "Renamed"
    renamed = thing("Renamed")
    for parts in (renamed.modifiers, renamed.vertex_groups, renamed.data.shape_keys.key_blocks,
                  scene().timeline_markers, scene().view_layers):  # fmt: skip
        parts[0].name = "Renamed"
    thing("Camera").constraints[0].name = "Renamed"
    wood.name = "Renamed"


def swap_names() -> None:
    cube().name = "Nobody"
    thing("Box").name = "Cube"
    thing("Nobody").name = "Box"


def purge() -> None:
    bpy.ops.outliner.orphans_purge(do_recursive=True)


def make_and_delete() -> None:
    bpy.data.objects.remove(add("Passing", None))


def select() -> None:
    thing("Box").select_set(True)
    scene().view_layers[0].objects.active = thing("Box")


def mute() -> None:
    cube().modifiers[0].show_viewport = False
    thing("Camera").constraints[0].mute = True


def set_values() -> None:
    scene().render.resolution_x = 77
    thing("Light").data.energy = 7
    cube()["shot"] = "sh020"
    bpy.data.texts["Notes"].write("\nfour")
    steel().use_fake_user = True
    mesh().materials[0] = bpy.data.materials["Material"]


IMAGE = f"image wood.png of material:Steel{SUFFIX}"
GEOMETRY = ("vertex group Top of Cube", "8 vertices of Cube", "UV map UVMap of Cube")
LOSSES: dict[str, Kind] = {
    "deleted": Kind(
        lambda: remove(bpy.data.objects, "Cutter"),
        "Cutter",
        broken=("Aim of Camera", "Cut of Cube"),
    ),
    "parent_deleted": Kind(delete_parent, "Child", "Parent"),
    "made_again": Kind(lambda: made_again("Box"), "Box"),
    "name_taken": Kind(name_taken, "Box"),
    "out_of_every_scene": Kind(out_of_every_scene, "Cube"),
    "group": Kind(delete_group, "collection:Inner"),
    "group_out_of_scene": Kind(
        lambda: scene().collection.children.unlink(group("Inner")), "collection:Inner"
    ),
    "group_member": Kind(
        lambda: group("Set").objects.unlink(cube()), "object Cube of collection:Set"
    ),
    "scene": Kind(lambda: remove(bpy.data.scenes, "Other"), "scene:Other"),
    "material": Kind(
        lambda: remove(bpy.data.materials, "Steel"),
        "material:Steel",
        IMAGE,
        broken=("material of Cube",),
    ),
    "material_slot": Kind(lambda: mesh().materials.clear(), f"material Steel of Cube{SUFFIX}"),
    "geometry_data": Kind(lambda: remove(bpy.data.meshes, "Spare"), "mesh:Spare"),
    "geometry": Kind(lambda: mesh().clear_geometry(), *GEOMETRY),
    "image": Kind(
        lambda: remove(bpy.data.images, "wood.png"),
        "image:wood.png",
        broken=("node Wood of material:Steel",),
    ),
    "text": Kind(lambda: remove(bpy.data.texts, "Notes"), "text:Notes"),
    "text_content": Kind(lambda: bpy.data.texts["Notes"].clear(), "3 lines of text:Notes"),
    "action": Kind(lambda: remove(bpy.data.actions, "Walk"), "action:Walk"),
    "world": Kind(
        lambda: remove(bpy.data.worlds, "World"), "world:World", broken=("world of scene:Scene",)
    ),
    "camera": Kind(
        lambda: bpy.data.cameras.remove(thing("Camera").data),
        "Camera",
        broken=("camera of scene:Scene",),
    ),
    "light": Kind(lambda: bpy.data.lights.remove(thing("Light").data), "Light"),
    "node_group": Kind(lambda: remove(bpy.data.node_groups, "Nodes"), "nodetree:Nodes"),
    "node": Kind(lambda: remove(nodes(), "Wood"), "node Wood of material:Steel", IMAGE),
    "link": Kind(unlink_image, "link from Wood to Principled BSDF of material:Steel"),
    "modifier": Kind(lambda: remove(cube().modifiers, "Cut"), "modifier Cut of Cube"),
    "constraint": Kind(
        lambda: remove(thing("Camera").constraints, "Aim"), "constraint Aim of Camera"
    ),
    "driver": Kind(lambda: cube().driver_remove("scale", 0), "driver of scale of Cube"),
    "animation": Kind(
        lambda: cube().animation_data_clear(),
        "driver of scale of Cube",
        f"action CubeAction of Cube{SUFFIX}",
    ),
    "keys": Kind(lambda: remove_keys(0, 1), "2 keys of location of Cube"),
    "one_key": Kind(lambda: remove_keys(1), "1 key of location of Cube"),
    "vertex_group": Kind(lambda: remove(cube().vertex_groups, "Top"), "vertex group Top of Cube"),
    "shape_key": Kind(
        lambda: cube().shape_key_remove(mesh().shape_keys.key_blocks["Smile"]),
        "shape key Smile of Cube",
    ),
    "custom_property": Kind(lambda: cube().pop("shot"), "custom property shot of Cube"),
    "marker": Kind(lambda: remove(scene().timeline_markers, "cut"), "marker cut of scene:Scene"),
    "attribute": Kind(lambda: remove(mesh().uv_layers, "UVMap"), "UV map UVMap of Cube"),
    "layer": Kind(
        lambda: remove(scene().view_layers, "Beauty"), "view layer Beauty of scene:Scene"
    ),
    "scene_metadata": Kind(lambda: scene().pop("show"), "custom property show of scene:Scene"),
    "unused": Kind(purge, "material:Material", "mesh:Spare"),
}
if bpy.app.version < (4, 0):
    LOSSES["reference"] = Kind(
        lambda: bpy.data.libraries.remove(bpy.data.libraries[0]),
        "Chair [//lib.blend]",
        "library:lib.blend",
    )
NO_LOSSES: dict[str, Kind] = {
    "nothing": Kind(lambda: None),
    "made": Kind(lambda: add("New", bpy.data.meshes.new("New"))),
    "made_and_deleted": Kind(make_and_delete),
    "renamed": Kind(rename_all),
    "names_swapped": Kind(swap_names),
    "parent_changed": Kind(lambda: setattr(thing("Child"), "parent", cube())),
    "moved": Kind(lambda: setattr(cube(), "location", (1, 2, 3))),
    "value_set": Kind(set_values),
    "hidden": Kind(lambda: cube().hide_set(True)),
    "muted": Kind(mute),
    "selected": Kind(select),
}
NO_LAYERS = "Blender has no layers of a scene's content"
GONE_FOR_GOOD = "undo does not bring back a library that is removed, and it is an error: see below"
NO_SKETCH = "Blender has no sketches"
NO_USD = "Blender composes nothing"


def rig() -> Any:
    return bpy.data.armatures["Rig"]


def equip() -> None:
    """Give the scene what is in no row of the table."""
    bpy.ops.rigidbody.world_add()
    scene().rigidbody_world.collection = bpy.data.collections.new("Bodies")
    scene().rigidbody_world.collection.objects.link(cube())
    scene().keying_sets.new(name="Pose")
    cube().asset_mark()
    tree: Any = bpy.data.node_groups["Nodes"]
    if hasattr(tree, "interface"):
        tree.interface.new_socket("Height", socket_type="NodeSocketFloat")
        tree.interface.new_panel("Settings")
    else:
        tree.inputs.new("NodeSocketFloat", "Height")
    track: Any = cube().animation_data.nla_tracks.new()
    track.name = "Layer"
    scene().sequence_editor_create()
    strips = scene().sequence_editor
    strips = strips.strips if hasattr(strips, "strips") else strips.sequences
    strips.new_effect(name="Red", type="COLOR", channel=1, frame_start=1, **LENGTH)
    mesh().attributes.new("heat", "FLOAT", "POINT")
    curves()[0].modifiers.new("NOISE")
    ramp: Any = nodes().new("ShaderNodeValToRGB")
    ramp.name = "Ramp"
    ramp.color_ramp.elements.new(0.5)
    thing("Box").data.materials.append(steel())
    thing("Box").data.materials.append(bpy.data.materials["Material"])
    thing("Cutter").data.materials.append(None)
    thing("Cutter").material_slots[0].link = "OBJECT"
    thing("Cutter").material_slots[0].material = steel()
    bones = add("Rig", bpy.data.armatures.new("Rig"))
    scene().view_layers[0].objects.active = bones
    bpy.ops.object.mode_set(mode="EDIT")
    rig().edit_bones.new("Hand").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig().bones["Hand"]["side"] = "left"
    bones.pose.bones["Hand"]["ik"] = 1
    equip_owners(track)
    equip_layers()


def equip_owners(track: Any) -> None:
    """Give custom properties to what may have them, and content to what may be emptied."""
    for name in ("Run", "Jump"):
        action = bpy.data.actions.new(name)
        action.use_fake_user = name == "Jump"
        track.strips.new(name, 1 if name == "Run" else 90, action)
    scene().view_layers[0]["note"] = "final"
    scene().collection["note"] = "final"
    steel().node_tree["note"] = "final"
    nodes()["Wood"]["note"] = "final"
    cube()["pipeline"] = {"shot": {"take": 1}, "step": 2}
    cube()["list"] = [1, 2, 3]
    cube()["text"] = "Ask Ann"
    ball = bmesh.new()
    bmesh.ops.create_icosphere(ball, subdivisions=2, radius=1)
    add("Ball", bpy.data.meshes.new("Ball"))
    ball.to_mesh(thing("Ball").data)
    ball.free()
    title: Any = bpy.data.curves.new("Title", "FONT")
    title.body = "All the credits of the film"
    add("Title", title)
    path: Any = bpy.data.curves.new("Path", "CURVE")
    path.splines.new("BEZIER").bezier_points.add(3)
    for at, point in enumerate(path.splines[0].bezier_points):
        point.co = (at, 1, 0)
    add("Path", path)
    cube().modifiers.new("Emitter", "PARTICLE_SYSTEM")
    cube().particle_systems[0].settings.name = "Dust"


def equip_layers() -> None:
    """Give content to layers, and weights to a group."""
    colors: Any = mesh().color_attributes.new("Painted", "BYTE_COLOR", "CORNER")
    colors.data[0].color = (0.5, 0.5, 0, 1)
    mesh().attributes["heat"].data[3].value = 7
    uv = mesh().uv_layers[0].data
    uv[0].uv = (0.3, 0.3)
    mesh().shape_keys.key_blocks["Smile"].data[0].co = (5, 5, 5)
    for name in ("Left", "Right"):
        cube().vertex_groups.new(name=name).add([2, 3, 4], 0.5, "ADD")


LENGTH: dict[str, int] = {"length" if bpy.app.version >= (5, 0) else "frame_end": 9}


def remove_socket() -> None:
    tree: Any = bpy.data.node_groups["Nodes"]
    if hasattr(tree, "interface"):
        remove_from_interface("Height")
    else:
        tree.inputs.clear()


def remove_panel() -> None:
    remove_from_interface("Settings")


def remove_from_interface(name: str) -> None:
    tree: Any = bpy.data.node_groups["Nodes"]
    tree.interface.remove(tree.interface.items_tree[name])


def remove_strip() -> None:
    editor = scene().sequence_editor
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    strips.remove(strips[0])


def remove_bone() -> None:
    scene().view_layers[0].objects.active = thing("Rig")
    bpy.ops.object.mode_set(mode="EDIT")
    rig().edit_bones.remove(rig().edit_bones[0])
    bpy.ops.object.mode_set(mode="OBJECT")


def remove_curve_modifier() -> None:
    modifiers = curves()[0].modifiers
    modifiers.remove(modifiers[0])


def remove_ramp_point() -> None:
    ramp: Any = nodes()["Ramp"]
    ramp.color_ramp.elements.remove(ramp.color_ramp.elements[1])


def add_slot() -> None:
    mesh().materials.append(None)
    cube().active_material_index = 1


def strips() -> Any:
    return cube().animation_data.nla_tracks["Layer"].strips


def remove_strip_of_track(name: str) -> None:
    strips().remove(strips()[name])


def add_uv(name: str) -> None:
    mesh().uv_layers.remove(mesh().uv_layers[0])
    mesh().uv_layers.new(name=name)


def add_colors(name: str) -> None:
    remove(mesh().color_attributes, "Painted")
    mesh().color_attributes.new(name, "BYTE_COLOR", "CORNER")


def add_attribute(name: str) -> None:
    remove(mesh().attributes, "heat")
    mesh().attributes.new(name, "FLOAT", "POINT")


def add_shape_key(name: str) -> None:
    cube().shape_key_remove(mesh().shape_keys.key_blocks["Smile"])
    cube().shape_key_add(name=name)


def add_constraint() -> None:
    constraints = thing("Camera").constraints
    constraints.remove(constraints["Aim"])
    constraints.new("TRACK_TO").name = "Other"


def add_modifier() -> None:
    remove(cube().modifiers, "Cut")
    cube().modifiers.new("Other", "BOOLEAN")


def add_bone() -> None:
    scene().view_layers[0].objects.active = thing("Rig")
    bpy.ops.object.mode_set(mode="EDIT")
    rig().edit_bones.remove(rig().edit_bones[0])
    rig().edit_bones.new("Other").tail = (0, 3, 1)
    bpy.ops.object.mode_set(mode="OBJECT")


def rename_bone() -> None:
    scene().view_layers[0].objects.active = thing("Rig")
    bpy.ops.object.mode_set(mode="EDIT")
    rig().edit_bones[0].name = "Wrist"
    bpy.ops.object.mode_set(mode="OBJECT")


def replace_steel() -> None:
    other = bpy.data.materials["Material"]
    for name in ("Cube", "Box", "Cutter"):
        thing(name).material_slots[0].material = other


def draw() -> Any:
    """Draw two strokes, and return the frame that has them."""
    lists: Any = getattr(bpy.data, "grease_pencils_v3", bpy.data.grease_pencils)
    pencil = lists.new("Drawing")
    frame = pencil.layers.new("Lines").frames.new(1)
    if bpy.app.version >= (4, 3):
        frame.drawing.add_strokes([2, 3])
    else:
        for count in (2, 3):
            frame.strokes.new().points.add(count)
    add("Drawing", pencil)
    return frame


def erase(frame: Any) -> None:
    """Delete a stroke of a frame."""
    if bpy.app.version >= (4, 3):
        frame.drawing.remove_strokes(indices=(0,))
    else:
        frame.strokes.remove(frame.strokes[0])


def remove_weights(*names: str) -> None:
    for name in names:
        cube().vertex_groups[name].remove([2, 3])


def make_mesh_anew() -> None:
    cube().shape_key_clear()
    points = [(float(at), 20.0, 0.0) for at in range(40)]
    mesh().clear_geometry()
    mesh().from_pydata(points, [], [(at, at + 1, at + 2) for at in range(38)])


def make_spline_anew() -> None:
    splines = thing("Path").data.splines
    splines.clear()
    splines.new("POLY").points.add(20)


def edit_mesh() -> None:
    """Subdivide a mesh, extrude it, and move all of it."""
    edited = bmesh.new()
    edited.from_mesh(thing("Ball").data)
    bmesh.ops.subdivide_edges(edited, edges=edited.edges[:], cuts=1)
    bmesh.ops.extrude_face_region(edited, geom=[*edited.faces[:2]])
    edited.to_mesh(thing("Ball").data)
    edited.free()


def move_and_extend_mesh() -> None:
    edited = bmesh.new()
    edited.from_mesh(thing("Ball").data)
    for vertex in edited.verts:
        vertex.co.x += 9
    bmesh.ops.extrude_face_region(edited, geom=[*edited.faces[-2:]])
    edited.to_mesh(thing("Ball").data)
    edited.free()


def rename_layers() -> None:
    mesh().uv_layers[0].name = "Renamed map"
    mesh().color_attributes["Painted"].name = "Renamed colors"
    mesh().attributes["heat"].name = "Renamed heat"
    mesh().shape_keys.key_blocks["Smile"].name = "Renamed smile"
    left, right = cube().vertex_groups["Left"], cube().vertex_groups["Right"]
    left.name = "Nobody"
    right.name = "Left"
    left.name = "Right"
    strips()["Run"].name = "Renamed run"
    nodes()["Ramp"].name = "Renamed ramp"


def set_contents() -> None:
    """Write other values over those that are there."""
    mesh().uv_layers[0].data[1].uv = (0.7, 0.7)
    mesh().color_attributes["Painted"].data[1].color = (0.1, 0, 0, 1)
    mesh().attributes["heat"].data[0].value = 3
    mesh().shape_keys.key_blocks["Smile"].data[1].co = (3, 3, 3)
    cube().vertex_groups["Left"].add([2, 3], 0.9, "REPLACE")
    cube()["pipeline"]["shot"]["take"] = 9
    cube()["list"] = [7]
    cube()["text"] = "Ask Bob"
    thing("Title").data.body = "All the credits of this film"
    for vertex in mesh().vertices:
        vertex.co.x += 3
    for point in thing("Path").data.splines[0].bezier_points:
        point.co.z += 3


BEYOND: dict[str, Kind] = {
    "rigid bodies": Kind(
        lambda: bpy.ops.rigidbody.world_remove(), "rigid body world of scene:Scene"
    ),
    "keying set": Kind(
        lambda: scene().keying_sets.active and bpy.ops.anim.keying_set_remove(),
        "keying set Pose of scene:Scene",
    ),
    "asset": Kind(lambda: cube().asset_clear(), "asset data of Cube"),
    "socket": Kind(remove_socket, "socket Height of nodetree:Nodes"),
    "track": Kind(
        lambda: remove(cube().animation_data.nla_tracks, "Layer"),
        "NLA track Layer of Cube",
        f"action:Run{SUFFIX}",
    ),
    "strip": Kind(remove_strip, "strip Red of scene:Scene"),
    "bone": Kind(remove_bone, "bone Hand of Rig"),
    "property of a bone": Kind(
        lambda: rig().bones["Hand"].pop("side"), "custom property side of bone Hand of Rig"
    ),
    "property of a posed bone": Kind(
        lambda: thing("Rig").pose.bones["Hand"].pop("ik"), "custom property ik of bone Hand of Rig"
    ),
    "attribute": Kind(lambda: remove(mesh().attributes, "heat"), "attribute heat of Cube"),
    "modifier of a curve": Kind(remove_curve_modifier, "1 curve modifier of location of Cube"),
    "point of a ramp": Kind(remove_ramp_point, "1 point of node Ramp of material:Steel"),
    "one of two slots": Kind(
        lambda: thing("Box").data.materials.pop(index=0), "material Steel of Box"
    ),
    "an object's own slot": Kind(
        lambda: setattr(thing("Cutter").material_slots[0], "material", None),
        "material Steel of Cutter",
    ),
    "a slot that becomes the object's": Kind(
        lambda: setattr(cube().material_slots[0], "link", "OBJECT"), "material Steel of Cube"
    ),
    "another slot that is made the active one": Kind(add_slot),
    "strip of a track": Kind(
        lambda: remove_strip_of_track("Jump"), "strip Jump of NLA track Layer of Cube"
    ),
    "action of a strip": Kind(
        lambda: remove_strip_of_track("Run"),
        "strip Run of NLA track Layer of Cube",
        f"action:Run{SUFFIX}",
    ),
    "property of a view layer": Kind(
        lambda: scene().view_layers[0].pop("note"),
        f"custom property note of view layer {VIEW_LAYER} of scene:Scene",
    ),
    "property of the scene's collection": Kind(
        lambda: scene().collection.pop("note"),
        "custom property note of scene collection of scene:Scene",
    ),
    "property of a tree": Kind(
        lambda: steel().node_tree.pop("note"), "custom property note of nodes of material:Steel"
    ),
    "property of a node": Kind(
        lambda: nodes()["Wood"].pop("note"), "custom property note of node Wood of material:Steel"
    ),
    "property in a group": Kind(
        lambda: cube()["pipeline"].pop("shot"), "custom property pipeline/shot of Cube"
    ),
    "group of properties that is emptied": Kind(
        lambda: cube()["pipeline"].clear(), "content of custom property pipeline of Cube"
    ),
    "list that is emptied": Kind(
        lambda: cube().__setitem__("list", []), "content of custom property list of Cube"
    ),
    "property that is emptied": Kind(
        lambda: cube().__setitem__("text", ""), "content of custom property text of Cube"
    ),
    "a part, and what another thing used": Kind(
        empty_text_and_remove_material,
        "material:Steel",
        "3 lines of text:Notes",
        IMAGE,
    ),
    "text in the scene": Kind(
        lambda: setattr(thing("Title").data, "body", ""),
        'text "All the credits of the film" of Title',
    ),
    "another text in the scene": Kind(
        lambda: setattr(thing("Title").data, "body", "X"),
        'text "All the credits of the film" of Title',
    ),
    "spline that another one replaces": Kind(make_spline_anew, "geometry of Path"),
    "mesh that another one replaces": Kind(
        make_mesh_anew,
        *(f"vertex group {name} of Cube" for name in ("Top", "Left", "Right")),
        "geometry of Cube",
        *("UV map UVMap of Cube", "color attribute Painted of Cube", "attribute heat of Cube"),
        *("shape key Basis of Cube", "shape key Smile of Cube"),
    ),
    "UV map that another one replaces": Kind(lambda: add_uv("Other"), "UV map UVMap of Cube"),
    "UV map of the same name": Kind(lambda: add_uv("UVMap"), "content of UV map UVMap of Cube"),
    "colors that others replace": Kind(
        lambda: add_colors("Other"), "color attribute Painted of Cube"
    ),
    "colors of the same name": Kind(
        lambda: add_colors("Painted"), "content of color attribute Painted of Cube"
    ),
    "attribute that another one replaces": Kind(
        lambda: add_attribute("other"), "attribute heat of Cube"
    ),
    "attribute of the same name": Kind(
        lambda: add_attribute("heat"), "content of attribute heat of Cube"
    ),
    "shape key that another one replaces": Kind(
        lambda: add_shape_key("Other"), "shape key Smile of Cube"
    ),
    "constraint that another one replaces": Kind(add_constraint, "constraint Aim of Camera"),
    "modifier that another one replaces": Kind(add_modifier, "modifier Cut of Cube"),
    "bone that another one replaces": Kind(add_bone, "bone Hand of Rig"),
    "weights of a group": Kind(
        lambda: remove_weights("Left"), "vertex weights of group Left of Cube"
    ),
    "weights of groups": Kind(
        lambda: remove_weights("Left", "Right"), "vertex weights of 2 groups of Cube"
    ),
    "weights that are set to 0": Kind(
        lambda: cube().vertex_groups["Left"].add([2], 0, "REPLACE"),
        "vertex weights of group Left of Cube",
    ),
    "fake user": Kind(
        lambda: setattr(bpy.data.node_groups["Nodes"], "use_fake_user", False),
        f"nodetree:Nodes{SUFFIX}",
    ),
    "material in a slot that others have still": Kind(
        lambda: mesh().materials.__setitem__(0, bpy.data.materials["Material"])
    ),
    "material that another one replaces": Kind(replace_steel, f"material Steel of 3 items{SUFFIX}"),
    "settings of particles": Kind(
        lambda: remove(cube().modifiers, "Emitter"),
        "modifier Emitter of Cube",
        f"particlesettings:Dust{SUFFIX}",
    ),
    "layers that are renamed": Kind(rename_layers),
    "bone that is renamed": Kind(rename_bone),
    "contents that are set": Kind(set_contents),
    "mesh that is edited": Kind(edit_mesh),
    "mesh that is moved and extended": Kind(move_and_extend_mesh),
}


if bpy.app.version >= (4, 0):
    BEYOND["panel"] = Kind(remove_panel, "panel Settings of nodetree:Nodes")


class TestLosses(TrialsContract):
    KNOWS_AGAIN: ClassVar[bool] = HAS_IDS
    KINDS: ClassVar[Mapping[str, Kind]] = {**LOSSES, **NO_LOSSES}
    HAS_NOT: ClassVar[Mapping[str, str]] = {
        "inactive": "what is hidden or excluded from a view layer is in the scene still",
        "undefined": NO_USD,
        "abstract": NO_USD,
        "payload": NO_USD,
        "variant": NO_USD,
        "type": "an object keeps its type",
        "expression": "it is the driver's",
        "sketch_geometry": NO_SKETCH,
        "sketch_constraint": NO_SKETCH,
        "cell": "Blender has no spreadsheets that are edited",
        "value": "a property has a value always, and its default is one",
        "relationship": "what a property refers to is a value of it",
        "layer_content": NO_LAYERS,
        **{name: GONE_FOR_GOOD for name in ("reference",) if name not in LOSSES},
    }

    @pytest.fixture
    def losing(self, tmp_path: Path) -> Iterator[Losing]:
        bpy.ops.wm.read_factory_settings()
        library = write_library(tmp_path)
        bpy.ops.wm.read_factory_settings()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "set.blend"))
        furnish(library)
        host = BlenderHost()
        shifts = iter(range(1, 100))

        def edit() -> None:
            thing("Box").location.x += next(shifts)

        with host.undo_step("Furnished"):
            edit()
        yield Losing(host, edit)
        host.close()

    @pytest.mark.parametrize("name", BEYOND)
    def test_what_is_in_no_row_is_named_as_well(self, losing: Losing, name: str) -> None:
        host = losing.host
        with host.undo_step("Equipped"):
            equip()
        assert host.lost([]) == []

        kind = BEYOND[name]
        with tried(host, "Tried") as trial:
            kind.edit()
            in_step = host.lost([])
            is_complete = trial.is_complete
            trial.revert()
            reverted = host.lost([])
        with host.undo_step("Ours"):
            kind.edit()
        after = host.lost([])
        beside = host.lost(after)

        assert tuple(after) == kind.lost
        assert in_step == after
        assert reverted == beside == []
        assert is_complete

    def test_a_loss_that_is_too_large_to_be_seen_is_said_to_be_possible(
        self, losing: Losing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of the weights of many vertices a sample is read, and a large UV map is left out."""
        host = losing.host
        with host.undo_step("Equipped"):
            equip()
        monkeypatch.setattr(f"{Budget.__module__}._MAX_CONTENT", 10)
        monkeypatch.setattr(f"{Budget.__module__}._MAX_WEIGHED", 4)

        with tried(host, "Ours") as trial:
            add_uv("Other")
            remove_weights("Left")
            lost = host.lost([])
            is_complete = trial.is_complete
            trial.revert()

        assert lost == ["vertex weights of group Left of Cube"]
        assert not is_complete

    def test_strokes_that_are_deleted_are_named(self, losing: Losing) -> None:
        """Until 4.3 a drawing is another kind of data."""
        host = losing.host
        with host.undo_step("Drawn"):
            drawing = draw()
        with host.undo_step("Ours"):
            erase(drawing)

        assert host.lost([]) == ["1 stroke of layer Lines of Drawing"]

    def test_of_a_list_that_is_deleted_whole_no_part_is_read(self, losing: Losing) -> None:
        """Reading the geometry of no mesh at all ended the step without an entry."""
        budget = Budget()
        parts = [part for every in block_lists() for part in parts_of(every, budget)]
        assert len(parts) > 10

        for part in parts:
            left = part.without({id(each) for each in part.blocks})
            assert [*left.gone(budget)] == []

    @pytest.mark.skipif("reference" in LOSSES, reason="undo brings a library back until 3.6")
    def test_a_library_that_undo_does_not_bring_back_is_named(self, losing: Losing) -> None:
        """It is asked about as every loss is, and an undo that fails says so."""
        host = losing.host
        with host.undo_step("Ours"):
            bpy.data.libraries.remove(bpy.data.libraries[0])

        assert host.lost([]) == ["Chair [//lib.blend]", "library:lib.blend"]
        with pytest.raises(NotUndoable, match="did not restore Chair"):
            host.undo()

    def test_losses_that_could_not_be_found_are_not_taken_for_none(
        self, losing: Losing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_: object) -> None:
            raise ReferenceError("It was removed.")

        monkeypatch.setattr(Record, "losses", fail)
        with pytest.raises(ReferenceError), losing.host.undo_step("Ours"):
            remove(bpy.data.objects, "Cube")

        with pytest.raises(RuntimeError, match="could not find out"):
            losing.host.lost([])

    @pytest.mark.parametrize("was_in_it", [False, True])
    def test_what_is_deleted_in_edit_mode_is_named_there(
        self, losing: Losing, *, was_in_it: bool
    ) -> None:
        """The mesh itself is as it was before that mode, until it ends."""
        scene().view_layers[0].objects.active = cube()
        if was_in_it:
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.ed.undo_push(message="Edit mode")

        with losing.host.undo_step("Ours"):
            bpy.ops.object.mode_set(mode="EDIT")
            nothing = losing.host.lost([])
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.mesh.delete(type="VERT")
            in_step = losing.host.lost([])

        assert nothing == []
        assert in_step == losing.host.lost([]) == ["8 vertices of Cube"]

    def test_data_and_keys_that_others_took_the_place_of_are_named(self, losing: Losing) -> None:
        """Nothing has them any more, and the next save leaves them out."""
        host = losing.host
        own = name_of_action()
        with host.undo_step("Ours"):
            cube().data = bpy.data.meshes.new("Empty")
            cube().animation_data.action = bpy.data.actions.new("Still")
        lost = host.lost([])
        agreed = host.lost(["Cube"])

        assert {f"mesh Cube of Cube{SUFFIX}", f"action {own} of Cube{SUFFIX}"} <= set(lost)
        assert agreed == []

    def test_who_may_change_an_object_may_put_it_into_fewer_collections(
        self, losing: Losing
    ) -> None:
        """So do `group` and `rename` in a batch in which something else is deleted."""
        with losing.host.undo_step("Ours"):
            group("Set").objects.unlink(cube())
            cube().name = "Block"
            everything, old, new = (losing.host.lost(it) for it in ([], ["Cube"], ["Block"]))

        assert everything == ["object Block of collection:Set"]
        assert old == new == []

    def test_an_edit_without_an_entry_stays_after_a_revert(self, losing: Losing) -> None:
        """A script's or a timer's; undo takes it back as an entry of its own."""
        host = losing.host
        thing("Light").location.z = 3
        with tried(host, "Ours") as trial:
            remove(bpy.data.objects, "Cube")
            trial.revert()
        label = host.undo_mark().label
        height = thing("Light").location.z

        host.undo()

        assert label == "Edit outside a step"
        assert height == 3
        assert thing("Light").location.z != 3

    def test_a_pose_without_a_key_stays_after_a_revert(self, losing: Losing) -> None:
        """To evaluate the animation anew would take it."""
        with losing.host.undo_step("Pose"):
            cube().location.x = 7

        with tried(losing.host, "Ours") as trial:
            remove(bpy.data.objects, "Cube")
            trial.revert()

        assert cube().location.x == 7

    def test_what_undo_does_not_hold_is_put_back_by_a_revert_or_named(self, losing: Losing) -> None:
        handlers: list[Any] = bpy.app.handlers.frame_change_post
        before = list(handlers)
        thing("Box").select_set(True)
        scene().frame_set(4)
        preferences: Any = bpy.context.preferences
        levels = preferences.edit.undo_steps

        with tried(losing.host, "Ours") as trial:
            handlers.append(lambda *_: None)
            bpy.app.driver_namespace["ours"] = 1
            scene().cursor.location = (1, 2, 3)
            scene().frame_set(9)
            remove(bpy.data.objects, "Box")
            preferences.edit.undo_steps = levels + 1
            left = trial.revert()
        preferences.edit.undo_steps = levels

        assert left == ["the preferences"]
        assert list(handlers) == before
        if bpy.app.binary_path or bpy.app.version >= (5,):  # else 4.5 would hang as it quits
            assert "ours" not in bpy.app.driver_namespace
        assert tuple(scene().cursor.location) == (0, 0, 0)
        assert scene().frame_current == 4
        assert thing("Box").select_get()

    @pytest.mark.parametrize("is_ahead", [False, True])
    def test_a_large_scene_is_reverted_by_an_entry_unless_there_is_something_to_redo(
        self, losing: Losing, monkeypatch: pytest.MonkeyPatch, *, is_ahead: bool
    ) -> None:
        """To read the whole file twice takes seconds; what is left to redo does nothing."""
        monkeypatch.setattr(f"{BlenderTrial.__module__}._MAX_READ_TWICE", 0)
        host = losing.host
        with host.undo_step("Redone"):
            losing.edit()
        if is_ahead:
            host.undo()
        before = scene_digest(host)
        mark = host.undo_mark()

        with tried(host, "Ours") as trial:
            remove(bpy.data.objects, "Cube")
            trial.revert()
        after = scene_digest(host)
        marked = host.undo_mark()
        host.redo()

        assert trial.keeps_redo == is_ahead
        assert after == before
        assert marked == mark
        assert "Cube" in bpy.data.objects
        assert (scene_digest(host) == before) != is_ahead

    def test_an_edit_in_edit_mode_is_reverted_in_that_mode(self, losing: Losing) -> None:
        """Where the newest entry is one of the mode, the old way of undo restores nothing."""
        scene().view_layers[0].objects.active = cube()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.ed.undo_push(message="Edit mode")
        before = losing.host.undo_mark()

        with tried(losing.host, "Ours") as trial:
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.mesh.delete(type="VERT")
            trial.revert()
        mode = cube().mode
        bpy.ops.object.mode_set(mode="OBJECT")

        assert not trial.keeps_redo
        assert mode == "EDIT"
        assert len(mesh().vertices) == 8
        assert losing.host.undo_mark() == before

    def test_entries_that_a_body_makes_itself_are_reverted_too(self, losing: Losing) -> None:
        before = scene_digest(losing.host)
        mark = losing.host.undo_mark()

        with tried(losing.host, "Ours") as trial:
            remove(bpy.data.objects, "Cube")
            bpy.ops.ed.undo_push(message="Its own")
            remove(bpy.data.objects, "Light")
            was_edited = trial.is_edited()
            trial.revert()
        after = scene_digest(losing.host)

        assert was_edited
        assert after == before
        assert losing.host.undo_mark() == mark
