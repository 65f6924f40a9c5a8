"""Rename one prim."""

from __future__ import annotations

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import session
from dcc_bridge.hosts.standalone.prims import rename, require


@skill(risk="edit", replaced_by="rename")
def rename_prim(path: str, new_name: str) -> dict[str, str]:
    """Rename a prim. It keeps its place among its siblings, and the person can undo it.

    Relationships and connections that point to it, or to something below it, follow.

    Args:
        path: The prim, such as "/World/Props/Lamp_01".
        new_name: Its new name, not a path: letters, digits and underscores, with no digit first.

    Returns:
        The old and the new path.
    """
    stage = session().stage
    return {"old": path, "new": str(rename(stage, require(stage, path), new_name))}
