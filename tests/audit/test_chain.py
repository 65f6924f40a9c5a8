"""A record that somebody changed is found out, wherever the change is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.audit.reader import AuditFile

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


def test_the_broken_line_is_named(written: Path) -> None:
    data = written.read_bytes()
    place = [at for at, byte in enumerate(data) if byte == ord("\n")][40] + 90
    changed = data[:place] + b"#" + data[place + 1 :]

    trouble = changed_to(written, changed).trouble

    assert trouble is not None
    assert trouble.number == 42


@pytest.mark.parametrize("taken", [0, 1, 70, 150])
def test_a_line_that_was_taken_out_is_missed(written: Path, taken: int) -> None:
    lines = written.read_bytes().splitlines(keepends=True)

    del lines[taken]

    assert changed_to(written, b"".join(lines)).trouble is not None


def test_two_lines_that_changed_places_are_found(written: Path) -> None:
    lines = written.read_bytes().splitlines(keepends=True)

    lines[7], lines[8] = lines[8], lines[7]

    trouble = changed_to(written, b"".join(lines)).trouble
    assert trouble is not None
    assert trouble.number == 8


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
