"""Nodes of Maya made, copied, placed, grouped, shaded and renamed. Main thread.

Traps of the reference: most commands select what they make; `createNode` gives a shape a transform
and the shape the name; a light that no `shadingNode` made lights nothing; `makeIdentity` resets all
that is below too; `parent` renames where a name is taken; `rename` takes a node out of its
namespace.
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
from .reading import _Reading, shading_groups
from .values import write

_CHANNELS: Final = {"at": "translate", "rotation": "rotate", "scale": "scale"}
_SPACES: Final = {"world": {"worldSpace": True}, "local": {"objectSpace": True}}
_ROLES: Final = {
    "light": "asLight",
    "shader": "asShader",
    "texture": "asTexture",
    "utility": "asUtility",
}
_SHADERS: Final = ("standardSurface", "aiStandardSurface")
_PUT: Final = {
    "base_color": ("baseColor", "base"),
    "metallic": ("metalness",),
    "roughness": ("specularRoughness",),
    "emission": ("emissionColor", "emission"),
    "opacity": ("opacity",),
    "texture": ("baseColor", "base"),
    "normal": ("normalCamera",),
}
_PLACED: Final = (
    "coverage translateFrame rotateFrame mirrorU mirrorV stagger wrapU wrapV repeatUV offset "
    "rotateUV noiseUV"
)


class _Building(_Reading, AppliedTransforms, Building, Materials):
    def create(self, kind: str, name: str | None, under: str | None) -> str:
        if kind not in (types := cmds.allNodeTypes()):
            raise LookupError(f"There is no type {kind!r} in this Maya.{dg.near(kind, types)}")
        top = dg.node(under) if under else None
        with dg.kept():
            path = dg.long(_make(kind, dg.valid(name or f"{kind}1")))
            path = dg.above(path) or path if ask.ls(path, shapes=True) else path
            if top and path.startswith("|"):
                path = dg.long(ask.parent(path, top, relative=True)[0])
        return path

    def duplicate(self, item: str, *, linked: bool) -> str:
        path = dg.node(item)
        if linked and not path.startswith("|"):
            raise ValueError(f"{path} is not in the outliner's tree, so it has no instances.")
        with dg.kept():
            copies = ask.instance(path) if linked else ask.duplicate(path, returnRootsOnly=True)
        return dg.long(copies[0])

    def placement(self, item: str, space: Axes = "world") -> Placement:
        path = _transform(item)
        at = ask.xform(path, query=True, translation=True, **_SPACES[space])
        if space == "local":
            angles = [angle * dg.degrees() for angle in ask.getAttr(f"{path}.rotate")[0]]
            turn = dg.reordered(angles, ask.getAttr(f"{path}.rotateOrder"), 0)
            return Placement(triple(at), triple(turn), triple(ask.getAttr(f"{path}.scale")[0]))
        matrix = ask.xform(path, query=True, matrix=True, worldSpace=True)
        scale = [math.hypot(*matrix[start : start + 3]) for start in (0, 4, 8)]
        return Placement(triple(at), triple(dg.rotation(matrix)), triple(scale))

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        path = _transform(item)
        for part, given in (("at", at), ("rotation", rotation), ("scale", scale)):
            if given is not None:
                dg.free(f"{path}.{_CHANNELS[part]}", "placed")
        with dg.kept():
            if rotation is not None:
                turn = dg.reordered(rotation, 0, ask.getAttr(f"{path}.rotateOrder"))
                ask.xform(path, rotation=[angle / dg.degrees() for angle in turn], **_SPACES[space])
            if scale is not None:  # `xform` has none of the world
                local = ask.getAttr(f"{path}.scale")[0]
                now = self.placement(path, space).scale
                sizes = [a * b / c if c else b for a, b, c in zip(local, scale, now, strict=True)]
                ask.xform(path, scale=sizes)
            if at is not None:
                ask.xform(path, translation=at, **_SPACES[space])

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Cameras and lights look along -Z; what is modelled shows its front along Z."""
        looks = any(dg.is_of(one, "camera") or dg.is_of(one, "light") for one in dg.shapes(item))
        return (0.0, 0.0, -1.0 if looks else 1.0), (0.0, 1.0, 0.0)

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        path = _transform(item)
        for one in [path, *dg.relatives(path, allDescendents=True, type="transform")]:
            for part in parts:
                dg.free(f"{one}.{_CHANNELS[part]}", "applied")
            for shape in dg.relatives(one, shapes=True):
                if not ask.ls(shape, geometry=True):
                    raise ValueError(f"{shape} is a {dg.type_of(shape)}, which has no points.")
                if len(ask.ls(shape, allPaths=True)) > 1:
                    raise ValueError(f"{shape} is shared by instances, which would move.")
        with dg.kept():
            chosen = {channel: part in parts for part, channel in _CHANNELS.items()}
            ask.makeIdentity(path, apply=True, preserveNormals=True, **chosen)

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        path, top = _transform(item), _transform(under) if under else None
        if dg.above(path) == top:
            return path
        if top and f"{top}|".startswith(f"{path}|"):
            raise ValueError(f"{top} is below {path}.")
        for channel in _CHANNELS.values() if keep_place else ():
            # Where Maya cannot change these, it puts a transform of its own between.
            dg.free(f"{path}.{channel}", "kept in its place")
        how: dict[str, bool] = {"absolute": keep_place, "relative": not keep_place}
        how = {flag: True for flag, is_on in how.items() if is_on} | (
            {} if top else {"world": True}
        )
        with dg.kept():
            return dg.long(ask.parent(path, *([top] if top else []), **how)[0])

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        base = {"set": "objectSet", "collection": "objectSet", "layer": "displayLayer"}.get(kind)
        if base is None:
            raise ValueError(f"Maya has no {kind}: it has parents, sets and display layers.")
        paths = [dg.node(item) for item in items]
        with dg.kept():
            if not cmds.objExists(into):
                _make(base, dg.valid(into))
            if not dg.is_of(into, base):
                raise ValueError(f"{into} is a {dg.type_of(into)} and no {kind}.")
            if base == "objectSet":
                ask.sets(*paths, edit=True, addElement=into)
            else:
                cmds.editDisplayLayerMembers(into, *paths, noRecurse=True)
        return into

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        if wrong := [key for key in values if key not in _PUT]:
            raise ValueError(f"{wrong[0]!r} is none of {', '.join(_PUT)}.")
        with dg.kept():
            if name is None or not cmds.objExists(name):
                name = _make("standardSurface", dg.valid(name or "material1"))
            if dg.type_of(name) not in _SHADERS:
                raise ValueError(f"{name} is a {dg.type_of(name)}: {_SHADERS[0]} can be set.")
            for key, value in values.items():
                _put(name, key, value)
        return name

    def assign(self, item: str, material: str) -> None:
        path = dg.node(item)
        shapes = ask.ls(path, dag=True, geometry=True, noIntermediate=True, long=True)
        if not shapes:
            raise ValueError(f"{path} has no geometry that a material could be on.")
        groups = shading_groups(dg.node(material))
        with dg.kept():  # by force: whatever other material its faces have too
            ask.sets(*shapes, edit=True, forceElement=(groups or [_shading_group(material)])[0])

    def rename(self, item: str, name: str) -> str:
        path = dg.node(item)
        space = dg.short(path).rpartition(":")[0]
        full = f"{space}:{dg.valid(name.removeprefix(f'{space}:'))}" if space else dg.valid(name)
        if why := dg.why_fixed(path):
            raise ValueError(f"{path} {why}, so it cannot be renamed.")
        taken = f"{dg.above(path) or ''}|{full}" if path.startswith("|") else full
        if cmds.objExists(taken) and path != taken:
            raise ValueError(f"There is {taken} already.")
        uuid = ask.ls(path, uuid=True)[0]
        with dg.kept():
            cmds.rename(path, f":{full}" if space else full)
        return dg.long(uuid)


def _make(kind: str, name: str) -> str:
    """Make a node as Maya's own menus do, and give what its command calls it."""
    if "polyPrimitive" in _bases(kind) and hasattr(cmds, kind):
        return str(getattr(ask, kind)(name=name)[0])
    if kind in ("objectSet", "displayLayer"):
        return str(
            (ask.sets if kind == "objectSet" else ask.createDisplayLayer)(name=name, empty=True)
        )
    words = [word for text in ask.getClassification(kind) or [] for word in text.split(":")]
    for role, flag in _ROLES.items():
        if any(word.partition("/")[0] == role for word in words):
            made = str(ask.shadingNode(kind, name=name, skipSelect=True, **{flag: True}))
            if any(word.startswith("shader/surface") for word in words):
                _shading_group(made)
            return made
    if "shape" not in _bases(kind):
        return cmds.createNode(kind, name=name, skipSelect=True)
    top = cmds.createNode("transform", name=name, skipSelect=True)
    cmds.createNode(kind, name=f"{dg.short(top)}Shape", parent=top, skipSelect=True)
    return top


def _bases(kind: str) -> list[str]:
    return ask.nodeType(kind, inherited=True, isTypeName=True) or []


def _transform(item: str) -> str:
    path = dg.node(item)
    if not dg.is_of(path, "transform"):
        raise ValueError(f"{path} is a {dg.type_of(path)}, which has no place.")
    return path


def _shading_group(material: str) -> str:
    """Make a material's shading group, without which nothing can have it."""
    group = str(ask.sets(name=f"{material}SG", renderable=True, noSurfaceShader=True, empty=True))
    cmds.connectAttr(f"{material}.outColor", f"{group}.surfaceShader", force=True)
    return group


def _put(material: str, key: str, value: Any) -> None:
    """Put one value on a material, in the words of its shader."""
    plug, *weights = (f"{material}.{name}" for name in _PUT[key])
    if key in ("texture", "normal"):
        _put_file(plug, str(value), is_normal=key == "normal")
    else:
        dg.free(plug)
        write(plug, [value] * len(dg.parts(plug)) if isinstance(value, int | float) else value)
    for weight in weights:
        dg.free(weight)
        write(weight, 1.0)


def _put_file(plug: str, file: str, *, is_normal: bool) -> None:
    """Have a file's colours or its normals on a plug; a file node that is there gets the file."""
    origin = dg.source(plug).partition(".")[0]
    if origin and dg.type_of(origin) == "bump2d":
        origin = dg.source(f"{origin}.bumpValue").partition(".")[0]
    if not origin:
        origin = _make("file", "file1")
        place = _make("place2dTexture", "place2dTexture1")
        cmds.connectAttr(f"{place}.outUV", f"{origin}.uvCoord")
        cmds.connectAttr(f"{place}.outUvFilterSize", f"{origin}.uvFilterSize")
        for name in _PLACED.split():
            cmds.connectAttr(f"{place}.{name}", f"{origin}.{name}")
        if is_normal:
            bump = _make("bump2d", "bump2d1")
            cmds.setAttr(f"{origin}.colorSpace", "Raw", type="string")  # normals are no colours
            cmds.setAttr(f"{bump}.bumpInterp", 1)  # normals in the surface's own space
            cmds.connectAttr(f"{origin}.outAlpha", f"{bump}.bumpValue")
        cmds.connectAttr(f"{bump}.outNormal" if is_normal else f"{origin}.outColor", plug)
    elif dg.type_of(origin) != "file":
        dg.free(plug)
    cmds.setAttr(f"{origin}.fileTextureName", file, type="string")
