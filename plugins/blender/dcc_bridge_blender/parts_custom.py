"""The custom properties of everything that may have some, and what of them is gone. Main thread.

A custom property is gone where its name is, also inside of another one, or where its text, list or
group is empty now. Another value is no loss.
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
"""Whether each custom property has any content, by its name and those of the groups around it."""


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
    found: dict[tuple[str, ...], bool] = {}
    for key in keys:
        _add(found, (key,), custom_value(owner, key))
    return found


def _add(found: dict[tuple[str, ...], bool], path: tuple[str, ...], value: Any) -> None:
    """Add a custom property, and those in it."""
    is_container = isinstance(value, (str, dict, list))
    found[path] = not is_container or bool(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            _add(found, (*path, key), inner)


def gone_custom(before: Custom, now: Custom) -> list[str]:
    """Return the words for custom properties that are gone or empty.

    What was in one that is gone or empty goes with it.
    """
    gone = []
    told: set[tuple[str, ...]] = set()
    for path, had_content in before.items():
        if path[:-1] in told:
            told.add(path)
            continue
        name = "/".join(path)
        if path not in now:
            gone.append(f"custom property {name}")
            told.add(path)
        elif had_content and not now[path]:
            gone.append(f"content of custom property {name}")
            told.add(path)
    return gone


def _having_custom(block_list: BlockList) -> list[int]:
    return places(custom_keys_of(block_list.blocks))


def _custom(blocks: Sequence[Any], _: Budget) -> list[Custom]:
    """Return the custom properties of each data-block."""
    declared: dict[Any, set[str]] = {}
    kinds: set[Any] = set(map(type, blocks))
    for kind in kinds:
        declared[kind] = {rna.identifier for rna in kind.bl_rna.properties}
    found = []
    for block, keys in zip(blocks, custom_keys_of(blocks), strict=True):
        of_addons = declared[type(block)]
        found.append(custom_of(block, [key for key in keys if key not in of_addons]))
    return found


def _describe_lost_custom(before: Custom, now: Custom, _: Any) -> list[str]:
    return gone_custom(before, now)


# ---- of parts

_Parts = Mapping[str, Custom]  # of each part, by the words for it


def _describe_lost_custom_of_parts(before: _Parts, now: _Parts, _: Any) -> list[str]:
    """Return the words for what is gone of parts that are there: else it goes with the part."""
    gone = []
    for part, custom in before.items():
        if custom and part in now:
            gone += [_in_part(words, part) for words in gone_custom(custom, now[part])]
    return gone


def _in_part(words: str, part: str) -> str:
    text = f"{words} of {part}"
    if isinstance(part, NodeWords):
        return NodeWords(text, part.node)
    return text


def _of_bones(bones: Iterable[Any]) -> _Parts:
    return {f"bone {name_of(bone)}": custom_of(bone) for bone in bones}


def _armature(armature: Any, budget: Budget) -> Any:
    bones = armature.edit_bones if armature.is_editmode else armature.bones
    if not budget.take(len(bones)):
        return UNREAD
    return _of_bones(bones)


def _pose(thing: Any, budget: Budget) -> Any:
    if thing.pose is None:
        return {}
    if not budget.take(len(thing.pose.bones)):
        return UNREAD
    return _of_bones(thing.pose.bones)


def _having_pose(block_list: BlockList) -> list[int]:
    if not bpy.data.armatures:
        return []
    return places_with("pose")(block_list)


def _modifiers(thing: Any) -> _Parts:
    """Return the custom properties of modifiers: only those with nodes can have any."""
    found = {}
    for modifier in thing.modifiers:
        if modifier.type == "NODES":
            keys = [key for key in custom_keys(modifier) if not key.startswith(_INPUTS)]
            found[f"modifier {name_of(modifier)}"] = custom_of(modifier, keys)
    return found


def _scene(scene: Any) -> _Parts:
    found = {"scene collection": custom_of(scene.collection)}
    for layer in scene.view_layers:
        found[f"view layer {name_of(layer)}"] = custom_of(layer)
    editor = scene.sequence_editor
    if editor is not None:
        strips = getattr(editor, "strips_all", None)  # since 4.4
        if strips is None:
            strips = editor.sequences_all
        for strip in strips:
            found[f"strip {name_of(strip)}"] = custom_of(strip)
    return found


def _tree(tree: Any, budget: Budget) -> Any:
    """Return the custom properties of the nodes of a tree."""
    if not budget.take(len(tree.nodes)):
        return UNREAD
    found = {}
    for node in tree.nodes:
        name = name_of(node)
        found[NodeWords(f"node {name}", name)] = custom_of(node)
    return found


def _own_tree(block: Any, budget: Budget) -> Any:
    """Return the custom properties of a data-block's own tree, and of the nodes of the tree."""
    tree = block.node_tree
    if tree is None:
        return {}
    found = _tree(tree, budget)
    if found is not UNREAD:
        found["nodes"] = custom_of(tree)
    return found


CUSTOM_ASPECTS: Final[dict[str, Aspect]] = {
    "custom": Aspect(
        applies_to=every_list,
        find_places=_having_custom,
        read=_custom,
        describe_loss=_describe_lost_custom,
    ),
    "custom of bones": Aspect(
        applies_to=lists_named("armatures"),
        find_places=places_with("bones"),
        read=read_each_within(_armature),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of poses": Aspect(
        applies_to=lists_named("objects"),
        find_places=_having_pose,
        read=read_each_within(_pose),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of modifiers": Aspect(
        applies_to=lists_named("objects"),
        find_places=places_with("modifiers"),
        read=read_each(_modifiers),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom in scenes": Aspect(
        applies_to=lists_named("scenes"),
        find_places=all_places,
        read=read_each(_scene),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of groups of nodes": Aspect(
        applies_to=lists_named("node_groups"),
        find_places=all_places,
        read=read_each_within(_tree),
        describe_loss=_describe_lost_custom_of_parts,
    ),
    "custom of nodes": Aspect(
        applies_to=lists_with_property("node_tree"),
        find_places=places_with("node_tree"),
        read=read_each_within(_own_tree),
        describe_loss=_describe_lost_custom_of_parts,
    ),
}
"""The aspects of custom properties, in the order in which a person reads what is gone of them."""
