"""Look for nodes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from maya import cmds

from dcc_bridge import skill
from dcc_bridge.hosts.maya_scene import kind


@skill(risk="read", replaced_by="list_items")
def list_nodes(
    type_name: str | None = None, under: str = "|", name: str = "*", limit: int = 200
) -> dict[str, Any]:
    """List the objects of the open Maya scene, by their long paths, with their types.

    An object is a transform; its type is its shape's, such as "camera", "mesh" or "nurbsCurve".

    Args:
        type_name: Only objects of exactly this type; "transform" is a group.
        under: Only objects below this long path, such as "|cameras".
        name: Only objects whose short name, without namespace, matches this glob.
        limit: List no more than this many; "found" counts them all the same.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: give at least 1.")
    below = under.rstrip("|") + "|"
    every = cmds.ls(type="transform", long=True) or []
    near = [path for path in every if path.startswith(below) and _is_called(path, name)]
    found = [(path, kind(path)) for path in near]
    listed = [(path, of) for path, of in found if type_name in (None, of)]
    nodes = [{"path": path, "type": of} for path, of in listed[:limit]]
    return {"found": len(listed), "listed": len(nodes), "nodes": nodes}


def _is_called(path: str, name: str) -> bool:
    return fnmatchcase(path.rpartition("|")[2].rpartition(":")[2], name)
