"""However long the record is, its last calls are told at once and its chain takes no memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import cli
from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, Event, line_hash
from dcc_bridge.audit.trail import QuestionRecord, RunRecord
from dcc_bridge.cli import account, audit
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.question_facts import answer_facts, question_facts
from tests.stand_ins import FakeHost
from tests.tiers import sampled

PART = 2**14  # bytes; some 50 lines
SHORT, LONG = 1_000, 20_000
COMMANDS = [["show"], ["verify"], ["show", "--call", "00000000000000a1"]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the records, of which a small part is enough."""
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path))
    monkeypatch.setattr(audit, "_TAIL_BYTES", PART)
    return tmp_path


def lines_of(call: str, chance: random.Random) -> Iterator[list[Event]]:
    """Give what is written of a call, in the pieces between which other calls are written."""
    short: dict[str, Any] = {"call": call, "skill": "delete", "client": "claude"}
    full = {**short, "client_name": "Claude Code", "title": "Delete", "arguments": {"name": call}}
    first_of_it = {**full, "first": True}
    if chance.random() < 0.1:
        yield [("rejected", {**first_of_it, "error": "name: it is required."})]
        return
    granted = alone = {**first_of_it, "by": "policy"}
    for number in range(chance.choice((0, 0, 1, 2))):
        first = [] if number == 0 else [("answered", {**short, "by": "host", "ms_shown": 5})]
        facts = full if number else first_of_it
        yield [*first, ("asked", {**facts, "message": "Delete them?", "objects": 2})]
        granted, alone = {**short, "by": "host", "ms_shown": 40}, full
    if chance.random() < 0.1:
        yield [("unanswered", {**alone, "by": "nobody", "why": "timed_out"})]
        return
    yield [("granted", granted), ("begin", {**full, "scene": "shot.ma"})]
    if chance.random() < 0.1:
        return
    yield [("end", {**short, "status": "done", "changed": True, "undo": ["Delete"]})]
    if chance.random() < 0.1:
        yield [("undone", {**short, "by": "host"})]


def write(folder: Path, seed: int, processes: int, calls: int) -> None:
    """Write records of processes that run at the same time, each with calls side by side."""
    chance = random.Random(seed)
    logs = [AuditLog(folder, {"host": f"host {number}"}) for number in range(processes)]
    going: list[tuple[AuditLog, Iterator[list[Event]]]] = []
    for number in range(calls + 8):
        if number < calls:
            call = f"{chance.getrandbits(64):016x}"
            going.append((chance.choice(logs), lines_of(call, chance)))
        while going and (len(going) > 6 or number >= calls):
            at = chance.randrange(len(going))
            events = next(going[at][1], None)
            if events is None:
                del going[at]
            else:
                going[at][0](*events)
    for log in logs:
        log.close()


def ask_and_begin(log: AuditLog, call: Call) -> None:
    """Write a question of a call, as the bridge itself does, and that it changes the scene."""
    asked = Question("Delete them?", call, consent=Consent())
    question = QuestionRecord(log, call, question_facts(asked))
    question.show("host")
    question.end(answer_facts(asked, types.cancelled_response("cancelled")))
    RunRecord(log, call).begin(FakeHost(), call.title)


def as_a_whole(folder: Path, most: int) -> str:
    """Tell the last calls of a record that was read from its first line to its last."""
    accounts: list[list[Any]] = []
    for file in reader.logs(folder):
        of_file: dict[str, list[Any]] = {}
        for line in reader.AuditFile(file).lines():
            if line.fields.get("call") is not None:
                of_file.setdefault(line.fields["call"], []).append(line.fields)
        accounts += of_file.values()
    shown = [line for call in accounts[-most:] for line in account.sentences(call)]
    return "".join(f"{line}\n" for line in shown)


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert cli.main(["audit", "show", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("seed", sampled([2], range(12)))
def test_the_last_calls_are_those_of_the_whole_record(
    seed: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, seed, processes=1 + seed % 4, calls=400)

    for most in (1, 2, 5, 20, 150, 1000):
        assert shown(capsys, "--last", str(most)) == as_a_whole(folder, most)


def test_a_call_that_goes_on_after_many_others_is_as_old_as_its_first_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = AuditLog(folder, {"host": "Maya"})
    long = Call("publish", "Publish", client=Client("claude"))
    ask_and_begin(log, long)
    for _ in range(PART // 2**8):
        ask_and_begin(log, Call("delete", "Delete", client=Client("claude")))
    ask_and_begin(log, long)
    ask_and_begin(log, Call("rename", "Rename", client=Client("claude")))
    log.close()

    for most in (1, 2, 3):
        assert shown(capsys, "--last", str(most)) == as_a_whole(folder, most)


@pytest.mark.parametrize("seed", sampled([1], range(4)))
def test_a_line_that_a_crash_cut_short_is_passed_over(
    seed: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, seed, processes=2, calls=300)
    *_, file = reader.logs(folder)
    file.write_bytes(file.read_bytes()[: -60 * (seed + 1)])

    assert shown(capsys, "--last", "10") == as_a_whole(folder, 10)


@pytest.mark.parametrize("from_end", [1, 5, 20])
def test_of_a_record_that_is_broken_near_its_end_what_is_before_it_is_shown(
    from_end: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, 7, processes=2, calls=300)
    *_, file = reader.logs(folder)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[-from_end] = lines[-from_end].replace(b'"n":', b'"m":')
    file.write_bytes(b"".join(lines))

    assert shown(capsys, "--last", "10") == as_a_whole(folder, 10)


def test_a_line_that_was_changed_long_ago_hides_no_later_call(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls_of(folder, SHORT)
    (file,) = reader.logs(folder)
    before = as_a_whole(folder, 10)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"n":', b'"m":')
    file.write_bytes(b"".join(lines))

    assert shown(capsys, "--last", "10") == before
    assert cli.main(["audit", "verify"]) == 1
    assert "BROKEN at line 4" in capsys.readouterr().out


def test_a_call_by_its_id_and_all_calls_are_those_of_the_whole_record(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, 9, processes=3, calls=200)
    *_, file = reader.logs(folder)
    call = next(str(it.fields["call"]) for it in reader.follow(file) if "call" in it.fields)

    assert shown(capsys, "--last", "0") == as_a_whole(folder, 10**6)
    assert f"call {call}" in shown(capsys, "--call", call)
    assert shown(capsys, "--call", call[:1]).count("for claude") > 1


def calls_of(folder: Path, lines: int) -> None:
    log = AuditLog(folder, {"host": "Maya"})
    for number in range(lines // 4):
        call = {"call": f"{number:016x}", "skill": "delete", "client": "claude"}
        asked = {**call, "first": True, "message": "Delete them?", "names": ["camera"] * 10}
        log(("asked", asked), ("granted", call | {"by": "host", "ms_shown": 40}))
        log(("begin", call | {"scene": "shot.ma"}), ("end", call | {"status": "done"}))
    log.close()


@pytest.mark.parametrize("command", sampled([["show"]], COMMANDS))
def test_the_memory_that_a_look_takes_does_not_grow_with_the_record(
    command: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peaks = []
    for lines in (SHORT, LONG):
        place = folder / str(lines)
        calls_of(place, lines)
        monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(place))
        cli.main(["audit", *command])  # what is imported is imported
        tracemalloc.start()
        cli.main(["audit", *command])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 1.5 * peaks[0]


def test_the_last_calls_of_a_longer_record_take_no_more_lines(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = []
    for lines in (SHORT, LONG):
        count = 0

        def counted(last_hash: str, rest: bytes) -> str:
            nonlocal count
            count += 1
            return line_hash(last_hash, rest)

        place = folder / str(lines)
        calls_of(place, lines)
        monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(place))
        monkeypatch.setattr(reader, "line_hash", counted)
        cli.main(["audit", "show", "--last", "5"])
        verified.append(count)

    assert 5 < verified[1] < verified[0] * 1.2
    assert verified[0] < SHORT / 4
