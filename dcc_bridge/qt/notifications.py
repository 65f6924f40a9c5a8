"""Notifications: quiet lines in the corner of the host's window, about what goes on elsewhere.

A notification takes no focus and covers nothing that matters. Whatever shows a call has a menu that
copies its id, by which ``dcc-bridge audit show --call ID`` tells the rest. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dcc_bridge.elicitation.question_queue import Act
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.call_menu import CallMenu
from dcc_bridge.qt.event_loop import OURS_PROPERTY, DeferredDeletion
from dcc_bridge.qt.labels import SMALL, add_all, label, plain_column, tr
from dcc_bridge.qt.outlines import draw_outlines

_WIDTH: Final = 48  # of a notification's text, in average characters
_PASSING: Final = 8000  # milliseconds for which something is said that needs no answer
_KIND: Final = (
    qt.Qt.WindowType.Tool
    | qt.Qt.WindowType.FramelessWindowHint
    | qt.Qt.WindowType.WindowDoesNotAcceptFocus
)


class Notification(qt.QDialog):
    """A quiet line over the host's window, with buttons. It has the ground of a dialog."""

    def __init__(self, text: str, acts: tuple[Act, ...], parent: qt.QWidget | None) -> None:
        super().__init__(parent, _KIND)
        self.text = safe_line(text)
        self.menu: CallMenu | None = None  # copies the id of its call, if it is about one
        self.setProperty(OURS_PROPERTY, True)
        frame = qt.QFrame(frameShape=qt.QFrame.Shape.Box)  # the window below has the same ground
        frame.setForegroundRole(qt.QPalette.ColorRole.PlaceholderText)
        plain_column(self).addWidget(frame)
        self.setAttribute(qt.Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAccessibleName(self.text)
        words = label(self.text, size=SMALL)
        words.setForegroundRole(qt.QPalette.ColorRole.WindowText)
        words.setFixedWidth(self.fontMetrics().averageCharWidth() * _WIDTH)
        row = qt.QHBoxLayout(frame)
        row.addWidget(words, 1)
        self.buttons = [_button(caption, act) for caption, act in acts]  # what can be done about it
        add_all(row, *self.buttons)
        draw_outlines(self)

    def set_call(self, call: str) -> None:
        """Show which call it is about in the tooltip, and let a menu copy its id."""
        self.setToolTip(tr("Call {id}", id=call))
        self.menu = CallMenu(self)
        self.menu.set_call(call)


class Notifications(qt.QObject):
    """The notifications of a window, one above the other in its corner."""

    def __init__(self, parent: Callable[[], qt.QWidget | None], deletion: DeferredDeletion) -> None:
        super().__init__()
        self._parent = parent  # gives the host's main window, or None
        self._deletion = deletion
        self._shown: list[Notification] = []
        self._watched: qt.QWidget | None = None

    @property
    def visible(self) -> list[Notification]:
        """Those that can be seen, the lowest first."""
        self._shown = [notification for notification in self._shown if qt.isValid(notification)]
        return list(self._shown)

    def add(self, text: str, *acts: Act) -> Notification:
        """Show a notification."""
        notification = Notification(text, acts, self._watch())
        self._shown.append(notification)
        self._place()
        notification.show()
        _alert_screen_reader(notification)
        return notification

    def add_passing(self, text: str, *acts: Act, call: str | None = None) -> Notification:
        """Show a notification that goes by itself, or once something is done about it."""
        notification = self.add(text, *acts)
        if call is not None:
            notification.set_call(call)
        for button in notification.buttons:
            button.clicked.connect(lambda: self.remove(notification))
        timer = qt.QTimer(notification, singleShot=True)
        timer.timeout.connect(lambda: self.remove(notification))
        timer.start(_PASSING)
        return notification

    def remove(self, *notifications: Notification) -> None:
        """Take notifications away; they may be gone already."""
        for notification in notifications:
            if notification in self._shown:
                self._shown.remove(notification)
                self._deletion.add(notification)
                self._place()
        if not self._shown:
            self._unwatch()

    def clear(self) -> None:
        """Take all of them away."""
        self.remove(*self.visible)

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Follow the host's window."""
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
        gap = max((item.fontMetrics().height() for item in self.visible), default=0)
        corner = self._area().bottomRight() - qt.QPoint(gap, gap)
        for item in self.visible:
            item.adjustSize()
            item.move(corner - qt.QPoint(item.width(), item.height()))
            corner -= qt.QPoint(0, item.height() + gap // 2)

    def _area(self) -> qt.QRect:
        window = self._watched
        if window is not None and qt.isValid(window):
            # A status bar is to be read, and a dock at the right has buttons: our panel's undo.
            parts = [*window.findChildren(qt.QStatusBar), *window.findChildren(qt.QDockWidget)]
            seen = [part for part in parts if part.isVisible() and part.window() is window]
            wide = window.width()
            sides = [0, *(wide - part.x() for part in seen if 3 * part.x() > 2 * wide)]
            feet = [0, *(part.height() for part in seen if isinstance(part, qt.QStatusBar))]
            return window.frameGeometry().adjusted(0, 0, -max(sides), -max(feet))
        visible = self.visible
        return visible[0].screen().availableGeometry() if visible else qt.QRect()


def _alert_screen_reader(notification: Notification) -> None:
    """Have a screen reader say what a notification says, which never has the focus."""
    event = qt.QAccessibleEvent(notification, qt.QAccessible.Event.Alert)
    qt.QAccessible.updateAccessibility(event)


def _button(caption: str, act: Callable[[], None]) -> qt.QPushButton:
    button = qt.QPushButton(caption, autoDefault=False)
    button.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda: act())
    return button
