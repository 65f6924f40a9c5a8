"""The aspects of animation, and what of them is gone: actions, keys, drivers. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import bpy

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    PartWords,
    WordsByKey,
    all_places,
    digest_of_values,
    key_of,
    lists_named,
    lists_with_property,
    missing_parts,
    places_with,
    read_each,
    read_each_within,
    words_by_key,
    words_for_count,
)
from .block_lists import BlockList, places
from .names import name_of, text_of

_HAS_SLOTS: Final = "action_slot" in bpy.types.AnimData.bl_rna.properties  # since 4.4
_Curve = tuple[int, str, int]  # the address of a curve, its path and its index
_Counts = Mapping[_Curve, tuple[int, int]]  # how many keys and modifiers each curve has


class Animation(NamedTuple):
    """The animation of a data-block, or of its nodes.

    Attributes:
        action: The action, or None.
        has_slot: Whether a slot of the action is in use; before 4.4 actions have no slots.
        drivers: The path of each driver, by its address, path and index.
        tracks: The words for the NLA tracks.
        strips: The words for the strips of each track.
    """

    action: Any
    has_slot: bool
    drivers: WordsByKey
    tracks: WordsByKey
    strips: Mapping[tuple[Any, ...], WordsByKey]

    def used(self) -> list[Any]:
        """Return the action."""
        return [self.action]


def _animation(block: Any) -> Animation:
    return _read_animation(block.animation_data)


def _tree_animation(block: Any) -> Animation:
    tree = block.node_tree
    if tree is None:
        return _read_animation(None)
    return _read_animation(tree.animation_data)


def _animated_trees(block_list: BlockList) -> list[int]:
    """Return the places of the data-blocks whose nodes are animated."""
    trees = (block.node_tree for block in block_list.blocks)
    return places(tree is not None and tree.animation_data is not None for tree in trees)


def _read_animation(animation: Any) -> Animation:
    if animation is None:
        return Animation(None, has_slot=False, drivers={}, tracks={}, strips={})
    drivers: WordsByKey = {}
    for curve in animation.drivers:
        path = text_of(curve, "data_path")
        drivers[curve.as_pointer(), path, curve.array_index] = path
    has_slot = not _HAS_SLOTS or animation.action_slot is not None
    tracks: WordsByKey = {}
    strips: dict[tuple[Any, ...], WordsByKey] = {}
    for track in animation.nla_tracks:
        in_track = words_by_key("strip", _all_strips(track.strips), digest_of_values)
        key = key_of(track)
        strips[key] = in_track
        tracks[key] = PartWords(f"NLA track {name_of(track)}", hash(tuple(in_track)))
    return Animation(animation.action, has_slot, drivers, tracks, strips)


def _all_strips(strips: Iterable[Any]) -> list[Any]:
    """Return strips, and those in meta strips."""
    found: list[Any] = []
    for strip in strips:
        found += [strip, *_all_strips(strip.strips)]
    return found


def _describe_lost_animation(before: Animation, now: Animation, _: Any) -> list[str]:
    """Return the words for what is gone; an action that is deleted is told of as an item."""
    gone = []
    is_off = now.action is None or (before.has_slot and not now.has_slot)
    if is_off and any(action is before.action for action in bpy.data.actions):
        gone.append("animation")
    pointers = {key[0] for key in now.drivers}
    places = {key[1:] for key in now.drivers}
    paths = Counter[str]()
    for key, path in before.drivers.items():
        if key[0] not in pointers and key[1:] not in places:
            paths[path] += 1
    for path, count in paths.items():
        gone.append(f"driver of {path}" if count == 1 else f"{count} drivers of {path}")
    gone += missing_parts(before.tracks, now.tracks)
    for key, words in before.tracks.items():
        if words not in gone and key in now.strips:
            lost = missing_parts(before.strips[key], now.strips[key])
            gone += [f"{strip} of {words}" for strip in lost]
    return gone


def _keys(action: Any, budget: Budget) -> Any:
    """Return how many keys and modifiers each curve of an action has."""
    curves = fcurves_of(action)
    if not budget.take(len(curves)):
        return UNREAD
    counts = {}
    for curve in curves:
        key = (curve.as_pointer(), text_of(curve, "data_path"), curve.array_index)
        counts[key] = (len(curve.keyframe_points), len(curve.modifiers))
    return counts


def _describe_lost_keys(before: _Counts, now: _Counts, _: Any) -> list[str]:
    """Return how many keys of each property are gone: those at a frame are one key."""
    gone = []
    for column, words in enumerate(("keys", "curve modifiers")):
        old = {key: counts[column] for key, counts in before.items()}
        new = {key: counts[column] for key, counts in now.items()}
        for path, count in _fewer(old, new).items():
            if count > 0:
                gone.append(f"{words_for_count(count, words)} of {path}")
    return gone


def _fewer(before: Mapping[_Curve, int], now: Mapping[_Curve, int]) -> dict[str, int]:
    """Return by path how many fewer there are in the curve that has lost the most.

    A curve is found again by its address, else by its path and index.
    """
    by_pointer = {key[0]: count for key, count in now.items()}
    by_place = Counter[tuple[Any, ...]]()
    for key, count in now.items():
        by_place[key[1:]] += count
    fewer: dict[str, int] = {}
    for key, count in before.items():
        pointer, path, _ = key
        left = by_pointer[pointer] if pointer in by_pointer else by_place[key[1:]]
        fewer[path] = max(fewer.get(path, 0), count - left)
    return fewer


def fcurves_of(action: Any) -> list[Any]:
    """Return the curves of keys that an action has."""
    curves: list[Any] = []
    for curve_list in curve_lists_of(action):
        curves += curve_list
    return curves


def curve_lists_of(action: Any) -> list[Any]:
    """Return the lists of curves of keys that an action has: one for each slot since 4.4."""
    bags = []
    for layer in getattr(action, "layers", ()):  # since 4.4
        for strip in layer.strips:
            bags += strip.channelbags
    return [getattr(bag, "fcurves", ()) for bag in bags or [action]]


ANIMATION_ASPECTS: Final[dict[str, Aspect]] = {
    "animation": Aspect(
        applies_to=lists_with_property("animation_data"),
        find_places=places_with("animation_data"),
        read=read_each(_animation),
        describe_loss=_describe_lost_animation,
        used_blocks=Animation.used,
    ),
    "animation of nodes": Aspect(
        applies_to=lists_with_property("node_tree"),
        find_places=_animated_trees,
        read=read_each(_tree_animation),
        describe_loss=_describe_lost_animation,
        used_blocks=Animation.used,
    ),
    "keys": Aspect(
        applies_to=lists_named("actions"),
        find_places=all_places,
        read=read_each_within(_keys),
        describe_loss=_describe_lost_keys,
    ),
}
"""The aspects of animation, in the order in which a person reads what is gone of them."""
