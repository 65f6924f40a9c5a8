"""Look at one object."""

from __future__ import annotations

from typing import Any

import bpy

from dcc_bridge import skill
from dcc_bridge.hosts.blender.names import value_of
from dcc_bridge.hosts.blender.objects import description, require

_MOST = 200


@skill(risk="read", replaced_by="inspect")
def inspect_object(name: str) -> dict[str, Any]:
    """Describe an object, with the values that set_property can set.

    Args:
        name: The object, as list_objects names it.
    """
    thing = require(name)
    facts = description(name) | {"values": _values(thing)}
    return facts | ({"data_values": _values(thing.data)} if thing.data else {})


def _values(thing: bpy.types.ID) -> dict[str, Any]:
    """Give what is plain and can be written."""
    kinds = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
    rna = [prop for prop in thing.bl_rna.properties if prop.type in kinds and not prop.is_readonly]
    return {prop.identifier: _plain(value_of(thing, prop.identifier)) for prop in rna[:_MOST]}


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    return sorted(value) if isinstance(value, set) else [_plain(part) for part in value]
