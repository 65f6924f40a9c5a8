"""References to nodes and parameters, as ``hou`` gives them: they do not outlive their scene."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.hosts.fakes.houdini.geometry import Geometry, Matrix4, build
from tests.hosts.fakes.houdini.scene import Kept
from tests.hosts.fakes.houdini.types import (
    INPUTS,
    TEMPLATES,
    Category,
    NodeType,
    Template,
    category_of,
)

if TYPE_CHECKING:
    from tests.hosts.fakes.houdini.application import Houdini


class Error(Exception):
    """`hou.Error`."""

    def instanceMessage(self) -> str:
        return str(self)


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
        return NodeType(self._kept.type, category_of(self.path()))

    def parent(self) -> OpNode | None:
        above = self.path().rpartition("/")[0] or "/"
        return self._houdini.node(above) if self.path() != "/" else None

    def children(self) -> tuple[OpNode, ...]:
        return tuple(self._at(k) for k in self._houdini.scene.children(self.path()))

    def allSubChildren(self, top_down: bool = True, locked: bool = True) -> tuple[OpNode, ...]:
        inside = self._houdini.scene.below(self.path())
        return tuple(self._at(kept) for kept in inside)

    def addEventCallback(self, event_types: Sequence[str], callback: Any) -> None:
        listeners = self._houdini.node_events.setdefault(self._kept.id, [])
        listeners += [(it, callback) for it in event_types]

    def removeEventCallback(self, event_types: Sequence[str], callback: Any) -> None:
        listeners = self._houdini.node_events.get(self._kept.id, [])
        gone = [(it, fn) for it, fn in listeners if it in event_types and fn == callback]
        if not gone:
            raise OperationFailed("The callback was not registered.")
        self._houdini.node_events[self._kept.id] = [it for it in listeners if it not in gone]

    def comment(self) -> str:
        return ""

    # ---- networks

    def isNetwork(self) -> bool:
        return self._kept.type in ("root", "obj", "stage", "geo", "subnet", "mat")

    def childTypeCategory(self) -> Category:
        return category_of(f"{self.path()}/any")

    def node(self, name: str) -> OpNode | None:
        return self._houdini.node(f"{self.path().rstrip('/')}/{name}")

    def createNode(
        self, kind: str, name: str | None = None, exact_type_name: bool = False
    ) -> OpNode:
        """`hou.Node.createNode`: a name that is taken gets a number."""
        known = self.childTypeCategory().nodeTypes()
        if not exact_type_name:  # then the newest version of that name
            kind = next((name for name in known if name.partition("::")[0] == kind), kind)
        if self.isLockedHDA():
            raise PermissionError("Failed to modify node or parameter because of locked asset.")
        self._check_unlocked()
        scene = self._houdini.scene
        parms = {
            key: value for each in TEMPLATES.get(kind, ()) for key, value in each.parms().items()
        }
        path = self._free(name or f"{kind.partition('::')[0]}1")
        # Only the first shape in a network gets the flags; no document says so, each scene does.
        is_first = self._kept.type == "geo" and not self.children()
        flags = ["display", "render"] * is_first
        return self._at(
            self._houdini.undos.record(
                "Create", lambda: scene.add(path, kind, parms=parms, flags=flags)
            )
        )

    def copyItems(
        self, items: Sequence[OpNode], channel_reference_originals: bool = False
    ) -> tuple[OpNode, ...]:
        """`hou.Node.copyItems`: only the node on top has channels that refer to the original."""
        scene, copies = self._houdini.scene, []
        for item in items:
            top, path = item._kept, self._free(item.name())
            with self._houdini.undos.recorded("Copy"):
                for kept in [top, *scene.below(top.path)]:
                    where = path + kept.path[len(top.path) :]
                    more = {"keys": dict(kept.keys), "flags": list(kept.flags)}
                    scene.add(where, kept.type, parms=dict(kept.parms), **more)
                made = scene.at(path)
                assert made is not None
                if channel_reference_originals:
                    made.keys = {
                        n: [[0.0, v, f'ch("{top.path}/{n}")']] for n, v in made.parms.items()
                    }
            copies.append(self._at(made))
        return tuple(copies)

    def moveToGoodPosition(self) -> None:
        assert self._kept

    def _free(self, name: str) -> str:
        stem, number = name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :] or 0)
        while self.node(name) is not None:
            number += 1
            name = f"{stem}{number}"
        return f"{self.path().rstrip('/')}/{name}"

    # ---- wires

    def inputNames(self) -> tuple[str, ...]:
        return tuple(f"input{number}" for number in range(1, INPUTS.get(self._kept.type, 1) + 1))

    def outputNames(self) -> tuple[str, ...]:
        assert self._kept
        return ("output1",)

    def inputIndex(self, name: str) -> int:
        if name not in self.inputNames():
            raise OperationFailed("Invalid input name.")
        return self.inputNames().index(name)

    def setInput(self, index: int, other: OpNode | None, output: int = 0) -> None:
        """`hou.Node.setInput`: what was there goes; a circle fails."""
        self._check_unlocked()
        if other is not None and (other == self or self in other.inputAncestors()):
            raise OperationFailed("Infinite recursion")
        kept = self._kept
        with self._houdini.undos.recorded("Connect"):
            kept.wires = [wire for wire in kept.wires if wire[0] != index]
            kept.wires += [[index, other._id, output]] if other is not None else []

    def setNamedInput(self, name: str, other: OpNode, output: str | int) -> None:
        names = other.outputNames()
        self.setInput(self.inputIndex(name), other, names.index(str(output)))

    def inputs(self) -> tuple[OpNode, ...]:
        nodes = self._houdini.scene.nodes
        return tuple(self._at(nodes[other]) for _, other, _ in self._kept.wires if other in nodes)

    def inputAncestors(self) -> set[OpNode]:
        return {above for each in self.inputs() for above in (each, *each.inputAncestors())}

    def outputs(self) -> tuple[OpNode, ...]:
        every = [self._at(kept) for kept in self._houdini.scene.nodes.values()]
        return tuple(each for each in every if self in each.inputs())

    def outputConnections(self) -> tuple[Any, ...]:
        return tuple(
            SimpleNamespace(outputNode=lambda it=it: it, inputIndex=lambda index=index: index)
            for it in self.outputs()
            for index, other, _ in it._kept.wires
            if other == self._id
        )

    def inputConnections(self) -> tuple[Any, ...]:
        nodes = self._houdini.scene.nodes
        return tuple(
            SimpleNamespace(
                inputNode=lambda other=other: self._at(nodes[other]),
                outputNode=lambda: self,
                inputName=lambda index=index: self.inputNames()[index],
                outputName=lambda output=output: f"output{output + 1}",
            )
            for index, other, output in sorted(self._kept.wires)
            if other in nodes
        )

    def dependents(self, include_children: bool = True) -> tuple[OpNode, ...]:
        every = [self._at(kept) for kept in self._houdini.scene.nodes.values()]
        return tuple(each for each in every if self in each.references())

    def references(self, include_children: bool = True) -> tuple[OpNode, ...]:
        texts = [key[2] for keys in self._kept.keys.values() for key in keys]
        paths = re.findall(r'ch\("(.*)/\w+"\)', " ".join(texts))
        paths += [it for name, it in self._kept.parms.items() if name.startswith("shop_material")]
        return tuple(node for path in paths if (node := self._houdini.node(path)) is not None)

    def _at(self, kept: Kept) -> OpNode:
        return reference(self._houdini, kept)

    def errors(self) -> tuple[str, ...]:
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
        return "\n".join(
            f"{it.path} {it.type} {it.parms} {it.wires} {it.keys} {it.locked} {it.flags}"
            for it in [self._kept, *below]
        )

    # ---- node groups

    def addNodeGroup(self, name: str | None = None) -> NodeGroup:
        """`hou.OpNode.addNodeGroup`: gives the group of that name if there is one."""
        assert name
        self._houdini.scene.groups.setdefault(self.path(), {}).setdefault(name, [])
        return NodeGroup(self, name)

    def nodeGroup(self, name: str) -> NodeGroup | None:
        return NodeGroup(self, name) if name in self._groups() else None

    def nodeGroups(self) -> tuple[NodeGroup, ...]:
        return tuple(NodeGroup(self, name) for name in self._groups())

    def _groups(self) -> dict[str, list[int]]:
        return self._houdini.scene.groups.get(self.path(), {})

    def parm(self, name: str) -> Parm | None:
        return Parm(self._houdini, self, name) if name in self._kept.parms else None

    def evalParm(self, name: str) -> Any:
        parm = self.parm(name)
        assert parm is not None
        return parm.eval()

    def parms(self) -> tuple[Parm, ...]:
        return tuple(Parm(self._houdini, self, name) for name in self._kept.parms)

    def spareParms(self) -> tuple[Parm, ...]:
        """`hou.OpNode.spareParms`: those that somebody added to this node."""
        return tuple(Parm(self._houdini, self, name) for name in self._kept.spares)

    def addSpareParmTuple(self, parm_template: Template) -> ParmTuple:
        """`hou.OpNode.addSpareParmTuple`: to this node only, not to others of its type."""
        self._check_unlocked()
        kept = self._kept
        with self._houdini.undos.recorded("Add Spare"):
            kept.parms.update(parm_template.parms())
            kept.spares += parm_template.parms()
        return ParmTuple(self, parm_template)

    def removeSpareParmTuple(self, parm_tuple: ParmTuple) -> None:
        """`hou.OpNode.removeSpareParmTuple`: with its keys."""
        self._check_unlocked()
        kept, names = self._kept, [parm.name() for parm in parm_tuple]
        with self._houdini.undos.recorded("Remove Spare"):
            kept.spares = [name for name in kept.spares if name not in names]
            for name in names:
                del kept.parms[name]
                kept.keys.pop(name, None)

    def parmTuples(self) -> tuple[ParmTuple, ...]:
        of_type = TEMPLATES.get(self._kept.type, ())
        there = self._kept.parms.keys()  # a node that a test made may have some only
        named = [each for each in of_type if each.size > 1 and each.parms().keys() <= there]
        inside = {name for each in named for name in each.parms()}
        alone = [Template(name, it) for name, it in self._kept.parms.items() if name not in inside]
        return tuple(ParmTuple(self, each) for each in [*named, *alone])

    def parmTuple(self, name: str) -> ParmTuple | None:
        return next((each for each in self.parmTuples() if each.name() == name), None)

    def setName(self, name: str) -> None:
        if not re.fullmatch(r"[\w.-]+", name):
            raise OperationFailed("Invalid node name.")
        self._check_unlocked()
        old, new = self.path(), f"{self.path().rpartition('/')[0]}/{name}"
        with self._houdini.undos.recorded("Rename"):
            for kept in [self._kept, *self._houdini.scene.below(old)]:
                kept.path = new + kept.path[len(old) :]

    def destroy(self) -> None:
        self._check_unlocked()
        scene = self._houdini.scene
        gone = [self._kept, *scene.below(self.path())]
        with self._houdini.undos.recorded("Delete"):
            for kept in gone:
                scene.nodes.pop(kept.id)

    def setSelected(self, on: bool, clear_all_selected: bool = False) -> None:
        """Select; that it is an action of its own on the undo stack is assumed."""
        with self._houdini.undos.recorded("Select"):
            self._kept.selected = on
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

    def node(self) -> OpNode:
        """`hou.Parm.node`: the node that has the parameter."""
        return self._node

    def path(self) -> str:
        return f"{self._node.path()}/{self._name}"

    def parmTemplate(self) -> Template:
        return Template(self._name, self._node._kept.parms[self._name])

    def isAtDefault(
        self, compare_temporary_defaults: bool = True, compare_expressions: bool = False
    ) -> bool:
        """`hou.Parm.isAtDefault`: of a parameter that somebody added nothing is kept here."""
        templates = TEMPLATES.get(self._node._kept.type, ())
        defaults = {name: value for each in templates for name, value in each.parms().items()}
        if self._name not in defaults or self._keys():
            return False
        return bool(self._node._kept.parms[self._name] == defaults[self._name])

    def eval(self) -> Any:
        return self.evalAtFrame(self._houdini.scene.frame)

    def evalAtFrame(self, frame: float) -> Any:
        """Between keys a line, unless they are steps; what an expression refers to, there."""
        keys = self._keys()
        found = re.fullmatch(r'ch\("(.*)/(\w+)"\)', keys[0][2]) if keys else None
        if found:
            other = self._houdini.node(found[1])
            parm = other.parm(found[2]) if other is not None else None
            return parm.eval() if parm is not None else 0.0
        if not keys:
            return self._node._kept.parms[self._name]
        before = ([key for key in keys if key[0] <= frame] or keys[:1])[-1]
        after = next((key for key in keys if key[0] > frame), before)
        if after is before or before[2] == "constant()" or frame < before[0]:
            return before[1]
        share = (frame - before[0]) / (after[0] - before[0])
        return before[1] + share * (after[1] - before[1])

    def set(self, value: Any) -> None:
        if isinstance(value, str) and not isinstance(self.eval(), str):
            raise OperationFailed("Invalid value.")
        self._node._check_unlocked()
        with self._houdini.undos.recorded("Parameter Change"):
            self._node._kept.parms[self._name] = value

    def expression(self) -> str:
        if not self._keys():
            raise OperationFailed("The parameter has no keyframes.")
        return str(self._keys()[0][2])

    def isLocked(self) -> bool:
        return self._name in self._node._kept.locked

    def lock(self, on: bool) -> None:
        kept = self._node._kept
        with self._houdini.undos.recorded("Lock"):
            kept.locked = [name for name in kept.locked if name != self._name] + [self._name] * on

    def keyframes(self) -> tuple[Keyframe, ...]:
        return tuple(Keyframe(value, frame) for frame, value, _ in self._keys())

    def setKeyframe(self, key: Keyframe) -> None:
        self._node._check_unlocked()
        kept, name = self._node._kept, self._name
        others = [each for each in self._keys() if each[0] != key.frame()]
        new = sorted([*others, [key.frame(), key.value, key.expression]])
        self._houdini.undos.record("Key", lambda: kept.keys.update({name: new}))

    def deleteAllKeyframes(self) -> None:
        """`hou.Parm.deleteAllKeyframes`: no effect without keys; else the value stays."""
        if self._keys():
            kept, value = self._node._kept, self.eval()
            with self._houdini.undos.recorded("Delete Keys"):
                del kept.keys[self._name]
                kept.parms[self._name] = value

    def deleteKeyframeAtFrame(self, frame: float) -> None:
        """`hou.Parm.deleteKeyframeAtFrame`: with the last one the value stays."""
        left = [key for key in self._keys() if key[0] != frame]
        if left:
            kept, name = self._node._kept, self._name
            self._houdini.undos.record("Delete Key", lambda: kept.keys.update({name: left}))
        else:
            self.deleteAllKeyframes()

    def _keys(self) -> list[list[Any]]:
        return self._node._kept.keys.get(self._name, [])


class ParmTuple:
    """A reference to the parameters of one name, such as ``t``."""

    def __init__(self, node: OpNode, template: Template) -> None:
        self._node = node
        self._template = template

    def name(self) -> str:
        return self._template.name()

    def parmTemplate(self) -> Template:
        return self._template

    def isHidden(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Parm]:
        return iter([Parm(self._node._houdini, self._node, it) for it in self._template.parms()])

    def __len__(self) -> int:
        return self._template.size


class NodeGroup:
    """`hou.NodeGroup`."""

    def __init__(self, network: OpNode, name: str) -> None:
        self._network = network
        self._name = name

    def name(self) -> str:
        return self._name

    def nodes(self) -> tuple[OpNode, ...]:
        kept = self._network._houdini.scene.nodes
        ids = self._network._groups()[self._name]
        return tuple(self._network._at(kept[it]) for it in ids if it in kept)

    def addNode(self, node: OpNode) -> None:
        ids = self._network._groups()[self._name]
        ids += [] if node._id in ids else [node._id]

    def removeNode(self, node: OpNode) -> None:
        self._network._groups()[self._name].remove(node._id)

    def destroy(self) -> None:
        del self._network._groups()[self._name]


class Keyframe:
    """`hou.Keyframe`."""

    def __init__(self, value: float = 0.0, frame: float = 0.0) -> None:
        self.value = value
        self.expression = "bezier()"
        self._frame = frame

    def frame(self) -> float:
        return self._frame

    def setFrame(self, frame: float) -> None:
        self._frame = frame

    def setValue(self, value: float) -> None:
        self.value = value

    def setExpression(self, expression: str, language: object = None) -> None:
        assert language == "Hscript"
        self.expression = expression


class ObjNode(OpNode):
    """A reference to an object, which has a place."""

    def displayNode(self) -> OpNode | None:
        """The one that has the flag."""
        return next((it for it in self.children() if "display" in it._kept.flags), None)

    def renderNode(self) -> OpNode | None:
        return next((it for it in self.children() if "render" in it._kept.flags), None)

    def localTransform(self) -> Matrix4:
        def value(name: str) -> Any:
            parm = self.parm(name)
            return parm.eval() if parm is not None else float(name[0] == "s")

        parts = [[value(f"{kind}{axis}") for axis in "xyz"] for kind in "trs"]
        return build(dict(zip(("translate", "rotate", "scale"), parts, strict=True)))

    def parentAndSubnetTransform(self) -> Matrix4:
        above = self.inputs()[0] if self.inputs() else self.parent()
        return above.worldTransform() if isinstance(above, ObjNode) else build({})

    def worldTransform(self) -> Matrix4:
        return self.localTransform() * self.parentAndSubnetTransform()

    def setWorldTransform(self, matrix: Matrix4) -> None:
        """`hou.ObjNode.setWorldTransform`: it changes translate, rotate and scale."""
        local = matrix * self.parentAndSubnetTransform().inverted()
        parts = zip(
            "trs",
            (local.extractTranslates(), local.extractRotates(), local.extractScales()),
            strict=True,
        )
        values = {
            f"{kind}{axis}": it
            for kind, part in parts
            for axis, it in zip("xyz", part, strict=True)
        }
        self._check_unlocked()
        kept = self._kept
        self._houdini.undos.record("Transform", lambda: kept.parms.update(values))


class SopNode(OpNode):
    """A reference to a node that makes a shape."""

    def geometry(self) -> Geometry | None:
        if self._kept.type == "file":
            return Geometry(() if self.errors() else self._read())
        boxes = [it.geometry() for it in self.inputs() if isinstance(it, SopNode)]
        if self._kept.type == "xform" and boxes[:1] not in ([], [None]):
            values = [[parm.eval() for parm in self.parmTuple(name) or ()] for name in "trs"]
            moved = Geometry(boxes[0].points if boxes[0] else ())
            moved.transform(build(dict(zip(("translate", "rotate", "scale"), values, strict=True))))
            return moved
        if self._kept.type == "material" and boxes[:1] not in ([], [None]):
            return Geometry(boxes[0].points if boxes[0] else (), materials=True)
        if self._kept.type == "box":
            sizes = [self._kept.parms[f"size{axis}"] / 2 for axis in "xyz"]
            return Geometry([tuple(-it for it in sizes), tuple(sizes)])
        return Geometry([point for box in boxes if box is not None for point in box.points])

    def isRenderFlagSet(self) -> bool:
        return "render" in self._kept.flags

    def isDisplayFlagSet(self) -> bool:
        return "display" in self._kept.flags

    def setDisplayFlag(self, on: bool) -> None:
        self._set_flag("display", on)

    def setRenderFlag(self, on: bool) -> None:
        self._set_flag("render", on)

    def _set_flag(self, flag: str, on: bool) -> None:
        """`hou.SopNode.setDisplayFlag`: one node of a network has it; off has no effect then."""
        self._check_unlocked()
        network = self.parent()
        assert network is not None
        others = [node._kept for node in network.children()]

        def edit() -> None:
            for kept in others:
                kept.flags = [it for it in kept.flags if it != flag]
            self._kept.flags.append(flag)

        self._houdini.undos.record("Flag", edit) if on else None

    def errors(self) -> tuple[str, ...]:
        """A file that cannot be read is an error of the node that reads it."""
        try:
            self._read() if self._kept.type == "file" else None
        except (OSError, ValueError):
            return ("Unable to read file",)
        return ()

    def isHardLocked(self) -> bool:
        """`hou.SopNode.isHardLocked`."""
        return "locked" in self._kept.parms

    def setHardLocked(self, on: bool) -> None:
        """`hou.SopNode.setHardLocked`: the shape is in the node; off, and it cooks again."""
        kept = self._kept
        if on:
            points = json.dumps(self._read())
            self._houdini.undos.record("Lock", lambda: kept.parms.update({"locked": points}))
        elif self.isHardLocked():
            self._houdini.undos.record("Unlock", lambda: kept.parms.pop("locked"))

    def _read(self) -> list[tuple[float, ...]]:
        parms = self._kept.parms
        points = json.loads(parms.get("locked") or Path(parms["file"]).read_text())
        return [tuple(point) for point in points]


def reference(houdini: Houdini, kept: Kept) -> OpNode:
    """Give a reference of the class that `hou` has for such a node."""
    kinds = {"Object": ObjNode, "Sop": SopNode}
    return kinds.get(category_of(kept.path).name(), OpNode)(houdini, kept)
