"""Two answers to one question in the same millisecond, over real HTTP: one of them counts.

Each race is run a thousand times. The question is answered at the host by a thread of its own,
which is let go together with the client's answer. That has further to go, so the host waits a
little: longer after each time it won, and less after each time it lost. So both win about as often,
and the next thing to happen is nearly always the other's answer.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.elicitation.question import Reply
from tests.live import ERAS, Live, live, status, text
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person

RACES: Final = 1000
LIMIT: Final = 120.0
STEP: Final = 0.0002
FEWEST: Final = RACES // 10
"""Races that each must have won, or it was no race."""
YES: Final = Reply("accept", {"confirm": True})


class Race:
    """A bridge on which one skill asks, and two who answer it at once."""

    def __init__(self) -> None:
        self.host = FakeHost(has_ui=True)
        self.person = Person()
        self.ran = 0
        self.answered: list[tuple[bool, str]] = []
        self.running: Live
        self._handicap = 0.0
        self._pool = ThreadPoolExecutor(1)

    def skill(self) -> Callable[..., Any]:
        """Make the skill; what it adds to the scene is counted too."""

        @skill(risk="edit")
        def add() -> str:
            """Add a camera if somebody agrees."""
            self.ran += 1
            answer = elicit_form_sync("Add a camera?", CONFIRM)
            self.answered.append((answer.accepted, answer.answered_by))
            if answer.accepted:
                self.host.items.append(f"cam{self.ran}")
            return answer.answered_by

        return add

    async def against(self, rival: Callable[[], None]) -> ElicitResult:
        """Answer as the client, in the moment in which the rival does its own."""
        together = threading.Barrier(2)
        if self.answered:
            further = STEP if self.answered[-1][1] == "host" else -STEP
            self._handicap = max(0.0, self._handicap + further)

        def at_once() -> None:
            together.wait(10)
            time.sleep(self._handicap)
            rival()

        asyncio.get_running_loop().run_in_executor(self._pool, at_once)
        together.wait(10)
        return ElicitResult(action="accept", content={"confirm": True})

    def run(self, tmp_path: Path, era: str, asked: Any, **settings: Any) -> list[tuple[str, str]]:
        """Race; gives the status and the text of each result."""

        async def agent() -> list[tuple[str, str]]:
            async with self.running.client(era, asked) as client:
                results = [await client.call_tool("add", {}) for _ in range(RACES)]
                return [(status(one), text(one)) for one in results]

        often = {"dialogs_per_minute": 100_000, **settings}
        with (
            self._pool,
            live(
                tmp_path, self.skill(), host=self.host, presenter=self.person, **often
            ) as self.running,
        ):
            told = self.running.run(agent, limit=LIMIT)
            assert self.running.bridge.broker.open == []
        return told

    def check(self, told: list[tuple[str, str]]) -> None:
        """See that each call had one outcome and ran once, and that it was a race."""
        assert self.ran == len(self.answered) == len(self.host.items) == RACES
        assert told == [("done", by) for _, by in self.answered]
        assert all(accepted for accepted, _ in self.answered)
        assert len(self.host.labels) == RACES
        won = Counter(by for _, by in self.answered)
        assert min(won["client"], won["host"]) >= FEWEST


@pytest.mark.long
@pytest.mark.parametrize("era", ERAS[:-1])
def test_a_legacy_client_and_the_host_answer_at_once(
    era: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    race = Race()

    async def asked(params: ElicitRequestParams) -> ElicitResult:
        while len(race.person.settles) < race.ran:  # the host is asked right after the client
            await asyncio.sleep(0)
        settle = race.person.settles[-1]
        return await race.against(lambda: settle(YES))

    told = race.run(tmp_path, era, asked, input="either")

    race.check(told)
    assert caplog.records == []


@pytest.mark.long
def test_answer_here_and_the_clients_retry_come_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    race = Race()
    race.person = Person(then=YES)

    async def asked(params: ElicitRequestParams) -> ElicitResult:
        while len(race.person.chips) < race.ran:
            await asyncio.sleep(0)
        return await race.against(race.person.chips[-1].answer_here)

    told = race.run(tmp_path, ERAS[-1], asked)

    race.check(told)
    assert caplog.records == []
