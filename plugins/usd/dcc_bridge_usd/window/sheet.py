"""Pictures of the scene from anywhere, drawn like the viewport but not on the screen.

The person's view stays. Pictures are drawn without a window, too; then nothing is written into
them, for Qt has no fonts there. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, degrees, pi, tan
from typing import TYPE_CHECKING, Any

from pxr import Gf, Usd
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPen
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

MAX_BYTES = 100_000
_MARK_PENS = (("#ffffff", 5), ("#d81b1b", 3))  # red is seen on any ground with white around it
_QUALITIES = (85, 70, 55, 40, 25, 10)  # of a JPEG, tried until it is small enough


@dataclass(frozen=True, slots=True)
class View:
    """From where a picture is drawn, in the axes of the scene.

    Attributes:
        eye: The place of the eye.
        target: The place in the middle of the picture.
        up: The direction that is up in the picture.
        angle: Degrees from top to bottom; 0 without perspective.
        height: Units from top to bottom, without perspective.
        frame: The frame; None for the first key of each value.
        is_shot: Whether the picture is that of a camera or a render, without signs of cameras and
            lights.
    """

    eye: Sequence[float]
    target: Sequence[float]
    up: Sequence[float]
    angle: float = 0.0
    height: float = 1.0
    frame: float | None = None
    is_shot: bool = False


def draw(
    session: UsdSession, views: Sequence[View], width: int, height: int, *, wire: bool = False
) -> bytes:
    """Draw one view, or several in two columns.

    Args:
        session: The scene.
        views: The views.
        width: Of each view, in pixels.
        height: Of each view, in pixels.
        wire: Whether only edges are drawn.

    Returns:
        A JPEG of at most `MAX_BYTES`, if that is possible.

    Raises:
        ValueError: This Qt cannot write JPEG.
    """
    return _jpeg(_image(session, views, width, height, wire=wire))


def draw_marked(
    session: UsdSession,
    view: View,
    width: int,
    height: int,
    marks: Sequence[tuple[int, int, int, int]],
) -> bytes:
    """Draw one view with a rectangle around each mark.

    Args:
        session: The scene.
        view: The view.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        marks: The left, upper, right and lower edge of each rectangle.

    Returns:
        A PNG.

    Raises:
        ValueError: This Qt cannot write PNG.
    """
    image = _image(session, [view], width, height, writes=False)
    painter = QPainter(image)
    for colour, pen_width in _MARK_PENS:
        painter.setPen(QPen(QColor(colour), pen_width))
        for left, top, right, bottom in marks:
            painter.drawRect(left, top, right - left, bottom - top)
    painter.end()
    return _encoded(image, "PNG")


def _image(
    session: UsdSession,
    views: Sequence[View],
    width: int,
    height: int,
    *,
    wire: bool = False,
    writes: bool = True,
) -> QImage:
    """Draw one view, or several in two columns.

    Args:
        session: The scene.
        views: The views.
        width: Of each view, in pixels.
        height: Of each view, in pixels.
        wire: Whether only edges are drawn.
        writes: Whether the axes and the size of the grid are written, if there are fonts.
    """
    columns = min(len(views), 2)
    rows = -(-len(views) // columns)
    image = QImage(width * columns, height * rows, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    sceneries: dict[float | None, Scenery] = {}
    writes = writes and isinstance(QGuiApplication.instance(), QGuiApplication)
    stage = session.stage
    painter = QPainter(image)
    try:
        for number, view in enumerate(views):
            if view.frame not in sceneries:
                sceneries[view.frame] = _scenery(session, view.frame)
            scenery = sceneries[view.frame]
            screen = _screen(view, width, height, stage)
            painter.save()
            painter.translate(number % columns * width, number // columns * height)
            painter.setClipRect(0, 0, width, height)
            hidden = (Kind.CAMERA, Kind.LIGHT) if view.is_shot else ()
            paint(painter, stage, scenery, screen, without=hidden, wire=wire, writes=writes)
            painter.restore()
    finally:
        painter.end()
    return image


def person(session: UsdSession) -> View | None:
    """Return the view of the window; None without a window."""
    viewport = _viewport(session)
    if viewport is None:
        return None
    eye = viewport.eye
    _, up, back = eye.axes()
    wide = max(1, viewport.width())
    high = max(1, viewport.height())
    # The angle of the lens is that of the shorter side.
    half = tan(LENS_ANGLE / 2 * pi / 180) * high / min(wide, high)
    angle = 0.0
    if not eye.is_plan:
        angle = degrees(2 * atan(half))
    into_scene = upright(session.stage).GetTranspose()
    points: list[Any] = [eye.target + back * eye.distance, eye.target, up]
    place, target, upwards = (tuple(into_scene.Transform(point)) for point in points)
    return View(place, target, upwards, angle, height=2 * half * eye.distance)


def _viewport(session: UsdSession) -> Viewport | None:
    """Return the viewport that shows a session, if there is one."""
    if QApplication.instance() is None:
        return None
    for window in QApplication.topLevelWidgets():
        for viewport in window.findChildren(Viewport):
            if viewport.shows(session):
                return viewport
    return None


def _scenery(session: UsdSession, frame: float | None) -> Scenery:
    """Return the shapes of a scene at a frame, those of the window where it shows the same."""
    stage = session.stage
    time = Usd.TimeCode.EarliestTime()
    if frame is None:
        viewport = _viewport(session)
        # The viewport learns of the edits of a step once the step is closed.
        if viewport is not None and not session.is_in_step:
            return viewport.scenery
    else:
        stage = evaluated(stage, frame)
        time = Usd.TimeCode(frame)
    return collect(stage, time, lambda prims: track(prims, message="Drawing"))


def _screen(view: View, width: int, height: int, stage: Usd.Stage) -> Screen:
    """Return the screen of a view."""
    y_up = upright(stage)
    eye = y_up.Transform(Gf.Vec3d(*view.eye))
    target = y_up.Transform(Gf.Vec3d(*view.target))
    up = y_up.Transform(Gf.Vec3d(*view.up))
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
    """Return an image as a JPEG, in the best quality that is small enough."""
    data = b""
    for quality in _QUALITIES:
        data = _encoded(image, "JPEG", quality)
        if len(data) <= MAX_BYTES:
            break
    return data


def _encoded(image: QImage, kind: str, quality: int = -1) -> bytes:
    """Return an image as a file of a kind: "JPEG" or "PNG"."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    if not image.save(buffer, kind, quality):  # type: ignore[call-overload]  # the stubs want bytes
        raise ValueError(f"This Qt cannot write {kind}.")
    return bytes(buffer.data().data())
