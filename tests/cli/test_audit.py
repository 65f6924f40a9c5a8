"""A person reads the record, checks it, and takes it elsewhere."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, Event
from dcc_bridge.cli import account
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.question import Consent, Expired, Question
from tests.cli.commands import Command
from tests.elicitation.brokers import CLAUDE, FORM, YES, Clock
from tests.stand_ins import Person

WHO = {"skill": "delete_cameras", "client": "claude", "client_name": "Claude Code"}
CALL = {"call": "aaaa", **WHO}


def written(folder: Path, *events: Event) -> Path:
    book = AuditLog(folder, {"host": "Maya", "version": "2026"})
    book(*events)
    book.close()
    assert book.file is not None
    return book.file


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of two calls, one of which has no end."""
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path))
    second = {"call": "bbbb", **WHO}
    asked = {"message": "Delete them?\u202e", "objects": 127, "names": ["cam0", "cam1"]}
    return written(
        tmp_path,
        ("asked", CALL | asked),
        ("granted", CALL | {"by": "host", "ms_shown": 3200, "answer": {"why": "fit"}}),
        ("begin", CALL | {"scene": "shot.ma", "arguments": {"pattern": "cam*"}}),
        ("end", CALL | {"status": "done", "changed": True, "undo": ["Delete cameras [aaaa]"]}),
        ("unasked", second),
        ("begin", second | {"scene": "shot.ma"}),
    )


@pytest.mark.core
def test_a_call_is_told_in_sentences(file: Path, command: Command) -> None:
    done = command("audit", "show", "--call", "aa")

    said = done.out.splitlines()
    assert done.code == 0
    assert said[0].endswith("delete_cameras for claude (calls itself Claude Code)  call aaaa")
    assert "U+202E" in said[1]
    assert said[1].endswith("127 objects: cam0, cam1, …")
    assert said[2].endswith('approved in the app (shown for 3.2 s): {"why": "fit"}')
    assert said[3].endswith('began in shot.ma with {"pattern": "cam*"}')
    assert said[4].endswith("done, changed; undo: Delete cameras [aaaa]")


def test_items_that_the_person_left_out_are_told() -> None:
    granted = {"by": "host", "answer": {"confirm": True}, "left_out": ["cam1", "cam2"]}

    assert account._answer("granted", granted).startswith(
        'approved in the app, without cam1, cam2: {"confirm": true}'
    )


def test_a_late_answer_is_told_with_its_question_its_items_and_that_it_came_late(
    tmp_path: Path, command: Command
) -> None:
    """The call that asked has ended; the record of the second call has the answer alone."""
    person = Person()
    book = AuditLog(tmp_path)
    broker = Broker(host=person, clock=Clock(), auditor=book)
    consent = Consent(("cam1", "cam2"), scene="shot_010")
    for call in ("first", "second"):
        asking = Call("delete", "Delete", id=call, client=CLAUDE, repeat_key="cam*")
        broker.ask(Question("Delete 2 cameras?", asking, FORM, consent=consent))
        if call == "first":
            person.settles[-1](Expired())
            person.chips[-1].answer_here()
            person.settles[-1](YES)
    book.close()

    said = command("audit", "show", book.file or "", "--call", "second").out.splitlines()

    assert said[1].endswith('not shown in this call: "Delete 2 cameras?" 2 objects: cam1, cam2')
    assert said[2].endswith(
        'approved in the app, late: the call that asked first had ended: {"confirm": true}'
    )


def test_a_question_that_was_not_shown_is_told_with_its_items(
    tmp_path: Path, command: Command
) -> None:
    file = written(
        tmp_path,
        ("granted", CALL | {"by": "grant", "message": "Delete?", "objects": 1, "names": ["cam1"]}),
    )

    said = command("audit", "show", file).out.splitlines()

    assert said[1].endswith('not shown in this call: "Delete?" 1 object: cam1')
    assert said[2].endswith("approved in advance")


def test_a_line_end_in_a_question_is_told_as_one(tmp_path: Path, command: Command) -> None:
    file = written(tmp_path, ("asked", CALL | {"message": "Delete?\nAll of them."}))

    question, rest = command("audit", "show", file).out.splitlines()[1:3]

    assert question.endswith('asked: "Delete?')
    assert rest == '            All of them."'


def test_an_undo_a_rejection_and_who_asked_within_are_told(
    tmp_path: Path, command: Command
) -> None:
    file = written(
        tmp_path,
        ("asked", CALL | {"message": "Delete?", "inner_skill": "wipe"}),
        ("end", CALL | {"status": "done", "changed": True}),
        ("undone", CALL | {"by": "host"}),
        ("undone", CALL | {"by": "client", "by_call": "dd"}),
        ("redone", CALL | {"by": "host"}),
        ("rejected", {"call": "eeee", **WHO, "error": "frames: it is required."}),
    )

    said = command("audit", "show", file).out.splitlines()

    assert said[1].endswith('asked by wipe, which it called: "Delete?"')
    assert said[3].endswith("undone in the app")
    assert said[4].endswith("undone in the client, in call dd")
    assert said[5].endswith("redone in the app")
    assert said[7].endswith('rejected: "frames: it is required."')
    assert len(said) == 8


def test_a_call_that_asked_is_not_told_as_one_that_needed_no_question(
    tmp_path: Path, command: Command
) -> None:
    """An edit begins without a question, and may ask for a name later."""
    file = written(
        tmp_path,
        ("unasked", CALL),
        ("begin", CALL | {"scene": "shot.ma"}),
        ("asked", CALL | {"question": "q", "message": "Its name?"}),
        ("answered", CALL | {"question": "q", "by": "host"}),
        ("end", CALL | {"status": "done"}),
    )

    said = command("audit", "show", file).out

    assert "no question needed" not in said
    assert 'asked: "Its name?"' in said


def test_the_last_calls_are_told(file: Path, command: Command) -> None:
    said = command("audit", "show", "--last", "1", file).out

    assert "aaaa" not in said
    assert "  no question needed\n" in said
    assert "no end was recorded" in said


def test_a_call_without_an_end_is_named_and_the_exit_code_says_so(
    file: Path, command: Command
) -> None:
    done = command("audit", "verify")

    assert done.code == 1
    assert "8 lines, unbroken, closed" in done.out
    assert "no end: " in done.out
    assert "call bbbb" in done.out
    assert done.out.endswith("NOT in order: 1 of 1 record, as said above.\n")


def test_a_record_whose_tail_is_missing_is_told_from_one_that_is_still_written(
    tmp_path: Path, command: Command
) -> None:
    """While its process lives, what it does has no end yet, and nothing is wrong."""
    book = AuditLog(tmp_path)
    book(("begin", CALL))
    assert book.file is not None
    live = command("audit", "verify", book.file)
    book(("end", CALL | {"status": "done"}))
    book.close()
    whole = command("audit", "verify", book.file)

    book.file.write_bytes(b"".join(book.file.read_bytes().splitlines(keepends=True)[:-1]))
    cut = command("audit", "verify", book.file)

    assert (live.code, whole.code, cut.code) == (0, 0, 1)
    assert whole.out.endswith("In order: 1 record, with no line changed and no end missing.\n")
    assert "unbroken, still being written" in live.out
    assert "its process died or its end was cut off" in cut.out


def test_a_record_of_a_process_that_died_with_all_ended_is_in_order(
    tmp_path: Path, command: Command
) -> None:
    book = AuditLog(tmp_path)
    book(("begin", CALL), ("end", CALL | {"status": "done"}))
    assert book.file is not None
    copy = Path(shutil.copy(book.file, tmp_path / "copy.jsonl"))
    reader.recover(tmp_path)

    done = command("audit", "verify", copy)

    assert (done.code, "a later process wrote the end mark" in done.out) == (0, True)
    book.close()


def test_a_broken_line_is_named_and_the_exit_code_says_so(file: Path, command: Command) -> None:
    file.write_bytes(file.read_bytes().replace(b'"by":"host"', b'"by":"h0st"'))

    done = command("audit", "verify", file)

    assert (done.code, "BROKEN at line 3" in done.out) == (1, True)


def test_calls_after_a_broken_line_are_not_shown_and_that_is_said(
    file: Path, command: Command
) -> None:
    file.write_text(file.read_text().replace('"unasked"', '"asked"'))

    done = command("audit", "show")

    assert done.code == 0
    assert "call bbbb" not in done.out
    assert f"{file}: line 6: it does not match" in done.err
    assert "What comes after it is not shown. See: dcc-bridge audit verify" in done.err


@pytest.mark.parametrize("action", ["show", "export"])
def test_a_file_that_is_no_record_is_a_usage_error(
    action: str, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "shot.usda").write_text("#usda 1.0")

    done = command("audit", action, tmp_path / "shot.usda")

    assert (done.code, done.out) == (2, "")
    assert "shot.usda is no record: line 1: " in done.err


def test_it_is_exported_as_json(file: Path, command: Command) -> None:
    rows = json.loads(command("audit", "export", file).out)

    assert [row["event"] for row in rows][:3] == ["opened", "asked", "granted"]
    assert {(row["host"], row["version"]) for row in rows} == {("Maya", "2026")}


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t=", " =", "\r-", "\uff1d"])
def test_a_table_has_one_line_for_each_row_and_nothing_in_it_acts(
    begins: str, tmp_path: Path, command: Command
) -> None:
    message = f"{begins}cmd|x\nend,by,root\x1b[2J\u202e"

    said = command("audit", "export", "--csv", written(tmp_path, ("asked", {"message": message})))

    cell = list(csv.DictReader(io.StringIO(said.out)))[1]["message"]
    assert (said.code, len(said.out.splitlines())) == (0, 4)
    assert not {"\x1b", "\r", "\t", "\u202e"} & set(said.out.replace("\r\n", "\n"))
    assert cell[0] in ("'", "\u2039")
    assert begins not in "=+-@" or cell.startswith(f"'{begins}cmd|x")


@pytest.mark.parametrize("words", ["show", "verify", "export"])
def test_without_a_record_it_says_so(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path))

    done = command("audit", words)

    assert (done.code, "no record" in done.err) == (2, True)


def test_a_file_that_is_not_there_is_named(tmp_path: Path, command: Command) -> None:
    done = command("audit", "verify", tmp_path / "none.jsonl")

    assert (done.code, "none.jsonl cannot be read" in done.err) == (2, True)
