"""The F-curves, of an action and of a data-block that it animates. Main thread.

A curve holds the keys of one property (`FCurve` in Blender).
"""

from __future__ import annotations

from typing import Any, Final

import bpy

HAS_SLOTS: Final = hasattr(bpy.types, "ActionSlot")  # since 4.4
"""Whether an action has slots, of which each animates other data-blocks."""


def fcurves_of(action: Any) -> list[Any]:
    """Return the F-curves that an action has."""
    curves: list[Any] = []
    for curve_list in curve_lists_of(action):
        curves += curve_list
    return curves


def curve_lists_of(action: Any, slot: Any = None) -> list[Any]:
    """Return the lists of F-curves that an action has: one for each slot since 4.4.

    Args:
        action: The action.
        slot: The slot whose list is returned alone; None for all.
    """
    bags = []
    for layer in getattr(action, "layers", ()):  # since 4.4
        for strip in layer.strips:
            if slot is None:
                bags += strip.channelbags
            else:
                bags.append(strip.channelbag(slot))
    if slot is None and not bags:
        bags = [action]
    return [getattr(bag, "fcurves", ()) for bag in bags if bag is not None]


def curve_lists(data: Any) -> list[Any]:
    """Return the lists of curves that animate a data-block."""
    animation: Any = getattr(data, "animation_data", None)
    if not animation or animation.action is None:
        return []
    if not HAS_SLOTS:
        return curve_lists_of(animation.action)
    if not animation.action_slot:
        return []
    return curve_lists_of(animation.action, animation.action_slot)


def all_curves(data: Any) -> list[Any]:
    """Return the curves that animate a data-block."""
    curves: list[Any] = []
    for curve_list in curve_lists(data):
        curves += curve_list
    return curves
