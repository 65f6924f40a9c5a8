"""The viewport's eye: where it stands, and where points of the scene fall on the screen.

Plain arithmetic, Y up. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, hypot, pi, sin, tan

Point = tuple[float, float, float]
Spot = tuple[float, float, float]
"""A place on the screen and its depth, which is negative behind the eye."""

LENS_ANGLE = 40.0  # degrees that the person sees from side to side, where the window is narrowest
_LENS = 1.0 / tan(0.5 * LENS_ANGLE * pi / 180.0)
_MARGIN = 1.12
_STEEPEST = 0.499 * pi


def cross(a: Point, b: Point) -> Point:
    """Give the vector that is square to both."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a: Point, b: Point) -> float:
    """Give the dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright box in space."""

    low: Point
    high: Point

    @classmethod
    def around(cls, points: Sequence[Point]) -> Box:
        """Enclose some points; none make a box of ten around the origin."""
        if not points:
            return cls((-5.0, 0.0, -5.0), (5.0, 5.0, 5.0))
        xs, ys, zs = zip(*points, strict=True)
        return cls((min(xs), min(ys), min(zs)), (max(xs), max(ys), max(zs)))

    @property
    def centre(self) -> Point:
        """Its middle."""
        (ax, ay, az), (bx, by, bz) = self.low, self.high
        return ((ax + bx) / 2, (ay + by) / 2, (az + bz) / 2)

    @property
    def radius(self) -> float:
        """Half its diagonal, never nothing."""
        (ax, ay, az), (bx, by, bz) = self.low, self.high
        return hypot(bx - ax, by - ay, bz - az) / 2 or 1.0


@dataclass(frozen=True, slots=True)
class Eye:
    """Looks at a target, from a distance, in perspective or straight from above."""

    target: Point = (0.0, 0.0, 0.0)
    distance: float = 10.0
    yaw: float = 0.7
    pitch: float = 0.62
    is_plan: bool = False

    def axes(self) -> tuple[Point, Point, Point]:
        """Give the directions right, up and back."""
        yaw, pitch = (0.0, pi / 2) if self.is_plan else (self.yaw, self.pitch)
        right = (cos(yaw), 0.0, -sin(yaw))
        up = (-sin(pitch) * sin(yaw), cos(pitch), -sin(pitch) * cos(yaw))
        back = (cos(pitch) * sin(yaw), sin(pitch), cos(pitch) * cos(yaw))
        return right, up, back

    def orbit(self, yaw: float, pitch: float) -> Eye:
        """Turn around the target, never over its top."""
        steep = min(max(self.pitch + pitch, -_STEEPEST), _STEEPEST)
        return replace(self, yaw=self.yaw + yaw, pitch=steep)

    def pan(self, across: float, upwards: float) -> Eye:
        """Move sideways, in parts of the distance."""
        right, up, _ = self.axes()
        x, y, z = (
            at + self.distance * (across * r + upwards * u)
            for at, r, u in zip(self.target, right, up, strict=True)
        )
        return replace(self, target=(x, y, z))

    def zoom(self, factor: float) -> Eye:
        """Come nearer (below one) or go away."""
        return replace(self, distance=min(max(self.distance * factor, 1e-3), 1e9))

    def frame(self, points: Sequence[Point], width: float, height: float) -> Eye:
        """Go where some points just fill a window of a size."""
        centre = Box.around(points).centre
        side = min(width, height) * _MARGIN
        across, upwards = _LENS * side / width, _LENS * side / height
        right, up, back = self.axes()
        distance = 0.0
        for point in points:
            off = (point[0] - centre[0], point[1] - centre[1], point[2] - centre[2])
            needed = max(abs(dot(off, right)) * across, abs(dot(off, up)) * upwards)
            distance = max(distance, needed + (0.0 if self.is_plan else dot(off, back)))
        return replace(self, target=centre).zoom(distance / self.distance)


@dataclass(frozen=True, slots=True)
class Aimed(Eye):
    """Looks along axes of its own, as a camera does: right, up and back."""

    turned: tuple[Point, Point, Point] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def axes(self) -> tuple[Point, Point, Point]:
        """Give them."""
        return self.turned


class Screen:
    """Projects for one eye and one size of window."""

    def __init__(self, eye: Eye, width: float, height: float, scale: float | None = None) -> None:
        """Begin with the window's size in pixels.

        `scale` is the pixels that a unit is long, one unit away; None for the person's lens.
        """
        self.eye = eye
        self._right, self._up, self._back = eye.axes()
        self._x, self._y = width / 2, height / 2
        self._scale = scale or min(width, height) / 2 * _LENS
        self._near = eye.distance * 0.01
        target = eye.target
        self._shift = (dot(target, self._right), dot(target, self._up), dot(target, self._back))

    def spot(self, point: Point) -> Spot:
        """Project a point."""
        return self.placed(self.seen(point))

    def seen(self, point: Point) -> Spot:
        """Turn a point to the eye: right, up, and how far ahead."""
        a, b, c = self._shift
        return (
            dot(point, self._right) - a,
            dot(point, self._up) - b,
            self.eye.distance - (dot(point, self._back) - c),
        )

    def placed(self, seen: Spot) -> Spot:
        """Put a turned point on the screen."""
        right, up, depth = seen
        if self.eye.is_plan:
            scale = self._scale / self.eye.distance
        elif depth < self._near:
            return self._x, self._y, -1.0
        else:
            scale = self._scale / depth
        return self._x + right * scale, self._y - up * scale, depth

    def outline(self, corners: Sequence[Spot]) -> list[Spot]:
        """Put a polygon of turned points on the screen, without what is behind the eye."""
        if self.eye.is_plan or min(corner[2] for corner in corners) >= self._near:
            return [self.placed(corner) for corner in corners]
        kept: list[Spot] = []
        for index, corner in enumerate(corners):
            before = corners[index - 1]
            if (corner[2] >= self._near) != (before[2] >= self._near):
                kept.append(self._between(before, corner))
            if corner[2] >= self._near:
                kept.append(corner)
        return [self.placed(corner) for corner in kept]

    def _between(self, a: Spot, b: Spot) -> Spot:
        part = (self._near - a[2]) / (b[2] - a[2])
        return a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), self._near
