"""The log file of our programs, with whole tracebacks; only the user can read it. Any thread."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import private_files
from dcc_bridge.audit import redact

LOGGERS: Final = ("dcc_bridge", "mcp", "uvicorn")
"""The loggers whose records a bridge writes: ours first, then those of the libraries."""
_MAX_BYTES: Final = 2_000_000
"""Bytes of a file; after more, the file is renamed and a new file begun. One old file is kept."""
_FORMAT: Final = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def log_file() -> Path:
    """Return the path of the log file."""
    return platformdirs.user_state_path("dcc_bridge") / "log" / "host.log"


def open_log(level: str) -> Callable[[], None]:
    """Write the bridge's log to its file, besides where it goes already.

    It raises nothing: a record that cannot be written to the file is left out.

    Args:
        level: The level from which our own records are written, such as "info". Those of the
            libraries are written from "warning" on, because they may have more in them than a log
            should.

    Returns:
        A function that ends this; to be called once.
    """
    ours = logging.getLogger(LOGGERS[0])
    level_before = ours.level
    ours.setLevel(level.upper())
    file = ProgramLog()
    added: list[tuple[logging.Logger, logging.Handler]] = []
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if _has_file(logger):
            continue
        if not logger.hasHandlers() and logging.lastResort is not None:
            added.append((logger, logging.lastResort))  # which a handler of ours would replace
        added.append((logger, file))
    for logger, handler in added:
        logger.addHandler(handler)

    def close() -> None:
        for logger, handler in added:
            logger.removeHandler(handler)
        file.close()
        ours.setLevel(level_before)

    return close


def _has_file(logger: logging.Logger) -> bool:
    """Return whether the records of a logger are written to the file."""
    asked: logging.Logger | None = logger
    while asked is not None:
        if any(isinstance(handler, ProgramLog) for handler in asked.handlers):
            return True
        asked = asked.parent
    return False


class ProgramLog(logging.FileHandler):
    """Appends records to the file, which several programs share."""

    def __init__(self) -> None:
        super().__init__(log_file(), encoding="utf-8", delay=True)
        self.setFormatter(CleanFormatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a full disk must not end the program that logs."""
        with suppress(OSError):
            super().emit(record)
            if self.stream is not None and self.stream.tell() > _MAX_BYTES:
                full = self.stream
                self.stream = None  # so that the next record opens the file anew
                full.close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: logging would print the record to the terminal, with any token in it."""

    def close(self) -> None:
        """Close the file; records that could not be written are tried once more."""
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        private_files.folder(path.parent)
        with suppress(OSError):  # no file yet; in Windows, one that another program has open
            if path.stat().st_size > _MAX_BYTES:
                os.replace(path, path.with_suffix(".1.log"))
        try:
            opened = private_files.create(path)
        except FileExistsError:
            opened = private_files.reopen(path)
        return open(opened, "a", encoding="utf-8", errors="backslashreplace")


class CleanFormatter(logging.Formatter):
    """Takes tokens out of every record, also of those that `redact.LOG_FILTER` has not seen."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line without tokens."""
        return redact.LOG_FILTER.clean(super().format(record))
