"""A call costs no more beside a thousand that wait for an answer than beside ten."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import closing
from typing import Any
from unittest.mock import Mock

from mcp_types import CallToolResult

from dcc_bridge import skill
from dcc_bridge.callbacks import call_later
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.headless import Pump
from dcc_bridge.server.parked_calls import MAX_FINISHED, ParkedCall, ParkedCalls
from dcc_bridge.skills.call_history import Recent
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import describe
from tests.stand_ins import FakeHost
from tests.steps import steps

FEW, MANY = 10, 1_000
SLACK = 20  # steps that a lock may add; a walk takes a thousand


def served(pump: Pump, until: Any) -> None:
    while not until():
        pump.main.drain()


def test_a_job_of_the_main_thread_is_taken_in_as_many_steps() -> None:
    taken = []
    for count in (FEW, MANY):
        pump, answer, begun = Pump(), Future[None](), list[int]()

        def wait(pump: Pump = pump, answer: Any = answer, begun: list[int] = begun) -> None:
            begun.append(1)
            pump.main.wait(answer)

        waiting = [pump.main.submit(wait, read=True) for _ in range(count)]
        served(pump, lambda begun=begun, count=count: len(begun) == count)
        last = pump.main.submit(lambda: "seen", read=True)
        taken.append(steps(pump.main.drain))
        assert last.result() == "seen"

        answer.set_result(None)
        served(pump, waiting[-1].done)

    assert taken[1] < taken[0] + SLACK


def test_a_call_is_let_into_the_queue_in_as_many_steps() -> None:
    taken = []
    for count in (FEW, MANY):
        pump, answer, begun = Pump(), Future[None](), list[int]()

        @skill(risk="read")
        def wait(pump: Pump = pump, answer: Any = answer, begun: list[int] = begun) -> None:
            """Wait for an answer."""
            begun.append(1)
            pump.main.wait(answer)

        runner = Runner(FakeHost(), pump.main, Settings(), Mock(), call_later)
        waits = describe(wait)

        def start(runner: Runner = runner, waits: Any = waits) -> Future[Any]:
            return runner.start(waits, {}, Call("wait", "Wait", client=Client("agent"))).outcome

        for number in range(count):
            start()
            served(pump, lambda begun=begun, number=number: len(begun) > number)
        start()  # looks at those that have begun since
        taken.append(steps(start))

        answer.set_result(None)
        last = start()
        served(pump, last.done)

    assert taken[1] < taken[0] + SLACK


def test_a_call_is_parked_in_as_many_steps() -> None:
    async def taken(count: int) -> int:
        calls = ParkedCalls(Mock(), Recent())

        def park() -> ParkedCall:
            call = Call("wait", "Wait")
            return ParkedCall(call, "agent", ("agent", "wait", call.id), modern=True)

        async def begin(parked: ParkedCall) -> None:
            await calls.begin(parked, Mock(request=None))

        waiting = [park() for _ in range(count)]
        tasks = [asyncio.create_task(begin(parked)) for parked in waiting]
        await asyncio.sleep(0)
        last = park()
        calls.finish(last, CallToolResult(content=[]), "done")
        with closing(begin(last)) as beginning:
            count = steps(lambda: list(iter(lambda: _step(beginning), None)))
        for parked in waiting:
            calls.finish(parked, CallToolResult(content=[]), "done")
        await asyncio.gather(*tasks)
        assert calls.open == 0
        return count

    few, many = asyncio.run(taken(FEW)), asyncio.run(taken(MANY))

    assert many < few + SLACK


def test_a_call_is_compared_with_those_like_it_in_as_many_steps() -> None:
    async def taken(count: int) -> int:
        calls = ParkedCalls(Mock(), Recent())
        for number in range(count):
            parked = ParkedCall(Call("wait", "Wait"), "agent", ("a", "b", str(number)), modern=True)
            begun = asyncio.create_task(calls.begin(parked, Mock(request=None)))
            await asyncio.sleep(0)
            begun.cancel()
        await asyncio.sleep(0)
        return steps(lambda: notices.append(calls.notice_for(("a", "b", "new"))))

    notices: list[str | None] = []
    few, many = asyncio.run(taken(FEW)), asyncio.run(taken(MANY))

    assert many < few + SLACK
    assert notices == [None, None]


def test_of_clients_whose_calls_are_over_nothing_is_kept() -> None:
    pump = Pump()

    @skill(risk="read")
    def look() -> None:
        """Look."""

    runner = Runner(FakeHost(), pump.main, Settings(), Mock(), call_later)
    for number in range(FEW):
        call = Call("look", "Look", client=Client(f"agent {number}"))
        served(pump, runner.start(describe(look), {}, call).outcome.done)

    assert runner._lines == {}


def _step(beginning: Any) -> None:
    try:
        beginning.send(None)
    except StopIteration:
        return


def test_of_those_that_ended_unfetched_the_last_ones_are_kept() -> None:
    async def known() -> list[bool]:
        calls = ParkedCalls(Mock(), Recent())
        ended = []
        for number in range(MAX_FINISHED + 5):
            call = Call("ask", "Ask")
            parked = ParkedCall(call, "agent", ("agent", "ask", str(number)), modern=True)
            parked.add_event(CallToolResult(content=[]))  # stands for a question
            calls.finish(parked, CallToolResult(content=[]), "done")
            await calls.begin(parked, Mock(request=None))
            ended.append(call.id)
        return [calls.knows(f"{call}.0") for call in ended]

    assert asyncio.run(known()).count(True) == MAX_FINISHED
