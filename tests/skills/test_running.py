"""A call begins in time or never, ends in time or says so, and is refused where too many wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from dcc_bridge import carry, check_cancelled, confirm, confirm_sync, on_main, skill, track
from dcc_bridge.callbacks import TimeLimit
from dcc_bridge.consent.call import current_call
from dcc_bridge.errors import Cancelled, Ended
from dcc_bridge.host import UndoMark
from dcc_bridge.skills import call_history
from tests.elicitation.brokers import YES
from tests.live import live, status, text
from tests.server.skills import Skills
from tests.stand_ins import FakeHost, Person


def test_where_too_many_wait_the_next_one_is_told_so_at_once(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(None, YES, YES, YES)

    with live(
        tmp_path, skills.delete(), host=skills.host, presenter=person, queued_calls=3
    ) as running:
        first = running.start("delete")
        running.until(lambda: bool(person.shown))
        others = [running.start("delete") for _ in range(3)]
        running.until(lambda: running.bridge.main.waiting == 3)
        refused = running.call("delete")
        person.settles[0](YES)
        running.until(lambda: all(one.done() for one in (first, *others)))

    assert status(refused) == "not_started"
    busy = "fake is busy: 3 of your calls wait, and the first call, Delete, asks a question in fake"
    assert busy in text(refused)
    assert skills.ran["delete"] == 4


def test_a_call_that_began_before_its_queue_broke_is_told_as_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, begin = threading.Event(), TimeLimit.start

    @skill(risk="read", thread="any")
    def work() -> str:
        """Work."""
        begun.set()
        return "all of it"

    def start(self: TimeLimit) -> None:
        if self.seconds == 7.0 and begun.wait(5):
            raise RuntimeError("no thread can be started")
        begin(self)

    with live(tmp_path, work, deadline=7.0) as running:
        monkeypatch.setattr(TimeLimit, "start", start)
        ended = running.call("work")

    assert (status(ended), text(ended)) == ("done", "all of it")


def test_a_call_that_waits_past_its_deadline_never_begins(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(None)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        first = running.start("delete")
        environment = running.bridge._runner.environment
        running.until(lambda: bool(person.shown))
        environment.settings = replace(environment.settings, deadline=0.2)
        late = running.call("delete")
        waiting = running.bridge.main.waiting
        person.settles[0](YES)
        running.until(first.done)

    assert status(late) == "not_started"
    assert "it waited for 0.2 s and was dropped" in text(late)
    assert waiting == 0
    assert status(first.result()) == "done"
    assert skills.ran["delete"] == 1


def test_a_call_that_is_cancelled_while_it_waits_makes_room(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(None)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        first = running.start("delete")
        running.until(lambda: bool(person.shown))
        running.leave("delete", lambda: running.bridge.main.waiting > 0)
        recent = running.bridge.recent
        running.until(lambda: recent.records()[0].state not in ("queued", "asking"))
        state, waiting = recent.records()[0].state, running.bridge.main.waiting
        person.settles[0](YES)
        running.until(first.done)

    assert (state, waiting) == ("not_started", 0)
    assert skills.ran["delete"] == 1


@pytest.mark.parametrize("thread", ["main", "any", "worker"])
def test_a_skill_that_runs_for_too_long_is_ended_where_it_looks_or_waits(
    thread: Any, tmp_path: Path
) -> None:
    host = FakeHost(["cam1", "cam2"])

    def slow() -> None:
        """Edit for ever."""
        if thread == "main":
            host.items.clear()
        for _ in track(range(10_000)):
            time.sleep(0.01)

    async def slow_coroutine() -> None:
        """Edit and sleep."""
        await on_main(host.items.clear)
        await anyio.sleep(60)

    is_coroutine = thread == "worker"
    marked = skill(
        risk="edit", timeout=0.1, name="slow", thread="any" if thread == "any" else "main"
    )
    with live(tmp_path, marked(slow_coroutine if is_coroutine else slow), host=host) as running:
        result = running.call("slow")

    assert status(result) == "timed_out"
    assert "exceeded its time limit" in text(result)
    assert host.items == ["cam1", "cam2"]


def test_a_skill_that_does_not_look_has_an_unknown_outcome_until_it_ends(tmp_path: Path) -> None:
    host, go_on = FakeHost(["cam1"]), threading.Event()

    @skill(risk="edit", timeout=0.05, thread="any")
    def deaf() -> None:
        """Wait without looking."""
        go_on.wait(20)

    with live(tmp_path, deaf, host=host, call_grace=0.05) as running:
        result = running.call("deaf")
        meanwhile = running.bridge.recent.records()[0].state
        go_on.set()
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        after = running.bridge.recent.records()[0].state

    assert status(result) == "unknown_outcome"
    assert "may still change the scene" in text(result)
    assert (meanwhile, after) == ("running", "done")


def test_where_no_thread_can_be_started_the_call_is_refused_and_the_next_one_runs(
    tmp_path: Path,
) -> None:
    @skill(risk="read", thread="any")
    def look() -> str:
        """Look."""
        return "seen"

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with live(tmp_path, look, threads=1) as running:
        start = threading.Thread.start
        one_fails = iter([refuse])
        with patch.object(
            threading.Thread,
            "start",
            lambda it: (next(one_fails, start) if it.name == "dcc_bridge look" else start)(it),
        ):
            results = [running.call("look") for _ in range(2)]

    assert [status(one) for one in results] == ["not_started", "done"]


def test_an_edit_of_which_the_host_cannot_say_whether_it_was_made_is_undone(tmp_path: Path) -> None:
    host = FakeHost(["cam0"])
    mark, fails = host.undo_mark, list[bool]()

    def say() -> UndoMark:
        if fails and fails.pop():
            raise RuntimeError("undo is switched off")
        return mark()

    @skill(risk="edit")
    def add() -> None:
        """Add a camera."""
        host.items.append("cam1")
        fails.append(True)

    with patch.object(host, "undo_mark", say), live(tmp_path, add, host=host) as running:
        result = running.call("add")

    assert (status(result), host.items) == ("failed", ["cam0"])


def test_a_thread_that_a_skill_left_behind_neither_edits_nor_asks_any_more(tmp_path: Path) -> None:
    host, person = FakeHost(["cam0"], has_ui=True), Person()
    go, late = threading.Event(), list[Any]()

    def edit_late() -> None:
        go.wait(20)
        late.append(current_call().control.edit(host.items.clear).exception(20))
        try:
            confirm_sync("Sure?")
        except Ended as error:
            late.append(error)

    @skill(risk="edit", thread="any")
    def start() -> None:
        """Leave a thread behind."""
        threading.Thread(target=carry(edit_late)).start()

    with live(tmp_path, start, host=host, presenter=person) as running:
        result = running.call("start")
        go.set()
        running.until(lambda: len(late) == 2)

    assert (status(result), host.items, person.shown) == ("done", ["cam0"], [])
    assert [type(one) for one in late] == [Ended, Ended]


def test_an_edit_that_is_made_while_its_skill_fails_does_not_stand(tmp_path: Path) -> None:
    host, edits, made = FakeHost(["cam0"]), list[Future[None]](), list[BaseException | None]()

    @skill(risk="edit", thread="any")
    def hasty() -> None:
        """Fail without waiting for the edit."""
        edits.append(current_call().control.edit(host.items.clear))
        raise ValueError("That was too fast.")

    def edit_first(*_: Any) -> None:  # once its changes are undone
        made.append(edits[0].exception(20))

    failing_late = patch.object(call_history.log, "warning", edit_first)
    with live(tmp_path, hasty, host=host) as running, failing_late:
        result = running.call("hasty")

    assert (status(result), host.items) == ("failed", ["cam0"])
    assert "Nothing was changed." in text(result)
    assert len(made) == 1


def test_a_task_that_a_skill_left_behind_edits_no_more(tmp_path: Path) -> None:
    host, tasks, ended = FakeHost(["cam0"]), list[Any](), threading.Event()

    async def edit_late() -> None:
        while not ended.is_set():
            await asyncio.sleep(0.005)
        await on_main(host.items.clear)

    @skill(risk="edit")
    async def start() -> None:
        """Leave a task behind."""
        tasks.append(asyncio.create_task(edit_late()))

    with live(tmp_path, start, host=host) as running:
        running.call("start")
        ended.set()
        running.until(tasks[0].done)

    assert isinstance(tasks[0].exception(), Ended)
    assert host.items == ["cam0"]


def test_a_question_that_a_skill_left_open_ends_with_it(tmp_path: Path) -> None:
    host, person = FakeHost(has_ui=True), Person(None)
    tasks: list[Any] = []

    @skill(risk="edit")
    async def leave() -> None:
        """Ask, and do not wait for the answer."""
        tasks.append(asyncio.create_task(confirm("Sure?")))
        while not person.shown:
            await asyncio.sleep(0.005)

    with live(tmp_path, leave, host=host, presenter=person) as running:
        running.call("leave")
        running.until(lambda: not running.bridge.broker.open, limit=5)
        running.until(tasks[0].done)

        assert isinstance(tasks[0].exception(), Cancelled)
    assert person.taken_down == ["cancelled"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("a null prim"), "RuntimeError: a null prim."),
        (ValueError("The disk is full."), "The disk is full."),
        (RuntimeError(), "RuntimeError."),
    ],
)
def test_why_a_skill_failed_is_a_sentence_of_its_own(
    error: Exception, said: str, tmp_path: Path
) -> None:
    @skill(risk="edit")
    def add() -> None:
        """Add a camera, and fail."""
        raise error

    with live(tmp_path, add) as running:
        result = running.call("add")

    assert text(result) == f"add failed: {said} Nothing was changed."


class Odd(BaseException):
    """What is no `Exception`, as some hosts have it."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, Odd])
@pytest.mark.parametrize("thread", ["main", "any"])
def test_a_skill_that_raises_anything_at_all_is_undone_and_ends(
    thread: Any, error: type[BaseException], tmp_path: Path
) -> None:
    """Esc in Maya is a KeyboardInterrupt."""
    host = FakeHost(["cam0"])

    @skill(risk="edit", thread=thread)
    def add() -> None:
        """Add a camera, and be interrupted."""
        if thread == "main":
            host.items.append("cam1")
        raise error

    with live(tmp_path, add, host=host) as running:
        result = running.call("add")

    assert (status(result), text(result)) == (
        "failed",
        f"add failed: {error.__name__}. Nothing was changed.",
    )
    assert host.items == ["cam0"]


def test_the_time_in_which_a_person_thinks_is_not_counted(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(None)
    delete = skills.delete()

    @skill(risk="destructive", confirms=True, timeout=3.0)
    def careful() -> Any:
        """Ask, and look afterwards."""
        answer = delete()
        check_cancelled()
        return answer

    with live(tmp_path, careful, host=skills.host, presenter=person) as running:
        result = running.start("careful")
        running.until(lambda: bool(person.shown))
        end = time.monotonic() + 3.2
        running.until(lambda: time.monotonic() > end)
        person.settles[0](YES)
        running.until(result.done)

    assert status(result.result()) == "done"


def test_a_coroutine_that_is_cancelled_at_its_end_is_undone_all_the_same(tmp_path: Path) -> None:
    host = FakeHost(["cam1"])
    ended: list[str] = []

    @skill(risk="edit")
    async def edit() -> None:
        """Edit, and end."""
        await on_main(host.items.clear)
        ended.append("body")

    async def agent() -> None:
        async with running.client() as client, anyio.create_task_group() as calling:
            calling.start_soon(client.call_tool, "edit", {})
            while not ended:
                await anyio.sleep(0)
            calling.cancel_scope.cancel()

    with live(tmp_path, edit, host=host) as running:
        calling = running.go(agent)
        running.until(lambda: bool(ended))
        time.sleep(0.3)  # the main thread does not serve the end of the call meanwhile
        running.until(calling.done)
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        state = running.bridge.recent.records()[0].state

    assert (state, host.items) in (("cancelled", ["cam1"]), ("done", []))


def test_a_limit_calls_once_and_not_while_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[tuple[float, Any]] = []
    over: list[str] = []
    now = [0.0]
    still = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("dcc_bridge.callbacks.time", still)

    def clock(seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        rung.append((seconds, fn))
        return lambda: None

    limit = TimeLimit(0.05, clock, lambda: over.append("over"))

    limit.start()
    limit.start()
    limit.pause()
    rung[0][1]()
    rested = list(over)
    now[0] = 0.06
    limit.start()
    rung[0][1]()
    early = list(over)
    now[0] = 0.12
    rung[1][1]()
    rung[1][1]()

    assert len(rung) == 2
    assert rung[1][0] <= 0.05
    assert (rested, early, over) == ([], [], ["over"])


def test_a_skill_that_says_it_only_reads_and_edits_is_undone(tmp_path: Path) -> None:
    """Paused or not; what lay on the undo stack before stays there."""
    host = FakeHost(["cam1", "cam2"])

    @skill(risk="read")
    def look() -> int:
        """Look, they say."""
        host.items.remove("cam1")
        return len(host.items)

    with live(tmp_path, look, host=host) as running:
        with host.undo_step("Mine"):
            host.items.append("light")
        lied = running.call("look")
        running.bridge.pause()
        again = running.call("look")

    assert [status(lied), status(again)] == ["no_consent", "no_consent"]
    assert host.items == ["cam1", "cam2", "light"]
    assert host.undo_mark().label == "Mine"
