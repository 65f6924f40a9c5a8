"""What objects have beside data and animation, and what of it is gone. Main thread."""

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
    gone_keys_of_bones,
    keys_of_bones,
    missing,
    named_parts,
)
from .block_lists import BlockList, places
from .names import name_of, names_of

_OBJECTS: Final = frozenset({"objects"})
_PENCILS: Final = ("grease_pencils", "grease_pencils_v3")  # what objects with effects have


def _modifiers(thing: Any) -> Named:
    return each_part("modifier", thing.modifiers)


def _constraints(thing: Any) -> Named:
    return each_part("constraint", thing.constraints)


def _rigs(block_list: BlockList) -> list[int]:
    return every("pose")(block_list) if bpy.data.armatures else []


def _constraints_of_bones(thing: Any) -> Named:
    found: Named = {}
    for bone in thing.pose.bones if thing.pose is not None else ():
        if bone.constraints:
            parts = each_part("constraint", bone.constraints)
            found |= {key: f"{words} of bone {name_of(bone)}" for key, words in parts.items()}
    return found


def _pose_keys(thing: Any) -> dict[str, list[str]]:
    return keys_of_bones(thing.pose.bones) if thing.pose is not None else {}


def _gone_pose_keys(before: Any, now: Any, thing: Any) -> list[str]:
    names = names_of(thing.pose.bones) if thing.pose is not None else []
    return gone_keys_of_bones(before, now, names)


def _drawn(block_list: BlockList) -> list[int]:
    """Find the objects that are drawings, which may have effects."""
    if not any(getattr(bpy.data, name, ()) for name in _PENCILS):
        return []
    return places(thing.type in ("GPENCIL", "GREASEPENCIL") for thing in block_list.blocks)


def _effects(thing: Any) -> Named:
    effects = each_part("effect", getattr(thing, "shader_effects", ()))
    return each_part("modifier", getattr(thing, "grease_pencil_modifiers", ())) | effects


def _vertex_groups(thing: Any) -> Named:
    return each_part("vertex group", thing.vertex_groups)


def _having_groups(block_list: BlockList) -> list[int]:
    """Find one object of each mesh: since 3.0 all that share it have the same groups."""
    return [at for at in sorted(block_list.firsts.values()) if block_list.blocks[at].vertex_groups]


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
    """Return the data that has several slots for materials, by `id`."""
    every = ((key, block_list.own[at]) for key, at in block_list.firsts.items())
    return {key for key, own in every if len(getattr(own, "materials", ())) > 1}


def _having_slots(block_list: BlockList) -> list[int]:
    """Find the objects that have several slots for materials: as many as their data."""
    several = _with_several(block_list)
    return places(id(own) in several for own in block_list.own) if several else []


def _having_material(block_list: BlockList) -> list[int]:
    """Find the others that have a material, which is then the active one."""
    found = every("active_material")(block_list)
    several = _with_several(block_list)
    return [at for at in found if id(block_list.own[at]) not in several] if several else found


def _material(things: Sequence[Any], _: Budget) -> list[Any]:
    return [*map(attrgetter("active_material"), things)]


def _gone_material(before: Any, _: Any, thing: Any) -> list[str]:
    return _gone_slots([before], _slots(thing), thing)


def _slots(thing: Any) -> list[Any]:
    return [slot.material for slot in thing.material_slots]


def _gone_slots(before: list[Any], slots: list[Any], _: Any) -> list[str]:
    """Tell of materials that are in fewer slots; another one in its place is a new value."""
    known = {id(it) for it in bpy.data.materials}
    there = [it for it in before if it is not None and id(it) in known]
    now = [it for it in slots if it is not None]
    if len(now) >= len(there):
        return []
    left = Counter(map(id, now))
    gone = []
    for material in there:
        left[id(material)] -= 1
        if left[id(material)] < 0:
            gone.append(f"material {name_of(material)}")
    return gone


_is_of: Final = _OBJECTS.__contains__
OF_OBJECTS: Final[dict[str, Aspect]] = {
    "modifiers": named_parts(_OBJECTS, _modifiers, every("modifiers")),
    "constraints": named_parts(_OBJECTS, _constraints, every("constraints")),
    "constraints of bones": named_parts(_OBJECTS, _constraints_of_bones, _rigs),
    "custom of poses": Aspect(_is_of, _rigs, each(_pose_keys), _gone_pose_keys),
    "effects": named_parts(_OBJECTS, _effects, _drawn),
    "vertex groups": Aspect(_is_of, _having_groups, each(_vertex_groups), missing),
    "rigid body": Aspect(_is_of, every("rigid_body"), each(_rigid_body), _gone_rigid_body),
    "joint": Aspect(_is_of, every("rigid_body_constraint"), each(_joint), _gone_joint),
    "material": Aspect(_is_of, _having_material, _material, _gone_material),
    "slots": Aspect(_is_of, _having_slots, each(_slots), _gone_slots),
}
"""What objects have, in the order in which it is told of."""
