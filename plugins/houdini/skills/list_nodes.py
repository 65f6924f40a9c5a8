"""Look for nodes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.houdini import find


@skill(risk="read", replaced_by="list_items")
def list_nodes(
    under: str = "/obj",
    type_name: str | None = None,
    name: str = "*",
    deep: bool = False,
    limit: int = 200,
) -> dict[str, Any]:
    """List the nodes of a network in the open Houdini scene, with their types.

    Args:
        under: The network, such as "/obj", "/stage" or "/obj/geo1".
        type_name: Only nodes of exactly this type, such as "cam" or "geo".
        name: Only nodes whose name matches this glob.
        deep: Those below them too, but not what is inside locked assets.
        limit: List no more than this many; "found" counts them all the same.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: give at least 1.")
    network = find(under)
    nodes = network.allSubChildren(True, False) if deep else network.children()
    matches = [
        node
        for node in nodes
        if fnmatchcase(node.name(), name) and type_name in (None, node.type().name())
    ]
    listed = [{"path": node.path(), "type": node.type().name()} for node in matches[:limit]]
    return {"found": len(matches), "listed": len(listed), "nodes": listed}
