"""Digests of whole scenes, by which tests see that nothing was changed. Main thread of the host.

Each host's own API is imported where it runs only.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from dcc_bridge.host import Host, digest

_LEFT_OUT: Final = {"session_uid", "use_nodes"}
"""Undo changes the one, and to read the other is deprecated since 5.0."""


def scene_digest(host: Host) -> str:
    """Digest the whole scene of a host: values, keys, connections, order."""
    own: Callable[[], str] | None = getattr(host, "scene_digest", None)
    return own() if own is not None else digest(_FACTS[host.name]())


def _blender() -> list[Any]:
    """List of every object, mesh, collection and material what a skill could have changed."""
    import bpy

    from dcc_bridge.hosts.blender.blender_undo import census
    from dcc_bridge.hosts.blender.objects import facts, item_of

    things = sorted(bpy.data.objects, key=item_of)
    return [
        census(),
        [fact[:1] + fact[2:5] for fact in facts([item_of(each) for each in things])],
        [[each.name, _values(each), _modifiers(each)] for each in things],
        [[mesh.name, _mesh(mesh)] for mesh in bpy.data.meshes],
        [[group.name, [item_of(each) for each in group.objects]] for group in bpy.data.collections],
        [[scene.name, _values(scene)] for scene in bpy.data.scenes],
        [[material.name, _values(material)] for material in bpy.data.materials],
    ]


def _modifiers(thing: Any) -> list[Any]:
    return [[each.name, _values(each)] for each in thing.modifiers]


def _mesh(mesh: Any) -> list[Any]:
    points: list[Any] = [vertex.co for vertex in mesh.vertices]
    faces: list[Any] = [face.vertices for face in mesh.polygons]
    return [[tuple(each) for each in points], [tuple(each) for each in faces]]


def _values(thing: Any) -> list[tuple[str, str]]:
    plain = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")
    names = [p.identifier for p in thing.bl_rna.properties if p.type in plain]
    return [(name, _value(getattr(thing, name))) for name in names if name not in _LEFT_OUT]


def _value(value: Any) -> str:
    try:
        return repr([_value(part) for part in value]) if not isinstance(value, str) else value
    except TypeError:
        return repr(value)


def _freecad() -> list[Any]:
    """List every object with all its properties. An undo changes their order."""
    import FreeCAD

    return sorted([part.Name, part.TypeId, part.Content] for part in FreeCAD.ActiveDocument.Objects)


def _houdini() -> list[Any]:
    """Give the code that would make every node again."""
    from dcc_bridge.hosts.houdini import find

    return [node.asCode(recurse=True) for node in find("/").children()]


def _maya() -> list[Any]:
    """List every node with its plain values and its connections."""
    from maya import cmds

    nodes = sorted(cmds.ls(long=True))
    return [
        [node, cmds.ls(node, uuid=True), cmds.nodeType(node), _attributes(node)] for node in nodes
    ]


def _attributes(node: str) -> list[Any]:
    from maya import cmds

    values: list[Any] = []
    for name in cmds.listAttr(node, scalar=True, read=True) or []:
        with suppress(RuntimeError, ValueError):  # an element of an array that has none
            values.append([name, cmds.getAttr(f"{node}.{name}")])
    return [values, cmds.listConnections(node, plugs=True, connections=True) or []]


_FACTS: Final[dict[str, Callable[[], list[Any]]]] = {
    "Blender": _blender,
    "FreeCAD": _freecad,
    "Houdini": _houdini,
    "Maya": _maya,
}
