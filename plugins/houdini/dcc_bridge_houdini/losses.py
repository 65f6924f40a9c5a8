"""The losses of a step in Houdini: nodes, and parts of nodes that stay. Main thread.

Houdini reports few edits beforehand. So all nodes and parts are listed when a step begins, and
compared with the nodes and parts at its end. All statements about Houdini come from SideFX's
reference of ``hou``; none was run in Houdini.

======================  ==========================================================================
compared                of
======================  ==========================================================================
nodes                   the first 10,000, level by level, except inside locked assets; by session
                        id: a new name or parent is no loss
inputs, spare           the first 2,000 nodes; not an object's inputs, which are its parents
parameters, node
groups, locked shapes
keys, expressions       the first 20,000 parameters of these nodes
======================  ==========================================================================
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

import hou

MAX_COMPARED: Final = 10_000  # nodes
_MAX_WITH_PARTS: Final = 2_000  # nodes whose parts are compared
_MAX_PARMS: Final = 20_000  # parameters of these nodes
INTERPOLATIONS: Final = (
    *("bezier()", "linear()", "constant()", "cubic()", "spline()", "ease()", "qlinear()"),
)
"""Expressions of a key that interpolate; any other expression drives the parameter."""


@dataclass
class Parts:
    """The parts of one node.

    Attributes:
        keys: How many keys each parameter has; 0 for a parameter that an expression drives.
        inputs: The name of each connected input, and the session id of its source.
        spares: The names of the added ("spare") parameters.
        groups: The session ids of the members of each node group.
        is_locked: Whether the node stores its shape ("hard locked").
    """

    keys: dict[str, int] = field(default_factory=dict)
    inputs: list[tuple[str, int]] = field(default_factory=list)
    spares: set[str] = field(default_factory=set)
    groups: dict[str, list[int]] = field(default_factory=dict)
    is_locked: bool = False


class Losses:
    """Finds the nodes and parts that one step removes.

    Attributes:
        paths: The paths of the nodes before the step, by session id.
        parts: The parts of the first of these nodes.
    """

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}
        self.parts: dict[int, Parts] = {}

    def clear(self) -> None:
        """Remove all lists: another scene is open, so the old nodes are no losses."""
        self.paths = {}
        self.parts = {}

    def begin(self) -> None:
        """List the nodes and parts at the beginning of a step."""
        self.paths = census()
        self.parts = {}
        remaining = _MAX_PARMS
        for key in list(self.paths)[:_MAX_WITH_PARTS]:
            node = hou.nodeBySessionId(key)
            if isinstance(node, hou.OpNode):
                parms = node.parms()[:remaining]
                remaining -= len(parms)
                self.parts[key] = parts_of(node, parms)

    def left(self, agreed: Set[Any]) -> list[str]:
        """Return the losses that no person agreed to.

        Args:
            agreed: Session ids and paths of nodes. Each includes its parts and the nodes inside.

        Returns:
            Deleted nodes by their paths, and parts in words: "2 keys of tx of /obj/box".
        """
        losses: list[str] = []
        for key, path in self.paths.items():
            if hou.nodeBySessionId(key) is None and not agreed & _names(key, path):
                losses.append(path)
        for key, before in self.parts.items():
            node = hou.nodeBySessionId(key)
            if not isinstance(node, hou.OpNode) or agreed & _names(key, node.path()):
                continue
            losses += [f"{part} of {node.path()}" for part in _lost_parts(node, before)]
        return losses


def census() -> dict[int, str]:
    """Return the paths of the first nodes by session id, which stays when a node is renamed."""
    paths: dict[int, str] = {}
    queue: deque[Any] = deque([hou.node("/")])
    while queue and len(paths) < MAX_COMPARED:
        node = queue.popleft()
        paths[node.sessionId()] = node.path()
        if not locks(node):
            queue.extend(node.children())
    return paths


def census_again(before: Iterable[int]) -> dict[int, str]:
    """Return the paths of nodes that `census` listed before, and of new ones if that was all."""
    listed = [*before]
    paths = census() if len(listed) < MAX_COMPARED else {}
    for key in listed:
        node = hou.nodeBySessionId(key)
        if isinstance(node, hou.OpNode):
            paths[key] = node.path()
    return paths


def locks(node: Any) -> list[str]:
    """Return how assets lock a node: "asset" for its own, "inside an asset" for an outer asset."""
    if not hasattr(node, "isLockedHDA"):  # a node that is no operator has no asset
        return []
    names = []
    if node.isLockedHDA():
        names.append("asset")
    if node.isInsideLockedHDA():
        names.append("inside an asset")
    return names


def _names(key: int, path: str) -> set[Any]:
    """Return the identifiers that include a node: its session id, its path, its parents' paths."""
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    return {key, path, *parents}


def parts_of(node: Any, parms: Iterable[hou.Parm]) -> Parts:
    """Return the parts of a node, with the keys and expressions of the given parameters."""
    parts = Parts(inputs=_inputs_of(node), is_locked=_is_locked(node))
    for parm in parms:
        count = _count_keys(parm)
        if count is not None:
            parts.keys[parm.name()] = count
    parts.spares.update(parm.name() for parm in node.spareParms())
    for group in _groups(node):
        parts.groups[group.name()] = [member.sessionId() for member in group.nodes()]
    return parts


def _groups(node: Any) -> Iterable[hou.NodeGroup]:
    return node.nodeGroups() if node.isNetwork() else ()


def _is_locked(node: Any) -> bool:
    return isinstance(node, hou.SopNode) and node.isHardLocked()


def _count_keys(parm: hou.Parm) -> int | None:
    """Return the number of keys; 0 for an expression, None for a parameter with neither."""
    keys = parm.keyframes()
    if not keys:
        return None
    return len(keys) if parm.expression() in INTERPOLATIONS else 0


def _inputs_of(node: Any) -> list[tuple[str, int]]:
    """Return the name of each connected input, and the session id of its source."""
    inputs = []
    for connection in node.inputConnections():
        source = connection.inputNode()
        if source is not None:  # else an input of the network around the node
            inputs.append((connection.inputName(), source.sessionId()))
    return inputs


def _lost_parts(node: Any, before: Parts) -> Iterator[str]:
    """Yield the parts that a node has lost, in words."""
    for name, count in before.keys.items():
        parm = node.parm(name)
        if parm is not None:  # else the spare parameter itself is lost
            yield from _lost_keys(parm, count)
    for name in _lost_inputs(node, before.inputs):
        yield f"connection to {name}"
    for name in before.spares:
        if node.parm(name) is None:
            yield f"spare parameter {name}"
    yield from _lost_members(node, before.groups)
    if before.is_locked and not _is_locked(node):
        yield "locked shape"


def _lost_keys(parm: hou.Parm, before: int) -> Iterator[str]:
    """Yield the expression or keys that a parameter has lost; `before` is its `_count_keys`."""
    now = _count_keys(parm)
    if before == 0:
        if now != 0:
            yield f"expression of {parm.name()}"
        return
    count = before - (now or 0)
    if count == 1:
        yield f"1 key of {parm.name()}"
    elif count > 1:
        yield f"{count} keys of {parm.name()}"


def _lost_inputs(node: Any, before: list[tuple[str, int]]) -> list[str]:
    """Return inputs that have lost a source that still exists; a new source is no loss."""
    if not before or node.type().category().name() == "Object":
        return []
    sources = [source for _, source in _inputs_of(node)]
    present = [(name, key) for name, key in before if hou.nodeBySessionId(key) is not None]
    missing = [name for name, key in present if key not in sources]
    # The inputs of a merge move up when one is removed, so input names cannot be compared.
    return missing[: max(0, len(present) - len(sources))]


def _lost_members(network: Any, before: dict[str, list[int]]) -> Iterator[str]:
    """Yield the node groups that a network has lost, and the members that its groups have lost."""
    groups = {group.name(): group for group in _groups(network)}
    for name, members in before.items():
        if name not in groups:
            yield f"group {name}"
            continue
        now = {member.sessionId() for member in groups[name].nodes()}
        for key in members:
            member = hou.nodeBySessionId(key)
            if key in now or member is None or member.parent() != network:
                continue
            yield f"member {member.name()} in group {name}"
