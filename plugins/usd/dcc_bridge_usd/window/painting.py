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

_MANY = 3000
_NEAR = 11


@dataclass(frozen=True, slots=True)
class Drawn:
    """A shape as it falls on the screen."""

    shape: Shape
    place: QPointF  # where a mark is, or a box's middle
    depth: float
    corners: tuple[QPointF, ...] = ()  # the corners of a camera's frame
    faces: tuple[tuple[QPolygonF, float], ...] = ()
    """The sides of a box that face the eye, and how bright they are."""

    def is_hit(self, at: QPointF) -> bool:
        """Whether a click there means this shape."""
        fill = Qt.FillRule.WindingFill
        if self.faces:
            return any(face.containsPoint(at, fill) for face, _ in self.faces)
        return (at - self.place).manhattanLength() < _NEAR


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
) -> list[Drawn]:
    """Paint a stage, and return what fell where.

    Args:
        painter: What it is painted with; the picture begins at its origin.
        stage: The scene.
        scenery: Its shapes.
        screen: From where it is seen, and how large the picture is.
        selected: The paths of prims that are drawn over all else, with their names.
        without: Kinds of prims that are left out.
        wire: Draw edges only.
        writes: Draw the axes, and write how large the grid is; Qt needs fonts for that.
    """
    brush = _Brush(painter, screen, set(selected), wire=wire)
    brush.background()
    step = brush.grid(around(scenery.focus))
    drawn = [it for it in _project(scenery, screen) if it.shape.kind not in without]
    brush.shapes(drawn)
    brush.names(drawn)
    if writes:
        brush.axes(upright(stage))
        brush.note(f"Grid {step * UsdGeom.GetStageMetersPerUnit(stage):g} m")
    return drawn


def _project(scenery: Scenery, screen: Screen) -> list[Drawn]:
    """Find where shapes fall, in the order to draw them; what is behind the eye is left out.

    Boxes come first, the farthest first of all. So cameras and lights are seen through walls.
    """
    project_one = _project_shape if len(scenery.shapes) <= _MANY else _project_dot
    drawn = (project_one(shape, screen) for shape in scenery.shapes)
    return sorted(
        (drawing for drawing in drawn if drawing),
        key=lambda drawing: (not drawing.faces, -drawing.depth),
    )


def _project_dot(shape: Shape, screen: Screen) -> Drawn | None:
    x, y, depth = screen.spot(_middle(shape))
    is_behind = depth < 0 and not screen.is_flat
    return None if is_behind else Drawn(shape, QPointF(x, y), depth)


def _middle(shape: Shape) -> Point:
    if shape.kind in (Kind.CAMERA, Kind.LIGHT):
        return shape.points[0]
    return Gf.Vec3d((shape.points[0] + shape.points[-1]) / 2)


def _project_shape(shape: Shape, screen: Screen) -> Drawn | None:
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
    if min(spot[2] for spot in spots) < 0 and not screen.is_flat:
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


_SKY, _GROUND = QColor("#2f333b"), QColor("#1d1f24")
_GRID, _GRID_FAR = QColor(255, 255, 255, 26), QColor(255, 255, 255, 11)
_AXES = (("X", QColor("#d8655f")), ("Y", QColor("#7fb95c")), ("Z", QColor("#5b8fdc")))
_PLATE = QColor(26, 28, 32, 190)
_NAMES = 12
_SELECTED_SIZE = 2.5


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

    def _is_selected(self, drawn: Drawn) -> bool:
        """Whether its prim is selected, or one above it."""
        path = drawn.shape.path
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
        """Draw the ground; give the side of one square, in the scene's units."""
        step = 10.0 ** floor(log10(radius(box)))
        lines = max(10, 2 * int(radius(box) / step) + 2)
        middle = box.GetMidpoint() / step
        centre = Gf.Vec3d(round(middle[0]), 0, round(middle[2])) * step
        along = Gf.Vec3d(step, 0, 0)
        across = Gf.Vec3d(0, 0, step)
        for line in range(-lines, lines + 1):
            self._painter.setPen(_GRID_FAR if line % 5 else _GRID)
            for side, other in ((along, across), (across, along)):
                at = centre + side * line
                self._line(at - other * lines, at + other * lines)
        return step

    def _line(self, start: Point, end: Point) -> None:
        line = self._screen.outline([self._screen.seen(start), self._screen.seen(end)])
        if line:
            (ax, ay, _), (bx, by, _) = line[-2:]  # where it is cut, the cut stands before it
            self._painter.drawLine(QPointF(ax, ay), QPointF(bx, by))

    def shapes(self, drawn: Sequence[Drawn]) -> None:
        """Draw shapes in their order, and the selected ones' edges over all."""
        dots: dict[str, list[QPointF]] = {}
        for drawing in drawn:
            if drawing.shape.kind is Kind.LIGHT or drawing.corners or drawing.faces:
                self._shape(drawing)
            else:
                dots.setdefault(self._pen(drawing).color().name(), []).append(drawing.place)
        self._dots(dots)
        for drawing in drawn:
            if self._is_selected(drawing):
                self._emphasise(drawing)

    def _dots(self, dots: dict[str, list[QPointF]]) -> None:
        """Draw thousands as a point each."""
        for colour, points in dots.items():
            self._painter.setPen(QPen(QColor(colour), 2))
            self._painter.drawPoints(points)

    def _shape(self, drawn: Drawn) -> None:
        if drawn.shape.kind is Kind.CAMERA:
            self._camera(drawn)
        elif drawn.shape.kind is Kind.LIGHT:
            self._light(drawn)
        else:
            self._solid(drawn)

    def _solid(self, drawn: Drawn) -> None:
        colour = _display(drawn.shape.colour)
        for face, shade in drawn.faces:
            fill = _shaded(colour, shade)
            self._painter.setBrush(Qt.BrushStyle.NoBrush if self._wire else fill)
            self._painter.setPen(QPen(colour if self._wire else fill.darker(125), 0.8))
            self._painter.drawPolygon(face)

    def _emphasise(self, drawn: Drawn) -> None:
        """Draw what is selected over all else."""
        if not drawn.faces:
            self._shape(drawn)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(QPen(theme.SELECTED, 1.6))
        for face, _ in drawn.faces:
            self._painter.drawPolygon(face)

    def _pen(self, drawn: Drawn) -> QPen:
        if self._is_selected(drawn):
            return QPen(theme.SELECTED, 1.8)
        return QPen(COLOURS[drawn.shape.kind], 1.0)

    def _camera(self, drawn: Drawn) -> None:
        pen = self._pen(drawn)
        fill = QColor(pen.color())
        fill.setAlpha(70)
        size = _SELECTED_SIZE if self._is_selected(drawn) else 1.0
        corners = [drawn.place + (corner - drawn.place) * size for corner in drawn.corners]
        self._painter.setPen(pen)
        self._painter.setBrush(fill)
        self._painter.drawPolygon(QPolygonF(corners))
        for corner in corners:
            self._painter.drawLine(drawn.place, corner)

    def _light(self, drawn: Drawn) -> None:
        pen = self._pen(drawn)
        at = drawn.place
        self._painter.setPen(pen)
        self._painter.setBrush(pen.color())
        self._painter.drawEllipse(at, 3.2, 3.2)
        for x, y in ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7)):
            ray = QPointF(x, y)
            self._painter.drawLine(at + ray * 5.5, at + ray * 8.5)
            self._painter.drawLine(at - ray * 5.5, at - ray * 8.5)

    def names(self, drawn: Sequence[Drawn]) -> None:
        """Write the name beside what is selected, if it is not too many."""
        named = [drawing for drawing in drawn if self._is_selected(drawing)]
        for drawing in named if len(named) <= _NAMES else []:
            write_name(self._painter, drawing.shape.path, drawing.place, theme.SELECTED)

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
    """Write on a dark ground, to be read over anything."""
    metrics = QFontMetricsF(painter.font())
    plate = metrics.boundingRect(text).translated(at).adjusted(-6, -3, 6, 3)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_PLATE)
    painter.drawRoundedRect(plate, 4, 4)
    painter.setPen(colour)
    painter.drawText(at, text)


def _display(colour: tuple[float, float, float]) -> QColor:
    channels = (min(max(channel, 0.0), 1.0) ** (1 / 2.2) for channel in colour)
    return QColor.fromRgbF(*channels)


def _shaded(colour: QColor, shade: float) -> QColor:
    return QColor.fromRgbF(colour.redF() * shade, colour.greenF() * shade, colour.blueF() * shade)
