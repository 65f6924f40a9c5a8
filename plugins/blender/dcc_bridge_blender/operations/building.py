"""What is made and moved: items, places, groups, materials. Main thread; no operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, Literal

import bmesh
import bpy
from mathutils import Euler, Matrix

from dcc_bridge.spi import AppliedTransforms, At, Axes, Placement, Vector, triple

from ..names import is_in, name_of
from ..objects import block, item_of, known, lists
from . import properties, values
from .items import free_name, require, require_object, require_own, require_tree, scene
from .reading import _Reading

_Parts = Sequence[Literal["at", "rotation", "scale"]]
_LONGEST: Final = 63
_MODIFIER: Final = "_MODIFIER"
_MESHES: Final[dict[str, Callable[..., object]]] = {
    "MESH": lambda bm: None,
    "CUBE": lambda bm: bmesh.ops.create_cube(bm, size=2, calc_uvs=True),
    "PLANE": lambda bm: _grid(bm, 1),
    "GRID": lambda bm: _grid(bm, 10),
    "CIRCLE": lambda bm: bmesh.ops.create_circle(bm, segments=32, radius=1, cap_ends=True),
    "SPHERE": lambda bm: bmesh.ops.create_uvsphere(
        bm, u_segments=32, v_segments=16, radius=1, calc_uvs=True
    ),
    "ICO_SPHERE": lambda bm: bmesh.ops.create_icosphere(
        bm, subdivisions=2, radius=1, calc_uvs=True
    ),
    "CYLINDER": lambda bm: _cone(bm, 1),
    "CONE": lambda bm: _cone(bm, 0),
    "MONKEY": lambda bm: bmesh.ops.create_monkey(bm, calc_uvs=True),
}
_DATA: Final[dict[str, Callable[[str], Any]]] = {
    "EMPTY": lambda name: None,
    "CAMERA": lambda name: bpy.data.cameras.new(name),
    "POINT_LIGHT": lambda name: _light(name, "POINT", 1000),
    "SUN_LIGHT": lambda name: _light(name, "SUN", 1),
    "SPOT_LIGHT": lambda name: _light(name, "SPOT", 1000),
    "AREA_LIGHT": lambda name: _light(name, "AREA", 100),
    "TEXT_OBJECT": lambda name: bpy.data.curves.new(name, "FONT"),
    "CURVE": lambda name: bpy.data.curves.new(name, "CURVE"),
    "ARMATURE": lambda name: bpy.data.armatures.new(name),
    "LATTICE": lambda name: bpy.data.lattices.new(name),
    "SPEAKER": lambda name: bpy.data.speakers.new(name),
}
_OTHER: Final = ("COLLECTION", "MATERIAL", "WORLD", "TEXT")
_TRANSFORMED: Final = (bpy.types.Mesh, bpy.types.Curve, bpy.types.Lattice, bpy.types.Armature)


class _Building(_Reading, AppliedTransforms):
    """The operations that make and move."""

    def types(self) -> Iterable[str]:
        return [*_MESHES, *_DATA, *_OTHER, *_modifiers(), *_node_types()]  # nodes by `bl_idname`

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Link it to the collection that new objects go to, or to the one it is made under."""
        self.touch()
        if kind in _node_types():
            return _node(kind, name, under)
        if kind in _modifiers():
            return _modifier(kind, name, under)
        if kind in _OTHER:
            return self._data(kind, name or kind.title(), under)
        if kind not in _MESHES and kind not in _DATA:
            raise LookupError(f"There is no type {kind!r}.")
        title = name or _title(kind)
        data = _mesh(title, _MESHES[kind]) if kind in _MESHES else _DATA[kind](title)
        thing = bpy.data.objects.new(title, data)
        above = require(under) if under else None
        if isinstance(above, bpy.types.Collection):
            above.objects.link(thing)
            return item_of(thing)
        _collection(above).objects.link(thing)
        thing.parent = require_object(under, "a parent") if under else None
        return item_of(thing)

    def _data(self, kind: str, name: str, under: str | None) -> str:
        thing = getattr(bpy.data, lists()[kind.lower()]).new(name)
        if isinstance(thing, bpy.types.Collection):
            above = require(under) if under else scene().collection
            if not isinstance(above, bpy.types.Collection):
                raise ValueError(f"{under} is no collection.")
            above.children.link(thing)
        elif kind in ("MATERIAL", "WORLD"):
            use_nodes(thing)
        return item_of(thing)

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copies of objects refer to each other as the originals do."""
        self.touch()
        thing = require(item)
        if not isinstance(thing, bpy.types.Object):
            if not isinstance(thing, bpy.types.ID):
                raise ValueError(f"{item} is a node: create another one and connect it.")
            copy: Any = thing.copy()
            return item_of(copy)
        copies = {each: _copy(each, linked) for each in [thing, *self._below(thing)]}
        for copy in copies.values():
            for owner in (copy, *copy.modifiers, *copy.constraints):
                _follow(owner, copies)
        self._family.forget()
        return item_of(copies[thing])

    # ---- places

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Local is relative to the parent."""
        thing = require_object(item)
        matrix = self.world(thing)
        if space == "local" and thing.parent is not None:
            matrix = self.world(thing.parent).inverted_safe() @ matrix
        at, turn, scale = matrix.decompose()
        turned = map(math.degrees, turn.to_euler("XYZ")[:])
        return Placement(*(_rounded(part) for part in (at[:], turned, scale[:])))

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """What holds it refuses; keys would bring it back."""
        thing = require_object(item)
        parts = {"at": at, "rotation": rotation, "scale": scale}
        _refuse_held(item, " cannot be placed", [it for it in parts if parts[it] is not None])
        now = self.placement(item, space)
        turned = Euler([math.radians(it) for it in rotation or now.rotation], "XYZ")
        matrix = Matrix.LocRotScale(at or now.at, turned, scale or now.scale)
        if space == "local" and thing.parent is not None:
            matrix = self.world(thing.parent) @ matrix
        thing.matrix_basis = self.above(thing).inverted_safe() @ matrix
        self._is_moved = True

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Cameras and lights look along -Z; so do others, as Blender's constraints take them."""
        is_plain = require_object(item, "aimed").type not in ("CAMERA", "LIGHT")
        forward: Vector = (0.0, -1.0, 0.0) if is_plain else (0.0, 0.0, -1.0)
        return forward, (0.0, 0.0, 1.0) if is_plain else (0.0, 1.0, 0.0)

    def apply(self, item: str, parts: _Parts) -> None:
        """Data that others share becomes the item's own; children stay where they are."""
        thing = require_object(item)
        data: Any = thing.data
        self._may_apply(item, thing, parts)
        own: Any = thing.matrix_basis.copy()
        at, turn, scale = own.decompose()
        kept = Matrix.LocRotScale(
            None if "at" in parts else at,
            None if "rotation" in parts else turn,
            None if "scale" in parts else scale,
        )
        into = kept.inverted_safe() @ own
        if data is not None and data.users > 1:
            data = thing.data = data.copy()
        if isinstance(data, bpy.types.Mesh):
            data.transform(into, shape_keys=True)
            if into.is_negative:
                data.flip_normals()
        else:
            data.transform(into)
        for child in self._children(thing):
            child.matrix_parent_inverse = into @ child.matrix_parent_inverse
        thing.matrix_basis = kept
        self.touch()

    def _may_apply(self, item: str, thing: bpy.types.Object, parts: _Parts) -> None:
        require_own(item, thing)
        data: Any = thing.data
        if not isinstance(data, _TRANSFORMED) or thing.type == "FONT":
            raise ValueError(f"{item} is a {thing.type}: a transform cannot be put into its data.")
        if thing.mode == "EDIT" or getattr(data, "is_editmode", False):
            raise ValueError(f"{item} is in edit mode, where a write to its mesh is lost.")
        _refuse_held(item, "", parts)

    # ---- groups and names

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Below an object, or into a collection in place of those it is in."""
        thing = require_object(item, "put below another one")
        require_own(item, thing)
        above = require(under) if under else None
        if isinstance(above, bpy.types.Collection):
            return self._move_into(thing, above)
        if above is not None:
            require_object(str(under), "a parent")
            if above == thing or above in self._below(thing):
                raise ValueError(f"{under} is {item} itself or below it.")
        world, relative = self.world(thing), self.above(thing)
        thing.parent = above
        thing.parent_type = "OBJECT"
        if above is None:
            thing.matrix_basis = world if keep_place else thing.matrix_basis
        else:
            inverse = self.world(above).inverted_safe()
            thing.matrix_parent_inverse = inverse @ relative if keep_place else Matrix()
        self.touch()
        return item_of(thing)

    @staticmethod
    def _move_into(thing: bpy.types.Object, collection: bpy.types.Collection) -> str:
        require_own(item_of(collection), collection)
        for each in thing.users_collection:
            if each != collection:
                each.objects.unlink(thing)
        if not is_in(thing, collection.objects):
            collection.objects.link(thing)
        return item_of(thing)

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        if kind != "collection":
            raise ValueError(f"Blender has collections and parents, and no {kind}.")
        name = into.removeprefix("collection:")
        collection = bpy.data.collections.get(name) or require(self._data("COLLECTION", name, None))
        for item in items:
            self._move_into(require_object(item, "put into a collection"), collection)
        self.touch()
        return item_of(collection)

    def rename(self, item: str, name: str) -> str:
        """Blender's own references are pointers, and paths of keys follow."""
        thing = require(item)
        require_own(item, thing)
        if not name or len(name.encode()) > _LONGEST:
            raise ValueError(f"A name has 1 to {_LONGEST} bytes, and {name!r} does not.")
        is_node = isinstance(thing, bpy.types.Node)
        base = (item if is_node else item_of(thing))[: -len(name_of(thing))]
        other = block(base + name)
        if other is not None and other != thing:
            raise ValueError(f"There is already {base + name!r}.")
        thing.name = name
        self._family.forget()
        now = base + str(thing.name)
        if isinstance(thing, bpy.types.Object):
            known[now] = thing
        return now


def _refuse_held(item: str, cannot: str, parts: Iterable[str]) -> None:
    """Raise ValueError where something holds one of these parts of a transform."""
    thing = require_object(item)
    names = {"at": "location", "rotation": values.rotation_of(thing), "scale": "scale"}
    for name in map(names.__getitem__, parts):
        if why := values.held(properties.Slot(item, thing, name)):
            raise ValueError(f"{item}{cannot}: its {name} is {why}.")


def _title(kind: str) -> str:
    return kind.replace("_", " ").title()


def _collection(above: Any) -> bpy.types.Collection:
    """Give the collection that something new goes to: its parent's, or the one that is open."""
    layer = bpy.context.view_layer
    near: list[bpy.types.Collection] = list(above.users_collection) if above is not None else []
    active = layer.active_layer_collection if layer else None
    if active is not None and not active.exclude:
        near.append(active.collection)
    return next((it for it in near if it.library is None), scene().collection)


def _mesh(name: str, fill: Callable[..., object]) -> bpy.types.Mesh:
    mesh, bm = bpy.data.meshes.new(name), bmesh.new()
    try:
        bm.loops.layers.uv.new("UVMap")
        fill(bm)
        bm.to_mesh(mesh)
    finally:
        bm.free()
    return mesh


def _grid(bm: Any, count: int) -> object:
    return bmesh.ops.create_grid(bm, x_segments=count, y_segments=count, size=1, calc_uvs=True)


def _cone(bm: Any, top: float) -> object:
    return bmesh.ops.create_cone(
        bm, cap_ends=True, segments=32, radius1=1, radius2=top, depth=2, calc_uvs=True
    )


def _light(name: str, kind: Any, energy: float) -> bpy.types.Light:
    light: Any = bpy.data.lights.new(name, kind)
    light.energy = energy
    return light  # type: ignore[no-any-return]  # each kind of light has its own type


def _modifiers() -> list[str]:
    rna: Any = bpy.types.Modifier.bl_rna
    return [f"{it.identifier}{_MODIFIER}" for it in rna.properties["type"].enum_items_static]


def _modifier(kind: str, name: str | None, under: str | None) -> str:
    """Give an object a modifier, whose values are the object's, and give the object."""
    if under is None:
        raise ValueError(f"{kind} needs the object that it is made under.")
    thing = require_object(under, "given a modifier")
    require_own(under, thing)
    plain: Any = kind.removesuffix(_MODIFIER)
    if thing.modifiers.new(name or _title(plain), plain) is None:
        raise ValueError(f"{under} is a {thing.type}, which takes no {kind}.")
    return under


@cache
def _node_types() -> dict[str, None]:
    """Give the types of nodes: those that Blender has registered."""
    starts = ("ShaderNode", "GeometryNode", "FunctionNode", "CompositorNode", "NodeReroute")
    ends = ("Tree", "CustomGroup", "Node")  # no nodes, and what others are made from
    names = [it for it in dir(bpy.types) if it.startswith(starts) and not it.endswith(ends)]
    return dict.fromkeys(names)


def _node(kind: str, name: str | None, under: str | None) -> str:
    if under is None:
        raise ValueError(f"{kind} is a node: give the material or the tree that it is made under.")
    tree = require_tree(under)
    require_own(under, tree)
    try:
        node = tree.nodes.new(kind)
    except RuntimeError as error:
        raise ValueError(f"{under} takes no {kind}: {str(error).strip()}") from error
    if name:
        node.name = free_name(name, tree.nodes)
    return f"{under}/{node.name}"


def use_nodes(thing: Any) -> None:
    """Give a material or a world nodes."""
    if thing.node_tree is None:  # in 5.x all have nodes
        thing.use_nodes = True


def _copy(thing: bpy.types.Object, linked: bool) -> bpy.types.Object:
    copy: Any = thing.copy()
    if not linked:
        copy.data = thing.data.copy() if thing.data else None
        if (animation := copy.animation_data) and animation.action:
            animation.action = animation.action.copy()
    homes = [it for it in thing.users_collection if it.library is None] or [_collection(None)]
    for home in homes:
        home.objects.link(copy)
    return copy  # type: ignore[no-any-return]  # what copies an object is typed as any data


def _follow(owner: Any, copies: dict[Any, Any]) -> None:
    for rna in owner.bl_rna.properties:
        if rna.type == "POINTER" and not rna.is_readonly:
            used = getattr(owner, rna.identifier)
            if isinstance(used, bpy.types.Object) and used in copies:
                _point(owner, rna.identifier, copies[used])


def _point(owner: Any, name: str, target: Any) -> None:
    if name == "parent":
        inverse = owner.matrix_parent_inverse.copy()
        owner.parent = target
        owner.matrix_parent_inverse = inverse
    else:
        setattr(owner, name, target)


def _rounded(numbers: Iterable[float]) -> Vector:
    return triple(float(f"{round(it, 7):.7g}") + 0.0 for it in numbers)
