"""Making, copying, placing, grouping and naming nodes. Main thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

import hou

from dcc_bridge.spi import AppliedTransforms, At, Axes, Building, Placement, Vector, no_such, triple

from .reading import find
from .values import explained, lock_reason, record

_OBJECTS: Final = "/obj"  # the network of an object that is made without a place
_PLACEMENT_PARMS: Final = ("tx", "ty", "tz", "rx", "ry", "rz", "sx", "sy", "sz")
_XFORM_PARMS: Final = {"t": "translate", "r": "rotate", "s": "scale", "shear": "shear"}
"""The parameters of a Transform node, with their names in an exploded matrix."""
_UNIT: Final[dict[str, Vector]] = {"at": (0, 0, 0), "rotation": (0, 0, 0), "scale": (1, 1, 1)}


class _Builds(AppliedTransforms, Building):
    """The operations that make nodes and put them in order."""

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Make a node in a network.

        Args:
            kind: A type of nodes.
            name: The name, which Houdini numbers if it is taken; None for the type's.
            under: The network; None for the objects'. A shape gets an object around it there.

        Returns:
            The path of the node, or of the object around it.

        Raises:
            LookupError: There is no such network, or no such type in it.
            ValueError: `under` is no network, or Houdini cannot make the node.
        """
        network = find(under or _OBJECTS)
        if not network.isNetwork():
            raise ValueError(f"{network.path()} is no network, so nothing can be made in it.")
        types = network.childTypeCategory().nodeTypes()
        if not under and kind not in types and kind in hou.sopNodeTypeCategory().nodeTypes():
            item = self.create("geo", name or kind, None)
            self.create(kind, None, item)
            return item
        if kind not in types:
            raise LookupError(f"In {network.path()}: {no_such('type', kind, types)}")
        with explained(f"{kind} cannot be made"):
            node = network.createNode(kind, name, exact_type_name=True)
        node.moveToGoodPosition()
        return node.path()

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy a node with all nodes inside.

        Args:
            item: The node.
            linked: Whether the copy's parameters follow the original's, except its placement.

        Returns:
            The path of the copy.

        Raises:
            ValueError: Houdini cannot copy the node.
        """
        node = find(item)
        network = node.parent()
        assert network is not None
        with explained(f"{item} cannot be copied"):
            (copy,) = network.copyItems([node], channel_reference_originals=linked)
        assert isinstance(copy, hou.OpNode)
        if linked:
            for name in _PLACEMENT_PARMS:
                parm = copy.parm(name)
                if parm is not None:
                    value = parm.eval()
                    parm.deleteAllKeyframes()
                    parm.set(value)
        return copy.path()

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Return the transform of an object; ValueError if the node is no object."""
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
        """Write the transform of an object.

        Args:
            item: The object.
            at: The position; None leaves it.
            rotation: The angles about X, Y and Z in degrees; None leaves them.
            scale: The factors; None leaves them.
            space: The axes of all three.

        Raises:
            ValueError: The node is no object, or a parameter is locked, keyed or driven.
        """
        node = _object(item)
        before = self.placement(item, space)
        for name in _PLACEMENT_PARMS:
            parm = node.parm(name)
            lock = "" if parm is None else lock_reason(parm)
            if lock:
                raise ValueError(f"{item} cannot be placed: {name} is {lock}.")
        matrix = hou.hmath.buildTransform(
            {
                "translate": at or before.at,
                "rotate": rotation or before.rotation,
                "scale": scale or before.scale,
            }
        )
        if space == "local":
            matrix = matrix * node.parentAndSubnetTransform()
        with explained(f"{item} cannot be placed"):
            node.setWorldTransform(matrix)

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Make an object follow another one, or put a node into a network.

        Args:
            item: The node.
            under: The object to follow, or the network; None to follow no object.
            keep_place: Whether an object stays in its place in the world.

        Returns:
            The path of the node, which changes with its network.

        Raises:
            ValueError: Houdini cannot put the node there.
        """
        node = find(item)
        target = find(under) if under is not None else None
        if target is not None and (target == node or target.path().startswith(f"{item}/")):
            raise ValueError(f"{item} cannot be put below {under}, which is in it.")
        before = node.worldTransform() if isinstance(node, hou.ObjNode) else None
        with explained(f"{item} cannot be put below {under}"):
            if isinstance(node, hou.ObjNode) and (target is None or _can_lead(target)):
                node.setInput(0, target)
            elif target is not None:
                node = find(hou.moveNodesTo([node], target)[0].path())
            else:
                raise ValueError(f"{item} is no object: say which network it goes to.")
        if keep_place and before is not None and isinstance(node, hou.ObjNode):
            node.setWorldTransform(before)
        return node.path()

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        """Move parts of an object's placement into its shape, by a Transform node at the end.

        Objects that follow this one stay in their places.

        Raises:
            ValueError: The object displays and renders no single shape.
        """
        node = _object(item)
        displayed = node.displayNode()
        if not isinstance(displayed, hou.SopNode) or node.renderNode() != displayed:
            raise ValueError(f"{item} has no one shape, displayed and rendered, to be transformed.")
        local = self.placement(item, "local")
        if all(math.dist(getattr(local, part), _UNIT[part]) < 1e-9 for part in parts):
            return
        before = node.worldTransform()
        followers = [each.path() for each in node.outputs() if isinstance(each, hou.ObjNode)]
        places = {follower: self.placement(follower) for follower in followers}
        self.place(item, **{part: _UNIT[part] for part in parts}, space="local")
        values = (before * node.worldTransform().inverted()).explode()
        transform = find(self.create("xform", "applied_transform", item))
        assert isinstance(transform, hou.SopNode)
        transform.setInput(0, displayed)
        for parm, key in _XFORM_PARMS.items():
            self.set_value(transform.path(), parm, triple(values[key]))
        transform.setDisplayFlag(True)
        transform.setRenderFlag(True)
        for follower, place in places.items():
            self.place(follower, place.at, place.rotation, place.scale)

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put nodes of one network into a node group, which is made if there is none of that name.

        Args:
            items: The nodes.
            into: The name of the group.
            kind: "set" or "collection".

        Returns:
            The group as an item, "/obj/@name".

        Raises:
            ValueError: Houdini has no such kind, or the nodes are in several networks.
        """
        if kind not in ("set", "collection"):
            raise ValueError(f"Houdini has no {kind}: make a set, or group under a subnet.")
        networks = {find(item).path().rpartition("/")[0] or "/" for item in items}
        if len(networks) > 1:
            raise ValueError(f"A set is of one network, and not of {', '.join(sorted(networks))}.")
        network = networks.pop()
        name = into.rpartition("/@")[2]
        group = find(network).nodeGroup(name)
        members = [node.path() for node in group.nodes()] if group is not None else []
        new = [item for item in items if item not in members]

        def put_in() -> None:
            _put_in(network, name, new)

        def take_out() -> None:
            _take_out(network, name, new, group is None)

        record(put_in, take_out, f"Put into {name}")
        return f"{network}/@{name}"

    def rename(self, item: str, name: str) -> str:
        """Rename a node; references by path follow.

        Returns:
            The new path.

        Raises:
            ValueError: Another node of the network has the name, or Houdini does not take it.
        """
        node = find(item)
        network = node.parent()
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
    group = find(network).addNodeGroup(name)  # returns the existing group of this name
    for item in items:
        group.removeNode(find(item))
    if is_new:
        group.destroy()


def _object(item: str) -> hou.ObjNode:
    """Return an object; ValueError if the node is none."""
    node = find(item)
    if not isinstance(node, hou.ObjNode):
        raise ValueError(f"{item} is no object and has no place: its parameters may move points.")
    return node


def _can_lead(node: hou.OpNode) -> bool:
    """Return whether an object can follow a node: an object that is no network of objects."""
    if not isinstance(node, hou.ObjNode):
        return False
    return node.childTypeCategory() != node.type().category()
