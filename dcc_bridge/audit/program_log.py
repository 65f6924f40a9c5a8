"""The log file of our programs, with whole tracebacks; only the user can read it. Any thread."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import private_files
from dcc_bridge.audit import redact

_MAX_BYTES: Final = 2_000_000
"""Bytes of a file; after more, the file is renamed and a new file begun."""


def log_file() -> Path:
    """Return the path of the log file."""
    return platformdirs.user_state_path("dcc_bridge") / "log" / "host.log"


class ProgramLog(logging.FileHandler):
    """Appends records to the file, which several programs share."""

    def __init__(self) -> None:
        super().__init__(log_file(), encoding="utf-8", delay=True)
        self.setFormatter(CleanFormatter("%(asctime)s %(process)d %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a full disk must not end the program that logs."""
        with suppress(OSError):
            super().emit(record)

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
