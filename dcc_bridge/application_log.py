"""The log of a bridge in an application: a file, and a line for each warning. Any thread.

Every bridge writes its log to the file, by `program_log.open_log`. Warnings also go to Python's
error stream, which some applications show as errors of their own: the plug-in of such an
application calls `install_log` before it starts a bridge.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from dcc_bridge.audit.program_log import LOGGERS, CleanFormatter, ProgramLog, log_file
from dcc_bridge.elicitation.text import safe_line

_MAX_LINE_CHARACTERS: Final = 300  # of the first line of a record, and of the last


class _ShownLines(logging.Handler):
    """Shows each record in one line: the record's first line, and the last line of a traceback."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(CleanFormatter())
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        lines = self.format(record).splitlines() or [""]
        text = safe_line(lines[0], _MAX_LINE_CHARACTERS)
        if len(lines) > 1:
            last = safe_line(lines[-1], _MAX_LINE_CHARACTERS)
            text = f"{text}: {last} (more in {log_file()})"
        self._show(f"dcc-bridge: {text}")


def install_log(show: Callable[[str], None]) -> Callable[[], None]:
    """Write the bridge's log to its file, and show each warning and error in one line.

    It raises nothing: a record that cannot be written to the file is left out.

    Args:
        show: Shows a line without its end; called on the thread on which a record was logged.

    Returns:
        A function that ends both; to be called once.
    """
    handlers: tuple[logging.Handler, ...] = (ProgramLog(), _ShownLines(show))
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        for handler in handlers:
            logger.addHandler(handler)

    def remove() -> None:
        for logger in loggers:
            for handler in handlers:
                logger.removeHandler(handler)
        for handler in handlers:
            handler.close()

    return remove
