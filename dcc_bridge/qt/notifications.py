"""Notifications: quiet lines in the corner of the host's window, about what goes on elsewhere.

A notification takes no focus and covers nothing that matters. Whatever shows a call has a menu that
copies its id, by which ``dcc-bridge audit show --call ID`` tells the rest. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.elicitation.details import Details, details_view
from dcc_bridge.elicitation.question_queue import Click
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.event_loop import OURS, DeferredDeletion
from dcc_bridge.qt.labels import SMALL, Mnemonics, add_all, label, plain_column, scale, tr
from dcc_bridge.qt.outlines import draw_outlines

NoticeButton = tuple[str, Click]  # the caption of a notification's button, and what it calls


class CallMenu(qt.QMenu):
    """Comes up on a right click. Where the keyboard is there, Copy does the same."""

    def __init__(self, shown: qt.QWidget) -> None:
        super().__init__(shown)
        self.call = ""  # the id of the call that is shown, or "" where none is
        self._shown = shown
        self.setProperty(OURS, True)
        self.copy = self.addAction(tr("Copy the call's id"))
        self.copy.setShortcut(qt.QKeySequence(qt.QKeySequence.StandardKey.Copy))
        self.copy.setShortcutContext(qt.Qt.ShortcutContext.WidgetShortcut)
        self.copy.triggered.connect(self._copy)
        self.copy.setEnabled(False)
        shown.addAction(self.copy)
        shown.setContextMenuPolicy(qt.Qt.ContextMenuPolicy.CustomContextMenu)
        shown.customContextMenuRequested.connect(self._come_up)

    def set_call(self, call: str) -> None:
        """Be about another call, or about none with ""."""
        self.call = call
        self.copy.setEnabled(bool(call))

    @qt.Slot(qt.QPoint)
    def _come_up(self, at: qt.QPoint) -> None:
        self.popup(self._shown.mapToGlobal(at))  # not exec: what is shown may go meanwhile

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText(self.call)


class CodeCard(qt.QPlainTextEdit):
    """What code of an agent was for, and what it did; its text is read in a window of its own."""

    def __init__(self) -> None:
        super().__init__(readOnly=True, tabChangesFocus=True)
        self._code: CodeRun | None = None
        self.setAccessibleName(tr("What the code was for, and what it did"))
        scale(self, SMALL)
        self.reader = qt.QDialog(self)
        self.reader.setWindowTitle(tr("Code of an agent"))
        self.details = DetailsBox(details_view(Details("")), Mnemonics())
        qt.QVBoxLayout(self.reader).addWidget(self.details)

    def show_code(self, code: CodeRun | None, facts: str) -> None:
        """Show what is known of code; nothing for None."""
        before, self._code = self._code, code
        if facts != self.toPlainText():
            self.setPlainText(facts)
        self.setVisible(code is not None)
        if code is not before and self.reader.isVisible():
            self.open()

    @qt.Slot()
    def open(self) -> None:
        """Show the text of the code, which is laid out only now."""
        if self._code is not None:
            self.details.show_view(details_view(self._code.details, tr))
            self.reader.adjustSize()
            self.reader.show()


_WIDTH: Final = 48  # of a notification's text, in average characters
_PASSING: Final = 8000  # milliseconds for which something is said that needs no answer
_KIND: Final = (
    qt.Qt.WindowType.Tool
    | qt.Qt.WindowType.FramelessWindowHint
    | qt.Qt.WindowType.WindowDoesNotAcceptFocus
)


class Notification(qt.QDialog):
    """A quiet line over the host's window, with buttons. It has the ground of a dialog."""

    def __init__(
        self, text: str, acts: tuple[NoticeButton, ...], parent: qt.QWidget | None
    ) -> None:
        super().__init__(parent, _KIND)
        self.text = safe_line(text)
        self.menu: CallMenu | None = None  # copies the id of its call, if it is about one
        self.setProperty(OURS, True)
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

    def add(self, text: str, *acts: NoticeButton) -> Notification:
        """Show a notification."""
        notification = Notification(text, acts, self._watch())
        self._shown.append(notification)
        self._place()
        notification.show()
        _alert_screen_reader(notification)
        return notification

    def add_passing(self, text: str, *acts: NoticeButton, call: str | None = None) -> Notification:
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
