"""Who is asked, who answers and what happens to the scene: every cell, by a real client.

What is expected stands in ``matrix.toml``; its head says what the words mean.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult

from dcc_bridge.elicitation.question import Reply
from dcc_bridge.testing import ScriptedPresenter
from tests.elicitation.stage import CAMERAS, Scenario, Seen, Stage
from tests.live import ERAS, status

RULES: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("matrix.toml").read_text(encoding="utf-8")
)["rule"]
CONSENT = ("confirm", "gate", "form", "form-fallback")
QUESTIONS = (*CONSENT, "input", "input-fallback")
CLIENTS = ("none", "form", "url", "both", "hook", "silent", "listed")
SURFACES = ("host", "empty", "headless")
HOOKED = 9
"""Calls of a hook of each kind in each era: more than a hundred in all."""


def cells(rule: dict[str, Any]) -> Iterator[Scenario]:
    """List what a rule stands for."""
    given = (rule["question"], rule["client"], rule["surface"], rule["person"])
    return (Scenario(*one) for one in product(*given, ERAS))


def people(client: str, surface: str) -> tuple[str, ...]:
    """List what the people of a cell may say."""
    if surface == "empty":
        return ("agrees",)
    if surface == "headless" and client not in ("form", "both"):
        return ("nobody",)
    return ("agrees", "declines")


def name(cell: Scenario) -> str:
    return f"{cell.question}-{cell.client}-{cell.surface}-{cell.person}-{cell.era}"


# Sorted, so that a stage is opened once.
EXPECTED = sorted(
    ((cell, rule) for rule in RULES for cell in cells(rule)), key=lambda one: one[0].stage
)
every_cell = pytest.mark.parametrize(
    ("cell", "rule"), [pytest.param(cell, rule, id=name(cell)) for cell, rule in EXPECTED]
)
every_consent = pytest.mark.parametrize(
    "cell", [pytest.param(c, id=name(c)) for c, _ in EXPECTED if c.question in CONSENT]
)


class Theatre:
    """One stage at a time, and what was seen on them: two tests look at the same call."""

    def __init__(self, runtime: Path) -> None:
        self._runtime = runtime
        self._seen: dict[Scenario, Seen] = {}
        self._stage: Stage | None = None

    def play(self, cell: Scenario) -> Seen:
        """Give what was seen of a call; a client makes all its calls in one go."""
        if cell not in self._seen:
            one = (cell.stage, cell.client, cell.era)
            calls = [c for c, _ in EXPECTED if (c.stage, c.client, c.era) == one]
            self._seen |= self.stage(cell.stage).play(calls)
        return self._seen[cell]

    def stage(self, name: str) -> Stage:
        """Give a stage; there is one bridge in a process."""
        if self._stage is None or self._stage.name != name:
            self.close()
            self._stage = Stage(self._runtime, name)
        return self._stage

    def close(self) -> None:
        if self._stage is not None:
            self._stage.live.stop()


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    theatre = Theatre(tmp_path_factory.mktemp("runtime"))
    # On a busy machine a test's decline may come late; that the limit is 300 ms is told elsewstage.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dcc_bridge.elicitation.broker.TOO_FAST", 30.0)
        yield theatre
    theatre.close()


@pytest.fixture
def stage(theatre: Theatre) -> Stage:
    """Give the stage with a person at the host."""
    return theatre.stage("host, answering clients")


def test_the_table_names_every_cell_once() -> None:
    wanted = {
        Scenario(question, client, surface, person, era)
        for question, client, surface, era in product(QUESTIONS, CLIENTS, SURFACES, ERAS)
        for person in people(client, surface)
    }

    told = [cell for cell, _ in EXPECTED]

    assert len(told) == len(set(told))
    assert set(told) == wanted


@every_cell
def test_a_cell_is_as_the_table_says(
    theatre: Theatre, cell: Scenario, rule: dict[str, Any]
) -> None:
    seen = theatre.play(cell)

    (answer,) = seen.answers
    assert seen.asked == rule["asked"], rule["why"]
    assert answer.answered_by == rule["answered_by"], rule["why"]
    assert (answer.message or "") == rule["message"], rule["why"]
    assert seen.scene == rule["scene"], rule["why"]
    assert seen.steps == (1 if rule["scene"] == "changed" else 0), rule["why"]


@every_consent
def test_nothing_is_lost_without_a_yes_where_it_counts(theatre: Theatre, cell: Scenario) -> None:
    """Told apart from the table: the host decides where it can draw, else the client."""
    seen = theatre.play(cell)

    decides = "client" if cell.surface == "headless" else "host"
    assert not seen.lost or decides in seen.agreed
    assert not seen.lost or seen.answers[-1].answered_by == decides
    assert bool(seen.lost) == (seen.status == "done")


@pytest.mark.parametrize("question", CONSENT)
@pytest.mark.parametrize("era", ERAS)
def test_a_hook_deletes_nothing_where_a_person_says_no(
    stage: Stage, era: str, question: str
) -> None:
    stage.set(Scenario(question, "hook", "host", "declines", era))
    stage.chair.sitting = ScriptedPresenter(*[Reply("decline")] * HOOKED)

    async def agent() -> list[CallToolResult]:
        async with stage.live.client(era, stage.asked, label="hook") as client:
            return [await client.call_tool(question, {}) for _ in range(HOOKED)]

    results = stage.live.run(agent)

    assert stage.host.items == CAMERAS
    assert [status(one) for one in results] == ["refused"] * HOOKED
    assert stage.log.asked == ["host"] * HOOKED


def test_a_question_that_a_client_leaves_lying_is_answered_from_the_chip(stage: Stage) -> None:
    stage.set(Scenario("input", "both", "host", "agrees", ERAS[-1]))

    async def agent() -> CallToolResult:
        async with stage.live.client(asked=stage.asked) as client:
            send = partial(client.session.call_tool, "input", {}, allow_input_required=True)
            asked = await send()
            assert isinstance(asked, InputRequiredResult)
            await asyncio.wrap_future(stage.log.answers[-1])
            late = dict.fromkeys(asked.input_requests or {}, ElicitResult(action="decline"))
            result = await send(input_responses=late, request_state=asked.request_state)
            assert isinstance(result, CallToolResult)
            return result

    calling = stage.live.go(agent)
    stage.live.until(lambda: bool(stage.chair.sitting.chips))
    stage.chair.sitting.chips[0].answer_here()
    stage.live.until(calling.done)

    assert status(calling.result()) == "done"
    assert stage.log.answers[-1].result(0).answered_by == "host"
    assert stage.host.items == [*CAMERAS, "cam_new"]
