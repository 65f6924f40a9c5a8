"""Logging of a host in this process: a sentence in the terminal, the whole record in a file.

The file is made when there is something to write, and only its user can read it. What the SDK and
uvicorn log is for the file alone: what is news of it, is told by us. Main thread; records come from
any.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import private_files
from dcc_bridge.audit import redact
from dcc_bridge.elicitation.text import safe_line

_MOST: Final = 2_000_000  # bytes from which on the file is put aside and a new one begun
_SILENT: Final = ("mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")


def file() -> Path:
    """Give the path of the log file."""
    return platformdirs.user_state_path("dcc_bridge") / "log" / "host.log"


@contextmanager
def kept() -> Iterator[None]:
    """Add the handlers to the root logger while in the ``with``."""
    root, handlers = logging.getLogger(), [_File(file(), delay=True), _terminal()]
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


class _File(logging.FileHandler):
    def __init__(self, path: Path, *, delay: bool) -> None:
        super().__init__(path, encoding="utf-8", delay=delay)
        self.setFormatter(_Clean("%(asctime)s %(process)d %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # a disk that is full must not end what was logged
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: logging would write the record, token and all, to the terminal."""

    def close(self) -> None:
        with suppress(OSError):  # what could not be written is tried once more
            super().close()

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        private_files.folder(path.parent)
        with suppress(FileNotFoundError):
            if path.stat().st_size > _MOST:
                os.replace(path, path.with_suffix(".1.log"))
        try:
            opened = private_files.create(path)
        except FileExistsError:
            opened = private_files.reopen(path)
        return open(opened, "a", encoding="utf-8", errors="backslashreplace")


class _Clean(logging.Formatter):
    """Removes tokens from every record; from our own they are gone already."""

    def format(self, record: logging.LogRecord) -> str:
        return redact.redact_tokens(super().format(record))


class _Sentence(_Clean):
    """Formats a record as one line: its first, and of a traceback the last."""

    def format(self, record: logging.LogRecord) -> str:
        first, *rest = super().format(record).splitlines() or [""]
        text = safe_line(f"{first}: {rest[-1]}" if rest else first, 1000)
        return f"dcc-bridge: {text}" + (f" (more in {file()})" if rest else "")


def _terminal() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Sentence())
    handler.addFilter(lambda record: record.name.partition(".")[0] not in _SILENT)
    return handler
