"""Delete objects, after asking for them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from maya import cmds

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.maya_scene import is_locked, is_referenced, kind


@skill(risk="destructive", confirms=True, undo="Delete nodes", replaced_by="delete")
def delete_nodes(pattern: str, type_name: str = "*", under: str = "|") -> dict[str, Any]:
    """Delete the objects that match, with all that is below them. The person is asked before.

    They see the list, and are asked again if the scene changes meanwhile. What is locked, comes
    from a referenced file, or belongs to Maya, such as the camera "persp", stays.

    Args:
        pattern: Glob on the object's short name, such as "shot_*".
        type_name: Only objects of exactly this type, such as "camera" or "mesh"; "*" for any.
        under: Only objects below this long path, such as "|cameras".

    Returns:
        How many were deleted, and which matched but stay.
    """
    stay = [path for path in _matching(pattern, type_name, under) if _stays(path)]
    if not _deletable(pattern, type_name, under):
        return {"deleted": 0, "why": "There is nothing that matches and can go.", "stay": stay}
    agreed = confirm_sync(
        lambda items: f"Delete {_count(items, type_name)}?{_below(items)}",
        items=lambda: _deletable(pattern, type_name, under),
        verb=lambda items: f"Delete {_count(items, type_name)}",
        title="Delete nodes",
    )
    cmds.delete(list(agreed))
    return {"deleted": len(agreed), "stay": stay}


def _matching(pattern: str, type_name: str, under: str) -> list[str]:
    below = under.rstrip("|") + "|"
    every = cmds.ls(type="transform", long=True) or []
    near = [path for path in every if path.startswith(below)]
    called = [path for path in near if fnmatchcase(path.rpartition("|")[2], pattern)]
    return [path for path in called if type_name in ("*", kind(path))]


def _deletable(pattern: str, type_name: str, under: str) -> list[str]:
    return [path for path in _matching(pattern, type_name, under) if not _stays(path)]


def _stays(path: str) -> bool:
    shapes = cmds.listRelatives(path, shapes=True, fullPath=True, type="camera") or []
    return (
        is_referenced(path)
        or is_locked(path)
        or any(cmds.camera(shape, query=True, startupCamera=True) for shape in shapes)
    )


def _count(items: Sequence[str], type_name: str) -> str:
    noun = "object" if type_name == "*" else type_name
    return f"{len(items)} {noun}" + ("" if len(items) == 1 else "s")


def _below(items: Sequence[str]) -> str:
    """Count what goes with them without having matched."""
    below = cmds.listRelatives(list(items), allDescendents=True, fullPath=True, type="transform")
    count = len(set(below or []) - set(items))
    return f" {count} more below them will go too." if count else ""
