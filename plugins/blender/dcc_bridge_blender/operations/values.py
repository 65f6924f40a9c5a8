"""Values of properties: read, written and keyed, and the reasons that hold a value. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import bpy

from dcc_bridge.spi import Keys, Shape, Value

from ..action_curves import all_curves, curve_lists
from ..names import name_of, text_of
from ..objects import item_of
from .slot import ComputedSlot, Slot, plain

_LOCKS: Final = {
    "location": "lock_location",
    "rotation_euler": "lock_rotation",
    "rotation_quaternion": "lock_rotation",
    "scale": "lock_scale",
}
"""The property that locks each property of a transform."""
_PART_LOCKS: Final = {"weights": "lock_weight", "points": "lock_shape"}
"""The property that locks each computed value; `lock_shape` is there since 3.6."""
_ROTATING: Final = {"TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK", "COPY_ROTATION", "LIMIT_ROTATION"}
"""Types of constraints that hold the rotation only."""
_INTERPOLATIONS: Final = {"linear": "LINEAR", "smooth": "BEZIER", "step": "CONSTANT"}


def read(slot: Slot) -> Value:
    """Return the value of a property, with its type and the reason that holds it."""
    value = slot.read()
    kind = type(value).__name__
    if slot.rna is not None:
        kind = slot.rna.type.lower()
    holder = held(slot)
    is_default = not holder and slot.is_default(value)
    return Value(value, kind, holder, _is_fixed(slot), is_default)


def write(slot: Slot, value: Any, *, replace: bool) -> None:
    """Set a property.

    Args:
        slot: The property.
        value: The value, as JSON carries it.
        replace: Whether to remove what holds the property.

    Raises:
        ValueError: Something would overwrite or lose the value, or the value is not valid.
    """
    why = held(slot)
    if why and not replace:
        raise ValueError(f"{slot.item}, {slot.key} is {why}; replace=True takes that away.")
    if why:
        _release(slot)
    slot.write(value)


def rotation_of(thing: bpy.types.Object) -> str:
    """Return the name of the property that rotates an object, by its rotation mode."""
    names = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return names.get(thing.rotation_mode, "rotation_euler")


# ---- what holds a value


def held(slot: Slot) -> str:
    """Return why a plain write would be refused or lost, or ""."""
    owner = slot.owner
    data = owner.id_data
    if data.library is not None:
        return f"linked from {text_of(data.library, 'filepath')}"
    if _is_fixed(slot):
        return f"in edit mode, where a write to {item_of(data)} is lost"
    if isinstance(owner, bpy.types.NodeSocket):
        links: Any = owner.links
        return f"connected to {name_of(links[0].from_node)}" if links else ""
    drivers = _drivers(slot)
    if drivers:
        expression = drivers[0].driver.expression
        return f"driven: {expression}" if expression else "driven"
    return _held_otherwise(slot)


def _held_otherwise(slot: Slot) -> str:
    """Return why keys, locks or constraints would undo a write, or ""."""
    if _curves(slot):
        return "keyed"
    if _locks(slot) or _part_lock(slot):
        return "locked"
    constraints = _constraints(slot)
    if constraints:
        return f"held by the constraint {name_of(constraints[0])}"
    return ""


def _is_fixed(slot: Slot) -> bool:
    """Return whether nothing can make a property writable from here."""
    data = slot.owner.id_data
    return data.library is not None or bool(getattr(data, "is_editmode", False))


def _is_transform(slot: Slot) -> bool:
    return isinstance(slot.owner, bpy.types.Object) and slot.name in _LOCKS


def _locks(slot: Slot) -> list[int]:
    """Return the locked elements of a property."""
    if not _is_transform(slot):
        return []
    locked = []
    for at, is_locked in enumerate(getattr(slot.owner, _LOCKS[slot.name])):
        if is_locked and slot.index in (-1, at):
            locked.append(at)
    return locked


def _part_lock(slot: Slot) -> str:
    """Return the property that locks a vertex group or a shape key, or ""."""
    lock = _PART_LOCKS.get(slot.name, "")
    if lock and isinstance(slot, ComputedSlot) and getattr(slot.owner, lock, False):
        return lock
    return ""


def _constraints(slot: Slot) -> list[Any]:
    """Return the active constraints that hold a property."""
    if not _is_transform(slot):
        return []
    is_rotation = slot.name.startswith("rotation")
    holding = []
    for constraint in slot.owner.constraints:
        is_active = not constraint.mute and constraint.influence > 0
        if is_active and (is_rotation or constraint.type not in _ROTATING):
            holding.append(constraint)
    return holding


def _drivers(slot: Slot) -> list[Any]:
    animation = getattr(slot.owner.id_data, "animation_data", None)  # some data cannot have any
    if not animation:
        return []
    return _curves_of(slot, animation.drivers)


def _curves_of(slot: Slot, curves: Iterable[Any]) -> list[Any]:
    """Return those curves that are of a property, or of the slot's element."""
    if not curves:
        return []
    path = slot.path
    found = [curve for curve in curves if text_of(curve, "data_path") == path]
    return [curve for curve in found if slot.index in (-1, curve.array_index)]


def _release(slot: Slot) -> None:
    """Remove what holds a property; raise ValueError where that is not possible."""
    owner = slot.owner
    if _is_fixed(slot):
        raise ValueError(f"{slot.item}, {slot.key} is {held(slot)}.")
    if isinstance(owner, bpy.types.NodeSocket):
        links: Any = owner.links
        tree: Any = owner.id_data
        for link in list(links):
            tree.links.remove(link)
    for driver in _drivers(slot):
        owner.driver_remove(_key_name(slot), driver.array_index)
    _clear_keys(slot)
    for constraint in _constraints(slot):
        owner.constraints.remove(constraint)
    for axis in _locks(slot):
        getattr(owner, _LOCKS[slot.name])[axis] = False
    part_lock = _part_lock(slot)
    if part_lock:
        setattr(owner, part_lock, False)


def _key_name(slot: Slot) -> str:
    """Return the name by which Blender's functions for keys and drivers take a property."""
    if slot.is_custom:
        return slot.key
    return slot.name


# ---- keys


def _curves(slot: Slot) -> list[Any]:
    return _curves_of(slot, all_curves(slot.owner.id_data))


def _clear_keys(slot: Slot) -> None:
    for curve_list in curve_lists(slot.owner.id_data):
        # Read anew for each list: curves of the lists before are removed by now.
        in_list = list(curve_list)
        curves = [curve for curve in _curves(slot) if curve in in_list]
        for curve in curves:
            curve_list.remove(curve)


def read_keys(slot: Slot) -> list[tuple[float, Any]]:
    """Return the keys of a property: the frames, in order, and the values at them."""
    curves = _curves(slot)
    frames = set()
    for curve in curves:
        for point in curve.keyframe_points:
            frames.add(point.co.x)
    return [(float(f"{frame:.7g}"), _value_at(slot, curves, frame)) for frame in sorted(frames)]


def _value_at(slot: Slot, curves: Sequence[Any], frame: float) -> Any:
    """Return the value of a property at a frame; elements without a curve have their own."""
    value = slot.read()
    for curve in curves:
        number = plain(curve.evaluate(frame), angle=slot.is_angle)
        if isinstance(value, list):
            value[curve.array_index] = number
        elif isinstance(value, bool):
            value = bool(round(number))
        else:
            value = number
    return value


def write_keys(slot: Slot, keys: Keys, shape: Shape, *, clear: bool) -> None:
    """Add keys to a property.

    Args:
        slot: The property.
        keys: The frames and the values at them.
        shape: How the values go from each of these keys to the next.
        clear: Whether all other keys are removed.

    Raises:
        ValueError: Something but keys and constraints holds the property, or it takes no keys.
    """
    if isinstance(slot, ComputedSlot):
        raise ValueError(f"{slot.item}, {slot.key} takes no keys.")
    why = held(slot)
    if why and why != "keyed" and not why.startswith("held by"):
        raise ValueError(f"{slot.item}, {slot.key} is {why}.")
    before = slot.read()
    if clear:
        _clear_keys(slot)
    name = _key_name(slot)
    for frame, value in keys:
        slot.write(value)
        try:
            is_keyed = slot.owner.keyframe_insert(name, index=slot.index, frame=frame)
        except TypeError as error:
            raise ValueError(f"{slot.item}, {slot.key} takes no keys: {error}.") from error
        if not is_keyed:
            raise ValueError(f"{slot.item}, {slot.key} takes no keys.")
    curves = _curves(slot)
    _interpolate(curves, [frame for frame, _ in keys], shape)
    if curves:
        scene: Any = bpy.context.scene
        before = _value_at(slot, curves, scene.frame_current)
    slot.write(before)


def _interpolate(curves: Sequence[Any], frames: Iterable[float], shape: Shape) -> None:
    """Set how the values go from the keys at some frames to the next keys."""
    rounded = {round(frame, 3) for frame in frames}
    for curve in curves:
        for point in curve.keyframe_points:
            if round(point.co.x, 3) in rounded:
                point.interpolation = _INTERPOLATIONS[shape]
        curve.update()
