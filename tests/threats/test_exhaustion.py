"""Questions that somebody leaves open, as many as they can (row 11)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import elicit_form, elicit_form_sync, skill
from tests.live import Live, live
from tests.server.skills import CONFIRM
from tests.threats.raw import Raw
from tests.tiers import sampled

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


def attempt(running: Live, tool: str, clients: int) -> Counter[str]:
    """Leave questions open, with calls of another tool between; gives what became of them."""
    ends: Counter[str] = Counter()
    other = Raw.to(running, "other")
    for number in range(ATTEMPTS):
        result = Raw.to(running, f"greedy-{number % clients}").call(tool)["result"]
        ends[result["resultType"]] += 1
        if result["resultType"] != "input_required":
            assert result["isError"]
            assert "open" in result["content"][0]["text"]
            assert "already" in result["content"][0]["text"]
        if not number % 5:
            assert not other.call("count")["result"].get("isError")
    return ends


FEW, MANY = (1, 8), (50, 64)
"""How many clients ask, and how many of their questions may be open."""


@pytest.mark.parametrize(
    ("many", "tool"), sampled([(FEW, "on_loop")], [FEW, MANY], ["on_pool", "on_loop"])
)
def test_of_five_hundred_attempts_only_so_many_are_open(
    many: tuple[int, int], tool: str, tmp_path: Path
) -> None:
    """Eight of one client, 64 of all; the rest is refused with a reason, other tools go on."""
    clients, asked = many
    with live(tmp_path, on_pool, on_loop, count) as running:
        ends = running.beside(lambda: attempt(running, tool, clients), limit=50)

    assert ends == {"input_required": asked, "complete": ATTEMPTS - asked}


def test_an_answered_question_makes_room(tmp_path: Path) -> None:
    with live(tmp_path, on_pool, open_questions_of_a_client=1) as running:

        def talk() -> list[dict[str, Any]]:
            raw = Raw.to(running)
            asked = raw.call("on_pool")["result"]
            (key,) = asked["inputRequests"]
            refused = raw.call("on_pool")["result"]
            answer = {"inputResponses": {key: {"action": "decline"}}}
            answered = raw.call("on_pool", **answer, requestState=asked["requestState"])["result"]
            return [refused, answered, raw.call("on_pool")["result"]]

        refused, answered, again = running.beside(talk)

    assert "1 questions of test are open already" in refused["content"][0]["text"]
    assert answered["content"][0]["text"] == "decline"
    assert again["resultType"] == "input_required"
