"""Names that Blender took away, run inside of Blender by ``test_operations.py``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bpy
import pytest

from dcc_bridge.spi import BridgeError
from dcc_bridge_blender.operations import gone

LINES = [
    pytest.param(owner, name, row, id=f"{owner}.{name}") for (owner, name), row in gone.GONE.items()
]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the examples call by name: a new file with a rig that moves, a mesh and node trees."""
    monkeypatch.chdir(tmp_path)
    bpy.ops.wm.read_factory_settings()
    scene = bpy.context.scene
    bpy.ops.object.armature_add()
    rig: Any = bpy.context.object
    rig.keyframe_insert("location")
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.object.mode_set(mode="OBJECT")
    tree: Any = bpy.data.node_groups.new("Tree", "CompositorNodeTree")
    return {
        "bpy": bpy,
        "scene": scene,
        "obj": rig,
        "armature": rig.data,
        "action": rig.animation_data.action,
        "mesh": bpy.data.objects["Cube"].data,
        "tree": tree,
        "node": tree.nodes.new("CompositorNodeBlur"),
        "shader": bpy.data.node_groups.new("Shader", "ShaderNodeTree"),
    }


@pytest.mark.parametrize(("owner", "name", "row"), LINES)
def test_a_name_is_gone_from_the_version_that_is_told_and_its_line_runs(
    owner: str, name: str, row: gone.Gone, names: dict[str, Any]
) -> None:
    if bpy.app.version[0] < 4:
        assert name == "*" or row.since > 4 or gone.is_there(owner, name)
        return
    if bpy.app.version[0] < row.since:
        assert name == "*" or gone.is_there(owner, name)
        return
    assert not gone.is_there(owner, name)

    kind = re.search(r"(import|export)\(filepath=\"prop\.(\w+)\"", row.example)
    if kind is not None and kind[1] == "import":
        writes = row.example.replace("_import", "_export")
        exec(writes, names)
    exec(row.example, names)


def messages() -> list[Any]:
    """Return code that uses an old name, each with what it is told of it."""
    return [
        ("scene.node_tree", 5, "Scene.node_tree", "Scene.compositing_node_group"),
        ("action.fcurves", 5, "Action.fcurves", "ActionChannelbag.fcurves"),
        ("armature.bones[0].select", 5, "Bone.select", "PoseBone.select"),
        ("node.size_x = 3", 5, "CompositorNodeBlur.size_x", "the node's inputs"),
        ("tree.inputs", 4, "CompositorNodeTree.inputs", "NodeTree.interface"),
        ("mesh.use_auto_smooth = True", 4, "Mesh.use_auto_smooth", "set_sharp_from_angle"),
        (
            'tree.nodes.new("CompositorNodeComposite")',
            5,
            "create type CompositorNodeComposite",
            "NodeGroupOutput",
        ),
        (
            'bpy.ops.export_scene.obj(filepath="prop.obj")',
            4,
            "bpy.ops.export_scene.obj",
            "bpy.ops.wm.obj_export",
        ),
    ]


@pytest.mark.parametrize(("code", "since", "old", "new"), messages())
def test_blenders_own_error_is_told_the_new_name(
    code: str, since: int, old: str, new: str, names: dict[str, Any]
) -> None:
    if bpy.app.version[0] < since:
        exec(code, names)
        return

    with pytest.raises((AttributeError, RuntimeError)) as error:
        exec(code, names)

    hint = gone.hint_for(str(error.value))
    assert hint.startswith(f"{old} is gone since Blender {since}; use ")
    assert new in hint


def test_an_error_about_another_name_stays_as_it_is() -> None:
    text = "AttributeError: 'Scene' object has no attribute 'node_trees'."

    with pytest.raises(BridgeError) as error, gone.new_names_told():
        raise BridgeError(text)

    assert str(error.value) == text


def test_the_search_has_a_card_for_what_is_gone_here_alone() -> None:
    cards = {entry.name: entry for entry in gone.gone_entries()}

    assert ("Scene.node_tree" in cards) is (bpy.app.version[0] >= 5)
    assert ("bpy.ops.export_scene.obj" in cards) is (bpy.app.version[0] >= 4)
    assert all(entry.signature for entry in cards.values())
