"""References to nodes and parameters, as ``hou`` gives them: they do not outlive their scene."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.hosts.fakes.houdini.scene import Kept

if TYPE_CHECKING:
    from tests.hosts.fakes.houdini.application import Houdini


class Error(Exception):
    """`hou.Error`."""


class OperationFailed(Error):
    """`hou.OperationFailed`."""


class ObjectWasDeleted(Error):
    """`hou.ObjectWasDeleted`."""


class PermissionError(Error):
    """`hou.PermissionError`."""


class OpNode:
    """A reference to a node.

    `hou.ObjectWasDeleted`: any use of it after the node is gone raises. After another scene was
    loaded somebody saw Houdini crash instead.
    """

    def __init__(self, houdini: Houdini, kept: Kept) -> None:
        self._houdini = houdini
        self._id = kept.id
        self._generation = houdini.scene.generation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpNode) and other._id == self._id

    def __hash__(self) -> int:
        return self._id

    @property
    def _kept(self) -> Kept:
        scene = self._houdini.scene
        if self._generation != scene.generation or self._id not in scene.nodes:
            raise ObjectWasDeleted
        return scene.nodes[self._id]

    def path(self) -> str:
        return self._kept.path

    def name(self) -> str:
        return self.path().rpartition("/")[2]

    def sessionId(self) -> int:
        return self._kept.id

    def type(self) -> Any:
        of = self._kept.type
        category = SimpleNamespace(name=lambda: "Object")
        return SimpleNamespace(name=lambda: of, category=lambda: category)

    def parent(self) -> OpNode | None:
        above = self.path().rpartition("/")[0] or "/"
        return self._houdini.node(above) if self.path() != "/" else None

    def children(self) -> tuple[OpNode, ...]:
        return tuple(OpNode(self._houdini, k) for k in self._houdini.scene.children(self.path()))

    def allSubChildren(self, top_down: bool = True, locked: bool = True) -> tuple[OpNode, ...]:
        inside = self._houdini.scene.below(self.path())
        return tuple(OpNode(self._houdini, kept) for kept in inside)

    def inputs(self) -> tuple[OpNode, ...]:
        assert self._kept
        return ()

    def errors(self) -> tuple[str, ...]:
        return ()

    def warnings(self) -> tuple[str, ...]:
        return ()

    def isLockedHDA(self) -> bool:
        return self._kept.asset

    def isInsideLockedHDA(self) -> bool:
        parts = self.path().split("/")
        above = ["/".join(parts[:n]) for n in range(2, len(parts))]
        kept = (self._houdini.scene.at(path) for path in above)
        return any(one is not None and one.asset for one in kept)

    def asCode(self, recurse: bool = False) -> str:
        below = self._houdini.scene.below(self.path()) if recurse else []
        return "\n".join(f"{kept.path} {kept.type} {kept.parms}" for kept in [self._kept, *below])

    def parm(self, name: str) -> Parm | None:
        return Parm(self._houdini, self, name) if name in self._kept.parms else None

    def parms(self) -> tuple[Parm, ...]:
        return tuple(Parm(self._houdini, self, name) for name in self._kept.parms)

    def parmTuple(self, name: str) -> None:
        return None

    def setName(self, name: str) -> None:
        if not re.fullmatch(r"[\w.-]+", name):
            raise OperationFailed("Invalid node name.")
        self._check_unlocked()
        old, new = self.path(), f"{self.path().rpartition('/')[0]}/{name}"

        def edit() -> None:
            for kept in [self._kept, *self._houdini.scene.below(old)]:
                kept.path = new + kept.path[len(old) :]

        self._houdini.undos.record("Rename", edit)

    def destroy(self) -> None:
        self._check_unlocked()
        scene = self._houdini.scene
        gone = [self._kept, *scene.below(self.path())]

        def edit() -> None:
            for kept in gone:
                scene.nodes.pop(kept.id)

        self._houdini.undos.record("Delete", edit)

    def setSelected(self, on: bool, clear_all_selected: bool = False) -> None:
        """Select; that it is an action of its own on the undo stack is assumed."""

        def edit() -> None:
            self._kept.selected = on

        self._houdini.undos.record("Select", edit)
        self._houdini.tell_selection()

    def _check_unlocked(self) -> None:
        if self.isInsideLockedHDA():
            raise PermissionError("Failed to modify node or parameter because of locked asset.")


class Parm:
    """A reference to a parameter, which goes with its node."""

    def __init__(self, houdini: Houdini, node: OpNode, name: str) -> None:
        self._houdini = houdini
        self._node = node
        self._name = name

    def name(self) -> str:
        return self._name

    def eval(self) -> Any:
        return self._node._kept.parms[self._name]

    def set(self, value: Any) -> None:
        if isinstance(value, str) and not isinstance(self.eval(), str):
            raise OperationFailed("Invalid value.")
        self._node._check_unlocked()

        def edit() -> None:
            self._node._kept.parms[self._name] = value

        self._houdini.undos.record("Parameter Change", edit)

    def isAtDefault(self) -> bool:
        return not self.eval()

    def expression(self) -> str:
        raise OperationFailed("The parameter has no keyframes.")
