"""Rename one object."""

from __future__ import annotations

import bpy

from dcc_bridge import skill
from dcc_bridge.hosts.blender.objects import require

_LONGEST = 63


@skill(risk="edit", replaced_by="rename")
def rename_object(name: str, new_name: str) -> dict[str, str]:
    """Rename an object. The person can undo it.

    Args:
        name: The object, as list_objects names it.
        new_name: Its new name, which no other object has, of 63 bytes at most.
    """
    thing = require(name)
    if thing.library:
        raise ValueError(f"{name} is linked from {thing.library.filepath} and cannot be renamed.")
    if not new_name or len(new_name.encode()) > _LONGEST:
        raise ValueError(f"A name has 1 to {_LONGEST} bytes, and {new_name!r} does not.")
    if new_name in bpy.data.objects:
        raise ValueError(f"There is already an object {new_name!r}.")
    thing.name = new_name
    return {"old": name, "new": thing.name}
