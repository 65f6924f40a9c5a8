"""The record is written whole, or the one who wrote is told; and nobody can lead it elsewhere."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, Disk
from dcc_bridge.errors import NotRecorded, StartError
from dcc_bridge.server import discovery

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
    told = [reader.read(first) for first in reader.logs(folder)]
    assert [one.trouble for one in told] == [None] * len(told)
    return [line.event for one in told for line in one.lines()]


def test_nothing_is_left_by_a_bridge_that_only_reads(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit").close()

    assert not (tmp_path / "audit").exists()


def test_only_its_user_can_read_it(tmp_path: Path) -> None:
    book = AuditLog(tmp_path / "audit")

    book(("begin", CALL))

    assert book.file is not None
    assert stat.S_IMODE(book.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.folder.stat().st_mode) == 0o700


def test_the_first_line_tells_what_is_the_same_for_all(tmp_path: Path) -> None:
    book = AuditLog(tmp_path, {"host": "Maya", "version": "2026"})

    book(("begin", CALL))

    (told,) = map(reader.read, reader.logs(tmp_path))
    assert told.header["pid"] == os.getpid()
    assert {"user", "machine", "utc", "monotonic"} <= told.header.keys()
    assert (told.header["host"], told.header["version"]) == ("Maya", "2026")


def test_threads_write_one_chain(tmp_path: Path) -> None:
    book = AuditLog(tmp_path)

    def write() -> None:
        for _ in range(100):
            book(("begin", CALL))

    writing = [threading.Thread(target=write) for _ in range(8)]

    for thread in writing:
        thread.start()
    for thread in writing:
        thread.join()
    book.close()

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
        book = AuditLog(folder)
        book.disk = disk(nth, error, half=half)

        kept = [name for name in map(str, range(5)) if _writes(book, name)]
        book.disk = Disk()
        book(("at last", CALL))
        book.close()

        written = [event for event in events(folder) if event.isdecimal()]
        assert written == kept
        assert len(kept) >= 4 or disk is UncutDisk


def _writes(book: AuditLog, event: str) -> bool:
    try:
        book((event, CALL), durable=True)
    except NotRecorded:
        return False
    return True


def test_a_closed_record_takes_no_more(tmp_path: Path) -> None:
    book = AuditLog(tmp_path)
    book.close()

    with pytest.raises(NotRecorded, match="stopped"):
        book(("begin", CALL))


def test_a_value_that_json_cannot_carry_is_written_in_words(tmp_path: Path) -> None:
    odd: dict[str, Any] = {"a": float("nan"), "b": {1: object}, "c": "\ud800\n", "d": [None] * 80}

    AuditLog(tmp_path)(("begin", {**odd, "e": "x" * 100_000}))

    assert events(tmp_path) == ["opened", "begin"]


# ---- a process that died


_DIES = """
import os, signal, sys
from pathlib import Path
from dcc_bridge.audit.log import AuditLog
book = AuditLog(Path(sys.argv[1]))
for call in ("done", "left"):
    told = {"call": call, "skill": "delete", "client": "claude"}
    book(("granted", told), ("begin", told), durable=True)
    if call == "done":
        book(("end", told))
os.kill(os.getpid(), signal.SIGKILL)
"""


def _die(folder: Path) -> Path:
    subprocess.run([sys.executable, "-c", _DIES, str(folder)], timeout=30, check=False)
    (file,) = folder.iterdir()
    return file


def test_the_next_start_says_what_a_process_that_died_had_begun(tmp_path: Path) -> None:
    _die(tmp_path)

    assert reader.recover(tmp_path) == 1
    assert reader.recover(tmp_path) == 0

    (told,) = map(reader.read, reader.logs(tmp_path))
    *_, last = told.lines()
    assert (told.trouble, told.ending) == (None, "recovered")
    assert [one["call"] for one in last.fields["unfinished"]] == ["left"]


def test_a_write_that_was_cut_short_is_told_and_taken_away(tmp_path: Path) -> None:
    file = _die(tmp_path)
    with file.open("ab") as out:
        out.write(b'{"hash":"00')

    reader.recover(tmp_path)

    (told,) = map(reader.read, reader.logs(tmp_path))
    *_, last = told.lines()
    assert told.trouble is None
    assert last.fields["torn"] == '{"hash":"00'


@pytest.mark.parametrize("cut", [0, 40])
def test_a_file_whose_first_line_was_never_written_is_ended_too(cut: int, tmp_path: Path) -> None:
    file = _die(tmp_path)
    file.write_bytes(file.read_bytes()[:cut])

    assert reader.recover(tmp_path) == 0

    audit_file = reader.read(file)
    assert (audit_file.trouble, audit_file.ending) == (None, "recovered")
    assert [line.fields["n"] for line in audit_file.lines()] == [1, 2]


def test_a_record_that_somebody_changed_is_left_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = _die(tmp_path)
    file.write_bytes(changed := file.read_bytes().replace(b"delete", b"create", 1))

    assert reader.recover(tmp_path) == 0

    assert file.read_bytes() == changed
    assert "broken at line 2" in caplog.text


def test_a_record_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    book = AuditLog(tmp_path)
    book(("begin", CALL))

    assert reader.recover(tmp_path) == 0

    book.close()
    assert events(tmp_path) == ["opened", "begin", "closed"]


# ---- a name that was put there by somebody else


def _link(place: Path, trap: Path) -> None:
    place.symlink_to(trap)


def _dangling(place: Path, trap: Path) -> None:
    place.symlink_to(trap.with_name("new"))


def _hard_link(place: Path, trap: Path) -> None:
    place.hardlink_to(trap)


def _file(place: Path, trap: Path) -> None:
    place.write_bytes(b"mine")


def _pipe(place: Path, trap: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no pipes among its files")
    os.mkfifo(place)


def _folder(place: Path, trap: Path) -> None:
    place.mkdir()


@pytest.mark.parametrize("plant", [_link, _dangling, _hard_link, _file, _pipe, _folder])
@pytest.mark.parametrize("what", ["audit", "lock", "ab.new"])
def test_a_name_that_was_taken_before_is_not_written_to(
    plant: Callable[[Path, Path], None], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eighteen traps: whoever guessed the file's name gets nothing of what is written."""
    (trap := tmp_path / "trap").write_bytes(b"trap")
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setattr("secrets.token_hex", lambda count: "ab")
    if what == "audit":
        book = AuditLog(folder)
        plant(folder / f"{book._name}.ab.jsonl", trap)
        with pytest.raises(NotRecorded, match="exists"):
            book(("begin", CALL))
    else:
        plant(folder / f"h-ab.{what}", trap)
        with pytest.raises(FileExistsError):
            discovery.Registration(discovery.Instance("u", "h", "v", "s", secret="s"), folder)

    assert trap.read_bytes() == b"trap"
    assert not (tmp_path / "new").exists()


def test_a_folder_that_leads_elsewhere_is_not_used(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (link := tmp_path / "link").symlink_to(elsewhere)

    with pytest.raises(NotRecorded, match="cannot be used"):
        AuditLog(link)(("begin", CALL))
    with pytest.raises(StartError, match="DCC_BRIDGE_RUNTIME"):
        discovery.folder(link)

    assert list(elsewhere.iterdir()) == []


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    if sys.platform == "win32" or os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(tmp_path, 1, 1)

    with pytest.raises(NotRecorded, match="not yours"):
        AuditLog(tmp_path)(("begin", CALL))


def test_a_link_among_the_records_is_not_followed_when_they_are_ended(tmp_path: Path) -> None:
    (theirs := tmp_path / "theirs").mkdir()
    dead = _die(theirs)
    (mine := tmp_path / "mine").mkdir()
    (mine / dead.name).symlink_to(dead)
    before = dead.read_bytes()

    reader.recover(mine)

    assert dead.read_bytes() == before


def test_what_is_written_is_one_json_object_a_line(tmp_path: Path) -> None:
    book = AuditLog(tmp_path)
    book(("begin", CALL))
    book.close()

    assert book.file is not None
    lines = [json.loads(text) for text in book.file.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["opened", "begin", "closed"]
