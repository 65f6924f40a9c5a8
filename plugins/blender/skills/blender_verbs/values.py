"""Values of properties: told, written, keyed, and what holds them. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import bpy

from dcc_bridge.hosts.blender.objects import item_of
from dcc_bridge.verbs.acts import Value

from .properties import Slot, plain

_LOCKS: Final = {
    "location": "lock_location",
    "rotation_euler": "lock_rotation",
    "rotation_quaternion": "lock_rotation",
    "scale": "lock_scale",
}
_TURNS: Final = {"TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK", "COPY_ROTATION", "LIMIT_ROTATION"}
_SHAPES: Final = {"linear": "LINEAR", "smooth": "BEZIER", "step": "CONSTANT"}


def told(slot: Slot) -> Value:
    """Tell a property as the scene has it."""
    kind = type(slot.read()).__name__ if slot.is_custom else slot.rna.type.lower()
    return Value(slot.read(), kind, held(slot))


def write(slot: Slot, value: Any, *, replace: bool) -> None:
    """Set a property; ValueError if something would write over it or lose it."""
    why = held(slot)
    if why and not replace:
        raise ValueError(f"{slot.item}, {slot.key} is {why}; replace=True takes that away.")
    if why:
        release(slot)
    slot.write(value)


def turn_of(thing: bpy.types.Object) -> str:
    """Give the property that turns an object, by its mode of rotation."""
    names = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return names.get(thing.rotation_mode, "rotation_euler")


# ---- what holds a value


def held(slot: Slot) -> str:
    """Say why a plain write would be refused or lost."""
    data, owner = slot.owner.id_data, slot.owner
    if data.library is not None:
        return f"linked from {data.library.filepath}"
    if getattr(data, "is_editmode", False):
        return f"in edit mode, where a write to {item_of(data)} is lost"
    if isinstance(owner, bpy.types.NodeSocket):
        links: Any = owner.links
        return f"connected to {links[0].from_node.name}" if links else ""
    lock = _locked(slot)
    driven = [curve.driver.expression for curve in _drivers(slot)]
    if driven:
        return f"driven: {driven[0]}" if driven[0] else "driven"
    if any(True for _ in curves(slot)):
        return "keyed"
    return lock or _constrained(slot)


def _locked(slot: Slot) -> str:
    if not isinstance(slot.owner, bpy.types.Object) or slot.name not in _LOCKS:
        return ""
    locks = list(getattr(slot.owner, _LOCKS[slot.name]))
    return "locked" if any(locks if slot.index < 0 else [locks[slot.index]]) else ""


def _constrained(slot: Slot) -> str:
    names = [it.name for it in _constraints(slot)]
    return f"held by the constraint {names[0]}" if names else ""


def _constraints(slot: Slot) -> list[Any]:
    if not isinstance(slot.owner, bpy.types.Object) or slot.name not in _LOCKS:
        return []
    active = [it for it in slot.owner.constraints if not it.mute and it.influence > 0]
    turned = slot.name.startswith("rotation")
    return [it for it in active if turned or it.type not in _TURNS]


def _drivers(slot: Slot) -> list[Any]:
    data = getattr(slot.owner.id_data, "animation_data", None)  # some data has none
    found = [] if data is None else [it for it in data.drivers if it.data_path == slot.path]
    return [it for it in found if slot.index < 0 or it.array_index == slot.index]


def release(slot: Slot) -> None:
    """Take away what holds a value; ValueError for what nothing takes away."""
    data, owner = slot.owner.id_data, slot.owner
    if data.library is not None or getattr(data, "is_editmode", False):
        raise ValueError(f"{slot.item}, {slot.key} is {held(slot)}.")
    if isinstance(owner, bpy.types.NodeSocket):
        links: Any = owner.links
        for link in list(links):
            data.links.remove(link)
    for driver in _drivers(slot):
        owner.driver_remove(slot.key if slot.is_custom else slot.name, driver.array_index)
    clear_keys(slot)
    for constraint in _constraints(slot):
        owner.constraints.remove(constraint)
    if _locked(slot):
        locks = getattr(owner, _LOCKS[slot.name])
        for axis in range(len(locks)) if slot.index < 0 else (slot.index,):
            locks[axis] = False


# ---- keys


def _curve_lists(data: Any) -> Iterator[Any]:
    """Give the lists of curves that move a data-block: an Action has none of its own in 5.x."""
    animation: Any = getattr(data, "animation_data", None)
    action = animation.action if animation else None
    if action is None:
        return
    if not hasattr(animation, "action_slot"):  # since 4.4
        yield action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(animation.action_slot) if animation.action_slot else None
            if bag is not None:
                yield bag.fcurves


def all_curves(data: Any) -> list[Any]:
    """Give the curves that move a data-block."""
    return [curve for each in _curve_lists(data) for curve in each]


def curves(slot: Slot) -> list[Any]:
    """Give the curves that move a property, by element."""
    every = all_curves(slot.owner.id_data)
    path = slot.path if every else ""
    found = [it for it in every if it.data_path == path]
    return [it for it in found if slot.index < 0 or it.array_index == slot.index]


def clear_keys(slot: Slot) -> None:
    """Take away all keys of a property."""
    for each in _curve_lists(slot.owner.id_data):
        for curve in [it for it in curves(slot) if it in list(each)]:
            each.remove(curve)


def read_keys(slot: Slot) -> list[tuple[float, Any]]:
    """Give the keys of a property, by frame."""
    moved = curves(slot)
    frames = sorted({point.co.x for curve in moved for point in curve.keyframe_points})
    return [(float(f"{frame:.7g}"), _at(slot, moved, frame)) for frame in frames]


def _at(slot: Slot, moved: Sequence[Any], frame: float) -> Any:
    value = slot.read()
    for curve in moved:
        number = plain(curve.evaluate(frame), angle=slot.is_angle)
        if isinstance(value, list):
            value[curve.array_index] = number
        else:
            value = bool(round(number)) if isinstance(value, bool) else number
    return value


def write_keys(
    slot: Slot,
    keys: Sequence[tuple[float, Any]],
    shape: Literal["linear", "smooth", "step"],
    *,
    clear: bool,
) -> None:
    """Add keys; with `clear` all others go."""
    why = held(slot)
    if why and why != "keyed" and not why.startswith("held by"):
        raise ValueError(f"{slot.item}, {slot.key} is {why}.")
    before = slot.read()
    if clear:
        clear_keys(slot)
    for frame, value in keys:
        slot.write(value)
        name = slot.key if slot.is_custom else slot.name
        if not slot.owner.keyframe_insert(name, index=slot.index, frame=frame):
            raise ValueError(f"{slot.item}, {slot.key} takes no keys.")
    frames = {round(frame, 3) for frame, _ in keys}
    for curve in curves(slot):
        for point in curve.keyframe_points:
            if round(point.co.x, 3) in frames:
                point.interpolation = _SHAPES[shape]
        curve.update()
    scene: Any = bpy.context.scene
    moved = curves(slot)
    slot.write(_at(slot, moved, scene.frame_current) if moved else before)
