"""Parts of an object that need a target to do anything, and have none. Main thread."""

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
"""By the type of a modifier, the properties without which it does nothing.

A boolean needs one of two: see `_needed_by`.
"""
_OPTIONAL: Final = {"ARMATURE", "IK", "CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""Types of constraints that do something without a target, or have another kind of target."""


def without_target(thing: Any) -> Iterator[str]:
    """Yield which parts of an object have no target, such as "modifier Boolean has no object"."""
    if not isinstance(thing, bpy.types.Object):
        return
    for modifier in thing.modifiers:
        for prop in _needed_by(modifier):
            if getattr(modifier, prop) is None:
                yield f"modifier {name_of(modifier)} has no {prop.replace('_', ' ')}"
    yield from _constraints(thing.constraints, "")
    if thing.pose is not None:
        for bone in thing.pose.bones:
            yield from _constraints(bone.constraints, f" of bone {name_of(bone)}")
    if thing.animation_data is not None:
        yield from _drivers(thing.animation_data)


def _needed_by(modifier: Any) -> tuple[str, ...]:
    if modifier.type != "BOOLEAN":
        return _NEEDED.get(modifier.type, ())
    if modifier.operand_type == "COLLECTION":
        return ("collection",)
    return ("object",)


def _constraints(constraints: Iterable[Any], where: str) -> Iterator[str]:
    for constraint in constraints:
        has_target = getattr(constraint, "target", constraint) is not None
        if not has_target and constraint.type not in _OPTIONAL:
            yield f"constraint {name_of(constraint)}{where} has no target"


def _drivers(animation: Any) -> Iterator[str]:
    for curve in animation.drivers:
        targets: list[Any] = []
        for variable in curve.driver.variables:
            targets += variable.targets
        if any(target.id is None for target in targets):
            yield f"driver of {text_of(curve, 'data_path')} refers to nothing"
