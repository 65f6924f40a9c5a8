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
CURVE: Final = "kAnimCurve"
ANY: Final = "kDependencyNode"
ATTRIBUTE_ADDED: Final = 0x40  # `MNodeMessage.kAttributeAdded`
ATTRIBUTE_REMOVED: Final = 0x80  # `MNodeMessage.kAttributeRemoved`


class ObjectOfNode:
    """`MObject`: a node, as long as it is there."""

    def __init__(self, maya: Maya, node: Node) -> None:
        self.maya = maya
        self.node_ = node

    def hasFn(self, of: str) -> bool:
        fits = {DAG: self.node_.is_dag, CURVE: self.node_.is_of("animCurve"), ANY: True}
        return fits[of]


class Plug:
    """`MPlug`: an attribute of a node."""

    def __init__(self, maya: Maya, node: Node, attribute: str) -> None:
        self._thing = ObjectOfNode(maya, node)
        self._attribute = attribute

    def node(self) -> ObjectOfNode:
        return self._thing

    def partialName(
        self, includeNonMandatoryIndices: bool = False, useLongNames: bool = False
    ) -> str:
        """`MPlug.partialName`: the short name of the attribute, without the node's."""
        assert useLongNames, "the stand-in has no short names"
        assert includeNonMandatoryIndices, "an element of an array might have no index"
        return self._attribute


class DependencyNodes:
    """`MItDependencyNodes`: iterates over the nodes that have a function set."""

    maya: Maya

    def __init__(self, of: str) -> None:
        things = [ObjectOfNode(self.maya, node) for node in self.maya.scene.nodes.values()]
        self._left = [thing for thing in things if thing.hasFn(of)]

    def isDone(self) -> bool:
        return not self._left

    def thisNode(self) -> ObjectOfNode:
        return self._left[0]

    def next(self) -> None:
        del self._left[0]


class AnimCurve:
    """`MFnAnimCurve`: ``numKeys`` is a property in the Python API 2.0."""

    def __init__(self, thing: ObjectOfNode) -> None:
        assert thing.hasFn(CURVE)
        self.numKeys = len(thing.node_.keys)


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
    """`MSelectionList`."""

    maya: Maya

    def __init__(self) -> None:
        self.ids: list[str] = []

    def length(self) -> int:
        return len(self.ids)

    def getDependNode(self, number: int) -> ObjectOfNode:
        return ObjectOfNode(self.maya, self.maya.scene.nodes[self.ids[number]])

    def add(self, name: str) -> None:
        self.ids.append(self.maya.scene.find(name)[0].uuid)


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
        "MItDependencyNodes": type("MItDependencyNodes", (DependencyNodes,), {"maya": maya}),
        "MFn": SimpleNamespace(kDagNode=DAG, kAnimCurve=CURVE, kDependencyNode=ANY),
        "MFnDependencyNode": DependencyNode,
        "MFnDagNode": DagNode,
        "MEulerRotation": EulerRotation,
        "MMatrix": Matrix,
        "MTransformationMatrix": TransformationMatrix,
        "MVector": Vector,
    }


def of_animation(maya: Maya) -> dict[str, Any]:
    """`maya.api.OpenMayaAnim`: whoever listens is told of an edited curve by an MObjectArray."""
    listen = SimpleNamespace(addAnimCurveEditedCallback=lambda fn: maya.listen("curves edited", fn))
    return {"MFnAnimCurve": AnimCurve, "MAnimMessage": listen}


def _selecting(maya: Maya, made: Callable[[], SelectionList]) -> SimpleNamespace:
    """`MGlobal` sets the selection without an undo entry, unlike the command."""

    def choose(chosen: SelectionList) -> None:
        maya.scene.selected = list(chosen.ids)
        maya.fire("SelectionChanged")

    def chosen() -> SelectionList:
        selected = made()
        selected.ids = list(maya.scene.selected)
        return selected

    return SimpleNamespace(setActiveSelectionList=choose, getActiveSelectionList=chosen)


def _scene_messages(maya: Maya) -> SimpleNamespace:
    """`MSceneMessage`: of the checks, two have no file, a new scene and a save."""
    without_file = ("new?", "save?")

    def listen(event: str, fn: Callable[..., None]) -> int:
        assert not event.endswith("?")
        return maya.listen(event, fn)

    def check(event: str, fn: Callable[..., bool]) -> int:
        assert event in without_file
        return maya.listen(event, fn)

    def check_file(event: str, fn: Callable[..., bool]) -> int:
        assert event.endswith("?")
        assert event not in without_file
        return maya.listen(event, fn)

    return SimpleNamespace(
        kMayaExiting="exiting",
        kBeforeNewCheck="new?",
        kBeforeOpenCheck="open?",
        kBeforeSaveCheck="save?",
        kBeforeExportCheck="export?",
        kBeforeImportCheck="import?",
        kBeforeCreateReferenceCheck="create reference?",
        kBeforeLoadReferenceCheck="load reference?",
        kBeforeRemoveReference="remove reference",
        kBeforeUnloadReference="unload reference",
        addCallback=listen,
        addCheckCallback=check,
        addCheckFileCallback=check_file,
    )


def _messages(maya: Maya) -> dict[str, SimpleNamespace]:
    def remove(number: int) -> None:
        del maya.heard_by[number]

    return {
        "MSceneMessage": _scene_messages(maya),
        "MEventMessage": SimpleNamespace(addEventCallback=maya.listen),
        "MDGMessage": SimpleNamespace(
            addNodeAddedCallback=lambda fn, of: maya.listen("node added", fn),
            addNodeRemovedCallback=lambda fn, of: maya.listen("node removed", fn),
            addConnectionCallback=lambda fn: maya.listen("connection", fn),
        ),
        "MMessage": SimpleNamespace(removeCallback=remove),
        "MNodeMessage": SimpleNamespace(  # of one node; what has happened is a sum of flags
            **{"kConnectionMade": 1, "kConnectionBroken": 2, "kAttributeEval": 4},
            **{"kAttributeSet": 8, "kAttributeLocked": 0x10, "kAttributeUnlocked": 0x20},
            **{"kIncomingDirection": 0x800, "kOtherPlugSet": 0x4000},
            **{"kAttributeAdded": ATTRIBUTE_ADDED, "kAttributeRemoved": ATTRIBUTE_REMOVED},
            addAttributeAddedOrRemovedCallback=lambda node, fn: maya.listen(
                f"attributes of {node.node_.uuid}", fn
            ),
            addAttributeChangedCallback=lambda node, fn: maya.listen(
                f"attribute of {node.node_.uuid}", fn
            ),
        ),
        "MCommandMessage": SimpleNamespace(  # what the script editor shows: a text, and its kind
            **{"kHistory": 0, "kDisplay": 1, "kInfo": 2, "kWarning": 3, "kError": 4},
            **{"kResult": 5, "kStackTrace": 6},
            addCommandOutputCallback=lambda fn: maya.listen("output", fn),
        ),
    }
