"""A question after an edit, in Blender and FreeCAD over HTTP: it stays one undo step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live import Live
from tests.verbs.tasks import Agent
from tests.verbs.test_houdini_tasks import HOUDINI
from tests.verbs.test_houdini_tasks import bridge as houdini_bridge  # noqa: F401 - a fixture
from tests.verbs.test_maya_tasks import (
    MAYA,
    maya,  # noqa: F401 - a fixture
)
from tests.verbs.test_maya_tasks import bridge as maya_bridge  # noqa: F401 - a fixture
from tests.verbs.test_tasks import STANDALONE
from tests.verbs.test_tasks import bridge as usd_bridge  # noqa: F401 - a fixture
from tests.verbs.test_tasks_real import HOSTS

STAND_INS = {"usd": STANDALONE, "maya": MAYA, "houdini": HOUDINI}


async def deletes_what_it_made(agent: Agent) -> None:
    """A batch makes a thing, exports, moves and deletes it with another one: a no, then a yes."""
    words = agent.words
    (old,) = await agent.make([{"type": words.box, "name": "Old"}])
    thing = {"type": words.box, "name": "New", "at": [1.0, 2.0, 3.0]}
    out = str(agent.folder / f"new{words.suffix}")
    steps = [
        {"id": "m", "do": "create", "with": {"things": [thing]}},
        {"do": "export_file", "with": {"path": out, "items": ["$m"]}},
        {"do": "transform", "with": {"items": ["$m"], "move": [1.0, 0.0, 0.0]}},
        {"do": "delete", "with": {"items": ["$m", old]}},
        {"do": "create", "with": {"things": [{"type": words.box, "name": "Last"}]}},
    ]
    agent.answers = "decline"
    async with agent.working(steps=0):
        await agent.fails("batch", steps=steps)
    agent.answers = "accept"
    (agent.folder / f"new{words.suffix}").unlink()
    async with agent.working():
        await agent.call("batch", steps=steps)
        assert not await agent.listed(name="Old")
        assert not await agent.listed(name="New")
        assert len(await agent.listed(name="Last")) == 1
    assert len(agent.questions) == 2


@pytest.mark.real
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", HOSTS)
def test_a_batch_that_deletes_what_it_made_is_one_undo_step(name: str, tmp_path: Path) -> None:
    """Also where it deletes what was there, and a no leaves nothing."""
    words, start = HOSTS[name]
    agent = Agent(words, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    with start(home) as running:

        async def work() -> None:
            async with running.client(asked=agent.asked) as client:
                agent.client = client
                await deletes_what_it_made(agent)

        running.run(work)
        running.order("close")
        assert running.end() == 0, running.output


@pytest.mark.parametrize("name", STAND_INS)
def test_it_is_one_undo_step_on_usd_and_on_the_stand_ins(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    running: Live = request.getfixturevalue(f"{name}_bridge")
    agent = Agent(STAND_INS[name], tmp_path)

    async def work() -> None:
        async with running.client(asked=agent.asked) as client:
            agent.client = client
            await deletes_what_it_made(agent)

    running.run(work, limit=50)
