"""The operations that make, place, group and rename items. Main thread; no operators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import bpy
from mathutils import Euler, Matrix

from dcc_bridge.spi import AppliedTransforms, At, Axes, Placement, Vector, triple

from ..names import is_in
from ..objects import block, item_named, item_of, known, lists
from ..part_items import kind_of_struct
from . import curves, values
from .items import naming, require, require_object, require_own, require_own_parts, scene
from .making import (
    DATA,
    MESHES,
    OTHER,
    TREES,
    copy_object,
    duplicate_part,
    make_node,
    make_object,
    make_part,
    node_types,
    part_types,
    title_of,
    use_nodes,
)
from .reading import _Reading
from .slot import Slot

_Parts = Sequence[Literal["at", "rotation", "scale"]]
_MAX_NAME_BYTES: Final = 63
_PROPERTIES: Final = {"at": "location", "scale": "scale"}  # of the parts of a transform
_TRANSFORMED: Final = (bpy.types.Mesh, bpy.types.Curve, bpy.types.Lattice, bpy.types.Armature)


class _Building(_Reading, AppliedTransforms):
    """The operations that make, place, group and rename items."""

    def types(self) -> Iterable[str]:
        nodes = node_types()  # by `bl_idname`
        return [*MESHES, *DATA, *OTHER, *TREES, *part_types(), *nodes]

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Create an item.

        A new object goes to the collection that is active, or to that of the parent it is made
        under; under a collection it goes to that collection.
        """
        self.touch()
        if kind in node_types():
            return make_node(kind, name, under)
        if kind in part_types():
            if name:
                _check_name(name)  # 4.5 cuts that of a bone off within a letter
            return make_part(kind, name, under)
        if kind in TREES:
            groups: Any = bpy.data.node_groups
            return item_of(groups.new(name or "Nodes", kind))
        if kind in OTHER:
            return self._data(kind, name or kind.title(), under)
        if kind not in MESHES and kind not in DATA:
            raise LookupError(f"There is no type {kind!r}.")
        return make_object(kind, name or title_of(kind), under)

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
                return duplicate_part(item, thing)
            data: Any = thing.copy()
            return item_of(data)
        originals = [thing, *self._below(thing)]
        copies = {original: copy_object(original, linked) for original in originals}
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

    def path(self, item: str) -> list[Vector]:
        """Return points of an object's first curve."""
        thing = require_object(item)
        return curves.points_of(item, thing, self.world(thing))

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

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return the item that a rename leads to; ValueError for what cannot be a name."""
        _check_name(name)
        if not isinstance(require(item), bpy.types.Object):
            return super().called(item, name)
        now = item_named("", name, None)
        return now, [] if block(now) is None else [now]

    def rename(self, item: str, name: str) -> str:
        """Rename an item: Blender's references are pointers, and the paths of keys follow."""
        thing = require(item)
        require_own(item, thing)
        require_own_parts(item, thing)
        wanted, _ = self.called(item, name)
        other = block(wanted)
        if other is not None and other != thing:
            raise ValueError(f"There is already {wanted!r}.")
        users = naming(item) if isinstance(thing, bpy.types.VertexGroup) else []
        prop = _name_property(thing)
        try:
            setattr(thing, prop, name)
        except AttributeError as error:
            raise ValueError(f"{item} has no name of its own: {error}.") from error
        self._family.forget()
        now = wanted.removesuffix(name) + str(getattr(thing, prop))
        if isinstance(thing, bpy.types.Object):
            known[now] = thing
        elif block(now) is None:
            raise ValueError(f"{item} is not called by a name of its own.")
        for user in map(require, users):  # of bones and shape keys Blender itself does this
            user.vertex_group = thing.name
        return now


def _name_property(thing: Any) -> str:
    """Return the property that an item is named by."""
    if isinstance(thing, bpy.types.ID | bpy.types.Node):
        return "name"
    return kind_of_struct(thing).called


def _check_name(name: str) -> None:
    """Raise a ValueError for what cannot be a name."""
    if not name or len(name.encode()) > _MAX_NAME_BYTES:
        raise ValueError(f"A name has 1 to {_MAX_NAME_BYTES} bytes, and {name!r} does not.")


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
        why = values.held(Slot(item, thing, name))
        if why:
            raise ValueError(f"{item}{cannot}: its {name} is {why}.")


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
