"""Parts of animation that an edit can remove: actions, keys, drivers, NLA strips. Main thread.

An *aspect* is one such kind of part, see `aspects`. The table `ANIMATION_ASPECTS` at the end of
this module says for each which data-blocks have it, how the parts are read before and after an
edit, and how the missing parts are named for a person.

A curve holds the keys of one property in an action (`FCurve` in Blender).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import bpy

from .action_curves import HAS_SLOTS, fcurves_of
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

_Curve = tuple[int, str, int]  # the address of a curve, its path and its index
_Counts = Mapping[_Curve, tuple[int, int]]  # by curve, how many keys and modifiers it has


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

    def used_blocks(self) -> list[Any]:
        """Return the action in a list."""
        return [self.action]


def _animation_of_block(block: Any) -> Animation:
    return _read_animation(block.animation_data)


def _animation_of_nodes(block: Any) -> Animation:
    tree = block.node_tree
    if tree is None:
        return _read_animation(None)
    return _read_animation(tree.animation_data)


def _places_with_animated_nodes(block_list: BlockList) -> list[int]:
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
    has_slot = not HAS_SLOTS or animation.action_slot is not None
    tracks: WordsByKey = {}
    strips: dict[tuple[Any, ...], WordsByKey] = {}
    for track in animation.nla_tracks:
        in_track = words_by_key("strip", _all_strips(track.strips), digest_of_values)
        key = key_of(track)
        strips[key] = in_track
        tracks[key] = PartWords(f"NLA track {name_of(track)}", hash(tuple(in_track)))
    return Animation(animation.action, has_slot, drivers, tracks, strips)


def _all_strips(strips: Iterable[Any]) -> list[Any]:
    """Return strips, and the strips inside of meta strips."""
    all_strips: list[Any] = []
    for strip in strips:
        all_strips += [strip, *_all_strips(strip.strips)]
    return all_strips


def _describe_lost_animation(before: Animation, now: Animation, _: Any) -> list[str]:
    """Return the words for missing animation: the action, drivers, tracks and strips.

    A deleted action is left out: `record` names it as an item. A driver is found again by its
    address, else by its path and index.
    """
    missing = []
    is_off = now.action is None or (before.has_slot and not now.has_slot)
    if is_off and any(action is before.action for action in bpy.data.actions):
        missing.append("animation")
    pointers = {key[0] for key in now.drivers}
    paths_now = {key[1:] for key in now.drivers}
    paths = Counter[str]()
    for key, path in before.drivers.items():
        if key[0] not in pointers and key[1:] not in paths_now:
            paths[path] += 1
    for path, count in paths.items():
        missing.append(f"driver of {path}" if count == 1 else f"{count} drivers of {path}")
    missing += missing_parts(before.tracks, now.tracks)
    for key, words in before.tracks.items():
        if words not in missing and key in now.strips:
            missing_strips = missing_parts(before.strips[key], now.strips[key])
            missing += [f"{strip} of {words}" for strip in missing_strips]
    return missing


def _read_keys(action: Any, budget: Budget) -> Any:
    """Return the `_Counts` of an action, or `UNREAD`."""
    curves = fcurves_of(action)
    if not budget.take(len(curves)):
        return UNREAD
    counts = {}
    for curve in curves:
        key = (curve.as_pointer(), text_of(curve, "data_path"), curve.array_index)
        counts[key] = (len(curve.keyframe_points), len(curve.modifiers))
    return counts


def _describe_lost_keys(before: _Counts, now: _Counts, _: Any) -> list[str]:
    """Return the words for missing keys and curve modifiers, such as "2 keys of location".

    The keys of X, Y and Z at a frame count as one key.
    """
    missing = []
    for column, words in enumerate(("keys", "curve modifiers")):
        old = {key: counts[column] for key, counts in before.items()}
        new = {key: counts[column] for key, counts in now.items()}
        for path, count in _losses_by_path(old, new).items():
            if count > 0:
                missing.append(f"{words_for_count(count, words)} of {path}")
    return missing


def _losses_by_path(before: Mapping[_Curve, int], now: Mapping[_Curve, int]) -> dict[str, int]:
    """Return by path the loss of the curve that has lost the most; 0 or less for no loss.

    A curve is found again by its address, else by its path and index.
    """
    by_pointer = {key[0]: count for key, count in now.items()}
    by_place = Counter[tuple[Any, ...]]()
    for key, count in now.items():
        by_place[key[1:]] += count
    losses: dict[str, int] = {}
    for key, count in before.items():
        pointer, path, _ = key
        left = by_pointer[pointer] if pointer in by_pointer else by_place[key[1:]]
        losses[path] = max(losses.get(path, 0), count - left)
    return losses


ANIMATION_ASPECTS: Final[dict[str, Aspect]] = {
    "animation": Aspect(
        applies_to=lists_with_property("animation_data"),
        find_places=places_with("animation_data"),
        read=read_each(_animation_of_block),
        describe_loss=_describe_lost_animation,
        used_blocks=Animation.used_blocks,
    ),
    "animation of nodes": Aspect(
        applies_to=lists_with_property("node_tree"),
        find_places=_places_with_animated_nodes,
        read=read_each(_animation_of_nodes),
        describe_loss=_describe_lost_animation,
        used_blocks=Animation.used_blocks,
    ),
    "keys": Aspect(
        applies_to=lists_named("actions"),
        find_places=all_places,
        read=read_each_within(_read_keys),
        describe_loss=_describe_lost_keys,
    ),
}
"""The aspects of animation, in the order in which a person reads what is missing."""
