"""Delete nodes, after asking for them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.houdini import find


@skill(risk="destructive", confirms=True, undo="Delete nodes", replaced_by="delete")
def delete_nodes(pattern: str, type_name: str = "*", under: str = "/obj") -> dict[str, Any]:
    """Delete the nodes of a network that match, and what is inside. The person is asked before.

    They see the list, and are asked again if the scene changes meanwhile. What is inside a locked
    asset stays.

    Args:
        pattern: Glob on the node's name, such as "shot_*".
        type_name: Only nodes of exactly this type, such as "cam" or "geo"; "*" for any.
        under: The network, such as "/obj".

    Returns:
        How many were deleted, or why none.
    """
    if find(under).isInsideLockedHDA() or find(under).isLockedHDA():
        return {"deleted": 0, "why": f"{under} is inside a locked asset."}
    if not _paths(pattern, type_name, under):
        return {"deleted": 0, "why": f"There is nothing in {under} that matches."}
    agreed = confirm_sync(
        lambda items: f"Delete {_count(items)} in {under}?{_inside(items)}",
        items=lambda: _paths(pattern, type_name, under),
        verb=lambda items: f"Delete {_count(items)}",
        title="Delete nodes",
    )
    for path in agreed:
        find(path).destroy()
    return {"deleted": len(agreed)}


def _paths(pattern: str, type_name: str, under: str) -> list[str]:
    nodes = [node for node in find(under).children() if fnmatchcase(node.name(), pattern)]
    return [node.path() for node in nodes if type_name in ("*", node.type().name())]


def _count(items: Sequence[str]) -> str:
    return f"{len(items)} node" + ("" if len(items) == 1 else "s")


def _inside(items: Sequence[str]) -> str:
    """Count what goes with them without having matched."""
    count = sum(len(find(path).allSubChildren(True, False)) for path in items)
    return f" {count} more inside them will go too." if count else ""
