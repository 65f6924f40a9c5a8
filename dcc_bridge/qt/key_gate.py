"""Keeps the keys from a question until the person has gone to the question. Main thread.

A question comes up while somebody types elsewhere, so its window asks for no keyboard focus. A
window system may give the window the focus all the same; then the gate gives the focus back. What
becomes of a key that reaches the window depends on the gate:

=========  =====================================================================================
the gate   and keys
=========  =====================================================================================
closed     go on to the window that had the focus before
entered    are dropped: they may have been meant for the other window
open       reach the question, once none was pressed for `KEY_DELAY_MS`
=========  =====================================================================================

The person *enters* by a click, by a key of the host's that leads to the question, or by the window
system's own keys, such as Alt+Tab. The gate closes when another window gets the focus.
"""

from __future__ import annotations

from typing import Final, cast

from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import copy_of_key

KEY_DELAY_MS: Final = 500
"""The time without a key after which keys count; longer than a hasty second press."""
_Kind: Final = qt.QEvent.Type
_KEYS: Final = (_Kind.KeyPress, _Kind.KeyRelease)
_TOUCHES: Final = (_Kind.MouseButtonPress, _Kind.TouchBegin, _Kind.TabletPress)
_WATCHED: Final = frozenset(
    {_Kind.FocusIn, _Kind.FocusOut, _Kind.ShortcutOverride, *_KEYS, *_TOUCHES}
)


class KeyGate(qt.QObject):
    """A gate before the keys of a window, which asks the gate about each event.

    Attributes:
        entered: Emitted when the person has gone to the window.
        opened: Emitted when keys begin to reach the window.
    """

    entered = qt.Signal()
    opened = qt.Signal()

    def __init__(self, window: qt.QWidget) -> None:
        """Guard a window.

        Args:
            window: The window. It has to call `shown` as it appears, and `keeps` from its event
                filter.
        """
        super().__init__(window)
        self._is_entered = False
        self._previous_window: qt.QWindow | None = None  # had the focus as this window appeared
        # While this timer runs, no person can have gone to the window yet.
        self._appearing_timer = qt.QTimer(self, singleShot=True)
        # Starts again with each key; the gate opens when the timer has run out.
        self._quiet_timer = qt.QTimer(self, singleShot=True)
        self._quiet_timer.timeout.connect(self.opened)
        # Runs out in the next turn, when the change of focus is over.
        self._return_timer = qt.QTimer(self, singleShot=True)
        self._return_timer.timeout.connect(self._return_focus)
        window.setAttribute(qt.Qt.WidgetAttribute.WA_ShowWithoutActivating)

    @property
    def _window(self) -> qt.QWidget:
        """The window. A reference in an attribute would be a cycle for the garbage collector."""
        return cast("qt.QWidget", self.parent())

    @property
    def is_open(self) -> bool:
        """Whether keys reach the window."""
        return self._is_entered and not self._quiet_timer.isActive()

    def shown(self) -> None:
        """Close the gate: the window is about to appear."""
        handle = self._window.windowHandle()
        if handle is not None:
            self._is_entered = False
            self._previous_window = qt.QGuiApplication.focusWindow()
            self._appearing_timer.start(KEY_DELAY_MS)
            handle.installEventFilter(self._window)

    def enter(self) -> None:
        """Move the keyboard focus to the window: the person goes there."""
        self._appearing_timer.stop()
        self._return_timer.stop()
        self._quiet_timer.start(KEY_DELAY_MS)
        self._window.raise_()
        self._window.activateWindow()
        if not self._is_entered:
            self._is_entered = True
            self.entered.emit()

    def keeps(self, event: qt.QEvent) -> bool:
        """Handle an event of the window, and return whether the gate keeps it from the widgets.

        The window's own event filter calls this. The gate is no event filter, because Qt would call
        it while Python collects the window, and that crashes.
        """
        kind = event.type()
        if kind not in _WATCHED:
            return False
        if kind == _Kind.FocusIn:
            self._take_focus()
        elif kind == _Kind.FocusOut:
            self._lose_focus()
        elif kind in _TOUCHES:
            self._take_touch()
        elif self.is_open:
            return False
        elif kind == _Kind.ShortcutOverride:  # once accepted, the event is no shortcut but a key
            event.accept()
            return True
        elif isinstance(event, qt.QKeyEvent) and kind in _KEYS:
            self._keep_key(event)
            return True
        return False

    def _take_focus(self) -> None:
        if self._is_entered:
            return
        comes_from_system = self._appearing_timer.isActive() and self._host_window() is not None
        if comes_from_system:
            self._return_timer.start(0)
        else:
            self.enter()

    def _take_touch(self) -> None:
        if not self._is_entered:
            self.enter()

    def _lose_focus(self) -> None:
        focused = qt.QGuiApplication.focusWindow()
        is_popup = focused is not None and focused.type() == qt.Qt.WindowType.Popup
        if not is_popup:  # a popup is a list of the window's own
            self._is_entered = False

    def _keep_key(self, event: qt.QKeyEvent) -> None:
        """Drop a key after the person entered; before, pass the key on to the host's window."""
        if self._is_entered:
            if event.type() == _Kind.KeyPress:
                self._quiet_timer.start(KEY_DELAY_MS)
            return
        host_window = self._host_window()
        if host_window is not None:
            # Sent and not posted: the next key may reach that window by itself, and come first.
            qt.QCoreApplication.sendEvent(host_window, copy_of_key(event))

    def _host_window(self) -> qt.QWindow | None:
        """Return the window that had the focus before, if it can have the focus again."""
        window = self._previous_window
        if window is None or not qt.isValid(window) or not window.isVisible():
            return None
        refuses_focus = window.flags() & qt.Qt.WindowType.WindowDoesNotAcceptFocus
        if refuses_focus:
            return None
        return window

    @qt.Slot()
    def _return_focus(self) -> None:
        host_window = self._host_window()
        if host_window is not None and not self._is_entered:
            host_window.requestActivate()
