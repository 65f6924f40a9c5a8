"""Names of Blender's API that newer versions do not have, and what took their place. Main thread.

An agent has learnt most of its Blender from 2.8 to 4.x. `find_api` and the error of agreed code
tell it the new name, with a line to copy.

Sources of the facts: "4.5 to 5.0" of https://docs.blender.org/api/5.0/change_log.html, the pages
"Python API" and "Compositor" of https://developer.blender.org/docs/release_notes/, and what
Debian's Blender 3.4.1 and the wheels of bpy 4.5.15, 5.2.3 and 5.3.0 have and lack. A test runs each
line in each of them that lacks the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import bpy

from dcc_bridge.spi import ApiEntry, BridgeError

_OPERATORS: Final = "bpy.ops"
_NODES: Final = "create type"
_ANY: Final = "*"
_WEIGHT: Final = 0.6  # of a card, beside one for what there is
# How Blender 3.4 to 5.3 say that a member of a type, an operator or a kind of node is not there.
_MESSAGES: Final = (
    re.compile(r"'(\w+)' object has no attribute '(\w+)'"),
    re.compile(r"Calling operator \"(bpy\.ops)\.([\w.]+)\" error, could not be found"),
    re.compile(r"()Node type (\w+) undefined"),
)


class Gone(NamedTuple):
    """A name that a version took away.

    Attributes:
        since: The first major version without it.
        instead: What took its place.
        example: A line of code that uses that.
    """

    since: int
    instead: str
    example: str

    def __str__(self) -> str:
        """Return a sentence for an agent."""
        return f"gone since Blender {self.since}; use {self.instead}: {self.example}"


_CHANNELS: Final = "action.layers[0].strips[0].channelbag(obj.animation_data.action_slot)"
_SOCKET: Final = (
    'tree.interface.new_socket("Image", in_out="OUTPUT", socket_type="NodeSocketColor")'
)
_ITS_INPUTS: Final = "print({it.name: getattr(it, 'default_value', None) for it in node.inputs})"

# Each by its owner and its name. The owner is a type, or one of its bases.
GONE: Final[dict[tuple[str, str], Gone]] = {
    # Scenes, and what they render.
    ("Scene", "node_tree"): Gone(
        5,
        "Scene.compositing_node_group",
        'scene.compositing_node_group = bpy.data.node_groups.new("Comp", "CompositorNodeTree")',
    ),
    ("SceneEEVEE", "use_gtao"): Gone(5, "SceneEEVEE.use_fast_gi", "scene.eevee.use_fast_gi = True"),
    ("SceneEEVEE", "gtao_distance"): Gone(
        5, "SceneEEVEE.fast_gi_distance", "scene.eevee.fast_gi_distance = 0.2"
    ),
    ("SceneEEVEE", "use_bloom"): Gone(
        4, "the compositor's node Glare", 'tree.nodes.new("CompositorNodeGlare")'
    ),
    ("RenderSettings", "bake_type"): Gone(
        5, "BakeSettings.type", 'scene.render.bake.type = "NORMALS"'
    ),
    ("RenderSettings", "bake_margin"): Gone(
        5, "BakeSettings.margin", "scene.render.bake.margin = 16"
    ),
    ("RenderSettings", "use_bake_clear"): Gone(
        5, "BakeSettings.use_clear", "scene.render.bake.use_clear = True"
    ),
    ("RenderSettings", "use_bake_multires"): Gone(
        5, "BakeSettings.use_multires", "scene.render.bake.use_multires = True"
    ),
    ("ToolSettings", "unified_paint_settings"): Gone(
        5,
        "Paint.unified_paint_settings",
        "scene.tool_settings.sculpt.unified_paint_settings.size = 50",
    ),
    ("SequenceEditor", "sequences"): Gone(
        5, "SequenceEditor.strips", "strips = scene.sequence_editor_create().strips"
    ),
    ("SequenceEditor", "sequences_all"): Gone(
        5, "SequenceEditor.strips_all", "strips = scene.sequence_editor_create().strips_all"
    ),
    # Actions, of which one holds the curves of many.
    ("Action", "fcurves"): Gone(5, "ActionChannelbag.fcurves", f"curves = {_CHANNELS}.fcurves"),
    ("Action", "groups"): Gone(5, "ActionChannelbag.groups", f"groups = {_CHANNELS}.groups"),
    ("Action", "id_root"): Gone(
        5, "ActionSlot.target_id_type", "kind = action.slots[0].target_id_type"
    ),
    # Armatures.
    ("Bone", "select"): Gone(5, "PoseBone.select", "obj.pose.bones[0].select = True"),
    ("Armature", "layers"): Gone(
        4, "Armature.collections", 'armature.collections.new("Rig").assign(armature.bones[0])'
    ),
    ("Bone", "layers"): Gone(
        4, "Armature.collections", 'armature.collections.new("Rig").assign(armature.bones[0])'
    ),
    ("PoseBone", "bone_group"): Gone(
        4, "PoseBone.color", 'obj.pose.bones[0].color.palette = "THEME01"'
    ),
    # Meshes and objects.
    ("Mesh", "use_auto_smooth"): Gone(
        4, "Mesh.set_sharp_from_angle", "mesh.set_sharp_from_angle(angle=0.5236)"
    ),
    ("Mesh", "auto_smooth_angle"): Gone(
        4, "Mesh.set_sharp_from_angle", "mesh.set_sharp_from_angle(angle=0.5236)"
    ),
    ("Mesh", "calc_normals"): Gone(
        4, "Mesh.vertex_normals, which are always up to date", "normals = mesh.vertex_normals"
    ),
    ("Mesh", "calc_normals_split"): Gone(
        4, "Mesh.corner_normals, which are always up to date", "normals = mesh.corner_normals"
    ),
    ("MeshEdge", "crease"): Gone(
        4,
        "an attribute of the mesh",
        'mesh.attributes.new("crease_edge", "FLOAT", "EDGE").data[0].value = 1.0',
    ),
    ("MeshEdge", "bevel_weight"): Gone(
        4,
        "an attribute of the mesh",
        'mesh.attributes.new("bevel_weight_edge", "FLOAT", "EDGE").data[0].value = 1.0',
    ),
    ("MeshEdge", "use_freestyle_mark"): Gone(
        5,
        "an attribute of the mesh",
        'mesh.attributes.new("freestyle_edge", "BOOLEAN", "EDGE").data[0].value = True',
    ),
    ("Material", "shadow_method"): Gone(4, "Object.visible_shadow", "obj.visible_shadow = False"),
    ("Object", "grease_pencil_modifiers"): Gone(
        4, "Object.modifiers", "print(obj.modifiers.keys())"
    ),
    ("BlendData", "grease_pencils_v3"): Gone(
        5, "BlendData.grease_pencils", "print(bpy.data.grease_pencils.keys())"
    ),
    # Nodes.
    ("NodeTree", "inputs"): Gone(
        4,
        "NodeTree.interface",
        'tree.interface.new_socket("Size", in_out="INPUT", socket_type="NodeSocketFloat")',
    ),
    ("NodeTree", "outputs"): Gone(4, "NodeTree.interface", _SOCKET),
    ("CompositorNodeOutputFile", "base_path"): Gone(
        5,
        "CompositorNodeOutputFile.directory",
        'tree.nodes.new("CompositorNodeOutputFile").directory = "//renders/"',
    ),
    ("CompositorNodeOutputFile", "file_slots"): Gone(
        5,
        "CompositorNodeOutputFile.file_output_items",
        'tree.nodes.new("CompositorNodeOutputFile").file_output_items.new("RGBA", "Image")',
    ),
    ("CompositorNode", _ANY): Gone(5, "the node's inputs, which most settings became", _ITS_INPUTS),
    ("GeometryNode", _ANY): Gone(5, "the node's inputs, which most settings became", _ITS_INPUTS),
    (_NODES, "CompositorNodeComposite"): Gone(
        5, "NodeGroupOutput", f'{_SOCKET}; output = tree.nodes.new("NodeGroupOutput")'
    ),
    (_NODES, "ShaderNodeCombineRGB"): Gone(
        5, "ShaderNodeCombineColor", 'shader.nodes.new("ShaderNodeCombineColor").mode = "RGB"'
    ),
    (_NODES, "ShaderNodeSeparateRGB"): Gone(
        5, "ShaderNodeSeparateColor", 'shader.nodes.new("ShaderNodeSeparateColor").mode = "RGB"'
    ),
    (_NODES, "ShaderNodeCombineHSV"): Gone(
        5, "ShaderNodeCombineColor", 'shader.nodes.new("ShaderNodeCombineColor").mode = "HSV"'
    ),
    (_NODES, "ShaderNodeSeparateHSV"): Gone(
        5, "ShaderNodeSeparateColor", 'shader.nodes.new("ShaderNodeSeparateColor").mode = "HSV"'
    ),
    # Operators. The lines of those that write or read a file name it only.
    (_OPERATORS, "export_scene.obj"): Gone(
        4, "bpy.ops.wm.obj_export", 'bpy.ops.wm.obj_export(filepath="prop.obj")'
    ),
    (_OPERATORS, "import_scene.obj"): Gone(
        4, "bpy.ops.wm.obj_import", 'bpy.ops.wm.obj_import(filepath="prop.obj")'
    ),
    (_OPERATORS, "export_mesh.stl"): Gone(
        4, "bpy.ops.wm.stl_export", 'bpy.ops.wm.stl_export(filepath="prop.stl")'
    ),
    (_OPERATORS, "import_mesh.stl"): Gone(
        4, "bpy.ops.wm.stl_import", 'bpy.ops.wm.stl_import(filepath="prop.stl")'
    ),
    (_OPERATORS, "export_mesh.ply"): Gone(
        4, "bpy.ops.wm.ply_export", 'bpy.ops.wm.ply_export(filepath="prop.ply")'
    ),
    (_OPERATORS, "import_mesh.ply"): Gone(
        4, "bpy.ops.wm.ply_import", 'bpy.ops.wm.ply_import(filepath="prop.ply")'
    ),
    (_OPERATORS, "wm.collada_export"): Gone(
        5, "another format", 'bpy.ops.wm.usd_export(filepath="prop.usdc")'
    ),
    (_OPERATORS, "wm.collada_import"): Gone(
        5, "another format", 'bpy.ops.wm.usd_import(filepath="prop.usdc")'
    ),
    (_OPERATORS, "object.gpencil_add"): Gone(
        4, "bpy.ops.object.grease_pencil_add", 'bpy.ops.object.grease_pencil_add(type="EMPTY")'
    ),
}


def gone_entries() -> Iterator[ApiEntry]:
    """Yield a card for each name that this version does not have any more."""
    for (owner, name), gone in GONE.items():
        if name != _ANY and not is_there(owner, name):
            full = _full_name(owner, name)
            yield ApiEntry(full, "gone", gone.instead, str(gone), weight=_WEIGHT)


def is_there(owner: str, name: str) -> bool:
    """Return whether this version has a name.

    Args:
        owner: A type, "bpy.ops", or "create type" for a kind of node.
        name: A property, function, operator or kind of node.
    """
    if owner == _OPERATORS:
        module, _, operator = name.partition(".")
        return operator in dir(getattr(bpy.ops, module))
    if owner == _NODES:
        return hasattr(bpy.types, name)
    kind = getattr(bpy.types, owner, None)
    if kind is None:
        return False
    rna: Any = kind.bl_rna
    return name in rna.properties or name in rna.functions


@contextmanager
def new_names_told() -> Iterator[None]:
    """Add the new name to an error of agreed code about a name that went away.

    The bridge adds names that are similar to the missing one. Those of other types lead astray
    here, so it gets no name to look for.
    """
    try:
        yield
    except BridgeError as error:
        hint = hint_for(str(error))
        if hint:
            error.args = (f"{error} {hint}",)
            vars(error).update(name_missing="", near=())
        raise


def hint_for(message: str) -> str:
    """Return what took the place of the name that an error says is not there.

    Args:
        message: The text of Blender's error, or one around it.

    Returns:
        A sentence; "" where the message is about something else.
    """
    for pattern in _MESSAGES:
        found = pattern.search(message)
        if found is None:
            continue
        owner = found[1] or _NODES
        name = found[2]
        for base in _bases(owner):
            gone = GONE.get((base, name)) or GONE.get((base, _ANY))
            if gone is not None and gone.since <= bpy.app.version[0]:
                return f"{_full_name(owner, name)} is {gone}."
    return ""


def _full_name(owner: str, name: str) -> str:
    joint = "."
    if owner == _NODES:
        joint = " "
    return f"{owner}{joint}{name}"


def _bases(owner: str) -> list[str]:
    """Return an owner and, of a type, the names of its bases, the nearest first."""
    kind = getattr(bpy.types, owner, None)
    if kind is None:
        return [owner]
    return [base.__name__ for base in kind.__mro__]
