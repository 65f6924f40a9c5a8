"""Custom properties that an edit can remove, of data-blocks and of their parts. Main thread.

A custom property is lost if its name is missing, also inside of another property, or if its text,
list or group is empty now. Another value is no loss.

The table `CUSTOM_ASPECTS` at the end of this module has an aspect (see `aspects`) for data-blocks,
and one for each kind of part that can have custom properties, such as bones and nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import bpy

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    NodeWords,
    all_places,
    every_list,
    lists_named,
    lists_with_property,
    places_with,
    read_each,
    read_each_within,
)
from .block_lists import BlockList, places
from .names import custom_keys, custom_keys_of, custom_value, name_of

_INPUTS: Final = ("Input_", "Output_", "Socket_")  # what Blender itself keeps in a modifier
Custom = Mapping[tuple[str, ...], bool]
"""Whether each custom property has content, by the names from the outermost group to itself."""


def custom_of(owner: Any, keys: Iterable[str] | None = None) -> Custom:
    """Return the custom properties of a data-block or part, without those that add-ons declare.

    Args:
        owner: The data-block or part.
        keys: Their names, where these are known.
    """
    if keys is None:
        keys = custom_keys(owner)
        if not keys:
            return {}
        declared = owner.bl_rna.properties
        keys = [key for key in keys if key not in declared]
    properties: dict[tuple[str, ...], bool] = {}
    for key in keys:
        _add_property(properties, (key,), custom_value(owner, key))
    return properties


def _add_property(
    properties: dict[tuple[str, ...], bool], path: tuple[str, ...], value: Any
) -> None:
    """Add a custom property, and the properties in it."""
    is_container = isinstance(value, (str, dict, list))
    properties[path] = not is_container or bool(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            _add_property(properties, (*path, key), inner)


def _describe_lost_custom(before: Custom, now: Custom, _: Any = None) -> list[str]:
    """Return the words for custom properties that are missing or empty now.

    Properties inside of a lost property are not named.
    """
    words = []
    lost: set[tuple[str, ...]] = set()
    for path, had_content in before.items():
        if path[:-1] in lost:
            lost.add(path)
            continue
        name = "/".join(path)
        if path not in now:
            words.append(f"custom property {name}")
            lost.add(path)
        elif had_content and not now[path]:
            words.append(f"content of custom property {name}")
            lost.add(path)
    return words


def _places_with_custom(block_list: BlockList) -> list[int]:
    return places(custom_keys_of(block_list.blocks))


def _read_custom(blocks: Sequence[Any], _: Budget) -> list[Custom]:
    """Return the custom properties of each data-block."""
    declared: dict[Any, set[str]] = {}
    kinds: set[Any] = set(map(type, blocks))
    for kind in kinds:
        declared[kind] = {rna.identifier for rna in kind.bl_rna.properties}
    properties = []
    for block, keys in zip(blocks, custom_keys_of(blocks), strict=True):
        of_addons = declared[type(block)]
        properties.append(custom_of(block, [key for key in keys if key not in of_addons]))
    return properties


# ---- of parts

_Parts = Mapping[str, Custom]  # the custom properties of parts, by the words for the part


def _describe_lost_custom_of_parts(before: _Parts, now: _Parts, _: Any) -> list[str]:
    """Return the words for the lost properties of parts that are not lost themselves."""
    lost = []
    for part, custom in before.items():
        if custom and part in now:
            for words in _describe_lost_custom(custom, now[part]):
                lost.append(_words_of_part(words, part))
    return lost


def _words_of_part(words: str, part: str) -> str:
    text = f"{words} of {part}"
    if isinstance(part, NodeWords):
        return NodeWords(text, part.node)
    return text


def _custom_of_bones(bones: Iterable[Any]) -> _Parts:
    return {f"bone {name_of(bone)}": custom_of(bone) for bone in bones}


def _read_armature(armature: Any, budget: Budget) -> Any:
    bones = armature.edit_bones if armature.is_editmode else armature.bones
    if not budget.take(len(bones)):
        return UNREAD
    return _custom_of_bones(bones)


def _read_pose(thing: Any, budget: Budget) -> Any:
    if thing.pose is None:
        return {}
    if not budget.take(len(thing.pose.bones)):
        return UNREAD
    return _custom_of_bones(thing.pose.bones)


def _places_with_pose(block_list: BlockList) -> list[int]:
    if not bpy.data.armatures:
        return []
    return places_with("pose")(block_list)


def _read_modifiers(thing: Any) -> _Parts:
    """Return the custom properties of modifiers: only those with nodes can have any."""
    properties = {}
    for modifier in thing.modifiers:
        if modifier.type == "NODES":
            keys = [key for key in custom_keys(modifier) if not key.startswith(_INPUTS)]
            properties[f"modifier {name_of(modifier)}"] = custom_of(modifier, keys)
    return properties


def _read_scene(scene: Any) -> _Parts:
    """Return the custom properties of the scene's collection, view layers and strips."""
    properties = {"scene collection": custom_of(scene.collection)}
    for layer in scene.view_layers:
        properties[f"view layer {name_of(layer)}"] = custom_of(layer)
    editor = scene.sequence_editor
    if editor is not None:
        strips = getattr(editor, "strips_all", None)  # since 4.4
        if strips is None:
            strips = editor.sequences_all
        for strip in strips:
            properties[f"strip {name_of(strip)}"] = custom_of(strip)
    return properties


def _read_nodes(tree: Any, budget: Budget) -> Any:
    """Return the custom properties of the nodes of a tree."""
    if not budget.take(len(tree.nodes)):
        return UNREAD
    properties = {}
    for node in tree.nodes:
        name = name_of(node)
        properties[NodeWords(f"node {name}", name)] = custom_of(node)
    return properties


def _read_own_nodes(block: Any, budget: Budget) -> Any:
    """Return the custom properties of a data-block's own tree, and of the nodes of the tree."""
    tree = block.node_tree
    if tree is None:
        return {}
    properties = _read_nodes(tree, budget)
    if properties is not UNREAD:
        properties["nodes"] = custom_of(tree)
    return properties


CUSTOM_ASPECTS: Final[dict[str, Aspect]] = {
    "custom": Aspect(
        applies_to=every_list,
        find_places=_places_with_custom,
        read=_read_custom,
        describe_loss=_describe_lost_custom,
    ),
    "custom of bones": Aspect(
        applies_to=lists_named("armatures"),
        find_places=places_with("bones"),
        read=read_each_within(_read_armature),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of poses": Aspect(
        applies_to=lists_named("objects"),
        find_places=_places_with_pose,
        read=read_each_within(_read_pose),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of modifiers": Aspect(
        applies_to=lists_named("objects"),
        find_places=places_with("modifiers"),
        read=read_each(_read_modifiers),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom in scenes": Aspect(
        applies_to=lists_named("scenes"),
        find_places=all_places,
        read=read_each(_read_scene),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of node groups": Aspect(
        applies_to=lists_named("node_groups"),
        find_places=all_places,
        read=read_each_within(_read_nodes),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of nodes": Aspect(
        applies_to=lists_with_property("node_tree"),
        find_places=places_with("node_tree"),
        read=read_each_within(_read_own_nodes),
        describe_loss=_describe_lost_custom_of_parts,
    ),
}
"""The aspects of custom properties, in the order in which a person reads what is lost."""
