"""The operations that make, place, group and rename items. Main thread; no operators."""

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
_MAX_NAME_BYTES: Final = 63
_MODIFIER: Final = "_MODIFIER"  # the end of each type that creates a modifier
_PROPERTIES: Final = {"at": "location", "scale": "scale"}  # of the parts of a transform
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
    """The operations that make, place, group and rename items."""

    def types(self) -> Iterable[str]:
        return [*_MESHES, *_DATA, *_OTHER, *_modifiers(), *_node_types()]  # nodes by `bl_idname`

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Create an item.

        A new object goes to the collection that is active, or to that of the parent it is made
        under; under a collection it goes to that collection.
        """
        self.touch()
        if kind in _node_types():
            return _node(kind, name, under)
        if kind in _modifiers():
            return _modifier(kind, name, under)
        if kind in _OTHER:
            return self._data(kind, name or kind.title(), under)
        if kind not in _MESHES and kind not in _DATA:
            raise LookupError(f"There is no type {kind!r}.")
        return _object(kind, name or _title(kind), under)

    def _data(self, kind: str, name: str, under: str | None) -> str:
        """Create data other than objects; a collection goes below the one it is made under."""
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
        """Copy an item, and what is below an object.

        The copies of objects refer to each other as the originals do.
        """
        self.touch()
        thing = require(item)
        if not isinstance(thing, bpy.types.Object):
            if not isinstance(thing, bpy.types.ID):
                raise ValueError(f"{item} is a node: create another one and connect it.")
            data: Any = thing.copy()
            return item_of(data)
        originals = [thing, *self._below(thing)]
        copies = {original: _copy(original, linked) for original in originals}
        for copy in copies.values():
            for owner in (copy, *copy.modifiers, *copy.constraints):
                _redirect(owner, copies)
        self._family.forget()
        return item_of(copies[thing])

    # ---- places

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Return the transform of an object; "local" is relative to the parent."""
        thing = require_object(item)
        matrix = self.world(thing)
        if space == "local" and thing.parent is not None:
            matrix = self.world(thing.parent).inverted_safe() @ matrix
        location, quaternion, scale = matrix.decompose()
        degrees = map(math.degrees, quaternion.to_euler("XYZ")[:])
        return Placement(_rounded(location[:]), _rounded(degrees), _rounded(scale[:]))

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Set parts of an object's transform.

        Raises:
            ValueError: Something holds one of these parts, such as keys, which would restore it.
        """
        thing = require_object(item)
        given = {"at": at, "rotation": rotation, "scale": scale}
        parts = [part for part, numbers in given.items() if numbers is not None]
        _refuse_held(item, " cannot be placed", parts)
        now = self.placement(item, space)
        radians = [math.radians(degrees) for degrees in rotation or now.rotation]
        matrix = Matrix.LocRotScale(at or now.at, Euler(radians, "XYZ"), scale or now.scale)
        if space == "local" and thing.parent is not None:
            matrix = self.world(thing.parent) @ matrix
        thing.matrix_basis = self.above(thing).inverted_safe() @ matrix
        self._is_moved = True

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Return the axes that look ahead and up: cameras and lights look along -Z, others -Y."""
        if require_object(item, "aimed").type in ("CAMERA", "LIGHT"):
            return (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)
        return (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)

    def apply(self, item: str, parts: _Parts) -> None:
        """Put parts of an object's transform into its data.

        Data that others share becomes the item's own; children stay where they are.

        Raises:
            ValueError: The data takes no transform, or cannot be edited now, or something holds one
                of the parts.
        """
        thing = require_object(item)
        self._check_applicable(item, thing, parts)
        own: Any = thing.matrix_basis.copy()
        remaining = _without(own, parts)
        applied = remaining.inverted_safe() @ own
        data: Any = thing.data
        if data is not None and data.users > 1:
            data = data.copy()
            thing.data = data
        if isinstance(data, bpy.types.Mesh):
            data.transform(applied, shape_keys=True)
            if applied.is_negative:
                data.flip_normals()
        else:
            data.transform(applied)
        for child in self._children(thing):
            child.matrix_parent_inverse = applied @ child.matrix_parent_inverse
        thing.matrix_basis = remaining
        self.touch()

    def _check_applicable(self, item: str, thing: bpy.types.Object, parts: _Parts) -> None:
        """Raise ValueError where a transform cannot be put into an object's data."""
        require_own(item, thing)
        data: Any = thing.data
        if not isinstance(data, _TRANSFORMED) or thing.type == "FONT":
            raise ValueError(f"{item} is a {thing.type}: a transform cannot be put into its data.")
        if thing.mode == "EDIT" or getattr(data, "is_editmode", False):
            raise ValueError(f"{item} is in edit mode, where a write to its mesh is lost.")
        _refuse_held(item, "", parts)

    # ---- groups and names

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Parent an object, or move it into a collection from those that it is in."""
        thing = require_object(item, "put below another one")
        require_own(item, thing)
        above = require(under) if under else None
        if isinstance(above, bpy.types.Collection):
            return self._move_into(thing, above)
        if above is not None:
            require_object(str(under), "a parent")
            if above == thing or above in self._below(thing):
                raise ValueError(f"{under} is {item} itself or below it.")
        world = self.world(thing)
        relative = self.above(thing)
        thing.parent = above
        thing.parent_type = "OBJECT"
        if above is not None:
            inverse = self.world(above).inverted_safe()
            thing.matrix_parent_inverse = inverse @ relative if keep_place else Matrix()
        elif keep_place:
            thing.matrix_basis = world
        self.touch()
        return item_of(thing)

    @staticmethod
    def _move_into(thing: bpy.types.Object, collection: bpy.types.Collection) -> str:
        require_own(item_of(collection), collection)
        for other in thing.users_collection:
            if other != collection:
                other.objects.unlink(thing)
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
        """Rename an item: Blender's references are pointers, and the paths of keys follow."""
        thing = require(item)
        require_own(item, thing)
        if not name or len(name.encode()) > _MAX_NAME_BYTES:
            raise ValueError(f"A name has 1 to {_MAX_NAME_BYTES} bytes, and {name!r} does not.")
        old = item if isinstance(thing, bpy.types.Node) else item_of(thing)
        prefix = old.removesuffix(name_of(thing))
        other = block(prefix + name)
        if other is not None and other != thing:
            raise ValueError(f"There is already {prefix + name!r}.")
        thing.name = name
        self._family.forget()
        now = prefix + str(thing.name)
        if isinstance(thing, bpy.types.Object):
            known[now] = thing
        return now


def _object(kind: str, name: str, under: str | None) -> str:
    """Create an object, and link it to a collection."""
    data = _mesh(name, _MESHES[kind]) if kind in _MESHES else _DATA[kind](name)
    thing = bpy.data.objects.new(name, data)
    above = require(under) if under else None
    if isinstance(above, bpy.types.Collection):
        above.objects.link(thing)
        return item_of(thing)
    _collection(above).objects.link(thing)
    if under:
        thing.parent = require_object(under, "a parent")
    return item_of(thing)


def _without(matrix: Any, parts: _Parts) -> Matrix:
    """Return a transform without these parts."""
    location, quaternion, scale = matrix.decompose()
    if "at" in parts:
        location = None
    if "rotation" in parts:
        quaternion = None
    if "scale" in parts:
        scale = None
    return Matrix.LocRotScale(location, quaternion, scale)


def _refuse_held(item: str, cannot: str, parts: Iterable[str]) -> None:
    """Raise ValueError where something holds one of these parts of a transform."""
    thing = require_object(item)
    names = {**_PROPERTIES, "rotation": values.rotation_of(thing)}
    for part in parts:
        name = names[part]
        why = values.held(properties.Slot(item, thing, name))
        if why:
            raise ValueError(f"{item}{cannot}: its {name} is {why}.")


def _title(kind: str) -> str:
    return kind.replace("_", " ").title()


def _collection(above: Any) -> bpy.types.Collection:
    """Return the collection for a new object: of its parent, else the active one.

    Linked collections take no object.
    """
    collections: list[bpy.types.Collection] = []
    if above is not None:
        collections += above.users_collection
    layer = bpy.context.view_layer
    active = layer.active_layer_collection if layer else None
    if active is not None and not active.exclude:
        collections.append(active.collection)
    for collection in collections:
        if collection.library is None:
            return collection
    default: bpy.types.Collection = scene().collection
    return default


def _mesh(name: str, fill: Callable[..., object]) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    bm = bmesh.new()
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
    kinds = rna.properties["type"].enum_items_static
    return [f"{kind.identifier}{_MODIFIER}" for kind in kinds]


def _modifier(kind: str, name: str | None, under: str | None) -> str:
    """Add a modifier to an object, and return the object, which has the modifier's values."""
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
    """Return the types of nodes that Blender has registered, as an ordered set."""
    starts = ("ShaderNode", "GeometryNode", "FunctionNode", "CompositorNode", "NodeReroute")
    ends = ("Tree", "CustomGroup", "Node")  # no types of nodes, and base classes
    names = [name for name in dir(bpy.types) if name.startswith(starts)]
    return dict.fromkeys(name for name in names if not name.endswith(ends))


def _node(kind: str, name: str | None, under: str | None) -> str:
    """Create a node in the tree of an item."""
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
    """Have a material or a world use nodes."""
    if thing.node_tree is None:  # in 5.x every material and world has nodes
        thing.use_nodes = True


def _copy(thing: bpy.types.Object, linked: bool) -> bpy.types.Object:
    """Copy an object into its own collections; unless `linked`, also its data and action."""
    copy: Any = thing.copy()
    if not linked:
        copy.data = thing.data.copy() if thing.data else None
        animation = copy.animation_data
        if animation and animation.action:
            animation.action = animation.action.copy()
    collections = [each for each in thing.users_collection if each.library is None]
    for collection in collections or [_collection(None)]:
        collection.objects.link(copy)
    return copy  # type: ignore[no-any-return]  # what copies an object is typed as any data


def _redirect(owner: Any, copies: dict[Any, Any]) -> None:
    """Have an owner refer to the copies of the objects that it refers to."""
    for rna in owner.bl_rna.properties:
        if rna.type != "POINTER" or rna.is_readonly:
            continue
        used = getattr(owner, rna.identifier)
        if isinstance(used, bpy.types.Object) and used in copies:
            _point(owner, rna.identifier, copies[used])


def _point(owner: Any, name: str, target: Any) -> None:
    """Set a pointer; setting a parent would change the inverse of the parent's transform."""
    if name == "parent":
        inverse = owner.matrix_parent_inverse.copy()
        owner.parent = target
        owner.matrix_parent_inverse = inverse
    else:
        setattr(owner, name, target)


def _rounded(numbers: Iterable[float]) -> Vector:
    """Round numbers to seven digits; adding 0.0 turns -0.0 into 0.0."""
    return triple(float(f"{round(number, 7):.7g}") + 0.0 for number in numbers)
