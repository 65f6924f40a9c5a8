"""The eight tasks in the stand-in of Houdini, over HTTP by a real client."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.hosts.application import ROOT
from tests.hosts.fakes.houdini import Houdini
from tests.live import Live, live
from tests.verbs import tasks
from tests.verbs.tasks import Agent, Network, Words

BUNDLE = ROOT / "plugins" / "houdini" / "skills"


def foreign(folder: Path) -> Path:
    """Write a file in metres."""
    (folder / "lid.obj").write_text("[[0, 0, 0], [2, 1, 1]]")
    return folder / "lid.obj"


HOUDINI = Words(
    host="Houdini",
    box="box",
    group="null",
    lamp="hlight",
    numbers=("cam", ("focal", "near"), 25.0),
    bad=("focal", "wide"),
    turn="r",
    scaled=({"type": "box", "name": "Plank"}, {"type": "box", "name": "Post"}),
    network=Network(
        [
            {"type": "geo", "name": "Board"},
            {"type": "box", "name": "Plank", "under": "$n0"},
            {"type": "merge", "name": "All", "under": "$n0"},
        ],
        [{"from": "$n1", "out": "output1", "to": "$n2", "in": "input2"}],
        ("second", "input2"),
    ),
    foreign=foreign,
    factor=100.0,
    fits=200.0,
    suffix=".obj",
    rules=("missing_files",),
)


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Live]:
    houdini = Houdini(monkeypatch)
    monkeypatch.setattr("hou.ui.postEventCallback", lambda run: run())  # its loop does not turn
    houdini.scene.path, houdini.scene.is_new = (tmp_path / "shot.hip").as_posix(), False
    host = import_module("dcc_bridge.hosts.houdini").HoudiniHost()
    with live(tmp_path / "runtime", host=host, skills=[BUNDLE, tasks.SKILLS]) as running:
        yield running


@pytest.mark.parametrize("name", tasks.TASKS)
def test_a_task_is_done_and_undone_in_few_calls(name: str, bridge: Live, tmp_path: Path) -> None:
    agent = Agent(HOUDINI, tmp_path)

    async def work() -> None:
        async with bridge.client(asked=agent.asked) as client:
            agent.client = client
            await tasks.TASKS[name](agent)

    bridge.run(work, limit=50)

    assert agent.count.calls <= 6
