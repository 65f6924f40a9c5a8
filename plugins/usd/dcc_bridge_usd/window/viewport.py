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

from .painting import Drawn, paint, write_name
from .scene import SessionFeed
from .shapes import Scenery, collect
from .space import Eye, Point

if TYPE_CHECKING:
    from ..host import UsdSession

_CLICK = 4


class Viewport(QWidget):
    """A picture of a session's stage."""

    def __init__(
        self, session: UsdSession, feed: SessionFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._scenery: Scenery | None = None
        self.drawn: list[Drawn] = []  # what was painted last, and where
        self._hovered = ""
        self._pressed = self._last = QPointF()
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
        """Frame the scene until the person looked elsewhere."""
        if not self._is_framed:
            self.frame_all()
            self._is_framed = False

    def sizeHint(self) -> QSize:
        """Ask for room."""
        return QSize(720, 560)

    @property
    def scenery(self) -> Scenery:
        """The shapes of the stage, found again when first needed after a change."""
        if self._scenery is None:
            self._scenery = collect(self._session.stage)
        return self._scenery

    def shows(self, session: UsdSession) -> bool:
        """Whether it is a picture of this session."""
        return self._session is session

    def _open(self) -> None:
        """Frame another scene; one that only got another name is looked at as it was."""
        if self.scenery.focus != self._focus:
            self.frame_all()

    def _outdate(self) -> None:
        self._scenery = None
        self.update()

    def frame_all(self) -> None:
        """Look at the whole scene."""
        self._frame(self.scenery.focus)

    def frame_selected(self) -> None:
        """Look at what is selected, with all below it; at the whole scene where that is nothing."""
        self.frame_items(self._session.selection)

    def frame_items(self, paths: Sequence[str]) -> None:
        """Look at prims with all below them; at the whole scene where that is nothing."""
        roots = tuple(f"{path}/" for path in paths)
        shapes = [shape for shape in self.scenery.shapes if f"{shape.path}/".startswith(roots)]
        if not shapes:
            self.frame_all()
            return
        self._frame([point for shape in shapes for point in shape.points])

    def _frame(self, points: Sequence[Point]) -> None:
        eye = self.eye.frame(points, self.width(), self.height())
        self._look(eye.zoom(max(1.0, self.scenery.size * 6 / eye.distance)))

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
        self.drawn = paint(painter, stage, self.scenery, screen, selected=selected)
        if self._hovered:
            write_name(painter, self._hovered, self._last)
        painter.end()

    def path_at(self, at: QPointF) -> str:
        """Give the path of the nearest shape at a place in the picture, or nothing."""
        hit = [drawn for drawn in self.drawn if drawn.is_hit(at)]
        marks = [drawn for drawn in hit if not drawn.faces]
        nearest = min(marks or hit, key=lambda drawn: drawn.depth, default=None)
        return nearest.shape.path if nearest else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag or a click begins."""
        self._pressed = self._last = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Turn, move, or show the name of what is under the mouse."""
        moved = event.position() - self._last
        if not event.buttons():
            self._hover(event.position())
            return
        self._last = event.position()
        side = max(1, min(self.width(), self.height()))
        if self._moves_sideways(event):
            self._look(self.eye.pan(-moved.x() * 0.73 / side, moved.y() * 0.73 / side))
        else:
            self._look(self.eye.orbit(-moved.x() * 0.006, moved.y() * 0.006))

    def _moves_sideways(self, event: QMouseEvent) -> bool:
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        is_middle = bool(event.buttons() & Qt.MouseButton.MiddleButton)
        return self.eye.is_plan or is_shifted or is_middle

    def _hover(self, at: QPointF) -> None:
        hovered = self.path_at(at)
        if hovered != self._hovered:
            self._hovered, self._last = hovered, at
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget what was under the mouse."""
        self._hovered = ""
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select, if it was a click and no drag."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if (event.position() - self._pressed).manhattanLength() <= _CLICK:
            adds = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._select(self.path_at(event.position()), adds)

    def _select(self, path: str, adds: bool) -> None:
        before = self._session.selection if adds else []
        if path in before:
            self._session.selection = [selected for selected in before if selected != path]
        else:
            self._session.selection = ([path] if path else []) + before

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom."""
        self._look(self.eye.zoom(0.999 ** event.angleDelta().y()))
