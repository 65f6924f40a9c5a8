"""Tasks whose host has ended, as the audit logs have them. Worker."""

from __future__ import annotations

import re
import time
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio
import mcp_types as types

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.audit.reader import AuditLine
from dcc_bridge.audit.trail import became_task, file_facts
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.errors import NotRecorded
from dcc_bridge.threads.background import run_in_thread
from dcc_bridge.threads.flows import wrap_future

_ID: Final = re.compile(r"[a-z0-9-]+\.[0-9a-f]{32}")
_MEMORY_S: Final = 86_400.0
"""Seconds after the end of a host for which its tasks are known."""
_FILE_FACTS: Final = ("file", "file_bytes", "file_changed")


class TaskRecords:
    """The tasks of hosts that have ended, as their audit logs tell."""

    def __init__(self, log: AuditLog, recovered: Future[int]) -> None:
        """Prepare to read; nothing is read before it is asked for.

        Args:
            log: The audit log of this process; the logs of other processes are beside it.
            recovered: Done once the logs of dead processes have their end mark.
        """
        self._log = log
        self._recovered = recovered
        self._lock = anyio.Lock()
        # Of each log the lines that tell how its tasks ended, by the digests of the tasks' ids.
        self._ended: dict[Path, dict[str, AuditLine]] = {}

    def note(self, call: Call, task_id: str) -> None:
        """Write down that a call goes on as a task. The call does so even if that fails."""
        with suppress(NotRecorded):
            self._log(became_task(call, _digest(task_id)))

    async def find(self, task_id: str, label: str) -> dict[str, Any] | None:
        """Return how a task of a host that is gone ended, as ``tasks/get`` does.

        Args:
            task_id: The task's id.
            label: The label of the client that asks for it.

        Returns:
            The response; None for a task that is not on record, or another client's.
        """
        if not _ID.fullmatch(task_id):
            return None
        async with self._lock:
            await wrap_future(self._recovered)
            await wrap_future(run_in_thread(self._read, "audit"))
        for lines in self._ended.values():
            line = lines.get(_digest(task_id))
            if line is not None and line.fields.get("client") == label:
                return {"taskId": task_id, "status": "failed", **line.fields["details"]}
        return None

    def _read(self) -> None:
        """Read the logs of the last day that are complete and were not read yet."""
        for file in reader.logs(self._log.folder):
            with suppress(OSError):
                until = file.stat().st_mtime + _MEMORY_S
                if file not in self._ended and until > time.time() and not reader.is_written(file):
                    self._ended[file] = _endings(file, until)


def _endings(file: Path, until: float) -> dict[str, AuditLine]:
    """Return the lines of a log's tasks by the digests of their ids, each with its "details".

    Args:
        file: The log.
        until: When the tasks are forgotten, in seconds since the epoch.
    """
    tasks = dict[str, AuditLine]()
    begins = dict[str, AuditLine]()
    ends = dict[str, AuditLine]()
    with suppress(reader.BrokenChain):  # a process that was killed may have left half a line
        for line in reader.follow(file):
            call = str(line.fields.get("call"))
            if line.event == "task":
                tasks[call] = line
            elif line.event == "begin":
                begins[call] = line
            elif line.event in reader.ENDINGS:
                ends[call] = line
    now = iso_time(datetime.now(UTC))  # later than all that was seen of it
    for call, line in tasks.items():
        created = datetime.fromisoformat(str(line.fields["utc"]))
        sentence = _sentence(str(line.fields["skill"]), begins.get(call), ends.get(call))
        line.fields["details"] = {
            "createdAt": iso_time(created),
            "lastUpdatedAt": now,
            "ttlMs": int(1000 * (until - created.timestamp())),
            "error": {"code": types.INTERNAL_ERROR, "message": safe_whole(sentence)},
        }
    return {str(line.fields["task"]): line for line in tasks.values()}


def _sentence(skill: str, begin: AuditLine | None, end: AuditLine | None) -> str:
    """Return how a call ended, as a sentence, by the lines on record of its begin and end."""
    if end is not None and end.fields.get("error"):
        return str(end.fields["error"])
    if end is None and begin is not None:
        return (
            f"The host ended in the middle of {skill}. Whether it was done, in part or as a whole, "
            "is not known: look at the scene before you try again."
        )
    lost = f"The host has ended, and the result of {skill} is lost"
    if end is None or not end.fields.get("changed"):
        return f"{lost}, which changed nothing. Call it again."
    done = "was done"
    if begin is not None:
        done += _unsaved(begin)
    return f"{lost}, which {done}. Look at the scene before you try again."


def _unsaved(begin: AuditLine) -> str:
    """Return words that an edit was not saved, as far as its scene's file shows; else ""."""
    name = begin.fields.get("file")
    if name is None:
        return " there, and was not saved then: the scene had no file"
    now = file_facts(Path(str(name)))
    before = {key: begin.fields[key] for key in _FILE_FACTS if key in begin.fields}
    if now != before:
        return ""  # the file was written since, by that host or by another program
    return f" there, and was not saved in {name}"


def _digest(task_id: str) -> str:
    return sha256(task_id.encode()).hexdigest()


def iso_time(when: datetime) -> str:
    """Return a time in UTC as it is written on the wire, to the millisecond."""
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
