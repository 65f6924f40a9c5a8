"""The nodes of a stand-in Maya, and its undo queue."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DAMAGED = "Undo was not successful. Damaged undo/redo information has been flushed."


@dataclass
class Node:
    """One node.

    Attributes:
        name: Its short name.
        type: As `nodeType` has it.
        parent: The UUID of its parent, or None.
        values: Its attributes.
        locked: By `lockNode`.
        referenced: It comes from a referenced file.
        startup: A camera that Maya itself makes.
        drives: The UUID of the node that it is connected to, and goes with, or None.
    """

    name: str
    type: str
    parent: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    locked: bool = False
    referenced: bool = False
    startup: bool = False
    drives: str | None = None
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()).upper())

    @property
    def is_dag(self) -> bool:
        """Whether it has a path."""
        return self.type not in ("reference", "script", "animCurveTL", "lambert")


class Scene:
    """Nodes in their order, and the file they come from."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.selected: list[str] = []
        self.name = ""
        self.modified = False
        self.namespace = ":"
        self.autokey = False

    def add(self, name: str, type_name: str, parent: Node | None = None, **more: Any) -> Node:
        """Add a node, as the scene had it all along."""
        node = Node(name, type_name, parent.uuid if parent else None, **more)
        self.nodes[node.uuid] = node
        return node

    def path(self, node: Node) -> str:
        """Give a DAG node's long path, or another node's name."""
        if not node.is_dag:
            return node.name
        above = self.nodes.get(node.parent) if node.parent else None
        return (self.path(above) if above else "") + "|" + node.name

    def find(self, name: str) -> list[Node]:
        """Find by long path, partial path, name or UUID."""
        if name in self.nodes:
            return [self.nodes[name]]
        every = [(self.path(node), node) for node in self.nodes.values()]
        if name.startswith("|"):
            return [node for path, node in every if path == name]
        return [node for path, node in every if f"|{path}".endswith(f"|{name}")]

    def children(self, node: Node) -> list[Node]:
        """List what is right below."""
        return [one for one in self.nodes.values() if one.parent == node.uuid]

    def below(self, node: Node) -> list[Node]:
        """List all that is below."""
        direct = self.children(node)
        return direct + [one for child in direct for one in self.below(child)]

    def write(self, path: Path) -> None:
        """Write the nodes to a file."""
        path.write_text(json.dumps([asdict(node) for node in self.nodes.values()], indent=0))

    def read(self, path: Path) -> None:
        """Have the nodes of a file instead."""
        nodes = [Node(**told) for told in json.loads(path.read_text())]
        self.nodes = {node.uuid: node for node in nodes}
        self.name, self.modified = path.as_posix(), False


Memory = tuple[dict[str, Node], list[str]]


class Undo:
    """The undo queue, with chunks.

    `undoInfo`, Autodesk's reference: what is done in an open chunk is one entry, and until it is
    closed all that follows falls into it; ``state`` off flushes the queue, ``stateWithoutFlush``
    does not, and to undo past what was destroyed meanwhile is unstable; ``length`` is how many
    entries there are at most, unless ``infinity`` is on. That an empty chunk leaves no entry was
    measured by somebody on Maya 2025. What is said of the queue while a chunk is open is nowhere
    documented, so nobody may ask then.
    """

    def __init__(
        self,
        scene: Scene,
        fire: Callable[[str], None],
        fire_node: Callable[[str, Node], None],
        *,
        on: bool,
    ) -> None:
        self._scene = scene
        self._fire = fire
        self._fire_node = fire_node
        self.on = on
        self.most: int | None = None
        self.depth = 0
        self._chunk: tuple[str, Memory] | None = None
        self._dirty = self._is_damaged = False
        self.done: list[tuple[str, Memory, Memory]] = []
        self.undone: list[tuple[str, Memory, Memory]] = []

    def record(self, name: str, edit: Callable[[], Any], *, destroys: bool = False) -> Any:
        """Run an undoable command."""
        before = self._memory()
        made = edit()
        if not self.on:
            self._is_damaged |= destroys
        elif self.depth:
            self._dirty = True
        else:
            self._push(name, before)
        return made

    def open(self, name: str) -> None:
        """Open a chunk; they nest."""
        if not self.depth:
            self._chunk, self._dirty = (name, self._memory()), False
        self.depth += 1

    def close(self) -> None:
        """Close the chunk opened last. With recording off nothing is closed."""
        if not self.on or not self.depth:
            return
        self.depth -= 1
        if not self.depth and self._chunk is not None and self._dirty:
            self._push(*self._chunk)

    def flush(self) -> None:
        """Forget all."""
        self.done.clear()
        self.undone.clear()
        self._is_damaged = False

    def undo(self) -> None:
        """Undo the entry on top."""
        self._move(self.done, self.undone, 1, "Undo")

    def redo(self) -> None:
        """Redo the entry undone last."""
        self._move(self.undone, self.done, 2, "Redo")

    def _push(self, name: str, before: Memory) -> None:
        self.done.append((name, before, self._memory()))
        self.undone.clear()
        if self.most is not None:
            del self.done[: -self.most]

    def _move(self, one: list[Any], other: list[Any], to: int, event: str) -> None:
        if self._is_damaged:
            self.flush()
            raise RuntimeError(DAMAGED)
        if not one:
            raise RuntimeError("There are no more commands to undo.")
        entry = one.pop()
        other.append(entry)
        nodes, selected = copy.deepcopy(entry[to])
        before, self._scene.nodes, self._scene.selected = self._scene.nodes, nodes, selected
        for key in nodes.keys() - before.keys():  # a node that comes back is told of as one added
            self._fire_node("node added", nodes[key])
        self._fire(event)

    def _memory(self) -> Memory:
        return copy.deepcopy((self._scene.nodes, self._scene.selected))
