"""Reads audit logs: verifies the chain, finds calls without an end, ends logs of dead processes.

`read` verifies a whole log, `follow` yields its lines, and `recover` ends the logs in a folder. A
file is read as a stream, line by line, and is never in memory as a whole. Any thread.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dcc_bridge import file_locks, private_files
from dcc_bridge.audit.log import CLOSED, OPENED, START, Disk, chain, line_hash

log = logging.getLogger(__name__)

RECOVERED: Final = "recovered"
"""The event of the last line of a process that died; another process writes this line."""
ENDINGS: Final = (
    "end",
    "reverted",
    "rolled_back",
    "failed",
    "no_consent",
    "partly_applied",
    "rejected",
)
_LINE: Final = re.compile(rb'\{"hash":"([0-9a-f]{64})",(.+)\n')
_HASH: Final = slice(9, 73)
"""The bytes of a line that are its hash."""
_TAIL_BYTES: Final = 65_536
"""Bytes at the end of a file in which the last line is looked for."""
_MAX_TORN_BYTES: Final = 200
"""Bytes of an incomplete line that the end mark quotes."""


class BrokenChain(Exception):
    """A line of a log is not as our process wrote it.

    Attributes:
        number: The number of the line in its file, from 1.
        torn: The bytes of an incomplete last line, as a crash leaves it; else b"".
        why: What is wrong with the line.
    """

    def __init__(self, number: int, why: str, torn: bytes = b"") -> None:
        super().__init__(f"line {number}: {why}")
        self.number = number
        self.why = why
        self.torn = torn


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A verified line.

    Attributes:
        hash: The line's own hash.
        fields: The other members of the JSON object.
    """

    hash: str
    fields: dict[str, Any]

    @property
    def event(self) -> str:
        """The name of the event."""
        return str(self.fields.get("event"))


@dataclass
class AuditFile:
    """A log as it was read.

    Attributes:
        file: The file.
        count: The number of lines up to the first break of the chain.
        last: The last of these lines.
        unfinished: The lines of calls that were granted or begun, and have no end.
        trouble: The first break of the chain; None if there is none, or none was met yet.
    """

    file: Path
    count: int = 0
    last: AuditLine | None = None
    unfinished: list[AuditLine] = field(default_factory=list)
    trouble: BrokenChain | None = None

    @property
    def ending(self) -> str | None:
        """The end mark; None if the log is still written, its process died, or its end was cut."""
        if self.last is None or self.last.event not in (CLOSED, RECOVERED):
            return None
        return self.last.event

    def lines(self, start: int = 0) -> Iterator[AuditLine]:
        """Read the lines up to the first break of the chain, which becomes the `trouble`.

        Args:
            start: The position in bytes after which to begin. The lines before are not verified.

        Raises:
            BrokenChain: The chain breaks behind a `start`, other than in an incomplete last line.
        """
        try:
            yield from follow(self.file, start)
        except BrokenChain as broken:
            if start and not broken.torn:
                raise
            self.trouble = broken


def read(file: Path) -> AuditFile:
    """Read a log and verify its chain."""
    result = AuditFile(file)
    open_calls: dict[str, AuditLine] = {}
    try:
        for line in follow(file):
            result.count += 1
            result.last = line
            _note_call(open_calls, line)
    except BrokenChain as broken:
        result.trouble = broken
    result.unfinished = list(open_calls.values())
    return result


def follow(file: Path, start: int = 0) -> Iterator[AuditLine]:
    """Read the lines of a log, and verify each.

    Args:
        file: The log.
        start: The position in bytes after which to begin. The first whole line there is not
            yielded: its hash verifies the next line.

    Raises:
        BrokenChain: A line is not as our process wrote it, or the file is empty.
    """
    last_hash = START
    first_number = 1
    is_empty = True
    with file.open("rb") as stream:
        if start:
            is_empty = False
            stream.seek(start)
            stream.readline()
            last_hash = stream.readline()[_HASH].decode(errors="replace")
            first_number = 2  # any but 1, as the first line of a file has a form of its own
        for number, text in enumerate(stream, first_number):
            is_empty = False
            line = _verified_line(text, number, last_hash)
            last_hash = line.hash
            yield line
    if is_empty:
        raise BrokenChain(1, "the file is empty.")


def logs(folder: Path) -> list[Path]:
    """List the logs in a folder, the oldest first, without symbolic links."""
    files = []
    for path in folder.glob("*.jsonl"):
        if path.is_file() and not path.is_symlink():
            files.append(path)
    return sorted(files)


def is_written(file: Path) -> bool:
    """Return whether a process may still write a log."""
    with file.open("rb") as stream:
        return not file_locks.claim(stream.fileno(), shared=True)


def recover(folder: Path) -> int:
    """Write an end mark, with the calls that have no end, to the logs of processes that died.

    A process holds a lock on its log, which the system releases when the process dies. So no log
    gets an end mark while a process writes it. On network folders without such locks no end mark is
    written; ``dcc-bridge audit verify`` finds these calls too.

    Returns:
        How many calls had no end.
    """
    if not folder.is_dir():
        return 0
    return sum(_recover(file) for file in logs(folder))


def _verified_line(text: bytes, number: int, last_hash: str) -> AuditLine:
    if not text.endswith(b"\n"):
        why = "it is incomplete: its process died while writing it, or somebody changed it."
        raise BrokenChain(number, why, torn=text)
    match = _LINE.fullmatch(text)
    if match is None:
        raise BrokenChain(number, "it is not a line of an audit log.")
    own_hash = match[1].decode()
    rest = match[2]
    try:
        fields = json.loads(b"{" + rest)
    except (ValueError, RecursionError):
        raise BrokenChain(number, "it is no longer JSON.") from None
    if number == 1 and (fields.get("event") != OPENED or fields.get("prev") != START):
        raise BrokenChain(number, "the lines before it are missing.")
    if line_hash(last_hash, rest) != own_hash:
        raise BrokenChain(number, "it does not match the line before it: one of them was changed.")
    return AuditLine(own_hash, fields)


def _note_call(open_calls: dict[str, AuditLine], line: AuditLine) -> None:
    """Add the call that a line begins to the open calls, or remove the call that it ends."""
    call = str(line.fields.get("call"))
    is_granted = line.event in ("granted", "unasked") and line.fields.get("client")
    if line.event == "begin" or is_granted:
        open_calls[call] = line
    elif line.event in ENDINGS:
        open_calls.pop(call, None)


def _recover(file: Path) -> int:
    """Write the end mark of a log if its process died; return how many calls had no end."""
    try:
        with open(private_files.reopen(file), "rb") as stream:
            descriptor = stream.fileno()
            if not _lacks_end(descriptor) or not file_locks.claim(descriptor):
                return 0
            return _end(read(file), descriptor)
    except OSError as error:
        log.warning("the audit log %s cannot be looked at: %s", file, error)
        return 0


def _end(audit_file: AuditFile, descriptor: int) -> int:
    """Append the end mark to a file that no process writes; return how many calls had no end."""
    trouble = audit_file.trouble
    if audit_file.ending is not None:
        return 0
    if trouble is not None and not (trouble.torn or os.fstat(descriptor).st_size == 0):
        log.warning("the audit log %s is broken at %s", audit_file.file, trouble)
        return 0
    torn = trouble.torn if trouble is not None else b""
    disk = Disk()
    disk.cut(descriptor, os.fstat(descriptor).st_size - len(torn))
    disk.write(descriptor, _end_mark(audit_file, torn))
    disk.sync(descriptor)
    for line in audit_file.unfinished:
        call = line.fields.get("call")
        skill = line.fields.get("skill")
        log.warning("call %s: %s had begun when its host died (%s)", call, skill, audit_file.file)
    return len(audit_file.unfinished)


def _end_mark(audit_file: AuditFile, torn: bytes) -> bytes:
    """Return the end mark, with a first line before it where the file never got one."""
    calls = []
    for line in audit_file.unfinished:
        fields = {name: line.fields.get(name) for name in ("call", "skill", "event", "n")}
        calls.append(fields)
    utc = datetime.now(UTC).isoformat(timespec="milliseconds")
    mark: dict[str, Any] = {
        "utc": utc,
        "event": RECOVERED,
        "by_pid": os.getpid(),
        "unfinished": calls,
    }
    if torn:
        mark["torn"] = torn[:_MAX_TORN_BYTES].decode("ascii", "replace")
    lines = [mark]
    last_hash = START
    if audit_file.last is not None:
        last_hash = audit_file.last.hash
    else:
        lines = [{"utc": utc, "event": OPENED, "format": 1, "prev": START}, mark]
    data, _ = chain(lines, last_hash, audit_file.count + 1)
    return data


def _lacks_end(descriptor: int) -> bool:
    """Return whether the last line is no end mark: most logs have one, and need not be read."""
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, max(0, size - _TAIL_BYTES), os.SEEK_SET)
    tail = os.read(descriptor, _TAIL_BYTES)  # not `pread`, which Windows lacks
    whole_lines = tail.rpartition(b"\n")[0]
    last_line = whole_lines.rpartition(b"\n")[2]
    return not any(b'"event":"%s"' % mark.encode() in last_line for mark in (CLOSED, RECOVERED))
