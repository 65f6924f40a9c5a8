"""Notifications: quiet lines in the corner of the host's window, about events elsewhere.

A notification takes no focus, and covers neither a status bar nor a dock. One about a call has a
menu that copies the call's id, for ``dcc-bridge audit show --call ID``. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dcc_bridge.elicitation.question_queue import Click
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.call_menu import CallMenu
from dcc_bridge.qt.event_loop import OURS_PROPERTY, DeferredDeletion
from dcc_bridge.qt.labels import SMALL, add_all, label, plain_column, tr
from dcc_bridge.qt.outlines import draw_outlines

_WIDTH: Final = 48  # of a notification's text, in average characters
_PASSING_MS: Final = 8000
"""The time for which a notification stays that needs no answer."""
_KIND: Final = (
    qt.Qt.WindowType.Tool
    | qt.Qt.WindowType.FramelessWindowHint
    | qt.Qt.WindowType.WindowDoesNotAcceptFocus
)


NoticeButton = tuple[str, Click]  # the caption of a notification's button, and what it calls


class Notification(qt.QDialog):
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
        super().__init__(parent, _KIND)
        self.text = safe_line(text)
        self.menu: CallMenu | None = None
        self.setProperty(OURS_PROPERTY, True)
        frame = qt.QFrame(frameShape=qt.QFrame.Shape.Box)  # the window below has the same colour
        frame.setForegroundRole(qt.QPalette.ColorRole.PlaceholderText)
        plain_column(self).addWidget(frame)
        self.setAttribute(qt.Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAccessibleName(self.text)
        words = label(self.text, size=SMALL)
        words.setForegroundRole(qt.QPalette.ColorRole.WindowText)
        words.setFixedWidth(self.fontMetrics().averageCharWidth() * _WIDTH)
        row = qt.QHBoxLayout(frame)
        row.addWidget(words, 1)
        self.buttons = [_button(caption, act) for caption, act in acts]
        add_all(row, *self.buttons)
        draw_outlines(self)

    def set_call(self, call: str) -> None:
        """Show the id of a call in the tooltip, and let a menu copy the id."""
        self.setToolTip(tr("Call {id}", id=call))
        self.menu = CallMenu(self)
        self.menu.set_call(call)


class Notifications(qt.QObject):
    """The notifications of a window, one above the other in its corner."""

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
        self._watched: qt.QWidget | None = None

    @property
    def visible(self) -> list[Notification]:
        """The notifications that can be seen, the lowest first."""
        self._shown = [notification for notification in self._shown if qt.isValid(notification)]
        return list(self._shown)

    def add(self, text: str, *acts: NoticeButton) -> Notification:
        """Show a notification, with a button for each act, until it is removed."""
        notification = Notification(text, acts, self._watch())
        self._shown.append(notification)
        self._place()
        notification.show()
        _alert_screen_reader(notification)
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
        if not self._shown:
            self._unwatch()

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
        parent = self._parent()
        if parent is None or not qt.isValid(parent):
            return None
        self._watched = parent
        parent.installEventFilter(self)
        return parent

    def _unwatch(self) -> None:
        if self._watched is not None and qt.isValid(self._watched):
            self._watched.removeEventFilter(self)
        self._watched = None

    def _place(self) -> None:
        """Move the notifications into the corner, the first at the bottom."""
        visible = self.visible
        gap = max((notification.fontMetrics().height() for notification in visible), default=0)
        corner = self._area().bottomRight() - qt.QPoint(gap, gap)
        for notification in visible:
            notification.adjustSize()
            size = qt.QPoint(notification.width(), notification.height())
            notification.move(corner - size)
            corner -= qt.QPoint(0, notification.height() + gap // 2)

    def _area(self) -> qt.QRect:
        """Return the area for notifications: of the host's window, or else of the screen."""
        window = self._watched
        if window is not None and qt.isValid(window):
            return _free_area(window)
        visible = self.visible
        if not visible:
            return qt.QRect()
        return visible[0].screen().availableGeometry()


def _free_area(window: qt.QWidget) -> qt.QRect:
    """Return a window's frame without its status bars, and without the docks at the right.

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
    return window.frameGeometry().adjusted(0, 0, -right, -bottom)


def _is_shown_in(part: qt.QWidget, window: qt.QWidget) -> bool:
    return part.isVisible() and part.window() is window


def _covered_at_right(part: qt.QWidget, window: qt.QWidget) -> int:
    """Return the width from a part to the window's right edge; 0 outside of the right third."""
    if 3 * part.x() <= 2 * window.width():
        return 0
    return window.width() - part.x()


def _alert_screen_reader(notification: Notification) -> None:
    """Have a screen reader read a notification, which never has the focus."""
    event = qt.QAccessibleEvent(notification, qt.QAccessible.Event.Alert)
    qt.QAccessible.updateAccessibility(event)


def _button(caption: str, act: Callable[[], None]) -> qt.QPushButton:
    button = qt.QPushButton(caption, autoDefault=False)
    button.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda: act())
    return button
