"""`maya.api.OpenMaya` of the stand-in: messages, the active selection, a plug-in's registration."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from pxr import Gf

from tests.hosts.fakes import turning
from tests.hosts.fakes.maya.node_types import ORDERS
from tests.hosts.fakes.maya.scene import Node

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.application import Maya

DAG: Final = "kDagNode"


class ObjectOfNode:
    """`MObject`: a node, as long as it is there."""

    def __init__(self, maya: Maya, node: Node) -> None:
        self.maya = maya
        self.node_ = node

    def hasFn(self, of: str) -> bool:
        return of == DAG and self.node_.is_dag


class FileObject:
    """`MFileObject`: what a check is about."""

    def __init__(self, path: str) -> None:
        self._path = path

    def resolvedFullName(self) -> str:
        return self._path


class DependencyNode:
    """`MFnDependencyNode`."""

    def __init__(self, thing: ObjectOfNode) -> None:
        self._maya = thing.maya
        self._node = thing.node_

    def name(self) -> str:
        return self._node.name

    def uuid(self) -> SimpleNamespace:
        return SimpleNamespace(asString=lambda: self._node.uuid)


class DagNode(DependencyNode):
    """`MFnDagNode`: of a node whose parent is gone the path begins with itself."""

    def fullPathName(self) -> str:
        return self._maya.scene.path(self._node)

    def childCount(self) -> int:
        return len(self._maya.scene.children(self._node))

    def child(self, number: int) -> ObjectOfNode:
        return ObjectOfNode(self._maya, self._maya.scene.children(self._node)[number])


class SelectionList:
    """`MSelectionList`: adding what is not there raises."""

    maya: Maya

    def __init__(self) -> None:
        self.ids: list[str] = []

    def length(self) -> int:
        return len(self.ids)

    def getDependNode(self, number: int) -> ObjectOfNode:
        return ObjectOfNode(self.maya, self.maya.scene.nodes[self.ids[number]])

    def add(self, name: str) -> None:
        found = self.maya.scene.find(name)
        if not found:
            raise RuntimeError("(kInvalidParameter): Object does not exist")
        self.ids.append(found[0].uuid)


class EulerRotation:
    """`MEulerRotation`: angles in radians, and one of six orders."""

    def __init__(self, x: float, y: float, z: float, order: int = 0) -> None:
        self.x, self.y, self.z, self.order = x, y, z, order

    def reorderIt(self, order: int) -> EulerRotation:
        if order != self.order:
            names = ORDERS.split(":")
            given = [math.degrees(angle) for angle in (self.x, self.y, self.z)]
            angles = turning.angles(turning.turned(given, names[self.order]), names[order])
            self.x, self.y, self.z = map(math.radians, angles)
        self.order = order
        return self


class Matrix(list[float]):
    """`MMatrix`: sixteen numbers."""


class TransformationMatrix:
    """`MTransformationMatrix`, of which only the rotation is asked."""

    def __init__(self, matrix: Matrix) -> None:
        self._rotation, _ = turning.taken_apart(Gf.Matrix4d(*matrix))

    def rotation(self) -> EulerRotation:
        x, y, z = map(math.radians, turning.angles(self._rotation))
        return EulerRotation(x, y, z)


class Vector(list[float]):
    """`MVector`: ``^`` is the cross product."""

    def __sub__(self, other: Vector) -> Vector:
        return Vector(a - b for a, b in zip(self, other, strict=True))

    def __xor__(self, other: Vector) -> Vector:
        a, b = self, other
        return Vector(a[n - 2] * b[n - 1] - a[n - 1] * b[n - 2] for n in range(3))

    def length(self) -> float:
        return math.hypot(*self)

    def normal(self) -> Vector:
        return Vector(n / self.length() for n in self)


def contents(maya: Maya) -> dict[str, Any]:
    chosen = type("MSelectionList", (SelectionList,), {"maya": maya})
    return {
        "MSelectionList": chosen,
        "MGlobal": _selecting(maya, chosen),
        **_messages(maya),
        "MFnPlugin": lambda plug_in, vendor, version: maya.vendors.append((vendor, version)),
        "MObject": ObjectOfNode,
        "MFn": SimpleNamespace(kDagNode=DAG),
        "MFnDependencyNode": DependencyNode,
        "MFnDagNode": DagNode,
        "MEulerRotation": EulerRotation,
        "MMatrix": Matrix,
        "MTransformationMatrix": TransformationMatrix,
        "MVector": Vector,
    }


def _selecting(maya: Maya, made: Callable[[], SelectionList]) -> type:
    class MGlobal:
        """Sets the selection without an undo entry, unlike the command."""

        @staticmethod
        def setActiveSelectionList(chosen: SelectionList) -> None:
            maya.scene.selected = list(chosen.ids)
            maya.fire("SelectionChanged")

        @staticmethod
        def getActiveSelectionList() -> SelectionList:
            chosen = made()
            chosen.ids = list(maya.scene.selected)
            return chosen

    return MGlobal


def _scene_messages(maya: Maya) -> type:
    class MSceneMessage:
        """Of the checks, two have no file: a new scene, and a save."""

        kMayaExiting = "exiting"
        kBeforeNewCheck = "new?"
        kBeforeOpenCheck = "open?"
        kBeforeSaveCheck = "save?"
        kBeforeExportCheck = "export?"
        kBeforeImportCheck = "import?"
        kBeforeCreateReferenceCheck = "create reference?"
        kBeforeLoadReferenceCheck = "load reference?"
        kBeforeRemoveReference = "remove reference"
        kBeforeUnloadReference = "unload reference"

        @staticmethod
        def addCallback(event: str, fn: Callable[..., None]) -> int:
            assert not event.endswith("?")
            return maya.listen(event, fn)

        @staticmethod
        def addCheckCallback(event: str, fn: Callable[..., bool]) -> int:
            assert event in ("new?", "save?")
            return maya.listen(event, fn)

        @staticmethod
        def addCheckFileCallback(event: str, fn: Callable[..., bool]) -> int:
            assert event.endswith("?")
            assert event not in ("new?", "save?")
            return maya.listen(event, fn)

    return MSceneMessage


def _node_and_output_messages(maya: Maya) -> tuple[type, ...]:
    class MNodeMessage:
        """`addAttributeChangedCallback`: of one node; what has happened is a sum of flags."""

        kConnectionMade, kConnectionBroken, kAttributeEval, kAttributeSet = 1, 2, 4, 8
        kAttributeLocked, kAttributeUnlocked = 0x10, 0x20
        kIncomingDirection, kOtherPlugSet = 0x800, 0x4000

        @staticmethod
        def addAttributeChangedCallback(node: ObjectOfNode, fn: Callable[..., None]) -> int:
            return maya.listen(f"attribute of {node.node_.uuid}", fn)

    class MCommandMessage:
        """What the script editor shows: a text, and of which kind it is."""

        kHistory, kDisplay, kInfo, kWarning, kError, kResult, kStackTrace = range(7)

        @staticmethod
        def addCommandOutputCallback(fn: Callable[..., None]) -> int:
            return maya.listen("output", fn)

    return MNodeMessage, MCommandMessage


def _messages(maya: Maya) -> dict[str, Any]:
    class MEventMessage:
        @staticmethod
        def addEventCallback(event: str, fn: Callable[..., None]) -> int:
            return maya.listen(event, fn)

    class MDGMessage:
        @staticmethod
        def addNodeAddedCallback(fn: Callable[..., None], of: str) -> int:
            return maya.listen("node added", fn)

        @staticmethod
        def addNodeRemovedCallback(fn: Callable[..., None], of: str) -> int:
            return maya.listen("node removed", fn)

        @staticmethod
        def addConnectionCallback(fn: Callable[..., None]) -> int:
            return maya.listen("connection", fn)

    class MMessage:
        @staticmethod
        def removeCallback(number: int) -> None:
            """Remove one; Maya raises for one that is not there."""
            if maya.heard_by.pop(number, None) is None:
                raise RuntimeError("(kInvalidParameter): no such callback")

    kinds = (
        *_node_and_output_messages(maya),
        _scene_messages(maya),
        MEventMessage,
        MDGMessage,
        MMessage,
    )
    return {one.__name__: one for one in kinds}
