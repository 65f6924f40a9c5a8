"""What Blender does not tell of when it changes, as one number. Main thread.

Blender evaluates what was changed, and calls its handlers. It does not for names, new data that is
in no scene, custom properties, texts, markers, and for much that is added to data or taken away:
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

_WINDOWS: Final = {"window_managers", "screens", "workspaces", "all_ids"}  # 5.x: all of them
_MOST_COMPARED: Final = 50_000  # data-blocks of which more than the name is compared
_MOST_READ: Final = 2_000  # the same after a read, of custom properties alone
_MOST_INNER: Final = 10_000  # nodes, bones and curves of keys up to which they are compared
_LENGTHS: Final[dict[str, tuple[str, ...]]] = {
    "objects": ("vertex_groups",),
    "meshes": ("vertices", "edges", "polygons", "uv_layers", "attributes"),
    "curves": ("splines",),
    "actions": ("groups",),
    "scenes": ("keying_sets",),
    "palettes": ("colors",),
}
"""By the list of data-blocks, what is counted in each: Blender does not tell of these."""
_RAMPS: Final = {"VALTORGB"}
_HAS_GROUPS: Final = bpy.app.version >= (5, 0)  # of what add-ons keep, in some structs
_GROUPS: Final = "bl_system_properties_get"
_CURVES: Final = {"CURVE_RGB", "CURVE_VEC", "CURVE_FLOAT", "HUECORRECT"}


def census(*, read: bool = False) -> int:
    """Digest what Blender does not tell of; after a read names, custom properties and texts alone.

    After a read not the images either: a render leaves one.
    """
    passed = {*_WINDOWS, "images"} if read else _WINDOWS
    collections = {name: data(name) for name in lists().values() if name not in passed}
    names = tuple(tuple(names_of(blocks)) for blocks in collections.values())
    count = sum(map(len, names))
    rest: list[object] = []
    if read and count <= _MOST_READ:
        rest += [_custom(block) for blocks in collections.values() for block in blocks]
    if not read and count <= _MOST_COMPARED:
        inner = has_few_inner()
        for name, blocks in collections.items():
            rest += _all_parts(name, [*blocks], inner=inner)
    texts = [body_of(text) for text in bpy.data.texts]
    return hash((names, repr(rest), repr(texts)))


def has_few_inner() -> bool:
    """Return whether there are so few nodes, bones and curves of keys that they are compared.

    The bones are counted in the armatures, once for each user: there are many more objects.
    """
    count = sum(len(armature.bones) * armature.users for armature in bpy.data.armatures)
    count += sum(len(curves) for action in bpy.data.actions for curves in _curves(action))
    count += sum(len(group.nodes) for group in bpy.data.node_groups)
    for name in lists().values():
        if count > _MOST_INNER:
            return False
        if name not in _WINDOWS and _has(name, "node_tree"):
            trees = [block.node_tree for block in data(name)]
            count += sum(len(tree.nodes) for tree in trees if tree is not None)
    return count <= _MOST_INNER


def parts_by_id(*, inner: bool) -> dict[int, tuple[str, str]]:
    """Return of each data-block its item and what is compared of it beside its name.

    Args:
        inner: Whether its nodes, bones and curves of keys are compared, as `has_few_inner` says.
    """
    found: dict[int, tuple[str, str]] = {}
    for name in lists().values():
        for block in data(name) if name not in _WINDOWS else ():
            parts = [*_parts(name, block, inner=inner)]
            found[identity(block)] = item_of(block), repr(parts)
    return found


def _all_parts(name: str, blocks: list[Any], *, inner: bool) -> Iterator[object]:
    """Yield the same of a whole list as `_parts` of each, from those alone that have any.

    Of 10,000 objects with nothing of it that takes 8 ms in place of 22.
    """
    for each in _lengths(name):
        yield [*map(len, map(attrgetter(each), blocks))]
    for at in _having(name, blocks, inner=inner) if blocks else ():
        yield from _beside_lengths(name, blocks[at], inner=inner)


def _having(name: str, blocks: list[Any], *, inner: bool) -> Iterable[int]:
    """Return the places of the data-blocks that may have something to compare."""
    if name in _OF_KIND and name != "objects":
        return range(len(blocks))
    if inner and name in _OF_INNER and name != "objects":
        return range(len(blocks))
    found = {*places(custom_keys_of(blocks)), *places(map(attrgetter("asset_data"), blocks))}
    if _HAS_GROUPS and hasattr(blocks[0], _GROUPS):
        found.update(places(map(methodcaller(_GROUPS), blocks)))
    props = [prop for prop in ("animation_data", "node_tree") if _has(name, prop)]
    if name == "objects":
        props += ["modifiers", "pose"]
    for prop in props:
        found.update(places(map(attrgetter(prop), blocks)))
    return sorted(found)


def _parts(name: str, block: Any, *, inner: bool) -> Iterator[object]:
    """Yield what is compared of a data-block beside its name: of most nothing."""
    for each in _lengths(name):
        yield len(getattr(block, each))
    yield from _beside_lengths(name, block, inner=inner)


def _beside_lengths(name: str, block: Any, *, inner: bool) -> Iterator[object]:
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
    """Return the properties of the type of data-block that is in a list."""
    rna: Any = bpy.types.BlendData.bl_rna
    return rna.properties[name].fixed_type.properties


@cache
def _lengths(name: str) -> list[str]:
    """Return the lists to be counted, of those that this Blender has."""
    return [each for each in _LENGTHS.get(name, ()) if each in _properties(name)]


@cache
def _has(name: str, prop: str) -> bool:
    return prop in _properties(name)


def _animation(animation: Any) -> object:
    drivers = [len(curve.driver.variables) for curve in animation.drivers]
    return drivers, [len(track.strips) for track in animation.nla_tracks]


def _of_object(thing: Any) -> list[object]:
    parts: list[object] = []
    for modifier in thing.modifiers:
        if modifier.type == "NODES":  # the inputs of its group are custom properties
            parts += _custom(modifier)
    if thing.pose is not None:
        parts.append(len(getattr(thing.pose, "bone_groups", ())))  # until 3.6
    return parts


def _of_bones(bones: Iterable[Any]) -> list[object]:
    return [part for bone in bones for part in _custom(bone)]


def _of_armature(armature: Any) -> list[object]:
    return _of_bones(armature.bones)


def _of_pose(thing: Any) -> list[object]:
    return _of_bones(thing.pose.bones) if thing.pose is not None else []


def _of_action(action: Any) -> list[object]:
    return [[len(curve.modifiers) for curve in curves] for curves in _curves(action)]


def _curves(action: Any) -> list[Any]:
    """Return the lists of curves of keys that an action has."""
    layers = getattr(action, "layers", ())  # since 4.4
    bags = [bag for layer in layers for strip in layer.strips for bag in strip.channelbags]
    return [getattr(bag, "fcurves", ()) for bag in bags or [action]]


def _of_scene(scene: Any) -> list[object]:
    parts: list[object] = [scene.sequence_editor is not None]
    for marker in scene.timeline_markers:
        camera = name_of(marker.camera) if marker.camera is not None else None
        parts.append((name_of(marker), marker.frame, camera))
    for layer in scene.view_layers:
        parts += [*_custom(layer), len(layer.aovs)]
    return parts


def _of_annotation(block: Any) -> list[object]:
    return [[len(layer.frames) for layer in block.layers]]


def _of_tree(tree: Any, *, inner: bool) -> list[object]:
    parts: list[object] = []
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
    """Return the custom properties of a data-block or a part of one that somebody has set.

    What an add-on keeps beside it, such as `Object.cycles`, Blender makes empty as it is read. Up
    to 4.5 that is one of the custom properties.
    """
    parts: list[object] = []
    keys = custom_keys(owner)
    of_addons = owner.bl_rna.properties if keys else ()
    for key in keys:
        value = custom_value(owner, key)
        if key in of_addons:
            value = _filled(value)
        if key not in of_addons or value != {}:
            parts.append((key, repr(value)))
    # To ask a struct for what it does not have is slow.
    get_group = getattr(owner, _GROUPS, None) if _HAS_GROUPS else None
    group = get_group() if get_group is not None else None
    for key in custom_keys(group) if group is not None else ():
        if (value := _filled(custom_value(group, key))) != {}:
            parts.append((key, repr(value)))
    return parts


def _filled(value: Any) -> Any:
    """Return a group of properties without the groups in it in which nothing is set."""
    if not isinstance(value, dict):
        return value
    filled = {key: _filled(part) for key, part in value.items()}
    return {key: part for key, part in filled.items() if part != {}}
