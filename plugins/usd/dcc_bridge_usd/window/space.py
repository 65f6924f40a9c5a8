"""The eye of the viewport, and where points of the scene fall on the screen.

Y is up. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import cos, pi, sin, tan
from typing import Any

from pxr import Gf, Usd, UsdGeom

Point = Gf.Vec3d
Spot = tuple[float, float, float]
"""A place on the screen and its depth, which is negative behind the eye."""

LENS_ANGLE = 40.0  # degrees across the shorter side of the window
_LENS = 1.0 / tan(0.5 * LENS_ANGLE * pi / 180.0)
_MARGIN = 1.12  # around what is framed; 1 is none
_MAX_PITCH = 0.499 * pi


def numbers(vector: object) -> Any:
    """Return the numbers of a USD vector; the vector's own iterator takes 20 µs for each."""
    return memoryview(vector).tolist()  # type: ignore[arg-type]  # they are buffers; the stubs do not say so


def upright(stage: Usd.Stage) -> Gf.Matrix4d:
    """Return the matrix that turns a scene so that Y is up."""
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z:
        return Gf.Matrix4d(1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1)
    return Gf.Matrix4d(1)


def around(points: Sequence[Point]) -> Gf.Range3d:
    """Return the box around some points; without points, a box of ten units on the origin."""
    if not points:
        return Gf.Range3d(Gf.Vec3d(-5, 0, -5), Gf.Vec3d(5, 5, 5))
    box = Gf.Range3d()
    for point in points:
        box.UnionWith(point)
    return box


def radius(box: Gf.Range3d) -> float:
    """Return half the diagonal of a box; 1 for a box without size."""
    return box.GetSize().GetLength() / 2 or 1.0


@dataclass(frozen=True, slots=True)
class Eye:
    """Looks at a target, from a distance, in perspective or straight from above.

    Attributes:
        target: The point that the eye looks at.
        distance: How far the eye is from the target.
        yaw: The angle around the vertical axis, in radians.
        pitch: The angle above the ground, in radians.
        is_plan: Whether the eye looks straight from above, without perspective.
    """

    target: Point = field(default_factory=Gf.Vec3d)
    distance: float = 10.0
    yaw: float = 0.7
    pitch: float = 0.62
    is_plan: bool = False

    def axes(self) -> tuple[Point, Point, Point]:
        """Return the directions right, up and back."""
        yaw = 0.0 if self.is_plan else self.yaw
        pitch = pi / 2 if self.is_plan else self.pitch
        right = Gf.Vec3d(cos(yaw), 0.0, -sin(yaw))
        back = Gf.Vec3d(cos(pitch) * sin(yaw), sin(pitch), cos(pitch) * cos(yaw))
        return right, Gf.Cross(back, right), back

    def orbit(self, yaw: float, pitch: float) -> Eye:
        """Return the eye turned around the target by angles in radians, never over the top."""
        bounded = min(max(self.pitch + pitch, -_MAX_PITCH), _MAX_PITCH)
        return replace(self, yaw=self.yaw + yaw, pitch=bounded)

    def pan(self, across: float, upwards: float) -> Eye:
        """Return the eye moved sideways, by parts of the distance."""
        right, up, _ = self.axes()
        target = self.target + (right * across + up * upwards) * self.distance
        return replace(self, target=target)

    def zoom(self, factor: float) -> Eye:
        """Return the eye at the distance times a factor."""
        distance = min(max(self.distance * factor, 1e-3), 1e9)
        return replace(self, distance=distance)

    def frame(self, points: Sequence[Point], width: float, height: float) -> Eye:
        """Return the eye where some points just fill a window, whose size is in pixels."""
        centre = around(points).GetMidpoint()
        side = min(width, height) * _MARGIN
        across = _LENS * side / width
        upwards = _LENS * side / height
        right, up, back = self.axes()
        distance = 0.0
        for point in points:
            off = point - centre
            needed = max(abs(off * right) * across, abs(off * up) * upwards)
            if not self.is_plan:
                needed += off * back
            distance = max(distance, needed)
        return replace(self, target=centre).zoom(distance / self.distance)

    def screen(self, width: float, height: float) -> Screen:
        """Return the screen of a window of a size, in pixels."""
        _, up, back = self.axes()
        place = self.target + back * self.distance
        look = Gf.Matrix4d().SetLookAt(place, self.target, up)
        scale = min(width, height) / 2 * _LENS
        return Screen(look, self.distance, width, height, scale, self.is_plan)


@dataclass(frozen=True)
class Screen:
    """Projects points of the scene into a picture.

    Attributes:
        look: Turns a point to the eye: right, up and back.
        distance: From the eye to the target.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        scale: How long a unit is in the picture, one unit away, in pixels.
        is_flat: Whether the picture has no perspective.
    """

    look: Gf.Matrix4d
    distance: float
    width: float
    height: float
    scale: float
    is_flat: bool

    @property
    def near(self) -> float:
        """The depth from which on points are drawn."""
        return self.distance * 0.01

    def spot(self, point: Point) -> Spot:
        """Project a point."""
        return self.on_screen(self.from_eye(point))

    def from_eye(self, point: Point) -> Spot:
        """Return a point as the eye sees it: how far right, up and ahead."""
        right, up, back = numbers(self.look.Transform(point))
        return right, up, -back

    def on_screen(self, point: Spot) -> Spot:
        """Project a point from `from_eye`."""
        right, up, depth = point
        x = self.width / 2
        y = self.height / 2
        if self.is_flat:
            scale = self.scale / self.distance
        elif depth < self.near:
            return x, y, -1.0
        else:
            scale = self.scale / depth
        return x + right * scale, y - up * scale, depth

    def outline(self, corners: Sequence[Spot]) -> list[Spot]:
        """Project a polygon of points from `from_eye`, cut off where it is behind the eye."""
        near = self.near
        if self.is_flat or min(corner[2] for corner in corners) >= near:
            return [self.on_screen(corner) for corner in corners]
        visible: list[Spot] = []
        for index, corner in enumerate(corners):
            before = corners[index - 1]
            if (corner[2] >= near) != (before[2] >= near):
                part = (near - before[2]) / (corner[2] - before[2])
                visible.append(_between(before, corner, part, near))
            if corner[2] >= near:
                visible.append(corner)
        return [self.on_screen(corner) for corner in visible]


def _between(start: Spot, end: Spot, part: float, depth: float) -> Spot:
    """Return the point that lies at a part of the way from one point to another."""
    right = start[0] + part * (end[0] - start[0])
    up = start[1] + part * (end[1] - start[1])
    return right, up, depth
