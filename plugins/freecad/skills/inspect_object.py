"""Look at one object."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import find, told


@skill(risk="read")
def inspect_object(name: str) -> dict[str, Any]:
    """Read an object's properties, and which objects it uses and is used by.

    Args:
        name: Its name, such as "Box001", or its label where only one object has that.

    Returns:
        Lengths are in mm and angles in degrees. Values are texts where JSON has nothing better.
    """
    one = find(name)
    shown = [prop for prop in one.PropertiesList if "Hidden" not in one.getEditorMode(prop)]
    return {
        "name": one.Name,
        "label": one.Label,
        "type": one.TypeId,
        "properties": {prop: told(getattr(one, prop)) for prop in shown},
        "read_only": [prop for prop in shown if "ReadOnly" in one.getEditorMode(prop)],
        "driven": [prop for prop, _ in one.ExpressionEngine],
        "uses": [other.Name for other in one.OutList],
        "used_by": [other.Name for other in one.InList],
        "state": list(one.State),
    }
