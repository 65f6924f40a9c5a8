"""Rename one node."""

from __future__ import annotations

import hou

from dcc_bridge import skill
from dcc_bridge.hosts.houdini import find


@skill(risk="edit", replaced_by="rename")
def rename_node(node: str, new_name: str) -> dict[str, str]:
    """Rename a node. Houdini changes relative references to it, and the person can undo it.

    Args:
        node: Its path, such as "/obj/cam1".
        new_name: Its new name, not a path.

    Returns:
        The old and the new path.
    """
    op = find(node)
    try:
        op.setName(new_name)
    except hou.Error as error:
        raise ValueError(f"{node} cannot be called {new_name!r}: {error}") from error
    return {"old": node, "new": op.path()}
