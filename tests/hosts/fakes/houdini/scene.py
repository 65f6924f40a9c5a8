"""The nodes of a stand-in Houdini as they are kept, and its undo stack."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_ids = itertools.count(1)


@dataclass
class Kept:
    """One node as the scene keeps it; nobody outside has it."""

    path: str  # where it is
    type: str  # its type's name
    parms: dict[str, Any] = field(default_factory=dict)  # its parameters
    asset: bool = False  # it is a locked asset
    selected: bool = False  # by the person
    # What leads into it: its input, the id of the other node, and that one's output.
    wires: list[list[int]] = field(default_factory=list)
    # Of each parameter that has some: frame, value and expression.
    keys: dict[str, list[list[Any]]] = field(default_factory=dict)
    locked: list[str] = field(default_factory=list)  # its parameters that are locked
    # "display" and "render", of a node that makes a shape.
    flags: list[str] = field(default_factory=list)
    spares: list[str] = field(default_factory=list)  # its parameters that somebody added
    id: int = field(default_factory=lambda: next(_ids))  # unique in this session


class Scene:
    """The nodes in their order. Each load makes a new generation of them."""

    def __init__(self) -> None:
        self.nodes: dict[int, Kept] = {}
        self.path = "/home/artist/untitled.hip"
        self.is_new = True
        self.modified = False
        self.generation = 0
        # What no document says that the undo stack has: node groups, by network, and the playbar.
        self.groups: dict[str, dict[str, list[int]]] = {}
        self.fps, self.frame, self.range = 24.0, 24.0, (1.0, 240.0)
        for path, of in (("/", "root"), ("/obj", "obj"), ("/stage", "stage"), ("/mat", "mat")):
            self.add(path, of)

    def add(self, path: str, type_name: str, **more: Any) -> Kept:
        node = Kept(path, type_name, **more)
        self.nodes[node.id] = node
        return node

    def at(self, path: str) -> Kept | None:
        return next((node for node in self.nodes.values() if node.path == path), None)

    def below(self, path: str) -> list[Kept]:
        inside = path.rstrip("/") + "/"
        return [n for n in self.nodes.values() if n.path.startswith(inside) and n.path != "/"]

    def children(self, path: str) -> list[Kept]:
        depth = path.rstrip("/").count("/") + 1
        return [node for node in self.below(path) if node.path.count("/") == depth]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps([asdict(node) for node in self.nodes.values()]))

    def read(self, path: Path) -> None:
        nodes = [Kept(**told) for told in json.loads(path.read_text())]
        self.nodes = {node.id: node for node in nodes}


class Undos:
    """The undo stack.

    `hou.undos.group`: one action; that one in which nothing was done leaves none is assumed.
    `hou.undos.memoryUsageLimit`: the oldest go when it is reached; here it is a number of actions.
    Whether an open group is listed is nowhere documented; here it is.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._depth = 0
        self._dirty = False
        self._open = ""
        self._added: list[Any] = []
        self.enabled = True
        # Looks at the nodes, and gives what tells whoever listens of those that are others.
        self.tell_edits: Callable[[], Callable[[], None]] = lambda: lambda: None
        self.most = 1000
        self.done: list[tuple[str, Any, Any, list[Any]]] = []
        self.undone: list[tuple[str, Any, Any, list[Any]]] = []

    @contextmanager
    def recorded(self, label: str) -> Iterator[None]:
        """Be something that can be undone."""
        with self.group(label):
            tell = self.tell_edits()
            yield
            self._dirty |= self.enabled
        tell()
        self._scene.modified = True

    def record(self, label: str, edit: Callable[[], Any]) -> Any:
        with self.recorded(label):
            return edit()

    def add(self, undo: Any, label: str, tag: str | None = None) -> None:
        """`hou.undos.add`: an operation of one's own; in a group it is assumed to be of that."""
        with self.group(label):
            self._added.append(undo)
            self._dirty = True

    @contextmanager
    def group(self, label: str, editor: object = None) -> Iterator[None]:
        """Make one action of what is done inside; the outermost one counts."""
        before = copy.deepcopy(self._scene.nodes) if not self._depth else {}
        if not self._depth:
            self._dirty, self._open, self._added = False, label, []
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth and self._dirty and self.enabled:
                after = copy.deepcopy(self._scene.nodes)
                self.done.append((label, before, after, self._added))
                self.undone.clear()
                del self.done[: -self.most]

    def clear(self) -> None:
        self.done.clear()
        self.undone.clear()

    @contextmanager
    def disabler(self) -> Iterator[None]:
        self.enabled = False
        try:
            yield
        finally:
            self.enabled = True

    def areEnabled(self) -> bool:
        return self.enabled

    def undoLabels(self) -> tuple[str, ...]:
        """List the labels; the first is the one that is undone next."""
        open_one = (self._open,) if self._depth else ()
        return open_one + tuple(entry[0] for entry in reversed(self.done))

    def redoLabels(self) -> tuple[str, ...]:
        """List the labels; the first is the one that is redone next."""
        return tuple(entry[0] for entry in reversed(self.undone))

    def memoryUsage(self) -> int:
        return len(self.done)

    def memoryUsageLimit(self) -> int:
        return self.most

    def performUndo(self) -> bool:
        return self._move(self.done, self.undone, 1)

    def performRedo(self) -> bool:
        return self._move(self.undone, self.done, 2)

    def _move(self, one: list[Any], other: list[Any], to: int) -> bool:
        entry = one.pop()
        other.append(entry)
        self._scene.nodes = copy.deepcopy(entry[to])
        for added in entry[3] if to == 2 else reversed(entry[3]):
            added.redo() if to == 2 else added.undo()
        return True
