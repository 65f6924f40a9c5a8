"""The ledger of each scene: one file a task, flushed line by line. Any thread, one writer a file.

The states, and what each says of the files beside a scene, are in the package's own text.
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

from dcc_bridge.spi.batch import private_files

from . import files
from .plan import Plan

State = Literal[
    "editing", "proved", "done", "left", "failed", "committed", "rolling_back", "rolled_back"
]
Entry = dict[str, Any]  # "n", "state", "utc", and what belongs to the state
# The word in the names of each attempt's files, and the digest of its copy once that was proved.
Attempts = dict[str, str | None]
HEAD: Final = ("n", "state", "utc")  # what each entry has
FINAL: Final = ("done", "left", "committed", "rolling_back")  # no run touches it again
_ATTEMPT: Final = ("editing", "proved", "done")  # they name the attempt: "copy"
_FOLDER: Final = "ledger"
_FAILURES: Final = "failures"  # an empty file for each scene that failed in a run


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
    """Return whether a task of a plan was ever begun in its folder."""
    return any(folder(plan).glob("*.jsonl"))


class TaskLedger:
    """The file of one task, open to be written."""

    def __init__(self, plan: Plan, task: int) -> None:
        """Open it; what a crash left of a last line is cut off. LedgerError: it cannot be.

        A task of a run that was killed may be at its last scene still: that is waited for, where
        the file system has such locks.
        """
        with _writing():
            self._open(plan, task)

    def _open(self, plan: Plan, task: int) -> None:
        folder(plan).mkdir(exist_ok=True)
        self._failures = folder(plan) / _FAILURES
        self._failures.mkdir(exist_ok=True)
        file = file_of(plan, task)
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        private_files.claim(self._descriptor, wait=True)
        with file.open("rb") as stream:
            content = stream.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._descriptor, whole)
        os.lseek(self._descriptor, whole, os.SEEK_SET)
        files.sync_folder(file.parent)
        self._end = whole
        self._is_torn = False
        self._last: dict[int, Entry] = {}
        self._attempts: dict[int, Attempts] = {}
        for entry in _lines(content[:whole]):
            self._note(entry)

    def _note(self, entry: Entry) -> None:
        number = entry["n"]
        self._last[number] = entry
        if entry["state"] in _ATTEMPT:
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
        """Return the last entry of a scene; None for one that nothing was done to."""
        return self._last.get(number)

    def attempts(self, number: int) -> Attempts:
        """Return all attempts at a scene that were ever noted, the first one first."""
        return self._attempts.get(number, {})

    def write(self, number: int, state: State, **facts: Any) -> None:
        """Write an entry, and wait until it is on the disk.

        LedgerError: it is not, and the file is as it was; whoever writes must not go on.
        """
        utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"n": number, "state": state, "utc": utc, **facts}
        data = files.canonical(entry) + b"\n"
        with _writing():
            if self._is_torn:
                raise OSError(errno.EIO, "what was written before could not be taken back")
            self._append(data)
        self._end += len(data)
        self._note(entry)
        if state == "failed":
            with suppress(OSError):  # the entry counts; this is for the count at a glance
                (self._failures / f"{facts['run']}.{number}").touch()

    def _append(self, data: bytes) -> None:
        try:
            rest = data
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError:
            self._is_torn = True  # nothing may stand behind what is there until it is cut off
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
                os.lseek(self._descriptor, self._end, os.SEEK_SET)
                self._is_torn = False
            raise


def failures(plan: Plan, run: str) -> int:
    """Count the scenes that failed in a run of that name."""
    with suppress(FileNotFoundError):
        names = os.listdir(folder(plan) / _FAILURES)
        return sum(name.startswith(f"{run}.") for name in names)
    return 0


def is_over(plan: Plan, run: str) -> bool:
    """Return whether so many scenes have failed in a run that it pauses."""
    part = plan.request.failures
    most = max(1.0, part * plan.count) if part else 0.0  # of a few scenes one may, if any may
    return failures(plan, run) > most


def entries(plan: Plan, task: int) -> dict[int, Entry]:
    """Read the last entry of each scene of a task; a torn last line is none."""
    try:
        content = file_of(plan, task).read_bytes()
    except FileNotFoundError:
        return {}
    return {entry["n"]: entry for entry in _lines(content[: content.rfind(b"\n") + 1])}


def all_entries(plan: Plan) -> Iterator[tuple[int, Entry | None]]:
    """Yield each scene's number with its last entry, in the order of the list."""
    for task in range(plan.tasks):
        last = entries(plan, task)
        yield from ((number, last.get(number)) for number in plan.numbers(task))


def _lines(content: bytes) -> Iterator[Entry]:
    return (json.loads(line) for line in content.splitlines())
