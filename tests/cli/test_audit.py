"""A person reads the record, checks it, and takes it elsewhere."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from dcc_bridge import cli
from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog

WHO = {"skill": "delete_cameras", "client": "claude", "client_name": "Claude Code"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of two calls, one of which has no end."""
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path))
    book = AuditLog(tmp_path, {"host": "Maya", "version": "2026"})
    first, second = {"call": "aaaa", **WHO}, {"call": "bbbb", **WHO}
    asked = {"message": "Delete them?\u202e", "objects": 127, "names": ["cam0", "cam1"]}
    book(("asked", first | asked))
    book(("granted", first | {"by": "host", "ms_shown": 3200, "answer": {"why": "fit"}}))
    book(("begin", first | {"scene": "shot.ma", "arguments": {"pattern": "cam*"}}))
    book(("end", first | {"status": "done", "changed": True, "undo": ["Delete cameras [aaaa]"]}))
    book(("unasked", second), ("begin", second | {"scene": "shot.ma"}))
    book.close()
    assert book.file is not None
    return book.file


def test_a_call_is_told_in_sentences(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "show", "--call", "aa"]) == 0

    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("delete_cameras for claude (says it is Claude Code)  call aaaa")
    assert "U+202E" in said[1]
    assert said[1].endswith("127 objects: cam0, cam1, …")
    assert said[2].endswith('agreed at the host (shown for 3.2 s): {"why": "fit"}')
    assert said[3].endswith('began in shot.ma with {"pattern": "cam*"}')
    assert said[4].endswith("done, changed; undo: Delete cameras [aaaa]")


def test_a_line_end_in_a_question_is_told_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = AuditLog(tmp_path)
    book(("asked", {"call": "cccc", **WHO, "message": "Delete?\nAll of them."}))
    book.close()

    cli.main(["audit", "show", str(book.file)])

    question, rest = capsys.readouterr().out.splitlines()[1:3]
    assert question.endswith('asked: "Delete?')
    assert rest == '            All of them."'


def test_an_undo_a_rejection_and_who_asked_within_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = AuditLog(tmp_path, {"host": "Maya", "version": "2026"})
    call = {"call": "cccc", **WHO}
    book(("asked", call | {"message": "Delete?", "inner_skill": "wipe"}))
    book(("end", call | {"status": "done", "changed": True}))
    book(("undone", call | {"by": "host"}), ("undone", call | {"by": "client", "by_call": "dd"}))
    book(("rejected", {"call": "eeee", **WHO, "error": "frames: it is required."}))
    book.close()

    assert cli.main(["audit", "show", str(book.file)]) == 0

    said = capsys.readouterr().out.splitlines()
    assert said[1].endswith('asked by wipe, which it called: "Delete?"')
    assert said[3].endswith("undone at the host")
    assert said[4].endswith("undone in the client, in call dd")
    assert said[6].endswith('rejected: "frames: it is required."')
    assert len(said) == 7


def test_a_call_that_asked_is_not_told_as_one_that_needed_no_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An edit begins without a question, and may ask for a name later."""
    book, call = AuditLog(tmp_path), {"call": "cccc", **WHO}
    book(("unasked", call), ("begin", call | {"scene": "shot.ma"}))
    book(("asked", call | {"question": "q", "message": "Its name?"}))
    book(("answered", call | {"question": "q", "by": "host"}), ("end", call | {"status": "done"}))
    book.close()

    assert cli.main(["audit", "show", str(book.file)]) == 0

    said = capsys.readouterr().out
    assert "no question needed" not in said
    assert 'asked: "Its name?"' in said


def test_the_last_calls_are_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "show", "--last", "1", str(file)]) == 0

    said = capsys.readouterr().out
    assert "aaaa" not in said
    assert "  no question needed\n" in said
    assert "no end is on record" in said


def test_a_call_without_an_end_is_named_and_the_exit_code_says_so(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", "verify"]) == 1

    said = capsys.readouterr().out
    assert "8 lines, unbroken, closed" in said
    assert "no end: " in said
    assert "call bbbb" in said
    assert said.endswith("NOT in order: 1 of 1 record, as said above.\n")


def test_a_record_whose_tail_is_missing_is_told_from_one_that_is_still_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While its process lives, what it does has no end yet, and nothing is wrong."""
    book, call = AuditLog(tmp_path), {"call": "aaaa", **WHO}
    book(("begin", call))
    live = cli.main(["audit", "verify", str(book.file)]), capsys.readouterr().out
    book(("end", call | {"status": "done"}))
    book.close()
    assert book.file is not None
    whole = cli.main(["audit", "verify", str(book.file)]), capsys.readouterr().out

    book.file.write_bytes(b"".join(book.file.read_bytes().splitlines(keepends=True)[:-1]))
    cut = cli.main(["audit", "verify", str(book.file)]), capsys.readouterr().out

    assert (live[0], whole[0], cut[0]) == (0, 0, 1)
    assert whole[1].endswith("In order: 1 record, with no line changed and no end missing.\n")
    assert "unbroken, still being written" in live[1]
    assert "its process died, or its tail was cut off" in cut[1]


def test_a_record_of_a_process_that_died_with_all_ended_is_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book, call = AuditLog(tmp_path), {"call": "aaaa", **WHO}
    book(("begin", call), ("end", call | {"status": "done"}))
    copy = tmp_path / "copy.jsonl"
    assert book.file is not None
    shutil.copy(book.file, copy)
    reader.recover(tmp_path)

    assert cli.main(["audit", "verify", str(copy)]) == 0
    assert "a later one wrote the end mark" in capsys.readouterr().out
    book.close()


def test_a_broken_line_is_named_and_the_exit_code_says_so(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(file.read_bytes().replace(b'"by":"host"', b'"by":"h0st"'))

    assert cli.main(["audit", "verify", str(file)]) == 1

    assert "BROKEN at line 3" in capsys.readouterr().out


def test_it_is_exported_as_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "export", str(file)]) == 0

    rows = json.loads(capsys.readouterr().out)
    assert [row["event"] for row in rows][:3] == ["opened", "asked", "granted"]
    assert {(row["host"], row["version"]) for row in rows} == {("Maya", "2026")}


def test_a_table_holds_no_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = AuditLog(tmp_path)
    book(("asked", {"call": "c", "message": "=HYPERLINK(1)"}))
    book.close()

    assert cli.main(["audit", "export", "--csv", str(book.file)]) == 0

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[1]["message"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t=", " =", "\r-", "\uff1d"])
def test_a_table_has_one_line_for_each_row_and_nothing_in_it_acts(
    begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = AuditLog(tmp_path)
    book(("asked", {"call": "c", "message": f"{begins}cmd|x\nend,by,root\x1b[2J\u202e"}))
    book.close()

    cli.main(["audit", "export", "--csv", str(book.file)])

    said = capsys.readouterr().out
    cell = list(csv.DictReader(io.StringIO(said)))[1]["message"]
    assert len(said.splitlines()) == 4
    assert not {"\x1b", "\r", "\t", "\u202e"} & set(said.replace("\r\n", "\n"))
    assert cell[0] in ("'", "\u2039")


@pytest.mark.parametrize("words", [["show"], ["verify"], ["export"]])
def test_without_a_record_it_says_so(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path))

    assert cli.main(["audit", *words]) == 2
    assert "no record" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", "verify", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl cannot be read" in capsys.readouterr().err
