"""What a step took away in Houdini: nodes, and the parts of nodes that stay.

Houdini tells of little before it is done, so what is there is listed when a stretch begins, and
compared with what is there now. What is said here of Houdini comes from SideFX's reference of
``hou``; it was not run in Houdini. Main thread.

======================  ==========================================================================
compared                of
======================  ==========================================================================
nodes                   the first 10,000, level by level, but for the insides of locked assets; by
                        session id: a new name or parent is no loss
inputs, spare           the first 2,000 nodes; of an object's inputs none, as they are its parent
parameters, node
groups, locked shapes
keys, expressions       the first 20,000 parameters of them
======================  ==========================================================================
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

import hou

MOST_COMPARED: Final = 10_000
_MOST_WITH_PARTS: Final = 2_000
_MOST_PARMS: Final = 20_000
# What stands in a key for the way to the next one; any other expression drives its parameter.
WAYS: Final = ("bezier()", "linear()", "constant()", "cubic()", "spline()", "ease()", "qlinear()")


@dataclass
class _Parts:
    """What one node has.

    Attributes:
        keys: How many keys each parameter has; 0 for one that an expression drives.
        inputs: The name of each input that is used, and the session id of the node behind it.
        spares: The names of the parameters that somebody added.
        groups: The session ids of the members of each node group.
        is_locked: The shape that it made once is in the node.
    """

    keys: dict[str, int] = field(default_factory=dict)
    inputs: list[tuple[str, int]] = field(default_factory=list)
    spares: set[str] = field(default_factory=set)
    groups: dict[str, list[int]] = field(default_factory=dict)
    is_locked: bool = False


class Losses:
    """What one step took away."""

    def __init__(self) -> None:
        self._nodes: dict[int, str] = {}
        self._parts: dict[int, _Parts] = {}

    def clear(self) -> None:
        """Take nothing for lost any more: another scene is open."""
        self._nodes = {}
        self._parts = {}

    def begin(self) -> None:
        """List what is there: a step begins."""
        self._nodes = census()
        self._parts = {}
        left = _MOST_PARMS
        for key in list(self._nodes)[:_MOST_WITH_PARTS]:
            node = hou.nodeBySessionId(key)
            if isinstance(node, hou.OpNode):
                parms = node.parms()[:left]
                left -= len(parms)
                self._parts[key] = _parts_of(node, parms)

    def left(self, agreed: Set[Any]) -> list[str]:
        """List what is gone, but for what was agreed to, and what was in it or a part of it.

        `agreed` has session ids and paths.
        """
        gone = [it for it in self._nodes.items() if hou.nodeBySessionId(it[0]) is None]
        nodes = [path for key, path in gone if not agreed & _names(key, path)]
        parts: list[str] = []
        for key, before in self._parts.items():
            node = hou.nodeBySessionId(key)
            if not isinstance(node, hou.OpNode) or agreed & _names(key, node.path()):
                continue
            parts += [f"{what} of {node.path()}" for what in _lost(node, before)]
        return [*nodes, *parts]


def census() -> dict[int, str]:
    """List the paths of nodes by session id, which outlives a new name."""
    paths: dict[int, str] = {}
    left: deque[Any] = deque([hou.node("/")])
    while left and len(paths) < MOST_COMPARED:
        node = left.popleft()
        paths[node.sessionId()] = node.path()
        if not locks(node):
            left.extend(node.children())
    return paths


def locks(node: Any) -> list[str]:
    """Say how a node is held by an asset."""
    if not hasattr(node, "isLockedHDA"):  # a node that is no operator has no asset either
        return []
    held = {"asset": node.isLockedHDA(), "inside an asset": node.isInsideLockedHDA()}
    return [name for name, is_locked in held.items() if is_locked]


def _names(key: int, path: str) -> set[Any]:
    """Return everything by which a node may have been agreed to: itself, and what it is in."""
    return {key, path, *map(str, PurePosixPath(path).parents)}


def _parts_of(node: Any, parms: Iterable[hou.Parm]) -> _Parts:
    return _Parts(
        keys={parm.name(): count for parm in parms if (count := _keys_of(parm)) is not None},
        inputs=_inputs_of(node),
        spares={parm.name() for parm in node.spareParms()},
        groups={group.name(): [it.sessionId() for it in group.nodes()] for group in _groups(node)},
        is_locked=_is_locked(node),
    )


def _groups(node: Any) -> Iterable[hou.NodeGroup]:
    return node.nodeGroups() if node.isNetwork() else ()


def _is_locked(node: Any) -> bool:
    return isinstance(node, hou.SopNode) and node.isHardLocked()


def _keys_of(parm: hou.Parm) -> int | None:
    """Count keys; 0 stands for an expression, None for a parameter with neither."""
    keys = parm.keyframes()
    if not keys:
        return None
    return len(keys) if parm.expression() in WAYS else 0


def _inputs_of(node: Any) -> list[tuple[str, int]]:
    links = [(it.inputName(), it.inputNode()) for it in node.inputConnections()]
    # An input of the network around it is no node.
    return [(name, source.sessionId()) for name, source in links if source is not None]


def _lost(node: Any, before: _Parts) -> Iterator[str]:
    """Say what a node had and has not."""
    for name, count in before.keys.items():
        parm = node.parm(name)
        if parm is not None:  # else it is a spare one that is gone itself
            yield from _lost_keys(parm, count)
    yield from (f"connection to {name}" for name in _lost_inputs(node, before.inputs))
    yield from (f"spare parameter {it}" for it in before.spares if node.parm(it) is None)
    yield from _lost_members(node, before.groups)
    if before.is_locked and not _is_locked(node):
        yield "locked shape"


def _lost_keys(parm: hou.Parm, before: int) -> Iterator[str]:
    now = _keys_of(parm)
    if before == 0:
        if now != 0:
            yield f"expression of {parm.name()}"
        return
    count = before - (now or 0)
    if count > 0:
        yield f"{count} key{'s' * (count > 1)} of {parm.name()}"


def _lost_inputs(node: Any, before: list[tuple[str, int]]) -> list[str]:
    """Name inputs whose source is there and leads in no more; one with a new source is no loss."""
    if not before or node.type().category().name() == "Object":
        return []
    now = [source for _, source in _inputs_of(node)]
    there = [link for link in before if hou.nodeBySessionId(link[1]) is not None]
    missing = [name for name, source in there if source not in now]
    # The inputs of a merge move up, so they are not told apart by their numbers.
    return missing[: max(0, len(there) - len(now))]


def _lost_members(network: Any, before: dict[str, list[int]]) -> Iterator[str]:
    groups = {group.name(): group for group in _groups(network)}
    for name, members in before.items():
        if name not in groups:
            yield f"group {name}"
            continue
        now = {it.sessionId() for it in groups[name].nodes()}
        for key in members:
            member = hou.nodeBySessionId(key)
            if key in now or member is None or member.parent() != network:
                continue
            yield f"member {member.name()} in group {name}"
