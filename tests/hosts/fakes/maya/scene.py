"""The nodes of a stand-in Maya, and its undo queue."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tests.hosts.fakes.maya import node_types

DAMAGED = "Undo was not successful. Damaged undo/redo information has been flushed."


@dataclass
class Node:
    """One node."""

    name: str  # its short name
    type: str  # as `nodeType` has it
    parent: str | None = None  # the UUID of its parent, or None
    values: dict[str, Any] = field(default_factory=dict)  # its attributes
    locked: bool = False  # by `lockNode`
    referenced: bool = False  # it comes from a referenced file
    startup: bool = False  # a camera that Maya itself makes
    # The UUID of the node that it is connected to, and goes with, or None.
    drives: str | None = None
    # The UUIDs of what else it is below: each is an instance of it.
    more_parents: list[str] = field(default_factory=list)
    # What leads into its attributes: the giver's UUID and attribute.
    inputs: dict[str, tuple[str, str]] = field(default_factory=dict)
    locks: list[str] = field(default_factory=list)  # its attributes that are locked
    # Of a set or layer: UUIDs, or a UUID and a component.
    members: list[str] = field(default_factory=list)
    # Of an animation curve: time, value, and the tangents in and out.
    keys: list[tuple[float, float, str, str]] = field(default_factory=list)
    is_default: bool = False  # Maya's own: it can be neither renamed nor deleted
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()).upper())
    named: ClassVar[int] = 0

    def __setattr__(self, name: str, value: Any) -> None:
        """Count new names: an index of them is another one then."""
        if name == "name":
            Node.named += 1
        object.__setattr__(self, name, value)

    @property
    def is_dag(self) -> bool:
        return "dagNode" in node_types.bases(self.type)

    def is_of(self, base: str) -> bool:
        return base in node_types.bases(self.type)


class Scene:
    """Nodes in their order, and the file they come from."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._index: dict[str, list[Node]] = {}
        self._indexed: object = None
        self.selected: list[str] = []
        self.name = ""
        self.modified = False
        self.namespace = ":"
        self.autokey = False
        self.settings: dict[str, Any] = {
            **{"linear": "cm", "angle": "deg", "time": "film", "up": "y", "frame": 12.0},
            **{"minTime": 1.0, "maxTime": 120.0},
            **{"animationStartTime": 1.0, "animationEndTime": 200.0},
        }

    def add(self, name: str, type_name: str, parent: Node | None = None, **more: Any) -> Node:
        node = Node(name, type_name, parent.uuid if parent else None, **more)
        self.nodes[node.uuid] = node
        return node

    def path(self, node: Node) -> str:
        """Give a DAG node's long path, or another node's name."""
        if not node.is_dag:
            return node.name
        above = self.nodes.get(node.parent) if node.parent else None
        return (self.path(above) if above else "") + "|" + node.name

    def paths(self, node: Node) -> list[str]:
        """Give each of a DAG node's paths: several if it or what it is below is instanced."""
        if not node.is_dag:
            return [node.name]
        parents = [
            self.nodes[one] for one in (node.parent, *node.more_parents) if one in self.nodes
        ]
        above = [path for parent in parents for path in self.paths(parent)]
        return [f"{path}|{node.name}" for path in above or [""]]

    def short(self, path: str) -> str:
        """Give the shortest name that means one path only, as commands do."""
        parts = path.split("|")
        if len(self._called(parts[-1])) == 1:
            return parts[-1]
        every = [known for node in self.nodes.values() for known in self.paths(node)]
        for begin in range(len(parts) - 1, 0, -1):
            name = "|".join(parts[begin:])
            if sum(f"|{known}".endswith(f"|{name}") for known in every) == 1:
                return name
        return path

    def resolve(self, name: str) -> list[tuple[Node, str]]:
        """Find by long path, partial path, name or UUID: each node, and the path that was meant."""
        if name in self.nodes:
            return [(self.nodes[name], self.path(self.nodes[name]))]
        found = []
        last = name.rpartition("|")[2]
        for node in self._called(last):
            fits = [
                path
                for path in self.paths(node)
                if (path == name if name.startswith("|") else f"|{path}".endswith(f"|{name}"))
            ]
            found += [(node, fits[0])] if fits else []
        return found

    def _called(self, name: str) -> list[Node]:
        """Give the nodes of a name, by an index of what is there now."""
        now = (Node.named, len(self.nodes), id(self.nodes))
        if now != self._indexed:
            self._indexed, self._index = now, {}
            for node in self.nodes.values():
                self._index.setdefault(node.name, []).append(node)
        return self._index.get(name, [])

    def find(self, name: str) -> list[Node]:
        """Find by long path, partial path, name or UUID."""
        return [node for node, _ in self.resolve(name.removeprefix(":"))]

    def children(self, node: Node) -> list[Node]:
        return [one for one in self.nodes.values() if node.uuid in (one.parent, *one.more_parents)]

    def below(self, node: Node) -> list[Node]:
        direct = self.children(node)
        return direct + [one for child in direct for one in self.below(child)]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps([asdict(node) for node in self.nodes.values()], indent=0))

    def read(self, path: Path) -> None:
        nodes = [Node(**told) for told in json.loads(path.read_text())]
        self.nodes = {node.uuid: node for node in nodes}
        self.name, self.modified = path.as_posix(), False


Memory = tuple[dict[str, Node], list[str], dict[str, Any]]


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
        # Looks at the attributes, and gives what tells whoever listens of those that are others.
        self.tell_edits: Callable[[], Callable[[], None]] = lambda: lambda: None
        self.on = on
        self.most: int | None = None
        self.depth = 0
        self._chunk: tuple[str, Memory] | None = None
        self._dirty = self._is_damaged = False
        self._made_unseen: set[str] = set()
        self.done: list[tuple[str, Memory, Memory]] = []
        self.undone: list[tuple[str, Memory, Memory]] = []

    @contextmanager
    def recorded(self, name: str, *, destroys: bool = False) -> Iterator[None]:
        """Be an undoable command."""
        before = None if self.depth or not self.on else self._memory()
        there = set(self._scene.nodes)
        told = self.tell_edits()
        yield
        told()
        if not self.on:
            self._made_unseen |= set(self._scene.nodes) - there
            # What came and went unrecorded is on no list.
            self._is_damaged |= destroys and bool(
                there - set(self._scene.nodes) - self._made_unseen
            )
        elif self.depth:
            self._dirty = True
        elif before is not None:
            self._push(name, before)

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
        self.done.clear()
        self.undone.clear()
        self._is_damaged = False

    def undo(self) -> None:
        self._move(self.done, self.undone, 1, "Undo")

    def redo(self) -> None:
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
        entry = one.pop()
        other.append(entry)
        before = self._scene.nodes
        nodes, self._scene.selected, self._scene.settings = copy.deepcopy(entry[to])
        self._scene.nodes = nodes
        Node.named += 1
        for key in nodes.keys() - before.keys():  # a node that comes back is told of as one added
            self._fire_node("node added", nodes[key])
        self._fire(event)

    def _memory(self) -> Memory:
        return copy.deepcopy((self._scene.nodes, self._scene.selected, self._scene.settings))
