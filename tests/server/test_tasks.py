"""A call that lasts is a task: its client may leave, come back, or be another process."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    EmptyResult,
    Request,
)

from dcc_bridge import (
    check_cancelled,
    elicit_form,
    elicit_form_sync,
    on_main,
    report_progress,
    skill,
)
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.types import TASKS
from dcc_bridge.server import fast_path, parked_calls, tasks
from tests.live import ERAS, LIMIT, Live, live
from tests.server.skills import CONFIRM, NAME, Skills
from tests.server.task_wire import ENDED, Message, Wire
from tests.stand_ins import FakeHost, Person
from tests.threats.raw import Raw

MISSING_CAPABILITY = -32021
YES = {"action": "accept", "content": {"confirm": True}}


def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a task of no call, however long it takes to come to its end or its question."""
    monkeypatch.setattr(tasks, "TASK_AFTER_S", LIMIT)
    monkeypatch.setattr(fast_path, "FAST_PATH_S", LIMIT)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a task of each call that does not end at once."""
    monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.05)


class Bake:
    """A skill on a thread of its own that goes on until it may end."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.ran = 0

    def skill(self) -> Callable[..., Any]:
        @skill(risk="read", thread="any")
        def bake(fails: bool = False) -> str:
            self.ran += 1
            while not self.may_end.wait(0.005):
                check_cancelled()
            if fails:
                raise ValueError("The cache is full.")
            return "baked"

        return bake

    def end_late(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """End once a call is the SDK's, and so late that it could be a task by then."""
        begin = parked_calls.ParkedCalls.begin

        async def begin_and_end(*args: Any) -> Any:
            threading.Timer(4 * tasks.TASK_AFTER_S, self.may_end.set).start()
            return await begin(*args)

        monkeypatch.setattr(fast_path, "FAST_PATH_S", 0.02)
        monkeypatch.setattr(parked_calls.ParkedCalls, "begin", begin_and_end)


@pytest.fixture
def bake() -> Iterator[Bake]:
    baking = Bake()
    yield baking
    baking.may_end.set()


@pytest.fixture
def baking(tmp_path: Path, bake: Bake) -> Iterator[Live]:
    with live(tmp_path, bake.skill()) as running:
        yield running


@pytest.fixture
def wire(baking: Live) -> Wire:
    return Wire.beside(baking)


# ---- what is on the wire


def test_a_call_that_lasts_ends_its_request_with_a_handle_and_is_fetched_by_it(
    wire: Wire, bake: Bake
) -> None:
    handle = wire.call("bake")
    working = wire.get(handle["taskId"])
    bake.may_end.set()
    ended = wire.until(handle["taskId"])

    assert (handle["resultType"], handle["status"]) == ("task", "working")
    assert handle.keys().isdisjoint({"result", "error", "inputRequests", "requestState", "task"})
    assert (working["resultType"], working["status"]) == ("complete", "working")
    assert working["taskId"] == handle["taskId"]
    assert ended["result"]["content"] == [{"type": "text", "text": "baked"}]
    assert ended["result"]["_meta"]["dcc-bridge/status"] == "done"
    assert bake.ran == 1


def test_a_call_that_ends_soon_is_no_task(
    wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    late(monkeypatch)
    bake.may_end.set()

    result = wire.call("bake")

    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == "baked"


@pytest.mark.parametrize("asks_for_one", [False, True], ids=["", "with the old parameter"])
def test_a_client_that_did_not_declare_it_never_gets_a_task(
    baking: Live, bake: Bake, asks_for_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"task": {"ttl": 60_000}} if asks_for_one else {}
    bake.end_late(monkeypatch)

    result = Wire.beside(baking, declares=False).call("bake", **old)

    assert result["resultType"] == "complete"
    assert "taskId" not in result


def test_a_client_that_has_declared_tasks_once_is_known_to_have_them(
    baking: Live, wire: Wire
) -> None:
    """Claude Code declares them in its calls alone."""
    before = Wire.beside(baking, declares=False).call("check_connection")
    wire.call("check_connection")
    after = Wire.beside(baking, declares=False).call("check_connection")

    [first] = before["structuredContent"]["clients"]
    [later] = after["structuredContent"]["clients"]
    assert (first["tasks"], later["tasks"]) == (False, True)


def test_a_host_lists_the_extension(wire: Wire) -> None:
    able = wire.result("server/discover", {})["capabilities"]

    assert able["extensions"][TASKS] == {}
    assert "tasks" not in able


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_each_method_refuses_who_did_not_declare_and_what_is_not_theirs(
    method: str, baking: Live, wire: Wire, bake: Bake
) -> None:
    task = wire.call("bake")["taskId"]
    params = {"taskId": task, "inputResponses": {}}
    stranger, silent = Wire.beside(baking, "other"), Wire.beside(baking, declares=False)

    assert silent.code(method, params) == MISSING_CAPABILITY
    assert stranger.code(method, params) == INVALID_PARAMS
    for forged in (f"{task[:-1]}{'10'[task[-1] == '1']}", f"{task}0"):
        assert wire.code(method, params | {"taskId": forged}) == INVALID_PARAMS
    assert wire.code(method, params, Mcp_Name=f"{task}0") == HEADER_MISMATCH
    assert not bake.may_end.is_set()


@pytest.mark.parametrize("era", ERAS[:2])
def test_the_older_eras_know_no_tasks(era: str, tmp_path: Path) -> None:
    async def agent() -> int:
        async with running.client(era) as client:
            request = Request(method="tasks/get", params=tasks.TaskParams(task_id="fake-0000.00"))
            with pytest.raises(MCPError) as caught:
                await client.session.send_request(request, EmptyResult)
        return caught.value.code

    with live(tmp_path) as running:
        assert running.run(agent) == METHOD_NOT_FOUND


# ---- the nine rules


def test_a_retry_with_an_old_state_gives_the_same_task_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, may_end = list[int](), threading.Event()
    late(monkeypatch)

    @skill(risk="read", thread="any")
    def ask_and_work() -> str:
        ran.append(1)
        elicit_form_sync("Go on?", CONFIRM)
        may_end.wait(LIMIT)
        return "done"

    with live(tmp_path, ask_and_work) as running:
        wire = Wire.beside(running)
        asked = wire.call("ask_and_work")
        monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.05)
        again = {
            "inputResponses": dict.fromkeys(asked["inputRequests"], YES),
            "requestState": asked["requestState"],
        }
        handles = [wire.call("ask_and_work", **again) for _ in range(3)]
        may_end.set()
        ended = wire.until(handles[0]["taskId"])

    assert asked["resultType"] == "input_required"
    assert {it["taskId"] for it in handles} == {ended["taskId"]}
    assert ended["result"]["content"][0]["text"] == "done"
    assert ran == [1]


def test_the_id_begins_with_the_host_and_the_call_and_is_never_logged_whole(
    tmp_path: Path, baking: Live, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "dcc_bridge")
    caplog.set_level(logging.INFO)
    task = str(wire.call("bake")["taskId"])
    wire.get(task)
    wire.cancel(task)
    wire.until(task)
    wire.code("tasks/get", {"taskId": f"{task}0"})

    call = baking.bridge.recent.records()[0].id
    written = "".join(file.read_text() for file in (tmp_path / "audit").glob("*.jsonl"))
    assert re.fullmatch(rf"{baking.bridge.instance.id}\.{call}[0-9a-f]{{16}}", task)
    assert call in written
    assert task not in written + caplog.text


def test_a_call_cut_off_before_its_handle_is_out_is_abandoned_and_afterwards_goes_on(
    baking: Live, wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = Raw.to(baking)
    body, headers = wire.request("tools/call", {"name": "bake", "arguments": {}})
    data = json.dumps(body).encode()

    monkeypatch.setattr(tasks, "TASK_AFTER_S", LIMIT)
    with raw.open() as sock:
        sock.sendall(raw.head(len(data), headers) + data)
        baking.until(lambda: bake.ran == 1)
    baking.until(lambda: baking.bridge.recent.records()[0].ended is not None)
    early = baking.bridge.recent.records()[0].state
    monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.05)
    task = wire.call("bake")["taskId"]  # its connection closes
    bake.may_end.set()

    assert wire.until(task)["result"]["content"][0]["text"] == "baked"
    assert early == "cancelled"
    assert bake.ran == 2


def test_the_question_of_a_lost_handle_ends_at_its_deadline_and_recent_calls_tells(
    tmp_path: Path,
) -> None:
    @skill(risk="read", task="ask")
    def choose() -> str | None:
        return elicit_form_sync("Which name?", NAME).message

    with live(tmp_path, choose, deadline=0.1) as running:
        environment = running.bridge._runner.environment
        # its call may wait longer for the main thread
        environment.settings = replace(environment.settings, deadline=LIMIT)
        Wire.beside(running).call("choose")  # and nobody comes with the id
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        told = running.call("recent_calls").structured_content

    assert told is not None
    assert told["calls"][0]["answered"] == "nobody answered in time"


@pytest.mark.parametrize("as_task", [True, False], ids=["in a task", "by an old state"])
def test_a_question_that_is_fetched_again_says_how_much_of_its_time_is_left(
    as_task: bool, tmp_path: Path
) -> None:
    """The person of a client that comes late is told when it ends, by the broker's clock."""

    @skill(risk="read", task="ask" if as_task else "")
    def choose() -> str | None:
        return elicit_form_sync("Which name?", NAME).message

    def limit(look: Message) -> float:
        (request,) = look["inputRequests"].values()
        return float((request["params"] if as_task else look)["_meta"][types.LIMIT])

    with live(tmp_path, choose, deadline=200.0) as running:
        wire, began = Wire.beside(running), time.monotonic()
        asked = wire.call("choose")
        again = {"requestState": asked.get("requestState")}
        first, second = (
            limit(wire.get(asked["taskId"]) if as_task else wire.call("choose", **again))
            for _ in range(2)
        )
        least = began + 200.0 - time.monotonic()

    assert least <= second < first < 200.0


def test_a_question_of_a_task_has_the_same_time_as_any_other(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(None, None)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        wire = Wire.beside(running)
        for _ in range(2):
            task = wire.call("delete")["taskId"]
            wire.cancel(task)
            wire.until(task)

    assert [question.offers.soon for question in person.shown] == [300.0, 300.0]


def test_the_times_of_a_task_never_go_back_and_its_ttl_is_kept(
    wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "RESULT_TTL_S", LIMIT)

    class Turned(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) - timedelta(hours=1)

    looks = [wire.call("bake")]
    monkeypatch.setattr(tasks, "datetime", Turned)  # somebody sets the computer's clock
    task = looks[0]["taskId"]
    looks += [wire.get(task) for _ in range(3)]
    bake.may_end.set()
    looks.append(wire.until(task))
    alive = wire.get(task)
    monkeypatch.setattr(tasks, "RESULT_TTL_S", 0.0)
    code = wire.code("tasks/get", {"taskId": task})

    updated = [it["lastUpdatedAt"] for it in looks]
    assert updated == sorted(updated)
    assert updated[1] == updated[2] == updated[3]  # nothing had changed
    assert {it["createdAt"] for it in looks} == {looks[0]["createdAt"]}
    ttls = [it["ttlMs"] for it in looks]
    assert ttls == sorted(ttls)
    assert alive["ttlMs"] == ttls[-1]
    assert code == INVALID_PARAMS


def test_over_the_cap_a_call_waits_in_its_request_as_without_tasks(
    wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MAX_TASKS", 1)
    handle = wire.call("bake")
    bake.end_late(monkeypatch)

    result = wire.call("bake")

    assert (handle["resultType"], result["resultType"]) == ("task", "complete")


def test_at_the_cap_a_task_whose_end_was_fetched_makes_room_and_who_comes_again_is_told(
    wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MAX_TASKS", 1)
    task = wire.call("bake")["taskId"]
    bake.may_end.set()
    wire.until(task)
    bake.may_end.clear()
    threading.Timer(LIMIT / 4, bake.may_end.set).start()  # else it would wait for ever

    handle = wire.call("bake")
    gone = wire.send("tasks/get", {"taskId": task})["error"]["message"]

    assert handle["resultType"] == "task"
    assert "its result was fetched and another one needed the place" in gone


def test_unfetched_results_of_one_client_leave_another_client_its_tasks(
    baking: Live, wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MAX_TASKS", 3)
    monkeypatch.setattr(tasks, "MAX_CLIENT_TASKS", 2)
    other = Wire.beside(baking, "other")
    handles = [wire.call("bake"), wire.call("bake")]
    bake.end_late(monkeypatch)
    third = wire.call("bake")
    bake.may_end.clear()

    another = other.call("bake")

    assert [it["resultType"] for it in handles] == ["task", "task"]
    assert third["resultType"] == "complete"
    assert another["resultType"] == "task"


def test_at_the_share_of_a_client_only_its_own_fetched_task_makes_room(
    baking: Live, wire: Wire, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MAX_CLIENT_TASKS", 1)
    other = Wire.beside(baking, "other")
    tasks_of_both = [wire.call("bake")["taskId"], other.call("bake")["taskId"]]
    bake.may_end.set()
    for client, task in zip((wire, other), tasks_of_both, strict=True):
        client.until(task)
    bake.may_end.clear()
    threading.Timer(LIMIT / 4, bake.may_end.set).start()  # else it would wait for ever

    handle = wire.call("bake")

    assert handle["resultType"] == "task"
    assert wire.code("tasks/get", {"taskId": tasks_of_both[0]}) == INVALID_PARAMS
    assert other.get(tasks_of_both[1])["status"] == "completed"


def test_a_task_is_kept_though_other_calls_that_ended_are_too_many(
    tmp_path: Path, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parked_calls, "MAX_FINISHED", 0)
    skills = Skills()

    with live(tmp_path, bake.skill(), skills.delete(), host=skills.host) as running:
        wire = Wire.beside(running)
        task = wire.call("bake")["taskId"]
        bake.may_end.set()
        wire.until(task)
        late(monkeypatch)
        asked = wire.call("delete")
        answers = {key: {"action": "decline"} for key in asked["inputRequests"]}
        wire.call("delete", inputResponses=answers, requestState=asked["requestState"])
        wire.call("bake")
        look = wire.get(task)

    assert look["result"]["content"][0]["text"] == "baked"


def test_a_task_says_what_progress_says(tmp_path: Path) -> None:
    may_go_on = threading.Event()

    @skill(risk="destructive", confirms=True)
    def render() -> str:
        return str(elicit_form_sync("Overwrite?", CONFIRM).accepted)

    @skill(risk="read", thread="any")
    def count() -> None:
        report_progress(3, 8, "frames")
        may_go_on.wait(LIMIT)

    host = FakeHost(["a"], has_ui=True)
    with live(tmp_path, render, count, host=host, presenter=Person(None)) as running:
        wire = Wire.beside(running)
        counting = wire.call("count")["taskId"]
        counted = wire.when(counting, lambda look: "frames" in look.get("statusMessage", ""))
        may_go_on.set()
        ended = wire.until(counting)
        asking = wire.get(wire.call("render")["taskId"])

    assert counted["statusMessage"] == "3 of 8 frames"
    assert "statusMessage" not in ended
    assert asking["statusMessage"] == f"Waiting for the person's answer in {host.name}"


def test_a_cancel_in_the_panel_completes_with_our_sentence_and_the_clients_own_cancels(
    baking: Live, wire: Wire
) -> None:
    first, second = (wire.call("bake")["taskId"] for _ in range(2))
    baking.bridge.cancel(first.rpartition(".")[2][:16])
    wire.cancel(second)
    panel, own = wire.until(first), wire.until(second)
    again = wire.cancel(second), wire.cancel(first)  # it has ended

    assert (panel["status"], panel["result"]["isError"]) == ("completed", True)
    assert "Bake" in panel["result"]["content"][0]["text"]
    assert own["status"] == "cancelled"
    assert "result" not in own
    assert again[0].keys() == again[1].keys() <= {"resultType", "_meta"}
    assert again[0]["resultType"] == "complete"


def test_a_failure_of_the_skill_completes_the_task_with_an_error_result(
    wire: Wire, bake: Bake
) -> None:
    task = wire.call("bake", arguments={"fails": True})["taskId"]
    bake.may_end.set()

    ended = wire.until(task)

    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
    assert "The cache is full." in ended["result"]["content"][0]["text"]


def test_a_task_may_ask_more_often_than_a_request_each_under_a_key_of_its_own(
    tmp_path: Path,
) -> None:
    @skill(risk="read", task="ask")
    def interview() -> list[str]:
        return [str((elicit_form_sync("Name?", NAME).data or {})["name"]) for _ in range(12)]

    with live(tmp_path, interview) as running:
        wire, keys = Wire.beside(running), list[str]()
        task = wire.call("interview")["taskId"]
        while (look := wire.until(task, "input_required", *ENDED))["status"] not in ENDED:
            for key in look["inputRequests"]:
                keys.append(key)
                wire.update(task, **{key: {"action": "accept", "content": {"name": key}}})
                wire.update(task, **{key: {"action": "decline"}, "forged": YES})

    assert len(set(keys)) == len(keys) == 12
    assert look["result"]["structuredContent"]["result"] == keys


def test_two_questions_at_once_are_answered_one_by_one(tmp_path: Path) -> None:
    @skill(risk="read", task="ask")
    async def both() -> list[Any]:
        asked = (elicit_form(f"{it}?", NAME, key=it) for it in ("first", "second"))
        return [(it.data or {})["name"] for it in await asyncio.gather(*asked)]

    with live(tmp_path, both) as running:
        wire = Wire.beside(running)
        task = wire.call("both")["taskId"]
        wire.when(task, lambda look: len(look.get("inputRequests", ())) == 2)
        wire.update(task, second={"action": "accept", "content": {"name": "b"}})
        left = wire.get(task)
        wire.update(task, first={"action": "accept", "content": {"name": "a"}})
        ended = wire.until(task)

    assert (left["status"], list(left["inputRequests"])) == ("input_required", ["first"])
    assert ended["result"]["structuredContent"]["result"] == ["a", "b"]


@pytest.mark.parametrize(
    "answer", [[], 7, {"action": "accept", "content": []}, {"action": "maybe"}]
)
def test_an_unreadable_answer_is_asked_for_once_more_and_consents_to_nothing(
    answer: Any, tmp_path: Path
) -> None:
    @skill(risk="read", task="ask")
    def ask_as_task() -> bool:
        return elicit_form_sync("Delete?", CONFIRM).accepted

    with live(tmp_path, ask_as_task) as running:
        wire = Wire.beside(running)
        task = wire.call("ask_as_task")["taskId"]
        (key,) = wire.until(task, "input_required")["inputRequests"]
        wire.update(task, **{key: answer})
        again = wire.when(task, lambda look: {key} != set(look.get("inputRequests", {key})))
        (other,) = again["inputRequests"]
        wire.update(task, **{key: YES, other: {"action": "decline"}})
        ended = wire.until(task)

    assert ended["result"]["structuredContent"] == {"result": False}


@pytest.mark.long
def test_after_a_restart_the_record_says_how_a_call_ended(tmp_path: Path) -> None:
    host, may_end = FakeHost(["a", "b"]), threading.Event()

    @skill(risk="edit")
    async def shorten(fails: bool = False) -> None:
        await on_main(host.items.pop)
        while not may_end.is_set():
            await on_main(lambda: None)
        if fails:
            raise ValueError("The disk is full.")

    @skill(risk="read", thread="any")
    def look() -> None:
        while not may_end.wait(0.005):
            check_cancelled()

    ids = []
    with live(tmp_path, shorten, look, host=host) as running:
        wire = Wire.beside(running)
        for tool, arguments in (("shorten", {"fails": True}), ("shorten", {}), ("look", {})):
            may_end.clear()
            ids.append(str(wire.call(tool, arguments=arguments)["taskId"]))
            may_end.set()
            wire.until(ids[-1])

    with live(tmp_path, host=host) as again:
        wire, other = Wire.beside(again), Wire.beside(again, "other")
        codes = [wire.code("tasks/get", {"taskId": f"{task[:-4]}beef"}) for task in ids]
        codes += [other.code("tasks/get", {"taskId": task}) for task in ids]
        looks = [wire.get(task) for task in ids]
        refused = [
            wire.send(method, {"taskId": task, "inputResponses": {}})["error"]
            for task in ids
            for method in ("tasks/update", "tasks/cancel")
        ]

    assert [it["status"] for it in looks] == ["failed"] * 3
    assert [it["message"] for it in refused] == [
        look["error"]["message"] for look in looks for _ in range(2)
    ]
    assert {it["code"] for it in refused} == {INVALID_PARAMS}
    failed, done, read = (it["error"]["message"] for it in looks)
    assert "The disk is full." in failed
    assert "shorten was done, and was not saved: the scene had no file" in done
    assert "look changed nothing. Call it again." in read
    assert set(codes) == {INVALID_PARAMS}


@pytest.mark.parametrize("saved", ["never", "before", "afterwards"])
def test_after_a_restart_an_edit_that_was_not_saved_is_told_to_be_so(
    saved: str, tmp_path: Path
) -> None:
    (file := tmp_path / "shot.scene").write_text("[]")
    host = FakeHost(["a", "b"], file=file)
    may_end = threading.Event()

    @skill(risk="edit")
    async def shorten() -> None:
        await on_main(host.items.pop)
        while not may_end.is_set():
            await on_main(lambda: None)

    if saved == "before":
        host.save()
    with live(tmp_path, shorten, host=host) as running:
        wire = Wire.beside(running)
        task = str(wire.call("shorten")["taskId"])
        may_end.set()
        wire.until(task)
        if saved == "afterwards":
            host.save()

    with live(tmp_path, host=host) as again:
        told = Wire.beside(again).get(task)["error"]["message"]

    lost = "The host has ended, and the result of shorten is lost. shorten was done"
    unsaved = "" if saved == "afterwards" else f", and was not saved in {file}"
    assert told == f"{lost}{unsaved}. Look at the scene before you try again."
