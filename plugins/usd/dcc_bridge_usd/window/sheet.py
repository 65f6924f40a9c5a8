"""Pictures of the scene from anywhere, drawn as the viewport does but for nobody's eyes to see.

The person's view stays. It works without a window, too; then nothing is written into the picture,
for Qt has no fonts there. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, degrees, pi, tan
from typing import TYPE_CHECKING, Any

from pxr import Gf, Usd
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication

from dcc_bridge import track

from ..frames import evaluated
from .painting import paint
from .shapes import Scenery, collect
from .space import LENS_ANGLE, Screen, upright
from .tree import Kind
from .viewport import Viewport

if TYPE_CHECKING:
    from ..host import UsdSession

MOST_BYTES = 100_000
_QUALITIES = (85, 70, 55, 40, 25, 10)


@dataclass(frozen=True, slots=True)
class View:
    """From where a picture is drawn, in the axes of the scene."""

    eye: Sequence[float]
    target: Sequence[float]
    up: Sequence[float]
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
    has_fonts = isinstance(QGuiApplication.instance(), QGuiApplication)
    painter = QPainter(image)
    try:
        for number, view in enumerate(views):
            scenery = sceneries.get(view.frame) or _scenery(session, view.frame)
            sceneries[view.frame] = scenery
            screen = _screen(view, width, height, session.stage)
            painter.save()
            painter.translate(number % columns * width, number // columns * height)
            painter.setClipRect(0, 0, width, height)
            marks = (Kind.CAMERA, Kind.LIGHT) if view.is_shot else ()
            stage = session.stage
            paint(painter, stage, scenery, screen, without=marks, wire=wire, writes=has_fonts)
            painter.restore()
    finally:
        painter.end()
    return _jpeg(image)


def person(session: UsdSession) -> View | None:
    """Return the view of the window, if there is one."""
    viewport = _viewport(session)
    if viewport is None:
        return None
    eye = viewport.eye
    _, up, back = eye.axes()
    wide = max(1, viewport.width())
    high = max(1, viewport.height())
    # the lens is that of the shorter side
    half = tan(LENS_ANGLE / 2 * pi / 180) * high / min(wide, high)
    angle = 0.0
    if not eye.is_plan:
        angle = degrees(2 * atan(half))
    standing = upright(session.stage).GetTranspose()
    points: list[Any] = [eye.target + back * eye.distance, eye.target, up]
    at, target, over = (tuple(standing.Transform(point)) for point in points)
    return View(at, target, over, angle, height=2 * half * eye.distance)


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


def _screen(view: View, width: int, height: int, stage: Usd.Stage) -> Screen:
    lying = upright(stage)
    eye, target, up = (
        lying.Transform(Gf.Vec3d(*point)) for point in (view.eye, view.target, view.up)
    )
    away = eye - target
    distance = away.GetLength() or 1.0
    if not away:
        away = Gf.Vec3d(0, 0, 1)
    if Gf.Cross(up, away).GetLength() < 1e-6 * distance:
        is_steep = abs(away[1]) > 0.9 * distance
        up = Gf.Vec3d(0, 0, -1) if is_steep else Gf.Vec3d(0, 1, 0)
    look = Gf.Matrix4d().SetLookAt(target + away, target, up)
    if view.angle:
        scale = height / 2 / tan(view.angle / 2 * pi / 180)
    else:
        scale = height / view.height * distance
    return Screen(look, distance, width, height, scale, is_flat=not view.angle)


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
