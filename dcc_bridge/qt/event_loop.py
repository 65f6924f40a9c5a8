"""The host's Qt event loop, as `MainThread` uses it: to wake it, to spin it, to repaint in a job.

`HostLoop` is for the plug-in that starts a bridge. To *wake* the loop, an event is posted to an
object on the main thread, which costs some 20 µs and needs no polling. Qt delivers the event inside
nested event loops too, so questions come and go while the host shows a modal dialog of its own;
`MainThread` holds the jobs back meanwhile.
"""

from __future__ import annotations

import atexit
import threading
from concurrent.futures import Future
from typing import Any, Final

from dcc_bridge.errors import BridgeClosed, StartError
from dcc_bridge.qt import binding as qt
from dcc_bridge.threads.main_thread import MainThread

PANEL_NAME: Final = "DccBridgePanel"  # the object name of the panel
OURS_PROPERTY: Final = "dcc_bridge"
"""The property that marks a window of ours; the host's windows do not have it."""
LIVE_PROPERTY: Final = "dcc_bridge_live"
"""The property of a button that works while a skill runs."""
_NO_INPUT: Final = qt.QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents
_MAX_REPAINT_MS: Final = 5  # for which a repaint also serves events that come meanwhile
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
"""Input that is refused, and not held. Qt turns refused input of a pen or a finger into that of a
mouse; a person can scroll or drop again."""
_PRESS_KEYS: Final = (qt.Qt.Key.Key_Space, qt.Qt.Key.Key_Return, qt.Qt.Key.Key_Enter)


class HostLoop:
    """The host's Qt event loop, as `MainThread` uses it.

    Attributes:
        main: The queue to the main thread, which this loop serves.
    """

    def __init__(self) -> None:
        """Connect a new `MainThread` to the event loop. Main thread.

        Raises:
            StartError: There is no QApplication yet, or this is not the main thread.
        """
        app = qt.QCoreApplication.instance()
        # By `inherits`, because the type of the Python wrapper may be a base class.
        if app is None or not app.inherits("QApplication"):
            raise StartError("There is no QApplication yet; start once the host's window is up.")
        self._lock = threading.RLock()
        self._awaited: tuple[qt.QEventLoop, Future[Any]] | None = None
        self._receiver: _WakeReceiver | None = _WakeReceiver(self)
        if self._receiver.thread() != app.thread():
            raise StartError("This is not the host's main thread; start from there.")
        app.aboutToQuit.connect(self._receiver.quit)
        self._input = _InputFilter()
        self.main = MainThread(self.wake, self.spin, blocked=self.is_blocked, repaint=self.repaint)
        atexit.register(self._leave)

    def wake(self, delay: float) -> None:
        """Drain the lanes after a delay. It raises nothing.

        Args:
            delay: Seconds. With 0 this may be called on any thread, else on the main thread.
        """
        with self._lock:  # the receiver must not be deleted between the check and the post
            receiver = self._receiver
            if receiver is None or not qt.isValid(receiver):
                return
            if not delay:
                qt.QCoreApplication.postEvent(receiver, qt.QEvent(_WAKE))
        if delay:
            receiver.timer.start(round(delay * 1000))

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
        if not future.done():  # the host quits, which ends all of its event loops
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
            self._input.presses_live = False  # a former skill may have ended in mid-press
            if not _forgets_shift():
                qt.QCoreApplication.processEvents(_NO_INPUT, _MAX_REPAINT_MS)
            return False
        was_empty = not self._input.held
        is_escaped = self._input.serve()
        if was_empty and self._input.held:
            self.main.post(self._input.release)  # comes after the job, which lets nothing be served
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

    def on_wake(self) -> None:
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
            receiver = self._receiver
            self._receiver = None
        atexit.unregister(self._leave)
        if receiver is None or not qt.isValid(receiver):
            return
        if receiver.depth:  # one of its methods is on the stack, and would return into nothing
            receiver.deleteLater()
        else:
            qt.delete(receiver)

    def _leave(self) -> None:
        """End the jobs and delete the receiver before the interpreter ends.

        A posted event that is not delivered would outlive the interpreter. Qt then deletes the
        event with the application, and that crashes with PySide6 6.11.
        """
        self.end_jobs()
        self.close()


class _WakeReceiver(qt.QObject):
    """Receives on the main thread the events that wake the loop."""

    def __init__(self, loop: HostLoop) -> None:
        super().__init__()
        self._loop = loop
        self.depth = 0  # how many calls of `_receive` are on the stack
        self.timer = qt.QTimer(self, singleShot=True)
        self.timer.timeout.connect(self._receive)

    @qt.Slot()
    def quit(self) -> None:
        self._loop.end_jobs()

    def customEvent(self, event: qt.QEvent) -> None:
        self._receive()  # all events are wakes; event.type() would cost the making of an enum

    @qt.Slot()
    def _receive(self) -> None:
        self.depth += 1
        try:
            self._loop.on_wake()
        finally:
            self.depth -= 1


class _InputFilter(qt.QObject):
    """Lets through the input that stops a skill, and holds the other keys and clicks.

    Attributes:
        held: The windows and the events that wait for the end of the job.
        presses_live: Whether a button with the `LIVE_PROPERTY` is held down.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[qt.QObject, qt.QEvent]] = []
        self._escaped = False
        self.presses_live = False

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
        """Filter the input of windows, before Qt passes the input on to a widget."""
        kind = event.type()
        if kind == _Kind.InputMethod:  # Qt sends this kind to a widget, and to no window
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
        presses = event.key() in _PRESS_KEYS
        if presses and focused is not None and focused.property(LIVE_PROPERTY):
            return False
        if event.key() != qt.Qt.Key.Key_Escape:
            self.held.append((window, copy_of_key(event)))
        elif event.type() == _Kind.KeyPress:
            self._escaped = True
        return True

    def _filter_mouse(self, window: qt.QObject, event: qt.QMouseEvent) -> bool:
        in_widget, in_window, on_screen = _positions(event)
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


def _forgets_shift() -> bool:
    """Return whether keys that wait in Qt's own queue lose the Shift they were pressed with.

    Qt 5 on X11 keeps the keys and goes on with the state of Shift. Measured with 5.15: a + became a
    =. So there nothing is painted until the keys are held here.
    """
    return qt.qVersion().startswith("5.") and qt.QGuiApplication.platformName() == "xcb"


def _positions(event: qt.QMouseEvent) -> tuple[qt.QPointF, qt.QPointF, qt.QPointF]:
    """Return the position of a mouse event in the widget, in the window, and on the screen."""
    if hasattr(event, "globalPosition"):
        return event.position(), event.scenePosition(), event.globalPosition()
    return event.localPos(), event.windowPos(), event.screenPos()  # Qt 5


def copy_of_key(event: qt.QKeyEvent) -> qt.QKeyEvent:
    """Return a copy of a key's event, which can be delivered again. Main thread."""
    return qt.QKeyEvent(
        event.type(), event.key(), event.modifiers(), event.text(), event.isAutoRepeat()
    )


class DeferredDeletion:
    """Deletes widgets later, because a method of theirs may be on the stack now."""

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
        """Delete the widgets now. Must not be called from a method of such a widget."""
        for widget in self._widgets:
            if qt.isValid(widget):
                qt.delete(widget)
        self._widgets.clear()
