"""A client that is killed over real HTTP, at any step of a program: rolled back like any other."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from dcc_bridge import skill
from dcc_bridge.consent.call import running_call
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge_usd.host import UsdSession
from tests.bench.agent import ERAS, Agent, Server
from tests.hosts.programs import Program
from tests.live import live
from tests.stand_ins import Person

PROGRAMS = 25
LIMIT = 60.0


class Killed(Program):
    """A program whose client hangs up without a word at one of its steps."""

    def __init__(self, seed: int, session: UsdSession) -> None:
        super().__init__(seed, session)
        self.at = Random(seed).randrange(self.steps)
        self.client: Agent | None = None

    def kill(self) -> None:
        assert self.client is not None
        self.client.close()

    def meet(self, index: int) -> None:
        """At an edit, hang up and let the server notice while the skill runs on."""
        call = running_call()
        if index == self.at and index not in self.questions and call is not None:
            self.kill()
            end = time.monotonic() + LIMIT
            while call.ending.reason is None:
                assert time.monotonic() < end, "nobody noticed that the client is gone"
                time.sleep(0.001)


@pytest.mark.long
@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_is_killed_anywhere_leaves_scene_and_undo_stack_as_they_were(
    era: str, tmp_path: Path
) -> None:
    session, programs = UsdSession(has_ui=True), list[Killed]()

    def answer(question: Question) -> Reply | None:
        """Say yes, but be not quick enough where the client is killed at the question."""
        killed = programs[-1]
        if killed.index != killed.at:
            return killed.yes()
        killed.kill()
        return None

    @skill(risk="destructive", confirms=True)
    def program() -> str:
        """Edit, and ask in between."""
        return programs[-1].body()

    with live(
        tmp_path,
        program,
        host=session,
        presenter=Person(then=answer),
        input="host",
        session_grace=0.05,
        dialogs_per_minute=10_000,
    ) as running:
        server = Server(running.bridge.url, running.bridge.instance.token("killed"))
        for seed in range(PROGRAMS):
            played = Killed(seed, session)
            programs.append(played)
            before = played.seen()
            played.client = Agent(server, era)
            played.client.send(played.client.calling("program"))
            running.until(lambda: programs[-1].is_over)
            assert played.seen() == before, f"seed {seed}, killed at step {played.at}"
