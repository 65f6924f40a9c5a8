"""Look for objects."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import bpy

from dcc_bridge import skill
from dcc_bridge.hosts.blender.names import name_of, names_of
from dcc_bridge.hosts.blender.objects import item_of


@skill(risk="read", replaced_by="list_items")
def list_objects(
    type_name: str | None = None,
    name: str = "*",
    collection: str | None = None,
    limit: int = 200,
) -> dict[str, Any]:
    """List the objects of the open Blender file, with their types.

    Args:
        type_name: Only objects of this type, as Blender calls it: "MESH", "CAMERA", "EMPTY".
        name: Only objects whose name matches this glob, such as "tree_*".
        collection: Only objects of this collection, and of those in it.
        limit: List no more than this many; "found" counts them all the same.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: give at least 1.")
    within = bpy.data.objects if collection is None else _collection(collection).all_objects
    matches = [
        (item_of(obj), obj.type)
        for obj in within
        if fnmatchcase(name_of(obj), name) and type_name in (None, obj.type)
    ]
    listed = [{"name": item, "type": kind} for item, kind in matches[:limit]]
    return {"found": len(matches), "listed": len(listed), "objects": listed}


def _collection(name: str) -> bpy.types.Collection:
    collection = bpy.data.collections.get(name)
    if collection is None:
        names = ", ".join(names_of(bpy.data.collections)[:20]) or "none"
        raise ValueError(f"There is no collection {name!r}. There is: {names}.")
    return collection
