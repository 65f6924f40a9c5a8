"""The eight tasks in the stand-in of Houdini, over HTTP by a real client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from tests.hosts.application import ROOT
from tests.hosts.fakes.houdini import Houdini
from tests.live import Live, live
from tests.tiers import sampled
from tests.verbs import tasks
from tests.verbs.tasks import Agent, Count, Network, Words

SKILLS = [ROOT / "plugins" / "houdini" / "skills", tasks.SKILLS]


def foreign(folder: Path) -> Path:
    """Write a file in metres; what names it, names it by its whole path."""
    (folder / "lid.obj").write_text("[[0, 0, 0], [2, 1, 1]]")
    return folder / "lid.obj"


def mends(items: Sequence[str], folder: Path) -> tasks.Things:
    """Name the file from the scene's folder."""
    changes = [{"item": f"{items[0]}/file1", "prop": "file", "value": "$HIP/lid.obj"}]
    return [{"do": "set_values", "with": {"changes": changes}}]


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
    rules=("missing_files", "absolute_paths"),
    fails=("absolute_paths",),
    mends=mends,
)


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Live]:
    houdini = Houdini(monkeypatch)
    monkeypatch.setattr("hou.ui.postEventCallback", lambda run: run())  # its loop does not turn
    houdini.scene.path, houdini.scene.is_new = (tmp_path / "shot.hip").as_posix(), False
    host = import_module("dcc_bridge.hosts.houdini").HoudiniHost()
    with live(tmp_path / "runtime", host=host, skills=SKILLS, dialogs_per_minute=99) as running:
        yield running


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", sampled(["network", *tasks.QUICK], [*tasks.TASKS, *tasks.MORE]))
def test_a_task_is_done_and_undone_in_few_calls(
    name: str, bridge: Live, tmp_path: Path, counts: dict[str, Count]
) -> None:
    agent = Agent(HOUDINI, tmp_path)

    async def work() -> None:
        async with bridge.client(asked=agent.asked) as client:
            agent.client = client
            await tasks.do(agent, name, counts)

    bridge.run(work, limit=200)
