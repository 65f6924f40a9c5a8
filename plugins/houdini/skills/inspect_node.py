"""Look at one node."""

from __future__ import annotations

from typing import Any

import hou

from dcc_bridge import skill
from dcc_bridge.hosts.houdini import find


@skill(risk="read", replaced_by="inspect")
def inspect_node(node: str, all_parameters: bool = False) -> dict[str, Any]:
    """Read a node's parameters, its inputs, and what is wrong with it.

    Args:
        node: Its path, such as "/obj/cam1".
        all_parameters: Also those that still have their defaults.

    Returns:
        The values of its parameters, the expressions behind them, its inputs, errors and warnings.
    """
    op = find(node)
    parms = [parm for parm in op.parms() if all_parameters or not parm.isAtDefault()]
    return {
        "path": op.path(),
        "type": op.type().name(),
        "parameters": {parm.name(): _plain(parm) for parm in parms},
        "expressions": {parm.name(): text for parm in parms if (text := _expression(parm))},
        "inputs": [source.path() for source in op.inputs() if source is not None],
        "errors": list(op.errors()),
        "warnings": list(op.warnings()),
    }


def _plain(parm: hou.Parm) -> float | int | str:
    value = parm.eval()
    return value if isinstance(value, float | int | str) else str(value)


def _expression(parm: hou.Parm) -> str:
    try:
        return parm.expression()
    except hou.OperationFailed:  # it has none
        return ""
