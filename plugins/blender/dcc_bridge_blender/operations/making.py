"""The types of items that agents can create, and the functions that create and copy them.

The *kind* of an item is the word by which an agent asks for it: "CUBE", "SUN_LIGHT". An object has
*data*, such as a mesh or a light, which objects may share. Everything runs on the main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Final

import bmesh
import bpy

from ..objects import item_of, kind_of, part_of
from ..part_items import KINDS, Found, kind_named
from . import properties
from .items import owner_of, require, require_object, require_own, require_tree, scene

# The kinds of objects with a mesh, each with the function that fills an empty bmesh.
MESHES: Final[dict[str, Callable[..., object]]] = {
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
# The kinds of other objects, each with the function that makes the data of a name.
DATA: Final[dict[str, Callable[[str], Any]]] = {
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
# The kinds of items that are no objects.
OTHER: Final = ("COLLECTION", "MATERIAL", "WORLD", "TEXT", "ACTION")
_COMMON_NODES: Final = ("NodeReroute", "NodeGroup", "NodeFrame")  # nodes of each kind of tree
# The kinds of node groups, as Blender calls them.
TREES: Final = ("GeometryNodeTree", "ShaderNodeTree", "CompositorNodeTree")


def make_object(kind: str, name: str, under: str | None) -> str:
    """Create an object, and return its item.

    Args:
        kind: A key of `MESHES` or `DATA`.
        name: The name of the object and its data.
        under: The item of a collection to link the object to, or of a parent; None for neither.
    """
    data = _mesh(name, MESHES[kind]) if kind in MESHES else DATA[kind](name)
    thing = bpy.data.objects.new(name, data)
    above = require(under) if under else None
    if isinstance(above, bpy.types.Collection):
        above.objects.link(thing)
        return item_of(thing)
    _collection_for(above).objects.link(thing)
    if under:
        thing.parent = require_object(under, "a parent")
    return item_of(thing)


def title_of(kind: str) -> str:
    """Return the name for a new item of a type."""
    return kind.replace("_", " ").title()


def _collection_for(parent: Any) -> bpy.types.Collection:
    """Return the collection for a new object: its parent's, the active one, or the scene's own.

    Collections that are linked from another file are passed over, as nothing can be added to them.
    """
    collections: list[bpy.types.Collection] = []
    if parent is not None:
        collections += parent.users_collection
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
    """Make a mesh with a UV layer, and have a function of `MESHES` fill it."""
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
    """Fill a bmesh with a square of `count` by `count` faces."""
    return bmesh.ops.create_grid(bm, x_segments=count, y_segments=count, size=1, calc_uvs=True)


def _cone(bm: Any, top: float) -> object:
    """Fill a bmesh with a cone whose upper end has the radius `top`: 1 gives a cylinder."""
    return bmesh.ops.create_cone(
        bm, cap_ends=True, segments=32, radius1=1, radius2=top, depth=2, calc_uvs=True
    )


def _light(name: str, kind: Any, energy: float) -> bpy.types.Light:
    """Make the data of a light, in watts; a sun's energy is its strength."""
    light: Any = bpy.data.lights.new(name, kind)
    light.energy = energy
    return light  # type: ignore[no-any-return]  # each kind of light has its own type


def modifier_types() -> list[str]:
    """Return the kinds that create a modifier, such as "BEVEL_MODIFIER"."""
    return list(KINDS["modifier"].types())


def part_types() -> Iterator[str]:
    """Yield the kinds that create a part: modifiers, constraints, bones and so on."""
    for kind in KINDS.values():
        yield from kind.types()


def make_part(kind: str, name: str | None, under: str | None) -> str:
    """Create a part of an item, and return the item of the part.

    Below a part of the same kind, such as a bone, it belongs to the owner of that.
    """
    found = kind_named(kind)
    assert found is not None  # it is one of `part_types`
    word, row, own_kind = found
    assert row.make is not None
    if under is None and row.home is not None:
        under = item_of(row.home())
    if under is None:
        raise ValueError(f"{kind} needs the item that it is made under.")
    owner = require(under)
    require_own(under, owner)
    if not isinstance(owner, row.owners):
        raise ValueError(f"{under} is a {kind_of(owner)}: {kind} is made under {row.owner_words}.")
    try:
        made = row.make(owner, own_kind, name)
    except ValueError as error:
        raise ValueError(f"{kind} under {under}: {error}.") from error
    if isinstance(owner, row.structs):
        under = owner_of(under)
    return f"{under}/{word}:{made}"


@cache
def node_types() -> dict[str, None]:
    """Return the types of nodes that Blender has registered, as an ordered set."""
    starts = ("ShaderNode", "GeometryNode", "FunctionNode", "CompositorNode", *_COMMON_NODES)
    ends = ("Tree", "CustomGroup", "Node", "NodeGroup")  # no types of nodes, and base classes
    names = [name for name in dir(bpy.types) if name.startswith(starts)]
    nodes = [name for name in names if issubclass(getattr(bpy.types, name), bpy.types.Node)]
    return dict.fromkeys(name for name in nodes if not name.endswith(ends))


def make_node(kind: str, name: str | None, under: str | None) -> str:
    """Create a node in the node tree of the item `under`, and return the node's item."""
    if under is None:
        raise ValueError(f"{kind} is a node: give the material or the tree that it is made under.")
    tree = require_tree(under)
    require_own(under, tree)
    try:
        node = tree.nodes.new(kind)
    except RuntimeError as error:
        raise ValueError(f"{under} takes no {kind}: {str(error).strip()}") from error
    if name or not node.name:  # Blender 3.4 leaves some nodes without a name
        node.name = name or node.bl_rna.name  # Blender numbers it if another node has the name
    return f"{under}/{node.name}"


def use_nodes(thing: Any) -> None:
    """Add a node tree to a material or a world, unless it has one."""
    if thing.node_tree is None:  # in 5.x every material and world has nodes
        thing.use_nodes = True


def copy_object(thing: bpy.types.Object, linked: bool) -> bpy.types.Object:
    """Copy an object into the collections that it is in itself.

    Args:
        thing: The object.
        linked: Whether the copy shares the object's data and action; else these are copied too.
    """
    copy: Any = thing.copy()
    if not linked:
        copy.data = thing.data.copy() if thing.data else None
        animation = copy.animation_data
        if animation and animation.action:
            animation.action = animation.action.copy()
    collections = [each for each in thing.users_collection if each.library is None]
    for collection in collections or [_collection_for(None)]:
        collection.objects.link(copy)
    return copy  # type: ignore[no-any-return]  # what copies an object is typed as any data


def duplicate_part(item: str, part: Any) -> str:
    """Copy a part beside itself, as Blender does or by its values; return the item of the copy.

    Raises:
        ValueError: It is a node, or Blender alone creates such a part.
    """
    if isinstance(part, bpy.types.Node):
        raise ValueError(f"{item} is a node: create another one and connect it.")
    kind = kind_of(part)
    if kind not in part_types():
        raise ValueError(f"{item} is a {kind}, which cannot be copied.")
    found = part_of(item)
    assert found is not None
    if found.kind.clone is not None:
        return _clone(item, found)
    name = found.name if "name" in part.bl_rna.properties else None
    values = {}
    left_out = {"name", *(found.kind.values if found.kind.copy is not None else ())}
    for prop, slot in properties.slots(item, part).items():
        if prop not in left_out and "." not in prop:
            values[prop] = slot.read()
    made = make_part(kind, name, found.owner_item)
    if found.kind.copy is not None:
        _copy_whole(item, made, found.kind.copy)
    for prop, value in values.items():
        with suppress(ValueError):  # what goes with another value only
            properties.slot(made, prop).write(value)
    return made


def _clone(item: str, found: Found) -> str:
    """Copy a part as Blender itself does."""
    require_own(item, found.part)
    assert found.kind.clone is not None
    try:
        copy = found.kind.clone(found.owner, found.part)
    except ValueError as error:
        raise ValueError(f"{item}: {error}.") from error
    word = item[len(found.owner_item) + 1 :].partition(":")[0]
    return f"{found.owner_item}/{word}:{copy}"


def _copy_whole(item: str, made: str, copy: Callable[[Any, Any], None]) -> None:
    """Copy what is told in part only, such as the weights of many vertices."""
    try:
        copy(require(item), require(made))
    except ValueError as error:
        raise ValueError(f"{item}: {error}.") from error
