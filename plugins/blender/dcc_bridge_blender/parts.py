"""What is in each kind of data-block, and what of it is gone. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import bpy

from .aspects import (
    Aspect,
    Budget,
    Named,
    NodeWords,
    always,
    each_part,
    has,
    key_of,
    missing_parts,
    named_parts,
    numbered,
)
from .names import body_of, custom_keys, name_of, names_of
from .parts_animation import ANIMATION
from .parts_geometry import GEOMETRY

# ---- objects


def _modifiers(thing: Any, _: Budget) -> Named:
    return each_part("modifier", thing.modifiers)


def _constraints(thing: Any, _: Budget) -> Named:
    found = each_part("constraint", thing.constraints)
    for bone in thing.pose.bones if thing.pose is not None else ():
        if bone.constraints:
            parts = each_part("constraint", bone.constraints)
            found |= {key: f"{words} of bone {name_of(bone)}" for key, words in parts.items()}
    return found


def _effects(thing: Any, _: Budget) -> Named:
    kinds = ("grease_pencil_modifiers", "shader_effects")
    return {
        key: words
        for kind in kinds
        for key, words in each_part(
            "effect" if kind == "shader_effects" else "modifier", getattr(thing, kind, ())
        ).items()
    }


def _vertex_groups(thing: Any, _: Budget) -> Named:
    return each_part("vertex group", thing.vertex_groups)


def _physics(thing: Any, _: Budget) -> Named:
    found: Named = {}
    for prop in _PHYSICS:
        if getattr(thing, prop) is not None:
            found[prop,] = prop.replace("_", " ")
    return found


def _first_groups(thing: Any, budget: Budget) -> Named:
    """Return the groups of a mesh once: since 3.0 all objects that share it have them."""
    return _vertex_groups(thing, budget) if budget.is_first(thing.data) else {}


def _gone_groups(before: Named, thing: Any, budget: Budget) -> list[str]:
    return missing_parts(before, _vertex_groups(thing, budget)) if before else []


def _slots(thing: Any, _: Budget) -> list[Any]:
    return [slot.material for slot in thing.material_slots]


def _gone_slots(before: list[Any], thing: Any, budget: Budget) -> list[str]:
    """Tell of materials that are in fewer slots; another one in its place is a new value."""
    known = {id(it) for it in bpy.data.materials}
    there = [it for it in before if it is not None and id(it) in known]
    now = [it for it in _slots(thing, budget) if it is not None]
    if len(now) >= len(there):
        return []
    left = Counter(map(id, now))
    gone = []
    for material in there:
        left[id(material)] -= 1
        if left[id(material)] < 0:
            gone.append(f"material {name_of(material)}")
    return gone


# ---- nodes


def _nodes(
    tree: Any, budget: Budget
) -> tuple[Mapping[tuple[Any, ...], str], Mapping[tuple[int, str], tuple[int, str]]]:
    """Return the nodes, and what leads into each input: from which node, and how it is told."""
    if tree is None or not budget.take(len(tree.nodes) + len(tree.links)):
        return {}, {}
    links = {}
    for link in tree.links:
        source, target = link.from_node, link.to_node
        told = f"link from {name_of(source)} to {name_of(target)}"
        words = NodeWords(told, name_of(target))
        into = target.as_pointer(), link.to_socket.identifier
        links[into] = source.as_pointer(), words
    nodes = {key_of(it): NodeWords(f"node {name_of(it)}", name_of(it)) for it in tree.nodes}
    return nodes, links


def _own_nodes(block: Any, budget: Budget) -> Any:
    return _nodes(block.node_tree, budget)


def _gone_nodes(before: Any, tree: Any, budget: Budget) -> list[str]:
    now = _nodes(tree, budget)
    if not budget.is_kept:
        return []
    gone = missing_parts(before[0], now[0])
    there = {key[0] for key in now[0]}
    for into, (source, words) in before[1].items():
        if into[0] in there and source in there and into not in now[1]:
            gone.append(words)
    return gone


def _gone_own_nodes(before: Any, block: Any, budget: Budget) -> list[str]:
    return _gone_nodes(before, block.node_tree, budget)


def _sockets(tree: Any, _: Budget) -> Named:
    """Return what a group of nodes takes and gives, as `identifier` tells it apart."""
    if hasattr(tree, "interface"):  # since 4.0
        every = [it for it in tree.interface.items_tree if it.item_type == "SOCKET"]
    else:
        every = [*tree.inputs, *tree.outputs]
    return {(it.identifier,): f"socket {name_of(it)}" for it in every}


# ---- what else there is


def _asset(block: Any, _: Budget) -> bool:
    return block.asset_data is not None


def _gone_asset(before: bool, block: Any, budget: Budget) -> list[str]:
    return ["asset data"] if before and not _asset(block, budget) else []


def _custom(block: Any, _: Budget) -> list[str]:
    """Return the custom properties that somebody has added: an add-on declares its own."""
    keys = custom_keys(block)
    return [key for key in keys if key not in block.bl_rna.properties] if keys else []


def _gone_custom(before: list[str], block: Any, budget: Budget) -> list[str]:
    now = _custom(block, budget)
    return [f"custom property {key}" for key in before if key not in now]


def _lines(text: Any, _: Budget) -> Counter[str]:
    return Counter(line for line in body_of(text).split("\n") if line.strip())


def _gone_lines(before: Counter[str], text: Any, budget: Budget) -> list[str]:
    count = (before - _lines(text, budget)).total()
    return [numbered(count, "lines")] if count else []


def _in_scene(scene: Any, _: Budget) -> Named:
    found = each_part("marker", scene.timeline_markers)
    found |= each_part("view layer", scene.view_layers)
    found |= {(name,): f"keying set {name}" for name in names_of(scene.keying_sets)}
    if scene.rigidbody_world is not None:
        found["rigid bodies",] = "rigid body world"
    editor = scene.sequence_editor
    if editor is not None:
        strips = getattr(editor, "strips_all", None)  # since 4.4
        found |= each_part("strip", editor.sequences_all if strips is None else strips)
    return found


def _has_constraints(thing: Any) -> bool:
    return bool(thing.constraints) or thing.pose is not None


_PHYSICS: Final = ("rigid_body", "rigid_body_constraint")
ASPECTS: Final[dict[str, Aspect]] = {
    "modifiers": named_parts(["objects"], _modifiers, lambda it: it.modifiers),
    "constraints": named_parts(["objects"], _constraints, _has_constraints),
    "effects": named_parts(["objects"], _effects, lambda it: it.type == "GPENCIL"),
    "vertex groups": Aspect(
        {"objects"}.__contains__, lambda it: it.vertex_groups, _first_groups, _gone_groups
    ),
    "physics": named_parts(
        ["objects"], _physics, lambda it: it.rigid_body or it.rigid_body_constraint
    ),
    "slots": Aspect({"objects"}.__contains__, lambda it: it.material_slots, _slots, _gone_slots),
    **GEOMETRY,
    **ANIMATION,
    "groups of nodes": Aspect({"node_groups"}.__contains__, always, _nodes, _gone_nodes),
    "nodes": Aspect(has("node_tree"), lambda it: it.node_tree, _own_nodes, _gone_own_nodes),
    "sockets": named_parts(["node_groups"], _sockets, always),
    "scene": named_parts(["scenes"], _in_scene, always),
    "text": Aspect({"texts"}.__contains__, always, _lines, _gone_lines),
    "asset": Aspect(has("asset_data"), lambda it: it.asset_data, _asset, _gone_asset),
    "custom": Aspect(lambda name: True, lambda it: it.keys(), _custom, _gone_custom),
}
"""What data-blocks have, in the order in which it is told of."""
