"""Deadlines are met to the moment, in the context of whoever set them, and wake nobody in vain."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from unittest.mock import patch

import pytest

from dcc_bridge.server.worker import Deadlines

LIMIT = 60.0


class DeadlineLoop:
    """Deadlines on a loop, and how often that was woken for them."""

    def __init__(self) -> None:
        self.wakes = 0
        self.calls: list[str] = []
        self.rung = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(self._soon)

    def _soon(self, fn: Callable[[], object]) -> None:
        self.wakes += 1
        self._loop.call_soon_threadsafe(fn)

    def add(self, seconds: float, name: str) -> Callable[[], None]:
        """Note the name when the time has come; "end" ends the test."""
        return self.deadlines.add(seconds, lambda: self.note(name))

    def note(self, name: str) -> None:
        self.calls.append(name)
        if name == "end":
            self.rung.set()

    async def end(self) -> None:
        await asyncio.wait_for(self.rung.wait(), LIMIT)


pytestmark = pytest.mark.anyio


async def test_those_that_are_due_are_called_in_the_order_of_their_times_and_no_earlier() -> None:
    loop, begin = DeadlineLoop(), time.monotonic()
    with patch.object(time, "monotonic", lambda: begin):  # all are added at one moment
        for seconds, name in ((0.06, "end"), (0.02, "first"), (0.04, "second"), (3600.0, "never")):
            loop.add(seconds, name)
    await loop.end()

    assert loop.calls == ["first", "second", "end"]
    assert time.monotonic() - begin >= 0.06


async def test_one_that_is_set_behind_another_and_stopped_wakes_no_loop() -> None:
    loop = DeadlineLoop()
    stop = loop.add(3600.0, "long")
    for _ in range(100):
        loop.add(3601.0, "longer")()
    stop()
    loop.add(0.0, "end")
    await loop.end()

    assert (loop.wakes, loop.calls) == (2, ["end"])


async def test_a_short_one_behind_a_long_one_that_was_stopped_is_met() -> None:
    """The loop looks when the stopped one was due, and then again."""
    loop = DeadlineLoop()
    stop = loop.add(0.01, "stopped")
    loop.add(0.03, "end")
    stop()
    await loop.end()

    assert loop.calls == ["end"]


async def test_one_that_a_deadline_sets_or_stops_is_heard(caplog: pytest.LogCaptureFixture) -> None:
    loop = DeadlineLoop()
    stops: list[Callable[[], None]] = []

    def both() -> None:
        stops[0]()
        loop.add(0.0, "end")
        raise ValueError("it fails besides")

    loop.deadlines.add(0.0, both)
    stops.append(loop.add(0.0, "stopped"))
    await loop.end()

    assert loop.calls == ["end"]
    assert "it fails besides" in caplog.text


async def test_a_deadline_is_called_in_the_context_of_whoever_set_it() -> None:
    variable, loop = ContextVar("variable", default="nobody's"), DeadlineLoop()

    def set_one(name: str, seconds: float) -> None:
        variable.set(name)
        loop.deadlines.add(seconds, lambda: loop.note(variable.get()))

    begin = time.monotonic()
    with patch.object(time, "monotonic", lambda: begin):  # all are added at one moment
        for args in (("long", 0.04), ("short", 0.01)):
            thread = threading.Thread(target=set_one, args=args)
            thread.start()
            await asyncio.to_thread(thread.join)
        loop.add(0.05, "end")
    await loop.end()

    assert loop.calls == ["short", "long", "end"]
