"""Look at one object."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import find, plain


@skill(risk="read", replaced_by="inspect")
def inspect_object(name: str) -> dict[str, Any]:
    """Read an object's properties, and which objects it uses and is used by.

    Args:
        name: Its name, such as "Box001", or its label where only one object has that.

    Returns:
        Lengths are in mm and angles in degrees. Values are texts where JSON has nothing better.
    """
    obj = find(name)
    shown = [prop for prop in obj.PropertiesList if "Hidden" not in obj.getEditorMode(prop)]
    return {
        "name": obj.Name,
        "label": obj.Label,
        "type": obj.TypeId,
        "properties": {prop: plain(getattr(obj, prop)) for prop in shown},
        "read_only": [prop for prop in shown if "ReadOnly" in obj.getEditorMode(prop)],
        "driven": [prop for prop, _ in obj.ExpressionEngine],
        "uses": [other.Name for other in obj.OutList],
        "used_by": [other.Name for other in obj.InList],
        "state": list(obj.State),
    }
