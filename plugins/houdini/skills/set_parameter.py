"""Change one parameter."""

from __future__ import annotations

from typing import Any

import hou

from dcc_bridge import skill
from dcc_bridge.hosts.houdini import find


@skill(risk="edit", replaced_by="set_values")
def set_parameter(node: str, name: str, value: bool | float | str | list[float]) -> dict[str, Any]:
    """Set a parameter of a node. The person can undo it.

    Args:
        node: Its path, such as "/obj/cam1".
        name: A parameter that it has, such as "tx" or "focal", or the whole of a vector, "t".
        value: A number, text, true or false, or the numbers of a vector or colour.

    Returns:
        The value before and after.
    """
    op = find(node)
    target: Any = op.parmTuple(name) if isinstance(value, list) else op.parm(name)
    if target is None:
        raise ValueError(f"{node} has no parameter {name!r}; inspect_node lists those it has.")
    before = target.eval()
    try:
        target.set(value)
    except (hou.Error, TypeError) as error:
        raise ValueError(f"{name} of {node} cannot be set to {value!r}: {error}") from error
    return {"node": node, "name": name, "before": before, "after": target.eval()}
