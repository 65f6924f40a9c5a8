"""A coroutine waits for what another thread does, and not for what is done already."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import pytest

from dcc_bridge.threads.flows import wrap_future


def test_a_result_that_is_there_is_given_without_a_turn_of_the_loop() -> None:
    done: Future[str] = Future()
    done.set_result("it")

    with pytest.raises(StopIteration) as end:
        wrap_future(done).send(None)

    assert end.value.value == "it"


def test_an_error_that_is_there_is_raised() -> None:
    failed: Future[None] = Future()
    failed.set_exception(KeyError("it"))

    with pytest.raises(KeyError, match="it"):
        asyncio.run(wrap_future(failed))


def test_what_was_given_up_before_is_a_cancellation_of_asyncios_kind() -> None:
    given_up: Future[None] = Future()
    given_up.cancel()

    async def ask() -> bool:
        try:
            await wrap_future(given_up)
        except asyncio.CancelledError:
            return True
        return False

    assert asyncio.run(ask())
