"""F-curves with their handles and modifiers, actions and their slots. Main thread.

A *curve* holds the keys of one property in an action (`FCurve` in Blender). It is named by the
path of the property with its element: ``location[0]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import bpy

from ..action_curves import HAS_SLOTS, curve_lists, curve_lists_of, fcurves_of
from ..names import name_of, text_of
from . import vertices
from .kind import Access, PartKind, ending, numbered

_CURVE_MODIFIER: Final = "_CURVE_MODIFIER"
_SLOT: Final = "_SLOT"
_HANDLES: Final = ("handle_left", "handle_right")


# ---- curves


def _lists_of(owner: Any) -> list[Any]:
    """Return the lists of curves of an action, of one of its slots, or of what they animate."""
    if isinstance(owner, bpy.types.Action):
        return curve_lists_of(owner)
    if HAS_SLOTS and isinstance(owner, bpy.types.ActionSlot):
        return curve_lists_of(owner.id_data, owner)
    if isinstance(owner, bpy.types.ID):
        return curve_lists(owner)
    return []


def _curves(owner: Any) -> dict[str, Any]:
    named: list[tuple[str, Any]] = []
    for curves in _lists_of(owner):
        named += [(_name_of_curve(curve), curve) for curve in curves]
    return numbered(named)


def _name_of_curve(curve: Any) -> str:
    return f"{text_of(curve, 'data_path')}[{curve.array_index}]"


def _words_of_curve(curve: Any) -> str:
    keys = len(curve.keyframe_points)
    count = "1 key" if keys == 1 else f"{keys} keys"
    return f"{count} of {text_of(curve, 'data_path')}"


def _remove_curves(owner: Any, curves: Sequence[Any]) -> None:
    for each in _lists_of(owner):
        within = list(each)
        for curve in curves:
            if curve in within:
                each.remove(curve)


def _read_handles(curve: Any) -> list[dict[str, Any]]:
    """Return each key with its handles, as frame and value."""
    keys = []
    for key in curve.keyframe_points:
        told: dict[str, Any] = {"frame": round(key.co.x, 4)}
        for name in _HANDLES:
            told[name] = [round(number, 5) for number in getattr(key, name)]
        told["interpolation"] = key.interpolation
        keys.append(told)
    return keys


def _write_handles(curve: Any, value: Any) -> None:
    """Set handles of keys, which no longer follow the keys beside them, or interpolations."""
    if not isinstance(value, list):
        raise ValueError(f"handles takes a list, and not {value!r}")
    keys = {round(key.co.x, 4): key for key in curve.keyframe_points}
    for entry in value:
        if not isinstance(entry, dict) or not set(entry) <= {"frame", "interpolation", *_HANDLES}:
            raise ValueError(f"each has frame, {', '.join(_HANDLES)}, and not {entry!r}")
        key = keys.get(round(vertices.number(entry.get("frame"), "frame"), 4))
        if key is None:
            raise ValueError(f"there is no key at {entry.get('frame')}; there are {list(keys)}")
        try:
            _set_handles(key, entry)
        except TypeError as error:
            raise ValueError(str(error)) from error
    curve.update()


def _set_handles(key: Any, entry: Mapping[str, Any]) -> None:
    if "interpolation" in entry:
        key.interpolation = entry["interpolation"]
    for name in _HANDLES:
        if name in entry:
            setattr(key, f"{name}_type", "FREE")
    for name in _HANDLES:
        if name in entry:
            frame, number = entry[name]
            place = (vertices.number(frame, name), vertices.number(number, name))
            setattr(key, name, place)


# ---- modifiers of curves, which have no names before 4.0


def _curve_modifiers(owner: Any) -> dict[str, Any]:
    if not isinstance(owner, bpy.types.FCurve):
        return {}
    return numbered((modifier.type, modifier) for modifier in owner.modifiers)


def _words_of_curve_modifier(modifier: Any) -> str:
    for curve in fcurves_of(modifier.id_data):
        if modifier in list(curve.modifiers):
            return f"1 curve modifier of {text_of(curve, 'data_path')}"
    return "1 curve modifier"


def _make_curve_modifier(curve: Any, kind: str, name: str | None) -> str:
    if name:
        raise ValueError("a modifier of a curve is called as its type")
    try:
        made = curve.modifiers.new(kind)
    except (RuntimeError, TypeError) as error:
        raise ValueError(str(error).strip()) from error
    if made is None:
        raise ValueError(f"it takes no {kind} beside others")
    return list(_curve_modifiers(curve))[-1]


def _remove_curve_modifiers(curve: Any, modifiers: Sequence[Any]) -> None:
    for modifier in modifiers:
        curve.modifiers.remove(modifier)


# ---- action slots


def _slots(owner: Any) -> dict[str, Any]:
    if not HAS_SLOTS or not isinstance(owner, bpy.types.Action):
        return {}
    return numbered((slot.name_display, slot) for slot in owner.slots)


def _slot_types() -> dict[str, str]:
    if not HAS_SLOTS:
        return {}
    structs: Any = bpy.types
    new = structs.ActionSlots.bl_rna.functions["new"]
    choices = new.parameters["id_type"].enum_items
    return {f"{choice.identifier}{_SLOT}": choice.identifier for choice in choices}


def _make_slot(action: Any, kind: str, name: str | None) -> str:
    slots: Any = action.slots
    slots.new(kind, name or "Slot")
    return list(_slots(action))[-1]


def _remove_slots(action: Any, slots: Sequence[Any]) -> None:
    for slot in slots:
        action.slots.remove(slot)


# ---- the action of a data-block


def _read_action(block: Any) -> str | None:
    animation = block.animation_data
    if animation is None or animation.action is None:
        return None
    return f"action:{name_of(animation.action)}"


def _write_action(block: Any, value: Any) -> None:
    """Animate a data-block by an action, with the slot that fits; None for no action."""
    if not value:
        if block.animation_data is not None:
            block.animation_data.action = None
        return
    action = bpy.data.actions.get(str(value).removeprefix("action:"))
    if action is None:
        raise ValueError(f"there is no action {value!r}")
    animation = block.animation_data or block.animation_data_create()
    animation.action = action
    if HAS_SLOTS and animation.action_slot is None and animation.action_suitable_slots:
        animation.action_slot = animation.action_suitable_slots[0]


def _read_slot(block: Any) -> str | None:
    animation = block.animation_data
    if animation is None or animation.action_slot is None:
        return None
    return str(animation.action_slot.name_display)


def _write_slot(block: Any, value: Any) -> None:
    animation = block.animation_data
    if animation is None or animation.action is None:
        raise ValueError("it has no action")
    fitting = {slot.name_display: slot for slot in animation.action_suitable_slots}
    if value and value not in fitting:
        raise ValueError(f"action_slot is one of {', '.join(fitting) or 'none'}, not {value!r}")
    animation.action_slot = fitting[value] if value else None


ANIMATED: Final[dict[str, Access]] = {"action": Access(_read_action, _write_action)}
"""The values of each data-block that can be animated."""
if HAS_SLOTS:
    ANIMATED["action_slot"] = Access(_read_slot, _write_slot)
_SLOT_STRUCTS: Final = (bpy.types.ActionSlot,) if HAS_SLOTS else ()
ANIMATING: Final[dict[str, PartKind]] = {
    "curve": PartKind(
        structs=(bpy.types.FCurve,),
        parts=_curves,
        type_of=lambda _: "FCURVE",
        words=_words_of_curve,
        remove=_remove_curves,
        values={"handles": Access(_read_handles, _write_handles)},
    ),
    "curve_modifier": PartKind(
        structs=(bpy.types.FModifier,),
        parts=_curve_modifiers,
        type_of=lambda modifier: f"{modifier.type}{_CURVE_MODIFIER}",
        words=_words_of_curve_modifier,
        types=ending("FModifier", _CURVE_MODIFIER),
        make=_make_curve_modifier,
        owners=(bpy.types.FCurve,),
        owner_words="a curve of keys, such as Cube/curve:location[0]",
        remove=_remove_curve_modifiers,
    ),
    "slot": PartKind(
        structs=_SLOT_STRUCTS,
        parts=_slots,
        type_of=lambda slot: f"{slot.target_id_type}{_SLOT}",
        words=lambda _: "animation",
        types=_slot_types,
        make=_make_slot,
        owners=(bpy.types.Action,),
        owner_words="an action, such as action:Walk",
        remove=_remove_slots,
        called="name_display",
    ),
}
