"""Keeps the keys from a question until the person has gone to the question. Main thread.

A question comes up while somebody types elsewhere, so its window asks for no keyboard. A window
system may give the window the keyboard all the same. Then each key is passed on to the window that
had the keyboard before, and the keyboard is given back. The person goes to the question by a click,
by a key of the host's that leads there, or by the window system's own keys, such as Alt+Tab. From
then on keys count once none was pressed for a moment: until then they may have been meant for the
other window.
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
    """Stands before the keys of a window, which asks the gate about each event.

    Attributes:
        entered: Emitted when the person went to the window.
        opened: Emitted when keys begin to count.
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
        self._before: qt.QWindow | None = None  # had the keyboard when the window appeared
        # While this timer runs, no person can have gone to the window yet.
        self._appearing = qt.QTimer(self, singleShot=True)
        # Starts again with each key; keys count once it has run out.
        self._quiet = qt.QTimer(self, singleShot=True)
        self._quiet.timeout.connect(self.opened)
        # Runs out in the next turn, when the change of focus is over.
        self._giving_back = qt.QTimer(self, singleShot=True)
        self._giving_back.timeout.connect(self._give_back)
        window.setAttribute(qt.Qt.WidgetAttribute.WA_ShowWithoutActivating)

    @property
    def _window(self) -> qt.QWidget:
        """The window. A reference kept here would be a cycle, collected in an order of its own."""
        return cast("qt.QWidget", self.parent())

    @property
    def is_open(self) -> bool:
        """Whether keys count."""
        return self._is_entered and not self._quiet.isActive()

    def shown(self) -> None:
        """Begin to keep keys: the window is about to appear."""
        handle = self._window.windowHandle()
        if handle is not None:
            self._is_entered = False
            self._before = qt.QGuiApplication.focusWindow()
            self._appearing.start(KEY_DELAY_MS)
            handle.installEventFilter(self._window)

    def enter(self) -> None:
        """Move the keyboard to the window: the person goes there."""
        self._appearing.stop()
        self._giving_back.stop()
        self._quiet.start(KEY_DELAY_MS)
        self._window.raise_()
        self._window.activateWindow()
        if not self._is_entered:
            self._is_entered = True
            self.entered.emit()

    def keeps(self, event: qt.QEvent) -> bool:
        """Handle an event that reaches the window, and return whether its widgets must not see it.

        The window is the event filter and asks here. A filter of the gate's own would be called
        while Python collects a window of which nothing is left, and that crashes.
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
            self._keep(event)
            return True
        return False

    def _take_focus(self) -> None:
        if self._is_entered:
            return
        is_uncalled_for = self._appearing.isActive() and self._host_window() is not None
        if is_uncalled_for:
            self._giving_back.start(0)
        else:
            self.enter()

    def _take_touch(self) -> None:
        if not self._is_entered:
            self.enter()

    def _lose_focus(self) -> None:
        focused = qt.QGuiApplication.focusWindow()
        is_popup = focused is not None and focused.type() == qt.Qt.WindowType.Popup
        if not is_popup:  # else the popup is a list of the window's own
            self._is_entered = False

    def _keep(self, event: qt.QKeyEvent) -> None:
        """Take a key that does not count; pass it on to the window where the person still is."""
        if self._is_entered:
            if event.type() == _Kind.KeyPress:
                self._quiet.start(KEY_DELAY_MS)
            return
        host = self._host_window()
        if host is not None:
            # At once: the next key may reach that window by itself, and must not come first.
            qt.QCoreApplication.sendEvent(host, copy_of_key(event))

    def _host_window(self) -> qt.QWindow | None:
        """Return the window to which the keyboard can go back."""
        before = self._before
        if before is None or not qt.isValid(before) or not before.isVisible():
            return None
        refuses_focus = before.flags() & qt.Qt.WindowType.WindowDoesNotAcceptFocus
        if refuses_focus:
            return None
        return before

    @qt.Slot()
    def _give_back(self) -> None:
        host = self._host_window()
        if host is not None and not self._is_entered:
            host.requestActivate()
