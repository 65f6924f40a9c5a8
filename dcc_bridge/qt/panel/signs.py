"""Small signs, drawn in the colour of the text beside them. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dcc_bridge.qt.binding import (
    QColor,
    QIcon,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QPointF,
    QPolygonF,
    QRectF,
    QSize,
    Qt,
    QWidget,
)

_SIDE: Final = 16.0
_VISIBLE: Final = 3.0
"""The contrast that the Web Content Accessibility Guidelines ask of what is no text."""
_ROLE: Final = QPalette.ColorRole


def _tick(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF([QPointF(3, 8.5), QPointF(6.5, 12), QPointF(13, 4.5)]))


def _cross(painter: QPainter) -> None:
    painter.drawLine(QPointF(4, 4), QPointF(12, 12))
    painter.drawLine(QPointF(12, 4), QPointF(4, 12))


def _mark(painter: QPainter) -> None:
    painter.drawLine(QPointF(8, 3), QPointF(8, 9))
    painter.drawLine(QPointF(8, 12.6), QPointF(8, 12.7))


def _ring(painter: QPainter) -> None:
    painter.drawEllipse(QRectF(4, 4, 8, 8))


def _dot(painter: QPainter) -> None:
    painter.setBrush(painter.pen().color())
    painter.drawEllipse(QRectF(4, 4, 8, 8))


def _play(painter: QPainter) -> None:
    painter.setBrush(painter.pen().color())
    painter.drawPolygon(QPolygonF([QPointF(5, 4), QPointF(12, 8), QPointF(5, 12)]))


def _bars(painter: QPainter) -> None:
    painter.drawLine(QPointF(5.5, 4), QPointF(5.5, 12))
    painter.drawLine(QPointF(10.5, 4), QPointF(10.5, 12))


_SIGNS: Final[dict[str, Callable[[QPainter], None]]] = {
    "tick": _tick,
    "cross": _cross,
    "mark": _mark,
    "ring": _ring,
    "dot": _dot,
    "bars": _bars,
    "play": _play,
}


def draw(painter: QPainter, sign: str, area: QRectF, colour: QColor) -> None:
    """Draw a sign into a square."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(area.topLeft())
    painter.scale(area.width() / _SIDE, area.height() / _SIDE)
    pen = QPen(colour, 2)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    _SIGNS[sign](painter)
    painter.restore()


def icon(sign: str, colour: QColor, side: int) -> QIcon:
    """Draw a sign as an icon, crisp at any scale."""
    made = QIcon()
    for ratio in (1, 2, 3):
        pixmap = QPixmap(side * ratio, side * ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        draw(painter, sign, QRectF(pixmap.rect()), colour)
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        made.addPixmap(pixmap)
    return made


def accent(palette: QPalette, ground: QPalette.ColorRole) -> QColor:
    """Give the palette's accent: the colour of what is selected, or of links where that is dim."""
    on = palette.color(ground)
    colours = [palette.color(role) for role in (_ROLE.Highlight, _ROLE.Link, _ROLE.WindowText)]
    return next((one for one in colours if _contrast(one, on) >= _VISIBLE), colours[-1])


def _contrast(one: QColor, other: QColor) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: QColor) -> float:
    """Give the relative luminance that the Web Content Accessibility Guidelines define."""
    parts = colour.redF(), colour.greenF(), colour.blueF()
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class Sign(QWidget):
    """A sign as high as a line of text.

    Attributes:
        sign: Which one.
        stands_out: It is drawn in the palette's accent.
    """

    def __init__(self) -> None:
        """Draw a ring."""
        super().__init__()
        self.sign = "ring"
        self.stands_out = False

    def show_sign(self, sign: str, *, stands_out: bool) -> None:
        """Draw another one."""
        if (sign, stands_out) != (self.sign, self.stands_out):
            self.sign, self.stands_out = sign, stands_out
            self.update()

    def sizeHint(self) -> QSize:
        """Be a square."""
        side = self.fontMetrics().height()
        return QSize(side, side)

    def minimumSizeHint(self) -> QSize:
        """Never be smaller."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        palette = self.palette()
        text = palette.color(_ROLE.WindowText)
        colour = accent(palette, _ROLE.Window) if self.stands_out else text
        side = float(min(self.width(), self.height()))
        painter = QPainter(self)
        draw(painter, self.sign, QRectF(0, 0, side, side), colour)
        painter.end()
