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
from dcc_bridge.main_thread import MainThread
from dcc_bridge.qt import binding as qt

OURS: Final = "dcc_bridge"  # the property that tells a window of ours from the host's
_NO_INPUT: Final = qt.QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents
_PAINTING: Final = 5  # milliseconds for which a repaint goes on with what comes meanwhile
_WAKE: Final = qt.QEvent.Type(qt.QEvent.registerEventType())


class HostLoop:
    """The host's Qt event loop, as `MainThread` uses it."""

    def __init__(self) -> None:
        """Tie the lanes to the event loop. Main thread, with the host's QApplication alive.

        Raises:
            StartError: There is no QApplication, or this is not its thread.
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
        # The two lanes to the main thread.
        self.main = MainThread(self.wake, self.spin, blocked=self.is_blocked, repaint=self.repaint)
        atexit.register(self._leave)

    def wake(self, delay: float) -> None:
        """Have the lanes drained after that many seconds. With 0 from any thread."""
        with self._lock:  # the bell must not be deleted between the look and the post
            bell = self._bell if self._bell and qt.isValid(self._bell) else None
            if bell is not None and not delay:
                qt.QCoreApplication.postEvent(bell, qt.QEvent(_WAKE))
        if bell is not None and delay:
            bell.ring_after(round(delay * 1000))

    def spin(self, future: Future[Any]) -> None:
        """Run the host's event loop until the future is done. Main thread.

        Raises:
            BridgeClosed: The host quits: its loops end whatever they wait for.
        """
        loop = qt.QEventLoop()
        self._awaited = loop, future
        future.add_done_callback(lambda _: self.wake(0))
        try:
            if not future.done():
                qt.run(loop)
        finally:
            self._awaited = None
        if not future.done():
            raise BridgeClosed("The question")

    @staticmethod
    def repaint() -> None:
        """Have the windows painted; keys and clicks wait, the host's timers do not. Main thread."""
        qt.QCoreApplication.processEvents(_NO_INPUT, _PAINTING)

    @staticmethod
    def is_blocked() -> bool:
        """Whether the host shows a modal dialog of its own. Main thread."""
        modal = qt.QApplication.activeModalWidget()
        return modal is not None and not modal.property(OURS)

    def rung(self) -> None:
        """Drain the lanes, and end a spin whose future is done. Main thread."""
        self.main.drain()
        if self._awaited is not None and self._awaited[1].done():
            self._awaited[0].quit()

    def end_jobs(self) -> None:
        """End every job, as the host quits without a word: one that is left crashes the exit."""
        if self.main.is_unwound:
            self.main.close()

    def close(self) -> None:
        """Let go of Qt; a later wake does nothing. Main thread, after ``main.close()``."""
        with self._lock:
            bell, self._bell = self._bell, None
        atexit.unregister(self._leave)
        if bell is None or not qt.isValid(bell):
            return
        if bell.is_ringing:  # it is on the stack: deleted now, it would crash on the way back
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
        self._depth = 0
        self._timer = qt.QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._ring)

    @property
    def is_ringing(self) -> bool:
        return self._depth > 0

    def ring_after(self, milliseconds: int) -> None:
        self._timer.start(milliseconds)

    @qt.Slot()
    def quit(self) -> None:
        self._loop.end_jobs()

    def event(self, event: qt.QEvent) -> bool:
        if event.type() != _WAKE:
            return super().event(event)
        self._ring()
        return True

    @qt.Slot()
    def _ring(self) -> None:
        self._depth += 1
        try:
            self._loop.rung()
        finally:
            self._depth -= 1


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
