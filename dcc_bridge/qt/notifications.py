"""Notifications: quiet lines in a corner of the host's window, about events elsewhere.

One notification is drawn at a time: the newest, with the number of the others. It takes no focus,
and covers neither a status bar nor a dock at the edge nor a dialog of ours. One about a call has a
menu that copies the call's id, for ``dcc-bridge audit show --call ID``. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dcc_bridge.elicitation.question_queue import Click
from dcc_bridge.elicitation.text import breakable, safe_line
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.call_menu import CallMenu
from dcc_bridge.qt.event_loop import OURS_PROPERTY, PANEL_NAME, DeferredDeletion
from dcc_bridge.qt.labels import SMALL, add_all, label, plain_column, tr
from dcc_bridge.qt.outlines import draw_outlines
from dcc_bridge.qt.screen_reader import announce

_WIDTH: Final = 48  # of a notification's text, in average characters
_MIN_WIDTH: Final = 8  # the same, where the window is narrow
_PASSING_MS: Final = 8000
"""The time for which a notification stays that needs no answer."""
_KIND: Final = (
    qt.Qt.WindowType.Tool
    | qt.Qt.WindowType.FramelessWindowHint
    | qt.Qt.WindowType.WindowDoesNotAcceptFocus
)


NoticeButton = tuple[str, Click]  # the caption of a notification's button, and what it calls


class QuietWindow(qt.QDialog):
    """A window over the host's window that takes no focus."""

    def __init__(self, parent: qt.QWidget | None) -> None:
        """Prepare an empty window; `parent` is the host's window."""
        super().__init__(parent, _KIND)
        self.setProperty(OURS_PROPERTY, True)
        self.setAttribute(qt.Qt.WidgetAttribute.WA_ShowWithoutActivating)

    def fit(self, most: int) -> None:
        """Take the size that the content needs.

        Args:
            most: The greatest width, in pixels.
        """
        self.setMaximumWidth(most)
        self.adjustSize()


class Notification(QuietWindow):
    """A quiet line over the host's window, with buttons.

    Attributes:
        text: The sentence that is shown.
        menu: Copies the id of the call that the sentence is about; None for no call.
        buttons: A button for each act.
    """

    def __init__(
        self, text: str, acts: tuple[NoticeButton, ...], parent: qt.QWidget | None
    ) -> None:
        """Draw a sentence and a button for each of `acts`; `parent` is the host's window."""
        super().__init__(parent)
        self.text = safe_line(text)
        self.menu: CallMenu | None = None
        frame = qt.QFrame(frameShape=qt.QFrame.Shape.Box)  # the window below has the same colour
        frame.setForegroundRole(qt.QPalette.ColorRole.PlaceholderText)
        plain_column(self).addWidget(frame)
        self.setAccessibleName(self.text)
        self._words = label(self.text, size=SMALL)
        self._words.setForegroundRole(qt.QPalette.ColorRole.WindowText)
        self._row = qt.QHBoxLayout(frame)
        self._row.addWidget(self._words, 1)
        self.buttons = [_button(caption, act) for caption, act in acts]
        add_all(self._row, *self.buttons)
        draw_outlines(self)

    def fit(self, most: int) -> None:
        """Take the size that the text needs.

        Args:
            most: The greatest width, in pixels.
        """
        char = self.fontMetrics().averageCharWidth()
        room = most - 4 * self.fontMetrics().height()  # for the frame and the margins
        for button in self.buttons:
            room -= button.sizeHint().width() + self._row.spacing()
        self._words.setFixedWidth(max(_MIN_WIDTH * char, min(_WIDTH * char, room)))
        self._row.invalidate()
        self.adjustSize()

    def show_others(self, count: int) -> None:
        """Show after the text how many other notifications there are."""
        text = self.text
        if count:
            text = tr("{first} (and {n} more)", first=text, n=count)
        self._words.setText(breakable(text))

    def set_call(self, call: str) -> None:
        """Show the id of a call in the tooltip, and let a menu copy the id."""
        self.setToolTip(tr("Call {id}", id=call))
        self.menu = CallMenu(self)
        self.menu.set_call(call)


class Notifications(qt.QObject):
    """The notifications of a window, of which the newest is drawn in a corner."""

    def __init__(self, parent: Callable[[], qt.QWidget | None], deletion: DeferredDeletion) -> None:
        """Prepare an empty corner.

        Args:
            parent: Returns the host's main window, or None; called for each notification.
            deletion: Deletes the notifications that are over.
        """
        super().__init__()
        self._parent = parent
        self._deletion = deletion
        self._shown: list[Notification] = []
        self._held: QuietWindow | None = None
        self._watched: qt.QWidget | None = None

    @property
    def visible(self) -> list[Notification]:
        """The notifications that are not removed, the one that is drawn last."""
        self._shown = [notification for notification in self._shown if qt.isValid(notification)]
        return list(self._shown)

    @property
    def host_window(self) -> qt.QWidget | None:
        """The host's main window, or None."""
        window = self._parent()
        if window is None or not qt.isValid(window):
            return None
        return window

    def hold(self, window: QuietWindow | None) -> None:
        """Place a window in the corner, with the notifications above it; None for no window."""
        self._held = window
        if window is not None:
            self._watch()
        self._place()
        self._unwatch_if_empty()

    def add(self, text: str, *acts: NoticeButton) -> Notification:
        """Show a notification, with a button for each act, until it is removed."""
        notification = Notification(text, acts, self._watch())
        self._shown.append(notification)
        self._place()
        announce(notification, notification.text)
        return notification

    def add_passing(self, text: str, *acts: NoticeButton, call: str | None = None) -> Notification:
        """Show a notification that goes away after some seconds, or once a button is pressed.

        Args:
            text: The sentence.
            *acts: A caption and a function for each button.
            call: The id of the call that the sentence is about, or None.
        """
        notification = self.add(text, *acts)
        if call is not None:
            notification.set_call(call)
        for button in notification.buttons:
            button.clicked.connect(lambda: self.remove(notification))
        timer = qt.QTimer(notification, singleShot=True)
        timer.timeout.connect(lambda: self.remove(notification))
        timer.start(_PASSING_MS)
        return notification

    def remove(self, *notifications: Notification) -> None:
        """Take notifications away; some may be gone already."""
        for notification in notifications:
            if notification in self._shown:
                self._shown.remove(notification)
                self._deletion.add(notification)
                self._place()
        self._unwatch_if_empty()

    def clear(self) -> None:
        """Take all notifications away."""
        self.remove(*self.visible)

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Move the notifications with the host's window."""
        if event.type() in (qt.QEvent.Type.Move, qt.QEvent.Type.Resize):
            self._place()
        return False

    def _watch(self) -> qt.QWidget | None:
        self._unwatch()
        parent = self.host_window
        if parent is None:
            return None
        self._watched = parent
        parent.installEventFilter(self)
        parent.destroyed.connect(self._forget_window)
        return parent

    def _unwatch_if_empty(self) -> None:
        if not self._shown and self._held is None:
            self._unwatch()

    def _unwatch(self) -> None:
        if self._watched is not None and qt.isValid(self._watched):
            self._watched.destroyed.disconnect(self._forget_window)
            self._watched.removeEventFilter(self)
        self._watched = None

    @qt.Slot()
    def _forget_window(self) -> None:
        """Forget the host's window, which ends; its wrapper may not know that it has ended."""
        self._watched = None

    def _place(self) -> None:
        """Draw the newest notification in the corner, above the window that is held there."""
        column: list[QuietWindow] = []
        if self._held is not None and qt.isValid(self._held):
            column.append(self._held)
        visible = self.visible
        for notification in visible[:-1]:
            notification.hide()
        for notification in visible[-1:]:
            notification.show_others(len(visible) - 1)
            column.append(notification)
        if column:
            self._place_column(column)
        for notification in visible[-1:]:
            notification.show()

    def _place_column(self, column: Sequence[QuietWindow]) -> None:
        """Move windows into a corner, the first at the bottom."""
        gap = column[0].fontMetrics().height()
        area = self._area(column[0]).adjusted(gap, gap, -gap, -gap)
        height = -gap // 2
        width = 0
        for window in column:
            window.fit(area.width())
            width = max(width, window.width())
            height += window.height() + gap // 2
        box = _free_corner(area, qt.QSize(width, height), column)
        bottom = box.bottom()
        for window in column:
            left = box.right() - window.width()
            if box.center().x() < area.center().x():
                left = box.left()
            window.move(left, bottom - window.height())
            bottom -= window.height() + gap // 2

    def _area(self, shown: qt.QWidget) -> qt.QRect:
        """Return the area for notifications: of the host's window, or else of the screen."""
        screen: qt.QRect = shown.screen().availableGeometry()
        window = self._watched
        if window is None or not qt.isValid(window):
            return screen
        free = _free_area(window).intersected(window.screen().availableGeometry())
        if free.isEmpty():
            return screen
        return free


def _free_corner(area: qt.QRect, size: qt.QSize, column: Sequence[qt.QWidget]) -> qt.QRect:
    """Return a place of a size in a corner where it covers no other window of ours.

    A corner of the area comes first, that at the bottom right before the others, and then a corner
    of the screen. If none is free, it is the one where the least is covered.

    Args:
        area: The free part of the host's window.
        size: The size of the windows that are placed.
        column: These windows.
    """
    gap = column[0].fontMetrics().height()
    screen = column[0].screen().availableGeometry().adjusted(gap, gap, -gap, -gap)
    places = _corners(area, size) + _corners(screen, size)
    taken = _taken(column)
    for place in places:
        if not any(place.intersects(other) for other in taken):
            return place
    return min(places, key=lambda place: _covered(place, taken))


def _corners(area: qt.QRect, size: qt.QSize) -> list[qt.QRect]:
    """Return the places of a size in the corners of an area, that at the bottom right first."""
    right = area.right() - size.width()
    bottom = area.bottom() - size.height()
    corners = [
        (right, bottom),
        (area.left(), bottom),
        (right, area.top()),
        (area.left(), area.top()),
    ]
    return [qt.QRect(qt.QPoint(left, top), size) for left, top in corners]


def _taken(column: Sequence[qt.QWidget]) -> list[qt.QRect]:
    """Return the places of our dialogs and panels, without the windows that are placed."""
    taken = []
    for window in qt.QApplication.topLevelWidgets():
        is_ours = window.isVisible() and window.property(OURS_PROPERTY) and window not in column
        if is_ours and not isinstance(window, Notification):
            taken.append(window.frameGeometry())
        for panel in window.findChildren(qt.QWidget, PANEL_NAME):
            if panel.isVisible():
                taken.append(qt.QRect(panel.mapToGlobal(qt.QPoint()), panel.size()))
    return taken


def _covered(place: qt.QRect, taken: Sequence[qt.QRect]) -> int:
    """Return how many pixels of other places a place covers."""
    parts = [place & other for other in taken]
    return sum(part.width() * part.height() for part in parts)


def _free_area(window: qt.QWidget) -> qt.QRect:
    """Return a window's frame without its status bars, and the docks at the right and the bottom.

    These must stay visible: our panel's undo button is in such a dock.
    """
    right = 0
    bottom = 0
    for bar in window.findChildren(qt.QStatusBar):
        if _is_shown_in(bar, window):
            bottom = max(bottom, bar.height())
            right = max(right, _covered_at_right(bar, window))
    for dock in window.findChildren(qt.QDockWidget):
        if _is_shown_in(dock, window):
            right = max(right, _covered_at_right(dock, window))
            bottom = max(bottom, _covered_at_bottom(dock, window))
    return window.frameGeometry().adjusted(0, 0, -right, -bottom)


def _is_shown_in(part: qt.QWidget, window: qt.QWidget) -> bool:
    return part.isVisible() and part.window() is window


def _covered_at_right(part: qt.QWidget, window: qt.QWidget) -> int:
    """Return the width from a part to the window's right edge; 0 outside of the right third."""
    if 3 * part.x() <= 2 * window.width():
        return 0
    return window.width() - part.x()


def _covered_at_bottom(part: qt.QWidget, window: qt.QWidget) -> int:
    """Return the height from a part to the window's lower edge; 0 above the lower third."""
    if 3 * part.y() <= 2 * window.height():
        return 0
    return window.height() - part.y()


def _button(caption: str, act: Callable[[], None]) -> qt.QPushButton:
    button = qt.QPushButton(caption, autoDefault=False)
    button.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda: act())
    return button
