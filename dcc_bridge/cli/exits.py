"""The end of a command: its exit code, the sentence of a failure, signals. Main thread."""

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
FAILED: Final = 1
USAGE: Final = 2
REFUSED: Final = 3
UNREACHABLE: Final = 4
ASKING: Final = 5
INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

MEANINGS: Final = {
    SUCCESS: "it was done, or nothing wrong was found",
    FAILED: "it failed, or something wrong was found",
    USAGE: "it was not begun: something typed, set or installed does not fit",
    REFUSED: "the person refused, or nobody could be asked",
    UNREACHABLE: "the host could not be reached, or it ended",
    ASKING: "the call continues: its question is open, and nobody can be asked here",
    INTERRUPTED: "Ctrl+C, or the demo's window was closed before its end",
}
"""The meaning of each exit code, whatever the command; the guide has these words too."""
TABLE: Final = "\n".join(
    ["exit codes:", *(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())]
)


class Failure(Exception):
    """A command cannot continue.

    Args:
        sentence: The reason, and the next step, for the person.
        code: The exit code.

    Attributes:
        code: The exit code.
    """

    def __init__(self, sentence: str, code: int = USAGE) -> None:
        super().__init__(sentence)
        self.code = code


def tell(sentence: str) -> None:
    """Print a sentence on stderr, beside the result."""
    print(f"dcc-bridge: {safe_whole(sentence)}", file=sys.stderr, flush=True)


def says_unread(error: BaseException) -> bool:
    """Return whether an error means that the reader of stdout has closed it."""
    if isinstance(error, BrokenPipeError):
        return True
    if sys.platform != "win32" or not isinstance(error, OSError):
        return False
    return error.errno == errno.EINVAL and error.filename is None  # Windows' error for a pipe


@contextmanager
def on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Handle SIGINT and SIGTERM for the length of a ``with`` block.

    A further SIGINT ends the process at once. A further SIGTERM does nothing: programs often send
    SIGTERM to a process and to its group, so the process gets two and must still end in order.

    Python runs a signal's handler on the main thread between two instructions. The thread may hold
    a lock that the handler needs, and on Windows a waiting thread runs no handler. So the handler
    does nothing. The byte that Python writes for each signal wakes another thread, which calls
    `stop` once.

    Args:
        stop: Makes the block end soon; called on that other thread.

    Raises:
        KeyboardInterrupt: A SIGINT came. This is raised at the end of the block.
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
    """Read the numbers of signals until the socket's other end is closed. A thread of its own."""
    while numbers := reader.recv(64):
        for number in numbers:
            if number not in _SIGNALS:
                continue
            received.append(number)
            if len(received) == 1:
                stop()
            elif number == signal.SIGINT:
                os._exit(128 + number)
