"""How the record is written. Any thread; everything that touches its state is in this file.

A process writes one *book*: a file, and the next one when that is full. A book is begun with its
first event, so a bridge that only reads leaves none.

- Events are one write: all of them are in the file, or none is.
- What has to be on the disk before a change is synced before the call returns. The others are in
  the system's hands at once, which outlives the process, not a power cut.
- A write that fails is cut off again and its file is left. Who wrote is told, and must not go on.
  The next event begins the next file, which hangs on the last line that was written whole.
"""

from __future__ import annotations

import getpass
import logging
import os
import platform
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import chain, plainly
from dcc_bridge.audit.disk import Disk, claim
from dcc_bridge.audit.port import Event
from dcc_bridge.errors import NotRecorded

log = logging.getLogger(__name__)

ROTATED: Final = "rotated"
CLOSED: Final = "closed"
MOST: Final = 16_000_000
_TRIES: Final = 3
"""How many names are tried for a new file; they are random, so a second try is rare."""


class Book:
    """The record of one process. It is an `Auditor`.

    Attributes:
        folder: Where its files are.
        disk: What they are written with.
    """

    def __init__(
        self, folder: Path, about: Mapping[str, Any] | None = None, *, most: int = MOST
    ) -> None:
        """Write nothing yet.

        Args:
            folder: Where its files shall be; made when it is needed.
            about: What is the same for all events: the host, its version.
            most: Bytes in a file, after which the next one is begun.
        """
        self.folder = folder
        self.disk = Disk()
        self._about = dict(about or {})
        self._most = most
        self._lock = threading.Lock()
        self._name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
        self._parts = 0
        self._file: Path | None = None
        self._opened: int | None = None
        self._size = 0
        self._last = chain.START
        self._next = 1
        self._closed = False

    @property
    def file(self) -> Path | None:
        """The file that is being written, or None before the first event."""
        return self._file

    def __call__(self, *events: Event, durable: bool = False) -> None:
        """Write events down, all or none.

        Args:
            *events: In their order.
            durable: They are on the disk when this returns.

        Raises:
            NotRecorded: They could not be written, or the book is closed.
        """
        lines = [_dated(event, fields) for event, fields in events]
        with self._lock:
            if self._closed:
                raise NotRecorded("the bridge was stopped.")
            try:
                self._write(lines, durable)
            except OSError as error:
                self._leave()
                raise NotRecorded(f"{error.strerror or error}.") from error

    def close(self) -> None:
        """Write the end mark, and no more after it."""
        with self._lock:
            self._closed = True
            if self._opened is None:
                return
            try:
                self._append([_dated(CLOSED, {})], durable=True)
            except OSError:
                log.warning("the audit record could not be closed", exc_info=True)
            self._leave()

    # ---- under the lock

    def _write(self, lines: Sequence[chain.Fields], durable: bool) -> None:
        if self._opened is None:
            self._begin_file()
        elif self._size >= self._most:
            name = self._part(self._parts + 1)
            self._append([_dated(ROTATED, {"next": name})], durable=True)
            self._leave()
            self._begin_file()
        self._append(lines, durable)

    def _append(self, lines: Sequence[chain.Fields], durable: bool) -> None:
        assert self._opened is not None
        last, data = self._last, bytearray()
        for line in chain.numbered(lines, self._next):
            sealed, last = chain.seal(last, line)
            data += sealed
        self.disk.write(self._opened, bytes(data))
        if durable:
            self.disk.sync(self._opened)
        self._size += len(data)
        self._last = last
        self._next += len(lines)

    def _begin_file(self) -> None:
        before = self._file.name if self._file is not None else None
        file = self._new_file()
        try:
            self._append([_dated(chain.OPENED, self._header(before))], durable=True)
        except OSError:
            self._leave()
            with suppress(OSError):
                file.unlink()
                self._parts -= 1
            raise
        self._file = file

    def _new_file(self) -> Path:
        for left in reversed(range(_TRIES)):
            if not self._parts:
                self._name = f"{self._name.rsplit('.', 1)[0]}.{secrets.token_hex(4)}"
            file = self.folder / self._part(self._parts + 1)
            try:
                self._opened = self.disk.create(file)
            except FileExistsError:
                if not left:
                    raise
                self._parts += bool(self._parts)
                continue
            self._parts += 1
            self._size = 0
            claim(self._opened, wait=True)
            return file
        raise AssertionError("the last try raises")

    def _part(self, number: int) -> str:
        return f"{self._name}.{number:03}.jsonl"

    def _header(self, before: str | None) -> dict[str, Any]:
        started = {"continues": before} if before else {}
        here = {"user": _user(), "machine": platform.node(), "pid": os.getpid()}
        return {"format": 1, "prev": self._last, **started, **here, **self._about}

    def _leave(self) -> None:
        """Let go of the file, and of what may have been written of a line."""
        opened, self._opened = self._opened, None
        if opened is None:
            return
        with suppress(OSError):
            self.disk.cut(opened, self._size)
        with suppress(OSError):
            os.close(opened)


def _dated(event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    utc = datetime.now(UTC).isoformat(timespec="milliseconds")
    told = {name: plainly.field(value) for name, value in fields.items()}
    return {"utc": utc, "monotonic": round(time.monotonic(), 6), "event": event, **told}


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as in some containers
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"
