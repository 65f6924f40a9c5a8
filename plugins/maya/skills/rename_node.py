"""Rename one node."""

from __future__ import annotations

import re

from maya import cmds

from dcc_bridge import skill
from dcc_bridge.hosts.maya_scene import find, is_locked, is_referenced


@skill(risk="edit", replaced_by="rename")
def rename_node(node: str, new_name: str) -> dict[str, str]:
    """Rename a node. Connections stay, and the person can undo it.

    Args:
        node: Its long path, such as "|props|lamp1", or its name.
        new_name: Its new name, not a path: letters, digits and underscores, with no digit first;
            Maya adds a number where it is taken.

    Returns:
        The old and the new path.
    """
    path = find(node)
    if not re.fullmatch(r"[A-Za-z_]\w*", new_name, re.ASCII):
        raise ValueError(f"{new_name!r} is not a name: letters, digits, _, with no digit first.")
    for is_so, why in (
        (is_referenced(path), "comes from a referenced file"),
        (is_locked(path), "is locked"),
    ):
        if is_so:
            raise ValueError(f"{path} {why}, so it cannot be renamed.")
    uuid = cmds.ls(path, uuid=True)[0]
    cmds.rename(path, new_name)
    return {"old": path, "new": cmds.ls(uuid, long=True)[0]}
