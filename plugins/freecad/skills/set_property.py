"""Change one property."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import document, find, told


@skill(risk="edit")
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
    one = find(name)
    own, _, part = property_name.partition(".")
    if own not in one.PropertiesList:
        raise ValueError(f"{one.Name} has no property {own!r}; inspect_object lists those it has.")
    if "ReadOnly" in one.getEditorMode(own):
        raise ValueError(f"{one.Name}.{own} is read-only.")
    if any(path == property_name for path, _ in one.ExpressionEngine):
        raise ValueError(f"{one.Name}.{property_name} is driven by an expression.")
    before = told(getattr(one, own))
    try:
        _set(one, own, part, value)
    except (TypeError, ValueError, AttributeError, RuntimeError) as error:
        reason = str(error).strip() or type(error).__name__
        raise ValueError(f"{one.Name}.{property_name} cannot be {value!r}: {reason}") from error
    document().recompute()
    broken = [other.Name for other in document().Objects if "Invalid" in other.State]
    after = told(getattr(one, own))
    return {"name": one.Name, "property": own, "before": before, "after": after, "broken": broken}


def _set(one: Any, own: str, part: str, value: Any) -> None:
    if not part:
        setattr(one, own, tuple(value) if isinstance(value, list) else value)
        return
    whole = getattr(one, own)  # a copy: FreeCAD sees a change only if it is given back whole
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
    setattr(one, own, whole)
