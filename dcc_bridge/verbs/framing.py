"""From where the pictures of `look` are taken, and where boxes are in them. Main thread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Final, NamedTuple

from dcc_bridge import track
from dcc_bridge.geometry import add, cross, dot, frame_of, middle, unit
from dcc_bridge.verbs.operations import Bounds, Shot, Vector, triple
from dcc_bridge.verbs.ports import Drawing
from dcc_bridge.verbs.reading import scene_value

_VIEW_ANGLE_DEG: Final = 35.0  # from top to bottom, of a view that is made for the items
_MARGIN: Final = 1.08  # by which a picture is larger than the box of its items
_UNIT: Final[Bounds] = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
_ORIGIN: Final[Vector] = (0.0, 0.0, 0.0)
_OPPOSITE: Final = {"back": "front", "left": "right", "bottom": "top"}
# The turns of each view with perspective, in degrees from the front to the right.
_AROUND_DEG: Final = {"three_quarter": (40.0,), "around": (45.0, 135.0, 225.0, 315.0)}
VIEWS: Final = {"front", "right", "top", *_OPPOSITE, *_AROUND_DEG}


def shots(operations: Drawing, items: Sequence[str], view: str, aspect: float) -> list[Shot]:
    """Return from where the pictures of a view are taken, at the frame that is evaluated.

    Args:
        operations: What the host can do.
        items: The items that are framed; none of them stands for all.
        view: As `look` has it.
        aspect: The width of a picture by its height.

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
    up: Vector = (0.0, 0.0, 1.0)
    if operations.up == "Y":
        up = (0.0, 1.0, 0.0)
    right: Vector = (1.0, 0.0, 0.0)
    box = _framed(operations, items)
    if view in _AROUND_DEG:
        return _shots_around(box, right, up, aspect, _AROUND_DEG[view])
    return [_orthographic(box, right, up, aspect, view)]


def _orthographic(box: Bounds, right: Vector, up: Vector, aspect: float, view: str) -> Shot:
    """Return a shot along an axis, without perspective."""
    front = cross(right, up)
    directions = {"front": front, "right": right, "top": up}
    for name, opposite in _OPPOSITE.items():
        directions[name] = add(_ORIGIN, directions[opposite], -1)
    over = up
    if view == "top":
        over = directions["back"]
    elif view == "bottom":
        over = front
    return _fitting(box, directions[view], over, aspect, 0.0)


def _shots_around(
    box: Bounds, right: Vector, up: Vector, aspect: float, turns_deg: Sequence[float]
) -> list[Shot]:
    """Return shots from a little above, each turned from the front to the right."""
    front = cross(right, up)
    taken = []
    for turn in turns_deg:
        radians = math.radians(turn)
        level = add(add(_ORIGIN, front, math.cos(radians)), right, math.sin(radians))
        direction = unit(add(level, up, 0.5))
        taken.append(_fitting(box, direction, up, aspect, _VIEW_ANGLE_DEG))
    return taken


def _framed(operations: Drawing, items: Sequence[str]) -> Bounds:
    """Return the box around items, or around the whole scene where none are given."""
    boxes = []
    for item in items:
        box = box_of(operations, item, 1.0)
        if box is not None:
            boxes.append(box)
    if not items:
        for item in track(operations.items()):
            if operations.parent(item) is not None:
                continue
            box = operations.bounds(item)
            if box is not None:
                boxes.append(box)
    if not boxes:
        boxes = [_UNIT]
    lowest = [min(box[0][axis] for box in boxes) for axis in range(3)]
    highest = [max(box[1][axis] for box in boxes) for axis in range(3)]
    return triple(lowest), triple(highest)


def box_of(operations: Drawing, item: str, half_size: float) -> Bounds | None:
    """Return an item's box; for an item without a size, such as a light, a box at its place.

    None for an item that has no place either.
    """
    box = operations.bounds(item)
    if box:
        return box
    with suppress(ValueError):
        at = operations.placement(item).at
        return add(at, _UNIT[0], half_size), add(at, _UNIT[1], half_size)
    return None


def _fitting(box: Bounds, direction: Vector, up: Vector, aspect: float, angle_deg: float) -> Shot:
    """Return a shot from a direction, from so far away that all of a box is in the picture.

    Args:
        box: What is to be in the picture.
        direction: From the middle of the box to the eye, of length 1.
        up: The direction that is up in the picture.
        aspect: The width of the picture by its height.
        angle_deg: From top to bottom; 0 for a shot without perspective.
    """
    target = middle(box)
    right, over, ahead = frame_of(add(_ORIGIN, direction, -1), up)
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
        left: From the left edge, as a share of the picture's width; so is `right`.
        top: From the upper edge, as a share of the picture's height; so is `bottom`.
        right: The other side.
        bottom: The other side.
        near: The distance of its nearest corner from the eye, ahead.
        far: The distance of its farthest corner.
    """

    left: float
    top: float
    right: float
    bottom: float
    near: float
    far: float

    @property
    def area(self) -> float:
        """The share of the picture that the box covers; 0 outside of the picture."""
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
        """Return whether the box is before another box and covers it wholly."""
        if self.far >= other.near:
            return False
        is_wide = self.left <= other.left and self.right >= other.right
        is_high = self.top <= other.top and self.bottom >= other.bottom
        return is_wide and is_high


def spot(shot: Shot, box: Bounds, aspect: float) -> Spot | None:
    """Return the place of a box in a picture; None for a box not wholly before the eye.

    Args:
        shot: From where the picture is taken.
        box: In world space.
        aspect: The width of the picture by its height.
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
    """Return the height that a picture shows at a distance from the eye, in scene units."""
    if not shot.angle:
        return shot.height
    return 2 * depth * math.tan(math.radians(shot.angle) / 2)
