"""The audit log of one process: append-only, hash-chained JSON lines. Any thread.

A process writes one file. The first event makes the file, so a bridge that only reads leaves none.

- The events of a call are one write: all of them are in the file, or none is.
- `durable` events are on the disk when the call returns. Other events are with the operating
  system then: they outlive the process, and not a power cut.
- Hidden arguments and living secrets are taken out of every event, and here only.
- After a write that fails, the file is cut to its size before. The caller gets `NotRecorded`, and
  must not go on. While the file cannot be cut either, every further event is refused.

Each line is a JSON object. Its first member is the SHA-256 of the previous line's hash and of the
rest of the line, so the chain breaks where somebody changes a byte, removes a line or inserts one.
The chain cannot show that lines were removed from the very end (the end mark is missing then, as
after a crash), that a whole file was deleted, or that the user wrote a new chain. Against these,
keep the last line's hash, which ``dcc-bridge audit verify`` prints, elsewhere.
"""

from __future__ import annotations

import getpass
import json
import logging
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol

from dcc_bridge import file_locks, held_files, private_files
from dcc_bridge.audit import redact
from dcc_bridge.errors import NotRecorded

log = logging.getLogger(__name__)

START: Final = "0" * 64
"""The hash before the first line."""
OPENED: Final = "opened"
"""The event of the first line, which has the facts that all lines have in common."""
CLOSED: Final = "closed"
"""The event of the last line of a process that ended in order."""
# The fields that are never redacted: a client must not hide behind a hidden argument "cursor".
_IDENTITY: Final = frozenset(
    {
        "call",
        "skill",
        "client",
        "by",
        "by_call",
        "status",
        "question",
        "digest",
        "arguments_digest",
        "objects_digest",
        "grant",
    }
)
_SYNC: Final = getattr(os, "fdatasync", os.fsync)

Event = tuple[str, Mapping[str, Any]]
"""An event: its name, and its fields, whose values need not be JSON."""


class Auditor(Protocol):
    """Writes events to the audit log."""

    def __call__(self, *events: Event, durable: bool = False) -> None:
        """Write all events, or none.

        Args:
            events: The events.
            durable: Whether the events have to be on the disk before this returns.

        Raises:
            NotRecorded: The events cannot be written.
        """


def nowhere(*events: Event, durable: bool = False) -> None:
    """Write nothing: an `Auditor` for tests of a part by itself."""


def log_folder(chosen: Path | None = None) -> Path:
    """Return the folder of the audit logs, which need not exist yet.

    Args:
        chosen: Another folder than the usual one of this system.
    """
    import platformdirs  # 4 ms that a skill's own import need not pay

    return chosen or platformdirs.user_state_path("dcc_bridge") / "audit"


def record_events(
    about: Mapping[str, Any], events: Sequence[Event], folder: Path | None = None
) -> None:
    """Write a person's decisions outside of any bridge into a new log. Any thread.

    The events are on the disk before this returns.

    Args:
        about: The fields that all events have in common, such as the host.
        events: The events.
        folder: The folder of the logs; None for the usual one of this system.

    Raises:
        NotRecorded: The events cannot be written, so the person's decision must not be carried out.
    """
    log = AuditLog(log_folder(folder), about)
    try:
        log(*events, durable=True)
    finally:
        log.close()


class Disk:
    """The file operations of the log; a test puts a failing one in its place."""

    def create(self, file: Path) -> int:
        """Make a new file, in a folder that only its user can reach; return its descriptor."""
        private_files.folder(file.parent)
        return private_files.create(file)

    def write(self, descriptor: int, data: bytes) -> None:
        """Append all of some data."""
        while data:
            data = data[os.write(descriptor, data) :]

    def sync(self, descriptor: int) -> None:
        """Wait until all that was written would outlive a power cut."""
        _SYNC(descriptor)

    def cut(self, descriptor: int, size: int) -> None:
        """Truncate the file."""
        os.ftruncate(descriptor, size)


class AuditLog:
    """The audit log of one process. It is an `Auditor`.

    Attributes:
        disk: The file operations.
        file: The file that is written; None before the first event.
        folder: The folder of the file, made when it is needed.
    """

    def __init__(self, folder: Path, about: Mapping[str, Any] | None = None) -> None:
        """Prepare the log; no file is made yet.

        Args:
            folder: The folder of the file.
            about: The fields that all events have in common, such as the host and its version.
        """
        self.folder = folder
        self.disk = Disk()
        self.file: Path | None = None
        self._about = dict(about or {})
        self._lock = threading.Lock()
        self._name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
        self._descriptor: int | None = None
        self._size = 0
        self._must_cut = False
        self._last_hash = START
        self._next_number = 1
        self._is_closed = False

    def __call__(self, *events: Event, durable: bool = False) -> None:
        """Write events, as an `Auditor` does; a closed log refuses them."""
        lines = [_line_fields(event, fields) for event, fields in events]
        with self._lock:
            if self._is_closed:
                raise NotRecorded("the bridge was stopped.")
            try:
                if self._descriptor is None:
                    self._create()
                self._append(lines, durable)
            except OSError as error:
                raise NotRecorded(f"{error.strerror or error}.") from error

    def close(self) -> None:
        """Write the end mark, and nothing after it."""
        with self._lock:
            self._is_closed = True
            if self._descriptor is None:
                return
            try:
                self._append([_line_fields(CLOSED, {})], durable=True)
            except OSError:
                log.warning("the audit log could not be closed", exc_info=True)
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    # ---- under the lock

    def _append(self, lines: Sequence[Mapping[str, Any]], durable: bool) -> None:
        assert self._descriptor is not None
        if self._must_cut:
            self._cut()
        data, last_hash = chain(lines, self._last_hash, self._next_number)
        try:
            self.disk.write(self._descriptor, data)
            if durable:
                self.disk.sync(self._descriptor)
        except OSError:
            self._must_cut = True
            with suppress(OSError):
                self._cut()
            raise
        self._size += len(data)
        self._last_hash = last_hash
        self._next_number += len(lines)

    def _cut(self) -> None:
        assert self._descriptor is not None
        self.disk.cut(self._descriptor, self._size)
        self._must_cut = False

    def _create(self) -> None:
        # The name is random: where it is taken, the next event tries another one.
        file = self.folder / f"{self._name}.{secrets.token_hex(4)}.jsonl"
        self._descriptor = self.disk.create(file)
        file_locks.claim(self._descriptor, wait=True)
        try:
            # Before the claim, another process that starts may have ended the file, as that of a
            # process that died.
            if os.fstat(self._descriptor).st_size:
                raise BlockingIOError("the new file was ended by another process; try again")
            process = {"user": _user(), "machine": platform.node(), "pid": os.getpid()}
            header = {"format": 1, "prev": START, **process, **self._about}
            self._append([_line_fields(OPENED, header)], durable=True)
        except OSError:
            os.close(self._descriptor)
            self._descriptor = None
            self._must_cut = False
            with suppress(OSError):
                held_files.delete(file)
            raise
        self.file = file


def chain(lines: Iterable[Mapping[str, Any]], last_hash: str, number: int) -> tuple[bytes, str]:
    """Serialize lines that follow each other.

    Args:
        lines: The fields of each line.
        last_hash: The hash of the line before the first.
        number: The number of the first line in its file, from 1.

    Returns:
        The lines as they stand in the file, and the hash of the last one.
    """
    data = bytearray()
    for offset, fields in enumerate(lines):
        line = {"n": number + offset, **fields}
        rest = json.dumps(line, separators=(",", ":"), allow_nan=False)[1:].encode()
        last_hash = line_hash(last_hash, rest)
        data += b'{"hash":"%s",%s\n' % (last_hash.encode(), rest)
    return bytes(data), last_hash


def line_hash(last_hash: str, rest: bytes) -> str:
    """Return the hash of a line, made of the hash before it and the bytes behind its own."""
    return sha256(last_hash.encode() + rest).hexdigest()


def _line_fields(event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an event's line: with the time, and without hidden texts."""
    line: dict[str, Any] = {
        "utc": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "monotonic": round(time.monotonic(), 6),
        "event": event,
    }
    hidden = redact.hidden_texts(fields.get("call"))
    for name, value in fields.items():
        if name in _IDENTITY:
            line[name] = redact.as_json(value)
        else:
            line[name] = redact.as_json(value, hidden)
    return line


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as in some containers
        if hasattr(os, "getuid"):
            return str(os.getuid())
        return "unknown"
