"""Parts of an object that need another thing to do anything, and have none. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import bpy

from .names import name_of, text_of

_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "ARMATURE": ("object",),
    "CURVE": ("object",),
    "DATA_TRANSFER": ("object",),
    "HOOK": ("object",),
    "LATTICE": ("object",),
    "MESH_DEFORM": ("object",),
    "MESH_SEQUENCE_CACHE": ("cache_file",),
    "NODES": ("node_group",),
    "SHRINKWRAP": ("target",),
    "SURFACE_DEFORM": ("target",),
    "VERTEX_WEIGHT_PROXIMITY": ("target",),
    "WARP": ("object_from", "object_to"),
}
"""By the type of a modifier, without what it does nothing; a boolean needs one of two."""
_OPTIONAL: Final = {"ARMATURE", "IK", "CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""Constraints that do something without a target, or have another kind of it."""


def without_target(thing: Any) -> Iterator[str]:
    """Yield what of an object has no target: "modifier Boolean has no object"."""
    if not isinstance(thing, bpy.types.Object):
        return
    for part in thing.modifiers:
        for prop in _needed_by(part):
            if getattr(part, prop) is None:
                yield f"modifier {name_of(part)} has no {prop.replace('_', ' ')}"
    yield from _constraints(thing.constraints, "")
    for bone in thing.pose.bones if thing.pose is not None else ():
        yield from _constraints(bone.constraints, f" of bone {name_of(bone)}")
    animation: Any = thing.animation_data
    for curve in animation.drivers if animation is not None else ():
        targets = [it for variable in curve.driver.variables for it in variable.targets]
        if any(it.id is None for it in targets):
            yield f"driver of {text_of(curve, 'data_path')} refers to nothing"


def _needed_by(modifier: Any) -> tuple[str, ...]:
    if modifier.type != "BOOLEAN":
        return _NEEDED.get(modifier.type, ())
    return ("collection",) if modifier.operand_type == "COLLECTION" else ("object",)


def _constraints(constraints: Iterable[Any], where: str) -> Iterator[str]:
    for part in constraints:
        if part.type not in _OPTIONAL and getattr(part, "target", part) is None:
            yield f"constraint {name_of(part)}{where} has no target"
