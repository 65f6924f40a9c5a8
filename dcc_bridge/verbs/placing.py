"""The verbs that place items in the world and below others. Main thread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from dcc_bridge.geometry import add, frame_of, middle
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import Json, result
from dcc_bridge.verbs.editing import ItemVerbs, Numbers, rounded
from dcc_bridge.verbs.items import by_depth, counted, followed, lineage, point
from dcc_bridge.verbs.operations import SCENE, Placement, Vector
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
        offset, wanted = point(move, "move"), point(at, "at")
        turned, size = point(rotate, "rotate"), point(scale, "scale")
        seen = "" if isinstance(look_at, list) else look_at
        target = point(look_at, "look_at") if isinstance(look_at, list) else None
        moves = not {*items}.isdisjoint(
            lineage(operations, seen)
        )  # the target: it is measured each time
        for item in track(by_depth(operations, items), message="Moving"):
            place = add(wanted or before[item].at, offset) if offset else wanted
            if place or turned or size:
                operations.place(item, place, turned, size, space)
            if seen and (moves or target is None):
                box = operations.bounds(seen)
                target = operations.placement(seen).at if box is None else middle(box)
            if target:
                operations.place(item, rotation=self._aimed(item, target))
            if on:
                operations.place(item, at=self._set_down(item, on))
            apply_to(item)
        did = "Aimed" if look_at else "Moved" if place else "Transformed"
        rows = ({"item": item, "before": _told(before[item]),
                 "after": _told(operations.placement(item, space))}
                for item in items)  # fmt: skip
        return result(items, f"{did} {counted(operations, items)}", changed=rows)

    def _applier(self, parts: list[Part]) -> Callable[[str], None]:
        """Return what puts parts of an item's transform into its data."""
        operations = self._operations
        if not parts:
            return lambda item: None
        if not isinstance(operations, AppliedTransforms):
            raise ValueError("This application has no transforms to apply: leave apply empty.")
        return lambda item: operations.apply(item, parts)

    def _aimed(self, item: str, target: Vector) -> Vector:
        """Give the rotation in world space with which an item looks at a point."""
        operations, eye = self._operations, self._operations.placement(item).at
        axis, up = operations.aim(item)
        if math.dist(eye, target) < 1e-9:
            raise ValueError(f"{item} is where it is to look at: move one of them.")
        world_up = (0.0, 1.0, 0.0) if operations.up == "Y" else (0.0, 0.0, 1.0)
        return aimed(axis, up, add(target, eye, -1.0), world_up)

    def _set_down(self, item: str, on: str) -> Vector:
        """Give the place where the lowest point of an item is on the top of another one."""
        operations, axis = self._operations, 1 if self._operations.up == "Y" else 2
        floor = ((0.0,) * 3, (0.0,) * 3) if on == "ground" else operations.bounds(on)
        box, at = operations.bounds(item), list(operations.placement(item).at)
        if floor is None or box is None:
            bare = on if floor is None else item
            raise ValueError(f"{bare} has no size, so nothing stands on it.")
        at[axis] += floor[1][axis] - box[0][axis]
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
        self._check(items, "Group")
        if bool(under) == bool(into) or (kind == "parent") == bool(into):
            raise ValueError('Give under, or into with its kind: "collection", "set", ...')
        if into:
            where = self._operations.collect(items, into, kind)
            did = f"Put {counted(self._operations, items)} into {self._operations.name(where)}"
            return result(items, did, into=where)
        parent = None if under == SCENE else under
        if parent:
            self._operations.kind(parent)
        moved = {it: self._operations.set_parent(it, parent, keep_place=keep_place)
                 for it in track(by_depth(self._operations, items, deepest=True))}  # fmt: skip
        now = [followed(moved[item], moved) for item in track(items)]
        where = f"under {self._operations.name(parent)}" if parent else "at the top of the scene"
        did = f"Put {counted(self._operations, now)} {where}"
        return result(now, did, under=self._operations.parent(now[0]))


def aimed(axis: Vector, up: Vector, to: Vector, world_up: Vector) -> Vector:
    """Give the degrees about fixed x, y, z that turn an axis to a direction, the other one up."""
    own, other = frame_of(axis, up), frame_of(to, world_up)
    # rows of the matrix that turns the one frame into the other
    m = [[sum(other[k][i] * own[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    y = math.asin(max(-1.0, min(1.0, -m[2][0])))
    if abs(m[2][0]) < 1 - 1e-9:
        x, z = math.atan2(m[2][1], m[2][2]), math.atan2(m[1][0], m[0][0])
    else:  # two of the three turn about one axis
        x, z = math.atan2(-m[1][2], m[1][1]), 0.0
    return math.degrees(x), math.degrees(y), math.degrees(z)


def _told(placement: Placement) -> Json:
    return {name: rounded(getattr(placement, name)) for name in ("at", "rotation", "scale")}
