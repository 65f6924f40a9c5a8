"""Delete objects, after asking for them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import bpy

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.blender.names import name_of
from dcc_bridge.hosts.blender.objects import below, find

_NOUNS = {"MESH": "mesh object", "EMPTY": "empty", "LIGHT_PROBE": "light probe"}


@skill(risk="destructive", confirms=True, undo="Delete objects", replaced_by="delete")
def delete_objects(pattern: str, type_name: str = "*") -> dict[str, Any]:
    """Delete the objects that match. The person is asked before.

    They see the list, and are asked again if the scene changes meanwhile. What is parented to a
    deleted object stays where it is. What is linked from another file is not deleted.

    Args:
        pattern: Glob on the object's name, such as "shot_*".
        type_name: Only objects of this type, such as "CAMERA" or "MESH"; "*" for any.

    Returns:
        How many were deleted.
    """
    if not _matching(pattern, type_name):
        return {"deleted": 0, "why": f"There is nothing of type {type_name} named {pattern!r}."}
    agreed = confirm_sync(
        lambda items: f"Delete {_count(items, type_name)}?{_orphans(items)}",
        items=lambda: _matching(pattern, type_name),
        verb=lambda items: f"Delete {_count(items, type_name)}",
        title="Delete objects",
    )
    bpy.data.batch_remove([thing for thing in map(find, agreed) if thing is not None])
    return {"deleted": len(agreed)}


def _matching(pattern: str, type_name: str) -> list[str]:
    return [
        name_of(obj)
        for obj in bpy.data.objects
        if not obj.library and type_name in ("*", obj.type) and fnmatchcase(name_of(obj), pattern)
    ]


def _count(items: Sequence[str], type_name: str) -> str:
    noun = _NOUNS.get(type_name, "object" if type_name == "*" else type_name.lower())
    return f"{len(items)} {noun}" + ("" if len(items) == 1 else "s")


def _orphans(items: Sequence[str]) -> str:
    """Count what stays and loses its parent."""
    gone = set(items)
    things = [thing for thing in map(find, items) if thing is not None]
    count = len({name_of(obj) for thing in things for obj in below(thing)} - gone)
    return f"\n{count} objects below them stay, without their parent." if count else ""
