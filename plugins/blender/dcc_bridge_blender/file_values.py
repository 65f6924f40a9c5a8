"""The values of a file that people edit, read in a few milliseconds. Main thread.

A *struct* is a data-block or a part of one that has properties of its own: a modifier, a node. It
is named by its path in the data-block, as agents name properties: ``modifiers["Bevel"].``, or for a
node ``/Bump``. No reference to a struct is kept: Blender frees what a body removes.

Source of the facts: measured with Debian's Blender 3.4.1 and the wheels of bpy 4.5.15 and 5.2.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any, Final, NamedTuple

import bpy

from .action_curves import curve_lists_of
from .block_lists import BlockList
from .census import custom_values
from .names import UNREADABLE_TEXT, body_of, custom_keys, name_of, names_of
from .objects import tree_of
from .part_values import GROUP, cost, part_values

_LISTS: Final = (
    *("scenes", "worlds", "objects", "lights", "cameras", "materials", "node_groups"),
    *("collections", "meshes", "curves", "actions", "images", "texts"),
)
"""The lists whose data-blocks are read, those that people edit most first."""
_MAX_STRUCTS: Final = 200  # that are read in a file
_LARGE: Final = 500  # objects of a file
_MAX_OF_LARGE: Final = 60  # structs that are read in a file of more objects
_MAX_COST: Final = 3_000  # of the parts that are read in a file, as `part_values.cost` counts it
_WITH_PARTS: Final = ("objects", "actions")
"""The lists whose data-blocks have parts that `part_values` reads."""
_REPORTED: Final = {"objects", "lights", "cameras", "meshes", "curves"}
"""The lists of whose data-blocks Blender reports each change but those of custom properties."""
_MAX_LAYERS: Final = 50  # collections of a view layer
_OF_SCENE: Final = ("render", "view_settings", "eevee", "unit_settings")
_LAYER: Final = ("exclude", "hide_viewport", "holdout", "indirect_only")
PLACE: Final = {"location": 3, "rotation_euler": 3, "rotation_quaternion": 4, "scale": 3}
"""The properties of the place of an object, with the number of their elements."""
_PLAIN: Final = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
_NOT_READ: Final = {
    *("name", "use_extra_user", "is_runtime_data", "tag", "select", "show_expanded", "is_active"),
    *(
        "frame_float",
        "frame_subframe",
        "active_material_index",
        "active_index",
        "location_absolute",
    ),
    *("dimensions", "use_nodes", "internal_links", "width_pct", *PLACE),
}
"""Properties that are compared otherwise, computed from others, or no edit."""
_NOT_READ_FROM: Final = ("bl_", "matrix_", "active_", "texspace_", "current_", "select_end_")
BlockValues = dict[str, tuple[Any, ...]]
"""The values read of each struct of a data-block, by its path; see `told_values`."""


class ReadBlock(NamedTuple):
    """A data-block that was read as a step began.

    Attributes:
        name: The name of its list.
        block: The data-block.
        values: What was read of it.
        has_parts: Whether that is with what `part_values` reads.
    """

    name: str
    block: Any
    values: BlockValues
    has_parts: bool


Known = Mapping[int, ReadBlock]
"""Objects whose values are known, by their `id`."""


class _Reader(NamedTuple):
    """How the properties of a type of struct are read.

    Attributes:
        names: The properties with one value.
        get: Returns these values; None where there are none.
        arrays: The properties with several values.
        blocks: The properties that lead to data-blocks.
        angles: The properties whose values are in radians.
    """

    names: tuple[str, ...]
    get: Callable[[Any], Any] | None
    arrays: tuple[str, ...]
    blocks: tuple[str, ...]
    angles: frozenset[str]


def read_values(lists: Sequence[BlockList], known: Known) -> dict[int, ReadBlock]:
    """Read the values of a file as a step begins; of a large one the first.

    Args:
        lists: All lists of data-blocks.
        known: What `known_objects` returned, if Blender has reported no change since.

    Returns:
        The data-blocks that were read, by their `id`.
    """
    by_name = {listed.name: listed.blocks for listed in lists}
    most = _MAX_STRUCTS
    if len(by_name["objects"]) > _LARGE:
        most = _MAX_OF_LARGE
    read: dict[int, ReadBlock] = {}
    structs = 0
    left = _MAX_COST
    for name in _LISTS:
        for block in by_name.get(name, ()):
            size = _size(name, block)
            known_block = _known_of(name, block, known)
            if known_block is None and structs + size > most:
                continue
            if known_block is None:
                price = cost(name, block) if name in _WITH_PARTS else 0
                has_parts = price <= left
                values = _read_block(name, block, has_parts=has_parts)
                known_block = ReadBlock(name, block, values, has_parts)
                left -= price if has_parts else 0
            read[id(block)] = known_block
            structs += size
            if structs >= most:
                return read
    return read


def read_again(
    read: Mapping[int, ReadBlock], gone: Container[int], evaluated: Container[int]
) -> dict[int, BlockValues]:
    """Read the data-blocks once more that may differ now.

    Args:
        read: What `read_values` returned.
        gone: The `id` of each data-block that is deleted: nothing of these is touched.
        evaluated: The `id` of what Blender has evaluated since.

    Returns:
        The values, by the `id` of each data-block that was read again.
    """
    again: dict[int, BlockValues] = {}
    for key, found in read.items():
        if key in gone:
            continue
        if _is_evaluated(found, evaluated) or not _is_reported(found.name, found.block):
            again[key] = _read_block(found.name, found.block, has_parts=found.has_parts)
    return again


def _is_evaluated(found: ReadBlock, evaluated: Container[int]) -> bool:
    """Return whether Blender has evaluated a data-block or its data, or should have."""
    if id(found.block) in evaluated:
        return True
    if found.name != "objects":
        return False
    return id(found.block.data) in evaluated or _has_other_groups(found)


def _has_other_groups(found: ReadBlock) -> bool:
    """Return whether an object has other vertex groups now, which Blender 3.4 does not report."""
    if not found.has_parts:
        return False
    before = [path for path in found.values if path.startswith(GROUP)]
    return before != [f"{GROUP}{name}" for name in names_of(found.block.vertex_groups)]


def known_objects(
    read: Mapping[int, ReadBlock], gone: Container[int], again: Mapping[int, BlockValues]
) -> Known:
    """Return the values that objects have now.

    Objects that are not shown are left out: Blender does not evaluate these, so that they were not
    read again.

    Args:
        read: What `read_values` returned.
        gone: The `id` of each data-block that is deleted.
        again: What `read_again` returned.
    """
    known = {}
    for key, block in read.items():
        if block.name == "objects" and key not in gone and block.block.visible_get():
            known[key] = block._replace(values=again.get(key, block.values))
    return known


def _known_of(name: str, block: Any, known: Known) -> ReadBlock | None:
    """Return a data-block as it was read, if its values are known; or None."""
    found = known.get(id(block))
    if found is None or found.block is not block or not _is_reported(name, block):
        return None
    if _has_other_groups(found):
        return None
    return found


def _is_reported(name: str, block: Any) -> bool:
    """Return whether Blender reports each change of a data-block."""
    return name in _REPORTED and not custom_keys(block)


def told_values(struct_values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what was read of a struct by the names of the properties, angles in degrees."""
    kind, singles, arrays, blocks, more = struct_values
    if kind is None:
        return dict(more)
    reader = _reader(kind)
    told = dict(zip(reader.names, singles, strict=True))
    told.update(zip(reader.arrays, arrays, strict=True))
    told.update(zip(reader.blocks, blocks, strict=True))
    for name in reader.angles:
        told[name] = in_degrees(told[name])
    told.update(more)
    return {name: _plain(value) for name, value in told.items()}


def in_degrees(value: Any) -> Any:
    """Return an angle or several in degrees."""
    if isinstance(value, tuple | list):
        return [math.degrees(part) for part in value]
    if isinstance(value, float):
        return math.degrees(value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    return value


def _size(name: str, block: Any) -> int:
    """Return about how many structs a data-block of a list has."""
    if name == "objects":
        return 1 + len(block.modifiers) + len(block.constraints)
    if name == "scenes":
        return 1 + len(_OF_SCENE) + len(block.view_layers)
    tree = tree_of(block)
    if tree:
        return 1 + len(tree.nodes)
    return 1


def _read_block(name: str, block: Any, *, has_parts: bool) -> BlockValues:
    """Read a data-block and its parts, with what `part_values` reads or without."""
    values = {"": _read(block, tuple(_more_of(name, block)))}
    for path, part in _parts(name, block):
        values[path] = _read(part)
    if has_parts and name in _WITH_PARTS:
        for found in part_values(name, block):
            values[found.path] = _read(found.struct, found.more)
    if name in _REPORTED:
        return values
    tree = tree_of(block)
    if tree:
        for node in tree.nodes:
            values[f"/{name_of(node)}"] = _read(node, tuple(_inputs(node)))
    return values


def _parts(name: str, block: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a data-block that have properties of their own, with their paths."""
    if name == "objects":
        for kind in ("modifiers", "constraints"):
            for part in getattr(block, kind):
                yield f'{kind}["{name_of(part)}"].', part
    elif name == "scenes":
        for part_name in _OF_SCENE:
            part = getattr(block, part_name, None)
            if part is not None:
                yield f"{part_name}.", part
        for layer in block.view_layers:
            yield f'view_layers["{name_of(layer)}"].', layer


def _more_of(name: str, block: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a data-block has beside its properties: custom ones, counts of its content."""
    for key, value in custom_values(block).items():
        if isinstance(value, dict):  # the settings of an add-on
            for inner, inner_value in value.items():
                yield f"{key}.{inner}", repr(inner_value)
        else:
            yield f'["{key}"]', value
    if name not in _REPORTED:
        tree = tree_of(block)
        if tree:
            yield "links", len(tree.links)
    counts = _COUNTS.get(name)
    if counts is not None:
        yield from counts(block)


def _of_scene(scene: Any) -> Iterator[tuple[str, Any]]:
    yield "markers", len(scene.timeline_markers)
    yield from _of_collection(scene.collection)
    for layer in scene.view_layers:
        for inner in islice(_layers(layer.layer_collection), _MAX_LAYERS):
            path = f'view_layers["{name_of(layer)}"].{name_of(inner)}'
            yield path, [flag for flag in _LAYER if getattr(inner, flag)]


def _layers(layer_collection: Any) -> Iterator[Any]:
    for child in layer_collection.children:
        yield child
        yield from _layers(child)


def _of_object(thing: Any) -> Iterator[tuple[str, Any]]:
    yield "materials", [_name(slot.material) for slot in thing.material_slots]


def _of_collection(collection: Any) -> Iterator[tuple[str, Any]]:
    yield "objects", len(collection.objects)
    yield "children", len(collection.children)


def _of_mesh(mesh: Any) -> Iterator[tuple[str, Any]]:
    yield "vertices", len(mesh.vertices)
    yield "faces", len(mesh.polygons)


def _of_curve(curve: Any) -> Iterator[tuple[str, Any]]:
    yield "splines", len(curve.splines)


def _of_action(action: Any) -> Iterator[tuple[str, Any]]:
    keys = 0
    for curves in curve_lists_of(action):
        keys += sum(len(curve.keyframe_points) for curve in curves)
    yield "keys", keys


def _of_text(text: Any) -> Iterator[tuple[str, Any]]:
    yield "characters", len(body_of(text))


_COUNTS: Final[dict[str, Callable[[Any], Iterator[tuple[str, Any]]]]] = {
    "scenes": _of_scene,
    "objects": _of_object,
    "collections": _of_collection,
    "meshes": _of_mesh,
    "curves": _of_curve,
    "actions": _of_action,
    "texts": _of_text,
}


def _inputs(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values of a node's inputs."""
    for socket in node.inputs:
        try:
            value = getattr(socket, "default_value", None)
        except UnicodeDecodeError:
            value = UNREADABLE_TEXT
        if value is None:
            continue
        if isinstance(value, bpy.types.ID):
            value = _name(value)
        elif not isinstance(value, bool | int | float | str):
            value = tuple(value)
        yield name_of(socket), value


def _name(block: Any) -> str | None:
    if block is None:
        return None
    return name_of(block)


# ---- the properties of a struct


def _read(struct: Any, more: tuple[tuple[str, Any], ...] = ()) -> tuple[Any, ...]:
    """Return the type of a struct, its values, and more that it has; of None only that."""
    if struct is None:
        return None, (), (), (), more
    kind: Any = type(struct)
    reader = _reader(kind)
    singles: tuple[Any, ...] = ()
    if reader.get is not None:
        try:
            singles = reader.get(struct)[:-1]
        except (UnicodeDecodeError, AttributeError):
            singles = tuple(_single(struct, name) for name in reader.names)
    arrays = tuple([_array(struct, name) for name in reader.arrays])
    blocks = tuple([_block_name(struct, name) for name in reader.blocks])
    return kind, singles, arrays, blocks, more


def _array(struct: Any, name: str) -> tuple[Any, ...]:
    try:
        return tuple(getattr(struct, name))
    except (UnicodeDecodeError, AttributeError):  # an add-on has taken its property with it
        return ()


def _block_name(struct: Any, name: str) -> str | None:
    block = _single(struct, name)
    if isinstance(block, str):  # it is unreadable
        return block
    return _name(block)


def _single(struct: Any, name: str) -> Any:
    try:
        return getattr(struct, name)
    except (UnicodeDecodeError, AttributeError):
        return UNREADABLE_TEXT


@cache
def _reader(kind: Any) -> _Reader:
    """Return how the properties of a type are read."""
    names: dict[str, list[str]] = {"single": [], "array": [], "block": [], "": []}
    angles = []
    for rna in kind.bl_rna.properties:
        form = _form(rna)
        names[form].append(rna.identifier)
        if form in ("single", "array") and rna.unit == "ROTATION":
            angles.append(rna.identifier)
    get = None
    if names["single"]:
        get = attrgetter(*names["single"], "bl_rna")  # two at least, so that it returns a tuple
    return _Reader(
        tuple(names["single"]),
        get,
        tuple(names["array"]),
        tuple(names["block"]),
        frozenset(angles),
    )


def _form(rna: Any) -> str:
    """Return how a property is read: "single", "array", "block", or "" for not at all."""
    name = rna.identifier
    if rna.is_readonly or name in _NOT_READ or name.startswith(_NOT_READ_FROM):
        return ""
    if rna.type == "POINTER":
        if "use_fake_user" in rna.fixed_type.properties:
            return "block"
        return ""
    is_dynamic = rna.type == "ENUM" and not rna.enum_items_static
    if rna.type not in _PLAIN or is_dynamic:
        return ""
    if not getattr(rna, "is_array", False):
        return "single"
    has_rows = rna.array_dimensions[1] != 0
    if has_rows:
        return ""
    return "array"
