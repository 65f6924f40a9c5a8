"""Delete objects, after asking for them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.freecad.freecad_document import document


@skill(risk="destructive", confirms=True, undo="Delete objects", replaced_by="delete")
def delete_objects(pattern: str, type_name: str = "*") -> dict[str, Any]:
    """Delete the objects that match. The person is asked before, and can undo it.

    They see the list, and are asked again if the document changes meanwhile. What the objects are
    made of stays: deleting a cut leaves its two solids.

    Args:
        pattern: Glob on an object's name or its label, such as "Bolt*".
        type_name: Only objects of this type or one derived from it, such as "Part::Feature";
            "*" for any.

    Returns:
        How many were deleted, and which objects miss something now.
    """
    if not _matching(pattern, type_name):
        return {"deleted": 0, "why": f"No object of type {type_name} matches {pattern!r}."}
    agreed = confirm_sync(
        lambda names: f"Delete {_count(names)}?{_users(names)}",
        items=lambda: _matching(pattern, type_name),
        verb=lambda names: f"Delete {_count(names)}",
        title="Delete objects",
    )
    miss = sorted(_users_of(agreed))
    for name in agreed:
        if document().getObject(name):  # a body takes its features along
            document().removeObject(name)
    document().recompute()
    return {"deleted": len(agreed), "miss_something": miss}


def _matching(pattern: str, type_name: str) -> list[str]:
    return [
        str(obj.Name)
        for obj in document().Objects
        if (type_name == "*" or obj.isDerivedFrom(type_name))
        and (fnmatchcase(obj.Name, pattern) or fnmatchcase(obj.Label, pattern))
    ]


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} object{'' if len(names) == 1 else 's'}"


def _users_of(names: Sequence[str]) -> set[str]:
    objects = [document().getObject(name) for name in names]
    return {str(user.Name) for obj in objects if obj for user in obj.InList} - set(names)


def _users(names: Sequence[str]) -> str:
    """Count what cannot be computed without them."""
    count = len(_users_of(names))
    return f" {count} more that use them will be incomplete." if count else ""
