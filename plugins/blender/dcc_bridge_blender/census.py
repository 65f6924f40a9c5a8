"""A hash of the file, to find changes that Blender does not report. Main thread.

`undo` compares the hash before and after a skill; `changes` compares the parts of each data-block.
Blender reports most changes through its handlers. It reports no changes of names, custom
properties, texts and markers, no new data outside of all scenes, and few additions and removals
within data: none of animation, drivers, vertex groups, splines and points of a ramp.

Source of the facts: some 140 kinds of edits, each tried in an undo step of its own, in Debian's
Blender 3.4.1 and the wheels of bpy 4.5.15 and 5.2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import attrgetter, methodcaller
from typing import Any, Final

import bpy

from .action_curves import curve_lists_of
from .block_lists import places
from .names import body_of, custom_keys, custom_keys_of, custom_value, name_of, names_of
from .objects import data, identity, item_of, lists

_SKIPPED: Final = {"window_managers", "screens", "workspaces", "all_ids"}
"""Lists of windows, and since 5.x a list of all data-blocks."""
_MAX_COMPARED: Final = 50_000  # data-blocks of a file in which more than names are compared
_MAX_READ: Final = 2_000  # data-blocks whose custom properties are compared after a read
_MAX_INNER: Final = 10_000  # nodes, bones and F-curves of a file, if they are compared
_LENGTHS: Final[dict[str, tuple[str, ...]]] = {
    "objects": ("vertex_groups",),
    "meshes": ("vertices", "edges", "polygons", "uv_layers", "attributes"),
    "metaballs": ("elements",),
    "curves": ("splines",),
    "actions": ("groups", "slots"),
    "scenes": ("keying_sets",),
    "palettes": ("colors",),
}
"""By the list of data-blocks, the properties whose elements are counted in each data-block."""
_RAMP_NODES: Final = {"VALTORGB"}  # types of nodes with a ramp of colors
_CURVE_NODES: Final = {
    "CURVE_RGB",
    "CURVE_VEC",
    "CURVE_FLOAT",
    "HUECORRECT",
}  # types of nodes with curves
_HAS_ADDON_GROUPS: Final = bpy.app.version >= (5, 0)
_GET_ADDON_GROUP: Final = (
    "bl_system_properties_get"  # returns the properties of add-ons, as a group
)


def census(*, read: bool = False) -> int:
    """Return a hash of what Blender does not report.

    Args:
        read: Whether the hash is for a skill that only reads. Then names, custom properties and
            texts are compared, and images are left out, since a render adds an image.
    """
    skipped = {*_SKIPPED, "images"} if read else _SKIPPED
    collections = {name: data(name) for name in lists().values() if name not in skipped}
    names = tuple(tuple(names_of(blocks)) for blocks in collections.values())
    count = sum(map(len, names))
    parts: list[object] = []
    if read and count <= _MAX_READ:
        for blocks in collections.values():
            parts += [_custom(block) for block in blocks]
    if not read and count <= _MAX_COMPARED:
        inner = has_few_inner()
        for name, blocks in collections.items():
            parts += _all_parts(name, list(blocks), inner=inner)
    texts = [body_of(text) for text in bpy.data.texts]
    return hash((names, repr(parts), repr(texts)))


def has_few_inner() -> bool:
    """Return whether the nodes, bones and F-curves are few enough to be compared.

    The bones are counted by armature, times its users: there are far fewer armatures than objects.
    """
    count = sum(len(armature.bones) * armature.users for armature in bpy.data.armatures)
    for action in bpy.data.actions:
        count += sum(map(len, curve_lists_of(action)))
    count += sum(len(group.nodes) for group in bpy.data.node_groups)
    for name in lists().values():
        if count > _MAX_INNER:
            return False
        if name in _SKIPPED or not _has_property(name, "node_tree"):
            continue
        for block in data(name):
            if block.node_tree is not None:
                count += len(block.node_tree.nodes)
    return count <= _MAX_INNER


def parts_by_id(*, inner: bool) -> dict[int, tuple[str, str]]:
    """Return by `identity` the item of each data-block, and the parts to compare as a text.

    Args:
        inner: Whether nodes, bones and F-curves are compared, see `has_few_inner`.
    """
    items_and_parts: dict[int, tuple[str, str]] = {}
    for name in lists().values():
        if name in _SKIPPED:
            continue
        for block in data(name):
            parts = list(_parts(name, block, inner=inner))
            items_and_parts[identity(block)] = (item_of(block), repr(parts))
    return items_and_parts


def _all_parts(name: str, blocks: list[Any], *, inner: bool) -> Iterator[object]:
    """Yield what `_parts` yields for the data-blocks of a whole list.

    Only data-blocks that have any parts are read: of 10,000 objects without parts this takes 8 ms,
    and `_parts` of each takes 22 ms.
    """
    for prop in _counted_properties(name):
        yield list(map(len, map(attrgetter(prop), blocks)))
    if name != "objects":
        yield places(map(attrgetter("use_fake_user"), blocks))
    if not blocks:
        return
    for at in _places_with_parts(name, blocks, inner=inner):
        yield from _parts_without_lengths(name, blocks[at], inner=inner)


def _places_with_parts(name: str, blocks: list[Any], *, inner: bool) -> Iterable[int]:
    """Return the places, which are indexes, of the data-blocks that may have parts to compare."""
    is_read = name in _PARTS_BY_LIST or (inner and name in _INNER_PARTS_BY_LIST)
    if is_read and name != "objects":
        return range(len(blocks))
    having_parts = set(places(custom_keys_of(blocks)))
    having_parts.update(places(map(attrgetter("asset_data"), blocks)))
    if _HAS_ADDON_GROUPS and hasattr(blocks[0], _GET_ADDON_GROUP):
        having_parts.update(places(map(methodcaller(_GET_ADDON_GROUP), blocks)))
    props = [prop for prop in ("animation_data", "node_tree") if _has_property(name, prop)]
    if name == "objects":
        props += ["modifiers", "pose"]
    for prop in props:
        having_parts.update(places(map(attrgetter(prop), blocks)))
    return sorted(having_parts)


def _parts(name: str, block: Any, *, inner: bool) -> Iterator[object]:
    """Yield the parts of a data-block to compare, beside its name; most data-blocks have none."""
    for prop in _counted_properties(name):
        yield len(getattr(block, prop))
    if name != "objects":
        yield block.use_fake_user
    yield from _parts_without_lengths(name, block, inner=inner)


def _parts_without_lengths(name: str, block: Any, *, inner: bool) -> Iterator[object]:
    """Yield the parts of a data-block that are not counted by `_LENGTHS`."""
    yield from _custom(block)
    if _has_property(name, "animation_data") and block.animation_data is not None:
        yield _counts_of_animation(block.animation_data)
    if block.asset_data is not None:
        yield "asset"
    if name in _PARTS_BY_LIST:
        yield from _PARTS_BY_LIST[name](block)
    if inner and name in _INNER_PARTS_BY_LIST:
        yield from _INNER_PARTS_BY_LIST[name](block)
    if _has_property(name, "node_tree") and block.node_tree is not None:
        yield from _parts_of_tree(block.node_tree, inner=inner)


@cache
def _properties(name: str) -> Any:
    """Return the definitions of the properties that the data-blocks of a list have."""
    rna: Any = bpy.types.BlendData.bl_rna
    return rna.properties[name].fixed_type.properties


@cache
def _counted_properties(name: str) -> list[str]:
    """Return the properties in `_LENGTHS` that the data-blocks of a list have in this Blender."""
    return [prop for prop in _LENGTHS.get(name, ()) if prop in _properties(name)]


@cache
def _has_property(name: str, prop: str) -> bool:
    return prop in _properties(name)


def _counts_of_animation(animation: Any) -> object:
    variables = [len(curve.driver.variables) for curve in animation.drivers]
    strips = [len(track.strips) for track in animation.nla_tracks]
    return variables, strips


def _parts_of_object(thing: Any) -> list[object]:
    parts: list[object] = []
    for modifier in thing.modifiers:
        if modifier.type == "NODES":  # the inputs of its group are custom properties
            parts += _custom(modifier)
    if thing.pose is not None:
        parts.append(len(getattr(thing.pose, "bone_groups", ())))  # until 3.6
    return parts


def _parts_of_bones(bones: Iterable[Any]) -> list[object]:
    parts: list[object] = []
    for bone in bones:
        parts += _custom(bone)
    return parts


def _parts_of_armature(armature: Any) -> list[object]:
    return _parts_of_bones(armature.bones)


def _parts_of_pose(thing: Any) -> list[object]:
    if thing.pose is None:
        return []
    return _parts_of_bones(thing.pose.bones)


def _parts_of_action(action: Any) -> list[object]:
    parts: list[object] = []
    for curves in curve_lists_of(action):
        parts.append([len(curve.modifiers) for curve in curves])
    return parts


def _parts_of_scene(scene: Any) -> list[object]:
    parts: list[object] = [scene.sequence_editor is not None, *_custom(scene.collection)]
    for marker in scene.timeline_markers:
        camera = name_of(marker.camera) if marker.camera is not None else None
        parts.append((name_of(marker), marker.frame, camera))
    for layer in scene.view_layers:
        parts += [*_custom(layer), len(layer.aovs)]
    return parts


def _parts_of_annotation(block: Any) -> list[object]:
    frames = [len(layer.frames) for layer in block.layers]
    return [frames]


def _parts_of_tree(tree: Any, *, inner: bool) -> list[object]:
    parts: list[object] = _custom(tree)
    if tree.animation_data is not None:
        parts.append(_counts_of_animation(tree.animation_data))
    if inner:
        parts += _parts_of_nodes(tree)
    return parts


def _parts_of_nodes(tree: Any) -> list[object]:
    parts: list[object] = []
    for node in tree.nodes:
        parts += _custom(node)
        kind = node.type
        if kind in _RAMP_NODES:
            parts.append(len(node.color_ramp.elements))
        elif kind in _CURVE_NODES:
            parts.append([len(curve.points) for curve in node.mapping.curves])
    return parts


_PARTS_BY_LIST: Final[dict[str, Callable[[Any], list[object]]]] = {
    "objects": _parts_of_object,
    "scenes": _parts_of_scene,
    "grease_pencils": _parts_of_annotation,
    "annotations": _parts_of_annotation,
}
_INNER_PARTS_BY_LIST: Final[dict[str, Callable[[Any], list[object]]]] = {
    "objects": _parts_of_pose,
    "armatures": _parts_of_armature,
    "actions": _parts_of_action,
    "node_groups": _parts_of_nodes,
}


def _custom(owner: Any) -> list[object]:
    """Return the custom properties of a data-block, or of a part, to be compared."""
    return [(key, repr(value)) for key, value in custom_values(owner).items()]


def custom_values(owner: Any) -> dict[str, Any]:
    """Return the custom properties of a data-block, or of a part, without empty ones of add-ons.

    Blender creates the properties of an add-on, such as `Object.cycles`, as empty groups when they
    are read: among the custom properties until 4.5, in a group of their own since 5.0.
    """
    values: dict[str, Any] = {}
    keys = custom_keys(owner)
    of_addons = owner.bl_rna.properties if keys else ()
    for key in keys:
        value = custom_value(owner, key)
        if key in of_addons:
            value = _without_empty_groups(value)
            if value == {}:
                continue
        values[key] = value
    # Blender 5.0 or newer: to ask a struct for what it does not have is slow.
    get_group = getattr(owner, _GET_ADDON_GROUP, None) if _HAS_ADDON_GROUPS else None
    group = get_group() if get_group is not None else None
    if group is not None:
        for key in custom_keys(group):
            value = _without_empty_groups(custom_value(group, key))
            if value != {}:
                values[key] = value
    return values


def _without_empty_groups(value: Any) -> Any:
    """Return a group of properties without the groups in it that are empty."""
    if not isinstance(value, dict):
        return value
    filled = {}
    for key, part in value.items():
        part_filled = _without_empty_groups(part)
        if part_filled != {}:
            filled[key] = part_filled
    return filled
