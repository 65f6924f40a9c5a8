"""Look for objects."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import document


@skill(risk="read", replaced_by="list_items")
def list_objects(type_name: str | None = None, name: str = "*", limit: int = 200) -> dict[str, Any]:
    """List the objects of the active FreeCAD document: names, labels and types.

    Args:
        type_name: Only objects of this type or one derived from it, such as "Part::Feature",
            "PartDesign::Body" or "Sketcher::SketchObject".
        name: Only objects whose name or label matches this glob, such as "Bolt*".
        limit: List no more than this many; "found" counts them all the same.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: give at least 1.")
    matches = [
        obj
        for obj in document().Objects
        if (type_name is None or obj.isDerivedFrom(type_name))
        and (fnmatchcase(obj.Name, name) or fnmatchcase(obj.Label, name))
    ]
    listed = [{"name": o.Name, "label": o.Label, "type": o.TypeId} for o in matches[:limit]]
    return {"found": len(matches), "listed": len(listed), "objects": listed}
