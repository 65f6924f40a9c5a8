"""The viewport's eye: where it stands, and where points of the scene fall on the screen.

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

LENS_ANGLE = 40.0  # degrees that the person sees from side to side, where the window is narrowest
_LENS = 1.0 / tan(0.5 * LENS_ANGLE * pi / 180.0)
_MARGIN = 1.12
_STEEPEST = 0.499 * pi


def numbers(vector: object) -> Any:
    """Return the numbers of one of USD's vectors; its own iterator takes 20 µs each."""
    return memoryview(vector).tolist()  # type: ignore[arg-type]  # they are buffers; the stubs do not say so


def upright(stage: Usd.Stage) -> Gf.Matrix4d:
    """Return what turns a scene so that Y is up."""
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z:
        return Gf.Matrix4d(1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1)
    return Gf.Matrix4d(1)


def around(points: Sequence[Point]) -> Gf.Range3d:
    """Enclose some points; none make a box of ten around the origin."""
    if not points:
        return Gf.Range3d(Gf.Vec3d(-5, 0, -5), Gf.Vec3d(5, 5, 5))
    box = Gf.Range3d()
    for point in points:
        box.UnionWith(point)
    return box


def radius(box: Gf.Range3d) -> float:
    """Return half the diagonal of a box, never nothing."""
    return box.GetSize().GetLength() / 2 or 1.0


@dataclass(frozen=True, slots=True)
class Eye:
    """Looks at a target, from a distance, in perspective or straight from above."""

    target: Point = field(default_factory=Gf.Vec3d)
    distance: float = 10.0
    yaw: float = 0.7
    pitch: float = 0.62
    is_plan: bool = False

    def axes(self) -> tuple[Point, Point, Point]:
        """Return the directions right, up and back."""
        yaw, pitch = (0.0, pi / 2) if self.is_plan else (self.yaw, self.pitch)
        right = Gf.Vec3d(cos(yaw), 0.0, -sin(yaw))
        back = Gf.Vec3d(cos(pitch) * sin(yaw), sin(pitch), cos(pitch) * cos(yaw))
        return right, Gf.Cross(back, right), back

    def orbit(self, yaw: float, pitch: float) -> Eye:
        """Turn around the target, never over its top."""
        steep = min(max(self.pitch + pitch, -_STEEPEST), _STEEPEST)
        return replace(self, yaw=self.yaw + yaw, pitch=steep)

    def pan(self, across: float, upwards: float) -> Eye:
        """Move sideways, in parts of the distance."""
        right, up, _ = self.axes()
        moved = self.target + (right * across + up * upwards) * self.distance
        return replace(self, target=moved)

    def zoom(self, factor: float) -> Eye:
        """Come nearer (below one) or go away."""
        return replace(self, distance=min(max(self.distance * factor, 1e-3), 1e9))

    def frame(self, points: Sequence[Point], width: float, height: float) -> Eye:
        """Go where some points just fill a window of a size."""
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
        at = self.target + back * self.distance
        look = Gf.Matrix4d().SetLookAt(at, self.target, up)
        return Screen(
            look, self.distance, width, height, min(width, height) / 2 * _LENS, self.is_plan
        )


@dataclass(frozen=True)
class Screen:
    """Projects points of the scene into a picture.

    Attributes:
        look: Turns a point to the eye: right, up and back.
        distance: From the eye to what it looks at.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        scale: The pixels that a unit is long, one unit away.
        is_flat: Without perspective.
    """

    look: Gf.Matrix4d
    distance: float
    width: float
    height: float
    scale: float
    is_flat: bool

    @property
    def near(self) -> float:
        """How far ahead the nearest is that is drawn."""
        return self.distance * 0.01

    def spot(self, point: Point) -> Spot:
        """Project a point."""
        return self.placed(self.seen(point))

    def seen(self, point: Point) -> Spot:
        """Turn a point to the eye: right, up, and how far ahead."""
        right, up, back = numbers(self.look.Transform(point))
        return right, up, -back

    def placed(self, seen: Spot) -> Spot:
        """Put a turned point on the screen."""
        right, up, depth = seen
        x, y = self.width / 2, self.height / 2
        if self.is_flat:
            scale = self.scale / self.distance
        elif depth < self.near:
            return x, y, -1.0
        else:
            scale = self.scale / depth
        return x + right * scale, y - up * scale, depth

    def outline(self, corners: Sequence[Spot]) -> list[Spot]:
        """Put a polygon of turned points on the screen, without what is behind the eye."""
        near = self.near
        if self.is_flat or min(corner[2] for corner in corners) >= near:
            return [self.placed(corner) for corner in corners]
        kept: list[Spot] = []
        for index, corner in enumerate(corners):
            before = corners[index - 1]
            if (corner[2] >= near) != (before[2] >= near):
                part = (near - before[2]) / (corner[2] - before[2])
                kept.append(_between(before, corner, part, near))
            if corner[2] >= near:
                kept.append(corner)
        return [self.placed(corner) for corner in kept]


def _between(a: Spot, b: Spot, part: float, near: float) -> Spot:
    return a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), near
