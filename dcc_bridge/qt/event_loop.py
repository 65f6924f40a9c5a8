"""Qt's part of the way to the main thread: wake it, spin it, and see that it is blocked.

A wake is a bare event posted to an object that lives on the main thread, which costs some 20 µs
and needs no polling. It is delivered inside nested event loops too, so questions come and go while
the host shows a modal dialog of its own; `MainThread` holds the jobs back meanwhile.
"""

from __future__ import annotations

import atexit
import threading
from concurrent.futures import Future
from typing import Any, Final

from dcc_bridge.errors import BridgeClosed, StartError
from dcc_bridge.qt import binding as qt
from dcc_bridge.threads.main_thread import MainThread

OURS: Final = "dcc_bridge"  # the property that tells a window of ours from the host's
LIVE: Final = "dcc_bridge_live"  # the property of a button that works while a skill runs
_NO_INPUT: Final = qt.QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents
_PAINTING: Final = 5  # milliseconds for which a repaint goes on with what comes meanwhile
_WAKE: Final = qt.QEvent.Type(qt.QEvent.registerEventType())
_Kind: Final = qt.QEvent.Type
_CLICKS: Final = (_Kind.MouseButtonPress, _Kind.MouseButtonRelease, _Kind.MouseButtonDblClick)
# Refused, a pen or a finger is a mouse to Qt; what is dropped or scrolled can be done again.
_REFUSED: Final = (
    *(_Kind.TabletPress, _Kind.TabletMove, _Kind.TabletRelease, _Kind.TouchBegin, _Kind.Wheel),
    *(_Kind.DragEnter, _Kind.DragMove, _Kind.Drop),
)
# Where a click was: in the widget, in the window, on the screen; Qt 5 has other names.
_PLACES: Final = (
    ("position", "scenePosition", "globalPosition")
    if hasattr(qt.QMouseEvent, "globalPosition")
    else ("localPos", "windowPos", "screenPos")
)
_PRESSING: Final = (qt.Qt.Key.Key_Space, qt.Qt.Key.Key_Return, qt.Qt.Key.Key_Enter)


class HostLoop:
    """The host's Qt event loop, as `MainThread` uses it."""

    def __init__(self) -> None:
        """Tie the lanes to the event loop. Main thread with a QApplication alive, or StartError."""
        app = qt.QCoreApplication.instance()
        if app is None or not app.inherits("QApplication"):  # the wrapper may know less than Qt
            raise StartError("There is no QApplication yet; start once the host's window is up.")
        self._lock = threading.RLock()
        self._awaited: tuple[qt.QEventLoop, Future[Any]] | None = None
        self._bell: _Bell | None = _Bell(self)
        if self._bell.thread() != app.thread():
            raise StartError("This is not the host's main thread; start from there.")
        app.aboutToQuit.connect(self._bell.quit)
        self._input = _Input()
        self.main = MainThread(self.wake, self.spin, blocked=self.is_blocked, repaint=self.repaint)
        atexit.register(self._leave)

    def wake(self, delay: float) -> None:
        """Have the lanes drained after that many seconds. It raises nothing.

        Args:
            delay: Seconds; with 0 it may be called from any thread, else on the main one.
        """
        with self._lock:  # the bell must not be deleted between the look and the post
            bell = self._bell if self._bell and qt.isValid(self._bell) else None
            if bell is not None and not delay:
                qt.QCoreApplication.postEvent(bell, qt.QEvent(_WAKE))
        if bell is not None and delay:
            bell.timer.start(round(delay * 1000))

    def spin(self, future: Future[Any]) -> None:
        """Run the host's event loop until a future is done. Main thread.

        Args:
            future: What is waited for.

        Raises:
            BridgeClosed: It stopped before.
        """
        loop = qt.QEventLoop()
        self._awaited = loop, future
        future.add_done_callback(lambda _: self.wake(0))
        try:
            if not future.done():
                qt.run(loop)
        finally:
            self._awaited = None
        if not future.done():  # the host quits: its loops end whatever they wait for
            raise BridgeClosed("The question")

    def repaint(self, serves_stop: bool) -> bool:
        """Have the windows painted; keys and clicks wait, the host's timers do not. Main thread.

        Shortcuts pressed meanwhile are keys then. It raises nothing.

        Args:
            serves_stop: Esc is served, and buttons with the property `LIVE`; other keys and clicks
                come when the job is over.

        Returns:
            Whether Esc was pressed.
        """
        if not serves_stop:
            self._input.presses_live = False  # another skill may have left it so
            qt.QCoreApplication.processEvents(_NO_INPUT, _PAINTING)
            return False
        was_empty = not self._input.held
        is_escaped = self._input.serve()
        if was_empty and self._input.held:
            self.main.post(self._input.release)  # after the job: nothing is served in it
        return is_escaped

    @staticmethod
    def is_blocked() -> bool:
        """Return whether the host shows a modal dialog of its own. Main thread. It raises nothing.

        Returns:
            False where only dialogs of ours are shown.
        """
        modal = qt.QApplication.activeModalWidget()
        return modal is not None and not modal.property(OURS)

    def rung(self) -> None:
        """Drain the lanes, and end a spin whose future is done. Main thread. It raises nothing."""
        self.main.drain()
        if self._awaited is not None and self._awaited[1].done():
            self._awaited[0].quit()

    def end_jobs(self) -> None:
        """End every job, as the host quits without a word: one that is left crashes the exit.

        Main thread. It raises nothing.
        """
        if self.main.is_unwound:
            self.main.close()

    def close(self) -> None:
        """Let go of Qt; a later wake does nothing. Main thread, after ``main.close()``.

        It raises nothing.
        """
        with self._lock:
            bell, self._bell = self._bell, None
        atexit.unregister(self._leave)
        if bell is None or not qt.isValid(bell):
            return
        if bell.depth:  # it is on the stack: deleted now, it would crash on the way back
            bell.deleteLater()
        else:
            qt.delete(bell)

    def _leave(self) -> None:
        """Leave nothing behind: a wake that nobody takes any more outlives the interpreter.

        Qt then deletes it with the application, and that crashes with PySide6 6.11.
        """
        self.end_jobs()
        self.close()


class _Bell(qt.QObject):
    """Receives the wakes on the main thread."""

    def __init__(self, loop: HostLoop) -> None:
        super().__init__()
        self._loop = loop
        self.depth = 0  # how many of its rings are on the stack
        self.timer = qt.QTimer(self, singleShot=True)
        self.timer.timeout.connect(self._ring)

    @qt.Slot()
    def quit(self) -> None:
        self._loop.end_jobs()

    def customEvent(self, event: qt.QEvent) -> None:
        self._ring()  # nobody posts another kind, and to ask for the kind makes an enum

    @qt.Slot()
    def _ring(self) -> None:
        self.depth += 1
        try:
            self._loop.rung()
        finally:
            self.depth -= 1


class _Input(qt.QObject):
    """Lets through what stops a skill, and holds the other keys and clicks."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[qt.QObject, qt.QEvent]] = []
        self._escaped = False
        self.presses_live = False  # a button that works is held down

    def serve(self) -> bool:
        """Serve events for some milliseconds, and return whether Esc was pressed."""
        app = qt.QCoreApplication.instance()
        assert app is not None
        self._escaped = False
        app.installEventFilter(self)
        try:
            qt.QCoreApplication.processEvents(qt.QEventLoop.ProcessEventsFlag.AllEvents, _PAINTING)
        finally:
            app.removeEventFilter(self)
        return self._escaped

    def release(self) -> None:
        """Deliver what was held to the windows that are still there."""
        held, self.held = self.held, []
        for window, event in held:
            if qt.isValid(window):
                qt.QCoreApplication.postEvent(window, event)

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Look at input where it reaches a window, before any widget of it."""
        kind = event.type()
        if kind == _Kind.InputMethod:  # it goes to the widget itself
            event.ignore()
            return True
        if not watched.isWindowType():
            return False
        if kind == _Kind.ShortcutOverride:  # accepted, it is no shortcut but a key
            event.accept()
        elif isinstance(event, qt.QKeyEvent):
            return self._filter_key(watched, event)
        elif isinstance(event, qt.QMouseEvent):
            return self._filter_mouse(watched, event)
        elif kind == _Kind.Close:
            event.ignore()
            self.held.append((watched, qt.QCloseEvent()))
        elif kind in _REFUSED:
            event.ignore()
        else:
            return False
        return True

    def _filter_key(self, window: qt.QObject, event: qt.QKeyEvent) -> bool:
        focus = qt.QApplication.focusWidget()
        if event.key() in _PRESSING and focus is not None and focus.property(LIVE):
            return False
        if event.key() == qt.Qt.Key.Key_Escape:
            self._escaped = self._escaped or event.type() == _Kind.KeyPress
        else:
            what = event.type(), event.key(), event.modifiers()
            self.held.append((window, qt.QKeyEvent(*what, event.text(), event.isAutoRepeat())))
        return True

    def _filter_mouse(self, window: qt.QObject, event: qt.QMouseEvent) -> bool:
        local, scene, screen = (getattr(event, name)() for name in _PLACES)
        under = qt.QApplication.widgetAt(screen.toPoint())
        is_live = under is not None and bool(under.property(LIVE))
        if event.type() == _Kind.MouseButtonPress:
            self.presses_live = is_live
        if self.presses_live or (is_live and event.type() == _Kind.MouseMove):
            self.presses_live = self.presses_live and event.type() != _Kind.MouseButtonRelease
            return False
        if event.buttons() or event.type() in _CLICKS:
            buttons = event.button(), event.buttons(), event.modifiers()
            self.held.append((window, qt.QMouseEvent(event.type(), local, scene, screen, *buttons)))
        return True


class DeferredDeletion:
    """Deletes widgets later, as one may be on the stack, and all of them before the host ends."""

    def __init__(self) -> None:
        self._widgets: list[qt.QWidget] = []

    def add(self, widget: qt.QWidget) -> None:
        """Hide a widget, and delete it in a later turn of the event loop."""
        self._widgets = [pending for pending in self._widgets if qt.isValid(pending)]
        if qt.isValid(widget):
            widget.hide()
            widget.deleteLater()
            self._widgets.append(widget)

    def flush(self) -> None:
        """Delete all of them now. Not to be called from such a widget's own frame."""
        for widget in filter(qt.isValid, self._widgets):
            qt.delete(widget)
        self._widgets.clear()
