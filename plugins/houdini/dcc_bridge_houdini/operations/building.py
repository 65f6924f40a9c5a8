"""Making, copying, placing, grouping and naming nodes. Main thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

import hou

from dcc_bridge.spi import AppliedTransforms, At, Axes, Building, Placement, Vector, no_such, triple

from .reading import find
from .values import explained, held, record

_OBJECTS: Final = "/obj"  # where an object is made if nobody says where
_PLACED: Final = ("tx", "ty", "tz", "rx", "ry", "rz", "sx", "sy", "sz")
_PARTS: Final = {"t": "translate", "r": "rotate", "s": "scale", "shear": "shear"}
_UNIT: Final[dict[str, Vector]] = {"at": (0, 0, 0), "rotation": (0, 0, 0), "scale": (1, 1, 1)}


class _Builds(AppliedTransforms, Building):
    """The operations that make, and that put in order."""

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Make a node in a network; Houdini numbers a name that is taken.

        A shape without a network to be in gets an object around it, which is what is made then.
        """
        network = find(under or _OBJECTS)
        if not network.isNetwork():
            raise ValueError(f"{network.path()} is no network, so nothing can be made in it.")
        known = network.childTypeCategory().nodeTypes()
        if not under and kind not in known and kind in hou.sopNodeTypeCategory().nodeTypes():
            item = self.create("geo", name or kind, None)
            self.create(kind, None, item)
            return item
        if kind not in known:
            raise LookupError(f"In {network.path()}: {no_such('type', kind, known)}")
        with explained(f"{kind} cannot be made"):
            node = network.createNode(kind, name, exact_type_name=True)
        node.moveToGoodPosition()
        return node.path()

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy a node with all inside; a linked copy has parameters that follow the original's."""
        node = find(item)
        network = node.parent()
        assert network is not None
        with explained(f"{item} cannot be copied"):
            (copy,) = network.copyItems([node], channel_reference_originals=linked)
        assert isinstance(copy, hou.OpNode)
        for name in _PLACED if linked else ():  # its place is its own
            if (parm := copy.parm(name)) is not None:
                value = parm.eval()
                parm.deleteAllKeyframes()
                parm.set(value)
        return copy.path()

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Read the transform of an object."""
        node = _object(item)
        matrix = node.worldTransform() if space == "world" else node.localTransform()
        return Placement(
            triple(matrix.extractTranslates()),
            triple(matrix.extractRotates()),
            triple(matrix.extractScales()),
        )

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Write the transform of an object."""
        node, was = _object(item), self.placement(item, space)
        for name in _PLACED:
            parm = node.parm(name)
            if parm is not None and (why := held(parm)):
                raise ValueError(f"{item} cannot be placed: {name} is {why}.")
        parts = {"translate": at or was.at, "rotate": rotation or was.rotation}
        matrix = hou.hmath.buildTransform(parts | {"scale": scale or was.scale})
        if space == "local":
            matrix = matrix * node.parentAndSubnetTransform()
        with explained(f"{item} cannot be placed"):
            node.setWorldTransform(matrix)

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Make an object follow another one, or put a node into a network."""
        node = find(item)
        target = find(under) if under is not None else None
        if target is not None and (target == node or target.path().startswith(f"{item}/")):
            raise ValueError(f"{item} cannot be put below {under}, which is in it.")
        before = node.worldTransform() if isinstance(node, hou.ObjNode) else None
        with explained(f"{item} cannot be put below {under}"):
            if isinstance(node, hou.ObjNode) and (
                target is None or (isinstance(target, hou.ObjNode) and not _is_subnet(target))
            ):
                node.setInput(0, target)
            elif target is not None:
                node = find(hou.moveNodesTo([node], target)[0].path())
            else:
                raise ValueError(f"{item} is no object: say which network it goes to.")
        if keep_place and before is not None and isinstance(node, hou.ObjNode):
            node.setWorldTransform(before)
        return node.path()

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        """Put the transform into the shape, by a Transform node after what the object displays."""
        node = _object(item)
        displayed = node.displayNode()
        if not isinstance(displayed, hou.SopNode) or node.renderNode() != displayed:
            raise ValueError(f"{item} has no one shape, displayed and rendered, to be transformed.")
        local = self.placement(item, "local")
        if all(math.dist(getattr(local, part), _UNIT[part]) < 1e-9 for part in parts):
            return
        before = node.worldTransform()
        followers = [it.path() for it in node.outputs() if isinstance(it, hou.ObjNode)]
        places = {it: self.placement(it) for it in followers}
        self.place(item, **{part: _UNIT[part] for part in parts}, space="local")
        values = (before * node.worldTransform().inverted()).explode()
        made = find(self.create("xform", "applied_transform", item))
        assert isinstance(made, hou.SopNode)
        made.setInput(0, displayed)
        for prop, part in _PARTS.items():
            self.set_value(made.path(), prop, triple(values[part]))
        made.setDisplayFlag(True)
        made.setRenderFlag(True)
        for follower, was in places.items():
            self.place(follower, was.at, was.rotation, was.scale)

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put nodes of one network into a node group of it."""
        if kind not in ("set", "collection"):
            raise ValueError(f"Houdini has no {kind}: make a set, or group under a subnet.")
        networks = {find(item).path().rpartition("/")[0] or "/" for item in items}
        if len(networks) > 1:
            raise ValueError(f"A set is of one network, and not of {', '.join(sorted(networks))}.")
        network, name = networks.pop(), into.rpartition("/@")[2]
        before = find(network).nodeGroup(name)
        had = [node.path() for node in before.nodes()] if before is not None else []
        new = [item for item in items if item not in had]

        undo = partial(_take_out, network, name, new, before is None)
        record(partial(_put_in, network, name, new), undo, f"Put into {name}")
        return f"{network}/@{name}"

    def rename(self, item: str, name: str) -> str:
        """Rename a node; references by path follow."""
        node, network = find(item), find(item).parent()
        if network is not None and network.node(name) not in (None, node):
            raise ValueError(f"{item} cannot be called {name!r}: another node is.")
        with explained(f"{item} cannot be called {name!r}"):
            node.setName(name)
        return node.path()


def _put_in(network: str, name: str, items: Sequence[str]) -> None:
    with explained(f"There is no set {name!r}"):
        group = find(network).addNodeGroup(name)
    for item in items:
        group.addNode(find(item))


def _take_out(network: str, name: str, items: Sequence[str], is_new: bool) -> None:
    group = find(network).addNodeGroup(name)  # that of this name
    for item in items:
        group.removeNode(find(item))
    if is_new:
        group.destroy()


def _object(item: str) -> hou.ObjNode:
    node = find(item)
    if not isinstance(node, hou.ObjNode):
        raise ValueError(f"{item} is no object and has no place: its parameters may move points.")
    return node


def _is_subnet(node: hou.ObjNode) -> bool:
    return node.childTypeCategory() == node.type().category()
