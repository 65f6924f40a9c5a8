"""The main thread's queue keeps its promises."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, cast

import pytest
from greenlet import GreenletExit, getcurrent, greenlet

from dcc_bridge.callbacks import Unsubscribe, call_later
from dcc_bridge.errors import BridgeClosed, Busy
from dcc_bridge.headless import Pump
from dcc_bridge.threads.jobs import MAX_SPARE_STACKS, client
from dcc_bridge.threads.main_thread import IDLE_LOOKS, IDLE_S, MAX_LOOKS, MainThread, freeze

LIMIT = 60.0


def settle(pump: Pump) -> None:
    turns = iter([False, True])
    pump.wake(0.0)
    pump.run(lambda: next(turns))


def submit_waiting(pump: Pump) -> tuple[Future[str], Future[str]]:
    """Submit a job that waits by now; gives its result, and the answer that it waits for."""
    answer: Future[str] = Future()
    job = pump.main.submit(lambda: pump.main.wait(answer))
    settle(pump)
    return job, answer


def submit_waiting_edit(pump: Pump, name: str = "a job") -> Future[None]:
    """Submit an edit that waits in its middle for the answer that is given back."""
    answer: Future[None] = Future()

    def edit() -> None:
        job = pump.main.job
        assert job is not None
        job.edited = True
        pump.main.wait(answer)

    pump.main.submit(edit, name=name)
    return answer


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a turn last as long as it takes, on a machine that is busy with other things too."""
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)


@pytest.fixture
def pump() -> Pump:
    return Pump()


def test_a_job_runs_on_the_main_thread_and_its_result_is_the_callers(pump: Pump) -> None:
    future = pump.main.submit(threading.get_ident)

    pump.run(future.done)

    assert future.result() == threading.get_ident()


def test_an_exception_belongs_to_whoever_submitted_the_job(pump: Pump) -> None:
    future = pump.main.submit(lambda: 1 / 0)
    other = pump.main.submit(lambda: "fine")

    pump.run(other.done)

    with pytest.raises(ZeroDivisionError):
        future.result()


def test_a_job_whose_caller_gave_up_never_runs(pump: Pump) -> None:
    ran: list[str] = []
    future = pump.main.submit(lambda: ran.append("late"))

    future.cancel()
    settle(pump)

    assert ran == []


def test_a_suspended_job_lets_the_host_live_and_resumes_with_the_answer(pump: Pump) -> None:
    job, answer = submit_waiting(pump)
    assert pump.main.is_unwound

    answer.set_result("yes")
    pump.run(job.done)

    assert job.result() == "yes"


def test_clients_take_turns_and_the_jobs_of_one_keep_their_order(pump: Pump) -> None:
    order: list[str] = []

    def queue(label: str, jobs: int, read: bool) -> list[Future[None]]:
        client.set(label)
        names = [f"{label}{number}" for number in range(jobs)]
        return [pump.main.submit(lambda n=name: order.append(n), read=read) for name in names]  # type: ignore[misc]  # a lambda's default has no type

    edits = copy_context().run(queue, "a", 4, False)
    copy_context().run(queue, "b", 2, True)
    copy_context().run(queue, "c", 1, False)
    pump.run(edits[-1].done)

    assert order == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"]


def test_jobs_never_run_inside_one_another(pump: Pump) -> None:
    inside: list[int] = []
    depth: list[int] = []

    def job() -> None:
        inside.append(1)
        pump.main.drain()
        depth.append(len(inside))
        inside.pop()

    futures = [pump.main.submit(job) for _ in range(5)]
    pump.run(futures[-1].done)

    assert depth == [1] * 5


def test_the_ui_lane_is_served_while_a_job_runs(pump: Pump) -> None:
    def job() -> bool:
        shown = pump.main.post(lambda: None)
        pump.main.drain()
        return shown.done()

    future = pump.main.submit(job)
    pump.run(future.done)

    assert future.result() is True


def test_an_edit_that_waits_keeps_the_slot(pump: Pump) -> None:
    answer: Future[None] = Future()
    order: list[str] = []

    def first() -> None:
        pump.main.wait(answer)
        order.append("first")

    pump.main.submit(first)
    second = pump.main.submit(lambda: order.append("second"))
    settle(pump)
    assert order == []

    answer.set_result(None)
    pump.run(second.done)

    assert order == ["first", "second"]


def test_a_read_is_served_while_an_edit_waits_that_has_not_edited(pump: Pump) -> None:
    answer: Future[None] = Future()
    pump.main.submit(lambda: pump.main.wait(answer))
    read = pump.main.submit(lambda: "seen", read=True)

    pump.run(read.done)

    assert read.result() == "seen"
    answer.set_result(None)


def test_a_crowd_of_reads_is_told_to_come_back_while_an_edit_waits_in_its_middle(
    pump: Pump,
) -> None:
    answer = submit_waiting_edit(pump, "Rename")
    reads = [pump.main.submit(lambda: "seen", read=True) for _ in range(3000)]
    pump.run(reads[-1].done)

    for read in reads:
        with pytest.raises(Busy, match=r"^busy: Rename is in the middle of an edit"):
            read.result()
    answer.set_result(None)


def test_a_thousand_jobs_resume_in_any_order_by_answers_and_by_errors(pump: Pump) -> None:
    shuffled = random.Random(7)
    waiting: list[Future[int]] = []

    def job(number: int) -> int:
        total = 0
        for _ in range(2):
            answer: Future[int] = Future()
            waiting.append(answer)
            try:
                total += pump.main.wait(answer)
            except ValueError:
                total += 100
        return total + number

    jobs = [pump.main.submit(lambda n=n: job(n), read=True) for n in range(1000)]  # type: ignore[misc]  # a lambda's default has no type
    answered = 0
    while not all(one.done() for one in jobs):
        settle(pump)
        for answer in shuffled.sample(waiting, len(waiting)):
            waiting.remove(answer)
            answered += 1
            if answered % 7:
                answer.set_result(1)
            else:
                answer.set_exception(ValueError())

    assert sum(one.result() - number for number, one in enumerate(jobs)) >= 2000


def test_context_variables_do_not_leak_from_a_suspended_job(pump: Pump) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="outside")
    answer: Future[None] = Future()

    def job() -> str:
        variable.set("inside")
        pump.main.wait(answer)
        return variable.get()

    future = pump.main.submit(job)
    settle(pump)
    assert variable.get() == "outside"
    answer.set_result(None)
    pump.run(future.done)

    assert future.result() == "inside"


def test_a_job_runs_on_the_stack_that_an_ended_one_left_and_finds_nothing_of_it(pump: Pump) -> None:
    variable = ContextVar("variable", default="nothing")
    seen: list[tuple[greenlet, bool, str]] = []
    held: list[weakref.ref[Thing]] = []

    def first() -> None:
        thing = Thing()
        held.append(weakref.ref(thing))
        seen.append((getcurrent(), True, ""))

    def second() -> None:
        thing = held[0]()
        seen.append((getcurrent(), thing is not None, variable.get()))

    def leave(_: object) -> None:
        variable.set("a callback's")

    pump.main.submit(first).add_done_callback(leave)
    settle(pump)
    read: Future[str] = Future()
    done = pump.main.submit(second)
    done.add_done_callback(lambda _: read.set_result(variable.get()))
    settle(pump)

    assert seen[1] == (seen[0][0], False, "nothing")
    assert read.result() == "nothing"


def test_a_stack_whose_job_still_waits_is_no_other_jobs(pump: Pump) -> None:
    answer: Future[str] = Future()
    stacks: list[greenlet] = []

    def asks() -> str:
        stacks.append(getcurrent())
        return pump.main.wait(answer)

    pump.main.submit(lambda: None)
    settle(pump)
    waiting = pump.main.submit(asks, read=True)
    pump.main.submit(lambda: stacks.append(getcurrent()), read=True)
    settle(pump)
    answer.set_result("yes")
    settle(pump)

    assert waiting.result() == "yes"
    assert stacks[0] is not stacks[1]


def test_a_job_that_starts_in_a_deeper_place_moves_nothing_of_it_away(pump: Pump) -> None:
    moved: list[int] = []

    def look() -> None:
        parent = getcurrent().parent
        assert parent is not None
        moved.append(getattr(parent, "_stack_saved"))  # noqa: B009 - its types do not know it

    pump.main.submit(look)
    pump.main.drain()
    for levels in (0, 60, 0):
        pump.main.submit(look)
        deeper(pump.main.drain, levels)

    assert moved == [0, 0, 0, 0]


def test_a_stack_that_was_told_to_end_has_no_other_job(pump: Pump) -> None:
    stacks: list[greenlet] = []

    def ends() -> None:
        stacks.append(getcurrent())
        raise GreenletExit

    ended = pump.main.submit(ends)
    settle(pump)
    pump.main.submit(lambda: stacks.append(getcurrent()))
    settle(pump)

    assert isinstance(ended.exception(), GreenletExit)
    assert stacks[0].dead
    assert stacks[1] is not stacks[0]


def test_an_edit_that_a_callback_breaks_off_at_its_end_keeps_no_other_job_waiting(
    pump: Pump,
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    edit, answer = submit_waiting(pump)
    edit.add_done_callback(interrupt)
    answer.set_result("yes")
    with pytest.raises(KeyboardInterrupt):
        pump.main.drain()
    following = pump.main.submit(lambda: "done")
    settle(pump)

    assert edit.result() == "yes"
    assert following.done()
    pump.main.close()


def test_close_ends_the_stacks_that_are_spare_and_few_are(pump: Pump) -> None:
    answer: Future[None] = Future()
    stacks: list[greenlet] = []

    def asks() -> None:
        stacks.append(getcurrent())
        pump.main.wait(answer)

    for _ in range(MAX_SPARE_STACKS + 1):
        pump.main.submit(asks, read=True)
    settle(pump)
    answer.set_result(None)
    settle(pump)
    spare = [stack for stack in stacks if not stack.dead]
    pump.main.close()

    assert len(spare) == MAX_SPARE_STACKS
    assert all(stack.dead for stack in stacks)


def test_a_way_to_the_main_thread_that_nobody_closed_is_let_go_with_its_stacks() -> None:
    main = MainThread(lambda seconds: None)
    stacks: list[weakref.ref[greenlet]] = []
    main.submit(lambda: stacks.append(weakref.ref(getcurrent())))
    main.drain()

    del main
    gc.collect()

    assert stacks[0]() is None


class Clock:
    """Has the time pass, and knows what the process computed meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.waiting: list[Callable[[], None]] = []
        self.frozen = 0
        self._now = self._computed = 0.0
        monkeypatch.setattr("time.process_time", lambda: self._computed)
        monkeypatch.setattr("time.monotonic", lambda: self._now)
        monkeypatch.setattr("gc.collect", lambda: self.calls.append("collect"))
        monkeypatch.setattr("gc.freeze", lambda: self.calls.append("freeze"))
        monkeypatch.setattr("gc.unfreeze", lambda: self.calls.append("unfreeze"))
        monkeypatch.setattr("gc.get_freeze_count", lambda: self.frozen)

    def __call__(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        self.waiting.append(fn)
        return self.waiting.clear

    def pass_by(self, times: int = 1, computed: float = 0.0, late: float = 0.0) -> None:
        """Let the next looks be taken, and the main thread be late from then on."""
        for _ in range(times):
            self._computed += computed
            self.waiting.pop()()
        self._now += late


@pytest.fixture
def clock(pump: Pump, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let the look for garbage begin, which has put aside what there was."""
    clock = Clock(monkeypatch)
    freeze(pump.main, clock)
    assert clock.calls.pop() == "freeze"
    return clock


def test_garbage_is_collected_and_the_rest_frozen_once_the_process_was_idle_for_a_while(
    pump: Pump, clock: Clock
) -> None:
    clock.pass_by(IDLE_LOOKS - 1)
    settle(pump)
    before = list(clock.calls)
    clock.pass_by()
    settle(pump)

    assert before == []
    assert clock.calls == ["unfreeze", "collect", "freeze"]
    assert clock.waiting == []


def test_the_garbage_of_a_host_whose_edit_waits_for_an_answer_is_collected_later(
    pump: Pump, clock: Clock
) -> None:
    answer = submit_waiting_edit(pump)
    settle(pump)
    clock.pass_by(IDLE_LOOKS)
    settle(pump)
    answer.set_result(None)
    settle(pump)
    clock.pass_by(IDLE_LOOKS)
    settle(pump)

    assert clock.calls == ["unfreeze", "collect", "freeze"]


@pytest.mark.parametrize("disturbance", ["computing", "a job that waits", "a late main thread"])
def test_a_host_that_does_something_is_not_stopped_for_its_garbage(
    disturbance: str, pump: Pump, clock: Clock
) -> None:
    clock.pass_by(IDLE_LOOKS - 1)
    if disturbance == "a job that waits":
        pump.main.submit(lambda: None)
    clock.pass_by(
        computed=2 * IDLE_S if disturbance == "computing" else 0.0,
        late=2 * IDLE_S if disturbance == "a late main thread" else 0.0,
    )
    settle(pump)
    clock.pass_by(IDLE_LOOKS - 1)
    settle(pump)
    before = list(clock.calls)
    clock.pass_by()
    settle(pump)

    assert before == []
    assert clock.calls == ["unfreeze", "collect", "freeze"]


def test_nothing_looks_for_garbage_once_the_bridge_was_stopped(
    pump: Pump, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump.main, "submit", lambda *_, **more: clock.calls.append("submit"))

    pump.main.close()
    clock.pass_by(computed=2 * IDLE_S)

    assert clock.waiting == []
    assert clock.calls == []


def test_a_host_that_is_never_idle_is_looked_at_for_a_minute_only(pump: Pump, clock: Clock) -> None:
    clock.pass_by(MAX_LOOKS, computed=2 * IDLE_S)

    assert clock.waiting == []
    assert clock.calls == []


@pytest.mark.parametrize(
    ("frozen", "calls"), [(0, ["freeze", "unfreeze"]), (7, [])], ids=["nothing", "something"]
)
def test_a_bridge_that_stops_gives_the_collector_its_cycles_back_but_not_what_others_froze(
    frozen: int, calls: list[str], pump: Pump, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    clock.frozen = frozen

    freeze(pump.main, clock)()

    assert clock.calls == calls


def deeper(fn: Callable[[], None], levels: int) -> None:
    """Call a function with 5 KB more of C stack below it for each level."""
    if levels:
        sorted([0], key=lambda _: deeper(fn, levels - 1) or 0)  # type: ignore[func-returns-value]  # None
    else:
        fn()


class Thing:
    """Something of a skill's."""


def test_another_thread_simply_waits(pump: Pump) -> None:
    job = pump.main.submit(lambda: "done")
    waiting = ThreadPoolExecutor(1).submit(pump.main.wait, job)

    pump.run(job.done)

    assert waiting.result(LIMIT) == "done"


def test_the_hosts_own_code_waits_by_spinning(pump: Pump) -> None:
    answer: Future[str] = Future()
    threading.Timer(0.01, lambda: answer.set_result("clicked")).start()

    assert pump.main.wait(answer) == "clicked"


def test_the_host_cannot_wait_for_two_answers_at_once(pump: Pump) -> None:
    outer: Future[None] = Future()
    told: list[BaseException | None] = []

    def click_again() -> None:
        inner: Future[None] = Future()
        try:
            pump.main.wait(inner)
        except Busy as error:
            told.append(error)
        outer.set_result(None)

    pump.main.post(click_again)
    pump.main.wait(outer)

    assert len(told) == 1


def test_no_job_starts_while_the_hosts_own_code_spins(pump: Pump) -> None:
    answer: Future[None] = Future()
    job = pump.main.submit(lambda: None)

    pump.main.post(lambda: answer.set_result(None))
    pump.main.wait(answer)
    done_meanwhile = job.done()
    pump.run(job.done)

    assert not done_meanwhile


def test_jobs_are_held_while_the_host_shows_a_modal_dialog() -> None:
    wakes: list[float] = []
    modal = [True]
    main = MainThread(wakes.append, blocked=lambda: bool(modal))
    job = main.submit(lambda: None)
    shown = main.post(lambda: None)

    main.drain()
    held = not job.done()
    modal.clear()
    main.drain()

    assert held
    assert shown.done()
    assert job.done()
    assert 0 < wakes[-1] <= 0.5


def test_wakes_are_coalesced() -> None:
    wakes: list[float] = []
    main = MainThread(wakes.append)

    for _ in range(100):
        main.submit(lambda: None)

    assert wakes == [0.0]


def test_a_wake_that_fails_is_tried_again_and_nothing_lies_in_the_queue() -> None:
    woken, fails = threading.Event(), iter([True, True])

    def wake(seconds: float) -> None:
        if next(fails, False):
            raise RuntimeError("the event loop is not there yet")
        woken.set()

    main = MainThread(wake)
    job = main.submit(lambda: "served")

    assert woken.wait(LIMIT)
    main.drain()

    assert job.result(0) == "served"


def test_a_host_that_cannot_be_woken_is_tried_by_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here it waits until the test is over."""
    stops: list[Unsubscribe] = []

    def wake(seconds: float) -> None:
        raise RuntimeError("the event loop is gone")

    def later(seconds: float, fn: Callable[[], None]) -> Unsubscribe:
        stops.append(call_later(60.0, fn))
        return stops[-1]

    monkeypatch.setattr("dcc_bridge.threads.main_thread.call_later", later)
    before = set(threading.enumerate())
    main = MainThread(wake)
    for _ in range(100):
        main.submit(lambda: None)
    more = set(threading.enumerate()) - before
    main.close()
    for stop in stops:
        stop()

    assert len(stops) == 1
    assert more
    assert all(thread.daemon for thread in more)


def test_a_drain_gives_the_host_its_turn_after_the_budget() -> None:
    wakes: list[float] = []
    main = MainThread(wakes.append)
    clock = iter(number * 0.005 for number in range(1000))
    jobs = [main.submit(lambda: None) for _ in range(10)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.perf_counter", lambda: next(clock))
        main.drain()

    assert 0 < sum(job.done() for job in jobs) < 10
    assert len(wakes) == 2


def test_close_fails_what_is_queued_and_ends_what_is_suspended(pump: Pump) -> None:
    cleaned: list[str] = []

    def job() -> None:
        try:
            pump.main.wait(Future())
        finally:
            cleaned.append("yes")

    suspended = pump.main.submit(job)
    queued = pump.main.submit(lambda: None)
    settle(pump)
    pump.main.close()

    for future in (suspended, queued, pump.main.submit(lambda: None)):
        with pytest.raises(BridgeClosed):
            future.result(0)
    assert cleaned == ["yes"]


def test_close_lets_a_job_whose_answer_is_there_finish(pump: Pump) -> None:
    job, answer = submit_waiting(pump)

    answer.set_result("just in time")
    pump.main.close()

    assert job.result(0) == "just in time"


def test_a_job_that_will_not_end_is_left_behind(pump: Pump) -> None:
    told: list[str] = []

    def endless() -> None:
        while len(told) < 1000:
            try:
                pump.main.wait(Future())
            except BridgeClosed as error:
                told.append(str(error))

    job = pump.main.submit(endless, name="Rename")
    settle(pump)
    pump.main.close()

    assert job.done()
    assert "Rename" in told[0]


def test_a_job_that_goes_on_waiting_is_told_to_end_eight_times(pump: Pump) -> None:
    told: list[BaseException] = []

    def stubborn() -> None:
        while len(told) < 1000:
            try:
                cast("greenlet", getcurrent().parent).switch()
            except BridgeClosed as error:
                told.append(error)

    job = pump.main.submit(stubborn)
    settle(pump)
    pump.main.close()
    pump.main.close()

    assert len(told) == 8
    assert not job.done()


def test_when_unwound_waits_until_nothing_of_ours_is_on_the_stack(pump: Pump) -> None:
    seen: list[bool] = []

    def job() -> None:
        pump.main.when_unwound(lambda: seen.append(pump.main.is_unwound))
        pump.main.drain()
        assert seen == []

    future = pump.main.submit(job)
    pump.run(lambda: bool(seen))

    assert future.done()
    assert seen == [True]


def test_while_the_host_paints_nothing_is_served_and_nothing_waits(pump: Pump) -> None:
    seen: list[Any] = []

    def paint(serves_stop: bool) -> bool:
        seen.append("painted")
        main.submit(lambda: seen.append("another job"))
        main.post(lambda: seen.append("shown"))
        main.drain()
        main.repaint()
        with pytest.raises(Busy, match=r"^A skill is running"):
            main.wait(Future())
        return False

    main = MainThread(lambda seconds: None, repaint=paint)

    def work() -> None:
        main.repaint()
        seen.append("done")

    job = main.submit(work)
    main.drain()

    assert job.done()
    assert seen == ["painted", "done", "shown", "another job"]


def test_a_job_that_rests_leaves_the_stack_and_nothing_is_served_until_it_goes_on() -> None:
    seen: list[Any] = []

    def paint(serves_stop: bool) -> bool:
        main.rest()
        return serves_stop

    main = MainThread(lambda seconds: None, repaint=paint)

    def work() -> None:
        seen.append("begun")
        seen.append(main.repaint(True))

    working = main.submit(work)
    main.submit(lambda: seen.append("another job"), read=True)
    main.drain()
    main.post(lambda: seen.append("shown"))
    main.drain()
    at_rest = [*seen, main.is_resting, main.is_unwound, main.job]
    main.go_on()
    has_ended = working.done()
    main.drain()
    main.go_on()

    assert at_rest == ["begun", True, False, None]
    assert has_ended
    assert seen == ["begun", True, "shown", "another job"]


def test_a_job_that_has_rested_may_wait_for_an_answer_and_rest_again() -> None:
    def paint(serves_stop: bool) -> bool:
        main.rest()
        return False

    main = MainThread(lambda seconds: None, repaint=paint)
    answer: Future[str] = Future()

    def rests_asks_and_rests() -> Any:
        main.repaint()
        told = main.wait(answer)
        main.repaint()
        return told

    asking = main.submit(rests_asks_and_rests)
    main.drain()
    main.go_on()
    holds = main.holder is not None
    answer.set_result("yes")
    main.drain()
    rests_again = main.is_resting
    main.go_on()

    assert holds
    assert rests_again
    assert asking.result(0) == "yes"
    assert main.is_unwound


def test_host_code_that_paints_sees_nothing_of_the_job() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="outside")
    seen: list[Any] = []

    def job() -> None:
        variable.set("inside")
        main.repaint()

    def paint(serves_stop: bool) -> bool:
        seen.extend([variable.get(), main.job])
        return serves_stop

    main = MainThread(lambda seconds: None, repaint=paint)
    main.submit(job)
    main.drain()
    main.repaint()

    assert seen == ["outside", None]


@pytest.mark.parametrize(("drains", "more"), [([True], [0.0]), ([False], []), ([True, False], [])])
def test_a_turn_that_came_while_the_host_painted_is_asked_for_again_by_the_job_that_missed_it(
    drains: list[bool], more: list[float]
) -> None:
    wakes: list[float] = []
    turns = iter(drains)

    def paint(serves_stop: bool) -> bool:
        wakes.clear()
        if next(turns):
            main.drain()
        return False

    main = MainThread(wakes.append, repaint=paint)
    for _ in drains:
        main.submit(main.repaint)
    main.drain()

    assert wakes == more


def test_after_it_painted_a_job_may_wait_and_others_are_served() -> None:
    def paints_and_asks() -> Any:
        main.repaint()
        assert main.job is not None
        return main.wait(answer)

    answer: Future[str] = Future()
    main = MainThread(lambda seconds: None, repaint=lambda serves_stop: False)
    asking = main.submit(paints_and_asks, read=True)
    other = main.submit(lambda: "served", read=True)
    main.drain()
    assert other.result(0) == "served"

    answer.set_result("yes")
    main.drain()

    assert asking.result(0) == "yes"


def test_a_job_is_seen_by_what_runs_on_its_own_stack_only(pump: Pump) -> None:
    seen: list[Any] = []

    def elsewhere() -> None:
        seen.append(pump.main.job)

    def job() -> None:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join(LIMIT)
        greenlet(elsewhere).switch()
        pump.main.post(elsewhere)
        seen.append(pump.main.job is not None)

    pump.run(pump.main.submit(job).done)
    settle(pump)

    assert pump.main.job is None
    assert seen == [None, None, True, None]


def test_what_waits_in_the_queue_is_counted_until_it_is_given_up(pump: Pump) -> None:
    jobs = [pump.main.submit(lambda: None) for _ in range(3)]

    before = pump.main.waiting
    jobs[1].cancel()

    assert (before, pump.main.waiting) == (3, 2)


def test_the_host_is_woken_for_what_waits_until_nothing_is_on_the_stack() -> None:
    wakes: list[float] = []

    MainThread(wakes.append).when_unwound(lambda: None)

    assert wakes == [0.0]


def test_what_ended_at_the_close_is_not_run_by_a_late_turn() -> None:
    ran: list[str] = []
    main = MainThread(lambda seconds: None)
    queued = [main.submit(lambda: ran.append("job")), main.post(lambda: ran.append("question"))]

    main.close()
    main.drain()

    for future, name in zip(queued, ("a job", "a question"), strict=True):
        with pytest.raises(BridgeClosed, match=rf"^{name} ended"):
            future.result(0)
    assert (ran, main.waiting) == ([], 0)


def test_a_turn_in_mid_job_ends_at_once_and_asks_for_no_other() -> None:
    wakes: list[float] = []
    main = MainThread(wakes.append)
    main.submit(main.drain)
    main.submit(lambda: None)

    main.drain()

    assert wakes == [0.0]


def test_one_turn_serves_all_that_there_is_time_for() -> None:
    served: list[str] = []
    main = MainThread(lambda seconds: None)
    main.submit(lambda: served.append("job"))
    for name in ("first", "second"):
        main.when_unwound(lambda name=name: served.append(name))  # type: ignore[misc]  # a lambda's default has no type

    main.drain()

    assert served == ["first", "second", "job"]


def test_edits_that_wait_behind_an_edit_keep_no_processor_busy() -> None:
    answer: Future[None] = Future()
    wakes: list[float] = []
    main = MainThread(wakes.append)
    main.submit(lambda: main.wait(answer))
    main.submit(lambda: None)
    main.drain()
    wakes.clear()

    main.drain()

    assert wakes == []
    answer.set_result(None)


def test_a_job_gives_back_to_whoever_resumed_it_last(pump: Pump) -> None:
    job, answer = submit_waiting(pump)
    after: list[bool] = []

    def turn() -> None:
        pump.main.drain()
        after.append(job.done())

    answer.set_result("yes")
    greenlet(turn).switch()

    assert after == [True]


def test_a_host_that_cannot_spin_cannot_wait_outside_of_a_job() -> None:
    main = MainThread(lambda seconds: None)

    with pytest.raises(Busy, match=r"^This application cannot wait"):
        main.wait(Future())


def test_what_came_while_the_host_spun_is_asked_for_afterwards() -> None:
    wakes: list[float] = []

    def spin(future: Future[Any]) -> None:
        main.submit(lambda: None)
        main.drain()
        wakes.clear()
        future.set_result(None)

    main = MainThread(wakes.append, spin)
    main.wait(Future())

    assert wakes == [0.0]


def test_a_thread_gives_up_a_job_that_does_not_begin_and_it_never_does(pump: Pump) -> None:
    ran: list[int] = []
    job = pump.main.submit(lambda: ran.append(1))

    error = ThreadPoolExecutor(1).submit(pump.main.wait, job, 0.01).exception(LIMIT)
    settle(pump)

    assert isinstance(error, Busy)
    assert "was busy for 0.01 s; try again" in str(error)
    assert ran == []


def test_a_thread_waits_on_for_a_job_that_has_begun(pump: Pump) -> None:
    future: Future[str] = Future()
    future.set_running_or_notify_cancel()
    threading.Timer(0.05, lambda: future.set_result("done")).start()

    waiting = ThreadPoolExecutor(1).submit(pump.main.wait, future, 0.01)

    assert waiting.result(LIMIT) == "done"
