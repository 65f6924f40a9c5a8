"""What animates a data-block, and what of it is gone: actions, keys, drivers. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import bpy

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    Named,
    always,
    each,
    each_part,
    each_within,
    every,
    has,
    missing_parts,
    numbered,
)
from .block_lists import BlockList, places
from .names import text_of

_HAS_SLOTS: Final = "action_slot" in bpy.types.AnimData.bl_rna.properties  # since 4.4
_Curve = tuple[int, str, int]
_Counts = Mapping[_Curve, tuple[int, int]]


class Animation(NamedTuple):
    """What animates a data-block, or its nodes."""

    action: Any
    has_slot: bool
    drivers: Named
    tracks: Named


def _animation(block: Any) -> Animation:
    return _read_animation(block.animation_data)


def _tree_animation(block: Any) -> Animation:
    tree = block.node_tree
    return _read_animation(tree.animation_data if tree is not None else None)


def _animated_trees(block_list: BlockList) -> list[int]:
    trees = (block.node_tree for block in block_list.blocks)
    return places(tree is not None and tree.animation_data is not None for tree in trees)


def _read_animation(animation: Any) -> Animation:
    if animation is None:
        return Animation(None, has_slot=False, drivers={}, tracks={})
    drivers = {
        (it.as_pointer(), text_of(it, "data_path"), it.array_index): text_of(it, "data_path")
        for it in animation.drivers
    }
    tracks = each_part("NLA track", animation.nla_tracks) if animation.nla_tracks else {}
    has_slot = not _HAS_SLOTS or animation.action_slot is not None
    return Animation(animation.action, has_slot, drivers, tracks)


def _gone_animation(before: Animation, now: Animation, _: Any) -> list[str]:
    """Tell of what is gone; where the action itself is, that is told of."""
    gone = []
    is_there = before.action is not None and any(it is before.action for it in bpy.data.actions)
    is_off = now.action is None or (before.has_slot and not now.has_slot)
    if is_there and is_off:
        gone.append("animation")
    pointers = {key[0] for key in now.drivers}
    places = {key[1:] for key in now.drivers}
    paths = [
        path
        for key, path in before.drivers.items()
        if key[0] not in pointers and key[1:] not in places
    ]
    for path, count in Counter(paths).items():
        gone.append(f"driver of {path}" if count == 1 else f"{count} drivers of {path}")
    return gone + missing_parts(before.tracks, now.tracks)


def _keys(action: Any, budget: Budget) -> Any:
    """Return how many keys and modifiers each curve has, by its address, path and index."""
    curves = fcurves_of(action)
    if not budget.take(len(curves)):
        return UNREAD
    return {
        (it.as_pointer(), text_of(it, "data_path"), it.array_index): (
            len(it.keyframe_points),
            len(it.modifiers),
        )
        for it in curves
    }


def _gone_keys(before: _Counts, now: _Counts, _: Any) -> list[str]:
    """Tell how many keys of each property are gone: those at a frame are one key."""
    gone = []
    for column, words in enumerate(("keys", "curve modifiers")):
        old, new = ({key: row[column] for key, row in it.items()} for it in (before, now))
        gone += [
            f"{numbered(count, words)} of {path}"
            for path, count in _fewer(old, new).items()
            if count > 0
        ]
    return gone


def _fewer(before: Mapping[_Curve, int], now: Mapping[_Curve, int]) -> dict[str, int]:
    """Return by path how many fewer there are in the curve that has lost most."""
    by_pointer = {key[0]: count for key, count in now.items()}
    by_place = Counter[tuple[Any, ...]]()
    for key, count in now.items():
        by_place[key[1:]] += count
    fewer = dict[str, int]()
    for key, count in before.items():
        pointer, path, _ = key
        left = by_pointer[pointer] if pointer in by_pointer else by_place[key[1:]]
        fewer[path] = max(fewer.get(path, 0), count - left)
    return fewer


def fcurves_of(action: Any) -> list[Any]:
    """Return the curves of keys that an action has."""
    layers = getattr(action, "layers", ())  # since 4.4
    bags = [bag for layer in layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags or [action] for curve in getattr(bag, "fcurves", ())]


ANIMATION: Final[dict[str, Aspect]] = {
    "animation": Aspect(
        has("animation_data"),
        every("animation_data"),
        each(_animation),
        _gone_animation,
        has_action=True,
    ),
    "animation of nodes": Aspect(
        has("node_tree"), _animated_trees, each(_tree_animation), _gone_animation, has_action=True
    ),
    "keys": Aspect({"actions"}.__contains__, always, each_within(_keys), _gone_keys),
}
"""The animation of data-blocks and of their nodes, and the keys of actions."""
