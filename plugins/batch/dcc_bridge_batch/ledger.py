"""The ledger: the history of each scene's states. Any thread, one writer per file.

Each task has one file, and each line is on the disk before the next step. The package's docstring
lists the states and their meaning.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from dcc_bridge.spi.batch import file_locks

from . import files
from .plan import Plan

State = Literal[
    "editing", "proved", "done", "left", "failed", "committed", "rolling_back", "rolled_back"
]
Entry = dict[str, Any]  # "n", "state", "utc", and the fields that belong to the state
# By the attempt's word (the entry's "copy"): the digest of the edited copy, once it was proved.
Attempts = dict[str, str | None]
COMMON_FIELDS: Final = ("n", "state", "utc")  # of each entry
FINAL_STATES: Final = ("done", "left", "committed", "rolling_back")  # no run touches the scene
_ATTEMPT_STATES: Final = ("editing", "proved", "done")  # entries in these states have a "copy"
_FOLDER: Final = "ledger"
_FAILURES: Final = "failures"  # a folder with an empty file for each scene that failed in a run


class LedgerError(OSError):
    """The ledger of a plan cannot be written."""


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerError(error.errno, error.strerror, error.filename) from error


def folder(plan: Plan) -> Path:
    """Return the folder of a plan's ledger."""
    return plan.folder / _FOLDER


def file_of(plan: Plan, task: int) -> Path:
    """Return the file of a task."""
    return folder(plan) / f"{task:06}.jsonl"


def is_begun(plan: Plan) -> bool:
    """Return whether any task of a plan was ever started in its folder."""
    return any(folder(plan).glob("*.jsonl"))


class TaskLedger:
    """The ledger file of one task, open for writing."""

    def __init__(self, plan: Plan, task: int) -> None:
        """Open the file, and cut off an incomplete last line that a crash has left.

        If the file system has locks, this waits for the end of another process that writes the
        file: a task of a killed run may still be at its last scene.

        Raises:
            LedgerError: The file cannot be opened or written.
        """
        with _writing():
            self._open(plan, task)

    def _open(self, plan: Plan, task: int) -> None:
        folder(plan).mkdir(exist_ok=True)
        self._failures = folder(plan) / _FAILURES
        self._failures.mkdir(exist_ok=True)
        file = file_of(plan, task)
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        file_locks.claim(self._descriptor, wait=True)
        with file.open("rb") as stream:
            content = stream.read()
        end = content.rfind(b"\n") + 1  # of the last whole line
        if end < len(content):
            os.ftruncate(self._descriptor, end)
        os.lseek(self._descriptor, end, os.SEEK_SET)
        files.sync_folder(file.parent)
        self._end = end
        self._is_torn = False
        self._last: dict[int, Entry] = {}
        self._attempts: dict[int, Attempts] = {}
        for entry in _whole_lines(content):
            self._store(entry)

    def _store(self, entry: Entry) -> None:
        number = entry["n"]
        self._last[number] = entry
        if entry["state"] in _ATTEMPT_STATES:
            attempts = self._attempts.setdefault(number, {})
            attempts[entry.get("copy", "")] = entry.get("sha256")

    def __enter__(self) -> Self:
        """Return the ledger itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def last(self, number: int) -> Entry | None:
        """Return the last entry of a scene, if it has one."""
        return self._last.get(number)

    def attempts(self, number: int) -> Attempts:
        """Return all attempts at a scene in the ledger, the oldest first."""
        return self._attempts.get(number, {})

    def write(self, number: int, state: State, **facts: Any) -> None:
        """Write an entry, and wait until it is on the disk.

        Args:
            number: The number of the scene.
            state: The new state of the scene.
            **facts: The fields that belong to the state.

        Raises:
            LedgerError: The entry could not be written. The caller must not continue.
        """
        utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"n": number, "state": state, "utc": utc, **facts}
        data = files.canonical(entry) + b"\n"
        with _writing():
            if self._is_torn:
                raise OSError(errno.EIO, "the earlier writes could not be undone")
            self._append(data)
        self._end += len(data)
        self._store(entry)
        if state == "failed":
            with suppress(OSError):  # the empty file only makes counting faster
                marker = self._failures / f"{facts['run']}.{number}"
                marker.touch()

    def _append(self, data: bytes) -> None:
        try:
            rest = data
            while rest:
                written = os.write(self._descriptor, rest)
                rest = rest[written:]
            os.fsync(self._descriptor)
        except OSError:
            self._is_torn = True  # until the incomplete line is cut off
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
                os.lseek(self._descriptor, self._end, os.SEEK_SET)
                self._is_torn = False
            raise


def failures(plan: Plan, run: str) -> int:
    """Count the scenes that failed in a run of that name."""
    try:
        names = os.listdir(folder(plan) / _FAILURES)
    except FileNotFoundError:
        return 0
    return sum(name.startswith(f"{run}.") for name in names)


def has_too_many_failures(plan: Plan, run: str) -> bool:
    """Return whether so many scenes have failed in a run that the run pauses."""
    part = plan.request.failures
    maximum = part * plan.count
    if part:
        maximum = max(1.0, maximum)  # even of few scenes, one may fail
    return failures(plan, run) > maximum


def entries(plan: Plan, task: int) -> dict[int, Entry]:
    """Read the last entry of each scene of a task, by the scene's number."""
    try:
        content = file_of(plan, task).read_bytes()
    except FileNotFoundError:
        return {}
    return {entry["n"]: entry for entry in _whole_lines(content)}


def all_entries(plan: Plan) -> Iterator[tuple[int, Entry | None]]:
    """Yield each scene's number with its last entry, in the order of the list."""
    for task in range(plan.tasks):
        last = entries(plan, task)
        for number in plan.numbers(task):
            yield number, last.get(number)


def _whole_lines(content: bytes) -> Iterator[Entry]:
    """Yield the entries of a file, without an incomplete last line."""
    end = content.rfind(b"\n") + 1
    for line in content[:end].splitlines():
        yield json.loads(line)
