"""A call that lasts is a task: its client may leave, come back, or be another process."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp_types import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND

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
from dcc_bridge.server import parked_calls, tasks
from tests.live import ERAS, LIMIT, Live, live
from tests.server.skills import CONFIRM, Skills
from tests.server.task_wire import ENDED, Message, Wire
from tests.stand_ins import FakeHost, ScriptedPresenter

MISSING_CAPABILITY = -32021
YES = {"action": "accept", "content": {"confirm": True}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a task of each call that does not end at once."""
    monkeypatch.setattr(tasks, "TASK_AFTER", 0.05)


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


@pytest.fixture
def bake() -> Iterator[Bake]:
    baking = Bake()
    yield baking
    baking.may_end.set()


@pytest.fixture
def baking(tmp_path: Path, bake: Bake) -> Iterator[Live]:
    """Have a bridge on which that skill can be called."""
    with live(tmp_path, bake.skill()) as running:
        yield running


def works(running: Live, work: Callable[[Wire], Any], **more: Any) -> Any:
    """Let a client work on a thread of its own."""
    return running.beside(lambda: work(Wire.of(running, **more)))


# ---- what is on the wire


def test_a_call_that_lasts_ends_its_request_with_a_handle_and_is_fetched_by_it(
    baking: Live, bake: Bake
) -> None:
    def client(wire: Wire) -> tuple[Message, Message, Message]:
        handle = wire.call("bake")
        working = wire.get(handle["taskId"])
        bake.may_end.set()
        return handle, working, wire.until(handle["taskId"])

    handle, working, ended = works(baking, client)

    assert (handle["resultType"], handle["status"]) == ("task", "working")
    assert handle.keys().isdisjoint({"result", "error", "inputRequests", "requestState", "task"})
    assert (working["resultType"], working["status"]) == ("complete", "working")
    assert working["taskId"] == handle["taskId"]
    assert ended["result"]["content"] == [{"type": "text", "text": "baked"}]
    assert ended["result"]["_meta"]["dcc-bridge/status"] == "done"
    assert bake.ran == 1


def test_a_call_that_ends_soon_is_no_task(baking: Live, bake: Bake) -> None:
    bake.may_end.set()

    result = works(baking, lambda wire: wire.call("bake"))

    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == "baked"


@pytest.mark.parametrize("asks_for_one", [False, True], ids=["", "with the old parameter"])
def test_a_client_that_did_not_declare_it_never_gets_a_task(
    baking: Live, bake: Bake, asks_for_one: bool
) -> None:
    old = {"task": {"ttl": 60_000}} if asks_for_one else {}

    def client(wire: Wire) -> Message:
        threading.Timer(0.2, bake.may_end.set).start()
        return wire.call("bake", **old)

    result = works(baking, client, declares=False)

    assert result["resultType"] == "complete"
    assert "taskId" not in result


def test_a_host_lists_the_extension(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        found = works(running, lambda wire: wire.result("server/discover", {}))

    assert found["capabilities"]["extensions"] == {TASKS: {}}
    assert "tasks" not in found["capabilities"]


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_each_method_refuses_who_did_not_declare_and_what_is_not_theirs(
    method: str, baking: Live, bake: Bake
) -> None:
    def client(wire: Wire) -> list[int]:
        task = wire.call("bake")["taskId"]
        params = {"taskId": task, "inputResponses": {}}
        stranger, silent = Wire.of(baking, "other"), Wire.of(baking, declares=False)
        return [
            silent.code(method, params),
            stranger.code(method, params),
            wire.code(method, params | {"taskId": f"{task[:-1]}{'10'[task[-1] == '1']}"}),
            wire.code(method, params | {"taskId": f"{task}0"}),
            wire.code(method, params, Mcp_Name=f"{task}0"),
        ]

    codes = works(baking, client)

    assert codes == [MISSING_CAPABILITY, *[INVALID_PARAMS] * 3, HEADER_MISMATCH]
    assert not bake.may_end.is_set()


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
def test_what_the_extension_dropped_is_no_method(method: str, tmp_path: Path) -> None:
    with live(tmp_path) as running:
        code = works(running, lambda wire: wire.code(method, {"taskId": "x"}))

    assert code == METHOD_NOT_FOUND


@pytest.mark.parametrize("era", ERAS[:2])
def test_the_older_eras_know_no_tasks(era: str, tmp_path: Path) -> None:
    from mcp.shared.exceptions import MCPError
    from mcp_types import EmptyResult, Request

    async def agent() -> int:
        async with running.client(era) as client:
            request = Request(method="tasks/get", params=tasks.TaskParams(task_id="fake-0000.00"))
            with pytest.raises(MCPError) as caught:
                await client.session.send_request(request, EmptyResult)
        return caught.value.code

    with live(tmp_path) as running:
        assert running.run(agent) == METHOD_NOT_FOUND


# ---- the nine rules


def test_a_retry_with_an_old_state_gives_the_same_task_and_starts_nothing(tmp_path: Path) -> None:
    ran, may_end = list[int](), threading.Event()

    @skill(risk="read", thread="any")
    def ask_and_work() -> str:
        ran.append(1)
        elicit_form_sync("Go on?", CONFIRM)
        may_end.wait(LIMIT)
        return "done"

    def client(wire: Wire) -> list[Message]:
        asked = wire.call("ask_and_work")
        assert asked["resultType"] == "input_required"
        again = {
            "inputResponses": dict.fromkeys(asked["inputRequests"], YES),
            "requestState": asked["requestState"],
        }
        handles = [wire.call("ask_and_work", **again) for _ in range(3)]
        may_end.set()
        return [*handles, wire.until(handles[0]["taskId"])]

    with live(tmp_path, ask_and_work) as running:
        *handles, ended = works(running, client)

    assert {it["taskId"] for it in handles} == {ended["taskId"]}
    assert ended["result"]["content"][0]["text"] == "done"
    assert ran == [1]


def test_the_id_begins_with_the_host_and_the_call_and_is_never_logged_whole(
    tmp_path: Path, baking: Live, bake: Bake, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "dcc_bridge")
    caplog.set_level(logging.INFO)

    def client(wire: Wire) -> str:
        task = str(wire.call("bake")["taskId"])
        wire.get(task)
        wire.cancel(task)
        wire.until(task)
        wire.code("tasks/get", {"taskId": f"{task}0"})
        return task

    task = works(baking, client)
    call = baking.bridge.recent.records()[0].id
    instance = baking.bridge.instance.id

    written = "".join(file.read_text() for file in (tmp_path / "audit").glob("*.jsonl"))
    assert re.fullmatch(rf"{instance}\.{call}[0-9a-f]{{16}}", task)
    assert call in written
    assert task not in written + caplog.text


def test_a_call_cut_off_before_its_handle_is_out_is_abandoned_and_afterwards_goes_on(
    baking: Live, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(wire: Wire) -> None:
        body, headers = wire.request("tools/call", {"name": "bake", "arguments": {}})
        wire.http.post(wire.url, json=body, headers=headers, timeout=0.2)

    monkeypatch.setattr(tasks, "TASK_AFTER", LIMIT)
    with pytest.raises(httpx2.ReadTimeout):
        works(baking, cut_off)
    baking.until(lambda: baking.bridge.recent.records()[0].ended is not None)
    early = baking.bridge.recent.records()[0].state
    monkeypatch.setattr(tasks, "TASK_AFTER", 0.05)
    task = works(baking, lambda wire: wire.call("bake"))["taskId"]  # its connection closes
    bake.may_end.set()
    ended = works(baking, lambda wire: wire.until(task))

    assert early == "cancelled"
    assert ended["result"]["content"][0]["text"] == "baked"
    assert bake.ran == 2


def test_the_question_of_a_lost_handle_ends_at_its_deadline_and_recent_calls_tells(
    tmp_path: Path,
) -> None:
    @skill(risk="read", task="ask")
    def choose() -> str | None:
        return elicit_form_sync("Which name?", NAME).message

    with live(tmp_path, choose, client_deadline=0.1) as running:
        works(running, lambda wire: wire.call("choose"))  # and nobody comes with the id
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

    def client(wire: Wire) -> tuple[float, float, float]:
        began, asked = time.monotonic(), wire.call("choose")
        again = {"requestState": asked.get("requestState")}
        looks = [
            wire.get(asked["taskId"]) if as_task else wire.call("choose", **again) for _ in range(2)
        ]
        left = [limit(look) for look in looks]
        return began + 200.0 - time.monotonic(), left[1], left[0]

    def limit(look: Message) -> float:
        (request,) = look["inputRequests"].values()
        return float((request["params"] if as_task else look)["_meta"][types.LIMIT])

    with live(tmp_path, choose, client_deadline=200.0) as running:
        least, second, first = works(running, client)

    assert least <= second < first < 200.0


def test_a_client_with_a_task_has_no_request_to_lose_so_its_person_has_more_time(
    tmp_path: Path,
) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter(None, None)

    def client(wire: Wire) -> None:
        for _ in range(2):
            task = wire.call("delete")["taskId"]
            wire.cancel(task)
            wire.until(task)

    with live(
        tmp_path, skills.delete(), host=skills.host, presenter=person, client_deadline=200.0
    ) as running:
        works(running, client)

    assert [question.offers.soon for question in person.shown] == [45.0, 200.0]


def test_the_times_of_a_task_never_go_back_and_its_ttl_is_kept(
    baking: Live, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "KEPT", 0.3)

    class Turned(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) - timedelta(hours=1)

    def client(wire: Wire) -> tuple[list[Message], Message, int]:
        looks = [wire.call("bake")]
        monkeypatch.setattr(tasks, "datetime", Turned)  # somebody sets the computer's clock
        task = looks[0]["taskId"]
        looks += [wire.get(task) for _ in range(3)]
        bake.may_end.set()
        looks.append(wire.until(task))
        alive = wire.get(task)
        threading.Event().wait(0.35)
        return looks, alive, wire.code("tasks/get", {"taskId": task})

    looks, alive, code = works(baking, client)

    updated = [it["lastUpdatedAt"] for it in looks]
    assert updated == sorted(updated)
    assert updated[1] == updated[2] == updated[3]  # nothing had changed
    assert {it["createdAt"] for it in looks} == {looks[0]["createdAt"]}
    ttls = [it["ttlMs"] for it in looks]
    assert ttls == sorted(ttls)
    assert alive["ttlMs"] == ttls[-1]
    assert code == INVALID_PARAMS


def test_over_the_cap_a_call_waits_in_its_request_as_without_tasks(
    baking: Live, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOST", 1)

    def client(wire: Wire) -> tuple[Message, Message]:
        handle = wire.call("bake")
        threading.Timer(0.2, bake.may_end.set).start()
        return handle, wire.call("bake")

    handle, result = works(baking, client)

    assert (handle["resultType"], result["resultType"]) == ("task", "complete")


def test_at_the_cap_a_task_whose_end_was_fetched_makes_room_and_who_comes_again_is_told(
    baking: Live, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOST", 1)

    def client(wire: Wire) -> tuple[Message, str]:
        task = wire.call("bake")["taskId"]
        bake.may_end.set()
        wire.until(task)
        bake.may_end.clear()
        threading.Timer(LIMIT / 4, bake.may_end.set).start()  # else it would wait for ever
        return wire.call("bake"), wire.send("tasks/get", {"taskId": task})["error"]["message"]

    handle, gone = works(baking, client)

    assert handle["resultType"] == "task"
    assert "its result was fetched and another one needed the place" in gone


def test_a_task_is_kept_though_other_calls_that_ended_are_too_many(
    tmp_path: Path, bake: Bake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parked_calls, "MOST_KEPT", 0)

    def client(wire: Wire) -> Message:
        task = wire.call("bake")["taskId"]
        bake.may_end.set()
        wire.until(task)
        asked = wire.call("delete")
        answers = {key: {"action": "decline"} for key in asked["inputRequests"]}
        wire.call("delete", inputResponses=answers, requestState=asked["requestState"])
        wire.call("bake")
        return wire.get(task)

    skills = Skills()
    with live(tmp_path, bake.skill(), skills.delete(), host=skills.host) as running:
        look = works(running, client)

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

    def client(wire: Wire) -> list[str]:
        counting = wire.call("count")["taskId"]
        counted = wire.when(counting, lambda look: "frames" in look.get("statusMessage", ""))
        may_go_on.set()
        ended, task = wire.until(counting), wire.call("render")["taskId"]
        return [
            counted["statusMessage"],
            str("statusMessage" in ended),
            wire.get(task)["statusMessage"],
        ]

    host = FakeHost(["a"], has_ui=True)
    with live(tmp_path, render, count, host=host, presenter=ScriptedPresenter(None)) as running:
        said = works(running, client)

    assert said == ["3 of 8 frames", "False", f"Waiting for the person's answer in {host.name}"]


def test_a_cancel_in_the_panel_completes_with_our_sentence_and_the_clients_own_cancels(
    baking: Live, bake: Bake
) -> None:
    def client(wire: Wire) -> tuple[Message, Message, Message]:
        first, second = (wire.call("bake")["taskId"] for _ in range(2))
        call = first.rpartition(".")[2][:16]
        baking.bridge.main.submit(lambda: baking.bridge.cancel(call)).result(LIMIT)
        wire.cancel(second)
        panel, own = wire.until(first), wire.until(second)
        assert wire.cancel(second).keys() == wire.cancel(first).keys()  # again, and it has ended
        return panel, own, wire.cancel(second)

    panel, own, acknowledged = works(baking, client)

    assert (panel["status"], panel["result"]["isError"]) == ("completed", True)
    assert "Bake" in panel["result"]["content"][0]["text"]
    assert own["status"] == "cancelled"
    assert "result" not in own
    assert acknowledged["resultType"] == "complete"
    assert acknowledged.keys() <= {"resultType", "_meta"}


def test_a_failure_of_the_skill_completes_the_task_with_an_error_result(
    baking: Live, bake: Bake
) -> None:
    def client(wire: Wire) -> Message:
        task = wire.call("bake", arguments={"fails": True})["taskId"]
        bake.may_end.set()
        return wire.until(task)

    ended = works(baking, client)

    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
    assert "The cache is full." in ended["result"]["content"][0]["text"]


def test_a_task_may_ask_more_often_than_a_request_each_under_a_key_of_its_own(
    tmp_path: Path,
) -> None:
    @skill(risk="read", task="ask")
    def interview() -> list[str]:
        return [str((elicit_form_sync("Name?", NAME).data or {})["name"]) for _ in range(12)]

    def client(wire: Wire) -> tuple[list[str], Message]:
        task, keys = wire.call("interview")["taskId"], list[str]()
        while (look := wire.until(task, "input_required", *ENDED))["status"] not in ENDED:
            for key in look["inputRequests"]:
                keys.append(key)
                wire.update(task, **{key: {"action": "accept", "content": {"name": key}}})
                wire.update(task, **{key: {"action": "decline"}, "forged": YES})
        return keys, look

    with live(tmp_path, interview) as running:
        keys, ended = works(running, client)

    assert len(set(keys)) == len(keys) == 12
    assert ended["result"]["structuredContent"]["result"] == keys


def test_two_questions_at_once_are_answered_one_by_one(tmp_path: Path) -> None:
    import asyncio

    @skill(risk="read", task="ask")
    async def both() -> list[Any]:
        asked = (elicit_form(f"{it}?", NAME, key=it) for it in ("first", "second"))
        return [(it.data or {})["name"] for it in await asyncio.gather(*asked)]

    def client(wire: Wire) -> tuple[Message, Message]:
        task = wire.call("both")["taskId"]
        wire.when(task, lambda look: len(look.get("inputRequests", ())) == 2)
        wire.update(task, second={"action": "accept", "content": {"name": "b"}})
        left = wire.get(task)
        wire.update(task, first={"action": "accept", "content": {"name": "a"}})
        return left, wire.until(task)

    with live(tmp_path, both) as running:
        left, ended = works(running, client)

    assert (left["status"], list(left["inputRequests"])) == ("input_required", ["first"])
    assert ended["result"]["structuredContent"]["result"] == ["a", "b"]


@pytest.mark.parametrize(
    "answer", [[], 7, {"action": "accept", "content": []}, {"action": "maybe"}]
)
def test_an_unreadable_answer_is_asked_for_once_more_and_consents_to_nothing(
    answer: Any, tmp_path: Path
) -> None:
    skills = Skills()

    def client(wire: Wire) -> Message:
        asked = wire.call("ask_as_task")
        first = wire.until(asked["taskId"], "input_required")["inputRequests"]
        (key,) = first
        wire.update(asked["taskId"], **{key: answer})
        again = wire.when(
            asked["taskId"], lambda look: {key} != set(look.get("inputRequests", {key}))
        )
        (other,) = again["inputRequests"]
        wire.update(asked["taskId"], **{key: YES, other: {"action": "decline"}})
        return wire.until(asked["taskId"])

    @skill(risk="read", task="ask")
    def ask_as_task() -> bool:
        return elicit_form_sync("Delete?", CONFIRM).accepted

    with live(tmp_path, ask_as_task, host=skills.host) as running:
        ended = works(running, client)

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

    def ended(wire: Wire, tool: str, arguments: Message) -> str:
        may_end.clear()
        task = str(wire.call(tool, arguments=arguments)["taskId"])
        may_end.set()
        wire.until(task)
        return task

    with live(tmp_path, shorten, look, host=host) as running:
        calls = [("shorten", {"fails": True}), ("shorten", {}), ("look", {})]
        ids = works(running, lambda wire: [ended(wire, *it) for it in calls])

    def client(wire: Wire) -> tuple[list[Message], list[int]]:
        forged = [{"taskId": f"{task[:-4]}beef"} for task in ids]
        codes = [wire.code("tasks/get", it) for it in forged]
        codes += [Wire.of(again, "other").code("tasks/get", {"taskId": task}) for task in ids]
        return [wire.get(task) for task in ids], codes

    with live(tmp_path, host=host) as again:
        looks, codes = works(again, client)

    assert [it["status"] for it in looks] == ["failed"] * 3
    failed, done, read = (it["error"]["message"] for it in looks)
    assert "The disk is full." in failed
    assert "result of shorten, which was done" in done
    assert "the result of look, which changed nothing" in read
    assert set(codes) == {INVALID_PARAMS}
