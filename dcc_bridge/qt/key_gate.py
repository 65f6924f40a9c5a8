"""Keeps the keys from a question until the person has gone to it. Main thread.

A question comes up while somebody types elsewhere, so its window asks for no keyboard. A window
system may give it the keyboard all the same: then each key is passed on to the window that had the
keyboard before, and the keyboard is given back. The person goes to the question by a click, by a
key of the host's that leads there, or by the window system's own keys, such as Alt+Tab. From then
on keys count once none was pressed for a moment: until then they may have been meant for where the
person was.
"""

from __future__ import annotations

from typing import Final, cast

from dcc_bridge.qt import binding as qt

KEY_DELAY: Final = 500  # milliseconds without a key, longer than a hasty second press
_Kind: Final = qt.QEvent.Type
_KEYS: Final = (_Kind.KeyPress, _Kind.KeyRelease)
_TOUCHES: Final = (_Kind.MouseButtonPress, _Kind.TouchBegin, _Kind.TabletPress)
_WATCHED: Final = frozenset(
    {_Kind.FocusIn, _Kind.FocusOut, _Kind.ShortcutOverride, *_KEYS, *_TOUCHES}
)


class KeyGate(qt.QObject):
    """Stands before the keys of a window, which asks it about each event that reaches it."""

    entered = qt.Signal()  # the person went to the window
    opened = qt.Signal()  # keys count from now on

    def __init__(self, window: qt.QWidget) -> None:
        """Guard a window, which has to say that it was `shown`."""
        super().__init__(window)
        self._is_entered = False
        self._before: qt.QWindow | None = None  # had the keyboard when the window appeared
        self._appearing = qt.QTimer(self, singleShot=True)  # nobody goes to it so fast
        self._quiet = qt.QTimer(self, singleShot=True)  # starts again with each key
        self._quiet.timeout.connect(self.opened)
        self._giving_back = qt.QTimer(self, singleShot=True)  # once the change of focus is over
        self._giving_back.timeout.connect(self._give_back)
        window.setAttribute(qt.Qt.WidgetAttribute.WA_ShowWithoutActivating)

    @property
    def _window(self) -> qt.QWidget:
        """The window. Kept, it would be a cycle, which Python collects in an order of its own."""
        return cast("qt.QWidget", self.parent())

    @property
    def is_open(self) -> bool:
        """Whether keys count."""
        return self._is_entered and not self._quiet.isActive()

    def shown(self) -> None:
        """Begin: the window is about to appear."""
        handle = self._window.windowHandle()
        if handle is not None:
            self._is_entered = False
            self._before = qt.QGuiApplication.focusWindow()
            self._appearing.start(KEY_DELAY)
            handle.installEventFilter(self._window)

    def enter(self) -> None:
        """Give the keyboard to the window: the person goes there."""
        self._appearing.stop()
        self._giving_back.stop()
        self._quiet.start(KEY_DELAY)
        self._window.raise_()
        self._window.activateWindow()
        if not self._is_entered:
            self._is_entered = True
            self.entered.emit()

    def keeps(self, event: qt.QEvent) -> bool:
        """Look at what reaches the window, and return whether no widget of it must have it.

        The window is the filter and asks here: a filter of its own is called while Python collects
        a window, when there is nothing left of it, and that crashes.
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
        elif kind == _Kind.ShortcutOverride:  # accepted, it is no shortcut but a key
            event.accept()
            return True
        elif isinstance(event, qt.QKeyEvent) and kind in _KEYS:
            self._keep(event)
            return True
        return False

    def _take_focus(self) -> None:
        if self._is_entered:
            return
        has_to_go_back = self._appearing.isActive() and self._host_window() is not None
        if has_to_go_back:
            self._giving_back.start(0)
        else:
            self.enter()

    def _take_touch(self) -> None:
        if not self._is_entered:
            self.enter()

    def _lose_focus(self) -> None:
        now = qt.QGuiApplication.focusWindow()
        is_popup = now is not None and now.type() == qt.Qt.WindowType.Popup  # one of its own lists
        if not is_popup:
            self._is_entered = False

    def _keep(self, event: qt.QKeyEvent) -> None:
        """Take a key that does not count: pass it on to where the person still is."""
        host = self._host_window()
        if self._is_entered:
            if event.type() == _Kind.KeyPress:
                self._quiet.start(KEY_DELAY)
        elif host is not None:
            what = event.type(), event.key(), event.modifiers()
            copy = qt.QKeyEvent(*what, event.text(), event.isAutoRepeat())
            # At once: the next key may reach that window by itself, and must not come first.
            qt.QCoreApplication.sendEvent(host, copy)

    def _host_window(self) -> qt.QWindow | None:
        """Return the window to which the keyboard can go back."""
        before = self._before
        if before is None or not qt.isValid(before) or not before.isVisible():
            return None
        takes_none = before.flags() & qt.Qt.WindowType.WindowDoesNotAcceptFocus
        return None if takes_none else before

    @qt.Slot()
    def _give_back(self) -> None:
        host = self._host_window()
        if host is not None and not self._is_entered:
            host.requestActivate()
