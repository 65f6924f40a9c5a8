"""Reads audit logs: verifies the chain, finds calls without an end, ends logs of dead processes.

A file is read as a stream, line by line, and is never in memory as a whole. Any thread.
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

from dcc_bridge import private_files
from dcc_bridge.audit.log import CLOSED, OPENED, START, Disk, chain, line_hash

log = logging.getLogger(__name__)

RECOVERED: Final = "recovered"  # the event of the last line of one that died, written later
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
_HASH: Final = slice(9, 73)  # where a line has its hash
_TAIL_BYTES: Final = 65_536
_MOST_TORN: Final = 200


class BrokenChain(Exception):
    """A line is not what was written."""

    def __init__(self, number: int, why: str, torn: bytes = b"") -> None:
        super().__init__(f"line {number}: {why}")
        self.number = number  # which line of its file, from 1
        self.why = why  # what is wrong with it
        self.torn = torn  # the bytes of a last line without its end, as a crash leaves it


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A verified line."""

    hash: str  # its own
    fields: dict[str, Any]

    @property
    def event(self) -> str:
        """What happened."""
        return str(self.fields.get("event"))


@dataclass
class AuditFile:
    """A log as it was read."""

    file: Path
    count: int = 0  # how many lines hang together
    last: AuditLine | None = None  # the last of them
    unfinished: list[AuditLine] = field(default_factory=list)  # granted or begun, and no end
    trouble: BrokenChain | None = None  # where the chain breaks first, or None

    @property
    def ending(self) -> str | None:
        """The end mark, or None: it is still written, its process died, or its tail was cut."""
        event = self.last.event if self.last else None
        return event if event in (CLOSED, RECOVERED) else None

    def lines(self, start: int = 0) -> Iterator[AuditLine]:
        """Read the lines as far as they hang together; behind a `start`, BrokenChain says so."""
        try:
            yield from follow(self.file, start)
        except BrokenChain as broken:
            if start and not broken.torn:
                raise


def read(file: Path) -> AuditFile:
    """Verify a log."""
    result, open_calls = AuditFile(file), dict[str, AuditLine]()
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
    """Read the lines of a log and verify each; BrokenChain at the first one that is not right.

    Behind a `start`, the first whole line is what the next one is verified against.
    """
    last_hash, first, number = START, 1, 0
    with file.open("rb") as stream:
        if start:
            stream.seek(start)
            stream.readline()
            last_hash, first = stream.readline()[_HASH].decode(errors="replace"), 2
        for number, text in enumerate(stream, first):
            line = _line(text, number, last_hash)
            last_hash = line.hash
            yield line
    if not (number or start):
        raise BrokenChain(1, "the file is empty.")


def logs(folder: Path) -> list[Path]:
    """List the logs in a folder, the oldest first. Links are none."""
    return sorted(it for it in folder.glob("*.jsonl") if it.is_file() and not it.is_symlink())


def is_written(file: Path) -> bool:
    """Return whether a process may still write a log."""
    with file.open("rb") as stream:
        return not private_files.claim(stream.fileno())


def recover(folder: Path) -> int:
    """Write an end mark to the logs of processes that died; gives how many calls had no end.

    The mark names these calls. A process holds a lock on its log that the system releases when it
    dies, so a log is never taken for ended while somebody writes it. Where there are no such locks
    (some network folders) no end mark is added; ``dcc-bridge audit verify`` finds the same.
    """
    if not folder.is_dir():
        return 0
    return sum(map(_recover, logs(folder)))


def _line(text: bytes, number: int, last_hash: str) -> AuditLine:
    if not text.endswith(b"\n"):
        why = "it is incomplete: its process died while writing it, or somebody changed it."
        raise BrokenChain(number, why, torn=text)
    if (match := _LINE.fullmatch(text)) is None:
        raise BrokenChain(number, "it is not a line of an audit log.")
    own_hash, rest = match[1].decode(), match[2]
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
    call = str(line.fields.get("call"))
    is_granted = line.event in ("granted", "unasked") and line.fields.get("client")
    if line.event == "begin" or is_granted:
        open_calls[call] = line
    elif line.event in ENDINGS:
        open_calls.pop(call, None)


def _recover(file: Path) -> int:
    try:
        with open(private_files.reopen(file), "rb") as stream:
            descriptor = stream.fileno()
            may_end = _lacks_end(descriptor) and private_files.claim(descriptor)
            return _end(read(file), descriptor) if may_end else 0
    except OSError as error:
        log.warning("the audit log %s cannot be looked at: %s", file, error)
        return 0


def _end(audit_file: AuditFile, descriptor: int) -> int:
    """Append the end mark. Nobody else writes the file now."""
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
        call, skill = line.fields.get("call"), line.fields.get("skill")
        log.warning("call %s: %s had begun when its host died (%s)", call, skill, audit_file.file)
    return len(audit_file.unfinished)


def _end_mark(audit_file: AuditFile, torn: bytes) -> bytes:
    """Make the end mark, with a first line before it where the file never got one."""
    names = ("call", "skill", "event", "n")
    calls = [{name: line.fields.get(name) for name in names} for line in audit_file.unfinished]
    mark = {"event": RECOVERED, "by_pid": os.getpid(), "unfinished": calls}
    mark |= {"torn": torn[:_MOST_TORN].decode("ascii", "replace")} if torn else {}
    opening = {"event": OPENED, "format": 1, "prev": START}
    lines: list[dict[str, Any]] = [mark] if audit_file.last else [opening, mark]
    utc = datetime.now(UTC).isoformat(timespec="milliseconds")
    last_hash = audit_file.last.hash if audit_file.last else START
    return chain(({"utc": utc, **line} for line in lines), last_hash, audit_file.count + 1)[0]


def _lacks_end(descriptor: int) -> bool:
    """Whether the last line is no end mark: most logs have one, and need not be read."""
    os.lseek(descriptor, max(0, os.fstat(descriptor).st_size - _TAIL_BYTES), os.SEEK_SET)
    tail = os.read(descriptor, _TAIL_BYTES)  # not `pread`, which Windows lacks
    last = tail.rpartition(b"\n")[0].rpartition(b"\n")[2]
    return not any(b'"event":"%s"' % mark.encode() in last for mark in (CLOSED, RECOVERED))
