"""Where the bridge's log goes in FreeCAD: whole to our own file, a line of it to the Report view.

Python writes to its error stream what no handler takes, and FreeCAD shows that in red and opens the
Report view for it. Any thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import FreeCAD

from dcc_bridge.audit.program_log import CleanFormatter, ProgramLog, log_file
from dcc_bridge.spi import safe_line

_LOGGERS: Final = ("dcc_bridge", "mcp", "uvicorn")
_MOST: Final = 300  # characters of a line


class ReportView(logging.Handler):
    """Tells each record in one line, as FreeCAD's own messages are."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the first line of a record, and of a traceback the last."""
        lines = self.format(record).splitlines() or [""]
        text = safe_line(lines[0], _MOST)
        if len(lines) > 1:
            text = f"{text}: {safe_line(lines[-1], _MOST)} (more in {log_file()})"
        FreeCAD.Console.PrintMessage(f"dcc-bridge: {text}\n")


def install() -> Callable[[], None]:
    """Have the bridge's log told so; gives what ends that."""
    report = ReportView(logging.WARNING)
    report.setFormatter(CleanFormatter())
    handlers: tuple[logging.Handler, ...] = (ProgramLog(), report)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
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
