"""Change one property."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import document, find, plain


@skill(risk="edit", replaced_by="set_values")
def set_property(
    name: str, property_name: str, value: bool | float | str | list[float]
) -> dict[str, Any]:
    """Set a property of an object, and compute what depends on it. The person can undo it.

    Args:
        name: The object's name, such as "Box001", or its label where only one object has that.
        property_name: A property that it has, such as "Length", "Visibility" or "Placement.Base.x".
        value: A number (mm, degrees), true or false, a text such as "12 mm" or a choice, or the
            three numbers of a vector.

    Returns:
        The value before and after, and the objects that cannot be computed any more.
    """
    obj = find(name)
    own, _, part = property_name.partition(".")
    if own not in obj.PropertiesList:
        raise ValueError(f"{obj.Name} has no property {own!r}; inspect_object lists those it has.")
    if "ReadOnly" in obj.getEditorMode(own):
        raise ValueError(f"{obj.Name}.{own} is read-only.")
    if any(path == property_name for path, _ in obj.ExpressionEngine):
        raise ValueError(f"{obj.Name}.{property_name} is driven by an expression.")
    before = plain(getattr(obj, own))
    try:
        _set(obj, own, part, value)
    except (TypeError, ValueError, AttributeError, RuntimeError) as error:
        reason = str(error).strip() or type(error).__name__
        raise ValueError(f"{obj.Name}.{property_name} cannot be {value!r}: {reason}") from error
    document().recompute()
    broken = [other.Name for other in document().Objects if "Invalid" in other.State]
    after = plain(getattr(obj, own))
    return {"name": obj.Name, "property": own, "before": before, "after": after, "broken": broken}


def _set(obj: Any, own: str, part: str, value: Any) -> None:
    if not part:
        setattr(obj, own, tuple(value) if isinstance(value, list) else value)
        return
    whole = getattr(obj, own)  # a copy: FreeCAD sees a change only if it is given back whole
    *path, last = part.split(".")
    inner = whole
    chain = []
    for step in path:
        chain.append((inner, step))
        inner = getattr(inner, step)
    setattr(inner, last, value)
    for outer, step in reversed(chain):
        setattr(outer, step, inner)
        inner = outer
    setattr(obj, own, whole)
