"""Questions that somebody leaves open, as many as they can (row 11).

11  `test_of_five_hundred_attempts_eight_are_open`,
    `test_of_five_hundred_attempts_of_fifty_clients`,
    `test_an_answered_question_makes_room`
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import elicit_form, elicit_form_sync, skill
from tests.live import Live, live
from tests.server.skills import CONFIRM
from tests.threats.raw import Raw, in_thread

ATTEMPTS = 500


@skill(risk="read", thread="any")
def on_pool() -> str:
    """Ask on a thread of the pool."""
    return elicit_form_sync("Well?", CONFIRM).action


@skill(risk="read")
async def on_loop() -> str:
    """Ask on the loop."""
    return (await elicit_form("Well?", CONFIRM)).action


@skill(risk="read")
def count() -> int:
    """Read what is there."""
    return 3


def attempt(running: Live, tool: str, label: Callable[[int], str]) -> tuple[Counter[str], float]:
    """Leave questions open; gives what became of the attempts and the p99 of another tool."""
    ends: Counter[str] = Counter()
    other, times = Raw.to(running, "other"), []
    for number in range(ATTEMPTS):
        said = Raw.to(running, label(number)).call(tool)["result"]
        if said["resultType"] == "input_required":
            ends["asked"] += 1
        else:
            ends["refused"] += 1
            assert said["isError"]
            assert "open" in said["content"][0]["text"]
            assert "already" in said["content"][0]["text"]
        if not number % 5:
            began = time.perf_counter()
            assert not other.call("count")["result"].get("isError")
            times.append(time.perf_counter() - began)
    return ends, sorted(times)[int(len(times) * 0.99)]


def attack(running: Live, tool: str, label: Callable[[int], str]) -> Counter[str]:
    """Do it beside the host's main thread."""
    future = running.go(in_thread(lambda: attempt(running, tool, label)))
    running.until(future.done, 50)
    ends, p99 = future.result()
    print(f"{tool}: {dict(ends)}, p99 of another tool {p99 * 1000:.1f} ms")
    assert p99 < 1.0
    return ends


@pytest.mark.parametrize("tool", ["on_pool", "on_loop"])
def test_of_five_hundred_attempts_eight_are_open(tool: str, tmp_path: Path) -> None:
    """One client has its eight questions; the rest is refused with a reason."""
    with live(tmp_path, on_pool, on_loop, count) as running:
        assert attack(running, tool, lambda number: "greedy") == {"asked": 8, "refused": 492}


@pytest.mark.parametrize("tool", ["on_pool", "on_loop"])
def test_of_five_hundred_attempts_of_fifty_clients(tool: str, tmp_path: Path) -> None:
    """All clients together have sixty-four; a tool that asks nothing goes on."""
    with live(tmp_path, on_pool, on_loop, count) as running:
        ends = attack(running, tool, lambda number: f"greedy-{number % 50}")

    assert ends == {"asked": 64, "refused": 436}


def test_an_answered_question_makes_room(tmp_path: Path) -> None:
    with live(tmp_path, on_pool, open_questions_of_a_client=1) as running:

        def talk() -> list[dict[str, Any]]:
            raw = Raw.to(running)
            asked = raw.call("on_pool")["result"]
            (key,) = asked["inputRequests"]
            refused = raw.call("on_pool")["result"]
            answers = {key: {"action": "decline"}}
            state = asked["requestState"]
            answered = raw.call("on_pool", inputResponses=answers, requestState=state)["result"]
            return [refused, answered, raw.call("on_pool")["result"]]

        refused, answered, again = running.run(in_thread(talk))

    assert "1 questions of test are open already" in refused["content"][0]["text"]
    assert answered["content"][0]["text"] == "decline"
    assert again["resultType"] == "input_required"
