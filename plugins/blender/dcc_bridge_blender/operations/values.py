"""Values of properties: told, written, keyed, and what holds them. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import bpy

from dcc_bridge.spi import Keys, Shape, Value

from ..names import name_of, text_of
from ..objects import item_of
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
    return Value(slot.read(), kind, held(slot), _is_fixed(slot))


def write(slot: Slot, value: Any, *, replace: bool) -> None:
    """Set a property; ValueError if something would write over it or lose it."""
    if why := held(slot):
        if not replace:
            raise ValueError(f"{slot.item}, {slot.key} is {why}; replace=True takes that away.")
        _release(slot)
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
        return f"linked from {text_of(data.library, 'filepath')}"
    if _is_fixed(slot):
        return f"in edit mode, where a write to {item_of(data)} is lost"
    if isinstance(owner, bpy.types.NodeSocket):
        links: Any = owner.links
        return f"connected to {name_of(links[0].from_node)}" if links else ""
    if driven := [curve.driver.expression for curve in _drivers(slot)]:
        return f"driven: {driven[0]}" if driven[0] else "driven"
    if _curves(slot):
        return "keyed"
    if _locks(slot):
        return "locked"
    names = [name_of(it) for it in _constraints(slot)]
    return f"held by the constraint {names[0]}" if names else ""


def _is_fixed(slot: Slot) -> bool:
    data = slot.owner.id_data
    return data.library is not None or bool(getattr(data, "is_editmode", False))


def _is_placing(slot: Slot) -> bool:
    return isinstance(slot.owner, bpy.types.Object) and slot.name in _LOCKS


def _locks(slot: Slot) -> list[int]:
    """Give the elements that are locked."""
    locks = list(getattr(slot.owner, _LOCKS[slot.name])) if _is_placing(slot) else []
    return [at for at, is_on in enumerate(locks) if is_on and slot.index in (-1, at)]


def _constraints(slot: Slot) -> list[Any]:
    if not _is_placing(slot):
        return []
    active = [it for it in slot.owner.constraints if not it.mute and it.influence > 0]
    turned = slot.name.startswith("rotation")
    return [it for it in active if turned or it.type not in _TURNS]


def _drivers(slot: Slot) -> list[Any]:
    animation = getattr(slot.owner.id_data, "animation_data", None)  # some data has none
    return _of(slot, animation.drivers if animation else ())


def _of(slot: Slot, every: Iterable[Any]) -> list[Any]:
    """Give the curves of a property, or of one element."""
    path = slot.path if every else ""
    found = [it for it in every if text_of(it, "data_path") == path]
    return [it for it in found if slot.index in (-1, it.array_index)]


def _release(slot: Slot) -> None:
    """Take away what holds a value; ValueError for what nothing takes away."""
    data, owner = slot.owner.id_data, slot.owner
    if _is_fixed(slot):
        raise ValueError(f"{slot.item}, {slot.key} is {held(slot)}.")
    if isinstance(owner, bpy.types.NodeSocket):
        links: Any = owner.links
        for link in list(links):
            data.links.remove(link)
    for driver in _drivers(slot):
        owner.driver_remove(slot.key if slot.is_custom else slot.name, driver.array_index)
    _clear_keys(slot)
    for constraint in _constraints(slot):
        owner.constraints.remove(constraint)
    for axis in _locks(slot):
        getattr(owner, _LOCKS[slot.name])[axis] = False


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


def _curves(slot: Slot) -> list[Any]:
    return _of(slot, all_curves(slot.owner.id_data))


def _clear_keys(slot: Slot) -> None:
    for each in _curve_lists(slot.owner.id_data):
        for curve in [it for it in _curves(slot) if it in list(each)]:
            each.remove(curve)


def read_keys(slot: Slot) -> list[tuple[float, Any]]:
    """Give the keys of a property, by frame."""
    moved = _curves(slot)
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


def write_keys(slot: Slot, keys: Keys, shape: Shape, *, clear: bool) -> None:
    """Add keys; with `clear` all others go."""
    why = held(slot)
    if why and why != "keyed" and not why.startswith("held by"):
        raise ValueError(f"{slot.item}, {slot.key} is {why}.")
    before = slot.read()
    if clear:
        _clear_keys(slot)
    for frame, value in keys:
        slot.write(value)
        name = slot.key if slot.is_custom else slot.name
        if not slot.owner.keyframe_insert(name, index=slot.index, frame=frame):
            raise ValueError(f"{slot.item}, {slot.key} takes no keys.")
    frames = {round(frame, 3) for frame, _ in keys}
    for curve in _curves(slot):
        for point in curve.keyframe_points:
            if round(point.co.x, 3) in frames:
                point.interpolation = _SHAPES[shape]
        curve.update()
    scene: Any = bpy.context.scene
    moved = _curves(slot)
    slot.write(_at(slot, moved, scene.frame_current) if moved else before)
