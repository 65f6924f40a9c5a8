"""How a command ends: its exit code, a sentence where it could not do its work, or a signal."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from dcc_bridge.elicitation.text import safe_whole

SUCCESS: Final = 0
TOOL_ERROR: Final = 1
USAGE: Final = 2
REFUSED: Final = 3
UNREACHABLE: Final = 4
ASKING: Final = 5
INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

TABLE: Final = """\
exit codes:
  0    it was done
  1    the tool reported an error
  2    wrong usage, or the host could not be started
  3    the person refused, or nobody could be asked
  4    the host could not be reached, or it went away
  5    the call goes on: its question is open, and nobody can be asked here
  130  Ctrl+C"""


class Failure(Exception):
    """A command cannot go on. Its text is a sentence for the person."""

    def __init__(self, sentence: str, code: int = USAGE) -> None:
        super().__init__(sentence)
        self.code = code


def tell(sentence: str) -> None:
    """Print a sentence beside the result."""
    print(f"dcc-bridge: {safe_whole(sentence)}", file=sys.stderr, flush=True)


def says_unread(error: BaseException) -> bool:
    """Return whether an error says that nobody reads stdout any more."""
    if isinstance(error, BrokenPipeError):
        return True
    if sys.platform != "win32" or not isinstance(error, OSError):
        return False
    return error.errno == errno.EINVAL and error.filename is None  # what Windows says of a pipe


@contextmanager
def on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGINT and SIGTERM while in the ``with``; a second one ends the process.

    After a SIGINT it ends with a KeyboardInterrupt, once all was stopped.

    Python runs a signal's handler on the main thread between two instructions: inside a lock that
    the handler would need, or never while the thread waits (Windows). So the handler does nothing,
    and the byte that Python writes for each signal wakes a thread of ours, which calls `stop` once.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    received: list[int] = []
    thread = threading.Thread(None, _listen, "dcc_bridge signals", (reader, stop, received))
    thread.start()
    descriptor = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        writer.close()
        thread.join()
        reader.close()
    if signal.SIGINT in received:
        raise KeyboardInterrupt


def _listen(reader: socket.socket, stop: Callable[[], None], received: list[int]) -> None:
    while numbers := reader.recv(64):
        for number in numbers:
            if number in _SIGNALS:
                received.append(number)
                stop() if len(received) == 1 else os._exit(128 + number)
