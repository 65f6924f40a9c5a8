"""The record is written whole, or who wrote is told; and what somebody changed is found out."""

from __future__ import annotations

import errno
import os
import random
import stat
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import file_locks
from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, Disk, chain, record_events
from dcc_bridge.audit.reader import AuditFile
from dcc_bridge.errors import NotRecorded

CALL = {"call": "c1", "skill": "delete", "client": "claude"}


class FailingDisk(Disk):
    """A disk on which one thing that is done fails: the Nth."""

    def __init__(self, nth: int, error: int = errno.ENOSPC, *, half: bool = False) -> None:
        self.left = nth
        self._error = error
        self._half = half

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(self._error, os.strerror(self._error))

    def create(self, file: Path) -> int:
        self._count()
        return super().create(file)

    def write(self, opened: int, data: bytes) -> None:
        try:
            self._count()
        except OSError:
            if self._half:
                super().write(opened, data[: len(data) // 2])
            raise
        super().write(opened, data)

    def sync(self, opened: int) -> None:
        self._count()
        super().sync(opened)


class UncutDisk(FailingDisk):
    """One on which what was written cannot be taken back either."""

    def cut(self, opened: int, size: int) -> None:
        raise OSError(errno.EIO, "broken")


def events(folder: Path) -> list[str]:
    """All events in a folder, once every record was found whole."""
    records = [reader.read(first) for first in reader.logs(folder)]
    assert [record.trouble for record in records] == [None] * len(records)
    return [line.event for record in records for line in record.lines()]


def test_nothing_is_left_by_a_bridge_that_only_reads(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit").close()

    assert not (tmp_path / "audit").exists()


def test_only_its_user_can_read_it_and_its_first_line_tells_what_is_the_same_for_all(
    tmp_path: Path,
) -> None:
    log = AuditLog(tmp_path / "audit", {"host": "Maya", "version": "2026"})

    log(("begin", CALL))

    assert log.file is not None
    if sys.platform != "win32":  # where the folder is one of the user's profile
        assert stat.S_IMODE(log.file.stat().st_mode) == 0o600
        assert stat.S_IMODE(log.folder.stat().st_mode) == 0o700
    (record,) = map(reader.read, reader.logs(log.folder))
    header = next(record.lines()).fields
    assert header["pid"] == os.getpid()
    assert {"user", "machine", "utc", "monotonic"} <= header.keys()
    assert (header["host"], header["version"]) == ("Maya", "2026")


def test_threads_write_one_chain(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)

    def write() -> None:
        for _ in range(100):
            log(("begin", CALL))

    writing = [threading.Thread(target=write) for _ in range(8)]

    for thread in writing:
        thread.start()
    for thread in writing:
        thread.join()
    log.close()

    assert events(tmp_path).count("begin") == 800


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("disk", [FailingDisk, UncutDisk])
def test_whoever_writes_is_told_of_a_disk_that_fails_and_the_chain_goes_on(
    error: int, half: bool, disk: type[FailingDisk], tmp_path: Path
) -> None:
    """On the Nth operation, for every N: what was not refused is there, in order, and no more.

    Where a line cannot be taken back either, all is refused until it can be.
    """
    for nth in range(1, 25):
        folder = tmp_path / str(nth)
        log = AuditLog(folder)
        log.disk = disk(nth, error, half=half)

        kept = [name for name in map(str, range(5)) if _writes(log, name)]
        log.disk = Disk()
        log(("at last", CALL))
        log.close()

        written = [event for event in events(folder) if event.isdecimal()]
        assert written == kept
        assert len(kept) >= 4 or disk is UncutDisk


def _writes(log: AuditLog, event: str) -> bool:
    try:
        log((event, CALL), durable=True)
    except NotRecorded:
        return False
    return True


def test_a_closed_record_takes_no_more(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.close()

    with pytest.raises(NotRecorded, match="stopped"):
        log(("begin", CALL))


def test_what_is_decided_outside_of_a_bridge_has_a_whole_record_of_its_own(tmp_path: Path) -> None:
    record_events({"host": "maya"}, [("asked", CALL), ("granted", CALL)], tmp_path)
    record_events({"host": "maya"}, [("asked", CALL), ("declined", CALL)], tmp_path)

    record = Counter(events(tmp_path))
    assert record == {"opened": 2, "asked": 2, "granted": 1, "declined": 1, "closed": 2}


def test_a_value_that_json_cannot_carry_is_written_in_words(tmp_path: Path) -> None:
    odd: dict[str, Any] = {"a": float("nan"), "b": {1: object}, "c": "\ud800\n", "d": [None] * 80}

    AuditLog(tmp_path)(("begin", {**odd, "e": "x" * 100_000}))

    assert events(tmp_path) == ["opened", "begin"]


# ---- a process that died


_DIES = """
import os, signal, sys
from pathlib import Path
from dcc_bridge.audit.log import chain, AuditLog
log = AuditLog(Path(sys.argv[1]))
for call in ("done", "left"):
    entry = {"call": call, "skill": "delete", "client": "claude"}
    log(("granted", entry), ("begin", entry), durable=True)
    if call == "done":
        log(("end", entry))
os.kill(os.getpid(), signal.SIGKILL)
"""


def die(folder: Path) -> Path:
    subprocess.run([sys.executable, "-c", _DIES, str(folder)], timeout=30, check=False)
    (file,) = folder.iterdir()
    return file


def test_the_next_start_says_what_a_process_that_died_had_begun(tmp_path: Path) -> None:
    die(tmp_path)

    assert reader.recover(tmp_path) == 1
    assert reader.recover(tmp_path) == 0

    (record,) = map(reader.read, reader.logs(tmp_path))
    *_, last = record.lines()
    assert (record.trouble, record.ending) == (None, "recovered")
    assert [call["call"] for call in last.fields["unfinished"]] == ["left"]


def test_a_write_that_was_cut_short_is_told_and_taken_away(tmp_path: Path) -> None:
    file = die(tmp_path)
    with file.open("ab") as out:
        out.write(b'{"hash":"00')

    reader.recover(tmp_path)

    (record,) = map(reader.read, reader.logs(tmp_path))
    *_, last = record.lines()
    assert record.trouble is None
    assert last.fields["torn"] == '{"hash":"00'


@pytest.mark.parametrize("cut", [0, 40])
def test_a_file_whose_first_line_was_never_written_is_ended_too(cut: int, tmp_path: Path) -> None:
    file = die(tmp_path)
    file.write_bytes(file.read_bytes()[:cut])

    assert reader.recover(tmp_path) == 0

    audit_file = reader.read(file)
    assert (audit_file.trouble, audit_file.ending) == (None, "recovered")
    assert [line.fields["n"] for line in audit_file.lines()] == [1, 2]


def test_a_record_that_somebody_changed_is_left_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = die(tmp_path)
    file.write_bytes(changed := file.read_bytes().replace(b"delete", b"create", 1))

    assert reader.recover(tmp_path) == 0

    assert file.read_bytes() == changed
    assert "broken at line 2" in caplog.text


def test_a_record_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log(("begin", CALL))

    assert reader.recover(tmp_path) == 0

    log.close()
    assert events(tmp_path) == ["opened", "begin", "closed"]


def test_nobody_who_only_looks_is_taken_for_the_writer(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log(("begin", CALL))
    (file,) = reader.logs(tmp_path)
    before = reader.is_written(file)
    log.close()

    with file.open("rb") as other:
        assert file_locks.claim(other.fileno(), shared=True)
        after = reader.is_written(file)

    assert (before, after) == (True, False)


class EndedAtOnceDisk(Disk):
    """A disk on which a process that starts takes the first new file for one of a dead process."""

    def __init__(self) -> None:
        self.ends = True

    def create(self, file: Path) -> int:
        descriptor = super().create(file)
        if self.ends:
            self.ends = False
            reader.recover(file.parent)
        return descriptor


def test_nothing_is_written_behind_an_end_mark_that_another_process_wrote(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.disk = EndedAtOnceDisk()

    with pytest.raises(NotRecorded):
        log(("asked", {"call": "one"}))
    log(("asked", {"call": "two"}))
    log.close()

    (file,) = reader.logs(tmp_path)
    record = reader.read(file)
    assert record.trouble is None
    assert record.count == 3


@pytest.mark.parametrize("unfinished", [0, 500])
def test_of_a_record_with_an_end_mark_only_the_mark_is_read(
    unfinished: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = die(tmp_path)
    *_, last = reader.follow(file)
    calls = [CALL | {"call": f"{number:016x}"} for number in range(unfinished)]
    lines = [("begin", call) for call in calls] or [("end", {"call": "left"})]
    with file.open("ab") as out:
        dated = ({"utc": "2026-01-01T00:00:00", "event": name, **it} for name, it in lines)
        out.write(chain(dated, last.hash, last.fields["n"] + 1)[0])
    assert reader.recover(tmp_path) == unfinished + bool(unfinished)
    verified: list[bytes] = []
    monkeypatch.setattr(reader, "line_hash", lambda _, rest: verified.append(rest))

    assert reader.recover(tmp_path) == 0

    assert verified == []


def test_a_link_among_the_records_is_not_followed_when_they_are_ended(tmp_path: Path) -> None:
    (theirs := tmp_path / "theirs").mkdir()
    dead = die(theirs)
    (mine := tmp_path / "mine").mkdir()
    (mine / dead.name).symlink_to(dead)
    before = dead.read_bytes()

    reader.recover(mine)

    assert dead.read_bytes() == before


FLIPS = 1000


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A closed record of one file, with 50 edits."""
    log = AuditLog(tmp_path, {"host": "fake"})
    for number in range(50):
        call = {"call": f"{number:016x}", "skill": "delete", "client": "claude"}
        log(("granted", call), ("begin", call), durable=True)
        log(("end", {**call, "status": "done"}))
    log.close()
    assert log.file is not None
    return log.file


def test_a_record_hangs_together_and_says_that_it_was_closed(written: Path) -> None:
    record = reader.read(written)

    assert (record.trouble, record.ending, record.unfinished) == (None, "closed", [])
    assert [line.fields["n"] for line in record.lines()] == list(range(1, 153))


def test_any_changed_byte_is_found(written: Path) -> None:
    """A thousand times: another value for a byte anywhere."""
    data, chance = written.read_bytes(), random.Random(29)
    places = [0, len(data) - 1, *(chance.randrange(len(data)) for _ in range(FLIPS - 2))]

    missed = []
    for place in places:
        changed = bytearray(data)
        changed[place] ^= chance.randrange(1, 256)
        if changed_to(written, bytes(changed)).trouble is None:
            missed.append(place)

    assert missed == []


def change(lines: list[bytes]) -> None:
    lines[41] = lines[41][:90] + b"#" + lines[41][91:]


def swap(lines: list[bytes]) -> None:
    lines[7:9] = lines[8], lines[7]


@pytest.mark.parametrize(
    ("meddle", "number"),
    [(change, 42), (swap, 8), *((methodcaller("pop", it), it + 1) for it in (0, 1, 70, 150))],
)
def test_a_line_that_was_changed_moved_or_taken_out_is_named(
    written: Path, meddle: Callable[[list[bytes]], object], number: int
) -> None:
    lines = written.read_bytes().splitlines(keepends=True)

    meddle(lines)

    trouble = changed_to(written, b"".join(lines)).trouble
    assert trouble is not None
    assert trouble.number == number


def test_a_tail_that_was_cut_at_a_line_end_leaves_no_end_mark(written: Path) -> None:
    """The chain itself cannot see it: what is left hangs together."""
    lines = written.read_bytes().splitlines(keepends=True)

    record = changed_to(written, b"".join(lines[:-2]))

    assert (record.trouble, record.ending) == (None, None)
    assert [line.fields["call"] for line in record.unfinished] == [f"{49:016x}"]


def test_a_cut_anywhere_else_is_found(written: Path) -> None:
    data, chance = written.read_bytes(), random.Random(5)
    cuts = [cut for cut in chance.sample(range(len(data)), 300) if data[cut - 1 : cut] != b"\n"]

    assert [cut for cut in cuts if changed_to(written, data[:cut]).trouble is None] == []


@pytest.mark.parametrize("text", [b"", b"\n", b"not a record\n", b"{}\n", b'{"hash":"0"}\n'])
def test_what_is_no_record_is_not_taken_for_one(text: bytes, tmp_path: Path) -> None:
    assert changed_to(tmp_path / "x.jsonl", text).trouble is not None


def changed_to(file: Path, data: bytes) -> AuditFile:
    file.write_bytes(data)
    return reader.read(file)
