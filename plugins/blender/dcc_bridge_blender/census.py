"""A digest of what Blender does not report when it changes. Main thread.

Blender evaluates what was changed, and calls its handlers. It does neither for names, new data that
is in no scene, custom properties, texts and markers, nor for much that is added to data or removed:
animation, drivers, vertex groups, splines, points of a ramp.

Source of the facts: some 140 kinds of edits, each tried in an undo step of its own, in Debian's
Blender 3.4.1 and the wheels of bpy 4.5.15 and 5.2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import attrgetter, methodcaller
from typing import Any, Final

import bpy

from .block_lists import places
from .names import body_of, custom_keys, custom_keys_of, custom_value, name_of, names_of
from .objects import data, identity, item_of, lists
from .parts_animation import curve_lists_of

_SKIPPED: Final = {"window_managers", "screens", "workspaces", "all_ids"}
"""Lists of windows, and since 5.x a list of all data-blocks."""
_MAX_COMPARED: Final = 50_000  # data-blocks of a file in which more than names are compared
_MAX_READ: Final = 2_000  # data-blocks whose custom properties are compared after a read
_MAX_INNER: Final = 10_000  # nodes, bones and curves of keys of a file in which they are compared
_LENGTHS: Final[dict[str, tuple[str, ...]]] = {
    "objects": ("vertex_groups",),
    "meshes": ("vertices", "edges", "polygons", "uv_layers", "attributes"),
    "metaballs": ("elements",),
    "curves": ("splines",),
    "actions": ("groups",),
    "scenes": ("keying_sets",),
    "palettes": ("colors",),
}
"""By the list of data-blocks, what is counted in each: Blender does not report these."""
_RAMPS: Final = {"VALTORGB"}  # types of nodes with a ramp of colors
_CURVES: Final = {"CURVE_RGB", "CURVE_VEC", "CURVE_FLOAT", "HUECORRECT"}  # types with curves
_HAS_GROUPS: Final = bpy.app.version >= (5, 0)  # some structs have a group for add-ons
_GROUPS: Final = "bl_system_properties_get"  # the method that returns that group


def census(*, read: bool = False) -> int:
    """Return a hash of what Blender does not report.

    Args:
        read: Whether the hash is for a body that only reads: of names, custom properties and texts,
            without images, as a render leaves an image.
    """
    skipped = {*_SKIPPED, "images"} if read else _SKIPPED
    collections = {name: data(name) for name in lists().values() if name not in skipped}
    names = tuple(tuple(names_of(blocks)) for blocks in collections.values())
    count = sum(map(len, names))
    rest: list[object] = []
    if read and count <= _MAX_READ:
        for blocks in collections.values():
            rest += [_custom(block) for block in blocks]
    if not read and count <= _MAX_COMPARED:
        inner = has_few_inner()
        for name, blocks in collections.items():
            rest += _all_parts(name, list(blocks), inner=inner)
    texts = [body_of(text) for text in bpy.data.texts]
    return hash((names, repr(rest), repr(texts)))


def has_few_inner() -> bool:
    """Return whether there are so few nodes, bones and curves of keys that they are compared.

    The bones are counted in the armatures, once for each user: there are many more objects.
    """
    count = sum(len(armature.bones) * armature.users for armature in bpy.data.armatures)
    for action in bpy.data.actions:
        count += sum(map(len, curve_lists_of(action)))
    count += sum(len(group.nodes) for group in bpy.data.node_groups)
    for name in lists().values():
        if count > _MAX_INNER:
            return False
        if name in _SKIPPED or not _has(name, "node_tree"):
            continue
        for block in data(name):
            if block.node_tree is not None:
                count += len(block.node_tree.nodes)
    return count <= _MAX_INNER


def parts_by_id(*, inner: bool) -> dict[int, tuple[str, str]]:
    """Return the item of each data-block and what is compared of it beside its name.

    Args:
        inner: Whether nodes, bones and curves of keys are compared, see `has_few_inner`.

    Returns:
        These by the identity of the data-block.
    """
    found: dict[int, tuple[str, str]] = {}
    for name in lists().values():
        if name in _SKIPPED:
            continue
        for block in data(name):
            parts = list(_parts(name, block, inner=inner))
            found[identity(block)] = (item_of(block), repr(parts))
    return found


def _all_parts(name: str, blocks: list[Any], *, inner: bool) -> Iterator[object]:
    """Yield what `_parts` yields for the data-blocks of a whole list.

    Only data-blocks that have any parts are read: for 10,000 objects without any that takes 8 ms in
    place of 22.
    """
    for prop in _lengths(name):
        yield list(map(len, map(attrgetter(prop), blocks)))
    if name != "objects":
        yield places(map(attrgetter("use_fake_user"), blocks))
    if not blocks:
        return
    for at in _having(name, blocks, inner=inner):
        yield from _beside_lengths(name, blocks[at], inner=inner)


def _having(name: str, blocks: list[Any], *, inner: bool) -> Iterable[int]:
    """Return the places of the data-blocks that may have something to compare."""
    is_read = name in _OF_KIND or (inner and name in _OF_INNER)
    if is_read and name != "objects":
        return range(len(blocks))
    found = set(places(custom_keys_of(blocks)))
    found.update(places(map(attrgetter("asset_data"), blocks)))
    if _HAS_GROUPS and hasattr(blocks[0], _GROUPS):
        found.update(places(map(methodcaller(_GROUPS), blocks)))
    props = [prop for prop in ("animation_data", "node_tree") if _has(name, prop)]
    if name == "objects":
        props += ["modifiers", "pose"]
    for prop in props:
        found.update(places(map(attrgetter(prop), blocks)))
    return sorted(found)


def _parts(name: str, block: Any, *, inner: bool) -> Iterator[object]:
    """Yield what is compared of a data-block beside its name: of most data-blocks nothing."""
    for prop in _lengths(name):
        yield len(getattr(block, prop))
    if name != "objects":
        yield block.use_fake_user
    yield from _beside_lengths(name, block, inner=inner)


def _beside_lengths(name: str, block: Any, *, inner: bool) -> Iterator[object]:
    """Yield the parts of a data-block that are not counted by `_LENGTHS`."""
    yield from _custom(block)
    if _has(name, "animation_data") and block.animation_data is not None:
        yield _animation(block.animation_data)
    if block.asset_data is not None:
        yield "asset"
    if name in _OF_KIND:
        yield from _OF_KIND[name](block)
    if inner and name in _OF_INNER:
        yield from _OF_INNER[name](block)
    if _has(name, "node_tree") and block.node_tree is not None:
        yield from _of_tree(block.node_tree, inner=inner)


@cache
def _properties(name: str) -> Any:
    """Return the definitions of the properties that the data-blocks of a list have."""
    rna: Any = bpy.types.BlendData.bl_rna
    return rna.properties[name].fixed_type.properties


@cache
def _lengths(name: str) -> list[str]:
    """Return what is counted in the data-blocks of a list, and exists in this Blender."""
    return [prop for prop in _LENGTHS.get(name, ()) if prop in _properties(name)]


@cache
def _has(name: str, prop: str) -> bool:
    return prop in _properties(name)


def _animation(animation: Any) -> object:
    variables = [len(curve.driver.variables) for curve in animation.drivers]
    strips = [len(track.strips) for track in animation.nla_tracks]
    return variables, strips


def _of_object(thing: Any) -> list[object]:
    parts: list[object] = []
    for modifier in thing.modifiers:
        if modifier.type == "NODES":  # the inputs of its group are custom properties
            parts += _custom(modifier)
    if thing.pose is not None:
        parts.append(len(getattr(thing.pose, "bone_groups", ())))  # until 3.6
    return parts


def _of_bones(bones: Iterable[Any]) -> list[object]:
    parts: list[object] = []
    for bone in bones:
        parts += _custom(bone)
    return parts


def _of_armature(armature: Any) -> list[object]:
    return _of_bones(armature.bones)


def _of_pose(thing: Any) -> list[object]:
    if thing.pose is None:
        return []
    return _of_bones(thing.pose.bones)


def _of_action(action: Any) -> list[object]:
    parts: list[object] = []
    for curves in curve_lists_of(action):
        parts.append([len(curve.modifiers) for curve in curves])
    return parts


def _of_scene(scene: Any) -> list[object]:
    parts: list[object] = [scene.sequence_editor is not None, *_custom(scene.collection)]
    for marker in scene.timeline_markers:
        camera = name_of(marker.camera) if marker.camera is not None else None
        parts.append((name_of(marker), marker.frame, camera))
    for layer in scene.view_layers:
        parts += [*_custom(layer), len(layer.aovs)]
    return parts


def _of_annotation(block: Any) -> list[object]:
    frames = [len(layer.frames) for layer in block.layers]
    return [frames]


def _of_tree(tree: Any, *, inner: bool) -> list[object]:
    parts: list[object] = _custom(tree)
    if tree.animation_data is not None:
        parts.append(_animation(tree.animation_data))
    if inner:
        parts += _of_nodes(tree)
    return parts


def _of_nodes(tree: Any) -> list[object]:
    parts: list[object] = []
    for node in tree.nodes:
        parts += _custom(node)
        kind = node.type
        if kind in _RAMPS:
            parts.append(len(node.color_ramp.elements))
        elif kind in _CURVES:
            parts.append([len(curve.points) for curve in node.mapping.curves])
    return parts


_OF_KIND: Final[dict[str, Callable[[Any], list[object]]]] = {
    "objects": _of_object,
    "scenes": _of_scene,
    "grease_pencils": _of_annotation,
    "annotations": _of_annotation,
}
_OF_INNER: Final[dict[str, Callable[[Any], list[object]]]] = {
    "objects": _of_pose,
    "armatures": _of_armature,
    "actions": _of_action,
    "node_groups": _of_nodes,
}


def _custom(owner: Any) -> list[object]:
    """Return the custom properties of a data-block, or of a part, that somebody has set.

    Blender creates the properties of an add-on, such as `Object.cycles`, as empty groups when they
    are read: among the custom properties up to 4.5, in a group of their own since then.
    """
    parts: list[object] = []
    keys = custom_keys(owner)
    of_addons = owner.bl_rna.properties if keys else ()
    for key in keys:
        value = custom_value(owner, key)
        if key in of_addons:
            value = _filled(value)
            if value == {}:
                continue
        parts.append((key, repr(value)))
    # Blender 5.0 or newer: to ask a struct for what it does not have is slow.
    get_group = getattr(owner, _GROUPS, None) if _HAS_GROUPS else None
    group = get_group() if get_group is not None else None
    if group is not None:
        for key in custom_keys(group):
            value = _filled(custom_value(group, key))
            if value != {}:
                parts.append((key, repr(value)))
    return parts


def _filled(value: Any) -> Any:
    """Return a group of properties without the groups in it that are empty."""
    if not isinstance(value, dict):
        return value
    filled = {}
    for key, part in value.items():
        part_filled = _filled(part)
        if part_filled != {}:
            filled[key] = part_filled
    return filled
