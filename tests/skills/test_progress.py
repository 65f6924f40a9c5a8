"""A skill can be watched and stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from dcc_bridge import check_cancelled, report_progress, skill, track
from dcc_bridge.callbacks import Throttle, call_later
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.skills.call_history import Record
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import describe
from dcc_bridge.threads.main_thread import MainThread
from tests.live import ERAS, LIMIT, Live, live, status
from tests.stand_ins import FakeHost
from tests.tiers import every_era

Heard = list[tuple[float, float | None, str | None]]
MODERN, LEGACY = ERAS[-1], ERAS[1]


def test_outside_of_a_skill_it_does_nothing() -> None:
    report_progress(1, 2, "half")
    check_cancelled()

    assert list(track([1, 2, 3], message="counting")) == [1, 2, 3]


@pytest.mark.parametrize("numbers", [(float("nan"), None), (1, float("inf"))])
def test_a_number_that_is_none_is_refused(numbers: tuple[float, float | None]) -> None:
    with pytest.raises(ValueError, match="finite"):
        report_progress(*numbers)


def test_of_many_values_at_once_few_are_handed_on_and_the_last_one_always() -> None:
    given: list[int] = []
    last = threading.Event()

    def give(value: int) -> None:
        given.append(value)
        if value == 999:
            last.set()

    throttle, begin = Throttle(give, call_later), time.monotonic()
    for number in range(1000):
        throttle(number)
    assert last.wait(10)
    took = time.monotonic() - begin

    assert given[-1] == 999
    assert len(given) <= 2 + 10 * took


def test_a_flush_hands_on_what_is_left_at_once() -> None:
    given: list[int] = []
    throttle = Throttle[int](given.append, lambda seconds, fn: lambda: None)

    throttle(1)
    throttle(2)
    throttle.flush()
    throttle.flush()

    assert given == [2]


def watched(heard: Heard, era: str, tool: str = "work") -> Callable[[Live], Any]:
    """Make an agent that calls a tool and keeps what it hears of its progress."""

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def agent(running: Live) -> Any:
        async with running.client(era) as client:
            return await client.call_tool(tool, {}, progress_callback=hear)

    return agent


@every_era
@pytest.mark.parametrize("thread", ["main", "any"])
def test_progress_reaches_the_client_in_order_and_to_its_end(
    era: str, thread: Any, tmp_path: Path
) -> None:
    heard: Heard = []
    told: list[Record] = []

    @skill(risk="read", thread=thread)
    def work() -> str:
        """Go through many things."""
        for number in track(range(300), message="Counting"):
            time.sleep(0.001)
            end = time.monotonic() + LIMIT
            while number == 150 and not heard and time.monotonic() < end:
                time.sleep(0.001)
        return "done"

    with live(tmp_path, work) as running:
        running.bridge.recent.watch(told.append)
        begin = time.monotonic()
        result = running.run(watched(heard, era), running)
        took = time.monotonic() - begin

    assert status(result) == "done"
    assert heard[-1] == (300, 300, "Counting")
    assert heard == sorted(heard)
    assert len({done for done, _, _ in heard}) == len(heard)
    assert 2 <= len(heard) <= 2 + 10 * took
    assert told[-1].progress == (300, 300, "Counting")


def test_a_coroutine_reports_too(tmp_path: Path) -> None:
    heard: Heard = []

    @skill(risk="read")
    async def work() -> str:
        """Report once, and then wait for long."""
        report_progress(0.25, 1, "a quarter")
        while not heard:
            await anyio.sleep(0.01)
        return "done"

    with live(tmp_path, work) as running:
        running.run(watched(heard, MODERN), running)

    assert heard == [(0.25, 1, "a quarter")]


def removing(host: FakeHost, edits: list[int]) -> Callable[[], None]:
    """Make an edit that takes long, and counts how far it came."""

    @skill(risk="edit")
    def work() -> None:
        """Remove items, slowly."""
        for _ in track(range(2000), message="Removing"):
            edits.append(1)
            host.items[:] = host.items[:-1]
            time.sleep(0.005)

    return work


@every_era
def test_a_client_that_cancels_stops_a_skill_in_its_middle_and_its_edit_is_undone(
    era: str, tmp_path: Path
) -> None:
    host, edits = FakeHost(f"cam{number}" for number in range(127)), list[int]()

    async def agent() -> None:
        async with running.client(era) as client, anyio.create_task_group() as calling:
            calling.start_soon(client.call_tool, "work", {})
            while len(edits) < 5:
                await anyio.sleep(0.005)
            calling.cancel_scope.cancel()

    with live(tmp_path, removing(host, edits), host=host) as running:
        running.run(agent)
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        record = running.bridge.recent.records()[0]

    assert len(edits) < 500
    assert len(host.items) == 127
    assert host.labels == []
    assert record.state == "cancelled"
    assert "was cancelled" in str(record.error)


def test_a_legacy_client_that_ends_its_session_stops_a_skill_in_its_middle(tmp_path: Path) -> None:
    host, edits = FakeHost(f"cam{number}" for number in range(127)), list[int]()

    async def agent() -> None:
        ids: list[str] = []

        async def note(response: httpx2.Response) -> None:
            ids.extend(filter(None, [response.headers.get("mcp-session-id")]))

        headers = {"Authorization": f"Bearer {running.bridge.instance.token('test')}"}
        async with httpx2.AsyncClient(headers=headers, event_hooks={"response": [note]}) as http:
            transport = streamable_http_client(running.bridge.url, http_client=http)
            async with (
                Client(transport, mode="legacy") as client,
                anyio.create_task_group() as own,
            ):
                own.start_soon(client.call_tool, "work", {})
                while len(edits) < 5:
                    await anyio.sleep(0.005)
                await http.delete(running.bridge.url, headers={"mcp-session-id": ids[0]})
                while running.bridge.recent.records()[0].ended is None:
                    await anyio.sleep(0.01)
                own.cancel_scope.cancel()

    with live(tmp_path, removing(host, edits), host=host) as running:
        running.run(agent)
        record = running.bridge.recent.records()[0]

    assert (record.state, len(edits) < 300) == ("cancelled", True)
    assert len(host.items) == 127


def run_painted(work: Callable[[], None], paint: Callable[[bool], bool]) -> None:
    """Do it as a job, in an application whose windows are painted so."""
    main = MainThread(lambda seconds: None, repaint=paint)
    remove = context.install(Broker(), main, FakeHost())
    done = main.submit(work)
    main.drain()
    remove()
    done.result()


@pytest.mark.parametrize(
    ("cost", "part", "most", "share"),
    [
        (0.001, 0.001, 0.02, 0.06),
        (0.01, 0.001, 0.05, 0.26),
        (0.2, 0.001, 0.41, 0.51),
        (0.0001, 0.005, 0.0167, 0.06),
        (0.0001, 0.0079, 0.0167, 0.06),
        (0.005, 0.0085, 0.03, 0.26),
        (0.01, 0.0159, 0.05, 0.26),
        (0.2, 0.106, 0.42, 0.51),
    ],
)
def test_a_window_is_painted_each_frame_but_a_slow_one_leaves_the_skill_half_of_the_time(
    monkeypatch: pytest.MonkeyPatch, cost: float, part: float, most: float, share: float
) -> None:
    now, painted = [0.0], list[float]()

    def paint(serves_stop: bool) -> bool:
        painted.append(now[0])
        now[0] += cost
        return False

    def work() -> None:
        for _ in track(range(5000)):
            now[0] += part

    monkeypatch.setattr(
        "dcc_bridge.skills.skill.time", SimpleNamespace(perf_counter=lambda: now[0])
    )
    run_painted(work, paint)

    assert max(then - at for at, then in pairwise(painted)) < most
    assert cost * len(painted) / now[0] < share


@pytest.mark.parametrize(("parts", "times"), [(25, [0.0, 0.016, 0.025]), (5, [0.0]), (0, [])])
def test_what_comes_after_a_loop_does_not_wait_for_a_paint_behind_its_last_part(
    monkeypatch: pytest.MonkeyPatch, parts: int, times: list[float]
) -> None:
    """A short loop is painted once, and an empty one never."""
    now, painted = [0], list[float]()

    def paint(serves_stop: bool) -> bool:
        painted.append(now[0] / 1000)
        return False

    def work() -> None:
        for _ in track(range(parts)):
            now[0] += 1

    clock = SimpleNamespace(perf_counter=lambda: now[0] / 1000)
    monkeypatch.setattr("dcc_bridge.skills.skill.time", clock)
    run_painted(work, paint)

    assert painted == times


def test_a_skill_that_is_stopped_as_its_loop_is_painted_last_does_not_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, after = [0.0], list[str]()

    @skill(risk="edit")
    def work() -> None:
        for _ in track(range(1)):
            now[0] += 1
        after.append("went on")

    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr("dcc_bridge.skills.skill.time", clock)
    main = MainThread(lambda seconds: None, repaint=lambda serves_stop: serves_stop)
    host, broker = FakeHost(), Broker()
    remove = context.install(broker, main, host)
    runner = Runner(host, main, Settings(), _no_loop, lambda seconds, fn: lambda: None)
    run = runner.start(describe(work), {}, Call("work", "Work", "edit"))
    main.drain()
    remove()

    assert (run.outcome.result().status, after) == ("cancelled", [])


def _no_loop(coroutine: Any) -> Any:
    raise AssertionError("the skill is sync")
