"""The whole scene as plain facts: an oracle for tests, and slow. Main thread."""

from __future__ import annotations

from typing import Any, Final

import bpy

from dcc_bridge.hosts.blender.objects import facts, item_of
from dcc_bridge.hosts.blender.scene_changes import census

_LEFT_OUT: Final = {"session_uid", "use_nodes"}
"""Undo changes the one, and to read the other is deprecated since 5.0."""


def scene_facts() -> list[Any]:
    """Tell of every object, mesh, collection and material what a skill could have changed."""
    things = sorted(bpy.data.objects, key=item_of)
    return [
        census(),
        [fact[:1] + fact[2:5] for fact in facts([item_of(each) for each in things])],
        [[each.name, _values(each), _modifiers(each)] for each in things],
        [[mesh.name, _mesh(mesh)] for mesh in bpy.data.meshes],
        [[one.name, [item_of(each) for each in one.objects]] for one in bpy.data.collections],
        [[scene.name, _values(scene)] for scene in bpy.data.scenes],
        [[one.name, _values(one)] for one in bpy.data.materials],
    ]


def _modifiers(thing: bpy.types.Object) -> list[Any]:
    return [[each.name, _values(each)] for each in thing.modifiers]


def _mesh(mesh: bpy.types.Mesh) -> list[Any]:
    points: list[Any] = [vertex.co for vertex in mesh.vertices]
    faces: list[Any] = [face.vertices for face in mesh.polygons]
    return [[tuple(each) for each in points], [tuple(each) for each in faces]]


def _values(thing: Any) -> list[tuple[str, str]]:
    plain = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")
    names = [p.identifier for p in thing.bl_rna.properties if p.type in plain]
    return [(name, _value(getattr(thing, name))) for name in names if name not in _LEFT_OUT]


def _value(value: Any) -> str:
    try:
        return repr([_value(one) for one in value]) if not isinstance(value, str) else value
    except TypeError:
        return repr(value)
