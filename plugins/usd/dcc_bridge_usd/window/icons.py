"""Small icons, one per kind of prim, drawn in code so that they are crisp at any scale.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

from .tree import Kind

COLOURS = {
    Kind.ROOT: QColor("#989da8"),
    Kind.GROUP: QColor("#8fa3bf"),
    Kind.SCOPE: QColor("#8d939f"),
    Kind.CAMERA: QColor("#5fc4b8"),
    Kind.LIGHT: QColor("#f0cc62"),
    Kind.GEOMETRY: QColor("#7fa9e8"),
    Kind.CURVES: QColor("#b58be0"),
    Kind.MATERIAL: QColor("#e08a7a"),
    Kind.SHADER: QColor("#cf8fb5"),
    Kind.OTHER: QColor("#8d939f"),
}
_SIZE = 16  # pixels, for which the drawings are made


def _polygon(*points: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


def _group(painter: QPainter) -> None:
    painter.drawLine(QPointF(8, 8), QPointF(8, 2.5))
    painter.drawLine(QPointF(8, 8), QPointF(13, 11.5))
    painter.drawLine(QPointF(8, 8), QPointF(3, 11.5))
    for x, y in ((8, 2.5), (13, 11.5), (3, 11.5)):
        painter.drawEllipse(QPointF(x, y), 1.3, 1.3)


def _scope(painter: QPainter) -> None:
    painter.drawPolygon(_polygon((2, 12.5), (2, 3.5), (6.5, 3.5), (8, 5.5), (14, 5.5), (14, 12.5)))


def _camera(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(1.5, 4.5, 9, 7.5), 1.5, 1.5)
    painter.drawPolygon(_polygon((10.5, 8.2), (14.5, 5), (14.5, 11.4)))


def _light(painter: QPainter) -> None:
    painter.drawEllipse(QPointF(8, 8), 3, 3)
    for step in range(8):
        x = cos(step * pi / 4)
        y = sin(step * pi / 4)
        painter.drawLine(QPointF(8 + 5 * x, 8 + 5 * y), QPointF(8 + 6.6 * x, 8 + 6.6 * y))


def _geometry(painter: QPainter) -> None:
    painter.drawPolygon(
        _polygon((8, 1.8), (13.6, 4.8), (13.6, 11.2), (8, 14.2), (2.4, 11.2), (2.4, 4.8))
    )
    for x, y in ((2.4, 4.8), (13.6, 4.8), (8, 14.2)):
        painter.drawLine(QPointF(8, 8), QPointF(x, y))


def _curves(painter: QPainter) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawArc(QRectF(2, 3, 6, 10), 0, 180 * 16)
    painter.drawArc(QRectF(8, 3, 6, 10), 0, -180 * 16)


def _material(painter: QPainter) -> None:
    painter.drawEllipse(QPointF(8, 8), 5.6, 5.6)
    painter.drawArc(QRectF(5, 4.6, 5, 5), 90 * 16, 90 * 16)


def _shader(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(3.5, 3, 9, 10), 1.5, 1.5)
    for x, y in ((3.5, 6), (3.5, 10), (12.5, 8)):
        painter.drawEllipse(QPointF(x, y), 1.2, 1.2)


def _other(painter: QPainter) -> None:
    painter.drawPolygon(_polygon((8, 3), (13, 8), (8, 13), (3, 8)))


def _root(painter: QPainter) -> None:
    for y in (4, 8, 12):
        painter.drawLine(QPointF(3, y), QPointF(13, y))


_DRAWINGS: dict[Kind, Callable[[QPainter], None]] = {
    Kind.ROOT: _root,
    Kind.GROUP: _group,
    Kind.SCOPE: _scope,
    Kind.CAMERA: _camera,
    Kind.LIGHT: _light,
    Kind.GEOMETRY: _geometry,
    Kind.CURVES: _curves,
    Kind.MATERIAL: _material,
    Kind.SHADER: _shader,
    Kind.OTHER: _other,
}


def _eye(painter: QPainter) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawArc(QRectF(1.5, 4.6, 13, 12), 35 * 16, 110 * 16)
    painter.drawArc(QRectF(1.5, -0.6, 13, 12), 215 * 16, 110 * 16)
    painter.setBrush(painter.pen().color())
    painter.drawEllipse(QPointF(8, 8), 1.7, 1.7)


def _closed_eye(painter: QPainter) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawArc(QRectF(1.5, -0.6, 13, 12), 215 * 16, 110 * 16)
    painter.drawLine(QPointF(8, 11.5), QPointF(8, 13.5))
    painter.drawLine(QPointF(4, 10), QPointF(2.8, 11.8))
    painter.drawLine(QPointF(12, 10), QPointF(13.2, 11.8))


def _application(painter: QPainter) -> None:
    painter.drawArc(QRectF(2.5, 6, 11, 11), 0, 180 * 16)
    painter.drawLine(QPointF(1, 11.5), QPointF(15, 11.5))
    painter.drawLine(QPointF(8, 6), QPointF(8, 11.5))
    painter.setBrush(painter.pen().color())
    painter.drawEllipse(QPointF(8, 3.4), 1.4, 1.4)


def _draw_icon(drawing: Callable[[QPainter], None], colour: QColor, size: int = _SIZE) -> QIcon:
    """Draw an icon for screens of three densities."""
    icon = QIcon()
    for ratio in (1, 2, 3):
        pixmap = _pixmap(drawing, colour, size, ratio)
        for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):  # else Fusion tints a selected icon
            icon.addPixmap(pixmap, mode)
    return icon


def _pixmap(drawing: Callable[[QPainter], None], colour: QColor, size: int, ratio: int) -> QPixmap:
    pixmap = QPixmap(size * ratio, size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _SIZE, size / _SIZE)
    fill = QColor(colour)
    fill.setAlpha(60)
    painter.setPen(
        QPen(colour, 1.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    )
    painter.setBrush(QBrush(fill))
    drawing(painter)
    painter.end()
    return pixmap


class Icons:
    """The icons, made once per owner: pixmaps must not outlive the application.

    Attributes:
        shown: The open eye of a visible prim.
        hidden: The closed eye of an invisible prim.
    """

    def __init__(self) -> None:
        self._kinds = {kind: _draw_icon(draw, COLOURS[kind]) for kind, draw in _DRAWINGS.items()}
        self.shown = _draw_icon(_eye, QColor("#989da8"))
        self.hidden = _draw_icon(_closed_eye, QColor("#6f7480"))

    def of(self, kind: Kind) -> QIcon:
        """Return the icon of a kind of prim."""
        return self._kinds[kind]


def application() -> QIcon:
    """Make the application's own icon."""
    return _draw_icon(_application, QColor("#f0cc62"), 64)
