"""The viewport: the scene in perspective or from above, painted without OpenGL.

Left-drag turns, middle-drag or Shift moves, the wheel zooms, a click selects. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from .painting import Projection, paint, write_name
from .scene import SessionFeed
from .shapes import Scenery, collect
from .space import Eye, Point

if TYPE_CHECKING:
    from ..host import UsdSession

_CLICK_PIXELS = 4  # the mouse may move so far in a click
_ORBIT_A_PIXEL = 0.006  # radians
_PAN_A_SIDE = 0.73  # of the distance, when the mouse crosses the shorter side


class Viewport(QWidget):
    """A picture of a session's stage.

    Attributes:
        eye: From where the picture is drawn.
        projections: The shapes as they were painted last.
    """

    def __init__(
        self, session: UsdSession, feed: SessionFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._scenery: Scenery | None = None
        self.projections: list[Projection] = []
        self._hovered = ""
        self._pressed = QPointF()  # where the mouse button went down
        self._last = QPointF()  # where the mouse was last
        self._is_framed = False
        self._focus: Sequence[Point] = ()
        self.eye = Eye()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Viewport")
        feed.stage_opened.connect(self._open)
        feed.values_changed.connect(self._outdate)
        feed.selection_changed.connect(self.update)
        session.on_frame(self.frame_items)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Frame the scene again, until the person looks elsewhere."""
        if not self._is_framed:
            self.frame_all()
            self._is_framed = False

    def sizeHint(self) -> QSize:
        """Return the size that the viewport would like."""
        return QSize(720, 560)

    @property
    def scenery(self) -> Scenery:
        """The shapes of the stage, collected again when first needed after a change."""
        if self._scenery is None:
            self._scenery = collect(self._session.stage)
        return self._scenery

    def shows(self, session: UsdSession) -> bool:
        """Return whether this is a picture of a session."""
        return self._session is session

    def _open(self) -> None:
        """Frame another scene; a scene that only got another name is not framed again."""
        if self.scenery.focus != self._focus:
            self.frame_all()

    def _outdate(self) -> None:
        self._scenery = None
        self.update()

    def frame_all(self) -> None:
        """Look at the whole scene."""
        self._frame(self.scenery.focus)

    def frame_selected(self) -> None:
        """Look at the selected prims with all below them; at the whole scene if none are seen."""
        self.frame_items(self._session.selection)

    def frame_items(self, paths: Sequence[str]) -> None:
        """Look at prims with all below them; at the whole scene if none are seen."""
        roots = tuple(f"{path}/" for path in paths)
        shapes = [shape for shape in self.scenery.shapes if f"{shape.path}/".startswith(roots)]
        if not shapes:
            self.frame_all()
            return
        points: list[Point] = []
        for shape in shapes:
            points += shape.points
        self._frame(points)

    def _frame(self, points: Sequence[Point]) -> None:
        eye = self.eye.frame(points, self.width(), self.height())
        back_off = self.scenery.size * 6 / eye.distance  # a mark would fill the picture
        self._look(eye.zoom(max(1.0, back_off)))

    def set_plan(self, is_plan: bool) -> None:
        """Look straight from above, or in perspective."""
        self._look(replace(self.eye, is_plan=is_plan))

    def _look(self, eye: Eye) -> None:
        self._is_framed = True
        self.eye = eye
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture."""
        self._focus = self.scenery.focus
        screen = self.eye.screen(self.width(), self.height())
        selected = self._session.selection
        painter = QPainter(self)
        stage = self._session.stage
        self.projections = paint(painter, stage, self.scenery, screen, selected=selected)
        if self._hovered:
            write_name(painter, self._hovered, self._last)
        painter.end()

    def path_at(self, at: QPointF) -> str:
        """Return the path of the nearest shape at a place in the picture; "" if there is none.

        Cameras and lights come before boxes, through which they are seen.
        """
        hits = [projection for projection in self.projections if projection.is_hit(at)]
        marks = [projection for projection in hits if not projection.faces]
        candidates = marks or hits
        if not candidates:
            return ""
        nearest = min(candidates, key=lambda projection: projection.depth)
        return nearest.shape.path

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag or a click begins."""
        self._pressed = event.position()
        self._last = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Turn, move, or show the name of what is under the mouse."""
        moved = event.position() - self._last
        if not event.buttons():
            self._hover(event.position())
            return
        self._last = event.position()
        side = max(1, min(self.width(), self.height()))
        if self._moves_sideways(event):
            across = -moved.x() * _PAN_A_SIDE / side
            upwards = moved.y() * _PAN_A_SIDE / side
            self._look(self.eye.pan(across, upwards))
        else:
            self._look(self.eye.orbit(-moved.x() * _ORBIT_A_PIXEL, moved.y() * _ORBIT_A_PIXEL))

    def _moves_sideways(self, event: QMouseEvent) -> bool:
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        is_middle = bool(event.buttons() & Qt.MouseButton.MiddleButton)
        return self.eye.is_plan or is_shifted or is_middle

    def _hover(self, at: QPointF) -> None:
        hovered = self.path_at(at)
        if hovered != self._hovered:
            self._hovered = hovered
            self._last = at
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget what was under the mouse."""
        self._hovered = ""
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select a prim after a click, not after a drag."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if (event.position() - self._pressed).manhattanLength() <= _CLICK_PIXELS:
            adds = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._select(self.path_at(event.position()), adds)

    def _select(self, path: str, adds: bool) -> None:
        before = self._session.selection if adds else []
        if path in before:
            self._session.selection = [selected for selected in before if selected != path]
        elif path:
            self._session.selection = [path, *before]
        else:
            self._session.selection = before

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom."""
        self._look(self.eye.zoom(0.999 ** event.angleDelta().y()))
