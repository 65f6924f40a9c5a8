"""Observers are called in order, whatever one of them does; a coroutine that blocks is named."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from dcc_bridge import on_main, skill
from dcc_bridge.callbacks import Callbacks, report_blocking
from tests.live import live, status
from tests.stand_ins import FakeHost


def test_callbacks_are_called_in_the_order_in_which_they_came() -> None:
    calls: list[str] = []
    callbacks = Callbacks()
    callbacks.add(lambda name: calls.append(f"first {name}"))
    callbacks.add(lambda name: calls.append(f"second {name}"))

    callbacks.call("cam1")

    assert calls == ["first cam1", "second cam1"]


def test_one_that_fails_keeps_no_other_from_being_called(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    callbacks = Callbacks()
    callbacks.add(lambda: [].pop())
    callbacks.add(lambda: calls.append(1))

    callbacks.call()

    assert calls == [1]
    assert "a callback failed" in caplog.text


def test_one_that_is_removed_meanwhile_is_not_called_any_more() -> None:
    calls: list[int] = []
    callbacks = Callbacks()
    callbacks.add(lambda: remove())
    remove = callbacks.add(lambda: calls.append(1))

    callbacks.call()
    remove()

    assert calls == []


def test_a_skill_that_holds_the_loop_is_named_in_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here time passes only where a skill says so."""
    host, now = FakeHost(["a"]), [0.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0], monotonic=time.monotonic)
    monkeypatch.setattr("dcc_bridge.callbacks.time", clock)

    def pass_time() -> None:
        now[0] += 0.3

    @skill(risk="read")
    async def hog() -> int:
        """Block where it should wait."""
        await anyio.sleep(0)
        pass_time()
        return await on_main(lambda: len(host.items))

    @skill(risk="read")
    async def polite() -> int:
        """Wait as it should."""
        asyncio.get_running_loop().call_soon(pass_time)
        await anyio.sleep(0)
        return await on_main(lambda: len(host.items))

    with live(tmp_path, hog, polite, host=host) as running:
        results = [running.call("hog"), running.call("polite")]

    held = [one.getMessage() for one in caplog.records if "held the worker's loop" in one.message]
    assert [status(one) for one in results] == ["done", "done"]
    assert len(held) == 1
    assert "hog held the worker's loop for 0.3 s" in held[0]


def test_results_errors_and_cancellations_pass_through() -> None:
    told: list[str] = []

    async def wait() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            told.append("cancelled")
            await asyncio.sleep(0)
            raise
        return "never"

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def answer() -> int:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await report_blocking(wait(), lambda seconds: None)
        with pytest.raises(ValueError, match="no"):
            await report_blocking(fail(), lambda seconds: None)
        return await report_blocking(asyncio.sleep(0, 7), lambda seconds: None)

    assert asyncio.run(answer()) == 7
    assert told == ["cancelled"]
