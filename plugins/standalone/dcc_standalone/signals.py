"""Ctrl+C and SIGTERM for an application whose loop is Qt's.

Python runs a signal's handler only when it next runs Python, which an idle Qt loop never does. So
the signal writes to a socket that the loop listens to, and nothing polls. Main thread.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QSocketNotifier, Slot

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Wake(QObject):
    def __init__(self, reader: socket.socket, call: Callable[[], None]) -> None:
        super().__init__()
        self._reader = reader
        self._call = call
        self._notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)

    @Slot()
    def _woken(self) -> None:
        if any(number in _SIGNALS for number in self._reader.recv(64)):
            self._call()

    def close(self) -> None:
        self._notifier.setEnabled(False)
        self.deleteLater()


@contextmanager
def calling(call: Callable[[], None]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call something from the Qt loop, while in the ``with``."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    wake = _Wake(reader, call)
    descriptor = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, _let_the_loop_know) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        wake.close()
        reader.close()
        writer.close()


def _let_the_loop_know(_number: int, _frame: object) -> None:
    """Do nothing: what matters is the byte that Python wrote to the socket."""
