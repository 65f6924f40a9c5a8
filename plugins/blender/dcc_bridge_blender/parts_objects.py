"""The aspects of objects beside data and animation, and what of them is gone. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import bpy

from .aspects import (
    Aspect,
    Budget,
    Named,
    each,
    each_part,
    every,
    missing,
    named_parts,
    values_of,
)
from .block_lists import BlockList, places
from .names import name_of
from .parts_layers import WEIGHTS

_OBJECTS: Final = frozenset({"objects"})
_PENCILS: Final = ("grease_pencils", "grease_pencils_v3")  # the data of objects with effects


def _modifiers(thing: Any) -> Named:
    return each_part("modifier", thing.modifiers, values_of)


def _constraints(thing: Any) -> Named:
    return each_part("constraint", thing.constraints, values_of)


def _rigs(block_list: BlockList) -> list[int]:
    """Return the places of the objects that have a pose."""
    if not bpy.data.armatures:
        return []
    return every("pose")(block_list)


def _pose_bones(thing: Any) -> Any:
    if thing.pose is None:
        return ()
    return thing.pose.bones


def _constraints_of_bones(thing: Any) -> Named:
    found: Named = {}
    for bone in _pose_bones(thing):
        for key, words in each_part("constraint", bone.constraints).items():
            found[key] = f"{words} of bone {name_of(bone)}"
    return found


def _drawn(block_list: BlockList) -> list[int]:
    """Return the places of the objects that are drawings, which may have effects."""
    if not any(getattr(bpy.data, name, ()) for name in _PENCILS):
        return []
    return places(thing.type in ("GPENCIL", "GREASEPENCIL") for thing in block_list.blocks)


def _effects(thing: Any) -> Named:
    modifiers = each_part("modifier", getattr(thing, "grease_pencil_modifiers", ()))
    effects = each_part("effect", getattr(thing, "shader_effects", ()))
    return {**modifiers, **effects}


def _vertex_groups(thing: Any) -> Named:
    return each_part("vertex group", thing.vertex_groups)


def _having_groups(block_list: BlockList) -> list[int]:
    """Return the place of one object of each mesh that has vertex groups.

    Since 3.0 all objects that share a mesh have the same groups.
    """
    firsts = sorted(block_list.firsts.values())
    return [at for at in firsts if block_list.blocks[at].vertex_groups]


def _rigid_body(thing: Any) -> bool:
    return thing.rigid_body is not None


def _gone_rigid_body(before: bool, now: bool, _: Any) -> list[str]:
    return ["rigid body"] if before and not now else []


def _joint(thing: Any) -> bool:
    return thing.rigid_body_constraint is not None


def _gone_joint(before: bool, now: bool, _: Any) -> list[str]:
    return ["rigid body constraint"] if before and not now else []


# ---- materials


def _with_several(block_list: BlockList) -> set[int]:
    """Return the `id` of each data that has several slots for materials."""
    several = set()
    for key, at in block_list.firsts.items():
        materials = getattr(block_list.own[at], "materials", ())
        if len(materials) > 1:
            several.add(key)
    return several


def _having_slots(block_list: BlockList) -> list[int]:
    """Return the places of the objects with several slots for materials: as many as their data."""
    several = _with_several(block_list)
    if not several:
        return []
    return places(id(own) in several for own in block_list.own)


def _having_material(block_list: BlockList) -> list[int]:
    """Return the places of the other objects with a material, which is then the active one."""
    found = every("active_material")(block_list)
    several = _with_several(block_list)
    if not several:
        return found
    return [at for at in found if id(block_list.own[at]) not in several]


def _material(things: Sequence[Any], _: Budget) -> list[Any]:
    return list(map(attrgetter("active_material"), things))


def _gone_material(before: Any, _: Any, thing: Any) -> list[str]:
    return _gone_slots([before], _slots(thing), thing)


def _used_material(material: Any) -> list[Any]:
    return [material]


def _used_in_slots(materials: list[Any]) -> list[Any]:
    return materials


def _slots(thing: Any) -> list[Any]:
    return [slot.material for slot in thing.material_slots]


def _gone_slots(before: list[Any], slots: list[Any], _: Any) -> list[str]:
    """Return the words for materials that are in fewer slots.

    Another material in a slot is a new value; a deleted material is told of as an item.
    """
    known = {id(material) for material in bpy.data.materials}
    old = [material for material in before if material is not None and id(material) in known]
    now = [material for material in slots if material is not None]
    if len(now) >= len(old):
        return []
    left = Counter(map(id, now))
    gone = []
    for material in old:
        left[id(material)] -= 1
        if left[id(material)] < 0:
            gone.append(f"material {name_of(material)}")
    return gone


_is_of: Final = _OBJECTS.__contains__
OF_OBJECTS: Final[dict[str, Aspect]] = {
    "modifiers": named_parts(_OBJECTS, _modifiers, every("modifiers")),
    "constraints": named_parts(_OBJECTS, _constraints, every("constraints")),
    "constraints of bones": named_parts(_OBJECTS, _constraints_of_bones, _rigs),
    "effects": named_parts(_OBJECTS, _effects, _drawn),
    "vertex groups": Aspect(_is_of, _having_groups, each(_vertex_groups), missing),
    "weights": WEIGHTS,
    "rigid body": Aspect(_is_of, every("rigid_body"), each(_rigid_body), _gone_rigid_body),
    "joint": Aspect(_is_of, every("rigid_body_constraint"), each(_joint), _gone_joint),
    "material": Aspect(_is_of, _having_material, _material, _gone_material, _used_material),
    "slots": Aspect(_is_of, _having_slots, each(_slots), _gone_slots, _used_in_slots),
}
"""The aspects of objects, in the order in which a person reads what is gone of them."""
