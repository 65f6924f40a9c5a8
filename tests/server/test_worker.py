"""What is handed to the worker's loop from other threads."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from dcc_bridge.server.worker import Worker, listen

LIMIT = 60.0


class Idle:
    """A service that serves nothing until it is stopped."""

    def __init__(self) -> None:
        self._end = asyncio.Event()

    async def run(self, ready: Callable[[], None]) -> None:
        ready()
        await self._end.wait()

    def stop(self) -> None:
        self._end.set()


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker(lambda worker: Idle())
    worker.start()
    worker.started.result(LIMIT)
    yield worker
    worker.stop()


def busy(worker: Worker) -> Callable[[], None]:
    """Keep the loop busy; gives what lets it go on."""
    is_busy, may_go_on = threading.Event(), threading.Event()

    def hold() -> None:
        is_busy.set()
        may_go_on.wait(LIMIT)

    worker.soon(hold)
    assert is_busy.wait(LIMIT)
    return may_go_on.set


def test_a_busy_loop_is_woken_once_for_all_that_it_is_handed(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop: Any = worker._loop
    wakes: list[object] = []
    wake = loop.call_soon_threadsafe
    go_on = busy(worker)

    def count(*args: Any, **more: Any) -> None:
        wakes.append(args)
        wake(*args, **more)

    monkeypatch.setattr(loop, "call_soon_threadsafe", count)
    called: list[int] = []
    done = threading.Event()

    for number in range(100):
        worker.soon(partial(called.append, number))
    worker.soon(done.set)
    go_on()

    assert done.wait(LIMIT)
    assert called == list(range(100))
    assert len(wakes) == 1


def test_each_is_called_in_the_context_of_whoever_handed_it_in(worker: Worker) -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody's")
    seen: list[str] = []
    done = threading.Event()

    def look() -> None:
        seen.append(whose.get())

    worker.soon(look)
    whose.set("mine")
    worker.soon(look)
    worker.soon(done.set)

    assert done.wait(LIMIT)
    assert seen == ["nobody's", "mine"]


def test_one_that_fails_keeps_nothing_from_the_next(
    worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()

    worker.soon(lambda: 1 / 0)
    worker.soon(done.set)

    assert done.wait(LIMIT)
    assert "ZeroDivisionError" in caplog.text


def test_one_that_is_cancelled_keeps_nothing_from_the_others(worker: Worker) -> None:
    def cancel() -> None:
        raise asyncio.CancelledError

    done = threading.Event()
    go_on = busy(worker)

    worker.soon(cancel)
    worker.soon(done.set)
    go_on()

    assert done.wait(LIMIT)


def test_an_interrupt_as_a_function_is_handed_in_leaves_the_loop_to_be_woken(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    called: list[str] = []
    done = threading.Event()

    with monkeypatch.context() as patched:
        patched.setattr(worker._loop, "call_soon_threadsafe", interrupt)
        with pytest.raises(KeyboardInterrupt):
            worker.soon(partial(called.append, "interrupted"))
    worker.soon(done.set)

    assert done.wait(LIMIT)
    assert called == ["interrupted"]


def test_what_is_handed_in_as_the_loop_ends_is_not_kept(worker: Worker) -> None:
    worker.stop()

    worker.soon(lambda: None)

    assert not worker._queue


def test_one_that_hands_in_another_does_not_wait_for_it(worker: Worker) -> None:
    done = threading.Event()

    worker.soon(lambda: worker.soon(done.set))

    assert done.wait(LIMIT)


def test_no_other_program_takes_the_port() -> None:
    if sys.platform != "win32":
        pytest.skip("elsewhere a port has one owner anyway")
    with listen(0) as listening:
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE)
