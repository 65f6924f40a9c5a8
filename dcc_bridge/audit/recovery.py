"""Books whose process died: an end mark that says which calls it left without an end. Any thread.

A process holds its file by a lock that the system takes away when it dies, so a book is never
taken for ended while somebody writes it. Where there are no such locks (Windows, some network
folders) no end mark is added; ``dcc-bridge audit verify`` tells the same.
"""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dcc_bridge import private
from dcc_bridge.audit import chain, reading
from dcc_bridge.audit.book import CLOSED
from dcc_bridge.audit.disk import Disk, claim
from dcc_bridge.audit.reading import RECOVERED, Told

log = logging.getLogger(__name__)
_TAIL: Final = 65_536
_OF_A_LINE: Final = ("n", "utc", "monotonic", "continues")
_MOST_TORN: Final = 200


def recover(folder: Path) -> int:
    """End the books of processes that died.

    Returns:
        How many calls they left without an end.
    """
    if os.name != "posix" or not folder.is_dir():
        return 0
    return sum(_recover(first) for first in reading.books(folder))


def _recover(first: Path) -> int:
    file = reading.parts(first)[-1]
    try:
        opened = private.reopen(file)
        try:
            may_end = _lacks_end(opened) and claim(opened)
            return _end(reading.read(file), opened) if may_end else 0
        finally:
            os.close(opened)
    except OSError as error:
        log.warning("the audit record %s cannot be looked at: %s", file, error)
        return 0


def _end(found: Told, opened: int) -> int:
    """Append the end mark. Nobody else writes the file now."""
    part, trouble = found.parts[-1], found.trouble
    if found.ending in (CLOSED, RECOVERED):
        return 0
    may_be_torn = part.broken is None and (part.rest or not part.lines)
    if trouble is not None and not (may_be_torn and trouble[0] == part.file):
        log.warning("the audit record %s is broken at line %d: %s", *trouble)
        return 0
    disk, left = Disk(), found.unfinished
    disk.cut(opened, os.fstat(opened).st_size - len(part.rest))
    disk.write(opened, _mark(found))
    disk.sync(opened)
    for line in left:
        call, skill = line.fields.get("call"), line.fields.get("skill")
        log.warning("call %s: %s had begun when its host died (%s)", call, skill, part.file)
    return len(left)


def _mark(found: Told) -> bytes:
    """Make the end mark, with a first line before it where the file never got one."""
    lines, part = list(found.lines()), found.parts[-1]
    last, number = (lines[-1].hash, lines[-1].fields["n"]) if lines else (chain.START, 0)
    left = [line.fields for line in found.unfinished]
    calls = [{name: one.get(name) for name in ("call", "skill", "event", "n")} for one in left]
    torn = part.rest[:_MOST_TORN].decode("ascii", "replace")
    mark = {"event": RECOVERED, "by_pid": os.getpid(), "unfinished": calls}
    told: list[dict[str, Any]] = [mark | ({"torn": torn} if torn else {})]
    if not part.lines:
        same = {name: value for name, value in found.header.items() if name not in _OF_A_LINE}
        told.insert(0, {**same, "event": chain.OPENED, "prev": last})
    data = b""
    utc = datetime.now(UTC).isoformat(timespec="milliseconds")
    for fields in chain.numbered(told, number + 1):
        sealed, last = chain.seal(last, {"utc": utc, **fields})
        data += sealed
    return data


def _lacks_end(opened: int) -> bool:
    """Whether the last line is no end mark: most books have one, and need not be read."""
    size = os.fstat(opened).st_size
    tail = os.pread(opened, _TAIL, max(0, size - _TAIL))
    last = tail.rpartition(b"\n")[0].rpartition(b"\n")[2]
    return not any(b'"event":"%s"' % mark.encode() in last for mark in (CLOSED, RECOVERED))
