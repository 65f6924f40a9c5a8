"""Where the scene's shapes fall on the screen, and what a click there means. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPolygonF

from .kinds import Kind
from .shapes import FACES, Scenery, Shape
from .space import Point, Screen, Spot

_MANY = 3000
_NEAR = 11


@dataclass(frozen=True, slots=True)
class Drawn:
    """A shape as it falls on the screen."""

    shape: Shape
    place: QPointF
    """Where a mark is, or a box's middle."""
    depth: float
    corners: tuple[QPointF, ...] = ()
    """The corners of a camera's frame."""
    faces: tuple[tuple[QPolygonF, float], ...] = ()
    """The sides of a box that face the eye, and how bright they are."""

    def is_hit(self, at: QPointF) -> bool:
        """Whether a click there means this shape."""
        fill = Qt.FillRule.WindingFill
        if self.faces:
            return any(face.containsPoint(at, fill) for face, _ in self.faces)
        return (at - self.place).manhattanLength() < _NEAR


def project(scenery: Scenery, screen: Screen) -> list[Drawn]:
    """Find where shapes fall, in the order to draw them; what is behind the eye is left out.

    Boxes come first, the farthest first of all. So cameras and lights are seen through walls.
    """
    one = _project if len(scenery.shapes) <= _MANY else _project_dot
    drawn = (one(shape, screen) for shape in scenery.shapes)
    return sorted((each for each in drawn if each), key=lambda each: (not each.faces, -each.depth))


def _project_dot(shape: Shape, screen: Screen) -> Drawn | None:
    x, y, depth = screen.spot(_middle(shape))
    is_behind = depth < 0 and not screen.eye.is_plan
    return None if is_behind else Drawn(shape, QPointF(x, y), depth)


def _middle(shape: Shape) -> Point:
    if shape.kind in (Kind.CAMERA, Kind.LIGHT):
        return shape.points[0]
    (ax, ay, az), (bx, by, bz) = shape.points[0], shape.points[-1]
    return (ax + bx) / 2, (ay + by) / 2, (az + bz) / 2


def _project(shape: Shape, screen: Screen) -> Drawn | None:
    if shape.kind is Kind.CAMERA:
        return _project_camera(shape, screen)
    if shape.kind is Kind.LIGHT:
        return _project_dot(shape, screen)
    seen = [screen.seen(point) for point in shape.points]
    faces = tuple(_faces(shape, seen, screen))
    x, y, _ = screen.spot(_middle(shape))
    # By its farthest corner: so a floor comes before what stands on it.
    return Drawn(shape, QPointF(x, y), max(at[2] for at in seen), (), faces) if faces else None


def _project_camera(shape: Shape, screen: Screen) -> Drawn | None:
    spots = [screen.spot(point) for point in shape.points]
    if min(spot[2] for spot in spots) < 0 and not screen.eye.is_plan:
        return None
    eye, *corners = (QPointF(x, y) for x, y, _ in spots)
    return Drawn(shape, eye, spots[0][2], tuple(corners))


def _faces(shape: Shape, seen: list[Spot], screen: Screen) -> Iterator[tuple[QPolygonF, float]]:
    for face, shade in zip(FACES, shape.shades, strict=True):
        spots = screen.outline([seen[corner] for corner in face])
        if _is_facing(spots):
            yield QPolygonF([QPointF(x, y) for x, y, _ in spots]), shade


def _is_facing(spots: Sequence[Spot]) -> bool:
    """Whether a polygon runs counter-clockwise on the screen, where y points down."""
    area = 0.0
    for index, (x, y, _) in enumerate(spots):
        before_x, before_y, _ = spots[index - 1]
        area += before_x * y - x * before_y
    return area < 0
