"""Change one attribute."""

from __future__ import annotations

from typing import Any

from maya import cmds

from dcc_bridge import skill
from dcc_bridge.hosts.maya_scene import find


@skill(risk="edit", replaced_by="set_values")
def set_attribute(node: str, name: str, value: bool | float | str | list[float]) -> dict[str, Any]:
    """Set an attribute of a node. The person can undo it.

    Args:
        node: Its long path, such as "|cameras|shot_010", or its name.
        name: An attribute that it has, such as "translateX", "focalLength" or "translate".
        value: A number, text, true or false, or the numbers of a vector or colour.

    Returns:
        The value before and after.
    """
    path = find(node)
    if not cmds.attributeQuery(name, node=path, exists=True):
        raise ValueError(f"{path} has no attribute {name!r}; inspect_node lists those it has.")
    plug = f"{path}.{name}"
    if not cmds.getAttr(plug, settable=True):
        raise ValueError(f"{plug} is locked, or driven by another node.")
    before = cmds.getAttr(plug)
    try:
        _set(plug, value)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{plug} cannot be set to {value!r}: {str(error).strip()}") from error
    return {"node": path, "name": name, "before": before, "after": cmds.getAttr(plug)}


def _set(plug: str, value: bool | float | str | list[float]) -> None:
    if isinstance(value, str):
        cmds.setAttr(plug, value, type="string")
    elif isinstance(value, list):
        cmds.setAttr(plug, *value)
    else:
        cmds.setAttr(plug, value)
