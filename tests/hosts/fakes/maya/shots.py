"""A scene for the stand-in: a shot with cameras, a locked one, one from a referenced file."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.fakes.maya.application import Maya
from tests.hosts.fakes.maya.scene import Node


def fill(maya: Maya, folder: Path, cameras: int = 3) -> None:
    """Put a shot into it, as saved in a folder."""
    scene = maya.scene
    _camera(maya, "persp", None, startup=True)
    group = scene.add("cameras", "transform")
    for number in range(cameras):
        _camera(maya, f"shot_{number:03}", group)
    locked = _camera(maya, "shot_locked", group)
    locked.locked, locked.locks = True, ["translateX"]
    _camera(maya, "shot_ref", group).referenced = True
    scene.add("key", "transform", values={"translateX": 0.0, "notes": ""})
    scene.add("sharedReferenceNode", "reference")
    scene.name = (folder / "shot.ma").as_posix()
    scene.write(Path(scene.name))


def _camera(maya: Maya, name: str, parent: Node | None, *, startup: bool = False) -> Node:
    node = maya.scene.add(name, "transform", parent, values={"translateX": 0.0})
    shape = {"focalLength": 35.0}
    maya.scene.add(f"{name}Shape", "camera", node, values=shape, startup=startup)
    return node


def furnish(maya: Maya) -> None:
    """Put in what every new scene of Maya has, and what makes a small set of props."""
    commands = maya.commands
    for name, kind in (
        ("initialShadingGroup", "shadingEngine"),
        ("lambert1", "lambert"),
        ("defaultResolution", "resolution"),
        ("defaultShaderList1", "defaultShaderList"),
        ("defaultLightSet", "objectSet"),
    ):
        commands.new(kind, name).is_default = True
    for name in ("persp", "top"):
        node = commands.new("transform", name)
        commands.new("camera", f"{name}Shape", node).startup = True
        node.values |= {"translateX": 3.0, "translateY": 4.0, "translateZ": 5.0}
    maya.scene.find("perspShape")[0].values["renderable"] = True
    maya.scene.find("initialShadingGroup")[0].inputs["surfaceShader"] = (
        maya.scene.find("lambert1")[0].uuid,
        "outColor",
    )
    maya.undo.flush()
    maya.scene.selected = []
    maya.scene.modified = False
