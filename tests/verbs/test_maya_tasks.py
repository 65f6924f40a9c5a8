"""The eight tasks in the stand-in of Maya, over HTTP by a real client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.application import ROOT
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import furnish
from tests.live import Live, live
from tests.tiers import sampled
from tests.verbs import tasks
from tests.verbs.tasks import Agent, Count, Network, Words

SKILLS = [ROOT / "plugins" / "maya" / "skills", tasks.SKILLS]


def foreign(folder: Path) -> Path:
    """Write a file in metres, with a face of five corners and a texture that is not there."""
    (folder / "there.png").touch()
    points = [[0, 0, 0], [1, 0, 0], [1.5, 0, 0.8], [0.5, 0, 1.5], [-0.5, 0, 0.8]]
    lid = {
        "name": "lid",
        "points": points,
        "faces": [[0, 1, 2, 3, 4]],
        "texture": "gone.png",
    }
    (folder / "lid.obj").write_text(json.dumps([lid]))
    return folder / "lid.obj"


def mends(items: Sequence[str], folder: Path) -> tasks.Things:
    """Put a texture in the place of the missing one."""
    texture = str(folder / "there.png")
    change = {"item": "file1", "prop": "fileTextureName", "value": texture}
    return [{"do": "set_values", "with": {"changes": [change]}}]


MAYA = Words(
    host="Maya",
    box="polyCube",
    group="transform",
    lamp="areaLight",
    power="intensity",
    numbers=("camera", ("focalLength", "centerOfInterest"), 25.0),
    bad=("focalLength", "wide"),
    turn="rotate",
    scaled=({"type": "polyCube", "name": "Plank"}, {"type": "polyCube", "name": "Post"}),
    network=Network(
        [
            {"type": "standardSurface", "name": "Wood"},
            {"type": "file", "name": "Grain"},
            {"type": "bump2d", "name": "Bump"},
        ],
        [
            {"from": "$n1", "out": "outColor", "to": "$n0", "in": "baseColor"},
            {"from": "$n1", "out": "outAlpha", "to": "$n2", "in": "bumpValue"},
            {"from": "$n2", "out": "outNormal", "to": "$n0", "in": "normalCamera"},
        ],
        ("baseColour", "baseColor"),
    ),
    foreign=foreign,
    factor=100.0,
    fits=200.0,
    suffix=".ma",
    rules=("missing_files", "ngons"),
    fails=("missing_files", "ngons"),
    stays=("ngons",),  # no verb cuts faces here
    saves_as="tour.ma",
    mends=mends,
)


@pytest.fixture
def maya(monkeypatch: pytest.MonkeyPatch) -> Maya:
    maya = Maya(monkeypatch)
    furnish(maya)
    return maya


@pytest.fixture
def bridge(maya: Maya, tmp_path: Path) -> Iterator[Live]:
    host = import_module("dcc_bridge.hosts.maya").MayaHost()
    with live(tmp_path / "runtime", host=host, skills=SKILLS, dialogs_per_minute=99) as running:
        yield running


def work(bridge: Live, agent: Agent, task: Any) -> None:
    async def connected() -> None:
        async with bridge.client(asked=agent.asked) as client:
            agent.client = client
            await task(agent)

    bridge.run(connected, limit=200)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", sampled(["light rig", *tasks.QUICK], [*tasks.TASKS, *tasks.MORE]))
def test_a_task_is_done_and_undone_in_few_calls(
    name: str, bridge: Live, tmp_path: Path, counts: dict[str, Count]
) -> None:
    agent = Agent(MAYA, tmp_path)

    work(bridge, agent, lambda agent: tasks.do(agent, name, counts))


def test_what_goes_with_what_was_agreed_to_is_no_loss(
    bridge: Live, maya: Maya, tmp_path: Path
) -> None:
    """History of what is cleaned, shading groups of materials, curves of what is deleted."""
    agent = Agent(MAYA, tmp_path)

    async def task(agent: Agent) -> None:
        (box,) = await agent.make([{"type": "polyCube", "name": "box"}])
        await agent.call("assign_material", items=[], values={"base_color": [1, 0, 0]})
        await agent.call("set_keys", item=box, prop="rotateX", keys=[[1, 0.0], [9, 90.0]])
        async with agent.working():
            told = await agent.call("clean", what=["history", "unused"])
            assert told["items"] == [box, "material1"]
        async with agent.working():
            assert (await agent.call("delete", items=[box]))["still_there"] == []
            assert not maya.scene.find("box_rotateX")

    work(bridge, agent, task)

    assert len(agent.questions) == 2
