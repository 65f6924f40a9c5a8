"""What a call leaves in the record, over a real server; and without a record nothing is changed."""

from __future__ import annotations

import logging
import threading
from asyncio import to_thread
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field, SecretStr

from dcc_bridge import carry, cli, confirm, confirm_sync, elicit_form_sync, on_main, skill
from dcc_bridge.audit import reader
from dcc_bridge.audit.redact import HIDDEN
from dcc_bridge.audit.trail import RunRecord
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Expired, Reply
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.errors import Ended
from tests.audit.test_log import FailingDisk, die
from tests.live import LIMIT, AskedFn, Live, accept, live, status, text
from tests.stand_ins import FakeHost, Person
from tests.tiers import sampled

YES = Reply("accept", {"confirm": True})
WHY = {
    "type": "object",
    "properties": {"why": {"type": "string", "minLength": 50, "pattern": "^SHOT-"}},
    "required": ["why"],
}
REASON = "SHOT-0120: the supervisor asked for these cameras to go today."
CANARY = "canary-91ac"
NONE = SecretStr("")


def edit(host: FakeHost) -> Callable[..., Any]:
    @skill(risk="edit", undo="Add a camera")
    def add(name: str, password: SecretStr = NONE) -> None:
        host.items.append(name)
        if name == "bad":
            raise RuntimeError(f"no {name}, and {password.get_secret_value()}")

    return add


def destructive(host: FakeHost) -> Callable[..., Any]:
    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        for item in confirm_sync("Delete them?", items=lambda: host.items, verb="Delete"):
            host.items.remove(item)

    return delete


def look() -> str:
    """Look."""
    return "seen"


def written(running: Live) -> list[dict[str, Any]]:
    """Give what the record says of calls so far, once it was found whole."""
    (first,) = reader.logs(running.bridge.audit.folder)
    record = reader.read(first)
    assert record.trouble is None
    return [line.fields for line in record.lines() if "call" in line.fields]


def played(
    folder: Path,
    host: FakeHost,
    *skills: Callable[..., Any],
    given: dict[str, Any] | None = None,
    person: Person | None = None,
    asked: AskedFn | None = None,
    **settings: Any,
) -> list[dict[str, Any]]:
    """Call the first of some skills once, and give what the record says of it."""
    with live(folder, *skills, host=host, presenter=person, **settings) as running:
        running.call(skills[0].__name__, given, asked=asked)
        return written(running)


def events(lines: list[dict[str, Any]]) -> list[str]:
    return [line["event"] for line in lines]


def test_an_edit_that_nobody_is_asked_about_is_on_record_as_that_before_it_begins(
    tmp_path: Path,
) -> None:
    host = FakeHost()

    unasked, begin, end = lines = played(tmp_path, host, edit(host), given={"name": "cam1"})

    assert events(lines) == ["unasked", "begin", "end"]
    assert "by" not in unasked
    assert (begin["client"], begin["arguments"]) == ("test", {"name": "cam1"})
    assert begin["client_name"]
    assert (end["status"], end["changed"], end["undo"]) == ("done", True, host.labels)
    (record,) = map(reader.read, reader.logs(tmp_path / "audit"))
    assert (record.ending, record.unfinished) == ("closed", [])


def test_a_read_leaves_no_record(tmp_path: Path) -> None:
    with live(tmp_path, skill(risk="read")(look)) as running:
        running.call("look")

        assert running.bridge.audit.file is None


def test_what_is_said_at_the_host_of_an_edit_names_the_call_of_the_record(tmp_path: Path) -> None:
    host, person = FakeHost(has_ui=True), Person()

    lines = played(tmp_path, host, edit(host), given={"name": "cam1"}, person=person)

    assert person.noticed == [lines[-1]["call"]]


def test_a_consent_is_asked_granted_begun_and_ended_in_that_order(tmp_path: Path) -> None:
    host = FakeHost([f"cam{n}" for n in range(60)], has_ui=True)

    lines = played(tmp_path, host, destructive(host), person=Person(YES))

    asked, granted, *_ = lines
    assert events(lines) == ["asked", "granted", "begin", "end"]
    assert (asked["objects"], len(asked["names"]), asked["surface"]) == (60, 50, "host")
    assert (granted["by"], granted["answer"]) == ("host", {"confirm": True})
    assert granted["ms_shown"] >= 0


def test_the_record_has_the_arguments_as_the_person_saw_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that the agent left out as well; and nothing that is hidden."""
    host, no = FakeHost(has_ui=True), Reply("decline")
    given = {"name": "cam1\nname: cam2", "password": CANARY}

    @skill(risk="destructive", undo=False)
    def wipe(name: str, password: SecretStr, frames: int = 24) -> None:
        """Wipe it."""

    lines = played(tmp_path, host, wipe, given=given, person=Person(no))
    cli.main(["audit", "show", *map(str, reader.logs(tmp_path / "audit"))])

    assert lines[0]["message"] == "Wipe?"
    assert lines[0]["shown"] == {"name": given["name"], "password": HIDDEN, "frames": "24"}
    assert '"Wipe?" with {"name": "cam1\\nname: cam2"' in capsys.readouterr().out


def test_a_clients_consent_is_not_taken_for_a_persons(tmp_path: Path) -> None:
    host = FakeHost(["cam0"])

    lines = played(tmp_path, host, destructive(host), asked=accept(confirm=True))

    assert [line["by"] for line in lines if line["event"] == "granted"] == ["unverified client"]


@pytest.mark.parametrize(("allow", "ends"), [("allow", "end"), ("refuse", "no_consent")])
def test_a_fallback_that_stands_for_consent_is_called_that(
    allow: str, ends: str, tmp_path: Path
) -> None:
    host = FakeHost(["cam0"])

    @skill(risk="destructive", confirms=True)
    def wipe() -> None:
        form = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
        if elicit_form_sync("Sure?", form, fallback_values={"sure": True}).accepted:
            host.items.clear()

    first, *_, last = played(tmp_path, host, wipe, unattended=allow)

    wanted = ("granted", "unattended") if allow == "allow" else ("answered", "fallback")
    assert (first["event"], first["by"]) == wanted
    assert last["event"] == ends


@pytest.mark.parametrize(
    ("reply", "event"),
    [(Reply("decline", reason="not today"), "declined"), (Expired(), "timed_out")],
)
def test_a_refusal_is_on_record_and_nothing_begins(
    reply: Reply | Expired, event: str, tmp_path: Path
) -> None:
    host = FakeHost(["cam0"], has_ui=True)
    person = Person(reply)

    lines = played(tmp_path, host, destructive(host), person=person)

    assert events(lines) == ["asked", event, "end"]
    assert lines[1].get("reason") == (reply.reason if isinstance(reply, Reply) else None)


def test_the_agent_is_told_why_the_person_said_no_and_not_to_try_another_way(
    tmp_path: Path,
) -> None:
    """In one line of plain text, of 500 characters at most; the record has the same."""
    host = FakeHost(["cam0"], has_ui=True)
    odd = "not\nthe \u202ehero"
    seen, cut = safe_line(odd), "x" * 499 + "…"
    person = Person(Reply("decline", reason=odd), Reply("decline", reason="x" * 5000))

    with live(tmp_path, destructive(host), host=host, presenter=person) as running:
        short, long = text(running.call("delete")), text(running.call("delete"))

        kept = [line["reason"] for line in written(running) if line["event"] == "declined"]
    assert f"The reason given: {seen!r}. Nothing was changed." in short
    assert "Do not try to reach the same result another way" in short
    assert repr(cut) in long
    assert kept == [seen, cut]


def test_a_skill_can_read_why_its_form_was_declined(tmp_path: Path) -> None:
    host = FakeHost(has_ui=True)
    person = Person(Reply("decline", reason="ask the lead"))

    @skill(risk="read")
    def explain() -> str:
        return str(elicit_form_sync("Why?", WHY).reason)

    with live(tmp_path, explain, host=host, presenter=person, input="host") as running:
        assert text(running.call("explain")) == "ask the lead"


@pytest.mark.parametrize(("tries", "event"), [(True, "reverted"), (False, "rolled_back")])
def test_what_failed_is_told_as_taken_back(tries: bool, event: str, tmp_path: Path) -> None:
    host = FakeHost()
    host.tries = tries

    lines = played(tmp_path, host, edit(host), given={"name": "bad"})

    assert events(lines) == ["unasked", "begin", event]
    assert "no bad" in lines[-1]["error"]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_nothing_begins_on_record_once_the_call_has_ended(is_recorded: bool) -> None:
    """A thread that a body left behind edits while another thread ends the call."""
    names = list[str]()

    def note(*events: tuple[str, object], durable: bool = False) -> None:
        names.extend(name for name, _ in events)

    call = Call("add", "Add", "edit", Client("test"))
    call.is_recorded = is_recorded
    record = RunRecord(note, call)

    record.end("done", None, [], [])
    with pytest.raises(Ended):
        record.begin(FakeHost(), "Add")

    assert names == ["end"] * is_recorded
    assert not record.has_begun


def test_an_async_edit_is_on_record_before_its_first_step(tmp_path: Path) -> None:
    host = FakeHost()

    @skill(risk="edit")
    async def add_later() -> None:
        await on_main(host.items.append, "cam1")
        await on_main(host.items.append, "cam2")

    assert events(played(tmp_path, host, add_later)) == ["unasked", "begin", "end"]


def test_what_a_schema_hides_is_not_in_the_log_either(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    with live(tmp_path, edit(FakeHost()), host=FakeHost()) as running:
        running.call("add", {"name": "bad", "password": CANARY})

    assert "no bad, and (hidden)" in caplog.text
    assert CANARY not in caplog.text


@pytest.mark.parametrize("ends", ["accept", "cancel"])
def test_a_justification_can_be_read_back(ends: str, tmp_path: Path) -> None:
    """Also where it was typed and the question was then cancelled."""
    host = FakeHost(has_ui=True)
    person = Person(Reply("accept" if ends == "accept" else "cancel", {"why": REASON}))

    @skill(risk="edit")
    def explain() -> None:
        elicit_form_sync("Why?", WHY)

    lines = played(tmp_path, host, explain, person=person, input="host")

    kept = {line["event"]: line.get("answer") or line.get("typed") for line in lines}
    assert kept["answered" if ends == "accept" else "cancelled"] == {"why": REASON}


def test_a_skill_that_calls_another_is_one_call_on_record(tmp_path: Path) -> None:
    host = FakeHost(["cam0"], has_ui=True)
    inner = destructive(host)

    @skill(risk="edit")
    def tidy() -> None:
        host.items.append("cam1")
        inner()

    lines = played(tmp_path, host, tidy, person=Person(YES))

    assert {(line["call"], line["skill"]) for line in lines} == {(lines[0]["call"], "tidy")}
    assert [line.get("inner_skill") for line in lines] == [None, None, "delete", None, None]
    assert events(lines) == ["unasked", "begin", "asked", "granted", "end"]


@pytest.mark.parametrize("thread", [False, True])
def test_an_async_skill_that_calls_another_names_it(thread: bool, tmp_path: Path) -> None:
    """Also where that one asks on a thread of its own."""
    host = FakeHost(["cam0"], has_ui=True)
    person = Person(Reply("decline"))

    @skill(risk="destructive", name="wipe_all", confirms=True)
    async def wipe() -> None:
        ask = carry(lambda: confirm_sync("Wipe?")) if thread else None
        await (to_thread(ask) if ask else confirm("Wipe?"))

    @skill(risk="edit")
    async def tidy() -> None:
        await wipe()

    lines = played(tmp_path, host, tidy, person=person)

    (asked,) = [line for line in lines if line["event"] == "asked"]
    assert (asked["skill"], asked["inner_skill"]) == ("tidy", "wipe_all")


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("publish", {"key": CANARY, "frames": "many"}, "frames: input should be a valid integer"),
        ("publish", {"keey": CANARY, "key": 1}, "keey: there is no such argument"),
        ("publish", {"key": [CANARY]}, "key: input should be a valid string"),
        ("vanish", {"key": CANARY}, "vanish"),
    ],
)
def test_a_call_that_is_rejected_is_on_record_without_its_values(
    name: str, given: dict[str, Any], says: str, tmp_path: Path
) -> None:
    @skill(risk="read")
    def publish(
        key: Annotated[str, Field(json_schema_extra={"redact": True})], frames: int = 1
    ) -> None:
        """Publish."""

    with live(tmp_path, publish) as running:
        result = running.call(name, given)

        (line,) = written(running)
    assert (line["event"], line["skill"], line["client"]) == ("rejected", name, "test")
    assert line["argument_names"] == list(given)
    assert line["error"] == text(result)
    assert says in line["error"]
    files = [file.read_text() for file in (tmp_path / "audit").iterdir()]
    assert CANARY not in "".join(files)


def test_an_undo_is_on_record_with_what_was_undone_and_by_whom(tmp_path: Path) -> None:
    """In the panel and the toast it is the person at the host, with `undo_last` the client."""
    host, person = FakeHost(has_ui=True), Person()

    with live(tmp_path, edit(host), host=host, presenter=person) as running:
        for number in range(3):
            running.call("add", {"name": f"cam{number}"})
        added = [line["call"] for line in written(running) if line["event"] == "begin"]
        toast = person.undos[2]
        assert toast is not None
        toast()
        running.bridge.undo(str(host.undo_mark().label))
        running.call("undo_last")

        lines = written(running)
    undone = [line for line in lines if line["event"] == "undone"]
    agents = next(line["call"] for line in lines if line.get("skill") == "undo_last")
    assert [line["call"] for line in undone] == added[::-1]
    assert [(line["by"], line.get("by_call")) for line in undone] == [
        *(("host", None), ("host", None)),
        ("client", agents),
    ]
    assert host.items == []


def test_the_hosts_own_undo_and_redo_of_a_call_are_on_record(tmp_path: Path) -> None:
    """Nothing looks at the host in vain: it says that its scene has changed."""
    host = FakeHost(has_ui=True)

    def events(running: Live) -> list[tuple[str, str, str]]:
        lines = written(running)
        return [
            (line["event"], line["call"], line["by"])
            for line in lines
            if line["event"] in ("undone", "redone")
        ]

    with live(tmp_path, edit(host), host=host) as running:
        running.call("add", {"name": "cam1"})
        (call,) = [line["call"] for line in written(running) if line["event"] == "begin"]
        host.undo()
        running.until(lambda: len(events(running)) == 1)
        host.redo()
        running.until(lambda: len(events(running)) == 2)

        noted = events(running)

    assert noted == [("undone", call, "host"), ("redone", call, "host")]


def test_what_a_schema_hides_is_nowhere_in_the_record_nor_in_a_question(tmp_path: Path) -> None:
    host = FakeHost(["cam0"], has_ui=True)
    person = Person(YES, Reply("accept", {"nick": CANARY}), Reply("cancel", {"nick": CANARY}))

    @skill(risk="destructive", undo=False)
    def publish(key: Annotated[str, Field(json_schema_extra={"redact": True})]) -> None:
        form = {"type": "object", "properties": {"nick": {"type": "string", "x-redact": True}}}
        for _ in range(2):
            elicit_form_sync(f"Who, with {key}?", form)
        host.items.append("cam1")
        raise RuntimeError(f"{key} was refused")

    with live(tmp_path, publish, edit(host), host=host, presenter=person, input="host") as running:
        running.call("publish", {"key": CANARY})
        running.call("add", {"name": "bad", "password": CANARY})

        assert {"no_consent", "reverted"} <= set(events(written(running)))
    files = [file.read_text() for file in (tmp_path / "audit").iterdir()]
    assert CANARY not in "".join(files)
    assert CANARY not in person.shown[0].message


# ---- a disk that fails


@pytest.mark.parametrize(
    ("kind", "half"),
    sampled([("edit", True), ("destructive", False)], ["edit", "destructive"], [False, True]),
)
def test_where_the_record_cannot_be_written_nothing_is_changed(
    kind: str, half: bool, tmp_path: Path
) -> None:
    """The Nth thing done with the disk fails, for every N; each call ends all the same."""
    for nth in range(1, 14):
        host = FakeHost(["cam0"], has_ui=True)
        skills = edit(host), destructive(host)
        folder = tmp_path / str(nth)
        person = Person(YES)
        with live(folder, *skills, host=host, presenter=person, audit=folder / "a") as running:
            running.bridge.audit.disk = FailingDisk(nth, half=half)
            before = list(host.items)

            if kind == "edit":
                result = running.call("add", {"name": "cam1"})
            else:
                result = running.call("delete")

        changed = host.items != before
        records = map(reader.read, reader.logs(folder / "a"))
        lines = [line.event for record in records for line in record.lines()]
        assert not changed or {"unasked" if kind == "edit" else "granted", "begin"} <= set(lines)
        assert not person.shown or "asked" in lines
        assert changed == (status(result) == "done")
        assert changed or "cannot be written" in text(result)


def test_reads_go_on_without_a_record(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    host = FakeHost(["cam0"])

    with live(tmp_path, skill(risk="read")(look), edit(host), host=host, audit=blocked) as running:
        assert text(running.call("look")) == "seen"
        refused = running.call("add", {"name": "cam1"})

    assert status(refused) == "failed"
    assert "DCC_BRIDGE_AUDIT" in text(refused)
    assert (host.items, host.labels) == (["cam0"], [])


def test_a_skill_that_swallows_the_refusal_is_undone_all_the_same(tmp_path: Path) -> None:
    host = FakeHost(["cam0"], has_ui=True)

    @skill(risk="destructive", confirms=True)
    def push_on() -> None:
        try:
            confirm_sync("Delete them?", items=list(host.items))
        except Exception:  # noqa: BLE001 - what it does wrong
            host.items.clear()
        host.items.clear()

    for nth in range(1, 9):
        folder = tmp_path / str(nth)
        with live(folder, push_on, host=host, presenter=Person(YES)) as running:
            running.bridge.audit.disk = FailingDisk(nth)
            host.items = ["cam0"]
            result = running.call("push_on")

        assert (host.items == []) == (status(result) == "done")


def test_the_start_ends_the_record_of_a_process_that_died(tmp_path: Path) -> None:
    die(tmp_path / "audit")
    (file,) = reader.logs(tmp_path / "audit")
    with live(tmp_path, skill(risk="read")(look)) as running:
        running.until(lambda: reader.read(file).ending == "recovered")


def test_a_start_does_not_wait_until_the_record_of_a_process_that_died_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read = threading.Event()
    monkeypatch.setattr(reader, "recover", lambda folder: is_read.wait(LIMIT))

    with live(tmp_path, skill(risk="read")(look)) as running:
        answered = text(running.call("look")), is_read.is_set()
        is_read.set()

    assert answered == ("seen", False)
