"""The place of the questions' dialogs: beside the host's view. Main thread.

A question is about what the person sees in the view, so its dialog stands beside the view where
there is room, and else in the corner furthest from the view's centre. All dialogs stand in one
place as long as they fit there. Where the person moved one, the next ones come too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dcc_bridge.qt import binding as qt

MAX_FRAME: Final = qt.QSize(12, 48)  # pixels that a window manager draws around a dialog, at most
_MIN_MOVE: Final = MAX_FRAME.width() + MAX_FRAME.height()  # a shorter way is the frame alone


class DialogPlace:
    """The place of the last dialog, for the next one."""

    def __init__(self) -> None:
        self._last: qt.QPoint | None = None
        self._is_chosen = False  # by the person

    def put(self, dialog: qt.QWidget, host_window: qt.QWidget) -> None:
        """Move a dialog to its place, before it is shown.

        Args:
            dialog: The dialog, in its own size.
            host_window: A window of the host, whose screen the dialog stands on.
        """
        window = host_window.window()
        size = dialog.size() + MAX_FRAME
        screen = window.screen().availableGeometry()
        if self._is_chosen and self._last is not None:
            chosen_screen = qt.QGuiApplication.screenAt(self._last)
            if chosen_screen is not None:
                screen = chosen_screen.availableGeometry()
            corner = _inside(self._last, size, screen)
        else:
            frame = window.frameGeometry()
            corner = find_corner(size, screen, frame, _view_of(window), _typed_text(), self._last)
        self._last = corner
        dialog.move(corner)

    def hold(self, dialog: qt.QWidget) -> None:
        """Move a dialog that has grown back onto its screen."""
        screen = dialog.screen().availableGeometry()
        corner = _inside_rows(dialog.pos(), dialog.frameGeometry().size(), screen)
        if corner != dialog.pos():
            if not self._was_moved(dialog):
                self._last = corner
            dialog.move(corner)

    def note(self, dialog: qt.QWidget) -> None:
        """Keep the place of a dialog that goes, if the person moved it there."""
        if self._was_moved(dialog):
            self._last = dialog.pos()
            self._is_chosen = True

    def _was_moved(self, dialog: qt.QWidget) -> bool:
        """Return whether the person moved a dialog away from its place."""
        if self._last is None:
            return False
        return (dialog.pos() - self._last).manhattanLength() > _MIN_MOVE


def find_corner(
    size: qt.QSize,
    screen: qt.QRect,
    window: qt.QRect,
    view: qt.QRect,
    typing: qt.QRect,
    last: qt.QPoint | None = None,
) -> qt.QPoint:
    """Return the top left corner for a dialog that nobody has moved.

    Args:
        size: The size of the dialog, with its frame.
        screen: The area of the screen that is free for windows.
        window: The host's window.
        view: The part of the window that shows the scene.
        typing: The text in which the person types; empty for none.
        last: The corner of the last dialog, or None.
    """
    corners = list(_corners_beside(view, window, size, screen))
    if last is not None:
        corners.insert(0, last)
    for corner in corners:
        place = qt.QRect(corner, size)
        is_free = not place.intersects(view) and not place.intersects(typing)
        if is_free and screen.contains(place):
            return corner
    corners = _screen_corners(view, size, screen)
    if last is not None:
        before = last
        corners.sort(key=lambda corner: (corner - before).manhattanLength())
    for corner in corners:
        if not qt.QRect(corner, size).intersects(typing):
            return corner
    return corners[0]


def _view_of(window: qt.QWidget) -> qt.QRect:
    """Return the part of a window that shows the scene: its central part, if it has one."""
    if isinstance(window, qt.QMainWindow):
        central = window.centralWidget()
        if central is not None and central.isVisible():
            return qt.QRect(central.mapToGlobal(qt.QPoint()), central.size())
    return window.frameGeometry()


def _typed_text() -> qt.QRect:
    """Return the area of the text in which the person types; an empty one for none."""
    focused = qt.QApplication.focusWidget()
    is_text = qt.Qt.WidgetAttribute.WA_InputMethodEnabled
    if focused is None or not focused.testAttribute(is_text):
        return qt.QRect()
    return qt.QRect(focused.mapToGlobal(qt.QPoint()), focused.size())


def _corners_beside(
    view: qt.QRect, window: qt.QRect, size: qt.QSize, screen: qt.QRect
) -> Iterator[qt.QPoint]:
    """Return the places beside the whole window, then those beside the view."""
    for part in (window, view):
        yield _inside_rows(qt.QPoint(part.right() + 1, view.top()), size, screen)
        yield _inside_rows(qt.QPoint(part.left() - size.width(), view.top()), size, screen)
    yield _inside_columns(qt.QPoint(view.left(), view.bottom() + 1), size, screen)
    yield _inside_columns(qt.QPoint(view.left(), view.top() - size.height()), size, screen)


def _screen_corners(view: qt.QRect, size: qt.QSize, screen: qt.QRect) -> list[qt.QPoint]:
    """Return the places in the corners of the screen, the furthest from the view first."""
    top = max(screen.top(), view.top())  # the menus of the window stay free
    bottom = min(screen.bottom(), view.bottom()) - size.height() + 1
    if bottom < top:
        top = screen.top()
        bottom = max(top, screen.bottom() - size.height() + 1)
    left = screen.left()
    right = max(left, screen.right() - size.width() + 1)
    # Of corners that are as far, the first: notifications stand at the bottom right.
    corners = [
        qt.QPoint(right, top),
        qt.QPoint(left, top),
        qt.QPoint(left, bottom),
        qt.QPoint(right, bottom),
    ]

    def nearness(corner: qt.QPoint) -> float:
        way = qt.QRect(corner, size).center() - view.center()
        return -float(way.x() ** 2 + way.y() ** 2)

    return sorted(corners, key=nearness)


def _inside(corner: qt.QPoint, size: qt.QSize, screen: qt.QRect) -> qt.QPoint:
    """Return the nearest corner with which the whole dialog is on the screen."""
    return _inside_rows(_inside_columns(corner, size, screen), size, screen)


def _inside_columns(corner: qt.QPoint, size: qt.QSize, screen: qt.QRect) -> qt.QPoint:
    last = screen.right() - size.width() + 1
    return qt.QPoint(max(screen.left(), min(corner.x(), last)), corner.y())


def _inside_rows(corner: qt.QPoint, size: qt.QSize, screen: qt.QRect) -> qt.QPoint:
    last = screen.bottom() - size.height() + 1
    return qt.QPoint(corner.x(), max(screen.top(), min(corner.y(), last)))
