"""Ctrl+C and SIGTERM for a process whose main thread waits without an event loop. Main thread.

Python runs a signal's handler on the main thread, between two of its instructions: inside a lock
that the handler would need, or never while it waits (Windows). So the handler does nothing. The
byte that Python writes for each signal wakes a thread of ours.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def calling(call: Callable[[], None]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call something, while in the ``with``; the second one ends at once.

    Args:
        call: Called once, on a thread of ours.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    thread = threading.Thread(target=_listen, args=(reader, call), name="dcc_bridge signals")
    thread.start()
    descriptor = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, _leave_it_to_the_thread) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        writer.close()
        thread.join()
        reader.close()


def _listen(reader: socket.socket, call: Callable[[], None]) -> None:
    told = 0
    while numbers := reader.recv(64):
        for number in numbers:
            if number in _SIGNALS:
                told += 1
                call() if told == 1 else os._exit(128 + number)


def _leave_it_to_the_thread(_number: int, _frame: object) -> None:
    """Do nothing: what matters is the byte that Python wrote."""
