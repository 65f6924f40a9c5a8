"""Qt's part of the way to the main thread: wake it, spin it, and see that it is blocked.

A wake is a bare event that is posted to an object on the main thread. A wake costs some 20 µs and
needs no polling. Qt delivers it inside nested event loops too, so questions come and go while the
host shows a modal dialog of its own; `MainThread` holds the jobs back meanwhile.
"""

from __future__ import annotations

import atexit
import threading
from concurrent.futures import Future
from typing import Any, Final

from dcc_bridge.errors import BridgeClosed, StartError
from dcc_bridge.qt import binding as qt
from dcc_bridge.threads.main_thread import MainThread

OURS_PROPERTY: Final = "dcc_bridge"
"""The property by which a window of ours is told from the host's."""
LIVE_PROPERTY: Final = "dcc_bridge_live"
"""The property of a button that works while a skill runs."""
_NO_INPUT: Final = qt.QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents
_MAX_REPAINT_MS: Final = 5  # for which a repaint goes on with the events that come meanwhile
_WAKE: Final = qt.QEvent.Type(qt.QEvent.registerEventType())
_Kind: Final = qt.QEvent.Type
_CLICKS: Final = (_Kind.MouseButtonPress, _Kind.MouseButtonRelease, _Kind.MouseButtonDblClick)
_REFUSED: Final = (
    _Kind.TabletPress,
    _Kind.TabletMove,
    _Kind.TabletRelease,
    _Kind.TouchBegin,
    _Kind.Wheel,
    _Kind.DragEnter,
    _Kind.DragMove,
    _Kind.Drop,
)
"""Input that is not held. Qt makes a mouse of a pen or a finger that is refused; what is dropped or
scrolled can be dropped or scrolled again."""
_PRESSING: Final = (qt.Qt.Key.Key_Space, qt.Qt.Key.Key_Return, qt.Qt.Key.Key_Enter)


class HostLoop:
    """The host's Qt event loop, as `MainThread` uses it.

    Attributes:
        main: The queue to the main thread, which this loop serves.
    """

    def __init__(self) -> None:
        """Tie the lanes to the event loop. Main thread.

        Raises:
            StartError: There is no QApplication yet, or this is not the main thread.
        """
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
        """Drain the lanes after a delay. It raises nothing.

        Args:
            delay: Seconds. With 0 this may be called on any thread, else on the main thread.
        """
        with self._lock:  # the bell must not be deleted between the check and the post
            bell = self._bell
            if bell is None or not qt.isValid(bell):
                return
            if not delay:
                qt.QCoreApplication.postEvent(bell, qt.QEvent(_WAKE))
        if delay:
            bell.timer.start(round(delay * 1000))

    def spin(self, future: Future[Any]) -> None:
        """Run the host's event loop until a future is done. Main thread.

        Args:
            future: The result to wait for.

        Raises:
            BridgeClosed: The event loop stopped before the future was done.
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
        """Paint the windows; keys and clicks wait, the host's timers do not. Main thread.

        A shortcut that is pressed meanwhile arrives later as a key. It raises nothing.

        Args:
            serves_stop: Whether to serve Esc, and the buttons with the `LIVE_PROPERTY`. Other keys
                and clicks come when the job is over.

        Returns:
            Whether Esc was pressed.
        """
        if not serves_stop:
            self._input.presses_live = False  # another skill may have left it so
            qt.QCoreApplication.processEvents(_NO_INPUT, _MAX_REPAINT_MS)
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
            Whether the active modal dialog is the host's; False for a dialog of ours.
        """
        modal = qt.QApplication.activeModalWidget()
        if modal is None:
            return False
        return not modal.property(OURS_PROPERTY)

    def rung(self) -> None:
        """Drain the lanes, and end a spin whose future is done. Main thread. It raises nothing."""
        self.main.drain()
        if self._awaited is None:
            return
        loop, future = self._awaited
        if future.done():
            loop.quit()

    def end_jobs(self) -> None:
        """End every job when the host quits without closing the bridge. Main thread.

        A job that is left crashes the exit. It raises nothing.
        """
        if self.main.is_unwound:
            self.main.close()

    def close(self) -> None:
        """Release Qt; a later wake does nothing. Main thread, after ``main.close()``.

        It raises nothing.
        """
        with self._lock:
            bell = self._bell
            self._bell = None
        atexit.unregister(self._leave)
        if bell is None or not qt.isValid(bell):
            return
        if bell.depth:  # the bell is on the stack: deleted now, it would crash on the way back
            bell.deleteLater()
        else:
            qt.delete(bell)

    def _leave(self) -> None:
        """End the jobs and delete the bell before the interpreter ends.

        A wake that nobody takes any more would outlive the interpreter. Qt then deletes the event
        with the application, and that crashes with PySide6 6.11.
        """
        self.end_jobs()
        self.close()


class _Bell(qt.QObject):
    """Receives the wakes on the main thread."""

    def __init__(self, loop: HostLoop) -> None:
        super().__init__()
        self._loop = loop
        self.depth = 0  # how many calls of `_ring` are on the stack
        self.timer = qt.QTimer(self, singleShot=True)
        self.timer.timeout.connect(self._ring)

    @qt.Slot()
    def quit(self) -> None:
        self._loop.end_jobs()

    def customEvent(self, event: qt.QEvent) -> None:
        self._ring()  # nobody posts another kind of event, and event.type() would make an enum

    @qt.Slot()
    def _ring(self) -> None:
        self.depth += 1
        try:
            self._loop.rung()
        finally:
            self.depth -= 1


class _Input(qt.QObject):
    """Lets through the input that stops a skill, and holds the other keys and clicks."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[qt.QObject, qt.QEvent]] = []
        self._escaped = False
        self.presses_live = False  # whether a button with the `LIVE_PROPERTY` is held down

    def serve(self) -> bool:
        """Serve events for some milliseconds, and return whether Esc was pressed."""
        app = qt.QCoreApplication.instance()
        assert app is not None
        self._escaped = False
        app.installEventFilter(self)
        try:
            all_events = qt.QEventLoop.ProcessEventsFlag.AllEvents
            qt.QCoreApplication.processEvents(all_events, _MAX_REPAINT_MS)
        finally:
            app.removeEventFilter(self)
        return self._escaped

    def release(self) -> None:
        """Deliver the held input to the windows that are still there."""
        held = self.held
        self.held = []
        for window, event in held:
            if qt.isValid(window):
                qt.QCoreApplication.postEvent(window, event)

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Filter input where it reaches a window, before any widget of the window has it."""
        kind = event.type()
        if kind == _Kind.InputMethod:  # this kind goes to the widget itself, and to no window
            event.ignore()
            return True
        if not watched.isWindowType():
            return False
        if kind == _Kind.ShortcutOverride:  # once accepted, the event is no shortcut but a key
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
        focused = qt.QApplication.focusWidget()
        presses = event.key() in _PRESSING
        if presses and focused is not None and focused.property(LIVE_PROPERTY):
            return False
        if event.key() != qt.Qt.Key.Key_Escape:
            self.held.append((window, copy_of_key(event)))
        elif event.type() == _Kind.KeyPress:
            self._escaped = True
        return True

    def _filter_mouse(self, window: qt.QObject, event: qt.QMouseEvent) -> bool:
        in_widget, in_window, on_screen = _places(event)
        target = qt.QApplication.widgetAt(on_screen.toPoint())
        is_live = target is not None and bool(target.property(LIVE_PROPERTY))
        kind = event.type()
        if kind == _Kind.MouseButtonPress:
            self.presses_live = is_live
        if self.presses_live:
            self.presses_live = kind != _Kind.MouseButtonRelease
            return False
        if is_live and kind == _Kind.MouseMove:
            return False
        if event.buttons() or kind in _CLICKS:
            copy = qt.QMouseEvent(
                kind,
                in_widget,
                in_window,
                on_screen,
                event.button(),
                event.buttons(),
                event.modifiers(),
            )
            self.held.append((window, copy))
        return True


def _places(event: qt.QMouseEvent) -> tuple[qt.QPointF, qt.QPointF, qt.QPointF]:
    """Return where a click was: in the widget, in the window, and on the screen."""
    if hasattr(event, "globalPosition"):
        return event.position(), event.scenePosition(), event.globalPosition()
    return event.localPos(), event.windowPos(), event.screenPos()  # Qt 5


def copy_of_key(event: qt.QKeyEvent) -> qt.QKeyEvent:
    """Return a copy of a key's event, which can be delivered again. Main thread."""
    return qt.QKeyEvent(
        event.type(), event.key(), event.modifiers(), event.text(), event.isAutoRepeat()
    )


class DeferredDeletion:
    """Deletes widgets later, as some may be on the stack, and all before the host ends."""

    def __init__(self) -> None:
        self._widgets: list[qt.QWidget] = []

    def add(self, widget: qt.QWidget) -> None:
        """Hide a widget, and delete the widget in a later turn of the event loop."""
        self._widgets = [pending for pending in self._widgets if qt.isValid(pending)]
        if qt.isValid(widget):
            widget.hide()
            widget.deleteLater()
            self._widgets.append(widget)

    def flush(self) -> None:
        """Delete all of them now. Must not be called from the frame of such a widget."""
        for widget in self._widgets:
            if qt.isValid(widget):
                qt.delete(widget)
        self._widgets.clear()
