"""Parts of Blender objects that an edit can remove, such as modifiers. Main thread.

An *aspect* is one such kind of part. The table `OBJECT_ASPECTS` at the end of this module lists all
aspects of objects. Each row says which objects have any parts of this kind (`find_places`), how the
parts are read before and after an edit (`read`), and how the missing parts are named for a person
(`describe_loss`). `parts` joins the tables of all modules, reads and compares.

`find_places` returns places: indexes into `block_list.blocks`, here all objects of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import bpy

from .aspects import (
    Aspect,
    Budget,
    WordsByKey,
    digest_of_values,
    lists_named,
    missing_parts,
    places_with,
    read_each,
    words_by_key,
)
from .block_lists import BlockList, places
from .names import name_of
from .parts_layers import WEIGHT_ASPECT

_DRAWING_TYPES: Final = ("GPENCIL", "GREASEPENCIL")  # of objects: until 4.2, and since 4.3
_DRAWING_LISTS: Final = ("grease_pencils", "grease_pencils_v3")  # of `bpy.data`


def _read_modifiers(thing: Any) -> WordsByKey:
    return words_by_key("modifier", thing.modifiers, digest_of_values)


def _read_constraints(thing: Any) -> WordsByKey:
    return words_by_key("constraint", thing.constraints, digest_of_values)


def _places_with_pose(block_list: BlockList) -> list[int]:
    if not bpy.data.armatures:
        return []
    return places_with("pose")(block_list)


def _read_bone_constraints(thing: Any) -> WordsByKey:
    if thing.pose is None:
        return {}
    constraints: WordsByKey = {}
    for bone in thing.pose.bones:
        for key, words in words_by_key("constraint", bone.constraints).items():
            constraints[key] = f"{words} of bone {name_of(bone)}"
    return constraints


def _places_of_drawings(block_list: BlockList) -> list[int]:
    """Return the places of the Grease Pencil objects, which may have modifiers and effects."""
    if not any(getattr(bpy.data, name, ()) for name in _DRAWING_LISTS):
        return []
    return places(thing.type in _DRAWING_TYPES for thing in block_list.blocks)


def _read_effects(thing: Any) -> WordsByKey:
    modifiers = words_by_key("modifier", getattr(thing, "grease_pencil_modifiers", ()))
    effects = words_by_key("effect", getattr(thing, "shader_effects", ()))
    return {**modifiers, **effects}


def _read_vertex_groups(thing: Any) -> WordsByKey:
    return words_by_key("vertex group", thing.vertex_groups)


def _places_with_vertex_groups(block_list: BlockList) -> list[int]:
    """Return the place of one object for each mesh that has vertex groups.

    Since 3.0 all objects that share a mesh have the same groups.
    """
    firsts = sorted(block_list.firsts.values())
    return [at for at in firsts if block_list.blocks[at].vertex_groups]


def _has_rigid_body(thing: Any) -> bool:
    return thing.rigid_body is not None


def _describe_lost_rigid_body(before: bool, now: bool, _: Any) -> list[str]:
    return ["rigid body"] if before and not now else []


def _has_rigid_body_constraint(thing: Any) -> bool:
    return thing.rigid_body_constraint is not None


def _describe_lost_rigid_body_constraint(before: bool, now: bool, _: Any) -> list[str]:
    return ["rigid body constraint"] if before and not now else []


# ---- materials: an object has as many slots for them as its data


def _ids_of_data_with_slots(block_list: BlockList) -> set[int]:
    """Return the `id` of each mesh or other data that has two or more slots for materials."""
    ids = set()
    for data_id, at in block_list.firsts.items():
        materials = getattr(block_list.own[at], "materials", ())
        if len(materials) > 1:
            ids.add(data_id)
    return ids


def _places_with_slots(block_list: BlockList) -> list[int]:
    """Return the places of the objects that have two or more slots."""
    ids = _ids_of_data_with_slots(block_list)
    if not ids:
        return []
    return places(id(own) in ids for own in block_list.own)


def _places_with_one_material(block_list: BlockList) -> list[int]:
    """Return the places of the objects that have a material in their only slot.

    That material is the active one, which is read faster than a slot.
    """
    with_material = places_with("active_material")(block_list)
    ids = _ids_of_data_with_slots(block_list)
    if not ids:
        return with_material
    return [at for at in with_material if id(block_list.own[at]) not in ids]


def _read_active_materials(things: Sequence[Any], _: Budget) -> list[Any]:
    return list(map(attrgetter("active_material"), things))


def _describe_lost_material(before: Any, _: Any, thing: Any) -> list[str]:
    return _describe_lost_slots([before], _read_slots(thing), thing)


def _list_of_one(material: Any) -> list[Any]:
    return [material]


def _same_list(materials: list[Any]) -> list[Any]:
    return materials


def _read_slots(thing: Any) -> list[Any]:
    """Return the material of each slot, or None."""
    return [slot.material for slot in thing.material_slots]


def _describe_lost_slots(before: list[Any], slots: list[Any], _: Any) -> list[str]:
    """Return the words for materials that are in fewer slots than before.

    Another material in a slot is a new value, and no loss. A deleted material is left out: `record`
    names it as an item.
    """
    existing = {id(material) for material in bpy.data.materials}
    old = [material for material in before if material is not None and id(material) in existing]
    now = [material for material in slots if material is not None]
    if len(now) >= len(old):
        return []
    remaining = Counter(map(id, now))
    missing = []
    for material in old:
        remaining[id(material)] -= 1
        if remaining[id(material)] < 0:
            missing.append(f"material {name_of(material)}")
    return missing


OBJECT_ASPECTS: Final[dict[str, Aspect]] = {
    "modifiers": Aspect(
        applies_to=lists_named("objects"),
        find_places=places_with("modifiers"),
        read=read_each(_read_modifiers),
        describe_loss=missing_parts,
    ),
    "constraints": Aspect(
        applies_to=lists_named("objects"),
        find_places=places_with("constraints"),
        read=read_each(_read_constraints),
        describe_loss=missing_parts,
    ),
    "constraints of bones": Aspect(
        applies_to=lists_named("objects"),
        find_places=_places_with_pose,
        read=read_each(_read_bone_constraints),
        describe_loss=missing_parts,
    ),
    "effects": Aspect(
        applies_to=lists_named("objects"),
        find_places=_places_of_drawings,
        read=read_each(_read_effects),
        describe_loss=missing_parts,
    ),
    "vertex groups": Aspect(
        applies_to=lists_named("objects"),
        find_places=_places_with_vertex_groups,
        read=read_each(_read_vertex_groups),
        describe_loss=missing_parts,
    ),
    "weights": WEIGHT_ASPECT,
    "rigid body": Aspect(
        applies_to=lists_named("objects"),
        find_places=places_with("rigid_body"),
        read=read_each(_has_rigid_body),
        describe_loss=_describe_lost_rigid_body,
    ),
    "rigid body constraint": Aspect(
        applies_to=lists_named("objects"),
        find_places=places_with("rigid_body_constraint"),
        read=read_each(_has_rigid_body_constraint),
        describe_loss=_describe_lost_rigid_body_constraint,
    ),
    "material": Aspect(
        applies_to=lists_named("objects"),
        find_places=_places_with_one_material,
        read=_read_active_materials,
        describe_loss=_describe_lost_material,
        used_blocks=_list_of_one,
    ),
    "slots": Aspect(
        applies_to=lists_named("objects"),
        find_places=_places_with_slots,
        read=read_each(_read_slots),
        describe_loss=_describe_lost_slots,
        used_blocks=_same_list,
    ),
}
"""The aspects of objects, in the order in which a person reads what is missing."""
