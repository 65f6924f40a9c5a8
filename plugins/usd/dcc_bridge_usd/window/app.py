"""Our own application: a window on a ``qasync`` loop, from its first paint to its end.

Python runs a signal's handler only when it next runs Python, which an idle Qt loop never does. So
Ctrl+C and SIGTERM write to a socket that the loop listens to, and nothing polls. Main thread.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSocketNotifier, Slot
from PySide6.QtWidgets import QApplication

os.environ.pop("QT_API", None)  # else qasync would use that binding, and not the imported one
from qasync import QEventLoop

from . import theme
from .main_window import MainWindow

if TYPE_CHECKING:
    from ..host import UsdSession

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TASKS_TIMEOUT_S = 2.0  # for cancelled tasks to end


class _SignalListener(QObject):
    """Calls a function on the Qt loop when Python wrote a signal to a socket."""

    def __init__(self, reader: socket.socket, call: Callable[[], None], received: set[int]) -> None:
        super().__init__()
        self._reader = reader
        self._received = received
        self._call = call
        self._notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)

    @Slot()
    def _read(self) -> None:
        numbers = set(self._reader.recv(64)).intersection(_SIGNALS)
        self._received.update(numbers)
        if numbers:
            self._call()

    def close(self) -> None:
        self._notifier.setEnabled(False)
        self.deleteLater()


@contextmanager
def calling(call: Callable[[], None]) -> Iterator[set[int]]:
    """Call a function from the Qt loop on SIGINT and SIGTERM, for as long as the block.

    Yields:
        The signals that came.
    """
    received: set[int] = set()
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    listener = _SignalListener(reader, call, received)
    descriptor = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, _ignore) for number in _SIGNALS}
    try:
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        listener.close()
        reader.close()
        writer.close()


def _ignore(_number: int, _frame: object) -> None:
    """Do nothing: the loop is woken by the byte that Python writes to the socket."""


def run(
    session: UsdSession,
    *,
    on_ready: Callable[[MainWindow], object] | None = None,
    on_quit: Callable[[], bool | None] | None = None,
) -> int:
    """Show a session's window and serve it until the person closes it, or SIGINT or SIGTERM.

    Both callbacks run on the main thread inside the running ``asyncio`` loop, but in no task of
    the loop: they may create tasks, and they may spin.

    Args:
        session: The session.
        on_ready: Called once with the window, when it is shown and the loop runs; if it raises, the
            application ends.
        on_quit: Called when the window closes, with all widgets still alive. After False the
            application goes on until ``window.close_now()``, which calls `on_quit` again.

    Returns:
        The exit code: 0, 1 if a callback raised, 130 after SIGINT.
    """
    app = _application()
    loop = QEventLoop(app)
    window = MainWindow(session)
    life = _Life(loop, on_quit)
    window.closed.connect(life.end)
    try:
        with calling(window.close_now) as received:
            window.show()
            loop.call_soon(life.begin, window, on_ready)
            loop.run_forever()
            _finish(loop)
    finally:
        window.feed.close()
        _delete_widgets(app)
    if life.code == 0 and signal.SIGINT in received:
        return 128 + signal.SIGINT
    return life.code


def _application() -> QApplication:
    app = QApplication.instance() or QApplication(sys.argv[:1])
    if not isinstance(app, QApplication):
        raise TypeError("There is a QCoreApplication already; a window needs a QApplication.")
    app.setApplicationName("dcc_bridge")
    app.setQuitOnLastWindowClosed(False)
    theme.dress(app)
    return app


class _Life(QObject):
    """Calls the callbacks of `run`, and ends the loop."""

    def __init__(self, loop: QEventLoop, on_quit: Callable[[], bool | None] | None) -> None:
        super().__init__()
        self._loop = loop
        self._on_quit = on_quit
        self._is_ending = False
        self.code = 0

    def begin(self, window: MainWindow, on_ready: Callable[[MainWindow], object] | None) -> None:
        """Call `on_ready`; if it raises, the application ends."""
        try:
            if on_ready:
                on_ready(window)
        except BaseException:
            self.code = 1
            window.close_now()
            raise

    @Slot()
    def end(self) -> None:
        """Call `on_quit`, and end the loop unless it returns False; calls meanwhile are ignored."""
        if self._is_ending:
            return
        self._is_ending = True
        goes_on = False
        try:
            goes_on = self._on_quit is not None and self._on_quit() is False
        except BaseException:
            self.code = 1
            raise
        finally:
            self._is_ending = False
            if not goes_on:
                self._loop.stop()


def _finish(loop: QEventLoop) -> None:
    """Cancel what is still running on the loop, and close it."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=_TASKS_TIMEOUT_S))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _delete_widgets(app: QApplication) -> None:
    """Delete every window now: one that still lives, or waits for deletion, crashes the exit."""
    for widget in app.topLevelWidgets():
        if shiboken6.isValid(widget) and widget.parent() is None:
            shiboken6.delete(widget)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
