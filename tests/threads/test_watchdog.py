"""A question that keeps the host's main thread waiting is ended; that of a busy host is not."""

from __future__ import annotations

import asyncio
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from dcc_bridge import carry, confirm, confirm_sync, elicit_form, elicit_form_sync, skill
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.types import HOST_BLOCKED
from dcc_bridge.headless import Pump
from dcc_bridge.threads.watchdog import Watchdog, wait_of
from tests.elicitation.brokers import FORM, Clock
from tests.live import ERAS, LIMIT, accept, live, status, text, until
from tests.server.skills import CONFIRM
from tests.stand_ins import Person

LOCK = threading.Lock()
PATIENCE = 0.3
DEADLINE = 8.0
"""Seconds after which a question that nobody ends is over, so that no test hangs."""
SLEEPS = f"import time; time.sleep({4 * PATIENCE})"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dcc_bridge.threads.watchdog.UI_TIMEOUT_S", PATIENCE)


def bridge_with(tmp_path: Path, *skills: Callable[..., Any]) -> Any:
    """Run a bridge at which somebody sits who never answers."""
    limits = {"deadline": DEADLINE}
    return live(tmp_path, *skills, presenter=Person(), **limits)


async def silence(params: ElicitRequestParams) -> ElicitResult:
    await anyio.sleep_forever()
    raise AssertionError("for ever is over")


def join(asks: Callable[[], None]) -> None:
    thread = threading.Thread(target=asks)
    thread.start()
    thread.join()


def result(asks: Callable[[], None]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asks).result()


@pytest.mark.parametrize(
    ("wait", "carries", "asked"),
    [
        *product([join, result], [True], [None, silence]),
        (join, False, None),  # the thread asks as nobody in particular
    ],
)
def test_a_skill_that_waits_for_a_thread_of_its_own_that_asks_goes_on(
    wait: Callable[[Callable[[], None]], None],
    carries: bool,
    asked: Any,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[str | None] = []

    def ask() -> None:
        heard.append(elicit_form_sync("Well?", CONFIRM).message)

    @skill(risk="read")
    def waits() -> str | None:
        """Wait on the main thread for a thread that asks."""
        wait(carry(ask) if carries else ask)
        return heard[0]

    with bridge_with(tmp_path, waits) as bridge:
        told = text(bridge.call("waits", asked=asked, era=ERAS[1]))
        (record,) = [it for it in bridge.bridge.recent.records() if it.skill == "waits"]

    assert told == HOST_BLOCKED
    assert f"call {record.id}" in caplog.text or not carries
    assert "in waits\n" in caplog.text  # the main thread's stack


@skill(risk="edit", thread="any")
def holds() -> None:
    """Ask with the lock, on the pool."""
    with LOCK:
        confirm_sync("Sure?")


@skill(risk="edit")
async def holds_on_worker() -> None:
    """Ask with the lock, in a coroutine."""
    with LOCK:
        await confirm("Sure?")


@skill(risk="edit")
def wants() -> str:
    """Take the lock on the main thread."""
    with LOCK:
        return "done"


@pytest.mark.parametrize("asks", [holds, holds_on_worker])
def test_a_lock_held_across_a_question_is_let_go(
    asks: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with bridge_with(tmp_path, asks, wants) as bridge:
        asking = bridge.start(asks.__name__)
        bridge.until(lambda: bool(bridge.bridge.broker.open))
        wanting = bridge.start("wants", label="wants")
        bridge.until(lambda: asking.done() and wanting.done())

    assert (text(wanting.result()), status(asking.result())) == ("done", "refused")
    assert "the application was waiting for the skill" in text(asking.result())
    assert "in wants\n    with LOCK:" in caplog.text  # where the main thread stood


def test_the_hosts_own_code_that_stops_the_main_thread_for_an_answer_goes_on(
    tmp_path: Path,
) -> None:
    with bridge_with(tmp_path):
        answer = asyncio.run(elicit_form("Well?", CONFIRM))

    assert answer.message == HOST_BLOCKED


@pytest.mark.parametrize(
    "work",
    [
        lambda: time.sleep(4 * PATIENCE),
        lambda: ThreadPoolExecutor(1).submit(time.sleep, 4 * PATIENCE).result(),
        lambda: subprocess.run([sys.executable, "-c", SLEEPS], capture_output=True),
    ],
    ids=["in C", "for other threads", "for another process"],
)
def test_a_question_waits_for_a_host_that_is_busy(
    work: Callable[[], object], tmp_path: Path
) -> None:
    rendered = threading.Event()

    @skill(risk="read", thread="any")
    def asks() -> str:
        """Ask the client."""
        return elicit_form_sync("Well?", CONFIRM).answered_by

    @skill(risk="read")
    def renders() -> None:
        """Keep the main thread busy."""
        work()
        rendered.set()

    async def answers_later(params: ElicitRequestParams) -> Any:
        while not rendered.is_set():
            await anyio.sleep(0.01)
        return accept(confirm=True)(params)

    with bridge_with(tmp_path, asks, renders) as bridge:
        asking = bridge.start("asks", asked=answers_later, label="asks")
        bridge.until(lambda: bool(bridge.bridge.broker.open))
        rendering = bridge.start("renders", label="renders")
        bridge.until(lambda: asking.done() and rendering.done())

    assert (text(asking.result()), status(rendering.result())) == ("client", "done")


def test_nothing_is_looked_at_while_no_question_is_open() -> None:
    clock, pump, person = Clock(), Pump(), Person()
    looks = Clock()
    broker = Broker(host=person, clock=clock)
    broker.watch(Watchdog(broker, pump.main, looks).note_question)
    before = list(looks.waiting)

    broker.ask(Question("Sure?", Call("delete", "Delete"), FORM))
    open_ = [seconds for seconds, _ in looks.waiting]
    person.settles[0](Reply("decline"))
    ((_, look),), looks.waiting = looks.waiting, []
    look()

    assert (before, open_, looks.waiting) == ([], [PATIENCE], [])


def ways_to_wait(release: ExitStack, looping: threading.Event) -> dict[str, Callable[[], object]]:
    """List ways to wait for what this thread has or does; `release` ends them all.

    The one that is a loop sets `looping` when it has nothing to do any more.
    """
    lock, condition, semaphore = threading.Lock(), threading.Condition(), threading.Semaphore()
    event, future, items = threading.Event(), Future[None](), queue.Queue[None]()
    for held in (lock, condition, semaphore):
        release.enter_context(held)
    release.callback(event.set)
    release.callback(future.set_result, None)
    release.callback(items.put, None)

    def enter(held: threading.Lock | threading.Condition | threading.Semaphore) -> None:
        with held:
            pass

    def acquire() -> None:
        lock.acquire(timeout=LIMIT)
        lock.release()

    async def awaits() -> None:
        awaited = asyncio.wrap_future(future)
        looping.set()
        await awaited

    return {
        "with a lock": lambda: enter(lock),
        "with a condition": lambda: enter(condition),
        "with a semaphore": lambda: enter(semaphore),
        "acquire": acquire,
        "an event": lambda: event.wait(LIMIT),
        "a future": lambda: future.result(LIMIT),
        "a queue": lambda: items.get(timeout=LIMIT),
        "a loop": lambda: asyncio.run(awaits()),
    }


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        (("with a lock", "acquire", "with a condition", "with a semaphore"), "lock"),
        (("an event", "a future", "a queue", "a loop"), "thread"),
    ],
)
def test_what_a_thread_waits_for_is_seen_in_its_innermost_frames(
    ways: tuple[str, ...], expected: str
) -> None:
    release, looping = ExitStack(), threading.Event()
    waits = ways_to_wait(release, looping)
    threads = [threading.Thread(target=waits[way]) for way in ways]
    for thread in threads:
        thread.start()

    for thread in threads:
        until(lambda thread=thread: wait_of(innermost(thread)) == expected)  # type: ignore[misc]  # bound now
    if "a loop" in ways:  # asyncio's first steps look alike
        until(lambda: looping.is_set() and is_idle(threads[-1]))
    steady = {wait_of(innermost(thread)) for thread in threads for _ in range(100)}
    release.close()
    for thread in threads:
        thread.join(LIMIT)

    assert steady == {expected}
    assert not any(thread.is_alive() for thread in threads)


def test_a_thread_that_waits_for_another_process_is_busy() -> None:
    sleeps = [sys.executable, "-c", f"import time; time.sleep({LIMIT})"]
    process = subprocess.Popen(sleeps, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    thread = threading.Thread(target=process.communicate)
    thread.start()

    until(lambda: is_idle(thread))
    wait = wait_of(innermost(thread))
    process.kill()
    thread.join(LIMIT)

    assert wait is None


def is_idle(thread: threading.Thread) -> bool:
    """Tell whether a thread stands where a loop, or the wait for a program, has nothing to do."""
    frame = innermost(thread)
    idle = ("select", "_poll", "join", "_wait_for_tstate_lock")  # the last three on Windows
    return frame is not None and frame.f_code.co_name in idle


def innermost(thread: threading.Thread) -> FrameType | None:
    return sys._current_frames().get(thread.ident or 0)
