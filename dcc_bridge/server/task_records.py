"""Finds in the audit logs how tasks of hosts that no longer run have ended. Worker."""

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
"""Seconds after the end of a host in which its tasks can be found."""
_FILE_FACTS: Final = ("file", "file_bytes", "file_changed")


class TaskRecords:
    """The tasks of hosts that have ended, read from their audit logs when first needed."""

    def __init__(self, log: AuditLog, recovered: Future[int]) -> None:
        """Prepare to read.

        Args:
            log: The audit log of this process; the logs of other processes are beside it.
            recovered: Done once the logs of dead processes have their end mark.
        """
        self._log = log
        self._recovered = recovered
        self._lock = anyio.Lock()
        # For each log: the lines of its tasks, by the digests of the tasks' ids.
        self._ended: dict[Path, dict[str, AuditLine]] = {}

    def note(self, call: Call, task_id: str) -> None:
        """Record that a call has become a task. The call continues even if that fails."""
        with suppress(NotRecorded):
            self._log(became_task(call, _digest(task_id)))

    async def find(self, task_id: str, label: str) -> dict[str, Any] | None:
        """Return the response to ``tasks/get`` for a task whose host has ended.

        Args:
            task_id: The id of the task.
            label: The label of the client that asks.

        Returns:
            The response; None if there is no record of the task, or it belongs to another client.
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
        """Read the logs of the last day that no process writes and that were not read yet."""
        for file in reader.logs(self._log.folder):
            with suppress(OSError):
                until = file.stat().st_mtime + _MEMORY_S
                if file not in self._ended and until > time.time() and not reader.is_written(file):
                    self._ended[file] = _endings(file, until)


def _endings(file: Path, until: float) -> dict[str, AuditLine]:
    """Return the lines of a log's tasks by the digests of their ids, with "details" added.

    Args:
        file: The log.
        until: The end of the tasks' time to live, in seconds since the epoch.
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
    now = iso_time(datetime.now(UTC))  # later than any time the client was sent
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
    """Return a sentence on how a call ended, by the log's lines of its begin and end."""
    if end is not None and end.fields.get("error"):
        return str(end.fields["error"])
    if end is None and begin is not None:
        return (
            f"The host ended in the middle of {skill}. Whether it was done, in part or as a whole, "
            "is not known: look at the scene before you try again."
        )
    lost = f"The host has ended, and the result of {skill} is lost."
    if end is None or not end.fields.get("changed"):
        return f"{lost} {skill} changed nothing. Call it again."
    unsaved = ""
    if begin is not None:
        unsaved = _unsaved(begin)
    return f"{lost} {skill} was done{unsaved}. Look at the scene before you try again."


def _unsaved(begin: AuditLine) -> str:
    """Return the words for an edit that was not saved, judged by the scene's file; else ""."""
    name = begin.fields.get("file")
    if name is None:
        return ", and was not saved: the scene had no file"
    now = file_facts(Path(str(name)))
    before = {key: begin.fields[key] for key in _FILE_FACTS if key in begin.fields}
    if now != before:
        return ""  # that host or another program has written the file since
    return f", and was not saved in {name}"


def _digest(task_id: str) -> str:
    return sha256(task_id.encode()).hexdigest()


def iso_time(when: datetime) -> str:
    """Return a UTC time in the format of the protocol, with milliseconds."""
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
