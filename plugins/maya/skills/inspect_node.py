"""Look at one node."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from maya import cmds

from dcc_bridge import skill
from dcc_bridge.hosts.maya_scene import find


@skill(risk="read", replaced_by="inspect")
def inspect_node(node: str) -> dict[str, Any]:
    """Read what an artist sees of a node in the Channel Box, and what is connected to it.

    Args:
        node: Its long path, such as "|cameras|shot_010", or its name.

    Returns:
        The values of its attributes, which of them are locked or driven, and its connections.
    """
    path = find(node)
    values: dict[str, Any] = {}
    fixed: list[str] = []
    for name in cmds.listAttr(path, keyable=True, scalar=True) or []:
        with suppress(RuntimeError, ValueError):  # an element of an array that has none
            values[name] = cmds.getAttr(f"{path}.{name}")
            if not cmds.getAttr(f"{path}.{name}", settable=True):
                fixed.append(name)
    connections = cmds.listConnections(path, plugs=True, connections=True) or []
    pairs = [list(pair) for pair in zip(connections[::2], connections[1::2], strict=True)]
    return {"path": path, "values": values, "cannot_be_set": fixed, "connections": pairs}
