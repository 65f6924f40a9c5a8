"""Computes the viewpoints of `look`'s pictures, and the places of boxes in them. Main thread.

A `Shot` is a viewpoint; a `Spot` is the place of a box in the picture that a shot gives. A shot's
axes are called `right`, `over` (up in the picture) and `ahead` (away from the eye). A *depth* is a
distance along `ahead`, and an *aspect* is a picture's width divided by its height.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Final, NamedTuple

from dcc_bridge import track
from dcc_bridge.geometry import add, cross, dot, frame_of, middle, unit
from dcc_bridge.verbs.operations import Bounds, Shot, Vector, triple
from dcc_bridge.verbs.ports import Drawing
from dcc_bridge.verbs.scene import scene_value
from dcc_bridge.verbs.unreadable import box_of_item, readable

_VIEW_ANGLE_DEG: Final = 35.0  # from top to bottom, in the views with perspective
_MARGIN: Final = 1.08  # the size of a picture, divided by the size of its items in it
_SMALL: Final = 0.33  # a share of a picture's width or height below which a box is framed closer
_ROOM: Final = 2.0  # the size of what is framed closer, with the room around it, by its own size
_PLACE_SHARE: Final = 0.02  # of a picture's height: half the size with which a mere place is framed
PLACE_HALF: Final = 1e-3  # half the edge of the box around the place of an item without a size
_UNIT_BOX: Final[Bounds] = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
_ORIGIN: Final[Vector] = (0.0, 0.0, 0.0)
_OPPOSITE: Final = {"back": "front", "left": "right", "bottom": "top"}
# The views with perspective, each with the angles of its shots, from the front to the right.
_AROUND_DEG: Final = {"three_quarter": (40.0,), "around": (45.0, 135.0, 225.0, 315.0)}
VIEWS: Final = {"front", "right", "top", *_OPPOSITE, *_AROUND_DEG}


def shots(operations: Drawing, items: Sequence[str], view: str, aspect: float) -> list[Shot]:
    """Return the viewpoints of a view, for the scene at the frame that it is evaluated at.

    Args:
        operations: The host's operations.
        items: The items that fill the pictures; empty for the whole scene.
        view: A view as `look` takes it: one of `VIEWS`, "person", "camera", or a camera's item.
        aspect: The width of a picture divided by its height.

    Raises:
        LookupError: There is no such view or camera.
        ValueError: There is no window to look through.
    """
    if view == "camera":
        view = scene_value(operations, "camera")
        if not view:
            raise LookupError("The scene has no camera of its own: give a camera's item as view.")
    if view not in VIEWS:
        try:
            return [operations.viewpoint(view)]
        except LookupError as error:
            every = ", ".join(("person", "camera", *sorted(VIEWS)))
            raise LookupError(f"{error} Views: {every}.") from None
    right, up = _axes(operations)
    box = _box_around(operations, items)
    if view in _AROUND_DEG:
        return _shots_around(box, right, up, aspect, _AROUND_DEG[view])
    return [_axis_shot(box, right, up, aspect, view)]


def turntable(operations: Drawing, items: Sequence[str], count: int, aspect: float) -> list[Shot]:
    """Return viewpoints on a circle around items, all from the same distance.

    Args:
        operations: The host's operations.
        items: The items in the middle; empty for the whole scene.
        count: The number of viewpoints, the first in front.
        aspect: The width of a picture divided by its height.
    """
    right, up = _axes(operations)
    turns_deg = [360 * number / count for number in range(count)]
    around = _shots_around(_box_around(operations, items), right, up, aspect, turns_deg)
    distance = max(math.dist(shot.eye, shot.target) for shot in around)
    shots = []
    for shot in around:
        direction = unit(add(shot.eye, shot.target, -1))
        shots.append(replace(shot, eye=add(shot.target, direction, distance)))
    return shots


def _axes(operations: Drawing) -> tuple[Vector, Vector]:
    """Return the directions that are right and up in a view from the front."""
    if operations.up == "Y":
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    return (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def _axis_shot(box: Bounds, right: Vector, up: Vector, aspect: float, view: str) -> Shot:
    """Return the shot of a view along an axis, such as "front", without perspective."""
    front = cross(right, up)
    directions = {"front": front, "right": right, "top": up}
    for name, opposite in _OPPOSITE.items():
        directions[name] = add(_ORIGIN, directions[opposite], -1)
    over = up
    if view == "top":
        over = directions["back"]
    elif view == "bottom":
        over = front
    return _fit_shot(box, directions[view], over, aspect, 0.0)


def _shots_around(
    box: Bounds, right: Vector, up: Vector, aspect: float, turns_deg: Sequence[float]
) -> list[Shot]:
    """Return shots with perspective from a little above, one for each angle of `turns_deg`."""
    front = cross(right, up)
    around = []
    for turn in turns_deg:
        radians = math.radians(turn)
        level = add(add(_ORIGIN, front, math.cos(radians)), right, math.sin(radians))
        direction = unit(add(level, up, 0.5))
        around.append(_fit_shot(box, direction, up, aspect, _VIEW_ANGLE_DEG))
    return around


def _box_around(operations: Drawing, items: Sequence[str]) -> Bounds:
    """Return the box around items, or around the whole scene where none are given.

    Where nothing has a size, it is the box from -1 to 1 on each axis.
    """
    boxes = []
    for item in items:
        box = readable(item, box_of, operations, item, 1.0)
        if box is not None:
            boxes.append(box)
    if not items:
        for item in track(operations.items()):
            box = readable(item, _box_at_the_top, operations, item)
            if box is not None:
                boxes.append(box)
    return around(boxes or [_UNIT_BOX])


def around(boxes: Sequence[Bounds]) -> Bounds:
    """Return the box around boxes, at least one."""
    lowest = [min(box[0][axis] for box in boxes) for axis in range(3)]
    highest = [max(box[1][axis] for box in boxes) for axis in range(3)]
    return triple(lowest), triple(highest)


def close_up(shot: Shot, box: Bounds, aspect: float) -> Shot:
    """Return a shot from the same direction in which a box is seen whole and is not small.

    Args:
        shot: The viewpoint; it is returned itself if the box is seen so in it.
        box: The box in world space.
        aspect: The width of the picture divided by its height.
    """
    place = spot(shot, box, aspect)
    if place is not None and not place.is_cut and _size(place) >= _SMALL:
        return shot
    at = middle(box)
    half = add(box[1], at, -1)
    if max(half) <= PLACE_HALF:
        distance = max(math.dist(shot.eye, at), 1e-2)
        half = triple([height_at(shot, distance) * _PLACE_SHARE] * 3)
    roomy = add(at, half, -_ROOM), add(at, half, _ROOM)
    direction = unit(add(shot.eye, shot.target, -1))
    return _fit_shot(roomy, direction, shot.up, aspect, shot.angle)


def _size(place: Spot) -> float:
    """Return the larger of the two sides of a box in a picture."""
    return max(place.right - place.left, place.bottom - place.top)


def _box_at_the_top(operations: Drawing, item: str) -> Bounds | None:
    """Return the box of an item at the top of the scene; None for any other item."""
    if operations.parent(item) is not None:
        return None
    return box_of_item(operations, item)


def box_of(operations: Drawing, item: str, half_size: float) -> Bounds | None:
    """Return the box in which an item is looked for in a picture.

    Args:
        operations: The host's operations.
        item: The item.
        half_size: Half the edge of the box that an item without a size gets, such as a light.

    Returns:
        The item's own box, or a box around its place; None for an item that has no place either.
    """
    box = box_of_item(operations, item)
    if box:
        return box
    with suppress(ValueError):
        at = operations.placement(item).at
        return add(at, _UNIT_BOX[0], half_size), add(at, _UNIT_BOX[1], half_size)
    return None


def _fit_shot(box: Bounds, direction: Vector, up: Vector, aspect: float, angle_deg: float) -> Shot:
    """Return the shot from a direction in which all of a box is just inside the picture.

    Args:
        box: The box that must be in the picture as a whole.
        direction: From the middle of the box to the eye, of length 1.
        up: The direction that is up in the picture.
        aspect: The width of the picture divided by its height.
        angle_deg: The angle of view from top to bottom; 0 for a shot without perspective.
    """
    target = middle(box)
    right, over, ahead = frame_of(add(_ORIGIN, direction, -1), up)
    # For each corner: half the height that the picture needs there, and the depth behind `target`.
    halves = []
    depths = []
    for corner in _corners(box):
        offset = add(corner, target, -1)
        half = max(abs(dot(offset, over)), abs(dot(offset, right)) / aspect)
        halves.append(half * _MARGIN)
        depths.append(dot(offset, ahead))
    if not angle_deg:
        height = max(2 * max(halves), 1e-3)
        eye = add(target, direction, max(depths) + height)
        return Shot(eye, target, up, height=height)
    slope = math.tan(math.radians(angle_deg) / 2)
    # From this distance the corner that needs the most room is just inside the picture.
    far = max(half / slope - depth for half, depth in zip(halves, depths, strict=True))
    eye = add(target, direction, max(far, 1e-2))
    return Shot(eye, target, up, angle_deg)


def _corners(box: Bounds) -> Iterator[Vector]:
    """Yield the eight corners of a box."""
    low, high = box
    yield from product((low[0], high[0]), (low[1], high[1]), (low[2], high[2]))


class Spot(NamedTuple):
    """The place of a box in a picture.

    Attributes:
        left: The left side of the box; 0 at the left edge of the picture and 1 at the right edge.
        top: The upper side of the box; 0 at the upper edge of the picture and 1 at the lower edge.
        right: The right side of the box, measured like `left`.
        bottom: The lower side of the box, measured like `top`.
        near: The depth of the corner of the box that is nearest to the eye.
        far: The depth of the corner that is farthest from the eye.
    """

    left: float
    top: float
    right: float
    bottom: float
    near: float
    far: float

    @property
    def area(self) -> float:
        """The share of the picture that the box covers; 0 only if it is wholly outside.

        A box without a width or a height in the picture has a tiny share, so that it counts.
        """
        width = min(self.right, 1.0) - max(self.left, 0.0)
        height = min(self.bottom, 1.0) - max(self.top, 0.0)
        if width < 0 or height < 0:
            return 0.0
        return max(width, 1e-9) * max(height, 1e-9)

    @property
    def is_cut(self) -> bool:
        """Whether some of the box is outside of the picture."""
        return min(self.left, self.top) < 0 or max(self.right, self.bottom) > 1

    def hides(self, other: Spot) -> bool:
        """Return whether the box is wholly in front of another box and covers all of it."""
        if self.far >= other.near:
            return False
        is_wide = self.left <= other.left and self.right >= other.right
        is_high = self.top <= other.top and self.bottom >= other.bottom
        return is_wide and is_high


def spot(shot: Shot, box: Bounds, aspect: float) -> Spot | None:
    """Return the place of a box in a picture; None unless the box is wholly in front of the eye.

    Args:
        shot: The viewpoint of the picture.
        box: The box in world space.
        aspect: The width of the picture divided by its height.
    """
    right, over, ahead = frame_of(add(shot.target, shot.eye, -1), shot.up)
    across = []
    down = []
    depths = []
    for corner in _corners(box):
        offset = add(corner, shot.eye, -1)
        depth = dot(offset, ahead)
        if depth < 1e-9:
            return None
        height = height_at(shot, depth)
        depths.append(depth)
        across.append(0.5 + dot(offset, right) / (height * aspect))
        down.append(0.5 - dot(offset, over) / height)
    return Spot(min(across), min(down), max(across), max(down), min(depths), max(depths))


def height_at(shot: Shot, depth: float) -> float:
    """Return how many scene units a picture is high at a depth."""
    if not shot.angle:
        return shot.height
    return 2 * depth * math.tan(math.radians(shot.angle) / 2)
