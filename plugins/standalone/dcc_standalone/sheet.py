"""Pictures of the scene from anywhere, drawn as the viewport does but for nobody's eyes to see.

The person's view stays. It works without a window, too; then nothing is written into the picture,
for Qt has no fonts there. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, degrees, hypot, pi, tan
from typing import TYPE_CHECKING

from pxr import Usd, UsdGeom
from PySide6.QtCore import QBuffer, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication

from dcc_bridge import track
from dcc_standalone.frames import evaluated
from dcc_standalone.painting import Brush, project
from dcc_standalone.shapes import Scenery, collect
from dcc_standalone.space import LENS_ANGLE, Aimed, Box, Point, Screen, cross
from dcc_standalone.tree import Kind
from dcc_standalone.viewport import Viewport

if TYPE_CHECKING:
    from dcc_bridge.hosts.standalone import UsdSession

MOST_BYTES = 100_000
_QUALITIES = (85, 70, 55, 40, 25, 10)


@dataclass(frozen=True, slots=True)
class View:
    """From where a picture is drawn, in the axes of the scene."""

    eye: Point
    target: Point
    up: Point
    angle: float = 0.0  # degrees from top to bottom; 0 without perspective
    height: float = 1.0  # units from top to bottom, without perspective
    frame: float | None = None
    is_shot: bool = False  # whether it is a camera's picture, which shows no cameras and lights


def draw(
    session: UsdSession, views: Sequence[View], width: int, height: int, *, wire: bool = False
) -> bytes:
    """Draw one view, or several in two columns, as a JPEG of at most `MOST_BYTES` if possible."""
    columns = min(len(views), 2)
    rows = -(-len(views) // columns)
    image = QImage(width * columns, height * rows, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    sceneries: dict[float | None, Scenery] = {}
    painter = QPainter(image)
    try:
        for number, view in enumerate(views):
            scenery = sceneries.get(view.frame) or _scenery(session, view.frame)
            sceneries[view.frame] = scenery
            area = QRectF(0, 0, width, height)
            painter.save()
            painter.translate(number % columns * width, number // columns * height)
            painter.setClipRect(area)
            _paint(painter, scenery, view, area, session.stage, wire)
            painter.restore()
    finally:
        painter.end()
    return _jpeg(image)


def person(session: UsdSession) -> View | None:
    """Give the view of the window, if there is one."""
    viewport = _viewport(session)
    if viewport is None:
        return None
    eye = viewport.eye
    _, up, back = eye.axes()
    at = [t + b * eye.distance for t, b in zip(eye.target, back, strict=True)]
    wide, high = max(1, viewport.width()), max(1, viewport.height())
    # the lens is that of the shorter side
    half = tan(LENS_ANGLE / 2 * pi / 180) * high / min(wide, high)
    is_z = UsdGeom.GetStageUpAxis(session.stage) == UsdGeom.Tokens.z
    angle = 0.0 if eye.is_plan else degrees(2 * atan(half))
    stood, target, over = (_standing(point, is_z) for point in (at, eye.target, up))
    return View(stood, target, over, angle, height=2 * half * eye.distance)


def _viewport(session: UsdSession) -> Viewport | None:
    if QApplication.instance() is None:
        return None
    every = (it for top in QApplication.topLevelWidgets() for it in top.findChildren(Viewport))
    return next((it for it in every if it.shows(session)), None)


def _scenery(session: UsdSession, frame: float | None) -> Scenery:
    viewport = _viewport(session) if frame is None else None
    if viewport is not None:
        return viewport.scenery
    stage = session.stage
    time = Usd.TimeCode.EarliestTime()
    if frame is not None:
        stage = evaluated(stage, frame)
        time = Usd.TimeCode(frame)
    return collect(stage, time, lambda prims: track(prims, message="Drawing"))


def _paint(
    painter: QPainter, scenery: Scenery, view: View, area: QRectF, stage: Usd.Stage, wire: bool
) -> None:
    is_z = UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z
    screen = _screen(view, area, is_z)
    brush = Brush(painter, screen, set(), wire=wire)
    brush.background(area)
    step = brush.grid(Box.around(scenery.focus))
    marks = (Kind.CAMERA, Kind.LIGHT) if view.is_shot else ()
    brush.shapes([it for it in project(scenery, screen) if it.shape.kind not in marks])
    if isinstance(QGuiApplication.instance(), QGuiApplication):  # it has the fonts
        brush.axes(QPointF(60, area.height() - 60), is_z)
        metres = step * UsdGeom.GetStageMetersPerUnit(stage)
        brush.note(f"Grid {metres:g} m", QPointF(area.width() - 18, area.height() - 18))


def _screen(view: View, area: QRectF, is_z: bool) -> Screen:
    eye, target, up = (_lying(point, is_z) for point in (view.eye, view.target, view.up))
    away = eye[0] - target[0], eye[1] - target[1], eye[2] - target[2]
    distance = hypot(*away) or 1.0
    back = _unit(away, (0.0, 0.0, 1.0))
    right = cross(up, back)
    if hypot(*right) < 1e-6:
        right = cross((0.0, 0.0, -1.0) if abs(back[1]) > 0.9 else (0.0, 1.0, 0.0), back)
    right = _unit(right, (1.0, 0.0, 0.0))
    turned = right, cross(back, right), back
    if view.angle:
        scale = area.height() / 2 / tan(view.angle / 2 * pi / 180)
    else:
        scale = area.height() / view.height * distance
    aimed = Aimed(target, distance, is_plan=not view.angle, turned=turned)
    return Screen(aimed, area.width(), area.height(), scale)


def _unit(vector: Point, other: Point) -> Point:
    size = hypot(*vector)
    return (vector[0] / size, vector[1] / size, vector[2] / size) if size else other


def _lying(point: Sequence[float], is_z: bool) -> Point:
    """Put a point of the scene into the viewport's space, where Y is up."""
    x, y, z = point
    return (x, z, -y) if is_z else (x, y, z)


def _standing(point: Sequence[float], is_z: bool) -> Point:
    """Put a point of the viewport's space into the scene."""
    x, y, z = point
    return (x, -z, y) if is_z else (x, y, z)


def _jpeg(image: QImage) -> bytes:
    written = b""
    for quality in _QUALITIES:
        buffer = QBuffer()
        buffer.open(QBuffer.OpenModeFlag.WriteOnly)
        if not image.save(buffer, "JPEG", quality):  # type: ignore[call-overload]  # the stubs want bytes
            raise ValueError("This Qt cannot write JPEG.")
        written = bytes(buffer.data().data())
        if len(written) <= MOST_BYTES:
            break
    return written
