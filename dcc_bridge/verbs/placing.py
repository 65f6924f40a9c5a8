"""The verbs `transform` and `group`, which move items and put them below others. Main thread.

An item's *placement* is its place (`at`), its rotation in degrees and its scale. To *aim* an item
is to turn it until its own front axis points at a target, while its own up axis stays upright. To
*set it down* is to move it until its lowest point is on the top of another item or the ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from dcc_bridge.geometry import add, aiming_rotation, middle
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import Json, result
from dcc_bridge.verbs.editing import ItemVerbs, Numbers, rounded
from dcc_bridge.verbs.items import by_depth, checked_point, counted, followed, lineage, point
from dcc_bridge.verbs.operations import SCENE, Axes, Bounds, Placement, Vector
from dcc_bridge.verbs.ports import AppliedTransforms, Building
from dcc_bridge.verbs.repeats import read_repeat, turn_to

Part = Literal["at", "rotation", "scale"]


class PlacingVerbs(ItemVerbs[Building]):
    """The verbs that place and group items."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the functions that are offered to agents, in the order of the list."""
        return [self.transform, self.group]

    @skill(title="Transform items", risk="edit")
    def transform(
        self,
        items: list[str],
        at: Numbers = [],
        move: Numbers = [],
        rotate: Numbers = [],
        scale: Numbers = [],
        look_at: str | Numbers = "",
        on: str = "",
        space: Literal["world", "local"] = "world",
        apply: list[Part] = [],
        repeat: Json = {},
    ) -> outputs.Moved:
        """Move, rotate, scale, aim, set down on others, apply transforms.

        rotate: in degrees; look_at: item or point; on: item or "ground"; apply: into the data;
        space: of at, move, rotate; repeat: as of create.
        """
        items = self._check(items, "Transform")
        if not (at or move or rotate or scale or look_at or on or apply or repeat):
            raise ValueError("Say what to do: at, move, rotate, scale, look_at, on or apply.")
        if repeat and (move or space == "local"):
            raise ValueError(
                "repeat says where in the world the items are: leave move and space out; at is "
                "where it begins."
            )
        if at and "along" in repeat:
            raise ValueError("repeat along a path has its own places: leave at out.")
        apply_parts = self._make_applier(apply)
        operations = self._operations
        before = {item: operations.placement(item, space) for item in track(items)}
        offset = point(move, "move")
        new_place = point(at, "at")
        new_rotation = point(rotate, "rotate")
        new_scale = point(scale, "scale")
        aim = self._make_aimer(items, look_at)
        put = self._make_repeater(items, repeat, new_place or before[items[0]].at)
        for item in track(by_depth(operations, items), message="Moving"):
            place = new_place
            if offset:
                place = add(new_place or before[item].at, offset)
            if place or new_rotation or new_scale:
                operations.place(item, place, new_rotation, new_scale, space)
            put(item)
            aim(item)
            if on:
                operations.place(item, at=self._place_on(item, on))
            apply_parts(item)
        did = _past_tense(is_aimed=bool(look_at), is_moved=bool(at or move or repeat))
        rows = self._change_rows(items, before, space)
        return result(items, f"{did} {counted(operations, items)}", changed=rows)

    def _change_rows(
        self, items: Sequence[str], before: Mapping[str, Placement], space: Axes
    ) -> Iterator[Json]:
        """Yield a row for each item with its placement before and after."""
        for item in items:
            after = self._operations.placement(item, space)
            yield {"item": item, "before": _row(before[item]), "after": _row(after)}

    def _make_repeater(
        self, items: Sequence[str], told: Json, base: Vector
    ) -> Callable[[str], None]:
        """Return a function that puts an item on its spot of a repeat, in the order of the items.

        Without a repeat the function does nothing.

        Raises:
            ValueError: The repeat has fewer spots than there are items, or a name.
        """
        if not told:
            return lambda item: None
        operations = self._operations
        repeat = read_repeat(told, operations.up, operations.path, len(items))
        if repeat.name:
            raise ValueError("repeat: transform gives no names; rename does, with pattern and to.")
        if len(repeat.spots) < len(items):
            raise ValueError(f"repeat: {len(items)} items and only {len(repeat.spots)} places.")
        spots = dict(zip(items, repeat.spots, strict=False))

        def put(item: str) -> None:
            operations.place(item, at=spots[item].place(base))
            turn_to(operations, item, repeat, spots[item])

        return put

    def _make_applier(self, parts: list[Part]) -> Callable[[str], None]:
        """Return a function that applies these parts of an item's transform to its data.

        Without parts the function does nothing.

        Raises:
            ValueError: There are parts, and the host cannot apply transforms.
        """
        operations = self._operations
        if not parts:
            return lambda item: None
        if not isinstance(operations, AppliedTransforms):
            raise ValueError("This application has no transforms to apply: leave apply empty.")
        return lambda item: operations.apply(item, parts)

    def _make_aimer(self, items: Sequence[str], look_at: str | Numbers) -> Callable[[str], None]:
        """Return a function that turns an item to face a point or another item.

        Without a target the function does nothing.

        Args:
            items: All the items that the call transforms.
            look_at: The point, or the target item; empty for no target.
        """
        if not look_at:
            return lambda item: None
        if isinstance(look_at, list):
            target = checked_point(look_at, "look_at")
            return lambda item: self._turn_to(item, target)
        # The target moves if it, or an item above it, is itself transformed by this call. Then its
        # middle is measured again for each item; otherwise once.
        target_moves = not set(items).isdisjoint(lineage(self._operations, look_at))
        find_middle = self._middle_of
        if not target_moves:
            find_middle = cache(self._middle_of)
        return lambda item: self._turn_to(item, find_middle(look_at))

    def _turn_to(self, item: str, target: Vector) -> None:
        """Turn an item in world space so that it faces a point."""
        self._operations.place(item, rotation=self._rotation_towards(item, target))

    def _middle_of(self, item: str) -> Vector:
        """Return the middle of an item's box, or the item's origin if the item has no size."""
        box = self._operations.bounds(item)
        if box is None:
            return self._operations.placement(item).at
        return middle(box)

    def _rotation_towards(self, item: str, target: Vector) -> Vector:
        """Return the rotation in world space with which an item faces a point.

        Raises:
            ValueError: The point is the item's own place, so there is no direction to it.
        """
        operations = self._operations
        eye = operations.placement(item).at
        axis, up = operations.aim(item)
        if math.dist(eye, target) < 1e-9:
            raise ValueError(f"{item} is at the point that it should look at. Move one of them.")
        world_up = (0.0, 0.0, 1.0)
        if operations.up == "Y":
            world_up = (0.0, 1.0, 0.0)
        direction = add(target, eye, -1.0)
        return aiming_rotation(axis, up, direction, world_up)

    def _place_on(self, item: str, on: str) -> Vector:
        """Return the place at which an item stands on another item or on the ground.

        Args:
            item: The item that is set down; it moves along the world's up axis only.
            on: The item below it, or "ground" for the height 0.

        Raises:
            ValueError: One of the two has no size.
        """
        operations = self._operations
        axis = 2
        if operations.up == "Y":
            axis = 1
        floor: Bounds | None = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        if on != "ground":
            floor = operations.bounds(on)
        box = operations.bounds(item)
        at = list(operations.placement(item).at)
        if floor is None:
            raise ValueError(f"{on} has no size, so nothing stands on it.")
        if box is None:
            raise ValueError(f"{item} has no size, so nothing stands on it.")
        lowest = box[0][axis]
        top = floor[1][axis]
        at[axis] += top - lowest
        return at[0], at[1], at[2]

    @skill(title="Group items", risk="edit")
    def group(
        self,
        items: list[str],
        under: str = "",
        into: str = "",
        kind: Literal["parent", "collection", "set", "layer", "folder"] = "parent",
        keep_place: bool = True,
    ) -> outputs.Grouped:
        """Parent, unparent, collect items in a collection, set, layer or folder.

        Args:
            items: Which ones.
            under: The new parent; "@scene" for none.
            into: Or the collection, set, layer or folder; made if there is none.
            kind: What `into` is.
            keep_place: They stay where they are in the world.
        """
        operations = self._operations
        items = self._check(items, "Group")
        has_one_target = bool(under) != bool(into)
        kind_needs_into = kind != "parent"
        if not has_one_target or kind_needs_into != bool(into):
            raise ValueError('Give under, or into with its kind: "collection", "set", ...')
        if into:
            collection = operations.collect(items, into, kind)
            summary = f"Put {counted(operations, items)} into {operations.name(collection)}"
            return result(items, summary, into=collection)
        parent = None
        if under != SCENE:
            parent = under
            operations.kind(parent)
        # Setting a parent may change an item's path, and so the paths below it: `moved` has the new
        # path of each item, and the result follows them.
        moved = {}
        for item in track(by_depth(operations, items, deepest=True)):
            moved[item] = operations.set_parent(item, parent, keep_place=keep_place)
        now = [followed(moved[item], moved) for item in track(items)]
        where = "at the top of the scene"
        if parent:
            where = f"under {operations.name(parent)}"
        summary = f"Put {counted(operations, now)} {where}"
        return result(now, summary, under=operations.parent(now[0]))


def _past_tense(*, is_aimed: bool, is_moved: bool) -> str:
    """Return the verb in the past tense with which the summary of `transform` begins."""
    if is_aimed:
        return "Aimed"
    if is_moved:
        return "Moved"
    return "Transformed"


def _row(placement: Placement) -> Json:
    """Return a placement as the result of `transform` shows it, with rounded numbers."""
    return {name: rounded(getattr(placement, name)) for name in ("at", "rotation", "scale")}
