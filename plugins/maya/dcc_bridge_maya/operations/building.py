"""Making, copying, placing, grouping, shading and renaming nodes of Maya. Main thread.

Traps in Maya's reference: Most commands select the nodes that they make. `createNode` makes a
transform for a shape, and gives the name to the shape. A light that was not made by `shadingNode`
lights nothing. `makeIdentity` also resets all nodes below. `parent` renames a node whose name is
taken. `rename` takes a node out of its namespace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from maya import cmds

from dcc_bridge.spi import (
    AppliedTransforms,
    At,
    Axes,
    Building,
    Materials,
    Placement,
    Vector,
    triple,
)

from . import dg
from .dg import ask
from .plug_values import write
from .reading import _Reading, shading_groups

_CHANNELS: Final = {"at": "translate", "rotation": "rotate", "scale": "scale"}
_SPACES: Final = {"world": {"worldSpace": True}, "local": {"objectSpace": True}}
_ROLES: Final = {
    "light": "asLight",
    "shader": "asShader",
    "texture": "asTexture",
    "utility": "asUtility",
}
_SHADERS: Final = ("standardSurface", "aiStandardSurface")
_INPUTS: Final = {  # the attributes of the shaders; the ones after the first are weights
    "base_color": ("baseColor", "base"),
    "metallic": ("metalness",),
    "roughness": ("specularRoughness",),
    "emission": ("emissionColor", "emission"),
    "opacity": ("opacity",),
    "texture": ("baseColor", "base"),
    "normal": ("normalCamera",),
}
_PLACEMENT_PLUGS: Final = (  # that a file's 2D placement gives to the file, under the same names
    "coverage translateFrame rotateFrame mirrorU mirrorV stagger wrapU wrapV repeatUV offset "
    "rotateUV noiseUV"
)


class _Building(_Reading, AppliedTransforms, Building, Materials):
    """The operations that make nodes and put them in order."""

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Make a node as Maya's own menus do; of a shape its transform is the item.

        Args:
            kind: A type of nodes.
            name: The name; None for the type's with a number.
            under: The parent; None for the scene itself.

        Returns:
            The new item.

        Raises:
            LookupError: There is no such type or parent.
            ValueError: Maya takes no such name, or cannot make the node there.
        """
        types = cmds.allNodeTypes()
        if kind not in types:
            raise LookupError(f"There is no type {kind!r} in this Maya.{dg.near(kind, types)}")
        parent = dg.node(under) if under else None
        with dg.restored_selection():
            path = dg.long_path(_make(kind, dg.valid_name(name or f"{kind}1")))
            if ask.ls(path, shapes=True):
                path = dg.parent_of(path) or path
            if parent and path.startswith("|"):
                path = dg.long_path(ask.parent(path, parent, relative=True)[0])
        return path

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy a node with all nodes below it, or make an instance.

        Args:
            item: The node.
            linked: Whether to make an instance in place of a copy.

        Returns:
            The new item.

        Raises:
            ValueError: The node can have no instances, or cannot be copied.
        """
        path = dg.node(item)
        if linked and not path.startswith("|"):
            raise ValueError(f"{path} is not in the outliner's tree, so it has no instances.")
        with dg.restored_selection():
            copies = ask.instance(path) if linked else ask.duplicate(path, returnRootsOnly=True)
        return dg.long_path(copies[0])

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Return the place of a transform, in the scene's units of length and in degrees.

        Raises:
            ValueError: The node is no transform.
        """
        path = _transform(item)
        at = ask.xform(path, query=True, translation=True, **_SPACES[space])
        if space == "local":
            angles = [angle * dg.degrees() for angle in ask.getAttr(f"{path}.rotate")[0]]
            turn = dg.reordered(angles, ask.getAttr(f"{path}.rotateOrder"), 0)
            scale = ask.getAttr(f"{path}.scale")[0]
            return Placement(triple(at), triple(turn), triple(scale))
        matrix = ask.xform(path, query=True, matrix=True, worldSpace=True)
        scale = [math.hypot(*matrix[start : start + 3]) for start in (0, 4, 8)]
        return Placement(triple(at), triple(dg.rotation(matrix)), triple(scale))

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Place a transform.

        Args:
            item: The transform.
            at: The position in the scene's units; None leaves it.
            rotation: The angles about X, Y and Z in degrees; None leaves them.
            scale: The factors; None leaves them.
            space: The axes of all three.

        Raises:
            ValueError: The node is no transform, or a channel is locked, keyed or driven.
        """
        path = _transform(item)
        for part, value in (("at", at), ("rotation", rotation), ("scale", scale)):
            if value is not None:
                dg.check_free(f"{path}.{_CHANNELS[part]}", "placed")
        with dg.restored_selection():
            if rotation is not None:
                turn = dg.reordered(rotation, 0, ask.getAttr(f"{path}.rotateOrder"))
                angles = [angle / dg.degrees() for angle in turn]
                ask.xform(path, rotation=angles, **_SPACES[space])
            if scale is not None:  # `xform` sets no scale in the world
                local = ask.getAttr(f"{path}.scale")[0]
                now = self.placement(path, space).scale
                factors = []
                for own, wish, present in zip(local, scale, now, strict=True):
                    factor = own * wish / present if present else wish
                    factors.append(factor)
                ask.xform(path, scale=factors)
            if at is not None:
                ask.xform(path, translation=at, **_SPACES[space])

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Return the front axis, -Z of cameras and lights and Z of models, and Y as up."""
        front = 1.0
        for shape in dg.shapes(item):
            if dg.is_of(shape, "camera") or dg.is_of(shape, "light"):
                front = -1.0
        return (0.0, 0.0, front), (0.0, 1.0, 0.0)

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        """Move parts of the placement of a transform, and of all below it, into their points.

        Raises:
            ValueError: A channel is locked, keyed or driven, or a shape has no points of its own.
        """
        path = _transform(item)
        for transform in [path, *dg.relatives(path, allDescendents=True, type="transform")]:
            for part in parts:
                dg.check_free(f"{transform}.{_CHANNELS[part]}", "applied")
            for shape in dg.relatives(transform, shapes=True):
                if not ask.ls(shape, geometry=True):
                    raise ValueError(f"{shape} is a {dg.type_of(shape)}, which has no points.")
                if len(ask.ls(shape, allPaths=True)) > 1:
                    raise ValueError(f"{shape} is shared by instances, which would move.")
        with dg.restored_selection():
            flags = {channel: part in parts for part, channel in _CHANNELS.items()}
            ask.makeIdentity(path, apply=True, preserveNormals=True, **flags)

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Put a transform under another one.

        Args:
            item: The transform.
            under: The new parent; None for the scene itself.
            keep_place: Whether the transform stays in its place in the world.

        Returns:
            The item under its new path.

        Raises:
            ValueError: A node is no transform, the parent is below the item, or a channel is
                locked, keyed or driven.
        """
        path = _transform(item)
        parent = _transform(under) if under else None
        if dg.parent_of(path) == parent:
            return path
        if parent and f"{parent}|".startswith(f"{path}|"):
            raise ValueError(f"{parent} is below {path}.")
        if keep_place:
            for channel in _CHANNELS.values():
                # Maya puts a transform of its own between if it cannot change a channel.
                dg.check_free(f"{path}.{channel}", "kept in its place")
        flags = {"absolute": True} if keep_place else {"relative": True}
        nodes = [path]
        if parent:
            nodes.append(parent)
        else:
            flags["world"] = True
        with dg.restored_selection():
            return dg.long_path(ask.parent(*nodes, **flags)[0])

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put nodes into a set or a display layer, which is made if there is none of that name.

        Args:
            items: The nodes.
            into: The name of the set or layer.
            kind: "set", "collection" or "layer".

        Returns:
            The name of the set or layer.

        Raises:
            ValueError: Maya has no such kind, or the name is another node's.
        """
        base = {"set": "objectSet", "collection": "objectSet", "layer": "displayLayer"}.get(kind)
        if base is None:
            raise ValueError(f"Maya has no {kind}: it has parents, sets and display layers.")
        paths = [dg.node(item) for item in items]
        with dg.restored_selection():
            if not cmds.objExists(into):
                _make(base, dg.valid_name(into))
            if not dg.is_of(into, base):
                raise ValueError(f"{into} is a {dg.type_of(into)} and no {kind}.")
            if base == "objectSet":
                ask.sets(*paths, edit=True, addElement=into)
            else:
                cmds.editDisplayLayerMembers(into, *paths, noRecurse=True)
        return into

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make or change a material.

        Args:
            name: The material; None for a new one.
            values: The values to set, by the names in `_INPUTS`.

        Returns:
            The name of the material.

        Raises:
            ValueError: There is no such value, or the material is of another type.
        """
        unknown = [key for key in values if key not in _INPUTS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(_INPUTS)}.")
        with dg.restored_selection():
            if name is None or not cmds.objExists(name):
                name = _make("standardSurface", dg.valid_name(name or "material1"))
            if dg.type_of(name) not in _SHADERS:
                raise ValueError(f"{name} is a {dg.type_of(name)}: {_SHADERS[0]} can be set.")
            for key, value in values.items():
                _put(name, key, value)
        return name

    def assign(self, item: str, material: str) -> None:
        """Put a material on all shapes of an item, in place of their other materials.

        Raises:
            ValueError: The item has no geometry.
        """
        path = dg.node(item)
        shapes = ask.ls(path, dag=True, geometry=True, noIntermediate=True, long=True)
        if not shapes:
            raise ValueError(f"{path} has no geometry that a material could be on.")
        groups = shading_groups(dg.node(material))
        with dg.restored_selection():
            if not groups:
                groups = [_make_shading_group(material)]
            # By force, since faces may have other materials too.
            ask.sets(*shapes, edit=True, forceElement=groups[0])

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return the item that a rename leads to; ValueError for a name that Maya would change."""
        space = dg.short_name(dg.node(item)).rpartition(":")[0]
        if space:
            name = name.removeprefix(f"{space}:")
        dg.valid_name(name)
        return super().called(item, name)

    def rename(self, item: str, name: str) -> str:
        """Rename a node, which stays in its namespace.

        Returns:
            The item under its new name.

        Raises:
            ValueError: The node cannot be renamed, or Maya does not take the name.
        """
        path = dg.node(item)
        space = dg.short_name(path).rpartition(":")[0]
        full_name = dg.valid_name(name.removeprefix(f"{space}:")) if space else dg.valid_name(name)
        if space:
            full_name = f"{space}:{full_name}"
        reason = dg.why_fixed(path)
        if reason:
            raise ValueError(f"{path} {reason}, so it cannot be renamed.")
        new_path = full_name
        if path.startswith("|"):
            new_path = f"{dg.parent_of(path) or ''}|{full_name}"
        if cmds.objExists(new_path) and path != new_path:
            raise ValueError(f"There is {new_path} already.")
        uuid = ask.ls(path, uuid=True)[0]
        absolute_name = f":{full_name}" if space else full_name
        with dg.restored_selection():
            cmds.rename(path, absolute_name)
        return dg.long_path(uuid)


def _make(kind: str, name: str) -> str:
    """Make a node as Maya's own menus do, and return the name that its command returns."""
    if "polyPrimitive" in _bases(kind) and hasattr(cmds, kind):
        return str(getattr(ask, kind)(name=name)[0])
    if kind == "objectSet":
        return str(ask.sets(name=name, empty=True))
    if kind == "displayLayer":
        return str(ask.createDisplayLayer(name=name, empty=True))
    words = list[str]()
    for text in ask.getClassification(kind) or []:
        words += text.split(":")
    for role, flag in _ROLES.items():
        if any(word.partition("/")[0] == role for word in words):
            node = str(ask.shadingNode(kind, name=name, skipSelect=True, **{flag: True}))
            if any(word.startswith("shader/surface") for word in words):
                _make_shading_group(node)
            return node
    return _make_plain(kind, name)


def _make_plain(kind: str, name: str) -> str:
    """Make a node by `createNode`; of a shape its transform gets the name and is returned."""
    if "shape" not in _bases(kind):
        return cmds.createNode(kind, name=name, skipSelect=True)
    top = cmds.createNode("transform", name=name, skipSelect=True)
    cmds.createNode(kind, name=f"{dg.short_name(top)}Shape", parent=top, skipSelect=True)
    return top


def _bases(kind: str) -> list[str]:
    return ask.nodeType(kind, inherited=True, isTypeName=True) or []


def _transform(item: str) -> str:
    """Return the path of a transform; ValueError if the node is none."""
    path = dg.node(item)
    if not dg.is_of(path, "transform"):
        raise ValueError(f"{path} is a {dg.type_of(path)}, which has no place.")
    return path


def _make_shading_group(material: str) -> str:
    """Make the shading group of a material, without which no shape can have the material."""
    group = str(ask.sets(name=f"{material}SG", renderable=True, noSurfaceShader=True, empty=True))
    cmds.connectAttr(f"{material}.outColor", f"{group}.surfaceShader", force=True)
    return group


def _put(material: str, key: str, value: Any) -> None:
    """Set one value of a material, and turn on the weight that it needs."""
    plug, *weights = (f"{material}.{name}" for name in _INPUTS[key])
    if key in ("texture", "normal"):
        _put_file(plug, str(value), is_normal=key == "normal")
    else:
        dg.check_free(plug)
        if isinstance(value, int | float):  # the same number for each part of a colour
            value = [value] * len(dg.parts(plug))
        write(plug, value)
    for weight in weights:
        dg.check_free(weight)
        write(weight, 1.0)


def _put_file(plug: str, file: str, *, is_normal: bool) -> None:
    """Connect a file's colours or normals to a plug, or give its file node another file."""
    origin = dg.source(plug).partition(".")[0]
    if origin and dg.type_of(origin) == "bump2d":
        origin = dg.source(f"{origin}.bumpValue").partition(".")[0]
    if not origin:
        origin = _make("file", "file1")
        place = _make("place2dTexture", "place2dTexture1")
        cmds.connectAttr(f"{place}.outUV", f"{origin}.uvCoord")
        cmds.connectAttr(f"{place}.outUvFilterSize", f"{origin}.uvFilterSize")
        for name in _PLACEMENT_PLUGS.split():
            cmds.connectAttr(f"{place}.{name}", f"{origin}.{name}")
        output = f"{origin}.outColor"
        if is_normal:
            bump = _make("bump2d", "bump2d1")
            cmds.setAttr(f"{origin}.colorSpace", "Raw", type="string")  # normals are no colours
            cmds.setAttr(f"{bump}.bumpInterp", 1)  # normals in the surface's own space
            cmds.connectAttr(f"{origin}.outAlpha", f"{bump}.bumpValue")
            output = f"{bump}.outNormal"
        cmds.connectAttr(output, plug)
    elif dg.type_of(origin) != "file":
        dg.check_free(plug)
    cmds.setAttr(f"{origin}.fileTextureName", file, type="string")
