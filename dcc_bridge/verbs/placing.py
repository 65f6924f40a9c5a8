"""The verbs that place items in the world and below others. Main thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from dcc_bridge.geometry import add, frame_of, middle
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import Json, result
from dcc_bridge.verbs.editing import ItemVerbs, Numbers, rounded
from dcc_bridge.verbs.items import by_depth, checked_point, counted, followed, lineage, point
from dcc_bridge.verbs.operations import SCENE, Axes, Bounds, Placement, Vector
from dcc_bridge.verbs.ports import AppliedTransforms, Building

Part = Literal["at", "rotation", "scale"]


class PlacingVerbs(ItemVerbs[Building]):
    """The verbs that place and group items."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.transform, self.group]

    @skill(risk="edit")
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
    ) -> Any:
        """Move, rotate, scale, aim, set down on others, apply transforms.

        rotate is the new rotation in degrees about x, y, z; look_at an item or a point to face; on
        an item to stand on, or "ground"; apply puts parts into the data; space is of at, move and
        rotate.
        """
        self._check(items, "Transform")
        if not (at or move or rotate or scale or look_at or on or apply):
            raise ValueError("Say what to do: at, move, rotate, scale, look_at, on or apply.")
        apply_to = self._applier(apply)
        operations = self._operations
        before = {item: operations.placement(item, space) for item in track(items)}
        offset = point(move, "move")
        new_place = point(at, "at")
        rotation = point(rotate, "rotate")
        size = point(scale, "scale")
        aim = self._aimer(items, look_at)
        for item in track(by_depth(operations, items), message="Moving"):
            place = new_place
            if offset:
                place = add(new_place or before[item].at, offset)
            if place or rotation or size:
                operations.place(item, place, rotation, size, space)
            aim(item)
            if on:
                operations.place(item, at=self._set_down(item, on))
            apply_to(item)
        did = _past_tense(is_aimed=bool(look_at), is_moved=bool(at or move))
        rows = self._changes(items, before, space)
        return result(items, f"{did} {counted(operations, items)}", changed=rows)

    def _changes(
        self, items: Sequence[str], before: Mapping[str, Placement], space: Axes
    ) -> Iterator[Json]:
        """Yield a row for each item with its placement before and after."""
        for item in items:
            after = self._operations.placement(item, space)
            yield {"item": item, "before": _row(before[item]), "after": _row(after)}

    def _applier(self, parts: list[Part]) -> Callable[[str], None]:
        """Return a function that applies these parts of an item's transform to its data."""
        operations = self._operations
        if not parts:
            return lambda item: None
        if not isinstance(operations, AppliedTransforms):
            raise ValueError("This application has no transforms to apply: leave apply empty.")
        return lambda item: operations.apply(item, parts)

    def _aimer(self, items: Sequence[str], look_at: str | Numbers) -> Callable[[str], None]:
        """Return a function that turns an item to face a point or another item."""
        if not look_at:
            return lambda item: None
        if isinstance(look_at, list):
            target = checked_point(look_at, "look_at")
            return lambda item: self._turn_to(item, target)
        # A target that moves with the items is measured again for each of them.
        target_moves = not set(items).isdisjoint(lineage(self._operations, look_at))
        measured = self._middle_of
        if not target_moves:
            measured = cache(self._middle_of)
        return lambda item: self._turn_to(item, measured(look_at))

    def _turn_to(self, item: str, target: Vector) -> None:
        self._operations.place(item, rotation=self._aimed(item, target))

    def _middle_of(self, item: str) -> Vector:
        """Return the middle of an item's box; its origin where it has no size."""
        box = self._operations.bounds(item)
        if box is None:
            return self._operations.placement(item).at
        return middle(box)

    def _aimed(self, item: str, target: Vector) -> Vector:
        """Return the rotation in world space with which an item looks at a point."""
        operations = self._operations
        eye = operations.placement(item).at
        axis, up = operations.aim(item)
        if math.dist(eye, target) < 1e-9:
            raise ValueError(f"{item} is at the point that it should look at. Move one of them.")
        world_up = (0.0, 0.0, 1.0)
        if operations.up == "Y":
            world_up = (0.0, 1.0, 0.0)
        direction = add(target, eye, -1.0)
        return aimed(axis, up, direction, world_up)

    def _set_down(self, item: str, on: str) -> Vector:
        """Return the place where the lowest point of an item is on the top of another item."""
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

    @skill(risk="edit")
    def group(
        self,
        items: list[str],
        under: str = "",
        into: str = "",
        kind: Literal["parent", "collection", "set", "layer", "folder"] = "parent",
        keep_place: bool = True,
    ) -> Any:
        """Parent, unparent, collect items in a collection, set, layer or folder.

        Args:
            items: Which ones.
            under: The new parent; "@scene" for none.
            into: Or the collection, set, layer or folder; made if there is none.
            kind: What `into` is.
            keep_place: They stay where they are in the world.
        """
        operations = self._operations
        self._check(items, "Group")
        if bool(under) == bool(into) or (kind == "parent") == bool(into):
            raise ValueError('Give under, or into with its kind: "collection", "set", ...')
        if into:
            collection = operations.collect(items, into, kind)
            summary = f"Put {counted(operations, items)} into {operations.name(collection)}"
            return result(items, summary, into=collection)
        parent = None
        if under != SCENE:
            parent = under
            operations.kind(parent)
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
    """Return what was done to items, as the summary begins."""
    if is_aimed:
        return "Aimed"
    if is_moved:
        return "Moved"
    return "Transformed"


def aimed(axis: Vector, up: Vector, to: Vector, world_up: Vector) -> Vector:
    """Return the rotation that turns one axis to a direction and keeps another axis up.

    Args:
        axis: The item's own axis that is to look along `to`.
        up: The item's own axis that is to stay up.
        to: The direction, in world space.
        world_up: The direction that is up in the world.

    Returns:
        Degrees about the fixed axes X, Y and Z.
    """
    own = frame_of(axis, up)
    world = frame_of(to, world_up)
    # Rows of the matrix that turns the one frame into the other.
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(sum(world[k][i] * own[k][j] for k in range(3)))
        rows.append(row)
    sine = -rows[2][0]
    y = math.asin(max(-1.0, min(1.0, sine)))
    if abs(sine) < 1 - 1e-9:
        x = math.atan2(rows[2][1], rows[2][2])
        z = math.atan2(rows[1][0], rows[0][0])
    else:  # X and Z turn about one axis, so all of the turn is given to X
        x = math.atan2(-rows[1][2], rows[1][1])
        z = 0.0
    return math.degrees(x), math.degrees(y), math.degrees(z)


def _row(placement: Placement) -> Json:
    return {name: rounded(getattr(placement, name)) for name in ("at", "rotation", "scale")}
