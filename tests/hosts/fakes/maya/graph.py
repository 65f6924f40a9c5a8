"""Nodes of the stand-in made, copied, placed, grouped and shaded, as the reference has them.

`createNode`: a shape gets a transform, and the name is the shape's; without ``skipSelect`` it is
selected, as is what `polyCube`, `duplicate`, `instance` and `parent` give. `parent`: absolute is
the default, and where a name is taken the node is renamed. `makeIdentity`: all that is below is
reset too. `xform`: there is no scale of the world. `exactWorldBoundingBox`: of the selection where
nothing is named. `sets`: ``forceElement`` takes members, and faces of them, out of the partition.
All give the shortest name that is unique.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pxr import Gf

from tests.hosts.fakes import turning
from tests.hosts.fakes.maya import node_types
from tests.hosts.fakes.maya.attributes import CENTIMETRES, Attributes
from tests.hosts.fakes.maya.scene import Node

ORDERS = node_types.ORDERS.split(":")
CUBE = list(itertools.product((-0.5, 0.5), repeat=3))
FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]


class Graph(Attributes):
    """The commands about nodes."""

    _path: Callable[[str], tuple[Node, str]]

    # ---- made

    def allNodeTypes(self) -> list[str]:
        return sorted(set(node_types.TYPES) - node_types.ABSTRACT)

    def getClassification(self, type_name: str) -> list[str]:
        return node_types.CLASSES.get(type_name, [""])

    def createNode(
        self, type_name: str, name: str = "", parent: str = "", skipSelect: bool = False
    ) -> str:
        above = self._one(parent) if parent else None
        with self._recorded("createNode"):
            if "shape" in node_types.bases(type_name) and above is None:
                above = self.new("transform", f"{type_name}1")
            made = self.new(type_name, name or f"{type_name}1", above)
        return self._given([made], select=not skipSelect)[0]

    def shadingNode(
        self, type_name: str, name: str = "", skipSelect: bool = False, **role: bool
    ) -> str:
        """Make a node with its role: a light in the set of lights, a shader in the list of shaders.

        Of a light it gives the transform.
        """
        (as_what,) = (flag for flag, is_on in role.items() if is_on)
        lists = self._maya.scene.find("defaultShaderList1") if as_what == "asShader" else []
        kind = "transform" if as_what == "asLight" else type_name
        with self._recorded("shadingNode"):
            node = self.new(kind, name or f"{type_name}1")
            if as_what == "asLight":
                self.new(type_name, f"{node.name}Shape", node)
                self._one("defaultLightSet").members.append(node.uuid)
            for shaders in lists:
                shaders.inputs[f"shaders[{len(shaders.inputs)}]"] = (node.uuid, "message")
        return self._given([node], select=not skipSelect)[0]

    def polyCube(self, name: str = "pCube1") -> list[str]:
        """Make a cube, with history, in the initial shading group; it is selected."""
        with self._recorded("polyCube"):
            top = self.new("transform", name)
            shape = self.new("mesh", f"{top.name}Shape", top)
            creator = self.new("polyCube", "polyCube1")
            shape.values |= {"points": [list(point) for point in CUBE], "faces": FACES}
            shape.inputs["inMesh"] = (creator.uuid, "output")
            for group in self._maya.scene.find("initialShadingGroup"):
                group.members.append(shape.uuid)
        return [*self._given([top], select=True), self._told(creator)]

    def _given(self, nodes: Sequence[Node], *, select: bool) -> list[str]:
        if select:
            self._maya.scene.selected = [node.uuid for node in nodes]
        return [self._told(node) for node in nodes]

    # ---- copied

    def duplicate(self, name: str, returnRootsOnly: bool) -> list[str]:
        """Copy a node with what is below; curves stay, materials come along."""
        node = self._one(name)
        top = self._maya.scene.nodes.get(node.parent or "")

        def copied(one: Node, parent: Node | None, own: str) -> Node:
            twin = self.new(one.type, own, parent)
            twin.values = copy.deepcopy(one.values)
            for group in self._maya.scene.nodes.values():
                marks = [mark for mark in group.members if mark.partition(".")[0] == one.uuid]
                group.members += [mark.replace(one.uuid, twin.uuid) for mark in marks]
            for child in self._maya.scene.children(one):
                copied(child, twin, child.name)
            return twin

        made = self._record("duplicate", lambda: copied(node, top, node.name))
        return self._given([made], select=True)

    def instance(self, name: str) -> list[str]:
        """Make another transform over the same children."""
        node = self._one(name)
        top = self._maya.scene.nodes.get(node.parent or "")
        with self._recorded("instance"):
            twin = self.new(node.type, node.name, top)
            twin.values = copy.deepcopy(node.values)
            for child in self._maya.scene.children(node):
                child.more_parents.append(twin.uuid)
        return self._given([twin], select=True)

    # ---- placed

    def local(self, node: Node) -> Any:
        """Make a transform's own matrix, in centimetres."""
        if not node.is_of("transform") or "rotateX" not in node.values:
            return Gf.Matrix4d(1)
        read = [
            [self.value_of(node, f"{n}{axis}") for axis in "XYZ"]
            for n in ("translate", "rotate", "scale", "rotatePivot")
        ]
        at, angles, scale, pivot = read
        rotation = turning.turned(angles, ORDERS[node.values["rotateOrder"]])
        matrix = Gf.Matrix4d().SetScale(Gf.Vec3d(*scale)) * Gf.Matrix4d().SetRotate(rotation)
        # About the pivot: it stays where it is, but for the translation.
        moved = matrix.TransformDir(Gf.Vec3d(*pivot))
        return matrix.SetTranslateOnly(Gf.Vec3d(*at) + Gf.Vec3d(*pivot) - moved)

    def world(self, path: str) -> Any:
        """Make the matrix of a path, or that of the world."""
        if not path:
            return Gf.Matrix4d(1)
        node, full = self._path(path)
        return self.local(node) * self.world(full.rpartition("|")[0])

    def xform(self, name: str, query: bool = False, **flags: Any) -> Any:
        """Ask or set; the reference names no scale of the world."""
        node, path = self._path(name)
        is_world = bool(flags.pop("worldSpace", False))
        flags.pop("objectSpace", None)
        assert flags.keys() <= {"translation", "rotation", "scale", "matrix"}
        outer = self.world(path.rpartition("|")[0] if is_world else "")
        if query:
            return self._asked(node, path, outer, next(iter(flags)), is_world=is_world)
        self._record("xform", lambda: self._placed(node, outer, flags))
        return None

    def _asked(
        self, node: Node, path: str, outer: Any, which: str, *, is_world: bool
    ) -> list[float]:
        size = CENTIMETRES[self._maya.scene.settings["linear"]]
        if which == "matrix":
            return [n for row in (self.world(path) if is_world else self.local(node)) for n in row]
        if which == "translation":
            at = [self.value_of(node, f"translate{axis}") for axis in "XYZ"]
            return list(outer.Transform(Gf.Vec3d(*at)) / size)
        raise AssertionError(f"nobody knows what a query of {which} gives in the world")

    def _placed(self, node: Node, outer: Any, flags: dict[str, Any]) -> None:
        names = {"translation": "translate", "rotation": "rotate", "scale": "scale"}
        for flag, name in names.items():
            if flag not in flags:
                continue
            numbers = list(flags[flag])
            if flag == "translation":
                size = CENTIMETRES[self._maya.scene.settings["linear"]]
                numbers = list(outer.GetInverse().Transform(Gf.Vec3d(*numbers) * size))
            elif flag == "rotation":
                numbers = self._turned(node, outer, numbers)
            node.values.update(zip((f"{name}{axis}" for axis in "XYZ"), numbers, strict=True))

    def _turned(self, node: Node, outer: Any, angles: Sequence[float]) -> list[float]:
        is_degrees = self._maya.scene.settings["angle"] == "deg"
        wanted = [n if is_degrees else math.degrees(n) for n in angles]
        order = ORDERS[node.values["rotateOrder"]]
        pure, _ = turning.taken_apart(outer)
        return list(turning.angles(turning.turned(wanted, order) * pure.GetInverse(), order))

    def makeIdentity(self, name: str, apply: bool, preserveNormals: bool, **which: bool) -> None:
        """Reset a transform and all that is below it; the points go where they were."""
        assert apply, "without it everything moves"
        top = self._one(name)
        below = [node for node in self._maya.scene.below(top) if node.is_of("transform")]
        rests = {
            f"{channel}{axis}": 1.0 if channel == "scale" else 0.0
            for channel, is_on in which.items()
            for axis in "XYZ"
            if is_on
        }
        meshes = [node for node in self._maya.scene.below(top) if node.type == "mesh"]
        before = {node.uuid: self._points(self._maya.scene.path(node)) for node in meshes}
        with self._recorded("makeIdentity"):
            for node in [top, *below]:
                node.values.update(rests)
            for node in meshes:
                back = self.world(self._maya.scene.path(node)).GetInverse()
                points = before[node.uuid]
                node.values["points"] = [list(back.Transform(Gf.Vec3d(*p))) for p in points]

    def _points(self, path: str) -> list[list[float]]:
        node, _ = self._path(path)
        matrix = self.world(path)
        return [list(matrix.Transform(Gf.Vec3d(*p))) for p in node.values.get("points", [])]

    def exactWorldBoundingBox(self, *names: str) -> list[float]:
        if not names:
            raise AssertionError("without an object it is that of the selection")
        points: list[list[float]] = []
        for name in names:
            node, path = self._path(name)
            assert node.is_of("shape"), "of a light or camera it is that of its icon"
            points += self._points(path)
        size = CENTIMETRES[self._maya.scene.settings["linear"]]
        ends = [[f(p[n] for p in points) / size for n in range(3)] for f in (min, max)]
        return [*ends[0], *ends[1]]

    # ---- grouped

    def parent(self, *names: str, **flags: bool) -> list[str]:
        """Put nodes below the last one, or on top; relative keeps what each has of its own."""
        node, path = self._path(names[0])
        top = None if flags.get("world") else self._one(names[-1])
        place = self.world(path)
        with self._recorded("parent"):
            node.name = self.free_name(node.name, top, node.type)
            node.parent = top.uuid if top else None
            if not flags.get("relative"):
                above = self.world(self._maya.scene.path(top) if top else "")
                inside = place * above.GetInverse()
                rotation, scale = turning.taken_apart(inside)
                turn = turning.angles(rotation, ORDERS[node.values["rotateOrder"]])
                parts = {"translate": inside.ExtractTranslation(), "rotate": turn, "scale": scale}
                for name, three in parts.items():
                    node.values.update(zip((f"{name}{a}" for a in "XYZ"), three, strict=True))
        return self._given([node], select=True)

    def sets(self, *names: str, query: bool = False, edit: bool = False, **flags: Any) -> Any:
        """Ask for members, None if there are none, add some, or make one."""
        if query:
            group = self._one(names[0])
            return [self._member(mark) for mark in group.members] or None
        if not edit:
            return self._new_set(**flags)
        ((way, into),) = flags.items()
        group = self._one(into)
        marks = [self._mark(name) for name in names]
        with self._recorded("sets"):
            if way == "remove":
                self._part(group, [mark for mark in group.members if mark in marks])
                return into
            partition = [
                one for one in self._maya.scene.nodes.values() if one.is_of("shadingEngine")
            ]
            if way == "forceElement" and group in partition:
                for one in partition:
                    there = [mark for mark in one.members if mark.partition(".")[0] in marks]
                    self._part(one, there)
            new = [mark for mark in marks if mark not in group.members]
            group.members += new
            self._tell_members(group, new, made=True)
        return into

    def _part(self, group: Node, marks: Sequence[str]) -> None:
        """Take members out of a set."""
        self._tell_members(group, marks, made=False)
        group.members = [mark for mark in group.members if mark not in marks]

    def _tell_members(self, group: Node, marks: Sequence[str], *, made: bool) -> None:
        """Tell of the connection that each member of a set is.

        "Nodes" reference: members lead from ``instObjGroups`` into ``dagSetMembers`` of objectSet,
        components from its ``objectGroups``; of a displayLayer ``drawInfo`` leads into
        ``drawOverride``.
        """
        for mark in marks:
            owner, _, component = mark.partition(".")
            node = self._maya.scene.nodes[owner]
            name = "instObjGroups[0]" + ".objectGroups[0]" * bool(component)
            ends = (node, name), (group, "dagSetMembers[0]")
            if group.type == "displayLayer":
                ends = (group, "drawInfo"), (node, "drawOverride")
            self._maya.fire_link(made, *ends)

    def _new_set(self, name: str = "set1", **flags: bool) -> str:
        assert flags.get("empty"), "what is selected would be in it"
        kind = "shadingEngine" if flags.get("renderable") else "objectSet"
        made = self._record("sets", lambda: self.new(kind, name))
        return self._told(made)

    def _mark(self, name: str) -> str:
        owner, _, component = name.partition(".")
        return self._one(owner).uuid + (f".{component}" if component else "")

    def _member(self, mark: str) -> str:
        uuid, _, component = mark.partition(".")
        node = self._maya.scene.nodes[uuid]
        return self._told(node) + (f".{component}" if component else "")

    def createDisplayLayer(self, name: str, empty: bool) -> str:
        made = self._record("createDisplayLayer", lambda: self.new("displayLayer", name))
        return self._told(made)

    def editDisplayLayerMembers(self, layer: str, *names: str, **flags: Any) -> Any:
        """Ask for members, or add some; each node is in one layer only."""
        group = self._one(layer)
        if flags.get("query"):
            assert flags.get("fullNames"), "short names may mean another node"
            scene = self._maya.scene
            return [scene.path(scene.nodes[mark]) for mark in group.members] or None
        marks = [self._mark(name) for name in names]
        with self._recorded("editDisplayLayerMembers"):
            for one in self._maya.scene.nodes.values():
                if one.type == "displayLayer":
                    self._part(one, [mark for mark in one.members if mark in marks])
            if not group.is_default:  # what is in none is in that one
                group.members += marks
                self._tell_members(group, marks, made=True)
        return None

    # ---- meshes

    def polyEvaluate(self, name: str, **flags: bool) -> Any:
        node = self._one(name)
        faces = node.values.get("faces", [])
        counts = {
            "vertex": len(node.values.get("points", [])),
            "edge": len(_edges(faces)),
            "face": len(faces),
            "triangle": sum(len(face) - 2 for face in faces),
        }
        return counts[next(flag for flag, is_on in flags.items() if is_on)]

    def polyInfo(self, name: str, **flags: bool) -> list[str] | None:
        """Tell of faces and edges; `polyInfo -faceToVertex` requires faces to be named."""
        owner, _, component = name.partition(".")
        faces = self._one(owner).values.get("faces", [])
        if flags.get("faceToVertex"):
            assert component == "f[*]"
            lines = [(n, "".join(f"{v:7}" for v in face)) for n, face in enumerate(faces)]
            return [f"FACE {n:6}:{line} \n" for n, line in lines] or None
        if flags.get("nonManifoldEdges"):
            bad = [n for n, count in enumerate(_edges(faces).values()) if count > 2]
            return [f"{owner}.e[{n}]" for n in bad] or None
        twice = [n for n, face in enumerate(faces) if sorted(face) in map(sorted, faces[:n])]
        return [f"{owner}.f[{n}]" for n in twice] or None

    def listHistory(self, name: str, pruneDagObjects: bool) -> list[str] | None:
        """List what a shape is made of, the nearest first; itself too, if it is not pruned."""
        node, found = self._one(name), []
        waiting = [giver for giver, _ in node.inputs.values()]
        while waiting:
            origin = self._maya.scene.nodes[waiting.pop(0)]
            waiting += [giver for giver, _ in origin.inputs.values()]
            found += [] if origin.is_dag else [self._told(origin)]
        return found or None


def _edges(faces: Iterable[Sequence[int]]) -> dict[tuple[int, int], int]:
    counts: dict[tuple[int, int], int] = {}
    for face in faces:
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            counts[min(a, b), max(a, b)] = counts.get((min(a, b), max(a, b)), 0) + 1
    return counts
