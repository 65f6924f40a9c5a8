"""The viewport's picture: shapes projected onto the screen, and painted. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen, QPolygonF

from dcc_standalone import theme
from dcc_standalone.icons import COLOURS
from dcc_standalone.shapes import FACES, Scenery, Shape
from dcc_standalone.space import Box, Point, Screen, Spot, dot
from dcc_standalone.tree import Kind

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


def project(scenery: Scenery, screen: Screen) -> list[Drawn]:
    """Find where shapes fall, in the order to draw them; what is behind the eye is left out.

    Boxes come first, the farthest first of all. So cameras and lights are seen through walls.
    """
    project_one = _project if len(scenery.shapes) <= _MANY else _project_dot
    drawn = (project_one(shape, screen) for shape in scenery.shapes)
    return sorted(
        (drawing for drawing in drawn if drawing),
        key=lambda drawing: (not drawing.faces, -drawing.depth),
    )


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


_SKY, _GROUND = QColor("#2f333b"), QColor("#1d1f24")
_GRID, _GRID_FAR = QColor(255, 255, 255, 26), QColor(255, 255, 255, 11)
_AXES = (("X", QColor("#d8655f")), ("Y", QColor("#7fb95c")), ("Z", QColor("#5b8fdc")))
_PLATE = QColor(26, 28, 32, 190)
_NAMES = 12
_SELECTED_SIZE = 2.5


class Brush:
    """Paints one picture."""

    def __init__(
        self, painter: QPainter, screen: Screen, selected: set[str], *, wire: bool = False
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

    def background(self, area: QRectF) -> None:
        """Fill with a quiet gradient."""
        gradient = QLinearGradient(area.topLeft(), area.bottomLeft())
        gradient.setColorAt(0, _SKY)
        gradient.setColorAt(1, _GROUND)
        self._painter.fillRect(area, gradient)

    def grid(self, box: Box) -> float:
        """Draw the ground; give the side of one square, in the scene's units."""
        step = 10.0 ** floor(log10(box.radius))
        reach = step * max(10, 2 * int(box.radius / step) + 2)
        x, _, z = (step * round(at / step) for at in box.centre)
        for line in range(-int(reach / step), int(reach / step) + 1):
            at = line * step
            self._painter.setPen(_GRID_FAR if line % 5 else _GRID)
            self._line((x + at, 0, z - reach), (x + at, 0, z + reach))
            self._line((x - reach, 0, z + at), (x + reach, 0, z + at))
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
            self.name(drawing.shape.path, drawing.place, theme.SELECTED)

    def name(self, path: str, at: QPointF, colour: QColor = theme.TEXT) -> None:
        """Write a prim's name beside a place."""
        self._plate(path.rsplit("/", 1)[-1], at + QPointF(12, -8), colour)

    def note(self, text: str, corner: QPointF) -> None:
        """Write a line that ends in a corner."""
        width = QFontMetricsF(self._painter.font()).horizontalAdvance(text)
        self._plate(text, corner - QPointF(width, 0), theme.DIM)

    def _plate(self, text: str, at: QPointF, colour: QColor) -> None:
        """Write on a dark ground, to be read over anything."""
        metrics = QFontMetricsF(self._painter.font())
        plate = metrics.boundingRect(text).translated(at).adjusted(-6, -3, 6, 3)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(_PLATE)
        self._painter.drawRoundedRect(plate, 4, 4)
        self._painter.setPen(colour)
        self._painter.drawText(at, text)

    def axes(self, corner: QPointF, is_z_up: bool) -> None:
        """Draw the scene's axes, small, in a corner."""
        directions = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        if is_z_up:
            directions = (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)
        right, up, _ = self._screen.eye.axes()
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(_PLATE)
        self._painter.drawEllipse(corner, 44, 44)
        for (name, colour), axis in zip(_AXES, directions, strict=True):
            x, y = dot(axis, right), -dot(axis, up)
            self._painter.setPen(QPen(colour, 2))
            self._painter.drawLine(corner, corner + QPointF(x, y) * 24)
            if abs(x) + abs(y) > 0.2:
                box = QRectF(-8, -8, 16, 16).translated(corner + QPointF(x, y) * 33)
                self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)


def _display(colour: tuple[float, float, float]) -> QColor:
    channels = (min(max(channel, 0.0), 1.0) ** (1 / 2.2) for channel in colour)
    return QColor.fromRgbF(*channels)


def _shaded(colour: QColor, shade: float) -> QColor:
    return QColor.fromRgbF(colour.redF() * shade, colour.greenF() * shade, colour.blueF() * shade)
