"""The viewport's picture: shapes projected onto the screen, and painted. Main thread."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from pxr import Gf, Usd, UsdGeom
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen, QPolygonF

from . import theme
from .icons import COLOURS
from .shapes import FACES, Scenery, Shape
from .space import Point, Screen, Spot, around, radius, upright
from .tree import Kind

_MAX_SHAPES = 3000  # with more, each is painted as a dot
_CLICK_PIXELS = 11  # from a mark; so near a click means the mark


@dataclass(frozen=True, slots=True)
class Projection:
    """A shape as it falls on the screen.

    Attributes:
        shape: The shape.
        place: The place of a mark, or the middle of a box.
        depth: The distance ahead of the eye.
        corners: The corners of a camera's frame.
        faces: The sides of a box that face the eye, and how bright they are.
    """

    shape: Shape
    place: QPointF
    depth: float
    corners: tuple[QPointF, ...] = ()
    faces: tuple[tuple[QPolygonF, float], ...] = ()

    def is_hit(self, at: QPointF) -> bool:
        """Return whether a click at a place means this shape."""
        fill = Qt.FillRule.WindingFill
        if self.faces:
            return any(face.containsPoint(at, fill) for face, _ in self.faces)
        return (at - self.place).manhattanLength() < _CLICK_PIXELS


def paint(
    painter: QPainter,
    stage: Usd.Stage,
    scenery: Scenery,
    screen: Screen,
    *,
    selected: Collection[str] = (),
    without: Collection[Kind] = (),
    wire: bool = False,
    writes: bool = True,
) -> list[Projection]:
    """Paint a stage, and return what fell where.

    Args:
        painter: The painter; the picture begins at its origin.
        stage: The scene.
        scenery: The shapes of the scene.
        screen: The eye, and the size of the picture.
        selected: The paths of prims that are drawn over all else, with their names.
        without: Kinds of prims that are left out.
        wire: Whether only edges are projection.
        writes: Whether the axes and the size of the grid are written; Qt needs fonts for that.
    """
    brush = _Brush(painter, screen, set(selected), wire=wire)
    brush.background()
    step = brush.grid(around(scenery.focus))
    projections = _project(scenery, screen)
    shown = [each for each in projections if each.shape.kind not in without]
    brush.shapes(shown)
    brush.names(shown)
    if writes:
        brush.axes(upright(stage))
        brush.note(f"Grid {step * UsdGeom.GetStageMetersPerUnit(stage):g} m")
    return shown


def _project(scenery: Scenery, screen: Screen) -> list[Projection]:
    """Project shapes, in the order to draw them; shapes behind the eye are left out.

    Boxes come first, the farthest first of all. So cameras and lights are seen through walls.
    """
    project_one = _project_shape if len(scenery.shapes) <= _MAX_SHAPES else _project_dot
    projections = []
    for shape in scenery.shapes:
        projection = project_one(shape, screen)
        if projection is not None:
            projections.append(projection)
    return sorted(projections, key=_painting_order)


def _painting_order(projection: Projection) -> tuple[bool, float]:
    return not projection.faces, -projection.depth


def _project_dot(shape: Shape, screen: Screen) -> Projection | None:
    x, y, depth = screen.spot(_middle(shape))
    if depth < 0 and not screen.is_flat:
        return None
    return Projection(shape, QPointF(x, y), depth)


def _middle(shape: Shape) -> Point:
    if shape.kind in (Kind.CAMERA, Kind.LIGHT):
        return shape.points[0]
    return Gf.Vec3d((shape.points[0] + shape.points[-1]) / 2)


def _project_shape(shape: Shape, screen: Screen) -> Projection | None:
    if shape.kind is Kind.CAMERA:
        return _project_camera(shape, screen)
    if shape.kind is Kind.LIGHT:
        return _project_dot(shape, screen)
    corners = [screen.from_eye(point) for point in shape.points]
    faces = tuple(_faces(shape, corners, screen))
    if not faces:
        return None
    x, y, _ = screen.spot(_middle(shape))
    # The depth of the farthest corner, so that a floor comes before what stands on the floor.
    depth = max(corner[2] for corner in corners)
    return Projection(shape, QPointF(x, y), depth, faces=faces)


def _project_camera(shape: Shape, screen: Screen) -> Projection | None:
    spots = [screen.spot(point) for point in shape.points]
    if min(spot[2] for spot in spots) < 0 and not screen.is_flat:
        return None
    eye, *corners = (QPointF(x, y) for x, y, _ in spots)
    return Projection(shape, eye, spots[0][2], tuple(corners))


def _faces(shape: Shape, corners: list[Spot], screen: Screen) -> Iterator[tuple[QPolygonF, float]]:
    """Yield the faces of a box that face the eye, and how bright they are."""
    for face, shade in zip(FACES, shape.shades, strict=True):
        spots = screen.outline([corners[corner] for corner in face])
        if _is_facing(spots):
            yield QPolygonF([QPointF(x, y) for x, y, _ in spots]), shade


def _is_facing(spots: Sequence[Spot]) -> bool:
    """Return whether a polygon runs counter-clockwise on the screen, where y points down."""
    area = 0.0
    for index, (x, y, _) in enumerate(spots):
        before_x, before_y, _ = spots[index - 1]
        area += before_x * y - x * before_y
    return area < 0


_SKY = QColor("#2f333b")
_GROUND = QColor("#1d1f24")
_GRID = QColor(255, 255, 255, 26)  # every fifth line
_GRID_FAINT = QColor(255, 255, 255, 11)
_AXES = (("X", QColor("#d8655f")), ("Y", QColor("#7fb95c")), ("Z", QColor("#5b8fdc")))
_PLATE = QColor(26, 28, 32, 190)
_MAX_NAMES = 12  # of selected prims
_SELECTED_SIZE = 2.5  # times the size of a camera that is not selected


class _Brush:
    """Paints one picture."""

    def __init__(
        self, painter: QPainter, screen: Screen, selected: set[str], *, wire: bool
    ) -> None:
        self._painter = painter
        self._wire = wire
        self._screen = screen
        self._selected = selected
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _is_selected(self, projection: Projection) -> bool:
        """Return whether a prim is selected, or a prim above it."""
        path = projection.shape.path
        while path and path not in self._selected:
            path = path.rpartition("/")[0]
        return bool(path)

    def background(self) -> None:
        """Fill with a quiet gradient."""
        area = QRectF(0, 0, self._screen.width, self._screen.height)
        gradient = QLinearGradient(area.topLeft(), area.bottomLeft())
        gradient.setColorAt(0, _SKY)
        gradient.setColorAt(1, _GROUND)
        self._painter.fillRect(area, gradient)

    def grid(self, box: Gf.Range3d) -> float:
        """Draw the ground, and return the side of one square in the scene's units."""
        step = 10.0 ** floor(log10(radius(box)))
        lines = max(10, 2 * int(radius(box) / step) + 2)
        middle = box.GetMidpoint() / step
        centre = Gf.Vec3d(round(middle[0]), 0, round(middle[2])) * step
        along = Gf.Vec3d(step, 0, 0)
        across = Gf.Vec3d(0, 0, step)
        for line in range(-lines, lines + 1):
            colour = _GRID_FAINT if line % 5 else _GRID
            self._painter.setPen(colour)
            for side, other in ((along, across), (across, along)):
                at = centre + side * line
                self._line(at - other * lines, at + other * lines)
        return step

    def _line(self, start: Point, end: Point) -> None:
        line = self._screen.outline([self._screen.from_eye(start), self._screen.from_eye(end)])
        if line:
            (ax, ay, _), (bx, by, _) = line[-2:]  # where the line is cut, the cut comes first
            self._painter.drawLine(QPointF(ax, ay), QPointF(bx, by))

    def shapes(self, projections: Sequence[Projection]) -> None:
        """Draw shapes in their order, and the edges of selected shapes over all."""
        dots: dict[str, list[QPointF]] = {}
        for projection in projections:
            is_light = projection.shape.kind is Kind.LIGHT
            if is_light or projection.corners or projection.faces:
                self._shape(projection)
            else:
                colour = self._pen(projection).color().name()
                dots.setdefault(colour, []).append(projection.place)
        self._dots(dots)
        for projection in projections:
            if self._is_selected(projection):
                self._emphasise(projection)

    def _dots(self, dots: dict[str, list[QPointF]]) -> None:
        """Draw thousands of shapes as a point each."""
        for colour, points in dots.items():
            self._painter.setPen(QPen(QColor(colour), 2))
            self._painter.drawPoints(points)

    def _shape(self, projection: Projection) -> None:
        if projection.shape.kind is Kind.CAMERA:
            self._camera(projection)
        elif projection.shape.kind is Kind.LIGHT:
            self._light(projection)
        else:
            self._solid(projection)

    def _solid(self, projection: Projection) -> None:
        colour = _display(projection.shape.colour)
        for face, shade in projection.faces:
            fill = _shaded(colour, shade)
            if self._wire:
                self._painter.setBrush(Qt.BrushStyle.NoBrush)
                self._painter.setPen(QPen(colour, 0.8))
            else:
                self._painter.setBrush(fill)
                self._painter.setPen(QPen(fill.darker(125), 0.8))
            self._painter.drawPolygon(face)

    def _emphasise(self, projection: Projection) -> None:
        """Draw a selected shape over all else."""
        if not projection.faces:
            self._shape(projection)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(QPen(theme.SELECTED, 1.6))
        for face, _ in projection.faces:
            self._painter.drawPolygon(face)

    def _pen(self, projection: Projection) -> QPen:
        if self._is_selected(projection):
            return QPen(theme.SELECTED, 1.8)
        return QPen(COLOURS[projection.shape.kind], 1.0)

    def _camera(self, projection: Projection) -> None:
        pen = self._pen(projection)
        fill = QColor(pen.color())
        fill.setAlpha(70)
        size = _SELECTED_SIZE if self._is_selected(projection) else 1.0
        corners = [
            projection.place + (corner - projection.place) * size for corner in projection.corners
        ]
        self._painter.setPen(pen)
        self._painter.setBrush(fill)
        self._painter.drawPolygon(QPolygonF(corners))
        for corner in corners:
            self._painter.drawLine(projection.place, corner)

    def _light(self, projection: Projection) -> None:
        pen = self._pen(projection)
        at = projection.place
        self._painter.setPen(pen)
        self._painter.setBrush(pen.color())
        self._painter.drawEllipse(at, 3.2, 3.2)
        for x, y in ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7)):
            ray = QPointF(x, y)
            self._painter.drawLine(at + ray * 5.5, at + ray * 8.5)
            self._painter.drawLine(at - ray * 5.5, at - ray * 8.5)

    def names(self, projections: Sequence[Projection]) -> None:
        """Write the names of selected prims, if these are not too many."""
        selected = [each for each in projections if self._is_selected(each)]
        if len(selected) > _MAX_NAMES:
            return
        for projection in selected:
            write_name(self._painter, projection.shape.path, projection.place, theme.SELECTED)

    def note(self, text: str) -> None:
        """Write a line in the corner on the lower right."""
        width = QFontMetricsF(self._painter.font()).horizontalAdvance(text)
        at = QPointF(self._screen.width - 18 - width, self._screen.height - 18)
        _plate(self._painter, text, at, theme.DIM)

    def axes(self, upright: Gf.Matrix4d) -> None:
        """Draw the scene's axes, small, in the corner on the lower left."""
        corner = QPointF(60, self._screen.height - 60)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(_PLATE)
        self._painter.drawEllipse(corner, 44, 44)
        for row, (name, colour) in enumerate(_AXES):
            axis: Any = self._screen.look.TransformDir(upright.GetRow3(row))
            end = QPointF(axis[0], -axis[1])
            self._painter.setPen(QPen(colour, 2))
            self._painter.drawLine(corner, corner + end * 24)
            if end.manhattanLength() > 0.2:
                box = QRectF(-8, -8, 16, 16).translated(corner + end * 33)
                self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)


def write_name(painter: QPainter, path: str, at: QPointF, colour: QColor = theme.TEXT) -> None:
    """Write a prim's name beside a place."""
    _plate(painter, path.rsplit("/", 1)[-1], at + QPointF(12, -8), colour)


def _plate(painter: QPainter, text: str, at: QPointF, colour: QColor) -> None:
    """Write on a dark ground, which can be read over anything."""
    metrics = QFontMetricsF(painter.font())
    plate = metrics.boundingRect(text).translated(at).adjusted(-6, -3, 6, 3)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_PLATE)
    painter.drawRoundedRect(plate, 4, 4)
    painter.setPen(colour)
    painter.drawText(at, text)


def _display(colour: tuple[float, float, float]) -> QColor:
    """Return a linear colour as it is shown."""
    channels = [min(max(channel, 0.0), 1.0) ** (1 / 2.2) for channel in colour]
    return QColor.fromRgbF(*channels)


def _shaded(colour: QColor, shade: float) -> QColor:
    return QColor.fromRgbF(colour.redF() * shade, colour.greenF() * shade, colour.blueF() * shade)
