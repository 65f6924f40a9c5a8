"""A coroutine that stops the main thread until its answer comes is refused at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import pytest

from dcc_bridge import confirm, confirm_sync, elicit_form, elicit_url, on_main, skill
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.ask_secret import ask_secret
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.headless import Pump
from tests.elicitation.brokers import YES
from tests.live import live, status, text
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person

FREEZES = 2.0
"""Seconds for which the main thread would stand still if the coroutine were not refused."""
Coroutines = Callable[[], Coroutine[Any, Any, object]]
ASKS: dict[str, Coroutines] = {
    "confirm": lambda: confirm("Sure?"),
    "elicit_form": lambda: elicit_form("Sure?", CONFIRM),
    "elicit_url": lambda: elicit_url("Please look.", "https://example.com/"),
    "ask_secret": lambda: ask_secret("It needs a key.", label="API key"),
}


def running(make: Coroutines, thread: Literal["main", "any"] = "main") -> Callable[..., Any]:
    """Make a skill that runs a coroutine in an event loop of its own."""

    @skill(risk="edit", thread=thread)
    def runs() -> str:
        """Run a coroutine."""
        return str(asyncio.run(asyncio.wait_for(make(), FREEZES)))

    return runs


@pytest.mark.parametrize("name", ASKS)
def test_a_skill_that_asks_so_is_told_which_function_asks_there(name: str, tmp_path: Path) -> None:
    person = Person()

    with live(tmp_path, running(ASKS[name]), presenter=person) as bridge:
        result = bridge.call("runs")

    assert (status(result), person.shown) == ("failed", [])
    assert f"use: {name}_sync(" in text(result)


def test_a_grant_is_applied_there_without_a_coroutine(tmp_path: Path) -> None:
    @skill(risk="edit")
    def applies() -> None:
        """Apply in a coroutine."""
        asyncio.run(confirm_sync("Sure?").apply(lambda items: None))

    with live(tmp_path, applies, presenter=Person(YES)) as bridge:
        result = bridge.call("applies")

    assert "use: grant.apply_sync(" in text(result)


def test_a_skill_that_is_on_the_main_thread_is_told_to_call_the_function_itself(
    tmp_path: Path,
) -> None:
    host = FakeHost(["cam1"])

    with live(tmp_path, running(lambda: on_main(host.items.clear)), host=host) as bridge:
        result = bridge.call("runs")

    assert (status(result), host.items) == ("failed", ["cam1"])
    assert "call the function itself" in text(result)


def test_what_a_coroutine_does_on_the_main_thread_cannot_wait_for_it_either(tmp_path: Path) -> None:
    @skill(risk="edit")
    async def goes_there() -> None:
        """Run a second loop on the main thread."""
        await on_main(lambda: asyncio.run(asyncio.wait_for(confirm("Sure?"), FREEZES)))

    with live(tmp_path, goes_there, presenter=Person()) as bridge:
        result = bridge.call("goes_there")

    assert "use: confirm_sync(" in text(result)


@pytest.mark.parametrize("make", [lambda: confirm("Sure?"), lambda: on_main(lambda: None)])
def test_a_skill_on_the_pool_may_have_a_loop_of_its_own(make: Coroutines, tmp_path: Path) -> None:
    with live(tmp_path, running(make, "any"), presenter=Person(YES)) as bridge:
        result = bridge.call("runs")

    assert status(result) == "done"


def test_the_applications_own_coroutine_may_ask_while_a_skill_shows_a_dialog_of_its_own() -> None:
    """Its step is on the skill's stack then, but the loop is the host's, which goes on."""
    pump, task = Pump(), Future[object]()
    remove = context.install(Broker(host=Person(YES)), pump.main, FakeHost())

    def step() -> None:
        task.set_result(asyncio.run(confirm("Sure?")))

    pump.main.submit(step)  # the job's context has no call in it, as the application's has none
    pump.run(task.done)
    remove()

    assert task.result() == []
