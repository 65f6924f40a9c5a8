"""Change one value."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.blender.objects import require


@skill(risk="edit", replaced_by="set_values")
def set_property(name: str, prop: str, value: Any, of_data: bool = False) -> dict[str, Any]:
    """Set a value of an object. The person can undo it.

    Args:
        name: The object, as list_objects names it.
        prop: One of its values, such as "location" or "hide_render"; inspect_object lists them. In
            brackets and quotes it is a custom property: '["shot"]'.
        value: Of its type: a number, text, true or false, or a list of them.
        of_data: It is a value of the object's data, such as a camera's "lens".

    Returns:
        The value before and after.
    """
    thing: Any = require(name)
    if thing.library:
        raise ValueError(f"{name} is linked from {thing.library.filepath} and cannot be changed.")
    target = thing.data if of_data else thing
    if target is None:
        raise ValueError(f"{name} has no data: it is of type {thing.type}.")
    if prop.startswith('["') and prop.endswith('"]'):
        return _set_custom(target, prop[2:-2], value)
    rna = target.bl_rna.properties.get(prop)
    if rna is None or rna.is_readonly or rna.type in ("POINTER", "COLLECTION"):
        raise ValueError(f"{prop!r} of {name} is not a value that can be set.")
    before = _plain(getattr(target, prop))
    try:
        setattr(target, prop, set(value) if rna.type == "ENUM" and rna.is_enum_flag else value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{prop} of {name} cannot be set to {value!r}: {error}") from error
    return {"name": name, "prop": prop, "before": before, "after": _plain(getattr(target, prop))}


def _set_custom(target: Any, key: str, value: Any) -> dict[str, Any]:
    before = _plain(target.get(key))
    target[key] = value
    return {"prop": key, "before": before, "after": _plain(target[key])}


def _plain(value: Any) -> Any:
    for name in ("to_dict", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return sorted(value) if isinstance(value, set) else [_plain(part) for part in value]
